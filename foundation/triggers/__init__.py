"""Rules in the database itself: one list of triggers per app, the same rule on both engines.

Each app keeps its list in `<app>/triggers.py` under the name `TRIGGERS`; this package holds the means and the
cellar's own list.
"""

from __future__ import annotations

from foundation.triggers.catalogue import after_migrate, all_triggers, before_migrate, install, missing
from foundation.triggers.shape import Trigger, append_only, append_only_columns, guard, no_delete

__all__ = [
    "TRIGGERS",
    "Trigger",
    "after_migrate",
    "all_triggers",
    "append_only",
    "append_only_columns",
    "before_migrate",
    "guard",
    "install",
    "missing",
    "no_delete",
]

TRIGGERS = [
    append_only("foundation_auditrow"),
    append_only("foundation_auditdetail", may_delete=True),
    append_only_columns("foundation_principal", "id", "kind", "created_at"),
    no_delete("foundation_principal"),
    no_delete("foundation_person"),
    append_only_columns("foundation_person", "id", "principal_id"),
    append_only_columns("foundation_token", "id", "principal_id", "hash", "scopes", "expires_at", "created_at"),
    guard(
        "foundation_token",
        "revoked_for_good",
        "OLD.revoked_at IS NOT NULL AND OLD.revoked_at IS DISTINCT FROM NEW.revoked_at",
        "a revoked token stays revoked",
    ),
    append_only_columns(
        "foundation_outbox", "id", "event", "destination", "purpose", "body", "correlation_id", "created_at"
    ),
    guard(
        "foundation_outbox",
        "sent_for_good",
        "OLD.state = 'sent' AND NEW.state <> 'sent'",
        "a sent message stays sent",
    ),
    no_delete("foundation_outbox"),
    append_only_columns("foundation_inbox", "id", "source", "external_id", "headers", "received_at"),
    guard(
        "foundation_inbox",
        "body_goes_whole",
        "OLD.body IS DISTINCT FROM NEW.body AND (LENGTH(NEW.body) > 0 OR NEW.processed_at IS NULL)",
        "the body of an incoming message never changes; it may be dropped when the message is processed",
    ),
    no_delete("foundation_inbox"),
]
