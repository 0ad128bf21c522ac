"""Cut GitHub's own OpenAPI description down to the operations that the client uses.

    npm pack @octokit/openapi@23.0.2 && tar xzf octokit-openapi-23.0.2.tgz
    python -m tests.github.make_description package/generated/api.github.com.json

Writes api.github.com.json beside this file (VENDOR.md says whose it is). Schemas stay as they are; descriptions,
examples, extensions and discriminators (they take "array" for a class) go, and so does every component that no
operation needs.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "api.github.com.json"
REPO = "/repos/{owner}/{repo}"
USED = {
    "/app": ["get"],
    "/app/installations/{installation_id}/access_tokens": ["post"],
    "/user": ["get"],
    REPO: ["get"],
    f"{REPO}/actions/artifacts/{{artifact_id}}/{{archive_format}}": ["get"],
    f"{REPO}/actions/runs": ["get"],
    f"{REPO}/actions/runs/{{run_id}}/artifacts": ["get"],
    f"{REPO}/check-runs": ["post"],
    f"{REPO}/check-runs/{{check_run_id}}": ["patch"],
    f"{REPO}/commits/{{ref}}/check-runs": ["get"],
    f"{REPO}/compare/{{basehead}}": ["get"],
    f"{REPO}/contents/{{path}}": ["get"],
    f"{REPO}/issues/comments/{{comment_id}}": ["patch"],
    f"{REPO}/issues/{{issue_number}}/comments": ["get", "post"],
    f"{REPO}/pulls": ["get"],
    f"{REPO}/pulls/{{pull_number}}": ["get"],
    f"{REPO}/pulls/{{pull_number}}/files": ["get"],
    f"{REPO}/statuses/{{sha}}": ["post"],
}
DROPPED = frozenset({"example", "examples", "externalDocs", "tags", "deprecated", "discriminator"})
NAMED = frozenset({"properties", "responses", "headers", "content"})


def main(source: Path) -> None:
    """Read the whole description, write the part."""
    whole = json.loads(source.read_text())
    paths = {
        path: slim({key: value for key, value in whole["paths"][path].items() if key in [*methods, "parameters"]})
        for path, methods in USED.items()
    }
    part = {
        "openapi": whole["openapi"],
        "info": slim(whole["info"]),
        "servers": whole["servers"],
        "paths": paths,
        "components": components(whole["components"], paths),
    }
    HERE.write_text(json.dumps(part, separators=(",", ":"), sort_keys=True, ensure_ascii=False) + "\n")


def components(whole: dict[str, Any], paths: dict[str, Any]) -> dict[str, Any]:
    """Those that the paths need, and those that these need."""
    found: dict[str, dict[str, Any]] = {}
    wanted = references(paths)
    while wanted:
        kind, name = wanted.pop().removeprefix("#/components/").split("/")
        if name not in found.setdefault(kind, {}):
            found[kind] |= slim({name: whole[kind][name]}, names=True, responses=kind == "responses")
            wanted |= references(found[kind][name])
    return found


def references(node: Any) -> set[str]:
    """Every $ref below a node."""
    if isinstance(node, dict):
        here = {node["$ref"]} if isinstance(node.get("$ref"), str) else set()
        return here.union(*map(references, node.values()))
    return set().union(*map(references, node)) if isinstance(node, list) else set()


def slim(node: Any, *, names: bool = False, responses: bool = False) -> Any:
    """Without what judges nothing. `names`: the keys are names, which all stay. `responses`: the values are responses,
    whose description OpenAPI asks for."""
    if isinstance(node, list):
        return [slim(item) for item in node]
    if not isinstance(node, dict):
        return node
    kept = {}
    for key, value in node.items():
        if not names and (key in DROPPED or key.startswith("x-") or key == "description"):
            continue
        kept[key] = slim(value, names=not names and key in NAMED, responses=key == "responses")
        if responses and "$ref" not in kept[key]:
            kept[key]["description"] = value["description"]
    return kept


if __name__ == "__main__":
    main(Path(sys.argv[1]))
