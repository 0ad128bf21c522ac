"""A value that is computed when it is first asked for, and kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class lazy(Generic[T]):
    """As functools.cached_property, without the lock that Python 3.11 takes at each first access: entries of a manifest
    are read by one thread, and a project has a hundred thousand such values."""

    def __init__(self, read: Callable[[Any], T]) -> None:
        self.read, self.__doc__ = read, read.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> lazy[T]: ...

    @overload
    def __get__(self, instance: object, owner: type) -> T: ...

    def __get__(self, instance: object | None, owner: type) -> T | lazy[T]:
        if instance is None:
            return self
        value = self.read(instance)
        instance.__dict__[self.name] = value
        return value
