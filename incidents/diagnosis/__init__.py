"""Finding the cause of an incident; each kind of evidence is one module and one line in `verdict.EVIDENCE`."""

from __future__ import annotations

from incidents.diagnosis.verdict import diagnose

__all__ = ["diagnose"]
