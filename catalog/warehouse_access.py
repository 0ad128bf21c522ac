"""From an asset to the warehouse in which it can be read."""

from __future__ import annotations

from catalog.models import Asset
from catalog.warehouses.base import Warehouse
from catalog.warehouses.registry import KINDS, open_warehouse
from foundation.errors import Unavailable
from foundation.models import Connection


def open_for(what: Asset | str) -> Warehouse:
    """The warehouse behind an asset or a namespace, through the connection whose purpose is to read there.

    Nothing is opened yet. Raises Unavailable when no connection reads that namespace.
    """
    connection = read_connection(what)
    if connection is None:
        raise Unavailable(f"No connection reads {_namespace(what)}; add one with purpose read.")
    return open_warehouse(connection.kind, connection.params, connection.secret_names)


def read_connection(what: Asset | str) -> Connection | None:
    """The connection that `open_for` takes; None when there is none. Of several, the first by name."""
    found = Connection.objects.filter(purpose="read", namespace=_namespace(what), kind__in=KINDS)
    return found.order_by("name").first()


def _namespace(what: Asset | str) -> str:
    return what if isinstance(what, str) else what.namespace
