"""The command that compares two manifests: which of the two files is refused, and what it prints."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from tests.catalog.dbt_files import as_bytes, document, model


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "base.json").write_bytes(as_bytes(document(model("a"), model("old", "select 5"))))
    (tmp_path / "head.json").write_bytes(as_bytes(document(model("a", "select 2"), model("new", "select 5"))))
    (tmp_path / "cut.json").write_bytes((tmp_path / "base.json").read_bytes()[:200])
    (tmp_path / "catalog.json").write_text('{"nodes": {"model.shop.a": {"stats": {}}}}')
    return tmp_path


@pytest.mark.parametrize(
    ("base", "head", "why"),
    [
        ("nowhere.json", "head.json", r"^base: the manifest \S+nowhere.json cannot be read: No such file"),
        ("base.json", "cut.json", r"^head \S+cut.json: the manifest is truncated"),
        ("catalog.json", "head.json", r"^base \S+catalog.json: this is a dbt catalog file, not a manifest"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_with_its_side_in_one_line(
    files: Path, base: str, head: str, why: str
) -> None:
    with pytest.raises(CommandError, match=f"(?i){why}") as refusal:
        call_command("diff_manifests", str(files / base), str(files / head))
    assert "\n" not in str(refusal.value)


def test_every_change_is_one_line_with_its_kinds(files: Path) -> None:
    out = StringIO()
    call_command("diff_manifests", str(files / "base.json"), str(files / "head.json"), stdout=out)
    lines = out.getvalue().splitlines()
    assert "modified model.shop.a: body" in lines
    assert {"added model.shop.new", "removed model.shop.old", "renamed model.shop.old to model.shop.new"} <= set(lines)
