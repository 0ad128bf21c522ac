"""What people say of one asset: what it means, a note, who answers for it."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse

from catalog.damage_order import LIVE
from catalog.models import Asset, Domain
from catalog.names import full_name
from catalog.review_rows import rule_of
from catalog.selectors import definition_of, definitions_of
from catalog.services import definitions, notes
from catalog.services.access import answers_for, domains_of, may_change, speaks_for
from catalog.services.declare import declare
from catalog.words import ROLES
from foundation.errors import BadInput
from spellbook.pages.form_words import LABELS, in_words_of_the_form
from spellbook.pages.frame import AuthenticatedRequest, actor_of, done, page, show
from spellbook.pages.reader_form import LONGEST, ROLE_WORDS, people, roles_text
from spellbook.sight import Sight


@page("GET")
def forms(request: AuthenticatedRequest, pk: int) -> HttpResponse:
    """The forms of one asset, with what stands now."""
    sight = Sight(request.user)
    asset = sight.asset(pk)
    named = roles_text(asset)
    context = {
        "asset": asset,
        "full_name": full_name(asset),
        "current": definition_of(asset),
        "definitions": definitions_of(asset)[:10],
        "notes": asset.notes.filter(status__in=LIVE).select_related("author__name_row"),
        "roles": [(role, ROLE_WORDS[role], named[role]) for role in ROLES],
        "domains": Domain.objects.exclude(pk__in=sight.hidden_domains),
        "answering": domains_of(asset),
        "answers": answers_for(request.user, asset),
        "may_change": may_change(request.user, asset),
        "review_rule": rule_of(asset.pk),
        "speaks": speaks_for(request.user, asset),
    }
    return show(request, "pages/declare.html", context)


@page("POST")
def define(request: AuthenticatedRequest, pk: int) -> HttpResponse:
    """A new definition; of a person of another domain it is a suggestion."""
    row = definitions.define(Sight(request.user).asset(pk), request.POST.get("text", ""), actor=actor_of(request))
    if row is None:
        return done(request, f"/assets/{pk}/declare", "Nothing new: this definition is known.")
    said = "The definition stands." if row.status == "standing" else "Suggested: a person of the domain has to agree."
    return done(request, f"/assets/{pk}/declare", said)


@page("POST")
def note(request: AuthenticatedRequest, pk: int) -> HttpResponse:
    """A note."""
    row = notes.write(Sight(request.user).asset(pk), request.POST.get("text", ""), actor=actor_of(request))
    return done(request, f"/assets/{pk}/declare", "The note is kept." if row else "Nothing new: the note stands.")


@page("POST")
def people_of(request: AuthenticatedRequest, pk: int) -> HttpResponse:
    """Domain and people; only what differs from what stands is declared."""
    asset = Sight(request.user).asset(pk)
    said = _changes(request, asset)
    if not said:
        return done(request, f"/assets/{pk}/declare", "Nothing was changed.")
    name = full_name(asset)
    try:
        declare({"assets": [{"asset": name, **said}]}, actor=actor_of(request))
    except BadInput as error:
        raise BadInput(in_words_of_the_form(error, name)) from None
    return done(request, f"/assets/{pk}/declare", "Kept.")


def _changes(request: AuthenticatedRequest, asset: Asset) -> dict[str, Any]:
    now = roles_text(asset)
    said: dict[str, Any] = {}
    for role in ROLES:
        text = request.POST.get(role, "").strip()
        if len(text) > LONGEST:
            raise BadInput(f"{LABELS[role]}: it has more than {LONGEST} characters.")
        if role in request.POST and text != now[role]:
            said[role] = people(role, text)
    domain = request.POST.get("domain", "").strip()
    if "domain" in request.POST and domain != (asset.domain.key if asset.domain else ""):
        said["domain"] = domain
    return said
