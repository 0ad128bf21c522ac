"""Who may acknowledge a dangerous change: the people of the domain that owns what it changes, as approvals and the
catalogue name them. Never the author of the pull request, as far as it is known who that is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from approvals.models import Policy
from catalog.code_hosts.github.connection import read_settings
from catalog.models import Asset, PullRequest, Review, ReviewRule
from catalog.review import types as review
from catalog.selectors import assets_of_nodes
from catalog.services.access import answered_by
from foundation.errors import BadInput, NotAllowed
from foundation.models import Person
from spellbook.review_facts import opaque

WHO: Final = "the approver, the owner, who is on call, who has a role there, or an admin"
NOBODY: Final = f"Only people of the domains that own what is changed acknowledge this: {WHO}."
RULED: Final = "A change of {} has to be acknowledged"
"""How the sentence of a rule that is touched begins (`catalog.review.policy`)."""
OWN: Final = "You wrote this pull request; another person of the domain acknowledges it."


def subjects(found: review.Review, rules: Sequence[review.Rule], project: str) -> list[dict[str, Any]]:
    """What has to be answered for, as [{unique_id, asset (its id, or None where the graph does not have it)}].

    The changes that are dangerous and those that a rule names, and the readers of whose rules one is reached; where a
    rule is touched that names none of them, one entry without an id, for which only an admin answers.
    """
    ruled = {one.asset for one in rules} if found.required else set()
    ids = [
        one.was or one.unique_id
        for one in found.changes
        if one.verdict == review.DANGEROUS or ruled & {one.unique_id, one.was, one.name}
    ]
    readers = ruled_readers(found, rules)
    if not ids and not readers and needs_answer(found):
        ids = [""]
    assets = assets_of_nodes(sorted(set(ids)), project or None)
    changed = [{"unique_id": one, "asset": assets[one].pk if one in assets else None} for one in dict.fromkeys(ids)]
    return [*changed, *readers]


def ruled_readers(found: review.Review, rules: Sequence[review.Rule]) -> list[dict[str, Any]]:
    """The readers whose own rule the change touches, as [{unique_id (their name in the rule), asset}]."""
    touched = {one.asset for one in rules if any(said.startswith(RULED.format(one.asset)) for said in found.required)}
    if not touched:
        return []
    standing = ReviewRule.objects.filter(lifted_at__isnull=True, asset__consumer__isnull=False).order_by("pk")
    assets = [one.asset for one in standing.select_related("asset")]
    named = [(one.pk, {one.name, opaque(one.kind, one.pk)} & touched) for one in assets]
    return [{"unique_id": min(names), "asset": pk} for pk, names in named if names]


def needs_answer(found: review.Review) -> bool:
    """Whether the change may go on only after somebody acknowledged it."""
    return found.verdict == review.DANGEROUS or bool(found.required)


def covered(person: Person, row: Review) -> list[str]:
    """The unique ids among the review's subjects that `person` answers for. NotAllowed, with why, for none of them and
    for the author of the pull request.

    What the graph does not have yet is answered for by whoever answers for another subject of the same review.
    """
    if is_author(person, row.pull_request):
        raise NotAllowed(OWN)
    ids = [one["unique_id"] for one in row.subjects]
    if person.is_admin:
        return ids
    mine = _answered(person, assets_of(row))
    known = [one["unique_id"] for one in row.subjects if one["asset"] in mine]
    if not known:
        raise NotAllowed(NOBODY)
    return [one["unique_id"] for one in row.subjects if one["asset"] in mine or one["asset"] is None]


def may_acknowledge(person: Person, row: Review) -> bool:
    """As `covered`, for a page."""
    try:
        return bool(covered(person, row))
    except NotAllowed:
        return False


def answered(row: Review) -> bool:
    """Whether every subject of the review is covered by an acknowledgement; never without any."""
    made = list(row.acknowledgements.all())
    covers = {one for each in made for one in each.covers}
    return row.needs_answer and bool(made) and {one["unique_id"] for one in row.subjects} <= covers


def is_author(person: Person, row: PullRequest) -> bool:
    """Whether the connection says that the author's login at the host is this person's."""
    try:
        told = read_settings(row.connection).logins
    except BadInput:  # parameters that cannot be read say nothing of anybody
        return False
    author = row.author.lower()
    return any(login.lower() == author and email.strip().lower() == person.email for login, email in told.items())


def assets_of(row: Review) -> list[Asset]:
    """The subjects that the graph has."""
    ids = [one["asset"] for one in row.subjects if one["asset"] is not None]
    return list(Asset.objects.filter(pk__in=ids).select_related("domain").order_by("name"))


def _answered(person: Person, assets: Sequence[Asset]) -> set[int | None]:
    domains = [one.domain_id for one in assets if one.domain_id is not None]
    policies = Policy.objects.filter(domain__in=domains)
    decides = {one.domain_id for one in policies if person.pk in (one.approver_id, one.fallback_id)}
    deciding = {one.pk for one in assets if one.domain_id in decides} if person.is_active else set()
    return {*answered_by(person, assets), *deciding}
