"""The ledger's two signing keys: one signs receipts, the other checkpoints; both lie in files outside the database.

A key file holds the 32-byte Ed25519 seed as 64 hex digits and a line feed, mode 0600. Only the process that seals
loads them. The checkpoint key is named as the ledger's origin, the receipt key as origin + "/receipts", so that
neither can stand in for the other.
"""

from __future__ import annotations

import os
import re
import secrets
import stat
from dataclasses import dataclass
from pathlib import Path

from approvals.ledger.note import Signer, Verifier, valid_name
from foundation.errors import BadInput, Unavailable

RECEIPT_FILE = "receipt.key"
CHECKPOINT_FILE = "checkpoint.key"
_SEED = re.compile(rb"[0-9a-f]{64}\n?")


def receipt_key_name(origin: str) -> str:
    """The name of the receipt key of a ledger."""
    return f"{origin}/receipts"


@dataclass(frozen=True)
class Keys:
    """The signers of one ledger."""

    receipt: Signer
    checkpoint: Signer

    @property
    def verifiers(self) -> tuple[Verifier, Verifier]:
        """Public halves: receipt key, checkpoint key."""
        return self.receipt.verifier, self.checkpoint.verifier

    @property
    def vkeys(self) -> tuple[str, str]:
        """What is published: the vkey of the receipt key and of the checkpoint key."""
        return self.receipt.verifier.vkey, self.checkpoint.verifier.vkey


def load(directory: Path, origin: str) -> Keys:
    """Load both keys.

    Raises `Unavailable` when a file is missing or cannot be read, `BadInput` when it is readable by others,
    malformed, or when both files hold the same key. No message shows a key.
    """
    _require_origin(origin)
    receipt, checkpoint = _seed(directory / RECEIPT_FILE), _seed(directory / CHECKPOINT_FILE)
    if receipt == checkpoint:
        raise BadInput("The receipt key and the checkpoint key must not be the same.")
    return Keys(Signer(receipt_key_name(origin), receipt), Signer(origin, checkpoint))


def create(directory: Path) -> None:
    """Make both key files where they are missing, in a folder of mode 0700; existing files are never touched."""
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name in (RECEIPT_FILE, CHECKPOINT_FILE):
        _create_file(directory / name)


def _create_file(path: Path) -> None:
    """Write beside and link into place: a crash leaves either no key or a whole one, and the first writer wins."""
    beside = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_hex(32) + "\n")
            file.flush()
            os.fsync(file.fileno())
        os.link(beside, path)
    except FileExistsError:
        return
    except OSError:
        raise Unavailable(f"The key file {path.name} could not be written.") from None
    finally:
        beside.unlink(missing_ok=True)


def _seed(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            content = file.read(200)
    except OSError:
        raise Unavailable(f"The key file {path.name} is missing or cannot be read.") from None
    if not stat.S_ISREG(mode) or mode & 0o077:
        raise BadInput(f"The key file {path.name} must be a plain file that only its owner can read (mode 0600).")
    if not _SEED.fullmatch(content):
        raise BadInput(f"The key file {path.name} does not hold a seed of 64 hex digits.")
    return bytes.fromhex(content.decode("ascii").strip())


def _require_origin(origin: str) -> None:
    if not valid_name(origin):
        raise BadInput("The ledger's origin must not be empty or hold blanks or plus signs.")
