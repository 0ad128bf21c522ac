"""One reader, people and rows, as words of a comment."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from catalog.review.comment.escape import code, plain
from catalog.review.moments import moment
from catalog.review.reader_name import kind_of, named
from catalog.review.types import Person, Reached
from catalog.review.words import ROLES, counted, said

PEOPLE_SHOWN = 6


def called(reader: Reached) -> str:
    """What a reader is called, its name as code: Mirror sync `orders` (its tool)."""
    if reader.hidden:
        return plain(named(reader), 200)
    tool = f" ({plain(reader.tool, 60)})" if reader.tool else ""
    return f"{plain(kind_of(reader), 100)} {code(reader.name, 100)}{tool}"


def doubts(reader: Reached) -> str:
    """What is not sure of a reader, in brackets after its name; "" where all is."""
    found = []
    if not reader.certain:
        found.append("perhaps: its declaration names a table that could be several")
    if reader.status == "suggested":
        found.append("suggested, nobody has confirmed it")
    return f" ({'; '.join(found)})" if found else ""


def reads_next(reader: Reached) -> str:
    """When a reader reads next."""
    if reader.next_read is not None:
        return plain(moment(reader.next_read, reader.zone), 120)
    return "when a program starts it; the time is not known" if reader.triggered_by_api else "time not known"


def in_time(reader: Reached, now: datetime | None) -> str:
    """Until when something can still be done before a reader reads; "" where that is not known."""
    last = reader.last_useful_minute
    if last is None:
        return ""
    if now is not None and last < now:
        return "It is too late to change what this read finds."
    if reader.next_read == last:
        return ""
    said_last = moment(last, reader.zone, named=reader.next_read is None)
    return f"A repair is in time until {plain(said_last, 120)}."


def through(reader: Reached) -> str:
    """The way from the change to a reader."""
    if reader.through:
        names = [code(name, 80) for name in reader.through[:4]]
        return " → ".join(names) + (f" → {len(reader.through) - 4:,} more" if reader.through[4:] else "")
    return "directly" if reader.hops <= 1 else f"{reader.hops:,} steps"


def operators(reader: Reached) -> str:
    """Who to ask about a reader: its operators, else who has another part in it; never an empty cell."""
    for role in (*ROLES, *(role for role in reader.people if role not in ROLES)):
        names = reader.people.get(role, ())
        if names:
            shown = ", ".join(plain(name, 80) for name in names[:3])
            more = f" and {len(names) - 3:,} more" if names[3:] else ""
            return f"{shown}{more}" + ("" if role == "operator" else f" ({plain(said(ROLES, role), 40)})")
    return "nobody is named"


def after_it(reader: Reached) -> str:
    """What a reader does with what it read, as its declaration says; "" where it does not."""
    told = [plain(reader.consequence, 400)] if reader.consequence else []
    if reader.delete_rule:
        told.append(f"On rows that are gone: {plain(reader.delete_rule)}")
    return " ".join(sentence if sentence.endswith(".") else f"{sentence}." for sentence in told)


def to_ask(people: Iterable[Person]) -> str:
    """People to ask and why, as a list; "" for none."""
    named = [f"- {plain(one.name, 80)}" + (f": {plain(one.why, 200)}" if one.why else "") for one in people]
    more = [f"- and {len(named) - PEOPLE_SHOWN:,} more"] if named[PEOPLE_SHOWN:] else []
    return "\n".join(["**Ask**", "", *named[:PEOPLE_SHOWN], *more]) if named else ""


def counts(reached: Iterable[tuple[str, int]]) -> str:
    """12 models, 3 dashboards: what is downstream, by kind."""
    return ", ".join(counted(number, plain(kind.replace("_", " "), 40)) for kind, number in reached if number)
