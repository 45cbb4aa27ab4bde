"""What the graph alone says about groups and joins."""

from jeton.model.definition.workflow import Foreach, Node, Synchronization, Transition, Workflow
from jeton.model.state.lineage import FanOut, lineage

JOIN = Synchronization(sibling_group="g")


def graph(*transitions: Transition) -> Workflow:
    names = dict.fromkeys(n for t in transitions for n in (t.source, t.target))
    return Workflow("w", transitions[0].source, {name: Node() for name in names}, transitions)


def test_a_join_belongs_to_the_fan_out_that_leads_to_it() -> None:
    found = lineage(
        graph(
            Transition("s", "w", foreach=Foreach("[1]"), sibling_group="g"),
            Transition("w", "end", synchronization=JOIN),
        )
    )
    assert [j.node for j in found.joins[FanOut("s", "g")]] == ["end"]
    assert found.stacks["w"] == ((FanOut("s", "g"),),)
    assert found.stacks["end"] == ((),)


def test_a_group_name_used_twice_keeps_its_joins_apart() -> None:
    found = lineage(
        graph(
            Transition("s", "w", spawn_count=2, sibling_group="g"),
            Transition("w", "m", synchronization=JOIN),
            Transition("m", "v", spawn_count=2, sibling_group="g"),
            Transition("v", "end", synchronization=JOIN),
        )
    )
    assert [j.node for j in found.joins[FanOut("s", "g")]] == ["m"]
    assert [j.node for j in found.joins[FanOut("m", "g")]] == ["end"]


def test_an_unnamed_join_belongs_to_the_innermost_fan_out() -> None:
    found = lineage(
        graph(
            Transition("s", "o", spawn_count=2),
            Transition("o", "w", spawn_count=2),
            Transition("w", "m", synchronization=Synchronization()),
            Transition("m", "end", synchronization=Synchronization()),
        )
    )
    assert [j.node for j in found.joins[FanOut("o", "o")]] == ["m"]
    assert [j.node for j in found.joins[FanOut("s", "s")]] == ["end"]


def test_a_join_no_token_can_belong_to_is_seen() -> None:
    found = lineage(graph(Transition("a", "b", synchronization=JOIN)))
    assert found.passed_through == (0,)


def test_a_plain_split_may_or_may_not_happen_when_a_rival_is_conditional() -> None:
    found = lineage(graph(Transition("a", "b"), Transition("a", "c", condition="input.x")))
    assert set(found.stacks["b"]) == {(FanOut("a", "a"),), ()}
    assert found.stacks["c"] == ((FanOut("a", "a"),),)


def test_a_fan_out_inside_its_own_branches_ends_the_walk() -> None:
    found = lineage(graph(Transition("a", "b", spawn_count=2), Transition("b", "a")))
    assert max(len(stack) for stack in found.stacks["b"]) <= 3


def test_splits_that_may_or_may_not_happen_do_not_double_the_walk_each_time() -> None:
    pairs = [
        Transition(f"n{i}", f"n{i + 1}", condition=condition) for i in range(40) for condition in ("input.x", "input.y")
    ]
    found = lineage(graph(*pairs))
    assert len(found.stacks) == 41
    assert max(map(len, found.stacks.values())) <= 257
