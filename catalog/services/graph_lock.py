"""The one lock that orders all writers of the graph: who takes other rows too takes it first, so that none of them
waits for another in a circle."""

from __future__ import annotations

from catalog.models import GraphHead
from foundation.locks import lock


def hold_graph() -> GraphHead:
    """The head of the graph, locked until the caller's transaction ends. Busy when others keep it too long."""
    GraphHead.objects.get_or_create(pk=1)
    return lock(GraphHead.objects.all(), pk=1)
