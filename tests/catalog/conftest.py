from __future__ import annotations

import pytest

from foundation.audit import Actor
from foundation.models import Person
from foundation.people import create_agent, create_person, system


@pytest.fixture
def owner(db: None) -> Person:
    return create_person("owner@example.com", "Olive Owner")


@pytest.fixture
def teammate(db: None) -> Person:
    return create_person("teammate@example.com", "Tom Teammate")


@pytest.fixture
def person(owner: Person) -> Actor:
    """The owner, acting in the browser."""
    return Actor(owner.principal, "web")


@pytest.fixture
def agent(owner: Person) -> Actor:
    return Actor(create_agent("orchestrator", owner=owner), "api")


@pytest.fixture
def machine(db: None) -> Actor:
    return Actor(system("cli"), "cli")
