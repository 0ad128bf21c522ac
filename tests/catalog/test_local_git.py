"""Reading a repository on this machine, with the real git."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest

from catalog.code_hosts import local_git
from catalog.code_hosts.git_process import checked_branch, checked_path, checked_sha
from catalog.code_hosts.local_git import apply_patch, checkout, patched_tree, tree_of, unified_diff
from foundation.errors import BadInput, Conflict, NotFound, SpellbookError, Unavailable

ABSENT = "0123456789" * 4
MODEL = "select *\nfrom orders\nwhere price > 0\n"


class Repo:
    """A repository that a test writes with plain git."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(parents=True)
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *arguments: str) -> str:
        identity = {"GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.com"}
        identity |= {"GIT_COMMITTER_NAME": "Bob", "GIT_COMMITTER_EMAIL": "bob@example.com"}
        identity |= {"GIT_AUTHOR_DATE": "2024-02-29T01:02:03+02:00", "GIT_CONFIG_GLOBAL": os.devnull}
        command = ["git", "-C", str(self.path), *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ | identity).stdout

    def commit(self, subject: str = "a change") -> str:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--no-verify", "--message", subject)
        return self.git("rev-parse", "HEAD").strip()

    def write(self, name: str, text: str | bytes) -> None:
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    made = Repo(tmp_path / "project")
    made.write("models/orders.sql", MODEL)
    made.write("naïve name.yml", "version: 2\n")
    made.write("run.sh", "#!/bin/sh\n")
    (made.path / "run.sh").chmod(0o755)
    made.commit("first\n\nwith a body")
    return made


@pytest.fixture
def first(repo: Repo) -> str:
    return repo.git("rev-parse", "HEAD").strip()


def test_the_tip_of_a_branch_and_its_commit_are_read(repo: Repo, first: str) -> None:
    assert local_git.head(repo.path, "main") == first
    info = local_git.commit_info(str(repo.path), first)
    assert (info.sha, info.author_name, info.author_email) == (first, "Ada", "ada@example.com")
    assert (info.subject, info.parents) == ("first", ())
    assert info.authored_at == datetime.fromisoformat("2024-02-29T01:02:03+02:00")
    assert info.committed_at.tzinfo is not None


def test_files_are_listed_and_read_as_committed(repo: Repo, first: str) -> None:
    repo.write("models/orders.sql", "changed, not committed")
    assert local_git.ls_files(repo.path, first) == ["models/orders.sql", "naïve name.yml", "run.sh"]
    assert local_git.show(repo.path, first, "models/orders.sql") == MODEL.encode()
    assert local_git.show(repo.path, first, "naïve name.yml") == b"version: 2\n"


def test_ancestors_and_the_commits_between_are_told(repo: Repo, first: str) -> None:
    repo.write("models/orders.sql", MODEL + "limit 1\n")
    second = repo.commit("second")
    repo.write("README", "x")
    third = repo.commit("third")
    assert local_git.is_ancestor(repo.path, first, third)
    assert local_git.is_ancestor(repo.path, third, third)
    assert not local_git.is_ancestor(repo.path, third, first)
    assert local_git.contained(repo.path, [first, third, ABSENT, "no id"], second) == {first}
    assert local_git.contained(repo.path, [second], second) == {second}
    assert local_git.contained(repo.path, [], second) == frozenset()
    assert [commit.sha for commit in local_git.commits_between(repo.path, first, third)] == [third, second]
    touching = local_git.commits_between(repo.path, first, third, ["models/orders.sql"])
    assert [(commit.sha, commit.subject, commit.parents) for commit in touching] == [(second, "second", (first,))]
    assert local_git.commits_between(repo.path, third, first) == []
    assert local_git.commits_between(repo.path, first, third, ["*"]) == []


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def committed_files(repo: Repo, sha: str) -> dict[str, bytes]:
    return {name: local_git.show(repo.path, sha, name) for name in local_git.ls_files(repo.path, sha)}


def test_a_checkout_is_the_commit_and_nothing_else(repo: Repo, first: str, tmp_path: Path) -> None:
    into = tmp_path / "a" / "out"
    checkout(repo.path, first, into)
    assert files_of(into) == committed_files(repo, first)
    assert os.access(into / "run.sh", os.X_OK)
    assert not os.access(into / "models/orders.sql", os.X_OK)
    assert not (into / ".git").exists()
    with pytest.raises(Conflict, match="not empty"):
        checkout(repo.path, first, into)


def test_a_checkout_runs_nothing_of_the_repository_and_changes_no_byte(repo: Repo, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    for hook in ("post-checkout", "post-index-change", "reference-transaction", "pre-commit"):
        repo.write(f".git/hooks/{hook}", f"#!/bin/sh\ntouch {ran}\n")
        (repo.path / ".git/hooks" / hook).chmod(0o755)
    repo.write(".gitattributes", "*.sql filter=evil diff=evil eol=crlf export-ignore ident\n")
    repo.write("models/orders.sql", "select '$Id$'\n")
    sha = repo.commit()
    for key in ("filter.evil.smudge", "filter.evil.clean", "diff.evil.textconv", "diff.external", "core.fsmonitor"):
        repo.git("config", key, f"touch {ran}; cat")
    repo.git("config", "log.showSignature", "true")
    ran.unlink(missing_ok=True)

    checkout(repo.path, sha, tmp_path / "out")
    assert (tmp_path / "out/models/orders.sql").read_bytes() == b"select '$Id$'\n"
    assert not ran.exists()


def test_links_inside_the_tree_are_kept_and_one_that_leaves_it_is_refused(repo: Repo, tmp_path: Path) -> None:
    (repo.path / "models/deep").mkdir()
    (repo.path / "models/deep/same.sql").symlink_to("../orders.sql")
    sha = repo.commit()
    checkout(repo.path, sha, tmp_path / "out")
    assert (tmp_path / "out/models/deep/same.sql").read_text() == MODEL
    assert "models/deep/same.sql" not in local_git.ls_files(repo.path, sha)
    with pytest.raises(BadInput, match="symbolic link"):
        local_git.show(repo.path, sha, "models/deep/same.sql")
    with pytest.raises(NotFound):
        local_git.show(repo.path, sha, "models/deep/same.sql/x")

    for number, target in enumerate(["/etc/passwd", "../x", "models/../../x", "models/deep/../../.."]):
        link = repo.path / "link"
        link.unlink(missing_ok=True)
        link.symlink_to(target)
        with pytest.raises(BadInput, match="symbolic link link leaves the repository"):
            checkout(repo.path, repo.commit(), tmp_path / f"bad{number}")
        assert not (tmp_path / f"bad{number}").exists()


def test_a_submodule_is_an_empty_folder(repo: Repo, first: str, tmp_path: Path) -> None:
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{first},vendor/lib")
    repo.git("commit", "--quiet", "--message", "with a submodule")
    sha = local_git.head(repo.path, "main")
    checkout(repo.path, sha, tmp_path / "out")
    assert list((tmp_path / "out/vendor/lib").iterdir()) == []
    assert "vendor/lib" not in local_git.ls_files(repo.path, sha)


def test_what_is_missing_is_named(repo: Repo, first: str, tmp_path: Path) -> None:
    cases: list[tuple[str, Callable[[], object]]] = [
        ("there is no repository nowhere", lambda: local_git.head(tmp_path / "nowhere", "main")),
        ("has no branch other", lambda: local_git.head(repo.path, "other")),
        ("has no commit 012345678901", lambda: local_git.commit_info(repo.path, ABSENT)),
        ("has no commit", lambda: local_git.is_ancestor(repo.path, first, ABSENT)),
        ("has no commit", lambda: local_git.contained(repo.path, [first], ABSENT)),
        ("has no commit", lambda: checkout(repo.path, ABSENT, tmp_path / "out")),
        ("has no file models/gone.sql", lambda: local_git.show(repo.path, first, "models/gone.sql")),
        ("has no file models", lambda: local_git.show(repo.path, first, "models")),
    ]
    for sentence, call in cases:
        with pytest.raises(NotFound, match=sentence):
            call()
    tree = repo.git("rev-parse", "HEAD^{tree}").strip()
    with pytest.raises(NotFound, match="no commit"):
        local_git.ls_files(repo.path, tree)


def test_a_folder_inside_another_repository_is_not_a_repository(repo: Repo) -> None:
    with pytest.raises(NotFound, match="the directory models is not a git repository"):
        local_git.head(repo.path / "models", "main")


def test_a_bare_repository_is_read_as_well(repo: Repo, first: str, tmp_path: Path) -> None:
    repo.git("clone", "--quiet", "--bare", str(repo.path), str(tmp_path / "bare.git"))
    assert local_git.head(tmp_path / "bare.git", "main") == first
    assert local_git.show(tmp_path / "bare.git", first, "models/orders.sql") == MODEL.encode()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_repository_of_another_user_is_read(repo: Repo, first: str) -> None:
    for path in (repo.path, *repo.path.rglob("*")):
        os.lchown(path, 12345, 12345)
    assert local_git.head(repo.path, "main") == first
    assert local_git.ls_files(repo.path, first)


@pytest.mark.parametrize("name", ["-x", "--upload-pack=x", "a..b", "a b", "", "HEAD@{1}", "x.lock", "a~1", "a^", "a:b"])
def test_a_branch_that_could_be_read_as_something_else_is_refused(name: str) -> None:
    with pytest.raises(BadInput, match="not the name of a branch"):
        checked_branch(name)


@pytest.mark.parametrize("sha", ["-x", "HEAD", "main", "0123abc", ABSENT.upper().replace("0", "A"), ABSENT + "\n", ""])
def test_only_a_whole_id_names_a_commit(sha: str) -> None:
    with pytest.raises(BadInput, match="not a whole commit id"):
        checked_sha(sha)


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../x", "a/../b", "a//b", "./a", "", "a/", "a\0b", ".git/config", "a\\b"]
)
def test_a_path_that_leaves_the_tree_is_refused(path: str) -> None:
    with pytest.raises(BadInput, match="not a path inside the repository"):
        checked_path(path)


def test_a_machine_without_git_is_said(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.devnull)
    with pytest.raises(Unavailable, match="git is not installed"):
        local_git.head(repo.path, "main")


AWKWARD: list[tuple[str, dict[str, str], dict[str, str]]] = [
    ("a changed line", {"m/a.sql": "a\nb\nc\n"}, {"m/a.sql": "a\nB\nc\n"}),
    ("a new file", {}, {"new/deep/b.sql": "x\ny\n"}),
    ("an empty new file", {}, {"empty.yml": ""}),
    ("a file that becomes empty", {"a": "x\n"}, {"a": ""}),
    ("a deleted file", {"m/a.sql": "a\n", "b": "b\n"}, {"b": "b\n"}),
    ("no newline at either end", {"a": "x\ny"}, {"a": "x\nz"}),
    ("a newline added at the end", {"a": "x\ny"}, {"a": "x\ny\n"}),
    ("carriage returns", {"a": "x\r\ny\r\n"}, {"a": "x\r\nz\r\n"}),
    ("form feeds and line separators", {"a": "x\x0cy\u2028z\nw\n"}, {"a": "x\x0cq\u2028z\nw\n"}),
    ("a name with blanks", {"my models/a b.sql": "x\n"}, {"my models/a b.sql": "y\n"}),
    ("a new name with blanks", {}, {"my models/a b.sql": "y"}),
    ("a name with quotes and tabs", {'a"b\tc.sql': "x\n"}, {'a"b\tc.sql': "y\n"}),
    ("a name outside ASCII", {"modèles/☂.sql": "x\n"}, {"modèles/☂.sql": "é\n"}),
    ("lines that look like a patch", {"a": "--- a/x\n+++ b/x\n@@ -1 +1 @@\n"}, {"a": "-- a/x\n++ b/x\n"}),
    ("two far places", {"a": "".join(f"{n}\n" for n in range(300))}, {"a": "".join(f"{n}\n" for n in range(3, 299))}),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after"), [case[1:] for case in AWKWARD], ids=[case[0] for case in AWKWARD])
def test_a_written_patch_is_taken_by_git_and_gives_the_tree_of_gits_own(
    tmp_path: Path, before: dict[str, str], after: dict[str, str]
) -> None:
    repo = Repo(tmp_path / "project")
    repo.write("keep", "x")
    for name, text in before.items():
        repo.write(name, text)
    first = repo.commit()
    for name in set(before) - set(after):
        (repo.path / name).unlink()
    for name, text in after.items():
        repo.write(name, text)
    second = repo.commit()

    patch = unified_diff(before, after)
    checkout(repo.path, first, tmp_path / "out")
    apply_patch(tmp_path / "out", patch)
    assert files_of(tmp_path / "out") == committed_files(repo, second)
    assert patched_tree(repo.path, first, patch) == tree_of(repo.path, second)
    assert unified_diff(after, after) == ""


def test_a_patch_applies_in_a_folder_inside_another_repository(repo: Repo, first: str) -> None:
    into = repo.path / "var" / "out"
    checkout(repo.path, first, into)
    apply_patch(into, unified_diff({"models/orders.sql": MODEL}, {"models/orders.sql": "select 1\n"}))
    assert (into / "models/orders.sql").read_text() == "select 1\n"
    assert (repo.path / "models/orders.sql").read_text() == MODEL


def test_a_patch_that_does_not_fit_changes_nothing(repo: Repo, first: str, tmp_path: Path) -> None:
    into = tmp_path / "out"
    checkout(repo.path, first, into)
    fits = unified_diff({"run.sh": "#!/bin/sh\n"}, {"run.sh": "changed\n"})
    does_not = unified_diff({"models/orders.sql": "something else\n"}, {"models/orders.sql": "x\n"})
    with pytest.raises(Conflict, match="does not fit"):
        apply_patch(into, fits + does_not)
    assert files_of(into) == committed_files(repo, first)


@pytest.mark.parametrize(
    "patch",
    [
        "",
        "hello",
        "diff --git a/../../x b/../../x\nnew file mode 100644\n--- /dev/null\n+++ b/../../x\n@@ -0,0 +1 @@\n+x\n",
        "diff --git a/.git/x b/.git/x\nnew file mode 100644\n--- /dev/null\n+++ b/.git/x\n@@ -0,0 +1 @@\n+x\n",
        "diff --git a/l b/l\nnew file mode  0120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+/tmp\n",
        "diff --git a/run.sh b/models/run.sh\nrename from run.sh\nrename to models/run.sh\n",
        "--- a/link.sql\n+++ b/link.sql\n@@ -1 +1 @@\n-run.sh\n\\ No newline at end of file\n+/etc/passwd\n"
        "\\ No newline at end of file\n",
        "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+/tmp\n"
        "\\ No newline at end of file\n"
        "diff --git a/l/x b/l/x\nnew file mode 100644\n--- /dev/null\n+++ b/l/x\n@@ -0,0 +1 @@\n+x\n",
    ],
    ids=["empty", "prose", "climbing", "git folder", "a link", "a rename", "a turned link", "through a link"],
)
def test_a_patch_that_is_none_or_leaves_the_checkout_is_refused(repo: Repo, tmp_path: Path, patch: str) -> None:
    (repo.path / "link.sql").symlink_to("run.sh")
    into = tmp_path / "out"
    checkout(repo.path, repo.commit(), into)
    before = files_of(into)
    with pytest.raises(SpellbookError):
        apply_patch(into, patch)
    assert files_of(into) == before
    assert (into / "link.sql").readlink() == Path("run.sh")


def test_only_the_whole_change_at_its_place_gives_the_same_tree(repo: Repo) -> None:
    twice = "a\nb\nc\nd\ne\nf\ng\nh\n" * 2
    repo.write("a", twice)
    first = repo.commit()
    before = sorted(path for path in (repo.path / ".git").rglob("*") if path.is_file())
    approved = patched_tree(repo.path, first, unified_diff({"a": twice}, {"a": twice.replace("d\n", "D\n", 1)}))
    assert sorted(path for path in (repo.path / ".git").rglob("*") if path.is_file()) == before
    others = {
        "the same lines elsewhere": twice[:16] + twice[16:].replace("d\n", "D\n"),
        "more": twice.replace("d\n", "D\n", 1) + "i\n",
        "less": twice,
        "a blank": twice.replace("d\n", "D \n", 1),
        "no line feed": twice.replace("d\n", "D\n", 1).removesuffix("\n"),
    }
    for name, text in others.items():
        repo.write("a", text)
        assert tree_of(repo.path, repo.commit()) != approved, name
    repo.write("a", twice.replace("d\n", "D\n", 1))
    assert tree_of(repo.path, repo.commit()) == approved
    with pytest.raises(Conflict, match="does not fit"):
        patched_tree(repo.path, first, unified_diff({"a": "other\n"}, {"a": "x\n"}))
    with pytest.raises(Conflict):
        patched_tree(repo.path, first, "\ud83d")


def test_binary_content_and_modes_are_part_of_a_tree(repo: Repo, first: str) -> None:
    trees = {tree_of(repo.path, first)}
    for content in (b"\0one", b"\0two"):
        repo.git("reset", "--quiet", "--hard", first)
        repo.write("image.png", content)
        trees.add(tree_of(repo.path, repo.commit()))
    repo.git("reset", "--quiet", "--hard", first)
    (repo.path / "models/orders.sql").chmod(0o755)
    trees.add(tree_of(repo.path, repo.commit()))
    assert len(trees) == 4


def test_a_full_disk_leaves_no_half_checkout(repo: Repo, first: str, tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(small)]
    if not shutil.which("mount") or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small disk is not allowed here")
    try:
        repo.write("large.sql", "x" * 100_000)
        with pytest.raises(Unavailable, match="the disk is full"):
            checkout(repo.path, repo.commit(), small / "out")
        assert not (small / "out").exists()
    finally:
        subprocess.run(["umount", str(small)], check=True)
