"""The product's settings with a throw-away data folder and a cheap password hash; tests/engines.py has the database."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile

DATA_DIR = tempfile.mkdtemp(prefix="spellbook-test-")
atexit.register(shutil.rmtree, DATA_DIR, ignore_errors=True)
for _name in [name for name in os.environ if name.startswith("SPELLBOOK_") and not name.startswith("SPELLBOOK_TEST_")]:
    del os.environ[_name]  # a developer's own installation must not leak into a test
os.environ["SPELLBOOK_TEST_DATABASE_URL"] = os.environ.get("SPELLBOOK_TEST_DATABASE_URL") or os.environ.get(
    "DATABASE_URL", ""
)
os.environ["DATABASE_URL"] = f"sqlite:///{DATA_DIR}/unused.sqlite3"
os.environ["SPELLBOOK_DATA_DIR"] = DATA_DIR

from spellbook.settings import *  # noqa: E402, F403

# The format is the product's own, so a hash made here is read by a site started from a test.
PASSWORD_HASHERS = ["tests.hashers.QuickPBKDF2"]
