"""Random runs from the simulator's grammars, looked at after each of their entries."""

from collections import Counter
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jeton.actor.replay import replay
from jeton.actor.sections import encode_sections
from jeton.apply.draft import Touched
from jeton.engine.views.fan_outs import fan_out_views
from jeton.engine.views.flows import node_views
from jeton.engine.views.past.changes import EntryChanges, changes_of, context_in, same
from jeton.engine.views.past.counts import ENDS, NodeCounts
from jeton.engine.views.past.entries import entry_view
from jeton.engine.views.past.fold import FoldedRun, from_kept, unfolded
from jeton.engine.views.past.graph import RunGraph, graph_of
from jeton.engine.views.past.slots import SlotTable
from jeton.engine.views.tokens import TokenView, token_views
from jeton.hosts.simulated.world import World
from jeton.model.decision import OpenGroup
from jeton.model.entry import Entry
from jeton.model.ids import GroupId
from jeton.model.json import Json, JsonObject
from jeton.model.state.run import Head, RunState
from jeton.planning.program.workflow import Program
from tests.simulation.scenario import play, scenario_from
from tests.simulation.stories.flows import flows_from, play_flow
from tests.simulation.stories.talk import play_talk, talk_from
from tests.simulation.stories.waits import play_waits, waits_from

SEEDS = st.integers(0, 100_000)
STORIES: dict[str, Callable[[int], object]] = {
    "token graphs": lambda seed: play(scenario_from(seed)),
    "flows": lambda seed: play_flow(flows_from(seed)),
    "waits, calls and forks": lambda seed: play_waits(waits_from(seed)),
    "conversations": lambda seed: play_talk(talk_from(seed)),
}


class History(msgspec.Struct):
    """A run that was played."""

    program: Program
    head: Head
    entries: list[Entry]

    def before(self) -> FoldedRun:
        return unfolded(self.program, self.head)

    def at(self, entry: int) -> FoldedRun:
        folded = self.before()
        for each in self.entries[: entry + 1]:
            folded.take(each)
        return folded


def histories(story: str, seed: int) -> list[History]:
    """All runs of a story."""
    worlds: list[World] = []
    make = World.__init__

    def noted(self: World, *args: Any, **more: Any) -> None:
        worlds.append(self)
        make(self, *args, **more)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(World, "__init__", noted)
        STORIES[story](seed)
    return [history for world in worlds for history in _runs(world)]


def _runs(world: World) -> Iterator[History]:
    for run in world.store.runs():
        entries = world.store.entries(run)
        if entries:
            workflow, version = world.store.version(run)
            program = world.definitions.bundles.program(workflow, version)[0]
            yield History(program, Head(run, workflow, version), entries)


def sections(state: RunState) -> dict[str, bytes | None]:
    touched = Touched()
    touched.everything(state)
    return encode_sections(state, touched)


def patched(document: Json, operations: tuple[JsonObject, ...]) -> Json:
    """JSON Patch, in a few lines."""
    root: Any = {"": deepcopy(document)}
    for operation in operations:
        *above, last = [part.replace("~1", "/").replace("~0", "~") for part in str(operation["path"]).split("/")]
        place = root
        for part in above:
            place = place[int(part) if type(place) is list else part]
        value, in_list = deepcopy(operation.get("value")), type(place) is list
        match operation["op"]:
            case "remove":
                del place[int(last) if in_list else last]
            case "add" if in_list:
                place.insert(len(place) if last == "-" else int(last), value)
            case _:
                place[int(last) if in_list else last] = value
    result: Json = root[""]
    return result


def added(nodes: dict[str, Counter[str]], changes: EntryChanges) -> None:
    for node, places in changes.nodes.items():
        nodes.setdefault(node, Counter()).update(places)


def plain(graph: RunGraph) -> dict[str, dict[str, int]]:
    found = {node: msgspec.structs.asdict(counts) for node, counts in graph.nodes.items()}
    return {node: kept for node, counts in found.items() if (kept := {k: n for k, n in counts.items() if n})}


@pytest.mark.parametrize("story", STORIES)
@settings(max_examples=4, deadline=None)
@given(SEEDS)
def test_changes_add_up_to_the_graph_and_the_context_after_every_entry(story: str, seed: int) -> None:
    for history in histories(story, seed):
        folded, nodes = history.before(), dict[str, Counter[str]]()
        context: Json = context_in(folded.state)
        for entry in history.entries:
            changes = changes_of(folded, entry)
            added(nodes, changes)
            context = patched(context, changes.context)
            there = {node: kept for node, counts in nodes.items() if (kept := {k: n for k, n in counts.items() if n})}
            assert there == plain(graph_of(folded, live=False))
            assert same(context, context_in(folded.state))
            assert all(min(msgspec.structs.astuple(counts)) >= 0 for counts in folded.tally.nodes.values())
            assert entry_view(entry).number == entry.number


@pytest.mark.parametrize("story", STORIES)
@settings(max_examples=2, deadline=None)
@given(SEEDS, st.randoms(use_true_random=False))
def test_a_fold_that_was_kept_goes_on_to_what_the_journal_leads_to(story: str, seed: int, chance: Any) -> None:
    for history in histories(story, seed):
        folded = history.before()
        for entry in history.entries:
            folded.take(entry)
            if chance.random() < 0.3:
                folded = from_kept(history.program, folded.keep())
                assert folded.entry == entry.number
        whole = history.at(len(history.entries) - 1)
        assert folded.tally == whole.tally
        assert sections(folded.state) == sections(replay(history.head, history.entries).state)


def end_of(view: TokenView) -> str:
    return "stopped" if view.reason is not None else ENDS[view.status]


@pytest.mark.parametrize("story", ["token graphs", "waits, calls and forks", "conversations"])
@settings(max_examples=2, deadline=None)
@given(SEEDS)
def test_counts_are_those_of_the_tokens(story: str, seed: int) -> None:
    for history in histories(story, seed):
        folded = history.before()
        for entry in history.entries:
            folded.take(entry)
            views = token_views(history.entries[: entry.number + 1], history.head.run)
            ended = Counter((view.node, end_of(view)) for view in views if view.ended)
            alive = Counter(view.node for view in views if not view.ended)
            for node, counts in folded.tally.nodes.items():
                assert counts.active + counts.waiting == alive[node]
                places = counts.done, counts.failed, counts.stopped
                assert places == tuple(ended[node, place] for place in ("done", "failed", "stopped"))
            if story == "token graphs":  # where nothing is forked
                waiting = Counter(view.node for view in views if view.status.startswith("waiting"))
                counted = {node: counts.waiting for node, counts in folded.tally.nodes.items()}
                assert {node: count for node, count in counted.items() if count} == waiting


@settings(max_examples=5, deadline=None)
@given(SEEDS)
def test_counts_of_a_flow_are_those_of_its_nodes(seed: int) -> None:
    statuses = {"completed": "done", "failed": "failed", "skipped": "skipped"}
    for history in histories("flows", seed):
        folded = history.before()
        for entry in history.entries:
            folded.take(entry)
            for node, view in node_views(history.program, folded.live).items():
                counts = folded.tally.nodes.get(node, NodeCounts())
                if view.status in statuses:
                    assert getattr(counts, statuses[view.status]) == 1, (node, view, counts)
                elif view.status == "executing":
                    assert counts.active + counts.waiting == 1, (node, view, counts)
                else:
                    error = folded.state.head.error  # a node that was not allowed to begin fails the run
                    refused = error is not None and error.node == node
                    assert (counts.done, counts.failed, counts.skipped) == (0, refused, 0), (node, view, counts)


@settings(max_examples=5, deadline=None)
@given(SEEDS)
def test_fan_outs_and_their_slots_agree(seed: int) -> None:
    for history in histories("token graphs", seed):
        folded = history.before()
        tables: dict[GroupId, SlotTable] = {}
        for entry in history.entries:
            folded.take(entry)
            began = [each.group for each in entry.decisions if isinstance(each, OpenGroup)]
            tables.update({group: SlotTable(group) for group in began})
            for table in tables.values():
                table.take(entry)
            graph = graph_of(folded, live=False)
            known = {view.group: view for view in fan_out_views(history.entries[: entry.number + 1])}
            assert [group.id for group in graph.groups] == sorted(known)
            for group in graph.groups:
                view = known[group.id]
                if folded.tally.groups[group.id].ended is not None:
                    tables[group.id].finish()
                assert (group.total, group.arrived, group.lost) == (view.total, view.arrived, view.lost)
                slots = tables[group.id].view(0, group.total)
                assert slots.total == group.total
                assert [first for _, first, _ in slots.runs] == [
                    sum(count for _, _, count in slots.runs[:i]) for i in range(len(slots.runs))
                ]
                counts = Counter(dict.fromkeys(("idle", "active", "waiting", "done", "failed", "stopped"), 0))
                for status, _, count in slots.runs:
                    counts[status] += count
                assert counts.total() == group.total
                assert counts["done"] >= group.arrived
                if group.live:
                    assert counts["idle"] + counts["active"] + counts["waiting"] == group.live
                    assert counts["failed"] == group.lost
                else:
                    assert not counts["active"] + counts["waiting"] + counts["idle"]
                assert sum(each.count for each in slots.failures) == sum(each.count for each in view.failures)
