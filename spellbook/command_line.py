"""The console script `spellbook`, for places where no server is installed: a CI job, a hook, a laptop. No Django."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from foundation.errors import SpellbookError
from spellbook import review_command
from spellbook.sentences import sentence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command. 0: done. 1: refused or failed, with one line on standard error. 2: wrong usage (argparse)."""
    parser = argparse.ArgumentParser(prog="spellbook", description="Reviews changes of dbt projects.")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    review = commands.add_parser("review", help=review_command.HELP, description=review_command.HELP)
    review_command.add_arguments(review)
    options = vars(parser.parse_args(arguments))
    try:
        said = review_command.run(options)
    except SpellbookError as error:
        sys.stderr.write(f"{sentence(error)}\n")
        return 1
    failure = _printed(said.text) or said.failure
    if failure:
        sys.stderr.write(f"{failure}\n")
    return 1 if failure else 0


def _printed(text: str) -> str:
    """Write to standard output; a sentence when it cannot take the text. One that nobody reads on is no failure."""
    try:
        sys.stdout.buffer.write(text.encode("utf-8"))
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left must not fail at the exit
        return "" if isinstance(error, BrokenPipeError) else f"The review cannot be printed: {error.strerror}."
    return ""


if __name__ == "__main__":
    sys.exit(main())
