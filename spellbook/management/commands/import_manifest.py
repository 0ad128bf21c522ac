from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from catalog.services import builds, imports
from catalog.sources import artifact, manifest
from foundation import connections
from foundation.audit import Actor
from foundation.canonical import sha256_hex
from foundation.errors import BadInput
from spellbook.management import base


class Command(base.Command):
    help = "Imports a dbt manifest into the graph; with run results or a commit, the build that wrote it is kept too."

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("manifest", metavar="MANIFEST", type=Path)
        parser.add_argument("--catalog", metavar="FILE", type=Path)
        parser.add_argument("--run-results", metavar="FILE", type=Path)
        parser.add_argument("--sources", metavar="FILE", type=Path, help="sources.json of dbt source freshness")
        parser.add_argument("--project", metavar="NAME", default="", help="default: the name in the manifest")
        parser.add_argument("--connection", metavar="NAME", default="", help="whose namespace the tables are in")
        parser.add_argument("--commit", metavar="SHA", default="", help="the commit that was built; needs --repo")
        parser.add_argument(
            "--repo", metavar="URL", default="", help="the code connection, or the repository's address"
        )

    def run(self, actor: Actor, **options: Any) -> base.Answer:
        if bool(options["commit"]) != bool(options["repo"]):
            raise CommandError("--commit and --repo belong together", returncode=2)
        files = {"manifest": artifact.read_bytes(options["manifest"], "manifest")}
        for name, what in (("catalog", "catalog"), ("run_results", "run results"), ("sources", "sources")):
            if options[name] is not None:
                files[name] = artifact.read_bytes(options[name], what)
        connection = connections.get(options["connection"]) if options["connection"] else None
        if connection is not None and not connection.namespace:
            raise BadInput(f"The connection {connection.name} declares no namespace.")
        report = imports.import_manifest(
            files["manifest"],
            namespace=connection.namespace if connection else None,
            project=options["project"] or None,
            catalog=files.get("catalog"),
            run_results=files.get("run_results"),
            sources=files.get("sources"),
            actor=actor,
        )
        if options["commit"] or files.keys() & {"run_results", "sources"}:
            _keep_build(files, actor, options)
        return report.as_dict()

    def text(self, answer: base.Answer) -> str:
        counts = {name: value for name, value in answer.items() if name != "warnings"}
        warnings = [f"warning: {one['node'] or 'the file'}: {one['reason']}" for one in answer["warnings"]]
        return "\n".join([super().text(counts), *warnings])


def _keep_build(files: dict[str, bytes], actor: Actor, options: dict[str, Any]) -> None:
    """The build under dbt's own id of the invocation, so that the same files again are the same build."""
    invocation = manifest.read(files["manifest"]).invocation_id
    build, _ = builds.announce(
        key=f"dbt:{invocation or sha256_hex(files['manifest'])}",
        kind="dbt",
        producer="import_manifest",
        commit=options["commit"],
        repository=options["repo"],
        connection=options["connection"],
        project=options["project"],
        artifacts=files,
        actor=actor,
    )
    builds.process(build.pk, actor=actor)
