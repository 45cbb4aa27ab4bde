"""Which of the interesting cases a sweep has reached. A sweep that never reached one proves nothing about it."""

from collections import Counter
from typing import get_args

from jeton.expression import Expression
from jeton.hosts.simulated.faults import KINDS
from jeton.hosts.simulated.observer import Step
from jeton.model import decision as d
from jeton.model.definition.workflow import MergeStrategy, MOfN
from jeton.model.ids import GroupId, RunId
from jeton.model.message import AlarmRang, ContinueRun
from jeton.model.state.ranges import count_in
from jeton.planning.program.workflow import Program

ENDS = (
    "completed", "cancelled", "timed_out", "failed: boom", "failed: timed_out", "failed: worker_lost",
    "failed: no_matching_transition", "failed: expression_error", "failed: not_a_list", "failed: limit_exceeded",
    "failed: quorum_impossible", "failed: fan_in_lost", "failed: fan_in_timed_out", "failed: merge_failed",
    "failed: stopped", "failed: template_error", "failed: not_a_count", "failed: bad_wait",
)  # fmt: skip
CASES = (
    "nested fan-out", "fan-out in a loop", "empty fan-out", "fan-out of one", "max_parallel", "two groups at once",
    "slot leaves its group outwards", "two joins of one group open", "every slot lost, opens empty",
    "fan-in timeout, proceeds", "fan-in timeout, fails", "siblings cancelled", "siblings abandoned",
    "branch lost, run goes on", "failure handled", "task timeout handled", "business retry", "redelivery",
    "fifth delivery", "timed wait", "token ends for want of a match", "late result after the token ended",
    "late result of an earlier attempt", "result of an abandoned branch", "stale alarm", "batch of three or more",
    "run in short batches", "crash", "clock set back", "quorum with a slot of several tokens",
    "an end cancels what is under way", "quorum from data", "max_parallel from data", "task timeout from data",
    "run timeout from data", "wait from data", "fan-in whose number is no count",
)  # fmt: skip
EXPECTED = (
    *ENDS,
    *CASES,
    *(f"merge: {strategy}" for strategy in get_args(MergeStrategy)),
    *(f"fault: {kind}" for kind in KINDS),
)


class Coverage:
    """Counts cases, commit by commit."""

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()
        self._opened: set[tuple[RunId, GroupId]] = set()
        self._failed: set[tuple[RunId, int]] = set()
        self._needed: dict[tuple[RunId, GroupId, str], int] = {}  # quorums from data

    def committed(self, step: Step) -> None:
        entry = step.entry
        self.seen["batch of three or more"] += len(step.batch) >= 3
        self.seen["run in short batches"] += any(isinstance(message, ContinueRun) for message in step.batch)
        if entry is None:
            self.seen["stale alarm"] += any(isinstance(message, AlarmRang) for message in step.batch)
            return
        groups = sum(isinstance(decision, d.OpenGroup) for decision in entry.decisions)
        self.seen["two groups at once"] += groups >= 2
        before: d.Decision | None = None
        for decision in entry.decisions:
            self._count(step.run, step.program, decision, before)
            before = decision

    def _count(self, run: RunId, program: Program, decision: d.Decision, before: d.Decision | None) -> None:
        match decision:
            case d.OpenGroup():
                self._count_group(decision)
                ways = [program.transitions[segment.transition].max_parallel for segment in decision.segments]
                self.seen["max_parallel from data"] += any(isinstance(way, Expression) for way in ways)
            case d.BeginRun(deadline=int()):
                self.seen["run timeout from data"] += isinstance(program.timeout, Expression)
            case d.DispatchToken(node=node):
                self.seen["task timeout from data"] += isinstance(program.nodes[node].timeout, Expression)
            case d.SettleSlot(slot=slot, node=str() as node, needed=int() as needed):
                self.seen["quorum from data"] += 1
                self._needed[run, slot[0], node] = needed
            case d.SettleSlot(escaped=dict()):
                self.seen["slot leaves its group outwards"] += 1
            case d.OpenFanIn(group, node, slots=slots, tokens=tokens):
                quorum = self._needed.get((run, group, node)) or _quorum(program, node)
                if quorum > 1 and count_in(tokens) > count_in(slots):
                    self.seen["quorum with a slot of several tokens"] += 1
                self.seen["two joins of one group open"] += (run, group) in self._opened
                self.seen["every slot lost, opens empty"] += not slots and isinstance(before, d.SettleSlot)
                self.seen["fan-in timeout, proceeds"] += isinstance(before, d.TimeOutFanIn)
                self._opened.add((run, group))
            case d.MergeBranches(node=node):
                self.seen[f"merge: {_strategy(program, node)}"] += 1
            case d.EndTokens(status=status, reason=reason):
                self.seen["siblings cancelled"] += status == "cancelled" and reason.endswith("opened")
                self.seen["fan-in timeout, fails"] += reason == "fan_in_timed_out"
                self.seen["fan-in timeout, proceeds"] += status == "timed_out" and reason.endswith("opened")
                self.seen["branch lost, run goes on"] += reason.startswith("branch lost")
                self.seen["an end cancels what is under way"] += reason.startswith("run completed at")
            case d.AbandonTokens():
                self.seen["siblings abandoned"] += 1
            case d.FailNode(token, error=error):
                self._failed.add((run, token))
                self.seen["fifth delivery"] += error["type"] == "worker_lost"
            case d.CreateToken(error=dict() as error):
                self.seen["failure handled"] += 1
                self.seen["task timeout handled"] += error["type"] == "timed_out"
            case d.ParkToken(token):
                self.seen["failure handled"] += (run, token) in self._failed
            case d.RouteToken(ends="completed", considered=considered):
                missed = considered and all(one.verdict != "matched" for one in considered)
                self.seen["token ends for want of a match"] += bool(missed)
            case d.RetryToken():
                self.seen["business retry"] += 1
            case d.RedeliverToken():
                self.seen["redelivery"] += 1
            case d.WaitForTimer(node=node):
                seconds = program.nodes[node].seconds
                self.seen["timed wait"] += 1
                self.seen["wait from data"] += seconds is not None and bool(seconds.reads)
            case d.IgnoreLate(why=why):
                self.seen["late result after the token ended"] += why == "the token has ended"
                self.seen["late result of an earlier attempt"] += why.startswith("attempt")
                self.seen["result of an abandoned branch"] += why == "the branch was abandoned"
            case d.EndRun(status=status, error=error):
                failed = status == "failed" and error is not None
                self.seen[f"failed: {error.type}" if failed and error is not None else status] += 1
                at_fan_in = error is not None and error.node is not None and error.token is None
                no_count = error is not None and error.type in ("not_a_count", "expression_error")
                self.seen["fan-in whose number is no count"] += at_fan_in and no_count
            case _:
                pass

    def _count_group(self, decision: d.OpenGroup) -> None:
        self.seen["nested fan-out"] += decision.outer is not None
        self.seen["fan-out in a loop"] += bool(decision.loops)
        self.seen["empty fan-out"] += decision.total == 0
        self.seen["fan-out of one"] += decision.total == 1
        self.seen["max_parallel"] += any(s.max_parallel is not None and s.count > 1 for s in decision.segments)


def _quorum(program: Program, node: str) -> int:
    strategies = [
        way.synchronization.strategy for way in program.transitions if way.target == node and way.synchronization
    ]
    quorums = [strategy.m_of_n for strategy in strategies if isinstance(strategy, MOfN)]
    return max((quorum for quorum in quorums if isinstance(quorum, int)), default=0)


def _strategy(program: Program, node: str) -> str:
    rules = [way.synchronization.merge for way in program.transitions if way.target == node and way.synchronization]
    return next((rule.strategy for rule in rules if rule is not None), "none")
