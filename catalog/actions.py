"""What can be done on this floor, as the audit rows name it."""

from __future__ import annotations

from foundation import audit

GRAPH_IMPORTED = audit.register(
    "graph.imported",
    "Manifest imported",
    "imported {project} as graph version {version}: {added} added, {changed} changed, {removed} removed",
)
GRAPH_DECLARED = audit.register(
    "graph.declared",
    "Graph declared",
    "declared readers as graph version {version}: {added} added, {changed} changed, {removed} removed",
)
DOMAIN_DECLARED = audit.register("domain.declared", "Domain declared", "declared the domain {domain}")
ASSET_DECLARED = audit.register("asset.declared", "Asset declared", "declared domain and people of {asset}")
CONSUMER_DECLARED = audit.register("consumer.declared", "Reader declared", "declared the reader {consumer}")
CONSUMER_SUGGESTED = audit.register("consumer.suggested", "Reader suggested", "suggested the reader {consumer}")
NOTE_WRITTEN = audit.register("note.written", "Note written", "wrote a note on {asset}")
BUILD_ANNOUNCED = audit.register("build.announced", "Build announced", "announced the {kind} build {key} ({status})")
BUILD_NAMED = audit.register("build.named", "Build named", "named the build {key}, of which nothing else is known yet")
BUILD_PROCESSED = audit.register("build.processed", "Build processed", "read the build {key}: {outputs} tables written")
BUILD_REFUSED = audit.register("build.refused", "Build not usable", "could not use the build {key}: {reason}")
