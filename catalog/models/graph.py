"""The context graph: assets, and the claims that sources make about them, kept as intervals of graph versions (D6)."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from foundation.models import Person
from foundation.people import has_role


class Domain(models.Model):
    """A part of the organisation that owns assets and answers for them."""

    key = models.SlugField(max_length=100, unique=True)
    name = models.CharField(max_length=200)
    restricted = models.BooleanField(default=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")
    on_call = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")

    class Meta:
        ordering = ["key"]

    def __str__(self) -> str:
        return self.name


class Source(models.Model):
    """Somebody who claims that assets and edges exist: one dbt project, the declarations of people."""

    key = models.CharField(max_length=200, unique=True)
    kind = models.CharField(max_length=40)

    def __str__(self) -> str:
        return self.key


class GraphVersion(models.Model):
    """One change of the graph; numbers are taken under the lock of the head row, so they have no gaps and no forks."""

    number = models.PositiveBigIntegerField(primary_key=True)
    at = models.DateTimeField()
    source = models.ForeignKey(Source, models.PROTECT, related_name="versions")
    artifact_sha256 = models.CharField(max_length=64, blank=True)
    added = models.PositiveIntegerField(default=0)
    changed = models.PositiveIntegerField(default=0)
    removed = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["-number"]


class GraphHead(models.Model):
    """The single row whose lock orders the graph's versions."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    version = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(id=1), name="catalog_one_graph_head")]


class AssetQuerySet(models.QuerySet["Asset"]):
    def visible_to(self, person: Person) -> AssetQuerySet:
        """Assets whose names this person may read: those outside restricted domains, or whose domain names a role."""
        scopes = [scope.removeprefix("domain:") for scope in person.roles.values_list("scope", flat=True)]
        open_to_all = Q(domain__isnull=True) | Q(domain__restricted=False)
        return self if has_role(person, "admin") else self.filter(open_to_all | Q(domain__key__in=scopes))

    def present(self) -> AssetQuerySet:
        """Assets that some source claims in the newest graph version."""
        return self.filter(claims__removed_in__isnull=True, claims__isnull=False).distinct()


class Asset(models.Model):
    """A table, report, sync or campaign, named by the OpenLineage naming specification."""

    namespace = models.CharField(max_length=300)
    name = models.CharField(max_length=500)
    kind = models.CharField(max_length=40)
    domain = models.ForeignKey(Domain, models.PROTECT, null=True, blank=True, related_name="assets")
    description = models.TextField(blank=True)

    objects = AssetQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["namespace", "name"], name="catalog_asset_identity")]

    def __str__(self) -> str:
        return self.name


class ColumnList(models.Model):
    """The columns of an asset in their order, as the best of its sources describes them.

    `items` is a list of {name, type, description, nullable (true, false, or null: not known)}. One row an asset, since
    columns are always read together and a project has ten times as many of them as tables.
    """

    asset = models.OneToOneField(Asset, models.CASCADE, primary_key=True, related_name="column_list")
    items = models.JSONField(default=list)


class NamespaceAlias(models.Model):
    """Another name of a namespace: a producer that writes `alias` means the datasets of `namespace`."""

    alias = models.CharField(max_length=300, unique=True)
    namespace = models.CharField(max_length=300)


class NodeClaim(models.Model):
    """A source says that an asset exists, under its own id; `attributes` holds what only that source knows.

    Attributes of a dbt node: materialized, package, path, patch_path, checksum, relation {database, schema,
    identifier}, adapter, dialect, depends_on.
    """

    source = models.ForeignKey(Source, models.PROTECT, related_name="nodes")
    asset = models.ForeignKey(Asset, models.PROTECT, related_name="claims")
    local_id = models.CharField(max_length=500)
    attributes = models.JSONField(default=dict)
    added_in = models.ForeignKey(GraphVersion, models.PROTECT, related_name="+")
    removed_in = models.ForeignKey(GraphVersion, models.PROTECT, null=True, blank=True, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["source", "local_id"], condition=Q(removed_in__isnull=True), name="catalog_one_open_node"
            ),
            models.CheckConstraint(
                condition=Q(removed_in__isnull=True) | Q(removed_in__gt=F("added_in")), name="catalog_node_interval"
            ),
        ]


class EdgeClaim(models.Model):
    """A source says that `from_asset` feeds `to_asset`; the edge exists while any source claims it."""

    source = models.ForeignKey(Source, models.PROTECT, related_name="edges")
    from_asset = models.ForeignKey(Asset, models.PROTECT, related_name="edges_out")
    to_asset = models.ForeignKey(Asset, models.PROTECT, related_name="edges_in")
    kind = models.CharField(max_length=40, default="feeds")
    added_in = models.ForeignKey(GraphVersion, models.PROTECT, related_name="+")
    removed_in = models.ForeignKey(GraphVersion, models.PROTECT, null=True, blank=True, related_name="+")

    class Meta:
        indexes = [models.Index(fields=["from_asset", "removed_in"]), models.Index(fields=["to_asset", "removed_in"])]
        constraints = [
            models.UniqueConstraint(
                fields=["source", "from_asset", "to_asset", "kind"],
                condition=Q(removed_in__isnull=True),
                name="catalog_one_open_edge",
            ),
            models.CheckConstraint(
                condition=Q(removed_in__isnull=True) | Q(removed_in__gt=F("added_in")), name="catalog_edge_interval"
            ),
        ]


class StagedNode(models.Model):
    """A node claim written ahead of the version that will hold it; copied by one statement when the version is made."""

    batch = models.UUIDField(db_index=True)
    source = models.ForeignKey(Source, models.CASCADE, related_name="+", db_constraint=False)
    asset = models.ForeignKey(Asset, models.CASCADE, related_name="+", db_constraint=False)
    local_id = models.CharField(max_length=500)
    attributes = models.JSONField(default=dict)


class StagedEdge(models.Model):
    """As `StagedNode`, for an edge."""

    batch = models.UUIDField(db_index=True)
    source = models.ForeignKey(Source, models.CASCADE, related_name="+", db_constraint=False)
    from_asset = models.ForeignKey(Asset, models.CASCADE, related_name="+", db_constraint=False)
    to_asset = models.ForeignKey(Asset, models.CASCADE, related_name="+", db_constraint=False)
    kind = models.CharField(max_length=40, default="feeds")
