"""What conversations came to in a sweep: a sweep that never met one of these has not tested it."""

from collections import Counter

from jeton.model import decision as d
from jeton.model.message import TaskLost
from tests.simulation.invariants.seen import Seen, named_in

ERRORS = ("NOT_FOUND", "INVALID_INPUT", "EXECUTION_FAILED", "TIMEOUT", "REFUSED", "CANCELLED", "OUTCOME_UNKNOWN")
ISSUES = ("move_limit", "truncated", "memory_extraction_failed", "compaction_failed")
FAILURES = (
    "model_error",
    "empty_answer",
    "move_limit",
    "assembly_failed",
    "timed_out",
    "context_too_long",
    "waits_for_itself",
)
TALK_CASES = (
    *(f"talk: turn {status}" for status in ("completed", "failed", "cancelled", "exhausted")),
    *(f"talk: exhausted with {type}" for type in ("credits_exhausted", "budget_exhausted")),
    *(f"talk: failed with {type}" for type in FAILURES),
    *(f"talk: issue {issue}" for issue in ISSUES),
    *(f"talk: result {code}" for code in ERRORS),
    *(f"talk: window, {why}" for why in ("recent_turns", "compacted", "left_out")),
    "talk: steered",
    "talk: interrupted",
    "talk: lingers",
    "talk: two linger",
    "talk: a later result is told",
    "talk: an agent is asked",
    "talk: an agent joins",
    "talk: a workflow is called",
    "talk: an input is edited",
    "talk: a tool is allowed",
    "talk: a known key",
    "talk: a model call is made again",
    "talk: a tool call is made again",
    "talk: cancelled as a whole",
    "talk: people add credits",
    "talk: a workflow of the persona costs something",
    "talk: who waits is passed on",
    "talk: a question waits behind another",
    "talk: a day has too few credits",
)


class TalkCoverage:
    """Counts cases, commit by commit."""

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()

    def committed(self, seen: Seen) -> None:
        if seen.program.talk is None:
            self.seen["talk: who waits is passed on"] += sum(type(x) is d.AddWaiters for x in seen.entry.decisions)
            return
        for decision in seen.entry.decisions:
            if type(decision) in _COUNTED:
                for case in _cases(decision):
                    self.seen[f"talk: {case}"] += 1
        if sum(turn.phase == "lingering" for turn in seen.run.state.talk.turns.values()) > 1:
            self.seen["talk: two linger"] += 1
        lost = any(isinstance(message, TaskLost) for message in seen.entry.messages)
        for decision in seen.entry.decisions if lost else ():
            if isinstance(decision, d.RedeliverToken):
                kind = "model" if decision.node.startswith("model") else "tool"
                self.seen[f"talk: a {kind} call is made again"] += 1


def _cases(decision: d.Decision) -> list[str]:
    match decision:
        case d.EndTurn(status=status, error=error):
            cases = [f"turn {status}"]
            if error is not None:
                cases.append("interrupted" if error.type == "interrupted" else f"{status} with {error.type}")
            return cases
        case d.FlagTurn(issue=issue):
            return [f"issue {issue}"]
        case d.AnswerCall(result=result) | d.KeepAsync(result=result):
            error_of = result.result.error
            return [] if error_of is None else [f"result {error_of.code}"]
        case d.ShrinkWindow(why=why):
            return [f"window, {why}"]
        case d.OpenConversation():
            return ["conversation"]
        case d.BeginTurn():
            return ["turn begun"]
        case d.AddWaiters():
            return ["a question waits behind another"]
        case d.SpendBudget(upkeep=True):
            return ["a workflow of the persona costs something"]
        case d.AddBudget():
            return ["people add credits"]
        case d.TakeBudget(granted=False):
            return ["a day has too few credits"]
        case d.SteerTurn():
            return ["steered"]
        case d.LingerTurn():
            return ["lingers"]
        case d.AskModel(told=told) if told:
            return ["a later result is told"]
        case d.CallAgent():
            return ["an agent is asked"]
        case d.JoinConversation():
            return ["an agent joins"]
        case d.CallWorkflow():
            return ["a workflow is called"]
        case d.EditCall():
            return ["an input is edited"]
        case d.AllowTool():
            return ["a tool is allowed"]
        case d.ReplyTo(why="known"):
            return ["a known key"]
        case d.EndRun(status="cancelled"):
            return ["cancelled as a whole"]
        case _:
            return []


_COUNTED = named_in(_cases)
