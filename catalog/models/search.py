"""The search index: what can be found of an asset, ready to be looked up, and the words that help against typos.

Everything here is made from other tables by `catalog.services.search_index` and can be made again. The full-text part
stands beside `SearchEntry` in the form of the engine (migration 0005): FTS5 on SQLite, two vectors on PostgreSQL.
"""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from catalog.models.graph import Asset


class SearchEntry(models.Model):
    """The words of one asset that is in the graph, folded; `tail` is the last part of its dotted name.

    The three lists hold words between blanks: of the name, of the columns, and of everything else. People and domains
    stand there as marks such as `@o17`, never by name, so that nothing here has to be erased with a person.
    """

    asset = models.OneToOneField(Asset, models.CASCADE, primary_key=True, related_name="search_entry")
    name = models.CharField(max_length=500)
    tail = models.CharField(max_length=500)
    name_words = models.TextField(blank=True)
    column_words = models.TextField(blank=True)
    other_words = models.TextField(blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["tail", "asset"], name="catalog_search_tail"),
            models.Index(fields=["name", "asset"], name="catalog_search_name"),
        ]


class SearchDue(models.Model):
    """An asset whose entry may be behind; found by its plain name and description until the sweep has read it."""

    asset = models.OneToOneField(Asset, models.CASCADE, primary_key=True, related_name="+")


class SearchState(models.Model):
    """The single row that tells up to which graph version changes were marked due, and where the checking round is."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    version = models.PositiveBigIntegerField(default=0)
    checked = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(id=1), name="catalog_one_search_state")]


class SearchWord(models.Model):
    """A word of a name or column that a typo may have meant; one that is gone does no harm."""

    word = models.CharField(max_length=40, unique=True)


class SearchTrigram(models.Model):
    """Three letters in a row of a word, with the word's length, so that near words are found by what they share."""

    gram = models.CharField(max_length=3)
    size = models.PositiveIntegerField()
    word = models.ForeignKey(SearchWord, models.CASCADE, related_name="grams", db_index=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["gram", "size", "word"], name="catalog_one_trigram")]
