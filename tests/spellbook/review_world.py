"""A repository at a GitHub of tests whose pull requests this installation reviews, and people who answer for it."""

from __future__ import annotations

import hashlib
import hmac
import json
from dataclasses import dataclass, field
from typing import Any

from django.test import Client

from approvals.models import Policy
from catalog.models import Asset, AssetRole, Consumer, Domain, PullRequest, Sync
from catalog.selectors import find_asset
from catalog.services import builds
from catalog.services.declare import declare
from foundation import connections
from foundation.clock import now
from foundation.models import Connection, Person
from foundation.people import create_person
from spellbook import reviewing
from tests.catalog.manifests import exposure, manifest, model, source
from tests.github.double import Double
from tests.github.fixtures import APP_KEY, HOOK, TOKEN
from tests.github.world import APP_ID, INSTALLATION_ID, Pull, zipped
from tests.spellbook.machines import NAMESPACE, command_line, make_shop
from tests.spellbook.page_data import PASSWORD

SECRET = "a webhook's secret"
ARTIFACT = "spellbook-manifest"
STAGED = "select order_id, is_test from raw.orders"
PLAIN = "select order_id, is_test from main.stg_orders"
FILTERED = PLAIN + " where not is_test"


def manifest_of(orders: str = PLAIN, *, stamp: str = "base", project: str = "shop", **more: Any) -> bytes:
    """The shop's manifest with the code of `orders` as given, compiled."""
    nodes = [
        code("stg_orders", STAGED, "source.shop.raw.orders"),
        code("orders", orders, "model.shop.stg_orders"),
        code("revenue", "select count(*) as n from main.orders", "model.shop.orders"),
    ]
    board = exposure("weekly_board", "model.shop.revenue")
    return manifest(nodes, sources=[source("orders")], exposures=[board], stamp=stamp, project=project, **more)


def code(name: str, sql: str, *above: str) -> tuple[str, dict[str, Any]]:
    """A model with compiled SQL; its checksum follows the SQL."""
    checksum = {"name": "sha256", "checksum": hashlib.sha256(sql.encode()).hexdigest()}
    return model(name, *above, raw_code=sql, compiled_code=sql, compiled=True, checksum=checksum)


@dataclass
class ReviewWorld:
    """The double with one connection to it, a base build, a domain and its people."""

    github: Double
    connection: Connection
    domain: Domain
    people: dict[str, Person]
    base: str
    events: int = field(default=0)

    def pull(self, sql: str = FILTERED, *, keep: bool = True, **more: Any) -> Pull:
        """A pull request that changes `orders`, its manifest kept by a workflow run."""
        found = self.github.world.open_pull({"models/orders.sql": sql}, **more)
        if keep:
            self.keep(found, manifest_of(sql, stamp=f"head {found.number}"))
        return found

    def keep(self, pull: Pull, data: bytes, name: str = ARTIFACT) -> None:
        """A workflow run of the pull request's head that kept `data` as manifest.json."""
        run = self.github.world.run(self.github.world.head_of(pull), head_repository=pull.head_repository)
        self.github.world.keep(run, name, zipped({"manifest.json": data}))

    def event(self, pull: Pull, action: str = "opened", **more: Any) -> dict[str, Any]:
        """What GitHub sends of a pull request; `more` is put over it."""
        self.events += 1
        head = {"sha": self.github.world.head_of(pull)}
        body: dict[str, Any] = {
            "action": action, "number": pull.number, "sender": self.events,
            "pull_request": {"number": pull.number, "head": head},
            "repository": {"full_name": self.github.world.full_name},
        }  # fmt: skip
        return body | more

    def ask(self, pull: Pull) -> PullRequest:
        """The pull request asked for and looked at once."""
        self.send(self.event(pull))
        reviewing.sweep(5)
        return PullRequest.objects.get(number=pull.number)

    def again(self) -> None:
        """Every pull request looked at once more."""
        PullRequest.objects.update(due_at=now())
        reviewing.sweep(5)

    def send(self, body: dict[str, Any] | bytes, **more: Any) -> Any:
        """A signed delivery of the webhook."""
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        return deliver(raw, name=self.connection.name, **more)

    @property
    def comments(self) -> list[str]:
        return [one.body for one in self.github.world.comments.values()]


def deliver(
    raw: bytes,
    *,
    name: str = "code",
    secret: str = SECRET,
    delivery: str = "",
    event: str = "pull_request",
    **more: Any,
) -> Any:
    """A POST to the webhook, signed with `secret`; `more` are headers put over GitHub's."""
    signature = "sha256=" + hmac.new(secret.encode(), raw, hashlib.sha256).hexdigest()
    headers = {
        "X-Hub-Signature-256": signature, "X-GitHub-Event": event,
        "X-GitHub-Delivery": delivery or hashlib.sha256(raw).hexdigest()[:36], **more,
    }  # fmt: skip
    return Client().post(f"/hooks/github/{name}", raw, content_type="application/json", headers=headers)


def review_world(double: Double, *, app: bool = True, **params: Any) -> ReviewWorld:
    """Connect the double, announce and read the base build, declare a Mirror sync that reads `orders`."""
    make_shop()
    base = double.world.commit("main", {"models/orders.sql": PLAIN})
    by_app = {"app_id": str(APP_ID), "installation_id": str(INSTALLATION_ID)} if app else {}
    connection = connections.save(
        "code", kind="github", purpose="code", namespace="",
        params={"repository": double.world.full_name, "api": double.api, **by_app, **params},
        secret_names=[APP_KEY if app else TOKEN, HOOK], actor=command_line(),
    )  # fmt: skip
    built(base, manifest_of())
    people = {name: create_person(f"{name}@shop.example", f"The {name}", password=PASSWORD) for name in NAMES}
    people["admin"] = create_person("admin@shop.example", "The admin", password=PASSWORD, roles=["admin"])
    domain = Domain.objects.create(key="retail", name="Retail", owner=people["owner"])
    Policy.objects.create(domain=domain, approver=people["approver"], fallback=people["fallback"])
    Asset.objects.filter(namespace=NAMESPACE).update(domain=domain)
    declare({"consumers": [mirror()]}, actor=command_line())
    sync = Asset.objects.get(name="orders to ads")
    Asset.objects.filter(pk=sync.pk).update(domain=domain)
    AssetRole.objects.get_or_create(asset=sync, person=people["operator"], role="operator")
    assert Sync.objects.filter(consumer=Consumer.objects.get(asset=sync), mode="mirror").exists()
    return ReviewWorld(double, connection, domain, people, base)


NAMES = ("owner", "approver", "fallback", "operator", "stranger")


def mirror() -> dict[str, Any]:
    """A sync that deletes what is gone."""
    return {
        "asset": "orders to ads", "kind": "sync", "reads": ["main.orders"], "tool": "ads", "mode": "mirror",
        "schedule": {"cron": "0 2 * * *", "zone": "UTC"}, "delete_rule": "deletes rows that are gone",
        "consequence": "Audiences lose people who bought.",
    }  # fmt: skip


def built(commit: str, data: bytes, *, key: str = "night-1", repository: str = "code") -> None:
    """A build of a commit, announced and read."""
    build, _ = builds.announce(
        key=key, kind="dbt", connection="wh", commit=commit, repository=repository, artifacts={"manifest": data},
        actor=command_line(),
    )  # fmt: skip
    builds.process(build.pk, actor=command_line())


def orders() -> Asset:
    return find_asset("dev.main.orders")
