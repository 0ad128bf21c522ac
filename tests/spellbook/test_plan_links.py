"""A pull request that carries a plan's change says which plan, who approved it, and whether its hunks are the same."""

from __future__ import annotations

import json

import pytest

from approvals.models import Outcome, Plan
from approvals.services.ask import ask
from approvals.services.drafting import seal_body
from catalog.code_hosts.local_git import unified_diff
from catalog.models import PullRequest, Review
from catalog.review import types
from catalog.review.comment.markdown import render
from catalog.review.moments import written
from foundation import connections
from foundation.clock import now
from foundation.models import Connection
from foundation.people import create_person
from spellbook import plan_links
from spellbook.plan_links import PlanLink
from spellbook.sight import Sight
from tests.approvals import builders
from tests.approvals.builders import House, conductor, house
from tests.github.double import Double
from tests.github.fixtures import HOOK, TOKEN, github, judge, open_github  # noqa: F401

pytestmark = [pytest.mark.django_db, pytest.mark.real, pytest.mark.both]
MODEL, OTHER, YAML, NEW_FILE = "models/m.sql", "models/other.sql", "models/schema.yml", "models/new.sql"
OLD = "".join(f"select {number} as c{number}\n" for number in range(30))
FIXED = OLD.replace("select 3 as", "select 33 as").replace("select 25 as", "select 2500 as")
COLUMNS = "columns:\n  - name: a\n    tests:\n      - not_null\n  - name: b\n    tests:\n      - unique\n"
MORE_COLUMNS = COLUMNS.replace("  - name: b", "  - name: c\n    tests:\n      - not_null\n  - name: b")
START = {MODEL: OLD, OTHER: "select 2\n", YAML: COLUMNS}


class Scene:
    """A repository at a GitHub of tests with a clone here, and a plan whose change lies in it."""

    def __init__(self, double: Double) -> None:
        self.world = double.world
        self.base = self.world.commit("main", dict(START))
        self.house: House = house()
        params = {"repository": self.world.full_name, "api": double.api}
        self.hub = self._connect("code", "github", params, [TOKEN, HOOK])
        self._connect("clone", "git", {"path": str(self.world.git.path), "branch": "main", **self._repository()}, [])

    def _repository(self) -> dict[str, str]:
        return {"repository": self.world.full_name.upper()}  # GitHub's names have no case

    def _connect(self, name: str, kind: str, params: dict[str, str], secret_names: list[str]) -> Connection:
        return connections.save(
            name, kind=kind, purpose="code", namespace="", params=params, secret_names=secret_names, actor=conductor()
        )

    def plan(self, before: dict[str, str], after: dict[str, str]) -> Plan:
        """A drafted plan that turns the first files into the second."""
        made = builders.plan(self.house)
        change = made.steps.get(position=1)
        change.params = {
            "repository": "clone", "branch": "main", "base": self.base, "files": sorted({*before, *after}),
            "patch": unified_diff(before, after),
        }  # fmt: skip
        change.save(update_fields=["params"])
        seal_body(made)
        return made

    def approve(self, made: Plan, *, steps: list[int] | None = None, decision: str = "approve") -> Plan:
        request = ask(made.pk, actor=conductor())
        builders.post(request, self.house.approver, decision, steps=steps)
        return Plan.objects.get(pk=made.pk)

    def pull(self, files: dict[str, str | None]) -> PullRequest:
        pull = self.world.open_pull({**files})
        return PullRequest.objects.create(connection=self.hub, number=pull.number, state="open", seen_at=now())

    def links(self, files: dict[str, str | None]) -> tuple[PlanLink, ...]:
        """The links of a pull request that writes these files."""
        with open_github(self.hub) as client:
            return plan_links.links_of(self.pull(files), client)

    def link(self, files: dict[str, str | None]) -> PlanLink:
        (found,) = self.links(files)
        return found


@pytest.fixture
def scene(github: Double) -> Scene:  # noqa: F811
    return Scene(github)


@pytest.fixture
def repair(scene: Scene) -> Plan:
    return scene.plan({MODEL: OLD}, {MODEL: FIXED})


def test_the_approved_change_is_told_with_its_approver_and_when(scene: Scene, repair: Plan) -> None:
    scene.approve(repair)
    found = scene.link({MODEL: FIXED})
    assert (found.plan_id, found.state, found.verdict) == (repair.pk, "approved", "equal")
    number, when = scene.house.incident.number, written(Outcome.objects.get().at)
    assert found.sentence.startswith(
        f"This is exactly the change of the plan of incident {number}, which Approver approved at {when}"
    )


def test_a_plan_that_waits_says_that_nobody_approved_it(scene: Scene, repair: Plan) -> None:
    found = scene.link({MODEL: FIXED})
    assert (found.state, found.verdict) == ("waiting", "equal")
    assert found.sentence.endswith(", which nobody has approved yet.")


def test_a_plan_whose_change_was_left_out_of_the_approval_is_not_approved(scene: Scene, repair: Plan) -> None:
    scene.approve(repair, steps=[3])
    found = scene.link({MODEL: FIXED})
    assert (found.state, found.verdict) == ("waiting", "equal")
    assert found.sentence.endswith(", whose change was not approved.")


def test_a_rejected_plan_is_told_only_where_its_whole_change_is_there(scene: Scene, repair: Plan) -> None:
    scene.approve(repair, decision="reject")
    found = scene.link({MODEL: FIXED, OTHER: "select 3\n"})
    assert (found.state, found.verdict) == ("rejected", "contains")
    assert ", which was rejected, and changes more: models/other.sql." in found.sentence
    assert scene.links({MODEL: OLD + "limit 1\n"}) == ()


def test_more_files_and_more_places_are_named(scene: Scene, repair: Plan) -> None:
    found = scene.link({MODEL: FIXED.replace("select 12 as", "select 1200 as"), OTHER: "select 3\n"})
    assert found.verdict == "contains"
    assert found.sentence.endswith("changes more: other places of models/m.sql, models/other.sql.")


def test_a_missing_or_other_place_is_counted(scene: Scene, repair: Plan) -> None:
    found = scene.link({MODEL: FIXED.replace("select 2500 as", "select 2501 as")})
    assert found.verdict == "differs"
    assert found.sentence.endswith("models/m.sql is changed in another way in 1 of 2 places.")
    assert found.sentence.startswith("This is not the change of the plan of incident")


def test_the_same_lines_at_another_place_are_another_change(scene: Scene) -> None:
    twice = "a\nb\nc\nd\ne\nf\ng\nh\n" * 2
    scene.base = scene.world.commit("main", {MODEL: twice})
    scene.plan({MODEL: twice}, {MODEL: twice.replace("d\n", "D\n", 1)})
    assert scene.link({MODEL: twice.replace("d\n", "D\n", 1)}).verdict == "equal"
    second = twice[:16] + twice[16:].replace("d\n", "D\n", 1)
    found = scene.link({MODEL: second})
    assert found.verdict == "differs"
    assert found.sentence.endswith("it changes the same files in another way.")


def test_a_file_that_moved_on_since_the_plan_is_not_the_one_that_was_approved(scene: Scene, repair: Plan) -> None:
    scene.world.commit("main", {MODEL: OLD + "-- later\n"})
    found = scene.link({MODEL: FIXED + "-- later\n"})
    assert found.verdict == "differs"
    assert found.sentence.endswith("models/m.sql has changed since the plan was drafted.")
    scene.world.commit("main", {MODEL: OLD, OTHER: "select 9\n"})
    assert scene.link({MODEL: FIXED}).verdict == "equal"  # another file moved on


def test_lines_that_repeat_may_be_shown_at_other_places_by_another_tool(scene: Scene) -> None:
    """git shows an added block among equal ones a line higher or lower than the tool that wrote the plan."""
    scene.plan({YAML: COLUMNS}, {YAML: MORE_COLUMNS})
    assert scene.link({YAML: MORE_COLUMNS}).verdict == "equal"
    more = scene.link({YAML: MORE_COLUMNS + "      - not_null\n"})
    assert more.verdict == "contains"
    assert more.sentence.endswith("changes more: other places of models/schema.yml.")


def test_new_and_removed_files_are_part_of_the_change(scene: Scene) -> None:
    scene.plan({MODEL: OLD, OTHER: START[OTHER]}, {MODEL: FIXED, NEW_FILE: "select 1"})
    assert scene.link({MODEL: FIXED, NEW_FILE: "select 1", OTHER: None}).verdict == "equal"
    found = scene.link({MODEL: FIXED, NEW_FILE: "select 1\n"})
    assert found.verdict == "differs"
    assert "models/new.sql is changed in another way" in found.sentence
    assert "models/other.sql is not changed" in found.sentence


def test_without_a_clone_the_edits_are_compared_and_that_is_said(scene: Scene, repair: Plan) -> None:
    row = Connection.objects.get(name="clone")
    row.params = {**row.params, "path": "/nowhere/at/all"}
    row.save()
    found = scene.link({MODEL: FIXED})
    assert found.verdict == "equal"
    assert found.sentence.endswith("The commit that the plan was drafted on cannot be read here.")
    assert scene.link({MODEL: FIXED + "select 31\n"}).verdict == "contains"


def test_other_files_and_other_repositories_have_no_link(scene: Scene, repair: Plan) -> None:
    assert scene.links({OTHER: "select 3\n"}) == ()
    row = Connection.objects.get(name="clone")
    row.params = {**row.params, "repository": "acme/elsewhere"}
    row.save()
    assert plan_links.changes_of(scene.hub) == []
    assert scene.links({MODEL: FIXED}) == ()


def test_without_a_plan_the_diff_is_not_asked_for(scene: Scene, github: Double) -> None:  # noqa: F811
    assert scene.links({MODEL: FIXED}) == ()
    assert github.asked("GET ") == []


def test_a_diff_that_the_host_does_not_give_leaves_it_unknown(scene: Scene, repair: Plan) -> None:
    long = "".join(f"line {number}\n" for number in range(21_000))
    found = scene.link({MODEL: FIXED, OTHER: long})
    assert found.verdict == "unknown"
    assert found.sentence.startswith(
        f"Whether this is the change of the plan of incident {scene.house.incident.number}"
    )
    assert "is not known: " in found.sentence


def test_a_patch_that_is_none_is_no_plan(scene: Scene, repair: Plan) -> None:
    change = repair.steps.get(position=1)
    change.params = {**change.params, "patch": "not a patch"}
    change.save(update_fields=["params"])
    assert scene.link({MODEL: FIXED}).verdict == "differs"


def test_no_name_of_a_table_and_no_title_stands_in_a_sentence(scene: Scene, repair: Plan) -> None:
    scene.house.domain.restricted = True
    scene.house.domain.save()
    scene.approve(repair)
    for files in ({MODEL: FIXED}, {MODEL: FIXED, OTHER: "x\n"}, {MODEL: OLD + "x\n"}):
        said = scene.link({**files}).sentence
        assert repair.title not in said
        assert scene.house.asset.name not in said


def test_the_sentence_stands_behind_the_first_reason_of_the_comment(scene: Scene, repair: Plan) -> None:
    found = scene.links({MODEL: FIXED})
    plain = types.Review("look", ("First.", "Second."), (), at=now())
    linked = plan_links.with_links(plain, found)
    assert linked.reasons == ("First.", found[0].sentence, "Second.")
    assert f"exactly the change of the plan of incident {scene.house.incident.number}" in render(linked)
    assert plan_links.with_links(plain, ()) == plain


def test_a_page_leads_to_the_plan_for_those_who_may_read_it(scene: Scene, repair: Plan) -> None:
    found = scene.links({MODEL: FIXED})
    review = Review(document={"plans": plan_links.as_documents(found)})
    json.dumps(review.document)
    member, owner = create_person("member@shop.example", "Member"), scene.house.owner
    assert plan_links.shown(review, Sight(member))[0]["plan"] == repair
    scene.house.domain.restricted = True
    scene.house.domain.save()
    owner.roles.create(name="member", scope=f"domain:{scene.house.domain.key}")
    (hidden,) = plan_links.shown(review, Sight(member))
    assert (hidden["plan"], hidden["verdict"]) == (None, "equal")
    assert plan_links.shown(review, Sight(owner))[0]["plan"] == repair
    assert plan_links.shown(None, Sight(member)) == []
    assert plan_links.shown(Review(document={}), Sight(member)) == []
