"""How long GitHub lets texts be, in characters unless said otherwise. Pure; the only place of these numbers.

Sources: "Create a check run" of GitHub's REST API (https://docs.github.com/en/rest/checks/runs); a comment's limit is
what GitHub says when it refuses a longer one.
"""

from __future__ import annotations

from typing import Final

COMMENT: Final = 65_536
SUMMARY: Final = 65_535
"""The summary of a check run."""
TITLE: Final = 255
"""The title of a check run, and of an annotation."""
MESSAGE: Final = 64 * 1024
"""Bytes of an annotation's message."""
DESCRIPTION: Final = 140
"""The description of a commit status."""
