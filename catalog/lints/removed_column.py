"""A column that is gone, or has another name, while somebody still reads it."""

from __future__ import annotations

from collections.abc import Iterator

from catalog.lints.outputs import removed
from catalog.lints.types import (
    CERTAIN,
    DANGEROUS,
    INFO,
    LOOK,
    POSSIBLE,
    Facts,
    Finding,
    ModelState,
    Place,
    Reader,
    bare,
)

RULE = "removed-column-read"


def check(before: ModelState | None, after: ModelState, facts: Facts, readers: tuple[Reader, ...]) -> Iterator[Finding]:
    """For each removed column: who reads it (certain), and who may (readers whose columns are not known).

    A renamed column is a removed one to those who read it. Nothing is found where the columns of either side are not
    known (a `select *` without a catalog), or where all readers are known to read other columns. Without any reader it
    says, for information, that none is known.
    """
    for name in removed(before, after):
        reading = [reader for reader in readers if reader.columns and bare(name) in map(bare, reader.columns)]
        perhaps = [reader for reader in readers if reader.columns is None]
        place = Place(None, name)
        if reading:
            sentence = f"The column {name} is removed and still read by {_named(reading)}."
            evidence = tuple(f"{_said(reader)} reads {name}" for reader in reading)
            yield Finding(RULE, DANGEROUS, place, sentence, evidence, None, CERTAIN)
        if perhaps:
            sentence = f"The column {name} is removed; not known whether {_named(perhaps)} read{_s(perhaps)} it."
            evidence = tuple(f"the columns that {_said(reader)} reads are not known" for reader in perhaps)
            yield Finding(RULE, LOOK, place, sentence, evidence, None, POSSIBLE)
        if not readers:
            sentence = f"The column {name} is removed; no reader of the model is known."
            yield Finding(RULE, INFO, place, sentence, ("readers not known",), None, POSSIBLE)


def _named(readers: list[Reader]) -> str:
    return ", ".join(_said(reader) for reader in readers[:5]) + (f" and {len(readers) - 5} more" if readers[5:] else "")


def _said(reader: Reader) -> str:
    return f"the {reader.kind} {reader.name}"


def _s(readers: list[Reader]) -> str:
    return "s" if len(readers) == 1 else ""
