"""Answers that are made in the background, by the Responses API.

The id of a response is stored before its answer is waited for. After a crash, or when a request for it fails, the same
response is fetched again, and nothing is paid for twice.
"""

from pydantic_ai.direct import model_request
from pydantic_ai.exceptions import ModelAPIError, SuspendedResponseExpired
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import ModelRequestParameters

from jeton.executor.limits.idempotency import Completed
from jeton.executor.models.client import ModelCall, ModelProblem, OnText, RequestFailed
from jeton.executor.models.providers.answers import answer_of
from jeton.executor.models.providers.models import AnyModel
from jeton.executor.models.providers.settings import settings_of
from jeton.model.chat import ModelAnswer

FIRST_POLL_MS = 500
LONGEST_POLL_MS = 5_000
KEPT_MS = 24 * 3_600_000


async def answer_in_background(
    model: AnyModel,
    messages: list[ModelMessage],
    parameters: ModelRequestParameters,
    call: ModelCall,
    on_text: OnText,
) -> ModelAnswer:
    """The answer: that of a response that was begun before under the same key, or of a new one."""
    key = f"{call.key}:response"
    settings = settings_of(call.profile, openai_background=True)
    found = await call.idempotency.begin(key, key)
    if isinstance(found, Completed) and isinstance(found.result, str):
        response = _pending(found.result, call)
    else:
        response = await model_request(
            model, messages, model_settings=settings, model_request_parameters=parameters, instrument=False
        )
        if response.provider_response_id is None:
            raise RequestFailed(ModelProblem("model_error", "the response has no id", transient=True))
        await call.idempotency.finish(key, response.provider_response_id, KEPT_MS)
    wait = FIRST_POLL_MS
    try:
        while response.state == "suspended":
            await call.clock.sleep(wait)
            wait = min(wait * 2, LONGEST_POLL_MS)
            pending = _pending(response.provider_response_id or "", call)
            response = await model_request(
                model,
                [*messages, pending],
                model_settings=settings,
                model_request_parameters=parameters,
                instrument=False,
            )
        answer = answer_of(response, call.profile)
    except (ModelAPIError, SuspendedResponseExpired, RequestFailed) as error:
        asking_failed = isinstance(error, ModelAPIError) and error.__cause__ is not None
        if not asking_failed:
            await call.idempotency.forget(key)  # the response itself has failed, so the next is a new one
        raise
    on_text(answer.text)
    return answer


def _pending(id: str, call: ModelCall) -> ModelResponse:
    """A response that is asked for by its id."""
    return ModelResponse(
        [],
        model_name=call.profile.model,
        provider_name="openai",
        provider_response_id=id,
        provider_details={"background": True},
        state="suspended",
    )
