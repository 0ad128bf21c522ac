"""The graph of a version: read, brought forward, brought back, kept in a file; always the same as read anew."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.db import transaction

from catalog.graph import adjacency as store
from catalog.graph import adjacency_file, adjacency_rows
from catalog.graph.adjacency import adjacency
from catalog.graph.versions import head_version, version_at
from catalog.graph.walks import Adjacency
from catalog.models import Asset, GraphVersion, Source
from tests.catalog.graph_rows import Rows


@pytest.fixture(autouse=True)
def nothing_kept(settings: Any, tmp_path: Path) -> Iterator[None]:
    settings.SPELLBOOK_DATA_DIR = tmp_path
    store._kept.clear()
    yield
    store._kept.clear()


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The versions that were read in full."""
    seen: list[int] = []
    original = adjacency_rows.pairs

    def pairs(version: int) -> Any:
        seen.append(version)
        return original(version)

    monkeypatch.setattr(adjacency_rows, "pairs", pairs)
    return seen


@pytest.fixture
def filed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "FILED", 1)


def facts(graph: Adjacency) -> tuple[Any, ...]:
    """What a graph says, whatever the numbers of its nodes: edges with their claims, both ways, and kinds."""
    sides = []
    for side in (graph.down, graph.up):
        starts = np.repeat(np.arange(graph.ids.size), np.diff(side.starts))
        sides.append(sorted(zip(graph.ids[starts].tolist(), graph.ids[side.indices].tolist(), strict=True)))
    ends = np.repeat(graph.ids, np.diff(graph.down.starts)).tolist()
    claims = sorted(zip(ends, graph.ids[graph.down.indices].tolist(), graph.claims.tolist(), strict=True))
    touched = {pk for pair in sides[0] for pk in pair}
    names = [graph.kind_names[code] for code in graph.kinds.tolist()]
    kinds = sorted((pk, name) for pk, name in zip(graph.ids.tolist(), names, strict=True) if pk in touched)
    assert graph.ids[graph.by_id].tolist() == sorted(graph.ids.tolist())
    assert sides[1] == sorted((b, a) for a, b in sides[0])
    return sides[0], claims, kinds


def anew(version: int) -> Adjacency:
    store._kept.clear()
    return store._read(version)


@pytest.mark.django_db
def test_before_the_first_version_there_is_nothing() -> None:
    assert (head_version(), version_at(Rows().start)) == (0, 0)
    assert adjacency().walk(1, "down").ids.tolist() == []


@pytest.mark.django_db
def test_a_new_version_is_the_one_before_with_what_changed(reads: list[int]) -> None:
    rows = Rows()
    rows.version([("a", "b"), ("b", "c")])
    assert rows.names(adjacency().walk(rows.pk("a"), "down").ids) == ["b", "c"]
    rows.version([("c", "d"), ("x", "a")], [("a", "b")])
    now = adjacency()
    assert rows.names(now.walk(rows.pk("x"), "down").ids) == ["a"]
    assert rows.names(now.walk(rows.pk("b"), "down").ids) == ["c", "d"]
    assert reads == [1]
    assert facts(now) == facts(anew(2))


@pytest.mark.django_db
def test_an_edge_stays_while_another_source_claims_it(reads: list[int]) -> None:
    rows = Rows()
    other = Source.objects.create(key="other", kind="dbt")
    rows.version([("a", "b")])
    rows.version([("a", "b")], source=other)
    assert adjacency().claims.tolist() == [2]
    rows.version(remove=[("a", "b")])
    assert rows.names(adjacency().walk(rows.pk("a"), "down").ids) == ["b"]
    rows.version(remove=[("a", "b")], source=other)
    assert adjacency().walk(rows.pk("a"), "down").ids.tolist() == []
    assert reads == [2]
    assert len(adjacency(3).walk(rows.pk("a"), "down")) == 1


@pytest.mark.django_db
@pytest.mark.parametrize("seed", range(20))
def test_any_version_is_the_same_from_any_other_as_read_anew(seed: int) -> None:
    pick, rows = random.Random(seed), Rows()  # noqa: S311
    standing: set[tuple[str, str]] = set()
    for _ in range(6):
        names = [f"t{n}" for n in range(pick.randint(2, 12))]
        new = {(pick.choice(names), pick.choice(names)) for _ in range(pick.randint(0, 8))} - standing
        gone = {pair for pair in standing if pick.random() < 0.3}
        rows.version(sorted(new), sorted(gone))
        standing = (standing | new) - gone
    expected = {number: facts(anew(number)) for number in range(1, 7)}
    store._kept.clear()
    for number in pick.sample(range(1, 7), k=6):
        assert facts(adjacency(number)) == expected[number], number


@pytest.mark.django_db
def test_a_version_without_a_changed_edge_shares_the_arrays(reads: list[int]) -> None:
    rows = Rows()
    rows.version([("a", "b")])
    first = adjacency()
    assert first.cyclic.tolist() == [False, False]
    made = GraphVersion.objects.get(pk=rows.version())
    rows.asset("lonely", made)
    second = adjacency()
    assert (second.version, second.down.indices is first.down.indices, "cyclic" in vars(second)) == (2, True, True)


@pytest.mark.django_db
def test_a_kind_that_a_new_version_tells_of_is_known() -> None:
    rows = Rows()
    rows.version([("a", "b")])
    assert set(adjacency().kind_names) >= {"model"}
    Asset.objects.filter(name="a").update(kind="source")
    rows.version([("b", "c")], gone=["a"])
    made = GraphVersion.objects.get(number=2)
    rows.assets["a"].claims.create(source=rows.source, local_id="a", added_in=made)
    graph = adjacency()
    (node,) = graph.nodes(np.array([rows.pk("a")]))
    assert graph.kind_names[graph.kinds[node]] == "source"
    assert facts(graph) == facts(anew(2))


@pytest.mark.django_db
def test_too_many_changes_are_read_in_full(reads: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "FEW", 1)
    rows = Rows()
    rows.version([("a", "b")])
    adjacency()
    rows.version([("b", "c"), ("c", "d")])
    assert len(adjacency().walk(rows.pk("a"), "down")) == 3
    assert reads == [1, 2]


@pytest.mark.django_db
def test_a_kept_graph_that_cannot_be_the_base_is_read_in_full(reads: list[int]) -> None:
    rows = Rows()
    rows.version([("a", "b")])
    wrong = Adjacency.of(1, np.array([[rows.pk("b"), rows.pk("a")]]))
    store._keep((store._name(), 1, GraphVersion.objects.get(number=1).at), wrong)
    rows.version([("b", "c")], [("a", "b")])
    assert facts(adjacency()) == facts(anew(2))
    assert reads[0] == 2


@pytest.mark.django_db
def test_a_version_that_was_rolled_back_is_not_taken_for_its_successor() -> None:
    rows = Rows()
    rows.version([("a", "b")])
    with transaction.atomic():
        rows.version([("b", "c")])
        assert len(adjacency().walk(rows.pk("a"), "down")) == 2
        transaction.set_rollback(True)
    del rows.assets["c"]
    rows.start += (rows.at(2) - rows.at(1)) / 2
    rows.version([("b", "d"), ("d", "e")])
    assert rows.names(adjacency().walk(rows.pk("a"), "down").ids) == ["b", "d", "e"]


@pytest.mark.django_db
def test_the_version_at_a_moment_is_the_newest_before_it() -> None:
    rows = Rows()
    for name in ("a", "b", "c"):
        rows.version([(name, "z")])
    assert [version_at(rows.at(number)) for number in (0, 1, 2, 3, 9)] == [0, 1, 2, 3, 3]


@pytest.mark.django_db
def test_no_more_graphs_are_kept_than_memory_was_given_for(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = Rows()
    for number in range(6):
        rows.version([(f"a{number}", "b")])
        adjacency()
    assert len(store._kept) == store.KEPT
    monkeypatch.setattr(store, "KEPT_BYTES", 1)
    adjacency(2)
    assert [key[1] for key in store._kept] == [2]


@pytest.mark.usefixtures("committing", "filed")
def test_another_process_maps_the_file_and_applies_what_changed_since(reads: list[int]) -> None:
    rows = Rows()
    rows.version([("a", "b"), ("b", "c"), ("c", "a")])
    adjacency()
    (base,) = adjacency_file.found()
    assert (base.version, base.path.stat().st_mode & 0o777) == (1, 0o600)
    rows.version([("c", "d")], [("b", "c")])
    expected = facts(anew(2))
    store._kept.clear()
    graph = adjacency()
    walk = adjacency(1).walk(rows.pk("a"), "down")
    assert (rows.names(walk.ids), walk.cycle, walk.via.tolist()) == (["b", "c"], True, [rows.pk("a"), rows.pk("b")])
    assert facts(graph) == expected
    assert reads == [1, 2]  # once for the file, once for `anew`


@pytest.mark.usefixtures("committing", "filed")
def test_a_torn_or_foreign_file_is_made_anew(reads: list[int]) -> None:
    rows = Rows()
    rows.version([("a", "b"), ("b", "c")])
    expected = facts(adjacency())
    (base,) = adjacency_file.found()
    whole = base.path.read_bytes()
    flipped = whole[:-70] + bytes([whole[-70] ^ 1]) + whole[-69:]
    for damaged in (b"", whole[:30], whole[:-80], flipped, b"something else", b"\0" * len(whole)):
        base.path.write_bytes(damaged)
        store._kept.clear()
        assert facts(adjacency()) == expected
    assert reads == [1] * 7


@pytest.mark.usefixtures("committing", "filed")
def test_a_file_of_a_version_that_is_another_now_is_not_used() -> None:
    rows = Rows()
    rows.version([("a", "b")])
    adjacency()
    (base,) = adjacency_file.found()
    assert adjacency_file.load(base, GraphVersion.objects.get(number=1).at) is not None
    assert adjacency_file.load(base, rows.at(7)) is None


@pytest.mark.usefixtures("committing", "filed")
def test_old_files_go_and_a_folder_that_cannot_be_written_only_costs_time(settings: Any, tmp_path: Path) -> None:
    rows = Rows()
    for number in range(4):
        rows.version([(f"a{number}", f"b{number}")])
        store._kept.clear()
        adjacency()
    assert sorted(base.version for base in adjacency_file.found()) == [3, 4]
    assert not list((tmp_path / "graph").glob("*.part"))
    (tmp_path / "file").write_text("")
    settings.SPELLBOOK_DATA_DIR = tmp_path / "file"
    store._kept.clear()
    assert len(adjacency().walk(rows.pk("a3"), "down")) == 1


@pytest.mark.django_db
@pytest.mark.usefixtures("filed")
def test_nothing_is_filed_of_a_version_that_may_not_be_committed() -> None:
    Rows().version([("a", "b")])
    adjacency()
    assert adjacency_file.found() == []
