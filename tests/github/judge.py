"""Judges requests and answers by GitHub's own OpenAPI description, with openapi-core."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from openapi_core import OpenAPI
from openapi_core.exceptions import OpenAPIError
from openapi_core.testing import MockRequest, MockResponse

FILE = Path(__file__).parent / "api.github.com.json"
HOST = "https://api.github.com"
LATE = ("/contents/", "/compare/")  # their last parameter may hold slashes; the description knows only one segment
Query = dict[str, str]


class Judge:
    """The description, loaded once a session (0.5 s)."""

    def __init__(self) -> None:
        self.description: dict[str, Any] = json.loads(FILE.read_text())
        self._api = OpenAPI.from_dict(self.description)

    def request(self, method: str, path: str, query: Query, body: bytes, content_type: str) -> str:
        """What is wrong with a request, "" when nothing is. `path` is as it was sent, quoted."""
        asked = _request(method, path, query, body, content_type)
        try:
            unmarshalled = self._api.unmarshal_request(asked)
            unmarshalled.raise_for_errors()
        except OpenAPIError as error:
            return f"{method} {path}: {error}: {error.__cause__}"
        known = set(unmarshalled.parameters.query)
        unknown = [f"parameter {name}" for name in query if name not in known]
        if body:
            unknown += [f"field {name}" for name in json.loads(body) if name not in self._fields(method, asked)]
        return f"{method} {path}: unknown {', '.join(unknown)}" if unknown else ""

    def answer(self, method: str, path: str, query: Query, sent: bytes, status: int, body: bytes) -> str:
        """What is wrong with an answer of the double, "" when nothing is."""
        asked = _request(method, path, query, sent, "application/json" if sent else "")
        try:
            self._api.validate_response(asked, MockResponse(body, status_code=status))
        except OpenAPIError as error:
            return f"answer to {method} {path}: {error}: {str(error.__cause__)[-1500:]}"
        return ""

    def filled(self, name: str, known: Any) -> Any:
        """`known` as an object of the schema `name`: fields that GitHub always sends and that nobody cares for here are
        put in with the plainest value that the schema allows."""
        return self._filled({"$ref": f"#/components/schemas/{name}"}, known)

    def _fields(self, method: str, asked: MockRequest) -> set[str]:
        """The fields that the description knows for a request's body."""
        template = next(path for path in self.description["paths"] if _fits(path, asked.path))
        body = self.description["paths"][template][method.lower()]["requestBody"]
        schema = body["content"]["application/json"]["schema"]
        parts = [schema, *schema.get("oneOf", []), *schema.get("anyOf", [])]
        return {field for part in parts for field in part.get("properties", {})}

    def _resolved(self, schema: dict[str, Any]) -> dict[str, Any]:
        while "$ref" in schema:
            _, _, kind, name = schema["$ref"].split("/")
            schema = self.description["components"][kind][name]
        if "allOf" in schema:
            whole = {key: value for key, value in schema.items() if key != "allOf"}
            for part in map(self._resolved, schema["allOf"]):
                whole["properties"] = {**whole.get("properties", {}), **part.get("properties", {})}
                whole["required"] = [*whole.get("required", []), *part.get("required", [])]
            return {"type": "object", **whole}
        for key in ("anyOf", "oneOf"):
            if key in schema and "properties" not in schema:
                return self._resolved(schema[key][0])
        return schema

    def _filled(self, schema: dict[str, Any], known: Any) -> Any:
        schema = self._resolved(schema)
        if isinstance(known, dict):
            fields = schema.get("properties", {})
            wanted = dict.fromkeys([*schema.get("required", []), *known])
            return {name: self._filled(fields.get(name, {}), known.get(name, ...)) for name in wanted}
        if isinstance(known, list):
            return [self._filled(schema.get("items", {}), item) for item in known]
        return known if known is not ... else self._plain(schema)

    def _plain(self, schema: dict[str, Any]) -> Any:
        if schema.get("nullable"):
            return None
        if "enum" in schema:
            return schema["enum"][0]
        kind = schema.get("type", "object" if "properties" in schema else "string")
        if kind == "object":
            return self._filled(schema, {})
        if kind == "string":
            return {"uri": f"{HOST}/x", "date-time": "2026-11-02T02:00:00Z"}.get(schema.get("format", ""), "x")
        return {"integer": 1, "number": 1, "boolean": False, "array": []}[kind]


def _request(method: str, path: str, query: Query, body: bytes, content_type: str) -> MockRequest:
    for late in LATE:
        head, found, tail = path.partition(late)
        if found:
            path = head + found + quote(unquote(tail), safe="")
    data = body or None
    return MockRequest(HOST, method.lower(), path, args=query, data=data, content_type=content_type)


def _fits(template: str, path: str) -> bool:
    wanted, given = template.split("/"), path.split("/")
    return len(wanted) == len(given) and all(a == b or a.startswith("{") for a, b in zip(wanted, given, strict=True))
