"""What went wrong and why."""

from __future__ import annotations

from incidents.models.incidents import Cause, Confirmation, Damage, Evidence, Finding, Hold, Incident, IncidentHead
from incidents.models.measures import Baseline, BuildReview, Check, Metric, Result, Value

__all__ = [
    "Baseline",
    "BuildReview",
    "Cause",
    "Check",
    "Confirmation",
    "Damage",
    "Evidence",
    "Finding",
    "Hold",
    "Incident",
    "IncidentHead",
    "Metric",
    "Result",
    "Value",
]
