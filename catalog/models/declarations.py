"""What each source says of an asset, kept apart from what the others say, so that any of them can be taken back."""

from __future__ import annotations

from django.db import models

from catalog.models.graph import Asset, Source
from foundation.models import Principal


class Declaration(models.Model):
    """What one source (people, a file of a repository, dbt's meta, an agent) says of one asset.

    `said` holds the keys that it names and no others; the catalogue's rows (consumer, sync, domain) are what all
    sources together say: people before files before dbt before agents. People are named in `AssetRole`, never here.
    """

    source = models.ForeignKey(Source, models.PROTECT, related_name="declarations")
    asset = models.ForeignKey(Asset, models.CASCADE, related_name="declarations")
    said = models.JSONField(default=dict)
    author = models.ForeignKey(Principal, models.PROTECT, related_name="+")
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["source", "asset"], name="catalog_one_declaration")]
