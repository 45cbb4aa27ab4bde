"""Spans of random runs, conversations and faults: a whole tree, with one span for each turn, call and run."""

from collections import Counter
from random import Random

import pytest

from jeton.actor.journal import decode_entry
from jeton.hosts.simulated.world import World
from jeton.model import decision as d
from jeton.model.entry import Entry
from jeton.model.ids import RunId
from jeton.telemetry import names
from jeton.telemetry.facts import RunFacts
from jeton.telemetry.span import Span
from jeton.telemetry.spans import spans_of
from tests.simulation.scenario import finish, prepared, scenario_from
from tests.simulation.stories.talk import TalkWatchers, play_talk, talk_from

SEEDS = range(6)


def talks(seed: int) -> World:
    watchers = TalkWatchers(seed)
    play_talk(talk_from(seed), watchers)
    assert watchers.world is not None
    return watchers.world


def runs(seed: int) -> World:
    world, watchers = prepared(scenario_from(seed))
    finish(world, watchers)
    return world


def journal(world: World, run: RunId) -> list[Entry]:
    return [decode_entry(body) for body in world.store.journal(run)]


def facts(world: World, run: RunId) -> RunFacts:
    row = world.store.row(run)
    assert row is not None
    return RunFacts(run, row.workflow, row.version, None if row.forked is None else row.forked.run)


def checked(world: World) -> dict[RunId, list[Span]]:
    """The spans by run: the same however the journal is read, each with its own id, below a span that is there."""
    found: dict[RunId, list[Span]] = {}
    chance = Random(world.store.digest())
    for run in world.store.runs():
        known, entries = facts(world, run), journal(world, run)
        found[run] = list(spans_of(known, entries))
        cut = chance.randrange(-1, len(entries))
        assert [*spans_of(known, entries[: cut + 1]), *spans_of(known, entries, after=cut)] == found[run]
    by_id = {span.span_id: span for spans in found.values() for span in spans}
    assert len(by_id) == sum(map(len, found.values())), "an id is there twice"
    set_back = any(kind == "clock_jump" for kind, _ in world.faults.struck)
    for span in by_id.values():
        assert span.start_ms <= span.end_ms
        if span.parent_id is not None:
            above = by_id[span.parent_id]
            assert above.trace_id == span.trace_id
            assert above.start_ms <= span.start_ms or set_back
    return found


@pytest.mark.parametrize("seed", SEEDS)
def test_conversations_have_a_span_for_every_turn_and_tool_call(seed: int) -> None:
    world = talks(seed)
    for run, spans in checked(world).items():
        if not world.store.workflow(run).startswith("agent:"):
            continue
        decisions = [each for entry in journal(world, run) for each in entry.decisions]
        kinds = Counter(span.attributes.get(names.OPERATION) for span in spans)
        asked = sum(isinstance(each, d.CreateToken) and each.node.startswith("model") for each in decisions)
        assert kinds[names.INVOKE_AGENT] == sum(isinstance(each, d.EndTurn) for each in decisions)
        assert kinds[names.EXECUTE_TOOL] == sum(
            len(each.move.calls) for each in decisions if isinstance(each, d.AddMove)
        )
        assert kinds[names.CHAT] <= asked


@pytest.mark.parametrize("seed", SEEDS)
def test_runs_have_a_span_for_every_token_that_had_a_task(seed: int) -> None:
    world = runs(seed)
    for run, spans in checked(world).items():
        decisions = [each for entry in journal(world, run) for each in entry.decisions]
        worked = {each.token for each in decisions if isinstance(each, d.DispatchToken)}
        tokens = {span.attributes.get(names.TOKEN) for span in spans}
        assert worked <= tokens
        assert sum(span.name == "run w" for span in spans) == 1
