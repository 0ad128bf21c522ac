"""The sealer: signs the receipts that wait, orders them in the ledger, signs the new head; only where keys are (I14).

In this order a crash harms nothing: envelopes and leaves are committed under the head row's lock; then the head file
outside the database is advanced, which signs the checkpoint; then the checkpoint is stored. Whatever stopped in between
is taken up by the next turn, which signs the same bytes again.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from uuid import UUID

from django.conf import settings

from approvals import actions
from approvals.ledger import dsse, keys
from approvals.ledger.errors import HeadRefused
from approvals.ledger.head_file import Head, HeadFile
from approvals.ledger.keys import Keys
from approvals.ledger.merkle import Tree, leaf_hash
from approvals.ledger.statement import leaf_bytes
from approvals.models import Checkpoint, Leaf, LedgerHead, LedgerKey, Receipt
from approvals.services.alarms import alarm
from foundation.audit import Actor
from foundation.canonical import sha256_hex, timestamp
from foundation.clock import now
from foundation.failpoint import hit
from foundation.locks import lock, transaction
from foundation.people import system

BATCH = 50
HEAD_FILE = "ledger.head"


def seal_due(limit: int = BATCH) -> int:
    """Seal up to `limit` waiting receipts, oldest first; returns how many. 0 in a process that has no keys.

    Raises HeadRefused, with an alarm on the timeline, when the ledger lies below or beside what was signed before (a
    restored backup), and Unavailable when keys or head file cannot be read.
    """
    folder = settings.SPELLBOOK_KEYS_DIR
    if folder is None or not _anything_to_do():
        return 0
    signers = keys.load(Path(folder), settings.SPELLBOOK_ORIGIN)
    head = HeadFile(Path(folder) / HEAD_FILE, signers.checkpoint)
    while True:
        seen = _leaves()
        try:
            return _seal(head, signers, limit)
        except HeadRefused as error:
            if _leaves() > seen:
                continue  # another sealer was ahead while we looked; look again
            _alarm(error)
            raise


def _alarm(error: HeadRefused) -> None:
    with transaction():
        ledger = LedgerHead.objects.get_or_create(pk=1)[0]
        actor = Actor(system("sealer"), "timer")
        alarm(actor, actions.LEDGER_REFUSED, ledger, {"why": str(error)}, correlation_id=None)


def _seal(head: HeadFile, signers: Keys, limit: int) -> int:
    tree = _tree()
    _refuse_older(head, tree)
    waiting = list(Receipt.objects.filter(envelope__isnull=True).order_by("created_at", "pk")[:limit])
    envelopes = {row.pk: dsse.sign(bytes(row.statement), signers.receipt) for row in waiting}
    sealed = 0
    if envelopes:
        sealed = _append(waiting, envelopes, signers, tree)
        hit("seal.after_commit")
        tree = _tree()
    if tree.size > _stored_size():
        _store(head.advance(tree, stored_size=_stored_size()))
    return sealed


def _anything_to_do() -> bool:
    return Receipt.objects.filter(envelope__isnull=True).exists() or _leaves() > _stored_size()


def _leaves() -> int:
    newest = Leaf.objects.order_by("-index").first()
    return newest.index + 1 if newest else 0


def _stored_size() -> int:
    newest = Checkpoint.objects.first()
    return newest.size if newest else 0


def _tree() -> Tree:
    return Tree(bytes.fromhex(one) for one in Leaf.objects.order_by("index").values_list("leaf_hash", flat=True))


def _refuse_older(head: HeadFile, tree: Tree) -> None:
    """Before a leaf is added: the database must continue what was signed, or it is another history."""
    if tree.size:
        head.check(tree.size, tree.root(), tree, stored_size=_stored_size())
    elif head.read() is not None:
        raise HeadRefused(
            "The ledger is empty but heads of it were signed before; the database looks older than its receipts."
        )


def _append(waiting: list[Receipt], envelopes: Mapping[UUID, bytes], signers: Keys, tree: Tree) -> int:
    with transaction(durable=True):
        LedgerHead.objects.get_or_create(pk=1)
        head = lock(LedgerHead.objects.all(), pk=1)
        if head.size != tree.size:
            return 0  # another sealer was here meanwhile; the next turn sees what it left
        hit("seal.after_claim")
        moment = now()
        _publish(signers, head.size, moment)
        size = head.size
        for row in waiting:
            size += _append_one(row, envelopes[row.pk], size, moment)
        LedgerHead.objects.filter(pk=1, size=head.size).update(size=size)
        hit("seal.before_commit")
    return size - tree.size


def _append_one(row: Receipt, envelope: bytes, index: int, moment: datetime) -> int:
    """Give one receipt its envelope and the next index; 0 when it was sealed before."""
    unsealed = Receipt.objects.filter(pk=row.pk, envelope__isnull=True)
    if not unsealed.update(envelope=envelope, sealed_at=moment):
        return 0
    data = leaf_bytes(row.type, sha256_hex(envelope), timestamp(row.created_at))
    Leaf.objects.create(index=index, receipt=row, data=data, leaf_hash=leaf_hash(data).hex())
    return 1


def _publish(signers: Keys, size: int, moment: datetime) -> None:
    """Keep the public keys where processes without the signing keys can read them."""
    for role, vkey in zip(("receipt", "checkpoint"), signers.vkeys, strict=True):
        LedgerKey.objects.get_or_create(vkey=vkey, defaults={"role": role, "since_size": size, "at": moment})


def _store(head: Head) -> None:
    hit("seal.before_checkpoint")
    with transaction():
        lock(LedgerHead.objects.all(), pk=1)
        if head.size > _stored_size():  # else another sealer has stored a later head meanwhile
            Checkpoint.objects.create(size=head.size, root=head.root.hex(), note=head.note, at=now())
