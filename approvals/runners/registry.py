"""The runners of this product by kind; a new one is a module and a line here."""

from __future__ import annotations

from collections.abc import Callable

from approvals.runners.base import Runner, RunnerConfig
from approvals.runners.dbt_local import DbtLocal
from foundation.errors import BadInput

_FACTORIES: dict[str, Callable[[RunnerConfig], Runner]] = {
    "dbt": DbtLocal,
}


def kinds() -> tuple[str, ...]:
    """The kinds of runners, sorted."""
    return tuple(sorted(_FACTORIES))


def make(kind: str, config: RunnerConfig) -> Runner:
    """The runner of this kind; `BadInput` when there is none."""
    factory = _FACTORIES.get(kind)
    if factory is None:
        raise BadInput(f"There is no runner of kind {kind!r}; known: {', '.join(kinds())}.")
    return factory(config)
