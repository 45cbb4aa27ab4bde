"""Bugs in the rules of conversations, as small changes to the source."""

from tests.mutants.mutant import Mutant

ASK = "src/jeton/planning/turns/ask.py"
CHAT = "src/jeton/planning/turns/chat.py"
STOP = "src/jeton/planning/turns/stop.py"
TOOLS = "src/jeton/planning/turns/tools.py"
APPROVAL = "src/jeton/planning/turns/approval.py"
WINDOW = "src/jeton/planning/turns/window.py"
TURN = "src/jeton/apply/turn.py"
TRANSCRIPT = "src/jeton/model/transcript.py"
TESTS = (
    "tests/planning/turns",
    "tests/simulation/test_talk.py::test_fixed_seeds_break_no_invariant_and_every_turn_ends",
    "tests/conformance/talks/test_talks.py",
    "tests/conformance/talks/test_restarts.py",
    "tests/engine/agents/test_conversations.py",
)


def _talk(name: str, file: str, old: str, new: str) -> Mutant:
    return Mutant(name, file, old, new, TESTS)


TALK_MUTANTS = (
    _talk(
        "calls of a turn that was stopped get no result", STOP, "        *_cancelled_calls(state, turn, reason),\n", ""
    ),
    _talk(
        "what a failed turn was told leaves the history",
        STOP,
        "        *_last_move(state, turn, reason, said),\n",
        "",
    ),
    _talk(
        "callers are not told that a conversation was cancelled",
        STOP,
        "for turn in state.talk.active() for each in end_turn(",
        "for turn in state.talk.active()[:0] for each in end_turn(",
    ),
    _talk(
        "a call that must not be made twice is made again",
        "src/jeton/planning/plan_run.py",
        "    deliveries = token.phase.deliveries\n"
        "    if program.talk is not None and is_once(program, state, token):\n",
        "    deliveries = token.phase.deliveries\n    if False:\n",
    ),
    _talk(
        "what a turn is steered with is dropped",
        ASK,
        "    before += [said_text(said) for said in turn.steered]\n",
        "",
    ),
    _talk(
        "the model makes one move more than it may",
        ASK,
        "turn.moves >= agent.persona.max_moves_per_turn",
        "turn.moves > agent.persona.max_moves_per_turn",
    ),
    _talk(
        "what an untrusted tool says does not taint the turn",
        TOOLS,
        "    taints = tainted or (tool is not None and tool.untrusted and _is_from_tool(result))\n",
        "    taints = tainted\n",
    ),
    _talk(
        "the key of a chat message is ignored",
        CHAT,
        "    known = None if message.key is None else talk.turn_of_key(message.key)\n",
        "    known = None\n",
    ),
    _talk(
        "steering leaves approvals open",
        CHAT,
        "        steered = [d.SteerTurn(moving.number, said, message.key), "
        "*_refuse_open(program, state, moving, message.text)]\n",
        "        steered = [d.SteerTurn(moving.number, said, message.key)]\n",
    ),
    _talk(
        "stopping all that moves withdraws what is queued",
        CHAT,
        '        found = [turn for turn in active if turn.phase != "queued"]\n',
        "        found = active\n",
    ),
    _talk(
        "two agents that were looped in move at once",
        CHAT,
        "turn.beside != moving.number:",
        "turn.beside is None:",
    ),
    _talk(
        "results that were told stay stored",
        TURN,
        '        draft.drop(draft.state.talk.came, call)\n        draft.touched.rest.talk.add(("came", *call))\n'
        "    asked = replace(\n",
        "        pass\n    asked = replace(\n",
    ),
    _talk(
        "an async result is told again with the next",
        ASK,
        "    return [*flags, ask, new_call(",
        "    ask = ask if not told else d.AskModel(turn.number, turn.moves, (*before, *before), (*told, *told))\n"
        "    return [*flags, ask, new_call(",
    ),
    _talk(
        "a looped-in agent that lingers is forgotten when the window shrinks",
        TURN,
        "    draft.urgent.append(TurnMoved(0))\n",
        "    draft.urgent.append(TurnMoved(0 if moving is None else moving.number))\n",
    ),
    _talk(
        "a lingering turn is not told of its results",
        CHAT,
        '        if turn.phase == "lingering" and turn.came:\n',
        '        if turn.phase == "lingering" and turn.came and turn.background:\n',
    ),
    _talk(
        "a turn asks the model while older ones are summarised",
        TURN,
        'replace(turn, phase="deciding", compacted=turn.compacted',
        "replace(turn, compacted=turn.compacted",
    ),
    _talk(
        "what was asked is forgotten when the model is asked again",
        TURN,
        "        asked=(*turn.asked, *decision.before),",
        "        asked=decision.before,",
    ),
    _talk(
        "a message that was withdrawn is in the history",
        TRANSCRIPT,
        "        if turn.began_at is None or ",
        '        if turn.phase == "queued" or ',
    ),
    _talk(
        "an agent is given the calls of another",
        TRANSCRIPT,
        "        ours, said = turn.agent == current.agent, ",
        "        ours, said = True, ",
    ),
    _talk(
        "the newer half leaves the window",
        WINDOW,
        "    return ended[(len(ended) - 1) // 2]\n",
        "    return ended[-1]\n",
    ),
    _talk(
        "an exclusive call starts beside others",
        TOOLS,
        "for each in (*at_work, call)):",
        "for each in at_work):",
    ),
    _talk(
        "an approval lets a call run past the limit",
        TOOLS,
        "    if waits and where not in place.turn.background:\n",
        "    if waits and where not in place.turn.background and not isinstance(token.phase, WaitingForGate):\n",
    ),
    _talk(
        "an edited input is not used",
        APPROVAL,
        '        given = first.get("input")\n',
        '        given = given or first.get("input")\n',
    ),
    _talk(
        "an approval of another input counts",
        APPROVAL,
        "    return answers[edits[-1] :] if edits else answers\n",
        "    return answers\n",
    ),
    _talk(
        "a conversation that was paused does not go on",
        "src/jeton/actor/advance.py",
        "            draft.urgent.extend(TurnMoved(turn.number) for turn in state.talk.active() if state.has_talk)\n",
        "",
    ),
    _talk(
        "nobody is told that a conversation has ended",
        "src/jeton/actor/advance.py",
        "        draft.effects += [] if told is None else [SendMessage(*told)]\n",
        "        assert told is None or told\n",
    ),
    _talk(
        "the worker of a call that timed out goes on",
        STOP,
        '    return d.EndTokens(to_ranges((token.id,)), "failed", why)\n',
        '    return d.RouteToken(token.id, token.node, "failed")  # type: ignore[return-value]\n',
    ),
    Mutant(
        "two conversations that ask each other are not told",
        "src/jeton/planning/turns/waiters.py",
        "    if waits_here(state, new):\n",
        "    if False:\n",
        (
            "tests/planning/turns/test_waiters.py",
            "tests/conformance/talks/test_talks.py::test_two_conversations_that_ask_each_other_do_not_wait_for_ever",
        ),
    ),
    Mutant(
        "a run does not pass on who waits for it",
        "src/jeton/planning/turns/waiters.py",
        "        told = tuple(token.id for token in state.tokens.values() if _is_waiting(token))\n",
        "        told: tuple[TokenId, ...] = ()\n",
        ("tests/conformance/talks/test_talks.py::test_two_conversations_that_ask_each_other_do_not_wait_for_ever",),
    ),
    Mutant(
        "an order that a tool gave is obeyed in the next turn",
        ASK,
        "not turn.tainted and reads_tainted(state.talk, turn.number)",
        "False",
        ("tests/planning/turns/test_ask.py", "tests/conformance/talks/test_injection.py"),
    ),
)
