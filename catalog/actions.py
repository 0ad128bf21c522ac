"""What can be done on this floor, as the audit rows name it."""

from __future__ import annotations

from foundation import audit

GRAPH_IMPORTED = audit.register(
    "graph.imported",
    "Manifest imported",
    "imported {project} as graph version {version}: {added} added, {changed} changed, {removed} removed",
)
GRAPH_DETAILED = audit.register(
    "graph.detailed",
    "Columns and owners read",
    "read columns of {tables} tables and {owners} owners of {project}; the graph is as it was",
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
CONSUMER_WITHDRAWN = audit.register(
    "consumer.withdrawn", "Reader withdrawn", "withdrew the reader {consumer}: {reason}"
)
SOURCE_DECLARED = audit.register(
    "source.declared", "Declarations read", "read what {source} declares: {changed} changed"
)
SUGGESTION_APPROVED = audit.register("suggestion.approved", "Suggestion approved", "approved the {kind} of {asset}")
SUGGESTION_REFUSED = audit.register(
    "suggestion.refused", "Suggestion refused", "refused the {kind} of {asset}: {reason}"
)
DEFINITION_WRITTEN = audit.register("definition.written", "Definition written", "defined {asset} anew ({status})")
NOTE_WITHDRAWN = audit.register("note.withdrawn", "Note withdrawn", "withdrew a note on {asset}")
NOTE_WRITTEN = audit.register("note.written", "Note written", "wrote a note on {asset}")
BUILD_ANNOUNCED = audit.register("build.announced", "Build announced", "announced the {kind} build {key} ({status})")
BUILD_NAMED = audit.register("build.named", "Build named", "named the build {key}, of which nothing else is known yet")
BUILD_PROCESSED = audit.register("build.processed", "Build processed", "read the build {key}: {outputs} tables written")
BUILD_REFUSED = audit.register("build.refused", "Build not usable", "could not use the build {key}: {reason}")
ALIAS_DECLARED = audit.register("namespace.aliased", "Alias declared", "declared that {alias} means {namespace}")
ALIAS_WITHDRAWN = audit.register(
    "namespace.alias_withdrawn", "Alias withdrawn", "took back that {alias} means {namespace}"
)
ASSETS_UNITED = audit.register(
    "graph.united", "Assets united", "made {united} assets one with their other name ({why}) in graph version {version}"
)
ASSETS_RENAMED = audit.register("graph.renamed", "Assets renamed", "renamed {renamed} assets ({why})")
WAREHOUSE_READ = audit.register(
    "graph.introspected",
    "Warehouse read",
    "read the tables of {connection} as graph version {version}: {added} added, {changed} changed, {removed} removed",
)
GRAPH_OBSERVED = audit.register(
    "graph.observed",
    "OpenLineage events read",
    "read {events} OpenLineage events as graph version {version}: {added} added, {changed} changed, {removed} removed",
)
PULL_REQUEST_SEEN = audit.register(
    "review.noticed", "Pull request noticed", "noticed pull request {number} of {repository}"
)
PULL_REQUEST_READ = audit.register(
    "review.read", "Pull request read", "read pull request {number} of {repository}: {state}, head {head}"
)
REVIEW_FILE_POSTED = audit.register(
    "review.file_posted", "File for a review posted", "posted the {kind} of {commit} in {repository}"
)
REVIEW_WRITTEN = audit.register(
    "review.written", "Change reviewed", "reviewed {commit} of pull request {number} in {repository}: {verdict}"
)
REVIEW_POSTED = audit.register(
    "review.posted", "Review posted", "posted to pull request {number} of {repository}: {what}"
)
REVIEW_ACKNOWLEDGED = audit.register(
    "review.acknowledged",
    "Change acknowledged",
    "acknowledged the {verdict} change of pull request {number} in {repository}: {reason}",
)
REVIEW_RULE_SET = audit.register(
    "review.rule_set", "Review rule set", "set that changes of {asset} have to be acknowledged: {reason}"
)
REVIEW_RULE_LIFTED = audit.register(
    "review.rule_lifted",
    "Review rule lifted",
    "lifted the rule that changes of {asset} have to be acknowledged: {reason}",
)
