"""Rules of this floor in the database: numbers, verdicts and evidence stay as they were written."""

from __future__ import annotations

from foundation.triggers import append_only, append_only_columns, guard, no_delete

TRIGGERS = [
    append_only_columns(
        "incidents_value",
        "id",
        "metric_id",
        "build_id",
        "number",
        "at",
        "recorded_at",
        "principal_id",
        "obtained",
        "backdated",
        "query",
    ),
    guard(
        "incidents_value",
        "withdrawn_for_good",
        "OLD.withdrawn_at IS NOT NULL AND (OLD.withdrawn_at IS DISTINCT FROM NEW.withdrawn_at"
        " OR OLD.withdrawn_reason IS DISTINCT FROM NEW.withdrawn_reason)",
        "a withdrawn value stays withdrawn",
    ),
    no_delete("incidents_value"),
    append_only("incidents_baseline"),
    append_only("incidents_result"),
    append_only("incidents_evidence"),
    append_only("incidents_cause"),
    append_only("incidents_finding"),
    append_only_columns("incidents_incident", "id", "number", "opened_at", "first_bad_build_id"),
    guard(
        "incidents_incident",
        "reach_frozen",
        "OLD.reached_at IS NOT NULL AND (OLD.reach IS DISTINCT FROM NEW.reach"
        " OR OLD.reach_digest IS DISTINCT FROM NEW.reach_digest OR OLD.reached_at IS DISTINCT FROM NEW.reached_at"
        " OR OLD.asset_id IS DISTINCT FROM NEW.asset_id)",
        "the reach of an incident is frozen once drawn",
    ),
    guard(
        "incidents_incident",
        "closed_for_good",
        "OLD.state = 'closed' AND (NEW.state <> 'closed' OR OLD.resolution <> NEW.resolution"
        " OR OLD.closed_at IS DISTINCT FROM NEW.closed_at)",
        "a closed incident stays closed",
    ),
    no_delete("incidents_incident"),
    append_only_columns("incidents_hold", "id", "incident_id", "consumer_id", "operator_id", "asked_at", "needed_by"),
    no_delete("incidents_hold"),
    append_only_columns("incidents_damage", "id", "incident_id", "consumer_id", "expected_at"),
    no_delete("incidents_damage"),
    no_delete("incidents_confirmation"),
]
