"""Who answers for assets: the one place that says who that is in each role, for lists, pages and decisions alike."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from catalog.models import Asset
from catalog.words import ROLES
from foundation.bulk import chunks
from foundation.models import Person
from foundation.people import ERASED_NAME

CHUNK: Final = 500
_NAMED, _BY_SOURCE, _DOMAIN, _LABEL, _LABEL_BY_SOURCE = range(5)
"""What goes before what."""
DECLARED: Final = "declared"
OF_DOMAIN: Final = ("owner", "on_call")
"""The roles that a domain fills where no person is named."""
_PERSON: Final = ("_id", "__is_active", "__principal__name_row__name")
_FIELDS: Final = (
    "pk", "roles__role", "roles__source", "roles__pk", "roles__label", *(f"roles__person{part}" for part in _PERSON),
    *(f"domain__{role}{part}" for role in OF_DOMAIN for part in _PERSON),
)  # fmt: skip


class Who(NamedTuple):
    """One who answers: a person by id and name, or a label that no person here has (no id)."""

    person_id: int | None
    name: str


class _Answer(NamedTuple):
    asset: int
    role: str
    weight: tuple[int, int]
    who: Who


Answering: TypeAlias = dict[int, dict[str, Person | str]]


def everybody(ids: Collection[int], roles: Collection[str] = ROLES) -> dict[int, dict[str, list[Who]]]:
    """All who answer for each asset in each of `roles`, the first to ask first; where nobody does, nothing stands.

    Active people whom people declared, then those whom a source names; where there is none, the owner and the on-call
    person of the domain; then labels, whom nobody can ask here. One query for every 500 assets.
    """
    found: dict[int, dict[str, list[Who]]] = {}
    for one in sorted({one for chunk in chunks(list(ids), CHUNK) for one in _answers(chunk)}, key=_order):
        if one.role not in roles:
            continue
        listed = found.setdefault(one.asset, {}).setdefault(one.role, [])
        if one.who not in listed and not (listed and one.weight[0] == _DOMAIN):
            listed.append(one.who)
    return found


def first(answers: Mapping[str, Sequence[Who]], role: str) -> Who | None:
    """Who is asked first in a role, of what `everybody` says of one asset; None when nobody answers."""
    return next(iter(answers.get(role, ())), None)


def people_among(found: Iterable[Who]) -> list[Person]:
    """The people among those who answer, in their order, with their principals. One query, none for no people."""
    wanted = [one.person_id for one in found if one.person_id is not None]
    rows = Person.objects.select_related("principal__name_row").in_bulk(wanted) if wanted else {}
    return [rows[pk] for pk in wanted if pk in rows]


def answering(rows: Sequence[Asset]) -> Answering:
    """The first who answers for each asset in each role, a person or else a label; see `everybody`."""
    found = everybody([row.pk for row in rows])
    firsts = {pk: {role: listed[0] for role, listed in answers.items()} for pk, answers in found.items()}
    people = {one.pk: one for one in people_among({who for answers in firsts.values() for who in answers.values()})}
    return {
        pk: {role: people.get(who.person_id or 0, who.name) for role, who in answers.items()}
        for pk, answers in firsts.items()
    }


def _answers(ids: Sequence[int]) -> Iterator[_Answer]:
    rows: Iterable[tuple[Any, ...]] = Asset.objects.filter(pk__in=ids).order_by().values_list(*_FIELDS)
    for asset, role, source, pk, label, *people in rows:
        person, active, name = people[:3]
        declared = source == DECLARED
        if active:
            yield _Answer(asset, role, (_NAMED if declared else _BY_SOURCE, pk), Who(person, name or ERASED_NAME))
        elif role and person is None:
            yield _Answer(asset, role, (_LABEL if declared else _LABEL_BY_SOURCE, pk), Who(None, label))
        for place, own in enumerate(OF_DOMAIN, 1):
            person, active, name = people[3 * place : 3 * place + 3]
            if active:
                yield _Answer(asset, own, (_DOMAIN, 0), Who(person, name or ERASED_NAME))


def _order(one: _Answer) -> tuple[int, int]:
    return one.weight
