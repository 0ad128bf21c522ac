"""People and domains in the search index: marks in place of their names, so that a name lives in one table alone.

`@o17` the asset's owner is person 17; `@f5` it has no owner of its own and domain 5 has one; `@d5` it belongs to domain
5. Whoever asks for a name is asked about here, at the moment of asking: a person who was erased or renamed is not
found by the old name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from catalog.models import Domain
from catalog.search.engine import Wanted
from catalog.search.text import words
from foundation.models import Person

MOST = 50  # people and domains that one word may stand for


def owner_mark(person_id: int) -> str:
    return f"@o{person_id}"


def domain_marks(domain_id: int, *, owned: bool) -> Iterator[str]:
    """The marks of an asset's domain; `owned` says that the asset has an owner of its own."""
    yield f"@d{domain_id}"
    if not owned:
        yield f"@f{domain_id}"


def with_marks(texts: Sequence[str]) -> list[Wanted]:
    """Each word with the marks of the active people and the domains that have it in their name. Two queries."""
    people, domains = _people(texts), _domains()
    return [Wanted(text, tuple(_marks(text, people, domains))[:MOST]) for text in texts]


def _marks(
    text: str,
    people: Sequence[tuple[int, tuple[str, ...]]],
    domains: Sequence[tuple[int, int | None, tuple[str, ...]]],
) -> Iterator[str]:
    meant = {pk for pk, names in people if any(name.startswith(text) for name in names)}
    yield from (owner_mark(pk) for pk in sorted(meant))
    yield from (f"@f{pk}" for pk, owner, _ in domains if owner in meant)
    yield from (f"@d{pk}" for pk, _, names in domains if any(name.startswith(text) for name in names))


def _people(texts: Sequence[str]) -> list[tuple[int, tuple[str, ...]]]:
    """Active people whose name may hold one of the words; compared here, since databases do not fold accents."""
    rows = Person.objects.filter(is_active=True).values_list("pk", "principal__name_row__name")
    named = ((pk, words(name)) for pk, name in rows if name)
    return [(pk, names) for pk, names in named if any(name.startswith(text) for text in texts for name in names)]


def _domains() -> list[tuple[int, int | None, tuple[str, ...]]]:
    rows = Domain.objects.values_list("pk", "owner_id", "key", "name")
    return [(pk, owner, words(f"{key} {name}")) for pk, owner, key, name in rows]
