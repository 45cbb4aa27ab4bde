"""Decisions about the turns of a conversation: what they change, and the facts they make true."""

from collections.abc import Iterator

import msgspec

from jeton.apply.draft import Draft
from jeton.apply.rule import no_change, no_facts, rule
from jeton.model import decision as d
from jeton.model import event as ev
from jeton.model.chat import ToolResult
from jeton.model.cue import TurnMoved
from jeton.model.effect import SendMessage
from jeton.model.failure import BrokenInvariant, RunError
from jeton.model.message import BudgetSettled, TurnOver
from jeton.model.state.day_budget import DAYS
from jeton.model.state.phase import Pending
from jeton.model.state.ranges import Ranges, joined
from jeton.model.state.talk import KEYS_PER_ROW, ROWS_PER_MERGE, CallResult, TalkHead, Turn, TurnError, keys_with

replace = msgspec.structs.replace


def _turn(draft: Draft, number: int) -> Turn:
    found = draft.state.talk.turns.get(number)
    if found is None or found.phase == "ended":
        raise BrokenInvariant("the turn does not exist or has ended", turn=number)
    return found


def put_turn(draft: Draft, turn: Turn) -> None:
    """Write a turn, and have its next step planned."""
    draft.put(draft.state.talk.turns, turn.number, turn)
    draft.touched.rest.talk.add(("turn", turn.number))
    draft.urgent.append(TurnMoved(turn.number))


def _put_head(draft: Draft, head: TalkHead) -> None:
    draft.put(draft.state.talk.heads, 0, head)
    draft.touched.rest.talk.add(("talk",))


def _next_order(draft: Draft) -> int:
    head = draft.state.talk.head
    _put_head(draft, replace(head, next_order=head.next_order + 1))
    return head.next_order


def _open_conversation(draft: Draft, decision: d.OpenConversation) -> None:
    _put_head(draft, TalkHead(decision.agent))


def _add_turn(draft: Draft, decision: d.AddTurn) -> None:
    head = draft.state.talk.head
    if decision.turn != head.next_turn:
        raise BrokenInvariant("a turn is out of order", turn=decision.turn, next=head.next_turn)
    _put_head(draft, replace(head, next_turn=head.next_turn + 1))
    _put_key(draft, decision.key, decision.turn)
    draft.put(draft.state.talk.given, decision.turn, decision.given)
    draft.touched.rest.talk.add(("given", decision.turn))
    caller = decision.caller
    put_turn(draft, Turn(decision.turn, decision.agent, caller, tainted=caller.tainted, beside=decision.beside))


def _put_key(draft: Draft, key: str | None, turn: int) -> None:
    if key is None:
        return
    keys, chunk = draft.state.talk.keys, turn // KEYS_PER_ROW
    if chunk not in keys:
        _merge_keys(draft, chunk)
    draft.put(keys, chunk, keys_with(keys.get(chunk, ""), key, turn))
    draft.touched.rest.talk.add(("keys", chunk))


def _merge_keys(draft: Draft, chunk: int) -> None:
    """Put the full rows before a new one together, so that a long conversation has few to load: once in 256 turns."""
    keys, end = draft.state.talk.keys, chunk // ROWS_PER_MERGE * ROWS_PER_MERGE
    rows = [each for each in range(end - ROWS_PER_MERGE, end) if each in keys]
    if len(rows) < 2:
        return
    draft.put(keys, rows[0], "".join([keys[each] for each in rows]))
    for each in rows[1:]:
        draft.drop(keys, each)
    draft.touched.rest.talk.update(("keys", each) for each in rows)


def _begin_turn(draft: Draft, decision: d.BeginTurn) -> None:
    turn = _turn(draft, decision.turn)
    draft.state.head.version = decision.version
    order = _next_order(draft)
    begun = replace(turn, phase="assembling", version=decision.version, order=order, began_at=decision.at)
    put_turn(draft, begun)


def _prepare_turn(draft: Draft, decision: d.PrepareTurn) -> None:
    turn, given = _turn(draft, decision.turn), draft.state.talk.given[decision.turn]
    prepared = replace(
        given,
        context=decision.context,
        messages=decision.messages,
        instructions=given.instructions if decision.instructions is None else decision.instructions,
        tools=given.tools if decision.tools is None else decision.tools,
    )
    if prepared != given:
        draft.put(draft.state.talk.given, turn.number, prepared)
        draft.touched.rest.talk.add(("given", turn.number))
    put_turn(draft, replace(turn, phase="deciding", tainted=turn.tainted or decision.tainted))


def _ask_model(draft: Draft, decision: d.AskModel) -> None:
    turn = _turn(draft, decision.turn)
    if decision.move != turn.moves:
        raise BrokenInvariant("a move is out of order", turn=turn.number, move=decision.move)
    for call in turn.came:
        draft.drop(draft.state.talk.came, call)
        draft.touched.rest.talk.add(("came", *call))
    asked = replace(
        turn,
        phase="deciding",
        place=_next_order(draft) if turn.place is None else turn.place,
        asked=(*turn.asked, *decision.before),  # what had no answer yet is asked again
        told=(*turn.told, *decision.told),
        latest=decision.latest or turn.latest,
        last=decision.last,
        nudged=decision.nudge,
        steered=(),
        came=(),
        asking=True,
        tainted=turn.tainted or decision.tainted,
    )
    put_turn(draft, asked)


def _add_move(draft: Draft, decision: d.AddMove) -> None:
    turn, move = _turn(draft, decision.turn), decision.move
    if decision.number != turn.moves:
        raise BrokenInvariant("a move is out of order", turn=turn.number, move=decision.number)
    order, before = _next_order(draft) if turn.place is None else turn.place, (*turn.asked, *move.before)
    draft.put(draft.state.talk.moves, (turn.number, decision.number), replace(move, order=order, before=before))
    draft.touched.rest.talk.add(("move", turn.number, decision.number))
    head = draft.state.talk.head
    tokens = move.usage.input_tokens + move.usage.output_tokens
    measured = {**head.measured, turn.agent: (tokens, order)} if tokens else head.measured
    _put_head(draft, replace(head, script=_script(head, turn.agent, decision.used), measured=measured))
    moved = replace(
        turn, phase="executing", moves=turn.moves + 1, asked=(), place=None, told=(), asking=False, compacted=False,
        held=(),
    )  # fmt: skip
    put_turn(draft, moved)


def _script(head: TalkHead, agent: str, used: tuple[int, ...]) -> dict[str, Ranges]:
    return {**head.script, agent: joined(head.script.get(agent, ()), used)} if used else head.script


def _use_script(draft: Draft, decision: d.UseScript) -> None:
    head = draft.state.talk.head
    _put_head(draft, replace(head, script=_script(head, decision.agent, decision.used)))


def _answer_call(draft: Draft, decision: d.AnswerCall) -> None:
    turn = _turn(draft, decision.turn)
    _put_result(draft, (decision.turn, decision.move, decision.call), decision.result)
    put_turn(draft, _counted(turn, decision))


def _counted(turn: Turn, decision: d.AnswerCall | d.KeepAsync) -> Turn:
    """The turn with one more result: an error is counted, and an untrusted source taints it."""
    tainted = turn.tainted or decision.taints
    if decision.result.result.error is None:
        return replace(turn, tainted=tainted)
    count = turn.issues.get("tool_failures", 0)
    issues = {**turn.issues, "tool_failures": count + 1 if isinstance(count, int) else 1}
    return replace(turn, tainted=tainted, issues=issues)


def _put_result(draft: Draft, call: tuple[int, int, int], result: CallResult) -> None:
    if call in draft.state.talk.results:
        raise BrokenInvariant("a tool call has a result already", call=list(call))
    draft.put(draft.state.talk.results, call, result)
    draft.touched.rest.talk.add(("result", *call))


def _hold_call(draft: Draft, decision: d.HoldCall) -> None:
    turn, place = _turn(draft, decision.turn), (decision.turn, decision.move, decision.call)
    draft.put_token(replace(draft.token(decision.token), phase=Pending()))
    put_turn(draft, replace(turn, held=(*turn.held, place)))


def _start_async(draft: Draft, decision: d.StartAsync) -> None:
    turn, place = _turn(draft, decision.turn), (decision.turn, decision.move, decision.call)
    call = draft.state.talk.calls_of(decision.turn, decision.move)[decision.call]
    _put_result(draft, place, CallResult(ToolResult(call.id, call.name, {"status": "started", "call": call.id})))
    put_turn(draft, replace(turn, background=(*turn.background, place)))


def _keep_async(draft: Draft, decision: d.KeepAsync) -> None:
    turn, place = _turn(draft, decision.turn), (decision.turn, decision.move, decision.call)
    draft.put(draft.state.talk.came, place, decision.result)
    draft.touched.rest.talk.add(("came", *place))
    background = tuple(each for each in turn.background if each != place)
    put_turn(draft, _counted(replace(turn, background=background, came=(*turn.came, place)), decision))


def _steer_turn(draft: Draft, decision: d.SteerTurn) -> None:
    turn = _turn(draft, decision.turn)
    _put_key(draft, decision.key, decision.turn)
    put_turn(draft, replace(turn, steered=(*turn.steered, decision.said)))


def _linger_turn(draft: Draft, decision: d.LingerTurn) -> None:
    put_turn(draft, replace(_turn(draft, decision.turn), phase="lingering"))


def _extract_turn(draft: Draft, decision: d.ExtractTurn) -> None:
    put_turn(draft, replace(_turn(draft, decision.turn), phase="extracting"))


def _recall_similar(draft: Draft, decision: d.RecallSimilar) -> None:
    turn = _turn(draft, decision.turn)
    put_turn(draft, replace(turn, similar=decision.memories, tainted=turn.tainted or decision.tainted))


def _flag_turn(draft: Draft, decision: d.FlagTurn) -> None:
    turn = _turn(draft, decision.turn)
    put_turn(draft, replace(turn, issues={**turn.issues, decision.issue: decision.value}))


def _allow_tool(draft: Draft, decision: d.AllowTool) -> None:
    head = draft.state.talk.head
    if decision.tool not in head.allowed:
        _put_head(draft, replace(head, allowed=(*head.allowed, decision.tool)))


def _edit_call(draft: Draft, decision: d.EditCall) -> None:
    call = decision.turn, decision.move, decision.call
    draft.put(draft.state.talk.edits, call, decision.input)
    draft.touched.rest.talk.add(("edit", *call))


def _join(draft: Draft, decision: d.JoinConversation) -> None:
    head = draft.state.talk.head
    if decision.agent not in head.participants:
        _put_head(draft, replace(head, participants=(*head.participants, decision.agent)))


def _spend_budget(draft: Draft, decision: d.SpendBudget) -> None:
    turn, head = _turn(draft, decision.turn), draft.state.talk.head
    _put_head(draft, replace(head, spent=head.spent + decision.millionths))
    day = None if turn.day is None else replace(turn.day, spent=turn.day.spent + decision.millionths)
    put_turn(draft, replace(turn, spent=turn.spent + decision.millionths, day=day))


def _add_budget(draft: Draft, decision: d.AddBudget) -> None:
    """Add credits, also to the day if it is that which has too few."""
    turn, head = _turn(draft, decision.turn), draft.state.talk.head
    _put_head(draft, replace(head, added=head.added + decision.credits))
    if turn.day is not None and turn.day.phase == "short":
        more = BudgetSettled(draft.now, turn.agent, turn.day.day, added=decision.credits)
        draft.effects.append(SendMessage(DAYS, more))
        turn = replace(turn, day=None)
    put_turn(draft, replace(turn, added=turn.added + decision.credits))


def settled(draft: Draft, turn: Turn, at: int) -> Turn:
    """The turn without what it has of its agent's day, of which the account is given back what was not used."""
    day = turn.day
    if day is not None and day.phase == "granted" and day.amount != day.spent:
        draft.effects.append(SendMessage(DAYS, BudgetSettled(at, turn.agent, day.day, day.amount - day.spent)))
    return replace(turn, day=None)


def _compact_turn(draft: Draft, decision: d.CompactTurn) -> None:
    turn = _turn(draft, decision.turn)
    put_turn(draft, replace(turn, phase="deciding", compacted=turn.compacted or decision.refused, asking=False))


def _shorten_results(draft: Draft, decision: d.ShortenResults) -> None:
    _put_head(draft, replace(draft.state.talk.head, shortened=decision.upto, measured={}))
    draft.urgent.append(TurnMoved(decision.turn))


def _shrink_window(draft: Draft, decision: d.ShrinkWindow) -> None:
    """Remove turns from the window, with all that belongs to them. Turns that have not ended stay."""
    talk, head = draft.state.talk, draft.state.talk.head
    for number in [n for n, turn in talk.turns.items() if n <= decision.upto and turn.phase == "ended"]:
        _drop_turn(draft, number)
    if decision.summary is not None:
        more = replace(head, summary=decision.summary, summarised=decision.upto, tainted=decision.tainted, measured={})
        _put_head(draft, more)
    else:
        left_out = decision.upto if decision.why == "left_out" else head.left_out
        _put_head(draft, replace(head, left_out=left_out, measured={}))
    moving = talk.moving()
    if moving is not None:
        draft.urgent.append(TurnMoved(moving.number))
    # the turn that needed the room may be one that lingers beside that
    draft.urgent.append(TurnMoved(0))


def _drop_turn(draft: Draft, number: int) -> None:
    talk, touched = draft.state.talk, draft.touched.rest.talk
    turn = talk.turns[number]
    for move in range(turn.moves):
        for index in range(len(talk.calls_of(number, move))):
            if (number, move, index) in talk.results:
                draft.drop(talk.results, (number, move, index))
                touched.add(("result", number, move, index))
        draft.drop(talk.moves, (number, move))
        touched.add(("move", number, move))
    for call in [each for each in talk.came if each[0] == number]:
        draft.drop(talk.came, call)
        touched.add(("came", *call))
    for call in [each for each in talk.edits if each[0] == number]:
        draft.drop(talk.edits, call)
        touched.add(("edit", *call))
    draft.drop(talk.given, number)
    draft.drop(talk.turns, number)
    touched.update((("given", number), ("turn", number)))


def rewind(draft: Draft, turn: int) -> None:
    """Forget the turns from this one on, in a fork; earlier ones that had not ended are stopped."""
    talk = draft.state.talk
    for number in [each for each in talk.turns if each >= turn]:
        _drop_turn(draft, number)
    for number, earlier in list(talk.turns.items()):
        if earlier.phase != "ended":
            ended = replace(earlier, phase="ended", status="cancelled", asking=False, day=None, similar=None)
            draft.put(talk.turns, number, ended)
            draft.touched.rest.talk.add(("turn", number))
    for chunk, keys in list(talk.keys.items()):
        draft.put(talk.keys, chunk, "")
        draft.touched.rest.talk.update([("keys", chunk)] if keys else [])
    _put_head(draft, replace(talk.head, next_turn=turn))


def _end_turn(draft: Draft, decision: d.EndTurn) -> None:
    turn = settled(draft, _turn(draft, decision.turn), decision.at)
    ended = replace(
        turn, phase="ended", status=decision.status, error=decision.error, steered=(), asking=False, similar=None
    )
    put_turn(draft, ended)
    _tell_caller(draft, turn, decision)


def _tell_caller(draft: Draft, turn: Turn, end: d.EndTurn) -> None:
    """Tell the token that waits for a turn, if any, that it is over."""
    caller = turn.caller
    if caller.run is not None and caller.token is not None:
        message = TurnOver(
            end.at, caller.token, draft.state.head.run, turn.number, end.status, end.text, end.data, end.error,
            turn.tainted,
        )  # fmt: skip
        draft.effects.append(SendMessage(caller.run, message))


def end_turns(draft: Draft, at: int, error: RunError | None) -> None:
    """End the turns of a conversation that ends without having stopped them, and tell their callers."""
    why = TurnError("run_ended", "the conversation ended") if error is None else TurnError(error.type, error.message)
    for turn in draft.state.talk.active():
        _end_turn(draft, d.EndTurn(turn.number, at, "failed", why))


# facts


def _added(decision: d.AddTurn) -> tuple[ev.Fact, ev.Fact]:
    said = decision.given.said
    return ev.MessageAdded(decision.turn, said.by, said.text, said.attachments), ev.TurnQueued(
        decision.turn, decision.agent
    )


def _moved(decision: d.AddMove) -> Iterator[ev.Fact]:
    turn, number, move = decision.turn, decision.number, decision.move
    if move.interrupted:
        yield ev.MoveInterrupted(turn, number)
    else:
        yield ev.MoveCompleted(turn, number, move.profile, move.model, move.usage, len(move.calls))
    if move.text:
        yield ev.MessageAdded(turn, move.by, move.text, (), number, move.interrupted)
    for index, call in enumerate(move.calls):
        yield ev.ToolCalled(turn, number, index, call.name, call.input)


def _answered(decision: d.AnswerCall | d.KeepAsync) -> tuple[ev.Fact]:
    result, later = decision.result.result, isinstance(decision, d.KeepAsync)
    place = decision.turn, decision.move, decision.call
    return (ev.ToolAnswered(*place, result.name, result.error, later),)


def _steered(decision: d.SteerTurn) -> tuple[ev.Fact, ev.Fact]:
    said = decision.said
    return ev.MessageAdded(decision.turn, said.by, said.text, said.attachments), ev.TurnSteered(decision.turn)


def _ended(decision: d.EndTurn) -> tuple[ev.Fact]:
    match decision.status:
        case "completed":
            return (ev.TurnCompleted(decision.turn),)
        case "failed":
            return (ev.TurnFailed(decision.turn, decision.error),)
        case "cancelled":
            return (ev.TurnCancelled(decision.turn, decision.error),)
        case "exhausted":
            return (ev.TurnExhausted(decision.turn, decision.error),)
        case "active":
            raise BrokenInvariant("not a status that a turn ends with", status=decision.status)


RULES = (
    rule(d.OpenConversation, _open_conversation, lambda x: (ev.ConversationOpened(x.agent),)),
    rule(d.AddTurn, _add_turn, _added, 2),
    rule(d.BeginTurn, _begin_turn, lambda x: (ev.TurnStarted(x.turn, x.version),)),
    rule(d.PrepareTurn, _prepare_turn, lambda x: (ev.TurnPrepared(x.turn, x.recalled),)),
    rule(d.AskModel, _ask_model, lambda x: (ev.MoveStarted(x.turn, x.move),)),
    rule(d.RestartMove, no_change, lambda x: (ev.MoveRestarted(x.turn, x.move, x.delivery),)),
    rule(d.AddMove, _add_move, _moved, lambda x: 1 + bool(x.move.text) + len(x.move.calls)),
    rule(d.UseScript, _use_script, no_facts, 0),
    rule(d.AnswerCall, _answer_call, _answered),
    rule(d.HoldCall, _hold_call, no_facts, 0),
    rule(d.StartAsync, _start_async, lambda x: (ev.ToolStarted(x.turn, x.move, x.call),)),
    rule(d.KeepAsync, _keep_async, _answered),
    rule(d.SteerTurn, _steer_turn, _steered, 2),
    rule(d.LingerTurn, _linger_turn, lambda x: (ev.TurnLingering(x.turn),)),
    rule(d.ExtractTurn, _extract_turn, lambda x: (ev.TurnExtracting(x.turn),)),
    rule(d.RecallSimilar, _recall_similar, no_facts, 0),
    rule(d.FlagTurn, _flag_turn, lambda x: (ev.TurnFlagged(x.turn, x.issue, x.value),)),
    rule(d.AllowTool, _allow_tool, lambda x: (ev.ToolAllowed(x.tool),)),
    rule(d.EditCall, _edit_call, lambda x: (ev.InputEdited(x.turn, x.move, x.call, x.input),)),
    rule(d.JoinConversation, _join, lambda x: (ev.AgentJoined(x.agent),)),
    rule(d.SpendBudget, _spend_budget, no_facts, 0),
    rule(d.AddBudget, _add_budget, lambda x: (ev.BudgetAdded(x.turn, x.credits),)),
    rule(d.ShrinkWindow, _shrink_window, lambda x: (ev.WindowShrunk(x.upto, x.why),)),
    rule(d.ShortenResults, _shorten_results, lambda x: (ev.ResultsShortened(x.turn),)),
    rule(d.CompactTurn, _compact_turn, lambda x: (ev.TurnCompacting(x.turn),)),
    rule(d.EndTurn, _end_turn, _ended),
)
