"""Patches as edits: what git writes is read, made again, and told apart by place."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from catalog.code_hosts.edits import Edit, applied, edits_by_file, is_content
from catalog.code_hosts.patches import unified_diff
from foundation.errors import BadInput


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("edits")
    git(root, "init", "--quiet")
    return root


def git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, check=True, timeout=60)
    return done.stdout.decode()


def diff(root: Path, before: dict[str, str | bytes], after: dict[str, str | bytes], *options: str) -> str:
    """What git says of the way from the first files to the second."""
    trees = []
    for files in (before, after):
        for old in root.iterdir():
            if old.is_file():
                old.unlink()
        for name, text in files.items():
            (root / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        git(root, "add", "--all")
        trees.append(git(root, "write-tree").strip())
    return git(root, "diff", *options, *trees)


LINES = st.lists(
    st.sampled_from(["a\n", "b\n", "  c\n", "\n", "-x\n", "+y\n", "\\ z\n", "d\r\n", "ü\u2028\x0c\n"]), max_size=12
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(LINES, LINES, st.booleans(), st.booleans())
def test_the_edits_of_every_diff_make_the_second_text_of_the_first(
    repo: Path, one: list[str], two: list[str], cut: bool, also: bool
) -> None:
    before, after = "".join(one), "".join(two)
    before = before[:-1] if cut else before
    after = after[:-1] if also else after
    for patch in (diff(repo, {"m": before}, {"m": after}), unified_diff({"m": before}, {"m": after})):
        found = edits_by_file(patch)
        assert applied(before, found["m"].edits if found else ()) == after
        assert bool(found) == (before != after)
        if found and found["m"].old_id:
            assert is_content(found["m"].old_id, before.encode())


def test_edits_have_places(repo: Path) -> None:
    text = "".join(f"{number}\n" for number in range(1, 21))
    patch = diff(
        repo, {"m": text}, {"m": text.replace("3\n", "", 1).replace("\n15\n", "\n15\nmore\n").replace("20\n", "x")}
    )
    assert edits_by_file(patch)["m"].edits == (
        Edit(3, ("3\n",), ()),
        Edit(16, (), ("more\n",)),
        Edit(20, ("20\n",), ("x",)),
    )
    assert edits_by_file(diff(repo, {"m": text}, {"m": "0\n" + text}, "-U0"))["m"].edits == (Edit(1, (), ("0\n",)),)


def test_names_are_read_without_gits_quotes(repo: Path) -> None:
    name = 'maß "x"\t\\y.sql'
    patch = diff(repo, {name: "a\n", "with space": "a\n"}, {name: "b\n", "with space": "b\n"})
    assert '"a/ma\\303\\237 \\"x\\"\\t\\\\y.sql"' in patch
    assert set(edits_by_file(patch)) == {name, "with space"}


def test_new_deleted_renamed_binary_files_and_modes_are_traits(repo: Path) -> None:
    files: dict[str, str | bytes] = {"gone": "a\n", "old": "1\n2\n3\n4\n5\n", "run": "x\n"}
    after: dict[str, str | bytes] = {"come": "a b\n", "new": "1\n2\n3\n4\n5\n", "run": "x\n"}
    found = edits_by_file(diff(repo, files, after, "-M"))
    assert {name: one.traits for name, one in found.items()} == {
        "gone": ("deleted",), "come": ("new",), "new": ("was old", "rename from old", "rename to new"),
    }  # fmt: skip
    assert found["come"].old_id == ""
    (binary,) = edits_by_file(diff(repo, {"b": b"\0\1"}, {"b": b"\0\2"})).values()
    assert (binary.traits, binary.edits) == (("binary",), ())
    mode = "diff --git a/run b/run\nold mode 100644\nnew mode 100755\n"
    assert edits_by_file(mode)["run"].traits == ("old mode 100644", "new mode 100755")


def test_what_is_no_patch_is_refused() -> None:
    assert edits_by_file("") == {}
    with pytest.raises(BadInput, match="not a patch"):
        edits_by_file("drop table x")
    with pytest.raises(BadInput, match="not a patch"):
        edits_by_file("--- a/m\n+++ b/m\n@@ -1,5 +1,5 @@\n x\n")
    one = unified_diff({"m": "a\n"}, {"m": "b\n"})
    with pytest.raises(BadInput, match="a file twice"):
        edits_by_file(one + one)


def test_edits_that_do_not_fit_are_refused() -> None:
    for edits in ((Edit(2, ("x\n",), ()),), (Edit(9, ("a\n",), ()),), (Edit(1, ("a\n",), ()), Edit(1, ("a\n",), ()))):
        with pytest.raises(BadInput, match="does not fit the file at line"):
            applied("a\nb\n", edits)
    with pytest.raises(BadInput, match="does not fit"):
        applied("a\n", (Edit(0, (), ("x\n",)),))


def test_content_is_told_by_its_id() -> None:
    assert is_content("5626abf", b"one\n")
    assert is_content("5626abf0f72e58d7a153368ba57db4c673c0e171", b"one\n")
    assert not is_content("5626abf", b"two\n")
    assert not is_content("", b"one\n")
