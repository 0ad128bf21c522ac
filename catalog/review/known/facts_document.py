"""What an installation knows, as a file that a review elsewhere can use: the format `spellbook.facts/1`.

    {"format": "spellbook.facts/1", "taken_at": ISO 8601 with a zone, "installation": URL or "", "graph_version": int,
     "domains": [{key, name, owner, approvers: [name]}],
     "assets":  [{name, kind, unique_id, domain, people: {role: [name]}, reads: [name],
                  columns: {name: {tested, nullable, nulls, rows, measured_at, type}},
                  keys: [{columns: [name], tested, duplicates, measured_at}]}],
     "readers": [the fields of `catalog.review.types.KnownReader`],
     "rules":   [{asset, reason}]}

What is left out, null or an empty text is not known. Keys that mean nothing here are passed over, so that a newer
installation may say more. The JSON Schema is `docs/schemas/facts-1.json`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, Final

import orjson

from catalog.lints.types import ColumnFact, KeyFact
from catalog.review.known.fields import Fields
from catalog.review.types import KnownAsset, KnownDomain, KnownReader, Rule
from catalog.sources import artifact
from catalog.words import MODES
from foundation.errors import BadInput

FORMAT: Final = "spellbook.facts/1"
FAMILY: Final = "spellbook.facts/"
LARGEST: Final = 64 * 1024 * 1024
STATUSES: Final = ("standing", "suggested")


@dataclass(frozen=True)
class FactsDocument:
    """What one installation knew at `taken_at`. `columns` and `keys` are by the name of the asset they belong to."""

    taken_at: datetime
    installation: str = ""
    graph_version: int = 0
    domains: tuple[KnownDomain, ...] = ()
    assets: tuple[KnownAsset, ...] = ()
    readers: tuple[KnownReader, ...] = ()
    columns: Mapping[tuple[str, str], ColumnFact] = field(default_factory=dict)
    keys: Mapping[str, tuple[KeyFact, ...]] = field(default_factory=dict)
    rules: tuple[Rule, ...] = ()


def read(data: bytes, where: str) -> FactsDocument:
    """The facts in `data`; `where` says in refusals what they were taken from. BadInput, with the place in the
    document, for another format, a value of the wrong kind, and more than 64 MB."""
    if len(data) > LARGEST:
        raise BadInput(f"{where}: the facts are larger than {LARGEST // 2**20} MB.")
    try:
        raw = artifact.load(data, "facts document")
    except BadInput as error:
        raise BadInput(f"{where}: {error}.") from None
    _check_format(raw.get("format"), where)
    top = Fields(where, raw)
    described = top.items("assets")
    return FactsDocument(
        taken_at=top.moment("taken_at"),
        installation=top.text("installation"),
        graph_version=top.whole("graph_version") or 0,
        domains=tuple(map(_domain, top.items("domains"))),
        assets=tuple(map(_asset, described)),
        readers=tuple(map(_reader, top.items("readers"))),
        columns={pair: fact for one in described for pair, fact in _columns(one)},
        keys={one.needed("name"): keys for one in described if (keys := tuple(map(_key, one.items("keys"))))},
        rules=tuple(Rule(one.needed("asset"), one.text("reason")) for one in top.items("rules")),
    )


def write(document: FactsDocument) -> bytes:
    """The document as bytes of JSON, the same for the same facts; `read` gives it back."""
    about = {one.name: _asset_as_dict(one) for one in document.assets}
    for (name, column), fact in document.columns.items():
        _about(about, name)["columns"][column] = _as_dict(fact)
    for name, keys in document.keys.items():
        _about(about, name)["keys"] = [_as_dict(one) for one in keys]
    whole = {
        "format": FORMAT,
        "taken_at": document.taken_at.isoformat(),
        "installation": document.installation,
        "graph_version": document.graph_version,
        "domains": [_as_dict(one) for one in document.domains],
        "assets": list(about.values()),
        "readers": [_reader_as_dict(one) for one in document.readers],
        "rules": [_as_dict(one) for one in document.rules],
    }
    return orjson.dumps(whole, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS)


def _about(about: dict[str, dict[str, Any]], name: str) -> dict[str, Any]:
    if name not in about:
        about[name] = _asset_as_dict(KnownAsset(name))
    return about[name]


def _asset_as_dict(one: KnownAsset) -> dict[str, Any]:
    return _as_dict(one) | {"people": dict(one.people), "columns": {}, "keys": []}


def _reader_as_dict(one: KnownReader) -> dict[str, Any]:
    columns = None if one.columns is None else sorted(one.columns)
    return _as_dict(one) | {"people": dict(one.people), "columns": columns}


def _as_dict(one: Any) -> dict[str, Any]:
    """The fields as they are; `dataclasses.asdict` copies each value, ten times slower."""
    return {part.name: getattr(one, part.name) for part in fields(one)}


def _check_format(said: object, where: str) -> None:
    if said == FORMAT:
        return
    if isinstance(said, str) and said.startswith(FAMILY):
        version = said.removeprefix(FAMILY)[:20]
        raise BadInput(
            f"{where}: the facts are of version {version}, and this Spellbook reads version 1; install a newer one."
        )
    raise BadInput(f'{where}: this is no facts document of a Spellbook ("format" is not "{FORMAT}").')


def _domain(one: Fields) -> KnownDomain:
    key = one.needed("key")
    return KnownDomain(key, one.text("name") or key, one.text("owner"), one.texts("approvers"))


def _asset(one: Fields) -> KnownAsset:
    return KnownAsset(
        name=one.needed("name"),
        kind=one.text("kind") or "table",
        unique_id=one.text("unique_id"),
        domain=one.text("domain"),
        people=one.people("people"),
        reads=one.texts("reads"),
    )


def _columns(one: Fields) -> Iterator[tuple[tuple[str, str], ColumnFact]]:
    for name, said in one.mappings("columns"):
        fact = ColumnFact(
            tested=said.flag("tested") or False,
            nullable=said.flag("nullable"),
            nulls=said.whole("nulls"),
            rows=said.whole("rows"),
            measured_at=said.text("measured_at"),
            type=said.text("type"),
        )
        yield (one.needed("name"), name), fact


def _key(one: Fields) -> KeyFact:
    columns = one.texts("columns")
    if not columns:
        raise one.refuse("columns", "is empty")
    return KeyFact(columns, one.flag("tested") or False, one.whole("duplicates"), one.text("measured_at"))


def _reader(one: Fields) -> KnownReader:
    return KnownReader(
        name=one.needed("name"),
        kind=one.needed("kind"),
        reads=one.texts("reads"),
        tool=one.text("tool"),
        mode=one.word("mode", ("", *MODES)),
        delete_rule=one.text("delete_rule"),
        cron=one.text("cron"),
        zone=one.text("zone") or "UTC",
        triggered_by_api=one.flag("triggered_by_api") or False,
        lead_seconds=one.whole("lead_seconds") or 0,
        consequence=one.text("consequence"),
        status=one.word("status", STATUSES),
        domain=one.text("domain"),
        people=one.people("people"),
        columns=None if one.raw.get("columns") is None else frozenset(one.texts("columns")),
        source=one.text("source"),
        hidden=one.flag("hidden") or False,
    )
