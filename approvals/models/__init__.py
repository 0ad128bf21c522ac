"""What may be done, who says so, the acting, the proof."""

from __future__ import annotations

from approvals.models.autonomy import AutonomyRule, LevelChange, Policy, Stop
from approvals.models.ledger import Checkpoint, Leaf, LedgerHead, LedgerKey, Receipt
from approvals.models.plans import Assertion, Draft, Plan, Run, Step, Verification
from approvals.models.requests import Outcome, Request, Turn, Vote, VoteReason

__all__ = [
    "Assertion",
    "AutonomyRule",
    "Checkpoint",
    "Draft",
    "Leaf",
    "LedgerHead",
    "LedgerKey",
    "LevelChange",
    "Outcome",
    "Plan",
    "Policy",
    "Receipt",
    "Request",
    "Run",
    "Step",
    "Stop",
    "Turn",
    "Verification",
    "Vote",
    "VoteReason",
]
