"""What `pip install` of this repository brings: the command line for reviews, without the server.

The server runs from a checkout (`make setup`). Of the packages that both use, the modules that stand on Django stay
out; a test compares the list with what the command line imports.
"""

from __future__ import annotations

from setuptools import setup
from setuptools.command.build_py import build_py

MODULES = {
    "catalog": {"__init__", "damage_order", "words"},
    "catalog.code_hosts": {"__init__"},
    "catalog.code_hosts.github": {"__init__", "limits", "types"},
    "foundation": {"__init__", "errors", "schedule", "unseen"},
    "spellbook": {"__init__", "command_line", "facts_url", "review_command", "review_inputs", "sentences"},
}
"""Of these packages only the modules named; all other packages of pyproject.toml are whole."""


class CommandLineOnly(build_py):  # type: ignore[misc]  # setuptools has no types
    def find_package_modules(self, package: str, package_dir: str) -> list[tuple[str, str, str]]:
        """(package, module, file) of what is built of `package`."""
        found: list[tuple[str, str, str]] = super().find_package_modules(package, package_dir)
        return [one for one in found if package not in MODULES or one[1] in MODULES[package]]


setup(cmdclass={"build_py": CommandLineOnly})
