"""C2SP signed notes, verifier keys and checkpoints with Ed25519 (https://c2sp.org/signed-note, tlog-checkpoint).

A note is text that ends in a line feed, an empty line, and signature lines `— name base64(key id || signature)`.
A verifier key (vkey) is `name+hex(key id)+base64(0x01 || public key)`; base64 may hold `+`, so only the first two
separate.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from approvals.ledger.encoding import b64, strict_b64decode
from approvals.ledger.errors import NotVerified, Part
from approvals.ledger.merkle import HASH_SIZE
from foundation.errors import BadInput

ED25519 = b"\x01"
MAX_NOTE_BYTES = 1_000_000
MAX_SIGNATURES = 100
_SIGNATURE_LINE = re.compile(r"\u2014 (?P<name>[^ +\n]+) (?P<blob>[^ \n]+)")
_SIZE = re.compile(r"0|[1-9][0-9]{0,18}")


def valid_name(name: str) -> bool:
    """Whether a key name is not empty and holds neither blanks, control characters nor `+`."""
    return bool(name) and "+" not in name and name.isprintable() and not any(character.isspace() for character in name)


def key_id(name: str, public_key: bytes) -> bytes:
    """The first 4 bytes of SHA-256(name || LF || 0x01 || public key)."""
    return hashlib.sha256(name.encode() + b"\n" + ED25519 + public_key).digest()[:4]


@dataclass(frozen=True)
class Verifier:
    """A named Ed25519 public key (32 bytes)."""

    name: str
    public_key: bytes

    @cached_property
    def key_id(self) -> bytes:
        return key_id(self.name, self.public_key)

    @property
    def vkey(self) -> str:
        return f"{self.name}+{self.key_id.hex()}+{b64(ED25519 + self.public_key)}"

    def verifies(self, data: bytes, signature: bytes) -> bool:
        """Whether `signature` (64 bytes) is this key's over `data`."""
        try:
            Ed25519PublicKey.from_public_bytes(self.public_key).verify(signature, data)
        except (InvalidSignature, ValueError):
            return False
        return True


def parse_vkey(text: str) -> Verifier:
    """The verifier behind a vkey line; `BadInput` when it is malformed, of another type, or its key id does not fit."""
    name, _, rest = text.strip().partition("+")
    hexid, _, encoded = rest.partition("+")
    try:
        blob = strict_b64decode(encoded)
    except ValueError:
        raise BadInput("This is not a verifier key: its last part is not base64.") from None
    if not valid_name(name) or len(blob) != 1 + HASH_SIZE or blob[:1] != ED25519:
        raise BadInput("This is not an Ed25519 verifier key of the form name+id+key.")
    verifier = Verifier(name, blob[1:])
    if verifier.key_id.hex() != hexid:
        raise BadInput("The key id in this verifier key does not belong to its name and key.")
    return verifier


@dataclass(frozen=True)
class Signer:
    """A named Ed25519 key pair, made from a 32-byte seed that never shows in `repr`."""

    name: str
    seed: bytes = field(repr=False)

    def __post_init__(self) -> None:
        if not valid_name(self.name):
            raise BadInput("A key name must not be empty or hold blanks or plus signs.")

    @cached_property
    def _private(self) -> Ed25519PrivateKey:
        return Ed25519PrivateKey.from_private_bytes(self.seed)

    @cached_property
    def verifier(self) -> Verifier:
        return Verifier(self.name, self._private.public_key().public_bytes_raw())

    def sign(self, data: bytes) -> bytes:
        """The 64-byte signature over `data`; the same data always gives the same bytes (RFC 8032)."""
        return self._private.sign(data)


@dataclass(frozen=True)
class Note:
    """A note as parsed, with nothing verified yet: its text and the (name, key id, signature) of each line."""

    text: str
    signatures: tuple[tuple[str, bytes, bytes], ...]


def sign_note(text: str, *signers: Signer) -> str:
    """The signed note over `text`, which must end in a line feed."""
    if not text.endswith("\n"):
        raise BadInput("The text of a note must end in a line feed.")
    lines = [f"\u2014 {s.name} {b64(s.verifier.key_id + s.sign(text.encode()))}\n" for s in signers]
    return text + "\n" + "".join(lines)


def parse_note(data: bytes) -> Note:
    """Split a note into text and signatures; `NotVerified` (checkpoint) when its form is wrong."""
    try:
        whole = data.decode("utf-8")
    except UnicodeDecodeError:
        raise _malformed("it is not UTF-8") from None
    if len(data) > MAX_NOTE_BYTES or any(character < " " and character != "\n" for character in whole):
        raise _malformed("it is too long or holds control characters")
    head, separator, tail = whole.rpartition("\n\n")
    if not separator or not tail.endswith("\n"):
        raise _malformed("it has no signature lines")
    lines = tail[:-1].split("\n")
    if len(lines) > MAX_SIGNATURES:
        raise _malformed("it has too many signature lines")
    return Note(head + "\n", tuple(_signature(line) for line in lines))


def _signature(line: str) -> tuple[str, bytes, bytes]:
    match = _SIGNATURE_LINE.fullmatch(line)
    if match is None or not valid_name(match["name"]):
        raise _malformed("a signature line is malformed")
    try:
        blob = strict_b64decode(match["blob"])
    except ValueError:
        raise _malformed("a signature is not base64") from None
    if len(blob) < 5:
        raise _malformed("a signature is too short")
    return match["name"], blob[:4], blob[4:]


def open_note(data: bytes, verifiers: Iterable[Verifier]) -> tuple[str, tuple[Verifier, ...]]:
    """The note's text and the known keys that signed it.

    Lines of unknown keys are ignored; one bad signature of a known key, or no known key at all, raises `NotVerified`.
    """
    note = parse_note(data)
    known = {(verifier.name, verifier.key_id): verifier for verifier in verifiers}
    signed: list[Verifier] = []
    for name, identifier, signature in note.signatures:
        verifier = known.get((name, identifier))
        if verifier is None:
            continue
        if not verifier.verifies(note.text.encode(), signature):
            raise NotVerified(Part.CHECKPOINT_SIGNATURE, "The checkpoint's signature does not fit its text.")
        signed.append(verifier)
    if not signed:
        raise NotVerified(Part.CHECKPOINT_SIGNATURE, "The checkpoint is not signed by a trusted key.")
    return note.text, tuple(signed)


@dataclass(frozen=True)
class Checkpoint:
    """The head of a log: its origin, number of leaves, and root (32 bytes)."""

    origin: str
    size: int
    root: bytes

    def text(self) -> str:
        """The note text that is signed: origin, decimal size, base64 root, one per line."""
        return f"{self.origin}\n{self.size}\n{b64(self.root)}\n"


def parse_checkpoint(text: str) -> Checkpoint:
    """Read a checkpoint's text; extension lines are refused, because this ledger never writes any."""
    lines = text.split("\n")
    if len(lines) != 4 or lines[3] or not lines[0] or not _SIZE.fullmatch(lines[1]):
        raise _malformed("it is not origin, size and root on three lines")
    try:
        tree_root = strict_b64decode(lines[2])
    except ValueError:
        raise _malformed("its root is not base64") from None
    if len(tree_root) != HASH_SIZE:
        raise _malformed("its root is not 32 bytes long")
    return Checkpoint(lines[0], int(lines[1]), tree_root)


def open_checkpoint(data: bytes, verifiers: Iterable[Verifier]) -> Checkpoint:
    """Verify and read a signed checkpoint; a key named as the log's origin must be among those that signed it."""
    text, signed = open_note(data, verifiers)
    checkpoint = parse_checkpoint(text)
    if checkpoint.origin not in {verifier.name for verifier in signed}:
        raise NotVerified(Part.CHECKPOINT_SIGNATURE, "The checkpoint is not signed by the key of its own log.")
    return checkpoint


def sign_checkpoint(checkpoint: Checkpoint, *signers: Signer) -> str:
    """The signed checkpoint; the log's own key (named as the origin) comes first."""
    if not signers or signers[0].name != checkpoint.origin:
        raise BadInput("A checkpoint is signed by the key that is named as its origin.")
    return sign_note(checkpoint.text(), *signers)


def _malformed(why: str) -> NotVerified:
    return NotVerified(Part.CHECKPOINT, f"The checkpoint cannot be read: {why}.")
