#!/usr/bin/env python
"""Entry point of every command; a wrong setting is answered with one sentence instead of a traceback."""

from __future__ import annotations

import os
import sys


def main() -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "spellbook.settings")
    import django
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        django.setup()
    except ImproperlyConfigured as error:
        print(error, file=sys.stderr)
        return 1
    execute_from_command_line(sys.argv)
    return 0


if __name__ == "__main__":
    sys.exit(main())
