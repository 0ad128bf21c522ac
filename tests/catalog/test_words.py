from __future__ import annotations

import subprocess
import sys

import pytest
from django.utils.text import slugify
from hypothesis import example, given
from hypothesis import strategies as st

from catalog.words import slug

PURE = (
    "catalog.words", "catalog.sources.declared", "catalog.sources.manifest", "catalog.sources.catalog_file",
    "catalog.diff.manifests", "catalog.lints.registry", "catalog.review.types", "foundation.schedule",
)  # fmt: skip


@given(st.text())
@example("\u212a  Straße__-\u2003x\x1f\x85\ufb01²İ")
@example("-_a_-")
def test_a_key_is_the_one_that_databases_hold(text: str) -> None:
    assert slug(text) == slugify(text)


@given(st.text(alphabet="aZ09_- \t\n\x1c\u00a0\u2028é.İ\ud800"))
def test_blanks_and_signs_give_the_same_key(text: str) -> None:
    assert slug(text) == slugify(text)


@pytest.mark.parametrize("module", PURE)
def test_pure_code_is_imported_without_the_server(module: str) -> None:
    code = (
        "import sys\n"
        "for name in ('django', 'celery', 'numpy', 'scipy', 'networkx', 'duckdb', 'psycopg', 'httpx'):\n"
        "    sys.modules[name] = None\n"
        f"import {module}\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
