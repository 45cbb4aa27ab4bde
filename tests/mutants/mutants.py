"""Bugs we know engines like this one have, as small changes to the source. The tests must notice every one of them."""

from tests.mutants.doors import DOOR_MUTANTS
from tests.mutants.memory import MEMORY_MUTANTS
from tests.mutants.mutant import Mutant
from tests.mutants.questions import QUESTION_MUTANTS
from tests.mutants.talk import TALK_MUTANTS

PLAN_RUN = "src/jeton/planning/plan_run.py"
NODE = "src/jeton/planning/tokens/node.py"
FAN_IN = "src/jeton/planning/tokens/fan_in.py"
ROUTING = "src/jeton/planning/tokens/routing.py"
FLOW = "src/jeton/planning/flow/readiness.py"
TOKEN = "src/jeton/apply/token.py"
GROUP = "src/jeton/apply/group.py"
CREDITS = "src/jeton/apply/credits.py"
PROCESS = "src/jeton/hosts/simulated/process.py"

MUTANTS = (
    Mutant(
        "a slot that arrives with two tokens counts twice",
        GROUP,
        "        fan_ins = {**fan_ins, decision.node: _with_arrival(draft, group_id, fan_ins, decision)}\n",
        "        counted = _with_arrival(draft, group_id, fan_ins, decision)\n"
        "        more = msgspec.structs.replace(counted, arrived=counted.arrived + len(slot.waiting) - 1)\n"
        "        fan_ins = {**fan_ins, decision.node: more}\n",
    ),
    Mutant(
        "branches are merged in the order they arrived",
        FAN_IN,
        "[(index, brought.get(index, UNSET)) for index in slots]",
        "list(brought.items())",
    ),
    Mutant(
        "a quorum expression is evaluated twice",
        FAN_IN,
        "    if node not in state.progress[group_id].fan_ins:  # the first arrival\n",
        "    if True:\n",
    ),
    Mutant(
        "a fan-in that opens drops the quorums of the others of its group",
        GROUP,
        "if node in left}\n    draft.put_progress",
        "if node not in left}\n    draft.put_progress",
    ),
    Mutant(
        "a deadline acts before timers of the same time that are older",
        TOKEN,
        "token.entering(phase))\n    draft.timers.watch_token(decision.deadline, decision.at, token.id)",
        "token.entering(phase))\n    draft.timers.watch_token(decision.deadline, 0, token.id)",
    ),
    Mutant(
        "a group is told by its name alone",
        ROUTING,
        "        if wanted is None or group.name == wanted:\n            return group.id",
        "        if wanted is None or group.name == wanted:\n"
        "            return min(g.id for g in state.groups.values() if g.name == group.name)",
    ),
    Mutant(
        "an unconditional transition swallows a failure",
        "src/jeton/planning/program/workflow.py",
        "for priority, transition in out if transition.handles_failure]",
        "for priority, transition in out if transition.handles_failure or transition.condition is None]",
    ),
    Mutant(
        "a late error fails the run",
        PLAN_RUN,
        "    if isinstance(token, str):\n        return Plan([d.IgnoreLate(message.token, message.attempt, token)])",
        "    if isinstance(token, str):\n"
        "        if message.failure is not None:\n"
        '            return Plan(end_run(state, message.at, "failed", RunError("late", token)))\n'
        "        return Plan([d.IgnoreLate(message.token, message.attempt, token)])",
    ),
    Mutant(
        "effects leave before their commit",
        PROCESS,
        '        self._may_crash("crash_before_commit")\n        self._may_crash("commit_fails")\n',
        "        entry = None if turn.entry is None else decode_entry(turn.entry.body)\n"
        "        self._env.calls.note(run, () if entry is None else entry.decisions)\n"
        "        self._release(run, turn)\n"
        '        self._may_crash("crash_before_commit")\n        self._may_crash("commit_fails")\n',
    ),
    Mutant(
        "the clock of a fan-in starts with the run",
        FAN_IN,
        "deadline = None if timeout is None else now + timeout\n",
        "deadline = None if timeout is None else (state.head.started_at or now) + timeout\n",
    ),
    Mutant(
        "loops are counted for the run, not for the lineage",
        NODE,
        "choose_transitions(node.tiers, token.loops, names,",
        "choose_transitions(node.tiers, {k: n for t in state.tokens.values() for k, n in t.loops.items()}, names,",
    ),
    Mutant(
        "the continuation of a fan-in forgets its loop counts",
        FAN_IN,
        "group.origin, group.outer, group.loops)",
        "group.origin, group.outer, {})",
    ),
    Mutant(
        "a lost slot still counts for a quorum",
        FAN_IN,
        '"waits" if arrived + live >= needed else "fails"',
        '"waits" if live else "fails"',
    ),
    Mutant(
        "an abandoned branch goes on",
        PLAN_RUN,
        "    if token.abandoned:\n        ends: TokenEnd",
        "    if token.abandoned and message.failure is not None:\n        ends: TokenEnd",
    ),
    Mutant(
        "a result is taken whatever its attempt",
        PLAN_RUN,
        "    if token.attempt != attempt:",
        "    if token.attempt < attempt:",
    ),
    Mutant(
        "recovery looks once, on opening",
        PROCESS,
        "        if not self._looking:\n",
        "        if not self._looking and self._clock.steady < 0:\n",
    ),
    Mutant(
        "a message is forgotten before its commit",
        PROCESS,
        '        self._may_crash("commit_fails")\n        self._commit(turn, waiting)\n',
        "        self._store.answer(run, waiting)\n"
        '        self._may_crash("commit_fails")\n'
        "        self._commit(turn, {})\n",
    ),
    Mutant(
        "an alarm rings by the clock on the wall when it was set",
        "src/jeton/hosts/simulated/alarms.py",
        "        if self._alarms.get(run) == due and due.is_due(self._clock.now(), self._clock.wall()):\n",
        "        if self._alarms.get(run) == due:\n",
    ),
    Mutant(
        "a length of time follows the wall clock",
        "src/jeton/hosts/simulated/alarms.py",
        "after_ms = due.at(self._clock.ahead) - self._clock.now()",
        "after_ms = due.at(self._clock.ahead) - self._clock.wall()",
    ),
    Mutant(
        "a point in time follows the time of messages",
        "src/jeton/apply/timers.py",
        "point = point if point is not None and point[0] <= wall else None",
        "point = point if point is not None and point[0] <= now else None",
    ),
    Mutant(
        "a timer goes off early",
        "src/jeton/apply/timers.py",
        "length = length if length is not None and length[0] <= now else None",
        "length = length if length is not None and length[0] <= now + 3 else None",
    ),
    Mutant(
        "deliveries are not counted",
        PLAN_RUN,
        "message.at, deliveries + 1)\n",
        "message.at, deliveries)\n",
    ),
    Mutant(
        "a cancelled task is not stopped",
        TOKEN,
        "            draft.stop_task(token)\n            draft.drop_token(token)\n",
        "            draft.drop_token(token)\n",
    ),
    Mutant(
        "a success leaves the last error where it was",
        TOKEN,
        "    if token.error is not None:  # cleared",
        "    if token.error is not None and not decision:  # a success",
    ),
    Mutant(
        "an inner merge lands in the run's context",
        FAN_IN,
        "MergeBranches(group.id, node, sync.merge.target, value, group.outer)",
        "MergeBranches(group.id, node, sync.merge.target, value)",
    ),
    Mutant(
        "slots left behind by a timeout end cancelled",
        FAN_IN,
        'open_fan_in(program, state, group, node, sync, now, "timed_out")',
        "open_fan_in(program, state, group, node, sync, now)",
    ),
    Mutant(
        "max_parallel starts one too many",
        FAN_IN,
        "room = min(segment.max_parallel - progress.flying[number],",
        "room = min(segment.max_parallel + 1 - progress.flying[number],",
    ),
    Mutant(
        "one section is not stored",
        "src/jeton/apply/draft.py",
        "        self.touched.rest.slots.add((slot[0], slot[1] // SLOTS_PER_STRETCH))\n",
        "        if slot[1]:\n            self.touched.rest.slots.add((slot[0], slot[1] // SLOTS_PER_STRETCH))\n",
    ),
    Mutant(
        "events are miscounted",
        GROUP,
        "_opened, lambda x: 1 + count_in(x.tokens)",
        "_opened, lambda x: count_in(x.tokens)",
    ),
    Mutant(
        "the context has its keys in another order after loading",
        "src/jeton/apply/draft.py",
        "        if not known:\n            _keep_in_order(table)\n",
        "",
    ),
    Mutant(
        "what an earlier message left for the next batch is forgotten",
        "src/jeton/actor/advance.py",
        "        self._now, self._moves = message.at, moves\n",
        "        self._now, self._moves, self.again = message.at, moves, False\n",
    ),
    Mutant(
        "a node that finished and cannot fan out is counted twice",
        TOKEN,
        "    if type(token.phase) is Pending and draft.finished != token.id:",
        "    if type(token.phase) is Pending:",
    ),
    Mutant(
        "a fan-out is refused that just fits",
        ROUTING,
        "state.head.parked - 1 + len(creations.decisions)",
        "state.head.parked + len(creations.decisions)",
    ),
    Mutant(
        "the joins of a group are looked up without the groups around it",
        "src/jeton/planning/tokens/joins.py",
        "group.name, _names_around(state, group))",
        "group.name, ())",
    ),
    Mutant(
        "a slot arrives at the fan-in that any of its tokens reached first",
        GROUP,
        "    return now if now[0] > before[0] else before\n",
        "    return before\n",
    ),
    Mutant(
        "the worker of an abandoned task is left to itself",
        "src/jeton/planning/waits/deadline.py",
        "            # its worker must be stopped\n"
        '            return Plan(end_tokens(state, (token.id,), "timed_out", "the branch was abandoned"))\n',
        '            return Plan([RouteToken(token.id, token.node, "timed_out")])\n',
    ),
    Mutant(
        "a signal wakes everybody who waits for it",
        "src/jeton/planning/waits/signal.py",
        "    taken: list[Decision] = [kept, TakeSignal(token.id, kept.name, kept.number), ",
        "    taken: list[Decision] = [kept, ",
    ),
    Mutant(
        "a key is not remembered",
        "src/jeton/apply/waits.py",
        "    if decision.key is not None:\n        draft.put(",
        "    if decision.key is not None and not decision.key:\n        draft.put(",
    ),
    Mutant(
        "who took one of several signals goes on waiting for the others",
        "src/jeton/apply/draft.py",
        "                for name in hears:\n",
        "                for name in hears if listed else hears[:1]:\n",
    ),
    Mutant(
        "of several names the signals of the first are taken first",
        "src/jeton/planning/waits/signal.py",
        "    for number, name in merge(*kept):\n",
        "    for number, name in (each for one in kept for each in one):\n",
    ),
    Mutant(
        "a wait with a default fails when its time is over",
        "src/jeton/planning/waits/signal.py",
        '    if target.on_timeout != "fail":\n',
        '    if target.on_timeout == "proceed":\n',
    ),
    Mutant(
        "a signal of any name is kept",
        "src/jeton/planning/waits/signal.py",
        "    if message.name not in program.hearers:\n        return Plan([_unknown(program, message)])\n",
        "    if message.name not in program.hearers:\n        return Plan([_kept(state, message)])\n",
    ),
    Mutant(
        "a run that has ended forgets what it was told",
        "src/jeton/actor/replies.py",
        'refused.code != "run_ended" or not heard(',
        'refused.code == "run_ended" or not heard(',
    ),
    Mutant(
        "an early answer reaches any gate of its node",
        "src/jeton/planning/waits/gate.py",
        "        if (early.node, early.path) != (token.node, token.path) or",
        "        if early.node != token.node or",
    ),
    Mutant(
        "one person approves twice",
        "src/jeton/planning/waits/gate.py",
        "any(other.by == answer.by for other in taken)",
        "any(other is answer for other in taken)",
    ),
    Mutant(
        "children go on when their parent ends",
        "src/jeton/planning/tokens/cancel.py",
        "            stopped += stop_children(token, reason)\n",
        "            stopped += []\n",
    ),
    Mutant(
        "an end leaves a child running",
        "src/jeton/planning/tokens/completion.py",
        'alive_in_run(state) - {by.id}, "cancelled"',
        "[t for t in alive_in_run(state) - {by.id} if t not in state.tokens"
        ' or state.tokens[t].phase.kind != "subworkflow"], "cancelled"',
    ),
    Mutant(
        "a failed end can be handled",
        "src/jeton/planning/tokens/end.py",
        '    return end_run(state, now, "failed", error, failing=token)\n',
        "    return plan_failure(program, state, token, TaskFailed(error.type, error.message), now)\n",
    ),
    Mutant(
        "a fork of a run that a node ended goes on beside that node",
        "src/jeton/actor/fork.py",
        "failing = end.ended_by if end.ended_by is not None or end.error is None else end.error.token",
        "failing = None if end.error is None else end.error.token",
    ),
    Mutant(
        "a call that timed out leaves its child running",
        "src/jeton/planning/waits/deadline.py",
        'after its start"\n            )\n            return Plan([*stop_children(token, "timed out"), *plan_failure(',
        'after its start"\n            )\n            return Plan([*plan_failure(',
    ),
    Mutant(
        "a paused run tries again",
        "src/jeton/apply/timers.py",
        "paused and token.phase.resumes_task:",
        "paused and token.phase.resumes_task and token.phase.kind != 'retry':",
    ),
    Mutant(
        "the children of a paused run go on",
        "src/jeton/apply/run.py",
        "        if isinstance(token.phase, WaitingForSubworkflow):\n            message = PauseRun",
        "        if isinstance(token.phase, WaitingForSubworkflow) and token.slot:\n            message = PauseRun",
    ),
    Mutant(
        "what overtakes a start swallows it",
        "src/jeton/actor/advance.py",
        '    if not head.ended and decisions and head.status != "submitted":',
        "    if not head.ended and decisions:",
    ),
    Mutant(
        "a fork waits for the other run's child",
        "src/jeton/apply/fork.py",
        "            child = child_run_id(draft.state.head.run, token.id)\n",
        "            child = token.phase.child\n",
    ),
    Mutant(
        "those who wait for a signal are in another order after loading",
        "src/jeton/actor/sections.py",
        "    for _, name, waiter in sorted(waiting):",
        "    for _, name, waiter in sorted(waiting, reverse=True):",
    ),
    Mutant(
        "a node of a flow begins when the first of its connections is settled",
        FLOW,
        "            if before > 1:\n                continue\n",
        "            if before > 1 and before < len(target.incoming):\n                continue\n",
    ),
    Mutant(
        "a node of a flow runs though something before it failed",
        FLOW,
        '            if run_when == "all":\n                return "failed"\n',
        "",
    ),
    Mutant(
        "a branch that is not taken is a failure",
        FLOW,
        'return "delivered" if is_live(settlement, connection.from_output) else "dead"',
        'return "delivered" if is_live(settlement, connection.from_output) else "failed"',
    ),
    Mutant(
        "a node of a flow that waited is run again",
        "src/jeton/planning/flow/progress.py",
        "        return _executed(flow, state, token, held.executed, waited=True)\n",
        "        over = _executed(flow, state, token, held.executed, waited=True)\n"
        "        return [BeginNode(token.id, token.node), *over]\n",
    ),
    Mutant(
        "an override is over what a connection brings",
        "src/jeton/planning/flow/node.py",
        "            inputs[connection.to_input] = value\n    return inputs\n",
        "            inputs[connection.to_input] = value\n    return {**inputs, **state.overrides.get(node, {})}\n",
    ),
    Mutant(
        "the keys of a context come in another order when the run was read back",
        "src/jeton/planning/flow/node.py",
        "Executed(dict(initial_context(state)))",
        "Executed(initial_context(state))",
    ),
    Mutant(
        "a run below is lent what stays with the run that lends it",
        CREDITS,
        "free=purse.free - decision.amount)\n    if decision.amount:",
        "free=purse.free)\n    if decision.amount:",
    ),
    Mutant(
        "what a run below did not use is gone",
        CREDITS,
        "free=purse.free + lent - decision.used,",
        "free=purse.free,",
    ),
    Mutant(
        "what a run calls spends without limit",
        "src/jeton/apply/waits.py",
        "head.purse.account or head.run",
        "head.purse.account",
    ),
    Mutant(
        "a run that is short tells nobody that it called",
        CREDITS,
        "draft.effects.append(SendMessage(token.phase.child, CreditsEnded(draft.now)))",
        "pass",
    ),
    Mutant(
        "a run that is short does not wait for those it called",
        "src/jeton/planning/credits.py",
        "    return isinstance(token.phase, Dispatched | Executing | WaitingForSubworkflow)\n",
        "    return isinstance(token.phase, Dispatched | Executing)\n",
    ),
    Mutant(
        "a run whose call is exhausted fails",
        "src/jeton/planning/waits/child.py",
        "    return [UndoCall(token.id, token.node), *plan_short(state)]\n",
        "    return plan_failure(program, state, token, _failure(program, token, message), message.at)\n",
    ),
    Mutant(
        "a paused run wakes a task that sleeps",
        "src/jeton/apply/timers.py",
        "paused and token.phase.resumes_task:",
        "paused and token.phase.resumes_task and token.phase.kind != 'sleep':",
    ),
    Mutant(
        "a node is done when its sleep is",
        "src/jeton/planning/waits/deadline.py",
        "return Plan([WakeToken(token.id, token.node, now, now + allowed, token.attempt)])",
        "return plan_success(program, state, token, None, now)",
    ),
    Mutant(
        "a task that slept is woken as another attempt",
        "src/jeton/planning/waits/deadline.py",
        "WakeToken(token.id, token.node, now, now + allowed, token.attempt)",
        "WakeToken(token.id, token.node, now, now + allowed, token.attempt + 1)",
    ),
    Mutant(
        "waking a task counts as losing its worker",
        TOKEN,
        "    hand_out(draft, woken, Dispatched(decision.at, decision.deadline))",
        "    hand_out(draft, woken, Dispatched(decision.at, decision.deadline, 2))",
    ),
    Mutant(
        "a fork of a flow at its limit goes on without the node that was one too many",
        "src/jeton/planning/flow/progress.py",
        "msgspec.structs.replace(problem, token=token.id)",
        "problem",
    ),
    Mutant(
        "a retry of a flow leaves out what was skipped for a failure",
        FLOW,
        "skipped=_by_position(program, [name for name in behind if name in state.skipped])",
        "skipped=()",
    ),
    Mutant(
        "a retry of a flow leaves out what ran in spite of a failure",
        FLOW,
        "        begun=_by_position(program, begun),\n",
        "",
    ),
    Mutant(
        "a routed failure counts as unhandled",
        FLOW,
        '    return "failed" if state.errors else "completed"',
        "    handled = [done.handled for done in state.executed.values() if done.handled is not None]\n"
        '    return "failed" if state.errors or handled else "completed"',
    ),
    Mutant(
        "a handled failure stops a flow that stops at errors",
        "src/jeton/planning/flow/progress.py",
        "    if handled is not None:\n",
        '    if handled is not None and flow.flow.on_error != "fail":\n',
    ),
    Mutant(
        "a clean-up node runs before all before it are settled",
        FLOW,
        "            if before > 1:\n                continue\n",
        '            if before > 1 and target.definition.run_when != "settled":\n                continue\n',
    ),
    Mutant(
        "a node that runs when anything is delivered also runs when nothing is",
        FLOW,
        '    return "failed" if failed else "dead"\n',
        '    return None if run_when == "any" else "failed" if failed else "dead"\n',
    ),
    Mutant(
        "a run at the greatest depth still sets off another",
        "src/jeton/planning/triggers/firing.py",
        "delivery.from_depth >= limit",
        "delivery.from_depth > limit",
    ),
    Mutant(
        "a run hears nothing of what a trigger made of its event",
        "src/jeton/actor/firings.py",
        'if row.type == "event" and row.source is not None:',
        'if row.type == "event" and row.source is None:',
    ),
    Mutant(
        "a run is told of one that was refused as if it had been started",
        "src/jeton/apply/run.py",
        "    if decision.code is not None:\n        return (ev.TriggerRefused(decision.trigger, decision.code,",
        "    if decision.code is None:\n        return (ev.TriggerRefused(decision.trigger, '',",
    ),
    Mutant(
        "an event that nobody heard before a crash is heard by nobody",
        PROCESS,
        "        self.fire_soon()\n        self._look_after()\n",
        "        self._look_after()\n",
    ),
    *TALK_MUTANTS,
    *DOOR_MUTANTS,
    *MEMORY_MUTANTS,
    *QUESTION_MUTANTS,
)
