"""The spans of a run or conversation, from its journal.

A run is a span, and so is each of its tokens that did something; attempts have spans of their own where there was more
than one. In a conversation each turn is an `invoke_agent` span, each model call a `chat` span and each tool call an
`execute_tool` span. What a token called, a run or a conversation, is below the token's span.

Everything is computed from entries: reading them again gives the same spans with the same ids.
"""

from collections.abc import Iterable, Iterator

from jeton.model import decision as d
from jeton.model.definition.agent import agent_of
from jeton.model.entry import Entry
from jeton.model.failure import TaskFailed
from jeton.model.ids import RunId, TokenId
from jeton.model.note import TokensNote
from jeton.model.state.flow_run import Executed
from jeton.model.state.ranges import numbers_in
from jeton.telemetry import names
from jeton.telemetry.draft import Attempt, Draft, TokenDraft
from jeton.telemetry.facts import RunFacts, model_attributes
from jeton.telemetry.span import Link, Span, SpanEvent, root_of, span_id_of, trace_id_of
from jeton.telemetry.turns import TurnSpans

LINKED = ("event", "run_finished")
"""Triggers of which another run is the cause."""


def spans_of(facts: RunFacts, entries: Iterable[Entry], after: int = -1) -> Iterator[Span]:
    """The spans that ended in the entries behind the number `after`. The entries are given from the first on."""
    reader = RunSpans(facts)
    for entry in entries:
        ended = reader.take(entry)
        if entry.number > after:
            yield from ended


class RunSpans:
    """Turns the entries of one run into spans, one entry at a time."""

    def __init__(self, facts: RunFacts) -> None:
        self._facts = facts
        above = facts.traceparent
        self._trace = trace_id_of(facts.run) if above is None else above.trace_id
        self._run = Draft(span_id_of(facts.run), None, f"run {facts.workflow}", 0)
        if above is not None and root_of(facts.run) == facts.run:
            self._run.parent_id = above.span_id
        self._run.attributes = {names.RUN: facts.run, names.WORKFLOW: facts.workflow, names.VERSION: facts.version}
        self._talk = TurnSpans(facts) if agent_of(facts.workflow) is not None else None
        self._tokens: dict[TokenId, TokenDraft] = {}
        self._shared = facts.forked_from is not None  # the first entries of a fork are another run's
        self._ended: list[tuple[Draft, int]] = []

    def take(self, entry: Entry) -> list[Span]:
        """The spans that end with an entry."""
        self._ended = []
        for decision in entry.decisions:
            self._fold(decision, entry.at)
            if self._talk is not None:
                self._ended += self._talk.fold(decision, entry.at)
        return [] if self._shared else [draft.ended(self._trace, at) for draft, at in self._ended]

    def _fold(self, decision: d.Decision, at: int) -> None:
        match decision:
            case d.BeginRun() | d.EndRun() | d.ForkHistory():
                self._of_run(decision)
            case d.CreateToken():
                self._create(decision, at)
            case d.CreateTokens(tokens):
                for creation in tokens:
                    self._create(creation, at)
            case d.RouteToken(token=token, ends=ends):
                if ends is not None:
                    self._end(token, at)
            case d.ParkToken(token=token):
                self._end(token, at)  # its work is done; waiting for siblings is none
            case d.EndTokens(tokens, status, reason):
                for number in numbers_in(tokens):
                    self._stop(TokenId(number), status, reason, at)
            case d.FailNode(token=token, error=error):
                self._fail(token, str(error.get("type", "failed")), str(error.get("message", "")))
            case d.BreakNode(token=token, failure=failure):
                self._fail(token, failure.type, failure.message)
            case d.ExecuteNode(token=token, executed=Executed(handled=TaskFailed() as failure)):
                self._fail(token, failure.type, failure.message)
            case _:
                self._work(decision, at)

    def _work(self, decision: d.Decision, at: int) -> None:
        """What a token does or waits for."""
        match decision:
            case d.DispatchToken(token=token, at=began, attempt=attempt):
                self._draft(token, began).attempt = Attempt(attempt, began, since_ms=began)
            case d.RedeliverToken(token=token, deliveries=deliveries):
                self._draft(token).attributes[names.DELIVERIES] = deliveries
            case d.NoteTask(token=token, note=TokensNote() as note):
                self._model_call(token, note, at)
            case d.RetryToken(token=token, at=failed, failure=failure):
                self._end_attempt(token, failed, failure)
            case (
                d.CallWorkflow(token=token, at=began, child=called)
                | d.CallAgent(token=token, at=began, conversation=called)
            ):
                self._draft(token, began).attributes[names.CALLED_RUN] = called
            case d.OpenGate(token=token, at=began) | d.AskInput(token=token, at=began):
                self._draft(token, began).events.append(SpanEvent("gate.opened", began))
            case d.TakeAnswer(token=token):
                self._draft(token).events.append(SpanEvent("gate.answered", at))
            case d.TimeOutGate(token=token):
                self._draft(token).events.append(SpanEvent("gate.timed_out", at))
            case (
                d.WaitForTimer(token=token, at=began)
                | d.WaitForSignal(token=token, at=began)
                | d.HoldNode(token=token, at=began)
            ):
                self._draft(token, began)
            case d.SuspendToken(token=token, at=when):
                self._draft(token).events.append(SpanEvent("task.sleeps", when))
            case _:
                pass

    # the run

    def _of_run(self, decision: d.BeginRun | d.EndRun | d.ForkHistory) -> None:
        match decision:
            case d.BeginRun(at=at, parent=parent, trigger=trigger):
                self._run.start_ms = at
                if parent is not None:
                    self._run.parent_id = span_id_of(parent.run, parent.token)
                if trigger is not None:
                    self._run.attributes[names.TRIGGER] = trigger.type
                    if trigger.type in LINKED and trigger.source is not None:
                        self._link(RunId(trigger.source))
            case d.EndRun(at=at, status=status, error=error):
                for token in list(self._tokens):  # of a run that broke an invariant; others have ended
                    self._stop(token, "cancelled", f"the run is {status}", at)
                self._run.attributes[names.STATUS] = status
                if status != "completed":
                    self._run.fail(status if error is None else error.type, "" if error is None else error.message)
                if self._talk is None:  # a conversation has no end of its own that matters: its turns are the spans
                    self._ended.append((self._run, at))
            case d.ForkHistory(at=at, run=run, dropped=dropped):
                self._fork(at, run, dropped)

    def _fork(self, at: int, run: RunId, dropped: tuple[TokenId, ...]) -> None:
        """Go on with another run's history: what ended there is no span here, what is under way begins here."""
        self._ended.clear()
        for token in dropped:
            self._tokens.pop(token, None)
        if run != self._facts.forked_from:
            return  # the other run is a fork too
        self._shared = False
        self._run.start_ms = at
        self._run.parent_id = None
        self._link(run)
        for draft in self._tokens.values():
            draft.start_ms = at

    def _link(self, run: RunId) -> None:
        trace = self._facts.other_traces.get(run) or trace_id_of(run)
        self._run.links.append(Link(trace, span_id_of(run)))

    # tokens

    def _create(self, creation: d.CreateToken, at: int) -> None:
        run = self._facts.run
        draft = TokenDraft(span_id_of(run, creation.token), self._run.span_id, creation.node, creation.path, at)
        draft.attributes = {names.RUN: run, names.NODE: creation.node, names.TOKEN: creation.token}
        draft.attributes[names.PATH] = creation.path
        if self._talk is None or self._talk.name(draft):
            self._tokens[creation.token] = draft

    def _draft(self, token: TokenId, began: int | None = None) -> TokenDraft:
        """The span of a token that does something. One that is not to be seen has a span that goes nowhere.

        `began`: when, which is a little before the end of the batch that created the token."""
        found = self._tokens.get(token) or TokenDraft("", None, "", "", 0)
        found.works = True
        if began is not None:
            found.start_ms = min(found.start_ms, began)
            if self._talk is not None and found.path:
                self._talk.begin(found)
        return found

    def _fail(self, token: TokenId, type: str, message: str) -> None:
        self._draft(token).fail(type, message)

    def _stop(self, token: TokenId, status: str, reason: str, at: int) -> None:
        if token in self._tokens:
            self._tokens[token].attributes[names.STATUS] = status
            if status != "completed":
                self._tokens[token].fail(status, reason)
            self._end(token, at)

    def _end(self, token: TokenId, at: int) -> None:
        draft = self._tokens.pop(token, None)
        if draft is None or not draft.works:
            return  # it was parked, or passed straight through
        if draft.attempt is not None:
            draft.attributes[names.ATTEMPT] = draft.attempt.number
            if draft.retried:
                self._ended.append((self._attempt_of(token, draft, draft.attempt), at))
        self._ended.append((draft, at))

    # attempts

    def _end_attempt(self, token: TokenId, at: int, failure: TaskFailed) -> None:
        draft = self._draft(token)
        if draft.attempt is not None:
            span = self._attempt_of(token, draft, draft.attempt)
            span.fail(failure.type, failure.message)
            self._ended.append((span, at))
        draft.retried, draft.attempt = True, None

    def _attempt_of(self, token: TokenId, draft: TokenDraft, attempt: Attempt) -> Draft:
        span_id = span_id_of(self._facts.run, token, attempt.number)
        span = Draft(span_id, draft.span_id, f"attempt {attempt.number}", attempt.start_ms)
        span.attributes = {names.RUN: self._facts.run, names.NODE: draft.node, names.ATTEMPT: attempt.number}
        span.status, span.message = draft.status, draft.message
        return span

    def _model_call(self, token: TokenId, note: TokensNote, at: int) -> None:
        """A model call that a step of a task reports. The journal has only its end: it began after the one before."""
        draft = self._draft(token)
        attempt = draft.attempt
        if attempt is None or (self._talk is not None and draft.client):
            return  # the model call of a turn is the token itself
        place = token, attempt.number, note.step, attempt.model_calls
        span = Draft(span_id_of(self._facts.run, *place), draft.span_id, names.CHAT, attempt.since_ms)
        span.client = True
        span.attributes = {**model_attributes(self._facts, note.profile), names.RUN: self._facts.run}
        span.name = f"{names.CHAT} {span.attributes.get(names.REQUEST_MODEL, note.profile)}"
        span.attributes |= {names.STEP: note.step, names.NODE: draft.node}
        span.attributes |= {names.INPUT_TOKENS: note.input, names.OUTPUT_TOKENS: note.output}
        attempt.model_calls += 1
        attempt.since_ms = at
        self._ended.append((span, at))
