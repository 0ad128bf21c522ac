"""The addresses of the site."""

from __future__ import annotations

from django.contrib import admin
from django.urls import URLPattern, URLResolver, path

from spellbook import health

urlpatterns: list[URLPattern | URLResolver] = [
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("admin/", admin.site.urls),
]
