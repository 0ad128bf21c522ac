"""A reader that counts no more: who withdrew it, when and why, and what stood of it before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from catalog.actions import CONSUMER_WITHDRAWN
from catalog.models import Consumer, Domain
from foundation.models import AuditRow, Principal
from spellbook.sight import Sight


@dataclass(frozen=True)
class Withdrawal:
    """`by` and `at` are None where it ended otherwise (nothing that told of it does any more), or where it stood in a
    domain that these eyes do not see. `said` is in the words of a declaration, and empty where the audit's side row was
    erased."""

    by: Principal | None = None
    at: datetime | None = None
    reason: str = ""
    said: Mapping[str, Any] = field(default_factory=dict)


def withdrawal(consumer: Consumer, sight: Sight) -> Withdrawal | None:
    """How a reader ended that is withdrawn; None for any other.

    A withdrawn reader has its domain no more, so what stood says whose eyes may read it.
    """
    if consumer.status != "withdrawn":
        return None
    rows = AuditRow.objects.filter(target_type=consumer._meta.label_lower, target_id=str(consumer.pk), refused=False)
    newest = rows.select_related("principal__name_row", "detail").order_by("-pk").first()
    if newest is None or newest.action != CONSUMER_WITHDRAWN:
        return Withdrawal()
    body = newest.detail.body if hasattr(newest, "detail") else {}
    said = body.get("before") or {}
    if said.get("domain") and Domain.objects.filter(pk__in=sight.hidden_domains, key=said["domain"]).exists():
        return Withdrawal()
    reason = (body.get("facts") or {}).get("reason", "")
    return Withdrawal(newest.principal, newest.at, reason, said)
