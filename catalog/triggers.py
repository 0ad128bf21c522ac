"""Rules of the catalogue in the database: what was announced or claimed stays as it was.

A claim is an interval of graph versions: it is opened once, closed once, and never rewritten (D6).
"""

from __future__ import annotations

from foundation.triggers import Trigger, append_only, append_only_columns, guard, no_delete


def _interval(table: str, *columns: str) -> list[Trigger]:
    return [
        append_only_columns(table, "id", "source_id", "added_in_id", *columns),
        guard(
            table,
            "closed_for_good",
            "OLD.removed_in_id IS NOT NULL AND OLD.removed_in_id IS DISTINCT FROM NEW.removed_in_id",
            f"a closed row of {table} stays closed",
        ),
        no_delete(table),
    ]


TRIGGERS = [
    append_only("catalog_graphversion"),
    *_interval("catalog_nodeclaim", "asset_id", "local_id", "attributes"),
    *_interval("catalog_edgeclaim", "from_asset_id", "to_asset_id", "kind"),
    append_only("catalog_buildartifact"),
    append_only_columns("catalog_build", "id", "key"),
    append_only_columns("catalog_definition", "id", "asset_id", "number", "text", "author_id", "created_at"),
    no_delete("catalog_definition"),
    append_only_columns("catalog_lineageevent", "id", "sha256", "body", "kind", "run", "at", "received_by_id"),
    append_only_columns("catalog_pullrequest", "id", "connection_id", "number", "seen_at"),
    no_delete("catalog_pullrequest"),
    append_only("catalog_review"),
    append_only("catalog_reviewartifact"),
    append_only("catalog_reviewdelivery"),
    append_only_columns("catalog_reviewacknowledgement", "id", "review_id", "person_id", "covers", "at"),
    no_delete("catalog_reviewacknowledgement"),
    append_only_columns("catalog_reviewrule", "id", "set_by_id", "set_at"),
    guard(
        "catalog_reviewrule",
        "lifted_for_good",
        "OLD.lifted_at IS NOT NULL AND OLD.lifted_at IS DISTINCT FROM NEW.lifted_at",
        "a lifted rule stays lifted",
    ),
    no_delete("catalog_reviewrule"),
]
