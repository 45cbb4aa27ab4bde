"""Rows for token-graphs.md#abandoned-slots and token-graphs.md#fan-in-timeouts."""

from __future__ import annotations

from tests.simulation.oracle.rows.fan_in import KEEP, THREE, TWO, simple, x
from tests.simulation.oracle.script import (
    WORK,
    alarm,
    each,
    flow,
    go,
    join,
    late_answers,
    later,
    no,
    ok,
    row,
    then,
)

LATE = [
    row(
        "cancel, the default, stops the tasks still under way, and late results are ignored",
        simple(strategy="any"),
        x(0),
        late_answers(),
        then(
            calls="z@root",
            state={"all": [0]},
            tokens="p@root completed, a@root.a.0 completed, a@root.a.1 cancelled, "
            "z@root.a.0 completed, z@root dispatched",
        ),
        input=TWO,
    ),
    row(
        "abandon leaves them to finish",
        simple(strategy="any", on_early_complete="abandon"),
        x(0),
        then(calls="a@root.a.1 z@root"),
        input=TWO,
    ),
    row(
        "an abandoned slot does not route on, and its result is ignored",
        simple(strategy="any", on_early_complete="abandon"),
        x(0),
        x(1),
        then(
            calls="z@root",
            state={"all": [0]},
            tokens="p@root completed, a@root.a.0 completed, a@root.a.1 completed, "
            "z@root.a.0 completed, z@root dispatched",
        ),
        input=TWO,
    ),
    row(
        "an error of an abandoned slot is ignored, and not tried again",
        simple(strategy="any", on_early_complete="abandon"),
        x(0),
        no("root.a.1", retry=True),
        then(calls="z@root", due=None, status="running"),
        input=TWO,
        work={"retry": {"max_attempts": 3}},
    ),
    row(
        "an abandoned slot does not hold the run open, and is cancelled at the end",
        simple(strategy="any", on_early_complete="abandon"),
        x(0),
        ok("z"),
        then(
            status="completed",
            tokens="p@root completed, a@root.a.0 completed, a@root.a.1 cancelled, "
            "z@root.a.0 completed, z@root completed",
        ),
        input=TWO,
    ),
    row(
        "a lost branch takes along whatever else is under way in it",
        flow(
            {"p": {}, "q": {}, "a": WORK, "b": WORK, "z": WORK},
            each("p", "q", sibling_group="g"),
            go("q", "a"),
            go("q", "b"),
            join("a", "z", sibling_group="g", **KEEP),
            join("b", "z", sibling_group="g", **KEEP),
        ),
        no("root.q.0.a.0"),
        then(calls="a@root.q.1.a.0 b@root.q.1.b.1"),
        ok("root.q.1.b.1"),
        no("root.q.1.a.0"),
        then(calls="z@root"),
        input=TWO,
    ),
]

CLOCK = {"timeout_ms": 100}

TIMEOUTS = [
    row(
        "timeout_ms counts from the first arrival",
        simple(**CLOCK),
        then(due=None),
        later(50),
        x(1),
        then(due=150),
        later(60),
        x(0),
        then(due=150),
        input=THREE,
    ),
    row(
        "an opened fan-in has no timeout left",
        simple(**CLOCK),
        x(0),
        x(1),
        then(due=None),
        alarm(1000),
        then(calls="z@root"),
        input=TWO,
    ),
    row(
        "proceed_with_available opens with the slots that arrived, the live ones end timed_out",
        simple(on_timeout="proceed_with_available", on_early_complete="abandon", **CLOCK),
        x(1),
        alarm(99),
        then(calls="a@root.a.0"),
        alarm(100),
        late_answers(),
        then(
            calls="z@root",
            state={"all": [1]},
            tokens="p@root completed, a@root.a.0 timed_out, a@root.a.1 completed, "
            "z@root.a.1 completed, z@root dispatched",
        ),
        input=TWO,
    ),
    row(
        "proceed_with_available opens below a quorum, too",
        simple(strategy={"m_of_n": 3}, on_timeout="proceed_with_available", **CLOCK),
        x(1),
        alarm(100),
        then(calls="z@root", state={"all": [1]}),
        input=THREE,
    ),
    row(
        "on_timeout fail, the default, fails the fan-in and all slots end timed_out",
        simple(**CLOCK),
        x(1),
        alarm(100),
        then(
            status="failed",
            error="fan_in_timed_out",
            tokens="p@root completed, a@root.a.0 timed_out, a@root.a.1 completed, z@root.a.1 timed_out",
        ),
        input=TWO,
    ),
    row(
        "the clock starts when the first slot has arrived, not when the first of its tokens has",
        flow(
            {"p": {}, "q": {}, "a": WORK, "z": WORK},
            each("p", "q", sibling_group="g"),
            go("q", "a", spawn_count=2),
            join("a", "z", sibling_group="g", **CLOCK),
        ),
        ok("root.q.0.a.0"),
        then(due=None),
        later(30),
        ok("root.q.0.a.1"),
        then(due=130),
        input=TWO,
    ),
]
