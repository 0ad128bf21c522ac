"""The few tags and filters of the templates: states, times, numbers, names and foreign text, each said in one way."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final

from django import template
from django.templatetags.static import static
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from catalog.models import Asset
from foundation import audit
from foundation.models import AuditRow, Person, Principal
from foundation.people import display_name
from foundation.unseen import visible
from incidents.services.record import plain
from spellbook.pages.words import said as said_of

register = template.Library()
LONG: Final = 24
"""Characters from which on a name may break in a cell."""
BREAK: Final = SafeString("<wbr>")


@register.simple_tag
def icon(name: str) -> SafeString:
    """A drawing of the sprite; the word beside it says the same, so it is hidden from screen readers."""
    return format_html(
        '<svg class="icon" aria-hidden="true" width="16" height="16"><use href="{}#{}"/></svg>',
        static("icons.svg"),
        name,
    )


@register.simple_tag
def chip(kind: str, state: object) -> SafeString:
    """A state as icon, word and colour."""
    found = said_of(kind, state)
    return format_html('<span class="chip {}">{}{}</span>', found.tone, icon(found.icon), found.word)


@register.simple_tag(takes_context=True)
def asset(context: dict[str, Any], row: Asset) -> SafeString | str:
    """The name of an asset as a link to its page; for eyes that may not read it, its kind alone."""
    sight = context["sight"]
    if not sight.sees(row):
        return str(sight.name(row))
    return format_html('<a href="/assets/{}">{}</a>', row.pk, breaking(sight.called(row.name)))


@register.simple_tag(takes_context=True)
def called(context: dict[str, Any], text: object) -> str:
    """A name or a sentence with readers as people call them instead of dbt's ids."""
    return visible(context["sight"].called(str(text)))


@register.simple_tag(takes_context=True)
def called_in_cell(context: dict[str, Any], text: object) -> SafeString | str:
    """As `called`, for a cell of a table: a long name may break."""
    return breaking(context["sight"].called(str(text)))


@register.filter
def breaking(text: object) -> SafeString | str:
    """A name that a narrow column may break behind a point or underscore, when it is long."""
    plain = visible(text)
    if len(plain) <= LONG:
        return plain
    parts = re.split(r"(?<=[._])(?=.)", plain)
    return format_html_join(BREAK, "{}", ((part,) for part in parts))


@register.simple_tag(takes_context=True)
def id_beneath(context: dict[str, Any], name: str) -> SafeString | str:
    """dbt's id on a line of its own, where `called` says something else for it; else nothing."""
    if context["sight"].called(name) == name:
        return ""
    return format_html('<span class="id code quiet">{}</span>', breaking(name))


@register.filter
def when(moment: datetime | str | None) -> SafeString | str:
    """A moment in UTC, to the minute; the exact one stands in the element."""
    found = _moment(moment)
    if found is None:
        return "not known"
    exact = f"{found:%Y-%m-%dT%H:%M:%SZ}"
    return format_html('<time datetime="{}" title="{}">{}</time>', exact, exact, f"{found:%-d %b %H:%M} UTC")


@register.filter
def clock(moment: datetime | str | None) -> SafeString | str:
    """The time of day in UTC."""
    found = _moment(moment)
    if found is None:
        return "not known"
    return format_html('<time datetime="{}">{}</time>', f"{found:%Y-%m-%dT%H:%M:%SZ}", f"{found:%H:%M} UTC")


@register.filter
def away(moment: datetime | str | None) -> str:
    """How far away a moment is, as in "in 28 min" or "3 h ago", on one line; empty when it is not known."""
    found = _moment(moment)
    if found is None:
        return ""
    seconds = int((found - timezone.now()).total_seconds())
    said = f"in {_span(seconds)}" if seconds >= 0 else f"{_span(-seconds)} ago"
    return said.replace(" ", "\u00a0")


@register.filter
def span(seconds: int) -> str:
    """A length of time, as in "12 h", on one line."""
    return _span(seconds).replace(" ", "\u00a0")


@register.filter
def is_past(moment: datetime | str | None) -> bool:
    """Whether a moment is known and over."""
    found = _moment(moment)
    return found is not None and found < timezone.now()


@register.filter
def count(number: object) -> str:
    """A number with thousands set apart; "unknown" when there is none."""
    if number is None or number == "":
        return "unknown"
    if isinstance(number, Decimal):
        whole, _, rest = plain(number).partition(".")
        return f"{int(whole):,}" + (f".{rest}" if rest else "")
    try:
        return f"{int(str(number)):,}"
    except ValueError:
        return str(number)


@register.filter
def name(who: Person | Principal | None) -> str:
    """Who it is, as people know them."""
    if who is None:
        return "nobody"
    return visible(display_name(who.principal if isinstance(who, Person) else who))


@register.filter
def sentence(row: AuditRow) -> str:
    """What an audit row tells."""
    return visible(audit.sentence(row))


@register.filter
def foreign(text: object) -> str:
    """Text that Spellbook did not write: unseen characters are written out; the template escapes the rest."""
    return visible("" if text is None else text)


@register.filter
def joined(texts: Iterable[object], between: str) -> str:
    """Texts as one, for `foreign` to follow. Django's own `join` escapes them, and the template would do so again."""
    return between.join(map(str, texts))


@register.filter
def at(table: dict[str, Any], key: str) -> Any:
    """What stands under `key`; empty when nothing does."""
    return table.get(key, "")


@register.filter
def is_seen(row: Asset, sight: Any) -> bool:
    """Whether these eyes may read the asset's name."""
    return bool(sight.sees(row))


@register.filter
def words(code: object) -> str:
    """A stable code as words: "repaired_outside" is "repaired outside"."""
    return str(code).replace("_", " ")


def _moment(moment: datetime | str | None) -> datetime | None:
    if not moment:
        return None
    found = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
    return found.astimezone(UTC)


def _span(seconds: int) -> str:
    if seconds < 60:
        return f"{seconds} s"
    if seconds < 3600:
        return f"{seconds // 60} min"
    if seconds < 86400:
        hours, minutes = divmod(seconds // 60, 60)
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    return f"{seconds // 86400} days"
