"""The people, agents and rows of the cellar's tests."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta

from django.db import connections

from foundation import clock, people
from foundation.audit import Actor, register
from foundation.models import Inbox, Person, Principal

PASSWORD = "a long enough pass phrase"
DONE = register("test.done", "Test done", "did {what}")
PLAIN = register("test.plain", "Plain test", "did it")


def person(name: str = "Ada Owner") -> Person:
    return people.create_person(f"{name.split(maxsplit=1)[0].lower()}@example.org", name, password=PASSWORD)


def agent(owner: Person) -> Principal:
    return people.create_agent("nightly loader", owner=owner)


def actor(source: str = "cli") -> Actor:
    return Actor(people.system("tester"), source)


def due_row(key: str = "1", *, ago: timedelta = timedelta(seconds=1)) -> Inbox:
    moment = clock.now()
    return Inbox.objects.create(source="test", external_id=key, body=b"x", received_at=moment, due_at=moment - ago)


def at_once(count: int, work: Callable[[], object]) -> None:
    """Run `work` in `count` threads that start together and close their connections; raises the first error again."""
    barrier = threading.Barrier(count)
    errors: list[BaseException] = []

    def run() -> None:
        try:
            barrier.wait(30)
            work()
        except BaseException as error:
            errors.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
