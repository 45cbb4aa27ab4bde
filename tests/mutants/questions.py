"""Bugs of tasks that ask people something."""

from tests.mutants.mutant import Mutant

PLAN_RUN = "src/jeton/planning/plan_run.py"
GATE = "src/jeton/planning/waits/gate.py"
WAITS = "src/jeton/apply/waits.py"
TOKEN = "src/jeton/apply/token.py"

QUESTION_MUTANTS = (
    Mutant(
        "a question that was answered is asked again by a late report",
        PLAN_RUN,
        "    if message.continued != token.continued:\n",
        "    if message.continued > token.continued:\n",
        ("tests/planning/test_plan_run.py",),
    ),
    Mutant(
        "people are asked for an abandoned branch",
        PLAN_RUN,
        "    if token.abandoned:\n        late = d.IgnoreLate(message.token, message.attempt, "
        '"the branch was abandoned")\n        return settle(',
        "    if False:\n        late = d.IgnoreLate(message.token, message.attempt, "
        '"the branch was abandoned")\n        return settle(',
        ("tests/planning/test_plan_run.py",),
    ),
    Mutant(
        "an answer starts a task of a paused run",
        GATE,
        "    paused = state.head.paused\n",
        "    paused = False\n",
    ),
    Mutant(
        "a task goes on without the answer",
        WAITS,
        "    answered = msgspec.structs.replace(token.continuation, answer=token.phase.answers[0].value)\n",
        "    answered = token.continuation\n",
    ),
    Mutant(
        "a lost task goes on without what it left behind",
        TOKEN,
        "            draft.speaker(token),\n            token.continuation,\n",
        "            draft.speaker(token),\n            token.continuation if phase.deliveries == 1 else None,\n",
        ("tests/apply/test_folds.py",),
    ),
    Mutant(
        "a new attempt finds what the one before left behind",
        TOKEN,
        "attempt=decision.attempt, continuation=None)",
        "attempt=decision.attempt)",
    ),
    Mutant(
        "an answer to a task is taken whatever it is",
        GATE,
        '    why = schema_problem(compile_schema(schema), message.value, "answer")\n',
        "    why = None\n",
    ),
)
