"""C2SP transparency log proofs (https://c2sp.org/tlog-proof), the text of a `.tlog-proof` file.

`extra` carries the leaf's bytes: they are what a verifier needs to rebuild the record hash. It is not authenticated by
itself; `verify` accepts it only when it commits to the envelope and lies in the signed tree.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from approvals.ledger.encoding import b64, strict_b64decode
from approvals.ledger.errors import NotVerified, Part
from approvals.ledger.merkle import HASH_SIZE

HEADER = "c2sp.org/tlog-proof@v1"
MAX_BYTES = 2_000_000
_INDEX = re.compile(r"index (0|[1-9][0-9]{0,18})")


@dataclass(frozen=True)
class TlogProof:
    """Where a leaf lies (`index`), its audit path (32-byte hashes, leaf upwards), the signed checkpoint, and the
    leaf.
    """

    index: int
    path: tuple[bytes, ...]
    checkpoint: str
    extra: bytes | None = None


def render(index: int, path: Sequence[bytes], checkpoint: str, extra: bytes | None = None) -> bytes:
    """The proof's text as bytes; `checkpoint` is the signed note, verbatim."""
    lines = [HEADER]
    if extra is not None:
        lines.append(f"extra {b64(extra)}")
    lines.append(f"index {index}")
    lines.extend(b64(step) for step in path)
    return ("\n".join(lines) + "\n\n" + checkpoint).encode()


def parse(data: bytes) -> TlogProof:
    """Read a proof's text; `NotVerified` (proof text) when it is malformed."""
    if len(data) > MAX_BYTES:
        raise _malformed("it is too long")
    try:
        head, separator, checkpoint = data.decode("utf-8").partition("\n\n")
    except UnicodeDecodeError:
        raise _malformed("it is not UTF-8") from None
    lines = head.split("\n")
    if not separator or lines.pop(0) != HEADER:
        raise _malformed("its first line or its checkpoint is missing")
    extra = None
    if lines and lines[0].startswith("extra "):
        extra = _decoded(lines.pop(0).removeprefix("extra "))
    match = _INDEX.fullmatch(lines.pop(0)) if lines else None
    if match is None:
        raise _malformed("it has no index")
    path = tuple(_decoded(line) for line in lines)
    if any(len(step) != HASH_SIZE for step in path):
        raise _malformed("a hash is not 32 bytes long")
    return TlogProof(int(match[1]), path, checkpoint, extra)


def _decoded(text: str) -> bytes:
    try:
        return strict_b64decode(text)
    except ValueError:
        raise _malformed("a line is not base64") from None


def _malformed(why: str) -> NotVerified:
    return NotVerified(Part.PROOF, f"The proof cannot be read: {why}.")
