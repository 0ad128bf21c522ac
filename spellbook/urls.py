"""The addresses of the site."""

from __future__ import annotations

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path

from spellbook import health, hooks
from spellbook.api import api

urlpatterns: list[URLPattern | URLResolver] = [
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("hooks/github/<str:name>", hooks.github, name="github-hook"),
    path("api/v1/", api.urls),
    path("admin/", admin.site.urls),
    path("", include("spellbook.pages.urls")),
]
handler403 = "spellbook.pages.errors.forbidden"
handler404 = "spellbook.pages.errors.not_found"
handler500 = "spellbook.pages.errors.broken"
