"""A management command as a shell sees it: exit code, standard output, standard error."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import Any

from django.core.management import get_commands, load_command_class
from django.core.management.base import CommandError


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def manage(*arguments: str) -> Ran:
    """Run `manage.py` with these arguments in this process, on the test's database."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    command = load_command_class(get_commands()[arguments[0]], arguments[0])
    command._called_from_command_line = True  # type: ignore[attr-defined] # so that wrong usage ends as it does in a shell
    with redirect_stdout(out), redirect_stderr(err):
        try:
            options = vars(command.create_parser("manage.py", arguments[0]).parse_args(arguments[1:]))
            command.execute(stdout=out, stderr=err, **options)
        except CommandError as error:
            code = error.returncode
            err.write(f"{error}\n")
        except SystemExit as end:
            code = int(end.code or 0)
    return Ran(code, out.getvalue(), err.getvalue())


def refused(ran: Ran, code: int = 1) -> str:
    """The one line of a refusal."""
    assert ran.code == code, ran
    assert "Traceback" not in ran.err
    line = ran.err.strip().splitlines()[-1]
    assert code == 2 or len(ran.err.strip().splitlines()) == 1
    assert code == 2 or line.endswith(".")
    return line
