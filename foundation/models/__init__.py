"""The rows of the cellar: who acts, what was done, what goes out and comes in, and how to reach other systems."""

from __future__ import annotations

from foundation.models.audit import AuditDetail, AuditRow
from foundation.models.connections import Connection
from foundation.models.messages import Inbox, Outbox
from foundation.models.people import Person, Principal, PrincipalName, Role, Token

__all__ = [
    "AuditDetail",
    "AuditRow",
    "Connection",
    "Inbox",
    "Outbox",
    "Person",
    "Principal",
    "PrincipalName",
    "Role",
    "Token",
]
