"""The form of one reader: what stands in it, and what a person changed in it, in the words of a declaration."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from django.http import QueryDict

from catalog.declared_readers import standing
from catalog.models import Asset, AssetRole, Consumer
from catalog.names import find_each, full_name
from catalog.words import MODES, ROLES
from foundation import canonical
from foundation.errors import BadInput
from spellbook.pages.form_words import LABELS
from spellbook.pages.withdrawn import withdrawal
from spellbook.sight import Sight

FIELDS: Final = (
    "name", "kind", "tool", "mode", "delete_rule", "reads", "when", "cron", "zone", "lead_minutes", "consequence",
    "contact", "metric", "source", "domain", *ROLES,
)  # fmt: skip
KINDS: Final = (
    "sync", "dashboard", "report", "campaign", "cohort", "notebook", "ml_model", "feature_view", "stream",
)  # fmt: skip
WHEN: Final = {"": "nobody knows", "cron": "at these times", "api": "when it is triggered by API"}
ROLE_WORDS: Final = {
    "owner": "Owner", "operator": "Operator: can turn it off", "business_owner": "Business owner: is told",
    "on_call": "On call: a person, or a schedule", "tool_admin": "Tool admin: gets billing notes",
}  # fmt: skip
LONGEST: Final = 4000
BLANK: Final = dict.fromkeys(FIELDS, "")


@dataclass
class ReaderForm:
    """The values of the form as text, and what `seen` stands for: the digest of what it was filled with."""

    values: dict[str, str] = field(default_factory=lambda: dict.fromkeys(FIELDS, "") | {"zone": "UTC"})
    seen: str = ""

    @property
    def roles(self) -> list[tuple[str, str, str]]:
        """Name, words and value of each role's field."""
        return [(role, ROLE_WORDS[role], self.values[role]) for role in ROLES]

    @property
    def modes(self) -> tuple[str, ...]:
        """What a sync may do."""
        return MODES

    @property
    def kinds(self) -> tuple[str, ...]:
        """What a reader may be; others may be typed."""
        return KINDS

    @property
    def whens(self) -> list[tuple[str, str]]:
        """How a reader's times may be known."""
        return list(WHEN.items())


def filled(asset: Asset, consumer: Consumer, sight: Sight) -> ReaderForm:
    """The form with what counts of a reader now; people are those whom people named, tables those that are seen."""
    hidden, source = unseen(asset, consumer, sight), consumer.confirm_source
    sync, times = getattr(consumer, "sync", None), "api" if consumer.triggered_by_api else "cron"
    form = ReaderForm()
    form.values |= {
        "name": asset.name,
        "kind": asset.kind,
        "tool": sync.tool if sync else "",
        "mode": sync.mode if sync else "",
        "delete_rule": sync.delete_rule if sync else "",
        "reads": "\n".join(name for name in _reads(asset) if name not in hidden),
        "when": times if consumer.cron or consumer.triggered_by_api else "",
        "cron": consumer.cron,
        "zone": consumer.zone,
        "lead_minutes": _minutes(consumer.lead_seconds),
        "consequence": consumer.consequence,
        "contact": consumer.contact,
        "metric": consumer.confirm_metric,
        "source": full_name(source) if source and sight.sees(source) else "",
        "domain": asset.domain.key if asset.domain else "",
        **_people(asset),
    }
    ended = withdrawal(consumer, sight)
    if ended is not None:
        form.values |= _stood(ended.said, hidden, sight)
    form.seen = canonical.digest(form.values)
    return form


def _stood(said: Mapping[str, Any], hidden: Collection[str], sight: Sight) -> dict[str, str]:
    """What was declared of a reader before it was withdrawn; its people are not kept with it."""
    times, confirm = said.get("schedule") or {}, said.get("confirm") or {}
    source = Asset.objects.filter(pk=confirm.get("source_id") or 0).first()
    plain = ("tool", "mode", "delete_rule", "consequence", "contact", "domain")
    return {
        **{name: str(said.get(name) or "") for name in plain},
        "reads": "\n".join(name for name in said.get("reads", ()) if name not in hidden),
        "when": "api" if times.get("triggered_by_api") else "cron" if times.get("cron") else "",
        "cron": times.get("cron") or "",
        "zone": times.get("zone") or "UTC",
        "lead_minutes": _minutes(said.get("lead_seconds", 60)),
        "metric": confirm.get("metric", ""),
        "source": full_name(source) if source and sight.sees(source) else "",
    }


def unseen(asset: Asset, consumer: Consumer, sight: Sight) -> list[str]:
    """What the reader reads in domains that these eyes do not see: no form shows it, and none takes it away."""
    if not sight.hidden_domains:
        return []
    ended = withdrawal(consumer, sight)
    found = find_each(_reads(asset) if ended is None else ended.said.get("reads", []))
    return [name for name, one in found.items() if isinstance(one, Asset) and not sight.sees(one)]


def posted(data: QueryDict) -> ReaderForm:
    """The form as it was sent."""
    texts = {name: data.get(name, "").strip() for name in FIELDS}
    return ReaderForm(texts, data.get("seen", ""))


def entry(form: ReaderForm, before: Mapping[str, str]) -> dict[str, Any]:
    """What the form says as an item of `consumers`: the fields that differ from `before`; all of them, if it is empty.

    `BLANK` is what a new reader's form differs from. BadInput for a field that is too long.
    """
    _refuse_long(form.values)
    differs = {name for name in FIELDS if form.values[name] != before.get(name)}
    said: dict[str, Any] = {"asset": form.values["name"]}
    for name in ("kind", "tool", "delete_rule", "consequence", "contact", "domain"):
        if name in differs:
            said[name] = form.values[name]
    if "mode" in differs:
        said["mode"] = form.values["mode"] or "unknown"
    if "reads" in differs:
        said["reads"] = [line.strip() for line in form.values["reads"].splitlines() if line.strip()]
    if differs & {"when", "cron", "zone"}:
        said["schedule"] = _schedule(form.values)
    if "lead_minutes" in differs:
        said["lead_seconds"] = _seconds(form.values["lead_minutes"])
    if differs & {"metric", "source"}:
        both = {"metric": form.values["metric"], "source": form.values["source"]}
        said["confirm"] = both if any(both.values()) else {}
    said |= {role: people(role, form.values[role]) for role in ROLES if role in differs}
    if said.get("kind") == "sync" and "tool" not in said:
        said["tool"] = form.values["tool"]
    return said


def _refuse_long(values: Mapping[str, str]) -> None:
    for name in FIELDS:
        if len(values[name]) > LONGEST:
            raise BadInput(f"{LABELS[name]}: it has more than {LONGEST} characters.")


def people(role: str, text: str) -> list[Any]:
    """Who is named in a field, one between commas: an e-mail, else the name of a schedule or a team."""
    label = "schedule" if role == "on_call" else "team"
    parts = [part.strip() for part in text.replace("\n", ",").split(",") if part.strip()]
    return [part if "@" in part else {label: part} for part in parts]


def roles_text(asset: Asset) -> dict[str, str]:
    """Whom people named for an asset, as the fields of a form show it."""
    return _people(asset)


def _schedule(values: Mapping[str, str]) -> dict[str, Any]:
    if values["when"] == "cron":
        if not values["cron"]:
            raise BadInput("Give the times as a cron line of five fields, such as 0 9 * * 1.")
        return {"cron": values["cron"], "zone": values["zone"] or "UTC"}
    return {"triggered_by_api": True} if values["when"] == "api" else {}


def _reads(asset: Asset) -> list[str]:
    """The tables as they were declared, by whichever source; what dbt alone tells is no field of the form."""
    written = [name for one in standing().filter(asset=asset) for name in one.attributes["reads"]]
    return list(dict.fromkeys(written))


def _people(asset: Asset) -> dict[str, str]:
    found: dict[str, list[str]] = {role: [] for role in ROLES}
    rows = AssetRole.objects.filter(asset=asset, source="declared").select_related("person").order_by("pk")
    for row in rows:
        found[row.role].append(row.person.email if row.person else row.label)
    return {role: ", ".join(names) for role, names in found.items()}


def _minutes(seconds: int) -> str:
    return str(seconds // 60) if seconds % 60 == 0 else f"{seconds / 60:.2f}".rstrip("0")


def _seconds(text: str) -> int:
    try:
        minutes = float(text or "1")
    except ValueError:
        minutes = -1.0
    if not 0 <= minutes <= 31 * 1440:
        raise BadInput("The minutes before the read are a number from 0 to a month.")
    return round(minutes * 60)
