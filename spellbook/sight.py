"""What one person may read: names in restricted domains are hidden, counts, kinds and times never are (D1)."""

from __future__ import annotations

from functools import cached_property
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Concat

from approvals.models import Plan, Receipt, Request
from catalog.graph.lineage_rows import name_of
from catalog.models import Asset, Domain
from catalog.shown_names import EXPOSURE, exposure_names, named_in
from foundation.errors import NotFound
from foundation.models import Person, Role
from incidents.models import Incident


class Sight:
    """The eyes of one person; every name of an asset on a page goes through here."""

    def __init__(self, person: Person) -> None:
        self.person = person

    @cached_property
    def hidden_domains(self) -> frozenset[int]:
        """Ids of the restricted domains whose assets this person may not read the names of (as `visible_to` has it)."""
        named = Q(scope=Concat(Value("domain:"), OuterRef("key")))
        admin = Q(name="admin", scope="") if self.person.is_active else Q(pk__isnull=True)
        mine = Role.objects.filter(named | admin, person=self.person)
        hidden = Domain.objects.filter(~Exists(mine), restricted=True)
        return frozenset(hidden.values_list("pk", flat=True))

    def sees(self, asset: Asset) -> bool:
        """Whether the name of `asset` may be shown."""
        return asset.domain_id not in self.hidden_domains

    def name(self, asset: Asset) -> str:
        """The name of `asset`, or its kind with the word that the name is restricted."""
        return name_of(asset, self.hidden_domains)

    @cached_property
    def exposures(self) -> dict[str, str]:
        """What people call the readers that have dbt's id for a name; read once, when one is shown."""
        return exposure_names(self.hidden_domains)

    def called(self, text: str) -> str:
        """`text`, a name or a sentence, with readers as people call them instead of dbt's ids."""
        return named_in(text, self.exposures) if EXPOSURE in text else text

    def asset(self, pk: int) -> Asset:
        """One asset whose page this person may open. NotFound otherwise."""
        found = Asset.objects.visible_to(self.person).select_related("domain__owner__principal").filter(pk=pk).first()
        if found is None:
            raise NotFound("There is no such table, or it is not for your eyes.")
        return found

    def incidents(self) -> QuerySet[Incident]:
        """Incidents of tables that this person may read, and those in which they are asked for something."""
        asked = Q(holds__operator=self.person) | Q(plans__steps__person=self.person)
        deciding = Request.objects.filter(self._named()).values("plan__incident_id")
        visible = Q(asset__in=Asset.objects.visible_to(self.person))
        rows = Incident.objects.filter(visible | asked | Q(pk__in=deciding)).distinct()
        return rows.select_related("asset__domain", "domain", "first_bad_build", "last_good_build")

    def incident(self, number: int) -> Incident:
        """One incident. NotFound when there is none with this number, or not for this person."""
        found = self.incidents().filter(number=number).first()
        if found is None:
            raise NotFound(f"There is no incident {number}, or it is not for your eyes.")
        return found

    def plan(self, pk: UUID) -> Plan:
        """One plan whose incident this person may read. NotFound otherwise."""
        related = ("incident__asset__domain", "author__name_row", "undoes")
        plan = Plan.objects.select_related(*related).filter(pk=pk).first()
        if plan is None or not self.reads_plan(plan):
            raise NotFound("There is no such plan, or it is not for your eyes.")
        return plan

    def reads_plan(self, plan: Plan) -> bool:
        """Whether the plan's incident (for an undo: that of what it undoes) is one that this person may read."""
        while plan.incident_id is None and plan.undoes is not None:
            plan = plan.undoes
        return plan.incident_id is None or self.incidents().filter(pk=plan.incident_id).exists()

    def request(self, pk: UUID) -> Request:
        """One request for approval. NotFound when there is none, or not for this person."""
        related = ("plan__incident__asset__domain", "plan__author__name_row", "domain", "plan__undoes")
        found = Request.objects.select_related(*related).filter(pk=pk).first()
        if found is None or not self.reads_plan(found.plan):
            raise NotFound("There is no such request, or it is not for your eyes.")
        return found

    def receipt(self, pk: UUID) -> Receipt:
        """One receipt of something that this person may read. NotFound otherwise."""
        found = Receipt.objects.select_related("leaf").filter(pk=pk).first()
        if found is None or not self.reads_receipt(found):
            raise NotFound("There is no such receipt, or it is not for your eyes.")
        return found

    def reads_receipt(self, receipt: Receipt) -> bool:
        """Whether this person may read what the receipt tells of."""
        if not self.hidden_domains:
            return True
        kind, _, rest = receipt.subject.partition("/")
        key = rest.partition("/")[0]
        if kind == "incident":
            return self.incidents().filter(pk=key).exists()
        if kind in ("plan", "step"):
            plan = Plan.objects.filter(pk=key).first()
            return plan is None or self.reads_plan(plan)
        return True

    def _named(self) -> Q:
        named = Q(domain__policy__approver=self.person) | Q(domain__policy__fallback=self.person)
        return named | Q(turns__person=self.person)
