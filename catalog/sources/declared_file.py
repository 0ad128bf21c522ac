"""The bytes of a declaration file become a mapping. No database."""

from __future__ import annotations

from typing import Any, Final

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from foundation.errors import BadInput

LARGEST: Final = 2 * 1024 * 1024


def read_yaml(data: bytes, called: str) -> dict[str, Any]:
    """The mapping that a YAML file holds (1.2, safe). BadInput, with the line, for what is none."""
    if len(data) > LARGEST:
        raise BadInput(f"{called} is larger than {LARGEST // 2**20} MB.")
    try:
        document = YAML(typ="safe").load(data.decode("utf-8"))
    except MarkedYAMLError as error:
        line = f" (line {error.problem_mark.line + 1})" if error.problem_mark else ""
        raise BadInput(f"{called} is not YAML{line}.") from None
    except (UnicodeDecodeError, YAMLError, ValueError, RecursionError, TypeError):
        raise BadInput(f"{called} is not YAML.") from None
    if not isinstance(document, dict):
        raise BadInput(f"{called} holds no declaration: a mapping with domains, assets or consumers is expected.")
    return document
