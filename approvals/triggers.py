"""The rules of this floor that the database itself keeps, whoever writes; re-created after each migrate (D2)."""

from __future__ import annotations

from foundation.triggers import Trigger, append_only, append_only_columns, guard, no_delete

_SQLITE_NOW = "strftime('%Y-%m-%d %H:%M:%f000', 'now')"

# The row's UUID with dashes, as receipts name it: SQLite keeps 32 hex digits, PostgreSQL a uuid.
_SQLITE_UUID = " || '-' || ".join(
    f"substr(NEW.id, {start}, {length})" for start, length in ((1, 8), (9, 4), (13, 4), (17, 4), (21, 12))
)
_POSTGRES_UUID = "NEW.id::text"


def _receipt_first(table: str, kind: str, ends: str) -> Trigger:
    """The row may enter a state of `ends` only when the receipt of its end stands (I13)."""
    condition = (
        "NEW.state IN ({ends}) AND OLD.state <> NEW.state AND NOT EXISTS (SELECT 1 FROM approvals_receipt r"
        " WHERE r.type = '{kind}' AND r.subject = '{kind}/' || {uuid})"
    )
    return guard(
        table,
        "receipt_first",
        condition.format(ends=ends, kind=kind, uuid=_POSTGRES_UUID),
        f"the {kind} cannot end without its receipt",
        sqlite_when=condition.format(ends=ends, kind=kind, uuid=_SQLITE_UUID),
    )


# The newest change of this domain and class is exactly this rise, seconded by another person, with its receipt (I11).
_RISE = """EXISTS (SELECT 1 FROM approvals_levelchange c WHERE c.id = (
  SELECT d.id FROM approvals_levelchange d
  WHERE d.domain_id = NEW.domain_id AND d.step_class = NEW.step_class AND d.state = 'done'
  ORDER BY d.ended_at DESC, d.id DESC LIMIT 1)
 AND c.from_level = NEW.level - 1 AND c.to_level = NEW.level
 AND c.seconded_by_id IS NOT NULL AND c.seconded_by_id <> c.proposed_by_id
 AND EXISTS (SELECT 1 FROM approvals_receipt r WHERE r.type = 'level' AND r.subject = 'level/' || c.id))"""
_INHERITED = """COALESCE((SELECT g.level FROM approvals_autonomyrule g
 WHERE g.domain_id = NEW.domain_id AND g.step_class = ''), 1)"""

_COUNTED = """EXISTS (SELECT 1 FROM approvals_request r WHERE r.id = NEW.request_id AND r.state = 'pending' AND (
 NEW.decision = 'approve'
 AND (SELECT COUNT(*) FROM approvals_vote v WHERE v.request_id = r.id AND v.decision = 'approve') >= r.required
 AND NOT EXISTS (SELECT 1 FROM approvals_vote v WHERE v.request_id = r.id AND v.decision = 'reject')
 OR NEW.decision = 'reject'
 AND EXISTS (SELECT 1 FROM approvals_vote v WHERE v.request_id = r.id AND v.decision = 'reject')))"""
_OPEN = """EXISTS (SELECT 1 FROM approvals_request r
 WHERE r.id = NEW.request_id AND r.state = 'pending' AND r.expires_at > {now})"""
_OUTCOME = """EXISTS (SELECT 1 FROM approvals_outcome o WHERE o.request_id = NEW.id
 AND o.decision = CASE NEW.state WHEN 'approved' THEN 'approve' ELSE 'reject' END)"""

_RE_EVALUATE = """UPDATE approvals_request SET due_at = {now} WHERE state = 'pending' AND {named};"""
_MOVED = Trigger(  # guard: I7
    name="foundation_person_requests",
    table="foundation_person",
    events=("UPDATE",),
    timing="AFTER",
    sqlite_when="OLD.is_active IS NOT NEW.is_active",
    sqlite=_RE_EVALUATE.format(
        now=_SQLITE_NOW,
        named="EXISTS (SELECT 1 FROM json_each(chain) AS link WHERE json_extract(link.value, '$.person') = NEW.id)",
    ),
    postgres="IF OLD.is_active IS DISTINCT FROM NEW.is_active THEN "
    + _RE_EVALUATE.format(
        now="clock_timestamp()", named="chain @> jsonb_build_array(jsonb_build_object('person', NEW.id))"
    )
    + " END IF;",
)

TRIGGERS = [
    append_only("approvals_vote"),
    append_only("approvals_votereason", may_delete=True),
    guard(
        "approvals_vote",
        "in_time",
        f"NOT {_OPEN.format(now='clock_timestamp()')}",
        "a vote belongs to a pending request that has not expired",
        events=("INSERT",),
        sqlite_when=f"NOT {_OPEN.format(now=_SQLITE_NOW)}",
    ),  # guard: I5
    append_only("approvals_outcome"),
    guard(
        "approvals_outcome",
        "counted",
        f"NOT {_COUNTED}",
        "an outcome belongs to a pending request whose votes decide it",
        events=("INSERT",),
    ),  # guard: I1
    append_only_columns(
        "approvals_request",
        "id",
        "plan_id",
        "domain_id",
        "required",
        "chain",
        "plan_digest",
        "shown",
        "shown_digest",
        "created_at",
    ),
    guard(
        "approvals_request", "begins_pending", "NEW.state <> 'pending'", "a request begins pending", events=("INSERT",)
    ),
    guard(
        "approvals_request",
        "ended_for_good",
        "OLD.state <> 'pending' AND (NEW.state <> OLD.state OR NEW.ended_at IS DISTINCT FROM OLD.ended_at)",
        "a request that has ended stays so",
    ),  # guard: I1
    guard(
        "approvals_request",
        "has_outcome",
        f"OLD.state = 'pending' AND NEW.state IN ('approved', 'rejected') AND NOT {_OUTCOME}",
        "a request is approved or rejected by an outcome alone",
    ),  # guard: I4
    no_delete("approvals_request"),
    no_delete("approvals_turn"),
    _MOVED,
    guard(
        "approvals_plan",
        "asked_for_good",
        "OLD.state <> 'draft' AND OLD.state <> 'would_do' AND (OLD.body IS DISTINCT FROM NEW.body"
        " OR OLD.plan_digest IS DISTINCT FROM NEW.plan_digest)",
        "a plan that was asked for does not change",
    ),  # guard: I2
    guard(
        "approvals_plan",
        "ended_for_good",
        "OLD.state IN ('verified', 'failed', 'rejected', 'expired', 'superseded') AND NEW.state <> OLD.state",
        "a plan that has ended stays so",
    ),
    no_delete("approvals_plan"),
    # A run is what spends an approved step (I1): it can be followed, neither re-assigned nor forgotten.
    append_only_columns(
        "approvals_run", "id", "outcome_id", "step_id", "idempotency_key", "runner", "commit", "claimed_at"
    ),
    no_delete("approvals_run"),
    append_only("approvals_verification"),
    _receipt_first("approvals_plan", "plan", "'verified', 'failed'"),
    _receipt_first("incidents_incident", "incident", "'closed'"),
    append_only_columns("approvals_receipt", "id", "type", "subject", "statement", "statement_sha256", "created_at"),
    guard(
        "approvals_receipt",
        "sealed_for_good",
        "OLD.envelope IS NOT NULL AND (OLD.envelope IS DISTINCT FROM NEW.envelope"
        " OR OLD.sealed_at IS DISTINCT FROM NEW.sealed_at)",
        "a sealed receipt stays as it was signed",
    ),
    no_delete("approvals_receipt"),
    append_only("approvals_leaf"),
    guard(
        "approvals_leaf",
        "gapless",
        'NEW."index" <> (SELECT COALESCE(MAX(l."index") + 1, 0) FROM approvals_leaf l)',
        "a leaf takes the next index of the ledger",
        events=("INSERT",),
    ),  # guard: I14
    append_only("approvals_checkpoint"),
    guard(
        "approvals_checkpoint",
        "grows",
        "NEW.size > (SELECT COUNT(*) FROM approvals_leaf)"
        " OR NEW.size <= (SELECT COALESCE(MAX(c.size), 0) FROM approvals_checkpoint c)",
        "a checkpoint is larger than the last one and not larger than the ledger",
        events=("INSERT",),
    ),  # guard: I14
    append_only("approvals_ledgerkey"),
    guard("approvals_ledgerhead", "grows", "NEW.size < OLD.size", "the ledger does not shrink"),
    no_delete("approvals_ledgerhead"),
    no_delete("approvals_stop"),
    append_only_columns("approvals_autonomyrule", "id", "domain_id", "step_class"),
    no_delete("approvals_autonomyrule"),
    guard(
        "approvals_autonomyrule",
        "rises_by_two_people",
        f"NEW.level > OLD.level AND (NEW.level <> OLD.level + 1 OR NOT {_RISE})",
        "a level rises by one, with two people and a receipt",
    ),  # guard: I11
    guard(
        "approvals_autonomyrule",
        "begins_by_two_people",
        f"NEW.level > {_INHERITED} AND (NEW.level <> {_INHERITED} + 1 OR NOT {_RISE})",
        "a level rises by one, with two people and a receipt",
        events=("INSERT",),
    ),  # guard: I11
    append_only_columns(
        "approvals_levelchange",
        "id",
        "domain_id",
        "step_class",
        "from_level",
        "to_level",
        "proposed_by_id",
        "proposed_at",
        "reason",
    ),
    guard(
        "approvals_levelchange",
        "done_for_good",
        "OLD.state <> 'proposed' AND (NEW.state <> OLD.state OR NEW.seconded_by_id IS DISTINCT FROM OLD.seconded_by_id"
        " OR NEW.ended_at IS DISTINCT FROM OLD.ended_at)",
        "a change of level that has ended stays so",
    ),
    no_delete("approvals_levelchange"),
]
