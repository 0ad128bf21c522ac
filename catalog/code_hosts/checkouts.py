"""A commit's files in a directory of their own, and a patch put onto them."""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from catalog.code_hosts.git_objects import LINK, SUBMODULE, Entry, ls_tree
from catalog.code_hosts.git_process import checked_path, run
from foundation.errors import BadInput, Conflict, Unavailable

BATCH = 200  # files read from git at once
HEADER = re.compile(r"^(?:old mode|new mode|new file mode|deleted file mode|index|rename|copy)\b.*", re.MULTILINE)
ORDINARY = re.compile(
    r"(?:(?:old|new|new file|deleted file) mode (?:100644|100755)|index [0-9a-f]+\.\.[0-9a-f]+(?: 100644| 100755)?)\r?"
)


def checkout(repo: Path | str, sha: str, into: Path) -> None:
    """Write a commit's files into `into`, which is made and must not exist or be empty.

    The bytes are the committed ones: no hook, filter, attribute or line-end setting is applied, there is no
    `.git`, a submodule is an empty directory. Raises as `git_objects`; BadInput for a symbolic link that leaves the
    tree, Conflict when `into` holds something, Unavailable when the disk is full. On any error `into` is removed."""
    entries = ls_tree(repo, sha)
    _check_links(repo, entries)
    if into.is_symlink() or into.is_file() or (into.is_dir() and any(into.iterdir())):
        raise Conflict(f"the directory {into.name} for the checkout is not empty")
    try:
        into.mkdir(parents=True, exist_ok=True)
        for entry, data in _contents(repo, entries):
            _write(into / checked_path(entry.path), entry, data)
    except OSError as error:
        shutil.rmtree(into, ignore_errors=True)
        raise _cannot_write(error) from error
    except BaseException:
        shutil.rmtree(into, ignore_errors=True)
        raise


def apply_patch(checkout_dir: Path, patch_text: str) -> None:
    """Put a patch onto a checkout, wholly or not at all. Raises Conflict when it does not fit the files,
    BadInput when it is no patch, touches a path outside, or does more than write, make and delete ordinary files."""
    data = patch_text.encode("utf-8", "surrogateescape")
    if not data.strip():
        raise BadInput("the patch is empty")
    _check_ordinary(checkout_dir, patch_text, data)
    try:
        run(checkout_dir, "apply", "--check", "--whitespace=nowarn", "-", stdin=data)
    except BadInput as error:
        if "does not apply" in str(error) or "patch failed" in str(error) or "No such file" in str(error):
            raise Conflict("the patch does not fit the files of this commit") from error
        raise BadInput(f"the patch cannot be applied: {error}") from error
    run(checkout_dir, "apply", "--whitespace=nowarn", "-", stdin=data)


def _check_ordinary(checkout_dir: Path, patch_text: str, data: bytes) -> None:
    """No links: a link made or turned by a patch would let a later build read any file of this machine."""
    odd = [line for line in HEADER.findall(patch_text) if not ORDINARY.fullmatch(line)]
    if odd:
        raise BadInput(f"the patch does more than change ordinary files: {odd[0].strip()[:80]}")
    listing = run(checkout_dir, "apply", "--numstat", "-z", "-", stdin=data).stdout
    names = [os.fsdecode(line.split(b"\t", 2)[2]) for line in listing.split(b"\0")[:-1]]
    links = [name for name in names if (checkout_dir / name).is_symlink()]
    if links:
        raise BadInput(f"the patch changes the symbolic link {links[0]}")


def _check_links(repo: Path | str, entries: Sequence[Entry]) -> None:
    links = [entry for entry in entries if entry.mode == LINK]
    for entry, target in _contents(repo, links):
        if not _stays_inside(entry.path, os.fsdecode(target)):
            raise BadInput(f"the symbolic link {entry.path} leaves the repository")


def _stays_inside(link: str, target: str) -> bool:
    """Whether a link's target lies in the tree. `..` is taken only at the start, where it climbs real directories:
    behind a name it could climb out of wherever another link leads."""
    parts = target.split("/")
    climbs = next((index for index, part in enumerate(parts) if part != ".."), len(parts))
    depth = link.count("/")
    return not target.startswith("/") and climbs <= depth and ".." not in parts[climbs:] and "\0" not in target


def _contents(repo: Path | str, entries: Sequence[Entry]) -> Iterator[tuple[Entry, bytes]]:
    for start in range(0, len(entries), BATCH):
        yield from _batch(Path(repo).resolve(), entries[start : start + BATCH])


def _batch(repo: Path, entries: Sequence[Entry]) -> Iterator[tuple[Entry, bytes]]:
    wanted = [entry.object_id for entry in entries if entry.mode != SUBMODULE]
    stream = run(repo, "cat-file", "--batch", stdin="".join(f"{name}\n" for name in wanted).encode()).stdout
    position = 0
    for entry in entries:
        if entry.mode == SUBMODULE:
            yield entry, b""
            continue
        end = stream.index(b"\n", position)
        heading = stream[position:end].split()
        if len(heading) != 3 or heading[1] != b"blob":
            raise Unavailable(f"the repository does not hold the content of {entry.path}")
        size = int(heading[2])
        yield entry, stream[end + 1 : end + 1 + size]
        position = end + 1 + size + 1


def _write(path: Path, entry: Entry, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if entry.mode == SUBMODULE:
        path.mkdir()
    elif entry.mode == LINK:
        path.symlink_to(os.fsdecode(data))
    else:
        # O_EXCL: on a file system that ignores case, two names of the tree may be one; never write through a link.
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o755 if entry.mode == "100755" else 0o644)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)


def _cannot_write(error: OSError) -> Unavailable:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return Unavailable("the disk is full, there is no room for the checkout")
    return Unavailable(f"the checkout cannot be written: {error.strerror}")
