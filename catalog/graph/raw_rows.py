"""Many rows as the driver gives them: to make a million in the ORM takes longer than all that is done with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection
from django.db.models import QuerySet


@contextmanager
def fetched(rows: QuerySet[Any, Any]) -> Iterator[Iterable[tuple[Any, ...]]]:
    """The rows of a `values_list`; numbers, text and null come as they are, truth as 0 and 1 on SQLite. One query."""
    text, parameters = rows.query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute(text, parameters)
        yield cursor.cursor
