"""What the search knows of an asset, read from where it stands: name, columns, descriptions, owners, tags."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from django.db.models import TextField
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast
from orjson import loads

from catalog.models import Asset, AssetRole, ColumnList, Definition, NodeClaim
from catalog.search.marks import domain_marks, owner_mark
from catalog.search.text import fold, name_words, words
from foundation import bulk

CLAIMED = ("tags", "label")
MOST = 5000  # different words of one asset that count: a generated table may have any number of columns


class Row(NamedTuple):
    """The fields of a `SearchEntry`."""

    asset_id: int
    name: str
    tail: str
    name_words: str
    column_words: str
    other_words: str


def rows_of(ids: Sequence[int]) -> dict[int, Row]:
    """The entries as they should be of those assets of `ids` that are in the graph now. Five queries."""
    some = bulk.among(ids)
    tags = _tags(ids)
    columns = dict(ColumnList.objects.filter(asset__in=some).values_list("asset_id", Cast("items", TextField())))
    roles = _grouped(AssetRole.objects.filter(asset__in=some).values_list("asset_id", "role", "person_id", "label"))
    meaning = Definition.objects.filter(asset__in=some, status="standing").order_by("number")
    said = dict(meaning.values_list("asset_id", "text"))
    fields = ("pk", "name", "kind", "namespace", "description", "domain_id")
    return {
        pk: _row(pk, name, loads(columns.get(pk, "[]")), [kind, namespace, description, said.get(pk, ""), *tags[pk]],
                 domain, roles.get(pk, ()))
        for pk, name, kind, namespace, description, domain in Asset.objects.filter(pk__in=some).values_list(*fields)
        if pk in tags
    }  # fmt: skip


def tail_of(name: str) -> str:
    """The last part of a dotted name, which is what people call a table."""
    return name.rpartition(".")[2] or name


def _row(
    pk: int,
    name: str,
    items: Sequence[Mapping[str, Any]],
    texts: list[str],
    domain: int | None,
    roles: Sequence[tuple[Any, ...]],
) -> Row:
    folded = fold(name)[:500]
    texts += [item["description"] for item in items if item["description"]]
    texts += [label for _, _, label in roles if label]
    return Row(
        pk,
        folded,
        tail_of(folded),
        _line(name_words(name)),
        _line([word for item in items for word in name_words(item["name"])]),
        _line([*_marks(domain, roles), *words(" ".join(texts))]),
    )


def _marks(domain: int | None, roles: Iterable[tuple[Any, ...]]) -> list[str]:
    owners = [person for role, person, _ in roles if role == "owner"]
    marks = [owner_mark(person) for person in owners if person is not None]
    return marks if domain is None else [*marks, *domain_marks(domain, owned=bool(owners))]


def _line(found: Sequence[str]) -> str:
    kept = list(dict.fromkeys(found))
    return " ".join(kept[:MOST])


def _tags(ids: Sequence[int]) -> dict[int, list[str]]:
    """The tags, as JSON, and labels of each asset that some source claims now; one without such a claim is left out."""
    found: dict[int, list[str]] = {}
    claims = NodeClaim.objects.filter(asset__in=bulk.among(ids), removed_in__isnull=True)
    for pk, *texts in claims.values_list("asset_id", *(KeyTextTransform(one, "attributes") for one in CLAIMED)):
        found.setdefault(pk, []).extend(str(text) for text in texts if text and text != "[]")
    return found


def _grouped(rows: Iterable[tuple[Any, ...]]) -> dict[int, list[tuple[Any, ...]]]:
    found: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
    for pk, *rest in rows:
        found[pk].append(tuple(rest))
    return found
