"""`signal`: send a run a signal."""

from collections.abc import Iterator

import msgspec

from jeton.executor.action import ActionCall, ActionFailed, ActionHandler, Kind, KindProblem
from jeton.executor.actions.fail import NAME
from jeton.executor.signals import SentSignal
from jeton.model.codes import RefusalCode
from jeton.model.failure import Refused
from jeton.model.ids import RunId
from jeton.model.json import Json, kind_of

REFUSALS: tuple[RefusalCode, ...] = ("unknown_run", "run_ended", "unknown_signal", "signal_refused", "bad_value")
MAX_BYTES = 256 * 1024


class Signal(Kind, frozen=True):
    """The name of the signal is fixed, or comes from the input; the run and the value come from the input."""

    name: str | None = None

    def problems(self) -> Iterator[KindProblem]:
        if self.name is not None and not NAME.fullmatch(self.name):
            yield KindProblem("name", f"{self.name!r} cannot be the name of a signal", "write the name that a wait has")

    def prepare(self) -> ActionHandler:
        async def act(call: ActionCall) -> Json | ActionFailed:
            given = call.input if isinstance(call.input, dict) else {}
            run, name, value = given.get("run"), self.name or given.get("name"), given.get("value")
            if not isinstance(run, str) or not isinstance(name, str):
                what, wrong = ("run", run) if not isinstance(run, str) else ("name", name)
                return ActionFailed("input_invalid", f"input.{what} must be a text, and is {kind_of(wrong)}")
            size = len(msgspec.json.encode(value))
            if size > MAX_BYTES:
                return ActionFailed("too_large", f"the signal has {size} bytes of data, more than {MAX_BYTES}")
            try:
                await call.resources.signals.send(SentSignal(RunId(run), name, value, call.call.idempotency_key))
            except Refused as refused:
                if refused.code not in REFUSALS:
                    raise
                remedy = f" ({refused.remedy})" if refused.remedy else ""
                return ActionFailed(refused.code, f"{refused.problem}{remedy}")
            return {"run": run, "signal": name}

        return act
