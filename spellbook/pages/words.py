"""How each state is said: an icon, a word and a tone, never colour alone. A new state is one line here."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Said:
    """`tone` is a colour of tokens.css: ok, warn, bad, accent or muted."""

    icon: str
    tone: str
    word: str


_WAITS = ("clock", "warn")
_GOOD = ("check", "ok")
_BAD = ("cross", "bad")
_OVER = ("minus", "muted")

STATES: dict[str, dict[str, Said]] = {
    "incident": {
        "open": Said("alert", "bad", "Open"),
        "acknowledged": Said("eye", "warn", "Acknowledged"),
        "diagnosed": Said("search", "warn", "Diagnosed"),
        "closed": Said(*_GOOD, "Closed"),
    },
    "severity": {
        "critical": Said("alert", "bad", "Critical"),
        "high": Said("alert", "warn", "High"),
        "medium": Said("minus", "accent", "Medium"),
        "low": Said("minus", "muted", "Low"),
        "unknown": Said("question", "muted", "Severity not known yet"),
    },
    "trust": {
        "high": Said(*_GOOD, "High"),
        "middle": Said("minus", "warn", "Middling"),
        "low": Said("alert", "bad", "Low"),
        "unknown": Said("question", "muted", "Too little known"),
    },
    "suggestion": {
        "standing": Said(*_GOOD, "Approved"),
        "declared": Said(*_GOOD, "Declared"),
        "suggested": Said(*_WAITS, "A suggestion"),
        "refused": Said(*_OVER, "Refused"),
        "withdrawn": Said(*_OVER, "Withdrawn"),
    },
    "verdict": {
        "held": Said(*_GOOD, "Inside"),
        "breach": Said("alert", "bad", "Outside"),
        "not_evaluated": Said("question", "muted", "Not evaluated"),
    },
    "result": {
        "passed": Said(*_GOOD, "Passed"),
        "failed": Said(*_BAD, "Failed"),
        "not_evaluated": Said("question", "muted", "Not evaluated"),
        "error": Said("alert", "bad", "Error"),
    },
    "consumer": {
        "suggested": Said("agent", "warn", "Suggested"),
        "standing": Said(*_GOOD, "Counts"),
        "refused": Said(*_BAD, "Refused"),
        "withdrawn": Said(*_OVER, "Withdrawn"),
    },
    "hold": {
        "asked": Said(*_WAITS, "Asked"),
        "acknowledged": Said("eye", "warn", "Seen"),
        "held": Said("pause", "ok", "Held"),
        "declined": Said(*_BAD, "Declined"),
        "released": Said(*_OVER, "Released"),
        "too_late": Said(*_BAD, "Too late"),
    },
    "damage": {
        "pending": Said(*_WAITS, "Pending"),
        "done": Said(*_BAD, "Done"),
        "repaired": Said(*_GOOD, "Repaired"),
        "averted": Said(*_GOOD, "Averted"),
    },
    "plan": {
        "draft": Said("minus", "muted", "Draft"),
        "would_do": Said("eye", "accent", "Would do"),
        "asking": Said(*_WAITS, "Waits for approval"),
        "acting": Said("play", "accent", "Acting"),
        "verifying": Said("search", "accent", "Verifying"),
        "verified": Said(*_GOOD, "Verified"),
        "failed": Said(*_BAD, "Failed"),
        "rejected": Said(*_BAD, "Rejected"),
        "expired": Said(*_OVER, "Expired"),
        "superseded": Said(*_OVER, "Superseded"),
    },
    "step": {
        "proposed": Said("minus", "muted", "Proposed"),
        "not_approved": Said(*_OVER, "Not approved"),
        "waiting": Said(*_WAITS, "Waiting"),
        "acting": Said("play", "accent", "Acting"),
        "done": Said(*_GOOD, "Done"),
        "failed": Said(*_BAD, "Failed"),
        "abandoned": Said(*_OVER, "Abandoned"),
    },
    "request": {
        "pending": Said(*_WAITS, "Pending"),
        "approved": Said(*_GOOD, "Approved"),
        "rejected": Said(*_BAD, "Rejected"),
        "expired": Said(*_OVER, "Expired"),
        "withdrawn": Said(*_OVER, "Withdrawn"),
        "superseded": Said(*_OVER, "Superseded"),
    },
    "run": {
        "claimed": Said(*_WAITS, "Claimed"),
        "running": Said("play", "accent", "Running"),
        "succeeded": Said(*_GOOD, "Succeeded"),
        "failed": Said(*_BAD, "Failed"),
        "cancelled": Said(*_OVER, "Cancelled"),
    },
    "assertion": {
        "True": Said(*_GOOD, "Holds"),
        "False": Said(*_BAD, "Does not hold"),
        "None": Said("question", "muted", "Not checked yet"),
    },
    "equal": {"True": Said(*_GOOD, "Equal"), "False": Said(*_BAD, "Different")},
    "cause": {"True": Said(*_GOOD, "Established"), "False": Said("question", "muted", "Not established")},
    "speaks": {
        "for": Said("check", "ok", "For"),
        "against": Said("cross", "warn", "Against"),
        "neutral": Said("minus", "muted", "Neutral"),
    },
    "rehearsal": {
        "rehearsed": Said(*_GOOD, "Rehearsed"),
        "contradicted": Said(*_BAD, "Contradicted"),
        "not rehearsed": Said("question", "muted", "Not rehearsed"),
    },
    "build": {
        "succeeded": Said(*_GOOD, "Succeeded"),
        "failed": Said(*_BAD, "Failed"),
        "unknown": Said("question", "muted", "Unknown"),
    },
    "review": {
        "safe": Said(*_GOOD, "Safe"),
        "look": Said("eye", "warn", "Look"),
        "dangerous": Said("alert", "bad", "Dangerous"),
        "waiting": Said(*_WAITS, "Waits for its manifest"),
        "problem": Said("question", "muted", "Not reviewed"),
    },
    "finding": {
        "dangerous": Said("alert", "bad", "Dangerous"),
        "look": Said("eye", "warn", "Look"),
        "info": Said("minus", "muted", "For information"),
    },
    "answer": {
        "acknowledged": Said("person", "accent", "Acknowledged"),
        "waits": Said(*_WAITS, "Waits for an acknowledgement"),
    },
    "pull_request": {
        "unread": Said("question", "muted", "Not read yet"),
        "open": Said("play", "accent", "Open"),
        "closed": Said(*_OVER, "Closed"),
        "merged": Said(*_GOOD, "Merged"),
    },
    "sealed": {"True": Said("seal", "ok", "Sealed"), "False": Said(*_WAITS, "Not sealed yet")},
    "stop": {"True": Said("stop", "bad", "Stopped"), "False": Said("play", "ok", "Dispatch running")},
    "freshness": {
        "pass": Said(*_GOOD, "Fresh"),
        "warn": Said("clock", "warn", "Late"),
        "error": Said(*_BAD, "Too late"),
        "runtime error": Said("question", "muted", "dbt could not tell"),
    },
    "actor": {
        "human": Said("person", "muted", "Person"),
        "agent": Said("agent", "muted", "Agent"),
        "system": Said("gear", "muted", "Spellbook"),
    },
    "graph": {
        "added": Said("check", "ok", "Added"),
        "changed": Said("minus", "accent", "Changed"),
        "removed": Said("cross", "muted", "Removed"),
    },
    "change": {
        "proposed": Said(*_WAITS, "Waits for a second person"),
        "done": Said(*_GOOD, "Done"),
        "withdrawn": Said(*_OVER, "Withdrawn"),
    },
}


def said(kind: str, state: object) -> Said:
    """How a state of a kind is said; one that is not in the table is said with its own word."""
    known = STATES.get(kind, {}).get(str(state))
    return known or Said("question", "muted", str(state).replace("_", " ").capitalize())
