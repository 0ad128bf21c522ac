"""The parts of an asset's page, each read only when its tab is open. A new one is a function, a template and a line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from catalog import selectors
from catalog.damage_order import LIVE
from catalog.freshness import freshness_of
from catalog.graph import lineage
from catalog.graph.answering import Who, everybody
from catalog.models import Asset, Build, Consumer, TableSize
from catalog.next_reads import next_read
from catalog.review_rows import rule_of
from catalog.selectors import definitions_of
from catalog.services.access import answers_for, may_change
from catalog.words import ROLES
from foundation.clock import now
from incidents.models import Metric
from incidents.selectors import series
from spellbook.explain_checks import last_results
from spellbook.made_of import made_of
from spellbook.pages import review_rules, sparkline
from spellbook.sight import Sight
from spellbook.trust import formula

LISTED = 12
MOST_READERS = 200
MOST_NOTES = 50
Context = dict[str, Any]


@dataclass(frozen=True)
class Part:
    """What a tab is called, and what it reads of an asset for these eyes."""

    label: str
    read: Callable[[Asset, Sight], Context]


def overview(row: Asset, sight: Sight) -> Context:
    """People, the evidence behind the trust score, size, code, how fresh a source is, and when a reader reads."""
    return {
        "formula": formula(),
        "answering": _answering(row),
        "roles": row.roles.select_related("person__principal__name_row").order_by("role", "pk"),
        "freshness": freshness_of(row),
        "review_rule": rule_of(row.pk),
        "relation": selectors.relation(row),
        "node": selectors.dbt_node(row),
        "size": TableSize.objects.filter(asset=row).first(),
        "closed": sight.incidents().filter(asset=row, state="closed").order_by("-closed_at")[:LISTED],
        **_reading(row, sight),
    }


def columns(row: Asset, sight: Sight) -> Context:
    """Each column with what it is made of."""
    made = made_of(row, sight)
    found = selectors.columns(row)
    return {
        "columns": [(column, made.of(column.name)) for column in found],
        "described": sum(bool(column.description.strip()) for column in found),
        "made": made,
    }


def checks(row: Asset, sight: Sight) -> Context:
    """Checks with their last results, values with their bands, and the builds that wrote it."""
    return {
        "checks": last_results(row),
        "metrics": _metrics(row),
        "builds": Build.objects.filter(outputs__asset=row).distinct().order_by("-announced_at")[:LISTED],
    }


def both_ways(row: Asset, sight: Sight) -> Context:
    """The nearest of what feeds it and of what it feeds, with the counts of all."""
    above, below = (
        lineage.page(row, direction=way, at=now(), limit=LISTED, hops=1, hidden=sight.hidden_domains)
        for way in ("up", "down")
    )
    return {"above": above, "below": below}


def readers(row: Asset, sight: Sight) -> Context:
    """Every reader that it reaches, soonest damage first."""
    found = lineage.page(row, direction="down", at=now(), limit=MOST_READERS, hidden=sight.hidden_domains)
    return {"reach": found, "readers": [one for one in found.rows if one.reader], **_reading(row, sight)}


def notes(row: Asset, sight: Sight) -> Context:
    """Notes that stand or wait for an answer."""
    rows = row.notes.filter(status__in=LIVE).order_by("-created_at", "-pk")
    related = ("author__name_row", "approved_by__principal__name_row")
    shown = rows.select_related(*related)[:MOST_NOTES]
    return {"notes": shown, "notes_total": rows.count(), "answers": answers_for(sight.person, row)}


def definition(row: Asset, sight: Sight) -> Context:
    """Every definition that stood or waits, newest first."""
    return {"definitions": definitions_of(row).filter(status__in=LIVE), "answers": answers_for(sight.person, row)}


TABS: Mapping[str, Part] = {
    "overview": Part("Overview", overview),
    "columns": Part("Columns", columns),
    "checks": Part("Checks", checks),
    "lineage": Part("Lineage", both_ways),
    "readers": Part("Readers", readers),
    "notes": Part("Notes", notes),
    "definition": Part("Definition", definition),
    "review_rule": Part("Review rule", review_rules.part),
}


def _answering(row: Asset) -> list[tuple[str, list[Who]]]:
    """Who answers for it in each role, the first to ask first: the same people as on every list."""
    found = everybody([row.pk]).get(row.pk, {})
    return [(role, found[role]) for role in ROLES if role in found]


def _metrics(row: Asset) -> list[tuple[Metric, sparkline.Sparkline]]:
    drawn = [(metric, sparkline.draw(series(metric))) for metric in row.metrics.all()]
    return [(metric, one) for metric, one in drawn if one is not None]


def _reading(row: Asset, sight: Sight) -> Context:
    related = ("sync", "suggested_by__name_row", "approved_by__principal__name_row", "confirm_source__domain")
    found = Consumer.objects.select_related(*related).filter(asset=row, status__in=LIVE).first()
    if found is None:
        return {"consumer": None}
    return {
        "consumer": found,
        "sync": getattr(found, "sync", None),
        "next_read": next_read(found, now()),
        "answers": answers_for(sight.person, row),
        "changes": may_change(sight.person, row),
    }
