"""An agent at the API: a small graph, a token, requests as an orchestrator sends them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from catalog.services.imports import import_manifest
from foundation import connections, people
from foundation.audit import Actor
from foundation.models import Person, Principal
from foundation.people import system
from tests.catalog.manifests import shop

NAMESPACE = "duckdb://wh"
SCOPES = ("build:write", "build:read", "value:write", "incident:read")


def command_line() -> Actor:
    return Actor(system("command line"), "cli")


def make_shop() -> None:
    """raw.orders -> stg_orders -> orders -> revenue -> a board, in the warehouse of the connection `wh`."""
    connections.save(
        "wh", kind="duckdb", purpose="read", namespace=NAMESPACE, params={"path": "/nowhere.duckdb"},
        secret_names=[], actor=command_line(),
    )  # fmt: skip
    import_manifest(shop(), namespace=NAMESPACE, actor=command_line())


@dataclass
class Machine:
    """An agent with one token; `get` and `post` answer with the status and the JSON."""

    owner: Person
    agent: Principal
    token: str
    client: Client = field(default_factory=lambda: Client(raise_request_exception=False))

    @classmethod
    def make(cls, *, scopes: Sequence[str] = SCOPES, namespaces: Sequence[str] = (), name: str = "loader") -> Machine:
        owner = Person.objects.filter(email="owner@example.org").first()
        owner = owner or people.create_person("owner@example.org", "Owner")
        agent = people.create_agent(name, owner=owner, namespaces=namespaces)
        return cls(owner, agent, people.issue_token(agent, label=name, scopes=scopes)[1])

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    def get(self, path: str) -> tuple[int, Any]:
        answer = self.client.get(f"/api/v1{path}", headers=self.headers)
        return answer.status_code, answer.json()

    def values(self, body: object) -> tuple[int, Any]:
        """Post values; text is sent as it is."""
        text = body if isinstance(body, str) else json.dumps(body)
        answer = self.client.post("/api/v1/values", text, content_type="application/json", headers=self.headers)
        return answer.status_code, answer.json()

    def build(self, files: Mapping[str, bytes] | None = None, **fields: object) -> tuple[int, Any]:
        """Announce a build as a form, with files when there are any."""
        sent: dict[str, object] = {
            name: value if isinstance(value, str) else json.dumps(value) for name, value in fields.items()
        }
        sent |= {name: SimpleUploadedFile(f"{name}.json", data) for name, data in (files or {}).items()}
        answer = self.client.post("/api/v1/builds", sent, headers=self.headers)
        return answer.status_code, answer.json()
