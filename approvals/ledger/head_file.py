"""The last signed head of the ledger, kept in a file outside the database.

A database restored from a backup would otherwise sign a second, different history of the same length. The order that
makes a crash harmless: leaves are committed to the database first; then `advance` checks, signs, and writes this
file; then the checkpoint is stored in the database. Killed in between, the next turn signs the same bytes again
(Ed25519 is deterministic).
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from approvals.ledger.encoding import strict_json_object
from approvals.ledger.errors import HeadRefused, NotVerified
from approvals.ledger.merkle import Tree, verify_consistency
from approvals.ledger.note import Checkpoint, Signer, open_checkpoint, sign_checkpoint
from foundation.errors import Unavailable


@dataclass(frozen=True)
class Head:
    """A signed head: number of leaves, root (32 bytes), and the signed checkpoint."""

    size: int
    root: bytes
    note: str


class HeadFile:
    """The file at `path` for the ledger whose checkpoint key is `signer` (its name is the origin)."""

    def __init__(self, path: Path, signer: Signer) -> None:
        self.path = path
        self.signer = signer

    def read(self) -> Head | None:
        """The last signed head, None when there is no file; a file that cannot be trusted is refused, not forgotten."""
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError:
            raise Unavailable("The file with the last signed head cannot be read.") from None
        try:
            fields = strict_json_object(content)
            checkpoint = open_checkpoint(str(fields["note"]).encode(), [self.signer.verifier])
        except (ValueError, KeyError, NotVerified):
            raise HeadRefused("The file with the last signed head is damaged, so nothing is signed.") from None
        if fields.get("size") != checkpoint.size or fields.get("root") != checkpoint.root.hex():
            raise HeadRefused("The file with the last signed head contradicts itself, so nothing is signed.")
        if checkpoint.origin != self.signer.name:
            raise HeadRefused("The file with the last signed head belongs to another ledger.")
        return Head(checkpoint.size, checkpoint.root, str(fields["note"]))

    def check(self, size: int, root: bytes, tree: Tree, *, stored_size: int) -> None:
        """Refuse (`HeadRefused`) a head that must not be signed.

        `tree` holds the leaves of the database, `stored_size` is the size of the newest checkpoint that the database
        holds (0 when none). Refused: a head that is not the tree's own, a missing file although the database has
        checkpoints, a head below the last signed one, and one that does not continue it.
        """
        if size > tree.size or tree.root(size) != root or size < 1:
            raise HeadRefused("This head does not belong to the leaves of the database.")
        last = self.read()
        if last is None:
            if stored_size:
                raise HeadRefused("The file with the last signed head is gone, so nothing is signed.")
            return
        if size < max(last.size, stored_size):  # guard: I14
            raise HeadRefused(
                f"The ledger holds {size} leaves but {max(last.size, stored_size)} were signed before; "
                "the database looks older than its receipts."
            )
        if not verify_consistency(last.size, size, last.root, root, tree.consistency(last.size, size)):  # guard: I14
            raise HeadRefused("The ledger's leaves contradict the head that was signed before.")

    def write(self, head: Head) -> None:
        """Replace the file atomically and durably; `Unavailable` when the disk refuses."""
        content = json.dumps({"size": head.size, "root": head.root.hex(), "note": head.note}, ensure_ascii=False)
        beside = self.path.with_name(self.path.name + ".new")
        try:
            with open(beside, "wb", opener=_private) as file:
                file.write(content.encode())
                file.flush()
                os.fsync(file.fileno())
            os.replace(beside, self.path)
            _sync_folder(self.path.parent)
        except OSError:
            raise Unavailable("The last signed head could not be written, so nothing was signed.") from None

    def advance(self, tree: Tree, *, stored_size: int) -> Head:
        """Check, sign and remember the tree's present head in one locked section, and return it."""
        with self._locked():
            root = tree.root()
            self.check(tree.size, root, tree, stored_size=stored_size)
            note = sign_checkpoint(Checkpoint(self.signer.name, tree.size, root), self.signer)
            head = Head(tree.size, root, note)
            self.write(head)
            return head

    @contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = _private(str(self.path) + ".lock", os.O_WRONLY | os.O_CREAT)
        except OSError:
            raise Unavailable("The folder of the last signed head cannot be written.") from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
