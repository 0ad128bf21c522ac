"""The addresses of the pages."""

from __future__ import annotations

from django.urls import path

from spellbook.pages import (
    asset,
    blast_radius,
    catalog,
    domains,
    holds,
    home,
    incidents,
    me,
    plans,
    receipts,
    requests,
    sign_in,
    stop,
)

urlpatterns = [
    path("sign-in", sign_in.sign_in, name="sign-in"),
    path("sign-out", sign_in.sign_out, name="sign-out"),
    path("", home.home, name="home"),
    path("me", me.me, name="me"),
    path("catalog", catalog.catalog, name="catalog"),
    path("assets/<int:pk>", asset.asset, name="asset"),
    path("assets/<int:pk>/blast-radius", blast_radius.blast_radius, name="blast-radius"),
    path("incidents", incidents.incidents, name="incidents"),
    path("incidents/<int:number>", incidents.incident, name="incident"),
    path("incidents/<int:number>/live", incidents.live, name="incident-live"),
    path("incidents/<int:number>/acknowledge", incidents.acknowledge, name="acknowledge"),
    path("incidents/<int:number>/close", incidents.close, name="close"),
    path("holds/<int:pk>", holds.answer, name="hold"),
    path("requests/<uuid:pk>", requests.request, name="request"),
    path("requests/<uuid:pk>/decision", requests.decision, name="decision"),
    path("plans/<uuid:pk>", plans.plan, name="plan"),
    path("plans/<uuid:pk>/patch", plans.patch, name="patch"),
    path("plans/<uuid:pk>/undo", plans.undo, name="undo"),
    path("plans/<uuid:pk>/steps/<int:position>/merged", plans.merged, name="merged"),
    path("receipts", receipts.receipts, name="receipts"),
    path("receipts/<uuid:pk>", receipts.receipt, name="receipt"),
    path("receipts/<uuid:pk>/bundle", receipts.bundle, name="bundle"),
    path("ledger/keys", receipts.keys, name="keys"),
    path("domains", domains.domains, name="domains"),
    path("domains/<slug:slug>", domains.domain, name="domain"),
    path("domains/<slug:slug>/raise", domains.propose, name="raise"),
    path("domains/<slug:slug>/second", domains.second, name="second"),
    path("domains/<slug:slug>/lower", domains.lower, name="lower"),
    path("stop", stop.set_stop, name="stop"),
    path("stop/lift", stop.lift_stop, name="lift"),
]
