"""The search index: entries, what is due, words against typos, and the engine's own full text beside them."""

from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models

# FTS5 (https://www.sqlite.org/fts5.html) keeps the words for itself: were it to read them from the entries, a word taken
# out that was never put in would break it. The words come folded and cut, so the simplest tokenizer is the right one;
# `@` begins the marks of people and domains.
# `integer` makes the asset's id the number of the row itself, which saves a step for each row that is found.
SQLITE = [
    "DROP TABLE catalog_searchentry",
    """CREATE TABLE catalog_searchentry (
        asset_id integer NOT NULL PRIMARY KEY REFERENCES catalog_asset (id) DEFERRABLE INITIALLY DEFERRED,
        name varchar(500) NOT NULL, tail varchar(500) NOT NULL,
        name_words text NOT NULL, column_words text NOT NULL, other_words text NOT NULL)""",
    """CREATE VIRTUAL TABLE catalog_searchtext USING fts5(
        name_words, column_words, other_words, tokenize="ascii tokenchars '@'", detail=column)""",
]
# The vectors are made from the words as they stand: no parser, no dictionary, the same words as on SQLite. Names
# compare by code point, as on SQLite, so that the start of a name is a range of the index.
POSTGRES = [
    'ALTER TABLE catalog_searchentry ALTER COLUMN name TYPE varchar(500) COLLATE "C"',
    'ALTER TABLE catalog_searchentry ALTER COLUMN tail TYPE varchar(500) COLLATE "C"',
    """ALTER TABLE catalog_searchentry ADD COLUMN name_vector tsvector GENERATED ALWAYS AS
        (array_to_tsvector(array_remove(string_to_array(name_words, ' '), ''))) STORED""",
    """ALTER TABLE catalog_searchentry ADD COLUMN all_vector tsvector GENERATED ALWAYS AS
        (array_to_tsvector(array_remove(string_to_array(
            name_words || ' ' || column_words || ' ' || other_words, ' '), ''))) STORED""",
    "CREATE INDEX catalog_search_names ON catalog_searchentry USING gin (name_vector)",
    "CREATE INDEX catalog_search_all ON catalog_searchentry USING gin (all_vector)",
]


def make(apps, schema_editor):
    vendor = schema_editor.connection.vendor
    for statement in SQLITE if vendor == "sqlite" else POSTGRES:
        schema_editor.execute(statement)


def unmake(apps, schema_editor):
    if schema_editor.connection.vendor == "sqlite":
        schema_editor.execute("DROP TABLE catalog_searchtext")


class Migration(migrations.Migration):
    dependencies = [("catalog", "0004_drop_columns")]

    operations = [
        migrations.CreateModel(
            name="SearchEntry",
            fields=[
                (
                    "asset",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="search_entry",
                        serialize=False,
                        to="catalog.asset",
                    ),
                ),
                ("name", models.CharField(max_length=500)),
                ("tail", models.CharField(max_length=500)),
                ("name_words", models.TextField(blank=True)),
                ("column_words", models.TextField(blank=True)),
                ("other_words", models.TextField(blank=True)),
            ],
        ),
        migrations.RunPython(make, unmake),
        migrations.AddIndex(
            model_name="searchentry", index=models.Index(fields=["tail", "asset"], name="catalog_search_tail")
        ),
        migrations.AddIndex(
            model_name="searchentry", index=models.Index(fields=["name", "asset"], name="catalog_search_name")
        ),
        migrations.CreateModel(
            name="SearchDue",
            fields=[
                (
                    "asset",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to="catalog.asset",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="SearchState",
            fields=[
                ("id", models.PositiveSmallIntegerField(default=1, primary_key=True, serialize=False)),
                ("version", models.PositiveBigIntegerField(default=0)),
                ("checked", models.PositiveBigIntegerField(default=0)),
            ],
            options={
                "constraints": [models.CheckConstraint(condition=models.Q(("id", 1)), name="catalog_one_search_state")],
            },
        ),
        migrations.CreateModel(
            name="SearchWord",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("word", models.CharField(max_length=40, unique=True)),
            ],
        ),
        migrations.CreateModel(
            name="SearchTrigram",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("gram", models.CharField(max_length=3)),
                ("size", models.PositiveIntegerField()),
                (
                    "word",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="grams",
                        to="catalog.searchword",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("gram", "size", "word"), name="catalog_one_trigram"),
                ],
            },
        ),
    ]
