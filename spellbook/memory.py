"""How much memory a tree of processes uses: the sum of the proportional set sizes (shared pages are counted once)."""

from __future__ import annotations

import contextlib

import psutil


def tree_pss(root: psutil.Process) -> int:
    """Bytes used by `root` and everything below it at this moment; a process that ends meanwhile counts 0."""
    total = 0
    with contextlib.suppress(psutil.Error):
        for process in [root, *root.children(recursive=True)]:
            with contextlib.suppress(psutil.Error):
                total += process.memory_full_info().pss
    return total
