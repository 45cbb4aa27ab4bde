"""Waits for signals: kept before anyone waits, one signal for one waiter, and the oldest first."""

import pytest

from tests.conformance.case import HELD, Act, Case, Data, Outcome, each, join, lets_go, sets, signals, to, workflow

WAIT: Data = {"wait": {"signal": "go"}, "output_mapping": {"output.v": "result"}}
LATE = workflow({"rest": HELD, "hold": WAIT}, to("rest", "hold"))
TWO = workflow(
    {
        "rest": HELD,
        "one": {"wait": {"signal": "go"}, "output_mapping": {"output.one": "result"}},
        "two": {"wait": {"signal": "go", "timeout_ms": 60}, "output_mapping": {"output.two": "result"}},
        "none": sets(none="true"),
        "last": HELD,
    },
    to("rest", "one"),
    to("one", "two"),
    to("two", "none", "has(state._last_error)"),
    to("none", "last"),
    on_no_match="complete",
)
NUMBER: Data = {
    "wait": {"signal": "go", "schema": {"type": "integer"}},
    "output_mapping": {"output.v": "result"},
}


def it_was_kept(seen: Outcome) -> None:
    assert seen.reply("a").why == "kept until somebody waits for it"
    assert seen.decisions.count("take_signal") == 1


def the_second_was_heard_before(seen: Outcome) -> None:
    assert [reply.accepted for reply in seen.replies] == [True, True]
    assert sum("was received before" in reply.why for reply in seen.replies) == 1
    assert seen.decisions.count("keep_signal") == 1


def the_text_was_refused(seen: Outcome) -> None:
    assert not seen.reply("text").accepted
    assert seen.reply("number").accepted


def it_was_kept_once(seen: Outcome) -> None:
    assert seen.decisions.count("keep_signal") == 1
    assert seen.types().count("signal.received") == 1


def it_was_unknown(seen: Outcome) -> None:
    assert not seen.reply("a").accepted
    assert "waits for a signal 'stop'" in seen.reply("a").why


def tells(name: str) -> Data:
    """A node that sends a signal to the run that the input names."""
    implementation: Data = {"name": name}
    return {
        "action": {"kind": "signal", "implementation": implementation},
        "input_mapping": {"run": "input.run", "value": "7"},
    }


FIRST: Data = {
    "wait": {"signals": {"approved": {"schema": {"type": "integer"}}, "refused": {}}, "timeout_ms": 5000},
    "output_mapping": {"output.which": "result.signal", "output.v": "result.value"},
}
CASES = [
    Case(
        "the first of several signals wakes, and the result says which",
        workflow({"hold": FIRST}),
        acts=(signals("a", "refused", "why", when="wait_for_signal"),),
        output={"which": "refused", "v": "why"},
    ),
    Case(
        "of several signals that are kept the oldest is taken, whatever its name",
        workflow({"rest": HELD, "hold": FIRST}, to("rest", "hold")),
        acts=(
            signals("a", "refused", "first"),
            signals("b", "approved", 2, when="keep_signal"),
            lets_go("rest", nth=1),
        ),
        output={"which": "refused", "v": "first"},
    ),
    Case(
        "each of several signals has a schema of its own",
        workflow({"hold": FIRST}),
        acts=(
            signals("text", "approved", "much", when="wait_for_signal"),
            signals("number", "approved", 5, when="reply_to"),
        ),
        output={"which": "approved", "v": 5},
        also=the_text_was_refused,
    ),
    Case(
        "a wait for one of several can be in a queue with a wait for one",
        workflow(
            {
                "s": {},
                "several": {
                    "wait": {"signals": {"go": {}, "stop": {}}},
                    "output_mapping": {"_branch.output.v": "result.value"},
                },
                "one": {"wait": {"signal": "go"}, "output_mapping": {"_branch.output.v": "result"}},
                "t": {"output_mapping": {"output.vs": "state.vs"}},
            },
            to("s", "several"),
            to("s", "one"),
            join("several", "t", merge={"source": "_branch.output.v", "target": "state.vs", "strategy": "append"}),
            join("one", "t", merge={"source": "_branch.output.v", "target": "state.vs", "strategy": "append"}),
        ),
        acts=(
            Act("wait_for_signal", signals("a", "go", "first").tell, "one"),
            Act("take_signal", signals("b", "go", "second").tell),
        ),
        output={"vs": ["first", "second"]},
    ),
    Case(
        "when the time is over the default is the result",
        workflow(
            {
                "hold": {
                    "wait": {"signal": "go", "timeout_ms": 30, "on_timeout": {"n": 0}},
                    "output_mapping": {"output.n": "result.n"},
                },
                "after": {},
            },
            to("hold", "after", "result.n == 0"),
        ),
        output={"n": 0},
    ),
    Case(
        "a wait for one of several that nobody ends times out",
        workflow({"hold": {"wait": {"signals": {"a": {}, "b": {}}, "timeout_ms": 30}}}),
        status="failed",
        error="timed_out",
    ),
    Case(
        "an action that signals a run that is not there fails as unknown_run, and that can be handled",
        workflow(
            {"tell": tells("go"), "after": {"output_mapping": {"output.why": "state._last_error.type"}}},
            to("tell", "after", "has(state._last_error)"),
        ),
        {"run": "nobody"},
        output={"why": "unknown_run"},
    ),
    Case(
        "an action signals a run by its id, here its own, and the run keeps it until it waits",
        workflow(
            {
                "tell": {**tells("go"), "input_mapping": {"run": "run.id", "value": "input.n"}},
                "hold": {"wait": {"signals": {"go": {}, "stop": {}}}, "output_mapping": {"output.v": "result.value"}},
            },
            to("tell", "hold"),
        ),
        {"n": 7},
        output={"v": 7},
        also=it_was_kept_once,
    ),
    Case(
        "a signal sent before anyone waits is kept, and its value is the result",
        LATE,
        acts=(signals("a", "go", 5), lets_go("rest")),
        output={"v": 5},
        also=it_was_kept,
    ),
    Case(
        "a signal wakes whoever waits for it",
        workflow({"hold": WAIT}),
        acts=(signals("a", "go", {"n": 1}, when="wait_for_signal"),),
        output={"v": {"n": 1}},
    ),
    Case(
        "a key deduplicates before the wait",
        TWO,
        acts=(
            signals("a", "go", 1, key="k"),
            signals("b", "go", 1, key="k"),
            lets_go("rest", nth=1),
            lets_go("last", nth=1),
        ),
        output={"one": 1, "none": True},
        also=the_second_was_heard_before,
    ),
    Case(
        "a key deduplicates after the wait too",
        TWO,
        acts=(
            lets_go("rest", when="begin_run"),
            signals("a", "go", 1, key="k", when="wait_for_signal"),
            signals("b", "go", 2, key="k", when="take_signal"),
            lets_go("last", nth=2),
        ),
        output={"one": 1, "none": True},
        also=the_second_was_heard_before,
    ),
    Case(
        "without a key two signals are two, taken in the order they came",
        TWO,
        acts=(signals("a", "go", 1), signals("b", "go", 2, when="keep_signal"), lets_go("rest", nth=1)),
        output={"one": 1, "two": 2},
    ),
    Case(
        "one signal wakes one waiter, the oldest",
        workflow(
            {
                "s": {},
                "slow": {"wait": {"seconds": 0.02}},
                "old": {"wait": {"signal": "go"}, "output_mapping": {"_branch.output.v": "result"}},
                "new": {"wait": {"signal": "go"}, "output_mapping": {"_branch.output.v": "result"}},
                "t": {"output_mapping": {"output.vs": "state.vs"}},
            },
            to("s", "slow"),
            to("s", "old"),
            to("slow", "new"),
            join("new", "t", merge={"source": "_branch.output.v", "target": "state.vs", "strategy": "append"}),
            join("old", "t", merge={"source": "_branch.output.v", "target": "state.vs", "strategy": "append"}),
        ),
        acts=(
            Act("wait_for_signal", signals("a", "go", "first").tell, "new"),
            Act("take_signal", signals("b", "go", "second").tell),
        ),
        output={"vs": ["second", "first"]},
    ),
    Case(
        "three who wait take three signals, each once",
        workflow(
            {
                "s": {},
                "hold": {"wait": {"signal": "go"}, "output_mapping": {"_branch.output.v": "result"}},
                "t": {"output_mapping": {"output.vs": "state.vs"}},
            },
            each("s", "hold", "[1, 2, 3]"),
            join("hold", "t", merge={"source": "_branch.output.v", "target": "state.vs", "strategy": "append"}),
        ),
        acts=(
            signals("a", "go", "a", when="wait_for_signal"),
            signals("b", "go", "b", when="take_signal"),
            Act("take_signal", signals("c", "go", "c").tell, nth=1),
        ),
        output={"vs": ["a", "b", "c"]},
    ),
    Case(
        "a signal that does not fit is refused, and the wait goes on",
        workflow({"hold": NUMBER}),
        acts=(
            signals("text", "go", "five", when="wait_for_signal"),
            signals("number", "go", 5, when="reply_to"),
        ),
        output={"v": 5},
        also=the_text_was_refused,
    ),
    Case(
        "a signal of another name wakes nobody",
        workflow(
            {
                "hold": {"wait": {"signal": "go", "timeout_ms": 60}},
                "after": {**HELD, "output_mapping": {"output.why": "state._last_error.type"}},
            },
            to("hold", "after", "has(state._last_error)"),
        ),
        acts=(signals("a", "stop", 1, when="wait_for_signal"), lets_go("after")),
        output={"why": "timed_out"},
        also=it_was_unknown,
    ),
    Case(
        "a wait for a signal that does not come fails when its time is over",
        workflow(
            {"hold": {"wait": {"signal": "go", "timeout_ms": 30}}, "after": sets(late="true")},
            to("hold", "after", "has(state._last_error) && state._last_error.type == 'timed_out'"),
        ),
        output={"late": True},
    ),
    Case(
        "a wait inside a sub-workflow hears the signals of its own run",
        workflow({"call": {"workflow": "waits", "output_mapping": {"output.v": "result.v"}}}),
        others={"waits": workflow({"hold": WAIT})},
        acts=(
            signals("a", "go", "to the root", when="wait_for_signal"),
            Act("wait_for_signal", signals("b", "go", "to the child").tell, after_ms=30),
        ),
        output={"v": "to the child"},
    ),
]
ROWS = [pytest.param(case, id=case.id) for case in CASES]
