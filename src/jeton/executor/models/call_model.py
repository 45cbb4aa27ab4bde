"""One model call: retries, fallbacks, structured output, usage and streaming, whatever the provider.

A failure is a value too, because it says what was used.
"""

import msgspec

from jeton.executor.action import ActionCall
from jeton.executor.models.ask import MAX_NOTE_LENGTH, ask_client, ask_with_retries, report_tokens, unknown_profile
from jeton.executor.models.client import ModelProblem
from jeton.executor.models.pairs import unpaired
from jeton.executor.models.stream import AnswerStream
from jeton.executor.models.structured import MOST_TOLD, parse_answer, told_misfits
from jeton.expression.schema import SchemaInvalid, SchemaValidator
from jeton.model.chat import ModelAnswer, ModelFailed, ModelReply, ModelRequest, TokenUsage
from jeton.model.definition.profile import ModelProfile
from jeton.model.state.ranges import cut_out, joined

NOT_ELSEWHERE = ("context_too_long", "output_invalid")  # another model is no remedy


async def call_model(call: ActionCall, request: ModelRequest) -> ModelReply:
    """The answer of the profile or of its first fallback that has one, or the failure of the last."""
    wrong = unpaired(request.messages)
    if wrong is not None:
        problem = ModelProblem("unpaired_calls", f"the request was not sent: {wrong}")
        return ModelFailed(problem.type, problem.message, profile=request.profile, requests=0)
    profile = call.profiles.get(request.profile)
    names = (request.profile, *(() if profile is None else profile.fallbacks))
    stream = AnswerStream(call, request)
    tally, offset = _Tally(), 0
    failures: list[ModelFailed] = []
    try:
        for name in names:
            profile = call.profiles.get(name)
            if profile is None:
                failures.append(unknown_profile(name, call))
                continue
            reply = await _Asking(call, name, profile, offset, stream, tally).ask(request)
            if isinstance(reply, ModelAnswer):
                return tally.added_to(reply)
            failures.append(reply)
            if reply.type in NOT_ELSEWHERE:
                break
            offset += len(profile.script)
    finally:
        stream.end()
    return tally.added_to(_joined(failures))


class _Tally:
    """What all requests of a call have used together."""

    def __init__(self) -> None:
        self.usage = TokenUsage()
        self.used: tuple[int, ...] = ()
        self.requests = 0
        self.answers = 0

    def add(self, usage: TokenUsage, used: tuple[int, ...]) -> None:
        """Count one request."""
        sums = (self.usage.input_tokens + usage.input_tokens, self.usage.output_tokens + usage.output_tokens)
        self.usage = TokenUsage(*sums)
        self.used += used
        self.requests += 1

    def added_to(self, reply: ModelReply) -> ModelReply:
        """The reply, with what was used."""
        return msgspec.structs.replace(reply, usage=self.usage, used=self.used, requests=self.requests)


class _Asking:
    """The requests of one call to one profile."""

    def __init__(
        self, call: ActionCall, name: str, profile: ModelProfile, offset: int, stream: AnswerStream, tally: _Tally
    ) -> None:
        self._call, self._name, self._profile = call, name, profile
        self._offset = offset  # of the profile's script, counted through the scripts of those that were tried before
        self._stream, self._tally = stream, tally

    async def ask(self, request: ModelRequest) -> ModelReply:
        """An answer, which has data if the request has a schema. Misfits are told to the model."""
        if request.output_schema is None:
            return await self._ask_again(request)
        try:
            validator = SchemaValidator(request.output_schema)
        except SchemaInvalid as invalid:
            return self._failed(ModelProblem("output_invalid", f"the schema itself is not valid: {invalid.problem}"))
        told = 0
        while True:
            reply = await self._ask_again(request)
            if isinstance(reply, ModelFailed) or reply.calls or reply.finish == "refused":
                return reply
            data, misfits = parse_answer(reply, validator)
            if not misfits:
                return msgspec.structs.replace(reply, data=data)
            if told == MOST_TOLD:
                problem = f"the answer does not fit the schema: {'; '.join(misfits)[:MAX_NOTE_LENGTH]}"
                return self._failed(ModelProblem("output_invalid", problem))
            request, told = told_misfits(request, reply, misfits), told + 1

    async def _ask_again(self, request: ModelRequest) -> ModelReply:
        """An answer, after retries if need be."""
        found = await ask_with_retries(
            self._call, self._profile, lambda: self._ask_once(request), lambda: self._tally.requests
        )
        return found if isinstance(found, ModelAnswer) else self._failed(found)

    async def _ask_once(self, request: ModelRequest) -> ModelAnswer | ModelProblem:
        """One request: its answer, or the problem, both counted."""
        self._stream.begin()
        found = await self._answered(request)
        used = tuple(self._offset + index for index in found.used)
        self._tally.add(found.usage, used)
        if isinstance(found, ModelAnswer) or found.usage != TokenUsage():
            report_tokens(self._call, self._name, self._profile, found.usage)
        if isinstance(found, ModelProblem):
            return found
        self._tally.answers += 1
        self._stream.finish()
        model = found.model or self._profile.model or self._profile.provider
        return msgspec.structs.replace(found, profile=self._name, model=model)

    async def _answered(self, request: ModelRequest) -> ModelAnswer | ModelProblem:
        used = cut_out(joined(request.script.used, self._tally.used), self._offset, len(self._profile.script))
        placed = msgspec.structs.replace(request, script=msgspec.structs.replace(request.script, used=used))
        key = f"{self._call.call.idempotency_key}:{self._name}:{self._tally.answers}"
        return await ask_client(
            self._call, self._profile, placed, key, lambda client, made: client.generate(made, self._stream.feed)
        )

    def _failed(self, problem: ModelProblem) -> ModelFailed:
        return ModelFailed(problem.type, problem.message, problem.transient, profile=self._name)


def _joined(failures: list[ModelFailed]) -> ModelFailed:
    """The failure of the last profile, with the messages of all."""
    last = failures[-1]
    if len(failures) == 1:
        return last
    message = "; ".join(f"{each.profile}: {each.message}" for each in failures)
    return msgspec.structs.replace(last, message=message, transient=any(each.transient for each in failures))
