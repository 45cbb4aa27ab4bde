"""`jeton` with a planner that ends the process for the workflow `poison`, as a bug in native code would.

usage: python -m tests.crash.poisoned MESSAGE VERB…     die at a message of this type
"""

import os
import resource
import sys

from jeton.actor import advance
from jeton.cli.main import main
from jeton.model.message import Message
from jeton.model.state.run import RunState
from jeton.planning.plan_run import plan_run
from jeton.planning.program.workflow import Program
from jeton.planning.tokens.node import Plan


def plan_or_abort(program: Program, state: RunState, message: Message) -> Plan:
    if program.workflow.name == "poison" and type(message).__name__ == sys.argv[1] and not state.head.ended:
        os.abort()
    return plan_run(program, state, message)


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    advance.plan_run = plan_or_abort  # type: ignore[attr-defined]  # it is imported there
    main(sys.argv[2:])
