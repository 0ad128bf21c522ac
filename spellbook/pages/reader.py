"""One reader: what counts of it and who says so, the form to declare or change it, the answer to a suggestion."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse

from catalog.declared_readers import standing
from catalog.models import Asset, Consumer, Domain
from catalog.next_reads import last_useful_minute, next_read
from catalog.reader_identity import find, lookup
from catalog.services import readers as service
from catalog.services import suggestions
from catalog.services.access import may_change
from catalog.services.declare import declare
from catalog.sources.declared import parse
from foundation.clock import now
from foundation.errors import BadInput, Conflict, NotFound, SpellbookError
from foundation.models import AuditRow
from spellbook.pages import reader_form
from spellbook.pages.form_words import in_words_of_the_form
from spellbook.pages.frame import AuthenticatedRequest, actor_of, done, page, show
from spellbook.pages.reader_form import ReaderForm
from spellbook.pages.waiting import waiting
from spellbook.pages.withdrawn import withdrawal
from spellbook.sight import Sight


@page("GET")
def new_reader(request: AuthenticatedRequest) -> HttpResponse:
    """The empty form; `reads` names a table that stands in it already."""
    form = ReaderForm()
    form.values["reads"] = request.GET.get("reads", "")[:1000]
    return _form(request, form)


@page("POST")
def create_reader(request: AuthenticatedRequest) -> HttpResponse:
    """Declare a new reader; a name that a reader has already is refused (409)."""
    form = reader_form.posted(request.POST)
    try:
        document = {"consumers": [reader_form.entry(form, reader_form.BLANK)]}
        known = _known(request, document)
        if known is not None and Consumer.objects.filter(asset=known, status__in=("standing", "suggested")).exists():
            raise Conflict(f"There is a reader {known.name} already; change that one.")
        report = declare(document, actor=actor_of(request))
    except SpellbookError as error:
        return _form(request, form, error=error)
    row = _known(request, document)
    return done(request, f"/readers/{row.pk}" if row else "/readers", _said(report.unmatched))


@page("GET")
def reader(request: AuthenticatedRequest, pk: int) -> HttpResponse:
    """One reader: what counts, who says so, the form to change it."""
    asset, consumer = _reader(request, pk)
    return _form(request, reader_form.filled(asset, consumer, Sight(request.user)), asset=asset, consumer=consumer)


@page("POST")
def change_reader(request: AuthenticatedRequest, pk: int) -> HttpResponse:
    """Declare what a person changed in the form; refused (409) when the reader was changed since it was opened."""
    asset, consumer = _reader(request, pk)
    sight = Sight(request.user)
    form, before = reader_form.posted(request.POST), reader_form.filled(asset, consumer, sight)
    form.values["name"] = asset.name
    try:
        if form.seen != before.seen:
            raise Conflict("The reader was changed since you opened this form; look at what it says now.")
        # what an agent suggested, or nobody says any more, is said whole by whoever keeps the form
        known = {} if consumer.status in ("suggested", "withdrawn", "refused") else before.values
        said = reader_form.entry(form, known) | {"asset": asset.name, "namespace": asset.namespace}
        if "reads" in said:
            said["reads"] += reader_form.unseen(asset, consumer, sight)
        if not said.get("confirm") and consumer.confirm_source and not sight.sees(consumer.confirm_source):
            said.pop("confirm", None)
        report = declare({"consumers": [said]}, actor=actor_of(request))
    except SpellbookError as error:
        form.seen = before.seen if error.code == "conflict" else form.seen
        return _form(request, form, asset=asset, consumer=consumer, error=error)
    return done(request, f"/readers/{pk}", _said(report.unmatched))


@page("POST")
def withdraw(request: AuthenticatedRequest, pk: int) -> HttpResponse:
    """What people declared of the reader counts no more."""
    asset, _ = _reader(request, pk)
    reason = request.POST.get("reason", "").strip()
    if not reason:
        raise BadInput("Say why the reader is withdrawn; it stays in the history.")
    service.withdraw(asset, actor=actor_of(request), reason=reason)
    return done(request, "/readers", "Withdrawn: it counts in no blast radius any more.")


@page("POST")
def answer(request: AuthenticatedRequest, slug: str, pk: int) -> HttpResponse:
    """Approve or refuse what an agent suggested, as a person of the domain."""
    row, choice = suggestions.find(slug, pk), request.POST.get("answer", "")
    Sight(request.user).asset(row.asset.pk)
    seen = request.POST.get("seen") or None
    if choice == "approve":
        if seen is None:
            raise BadInput("Nothing says what you read; open the page and answer there.")
        suggestions.approve(row, actor=actor_of(request), seen=seen)
    elif choice == "refuse":
        suggestions.refuse(row, actor=actor_of(request), reason=request.POST.get("reason", ""), seen=seen)
    else:
        raise BadInput("Choose whether it is approved or refused.")
    return done(request, "/readers", "Approved: it counts as yours now." if choice == "approve" else "Refused.")


def _known(request: AuthenticatedRequest, document: dict[str, Any]) -> Asset | None:
    """The asset that the reader of `document` is already, among those that this person may see."""
    mine = Asset.objects.visible_to(request.user)
    return find(parse(document).consumers[0], lookup(), mine)


def _form(
    request: AuthenticatedRequest,
    form: ReaderForm,
    *,
    asset: Asset | None = None,
    consumer: Consumer | None = None,
    error: SpellbookError | None = None,
) -> HttpResponse:
    sight = Sight(request.user)
    context: dict[str, Any] = {
        "form": form,
        "domains": Domain.objects.exclude(pk__in=sight.hidden_domains),
        "error": sight.called(in_words_of_the_form(error, form.values["name"])) if error else "",
    }
    if asset is not None and consumer is not None:
        read = next_read(consumer, now())
        context |= {
            "asset": asset,
            "consumer": consumer,
            "next_read": read,
            "last_minute": last_useful_minute(consumer, read),
            "withdrawal": withdrawal(consumer, sight),
            "reads": _above(asset),
            "lost": [name for one in standing().filter(asset=asset) for name in one.attributes["unmatched"]],
            "declarations": asset.declarations.select_related("source", "author__name_row").order_by("pk"),
            "others": asset.roles.exclude(source="declared").select_related("person__principal__name_row"),
            "may_change": may_change(request.user, asset),
            "suggestion": next((one for one in waiting(sight) if one["row"].asset.pk == asset.pk), None),
            "history": _history(consumer),
        }
    return show(request, "pages/reader.html", context, status=error.status if error else 200)


def _above(asset: Asset) -> list[Asset]:
    fed = Asset.objects.filter(edges_out__to_asset=asset, edges_out__removed_in__isnull=True).distinct()
    return list(fed.select_related("domain").order_by("name"))


def _history(consumer: Consumer) -> list[AuditRow]:
    rows = AuditRow.objects.filter(target_type=consumer._meta.label_lower, target_id=str(consumer.pk))
    return list(rows.select_related("principal__name_row", "detail").order_by("-pk")[:20])


def _reader(request: AuthenticatedRequest, pk: int) -> tuple[Asset, Consumer]:
    asset = Sight(request.user).asset(pk)
    related = ("sync", "confirm_source", "suggested_by__name_row", "approved_by__principal__name_row")
    consumer = Consumer.objects.select_related(*related).filter(asset=asset).first()
    if consumer is None:
        raise NotFound("There is no such reader; this asset is none.")
    return asset, consumer


def _said(unmatched: list[dict[str, str]]) -> str:
    names = ", ".join(one["name"] for one in unmatched)
    return f"Kept. Nobody knows {names} yet; it is joined when an import brings it." if names else "Kept."
