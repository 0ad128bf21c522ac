"""The fix classes, most specific first; a new one is one module and one line here."""

from __future__ import annotations

from approvals.fixes import null_safe_filter, revert
from approvals.fixes.base import Fix

FIXES: tuple[Fix, ...] = (null_safe_filter.propose, revert.propose)
