"""Conversations as verbs print them."""

import msgspec

from jeton.cli.output import cut, echo, printable, short_json, styled_status
from jeton.engine.talk.looking_back import MoveExplanation
from jeton.engine.views.conversation import ConversationView, MoveView, ToolCallView, TurnView
from jeton.engine.views.plain import plain
from jeton.model.json import Json, JsonObject


def conversation_json(view: ConversationView) -> JsonObject:
    """`{conversation_id, agent, status, turns: [...]}`."""
    return plain(view)


def echo_conversation(view: ConversationView) -> None:
    """Print a conversation for people."""
    echo(f"{view.conversation_id}  {printable(view.agent)}  {styled_status(view.status)}")
    for turn in view.turns:
        echo_turn(turn)


def echo_turn(turn: TurnView) -> None:
    """Print a turn: what was said, what was done, and what came of it."""
    who = turn.caller.get("user") or turn.caller.get("agent") or turn.caller.get("run_id") or "you"
    echo(f"\n[{turn.id}] {printable(str(who))}: {printable_text(turn.message)}")
    for move in turn.moves:
        _echo_move(turn, move)
    for wait in turn.waiting_for:
        if wait.gate is not None:
            echo(f"    waits for approval {wait.gate}: {printable(wait.title or '')}")
    if turn.status != "completed":
        why = "" if turn.error is None else f": {printable(turn.error.message)}"
        echo(f"    {styled_status(turn.status)}{why}")
    if turn.issues:
        echo(f"    issues: {printable(short_json(plain_issues(turn)))}")


def plain_issues(turn: TurnView) -> Json:
    """The issues of a turn as plain data."""
    found: Json = msgspec.to_builtins(turn.issues)
    return found


def _echo_move(turn: TurnView, move: MoveView) -> None:
    if move.text:
        echo(f"{printable(turn.agent)}: {printable_text(move.text)}")
    for call in move.tool_calls:
        echo(f"    {call_line(call)}")


def call_line(call: ToolCallView) -> str:
    """A tool call in one line."""
    line = f"{printable(call.name)}({cut(printable(short_json(call.input)))})"
    if call.error is not None:
        return f"{line} -> {call.error.code}: {cut(printable(call.error.message))}"
    if call.result is msgspec.UNSET:
        return f"{line} ..."
    return f"{line} -> {cut(printable(short_json(call.result)))}"


def printable_text(text: str) -> str:
    """Text of several lines, each of which can be printed."""
    return "\n".join(printable(line) for line in text.split("\n"))


def echo_move(given: MoveExplanation) -> None:
    """Print what a model was given for a move."""
    echo(f"turn {given.turn}, move {given.move}, answered by {printable(given.answered_by or 'nobody yet')}")
    if given.summarised_turns:
        echo(f"  turns up to {given.summarised_turns} stand in the summary")
    elif given.left_out_turns:
        echo(f"  turns up to {given.left_out_turns} have left the window")
    if given.recalled:
        found = zip(given.recalled, given.scores, strict=False)
        shown = [f"{each} ({scores['total']})" if "total" in scores else each for each, scores in found]
        echo(f"  memories: {printable(', '.join(shown))}")
    for wait in given.waiting_for:
        echo(f"  waits for: {wait.kind} {printable(wait.node)}")
    if given.tools is not None:
        echo(f"  tools: {printable(', '.join(given.tools)) or 'none'}")
    for message in given.messages:
        fields: JsonObject = msgspec.to_builtins(message)
        role = fields.pop("role")
        echo(f"  {role}: {cut(printable(short_json(fields.get('text') if set(fields) == {'text'} else fields)))}")
