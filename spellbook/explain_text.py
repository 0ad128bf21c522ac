"""What `explain` tells, as text for a terminal: one line a fact, and *not known yet* where nothing is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from spellbook.pages.words import STATES
from spellbook.sentences import counted

Part = Mapping[str, Any]
LISTED: Final = 20
"""Rows of a list that are written; the rest is counted, and `--format json` has them."""


def text(told: Part) -> str:
    """The answer of `spellbook.explain.explain` for people."""
    return "\n".join(_lines(told))


def trust(told: Part) -> str:
    """A score with the word that the pages have for it, such as "62, middling"; none from too little.

    >>> trust({"score": 62, "state": "middle"})
    '62, middling'
    >>> trust({"score": 62, "state": "unknown"})
    'too little known'
    >>> trust({"score": None, "state": "unknown"})
    'not known yet'
    """
    if told["score"] is None:
        return "not known yet"
    word = STATES["trust"][told["state"]].word.lower()
    return word if told["state"] == "unknown" else f"{told['score']}, {word}"


def _lines(told: Part) -> Iterator[str]:
    yield f"{told['asset']}  {told['kind'].replace('_', ' ')}"
    yield f"  domain: {told['domain']}"
    yield f"  description: {_flat(told['description'])}"
    yield f"  definition: {_definition(told['definition'])}"
    yield f"  code: {_code(told['code'])}"
    yield f"  trust: {trust(told['trust'])} ({told['trust']['confidence']} % of what could be known is known)"
    yield from (f"    at most {cap['limit']}: {cap['reason']}" for cap in told["trust"]["caps"])
    yield f"  open incidents: {', '.join(told['open_incidents']) or 'none'}"
    yield from _people(told["people"])
    yield from _neighbours("fed by", told["upstream"])
    yield from _neighbours("feeds", told["downstream"], told["readers"])
    yield from _readers(told)
    yield from _listed("columns", told["columns"], _column)
    yield from _freshness(told["freshness"], told["kind"])
    yield from _listed("checks", told["checks"], _check)
    yield from _listed("metrics", told["metrics"], _metric)
    yield from _listed("notes", told["notes"]["items"], _note, told["notes"]["total"])
    yield f"  documentation: {_documentation(told['documentation'])}"


def _listed(what: str, rows: Sequence[Part] | str, line: Any, total: int | None = None) -> Iterator[str]:
    if isinstance(rows, str):
        yield f"  {what}: {rows}"
        return
    count = len(rows) if total is None else total
    yield f"  {what}: {count or 'none'}"
    yield from (f"    {line(row)}" for row in rows[:LISTED])
    if count > min(len(rows), LISTED):
        yield f"    and {count - min(len(rows), LISTED)} more"


def _definition(told: Part | str) -> str:
    if isinstance(told, str):
        return told
    waiting = f"; {told['suggested']} suggested" if told["suggested"] else ""
    others = told.get("approved_by") not in (None, told.get("author"))
    approved = f", approved by {told['approved_by']}" if others else ""
    author = f" (by {told['author']}{approved})" if "author" in told else ""
    return f"{_flat(told['text'])}{author}{waiting}"


def _code(told: Part | str) -> str:
    if isinstance(told, str):
        return told
    facts = (f"{name} {told[name]}" for name in ("materialized", "path", "since_version") if told.get(name))
    return ", ".join([str(told["id"]), *(one.replace("since_version", "since graph version") for one in facts)])


def _people(told: Mapping[str, Sequence[str] | str]) -> Iterator[str]:
    known = {role: names for role, names in told.items() if not isinstance(names, str)}
    yield from (f"  {role.replace('_', ' ')}: {', '.join(names)}" for role, names in known.items())
    missing = [role.replace("_", " ") for role in told if role not in known]
    if missing:
        yield f"  not known yet: {', '.join(missing)}"


def _neighbours(word: str, told: Part | str, readers: Part | str = "") -> Iterator[str]:
    """The nearest; readers that have lines of their own are counted here and listed there."""
    if isinstance(told, str):
        yield f"  {word}: {told}"
        return
    apart = readers["total"] if isinstance(readers, Mapping) else 0
    rows = [row for row in told["rows"] if not (apart and row["reader"])][:LISTED]
    cycle = ", itself among them" if told["cycle"] else ""
    yield f"  {word}: {counted(told['total'], 'asset')}{cycle}"
    yield from (f"    {row['hops']}  {row['kind']}  {row['name']}" for row in rows)
    if told["total"] > len(rows) + apart:
        yield f"    and {told['total'] - len(rows) - apart} more, which lineage lists"


def _readers(told: Part) -> Iterator[str]:
    readers = told["readers"]
    if isinstance(readers, str):
        yield f"  readers: {readers}"
        return
    yield from _listed("readers", readers["rows"], _reader, readers["total"])
    yield f"  next read: {told['next_read']}"


def _reader(row: Part) -> str:
    how = ", ".join(part for part in (row["tool"], row["mode"]) if part)
    through = f" through {row['through']}" if row["through"] else ""
    status = " (suggested)" if row["status"] == "suggested" else ""
    until = f", hold until {row['last_useful_minute']}" if row["last_useful_minute"] else ""
    what = f": {_flat(row['consequence'])}" if row["consequence"] else ""
    read = row["next_read"] or "time not known"
    return f"{row['name']}{f' ({how})' if how else ''}{through}{status}, {read}{until}{what}"


def _freshness(told: Part | str, kind: str) -> Iterator[str]:
    """In the words of the page; what is no source has none."""
    if isinstance(told, str):
        yield from [f"  freshness: {told}"] if kind == "source" else []
        return
    said = STATES["freshness"].get(told["status"])
    word = said.word[:1].lower() + said.word[1:] if said else told["status"]
    loaded = f"its newest row was loaded {told['loaded_at'] or 'at a time that is not known'}"
    looked = f"dbt looked {told['measured_at'] or 'at a time that is not known'} in the build {told['build']}"
    yield f"  freshness: {word}, {loaded}; {looked}{_said(told['message'])}"


def _column(one: Part) -> str:
    return f"{one['name']}  {one['type']}{_made_of(one['made_of'])}{_said(one['description'])}"


def _made_of(told: Part | str) -> str:
    if isinstance(told, str):
        return f", made of: {told}"
    names = [f"{source['table']}.{source['column'] or '?'}" for source in told["from"]]
    sure = f", {told['confidence']} % sure" if told["confidence"] < 100 else ""
    return f", made of {' and '.join(names) or 'no column'} ({told['kind']}{sure})"


def _check(one: Part) -> str:
    name = f"{one['kind']} of {one['column']}" if one["column"] else one["kind"]
    last = one["last"]
    if isinstance(last, str):
        return f"{name}: {last}"
    return f"{name}: {last['status'].replace('_', ' ')}, {last['at']}{_said(last['reason'])}"


def _metric(one: Part) -> str:
    judged = f", {one['verdict'].replace('_', ' ')}, {one['at']}" if "verdict" in one else ""
    return f"{one['name']}: {one['last']}{judged}"


def _note(one: Part) -> str:
    status = ", suggested" if one["status"] == "suggested" else ""
    return f"{_flat(one['text'])} ({one['author']}{status}, {one['at']})"


def _documentation(told: Part) -> str:
    columns = told["columns"]
    words = "described" if told["described"] else "not described"
    whole = (
        [f"{told['columns_described']} of {counted(columns, 'column')} described"] if isinstance(columns, int) else []
    )
    return ", ".join([words, *whole, f"file {told['file']}"])


def _said(words: str) -> str:
    return f": {_flat(words)}" if words else ""


def _flat(words: str) -> str:
    """On one line, whatever line ends people wrote."""
    return " ".join(words.split())
