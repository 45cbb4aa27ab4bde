"""Vectors of texts, if `project.settings.memory.vectors` asks for them.

`true`: from a small model that runs here. `{model_profile: NAME}`: from the embeddings of a provider.
"""

from typing import TYPE_CHECKING

from jeton.executor.memory.local_model import local_vector
from jeton.executor.memory.store import Vector
from jeton.executor.memory.vectors import vector_of
from jeton.model.chat import ModelFailed
from jeton.model.failure import Refused
from jeton.model.json import Json, JsonObject
from jeton.model.note import LogNote

if TYPE_CHECKING:
    from jeton.executor.action import ActionCall

MAX_NOTE_LENGTH = 1_000


def vector_setting(settings: JsonObject) -> Json:
    """What the project says of vectors: None if it wants none."""
    memory = settings.get("memory")
    found = memory.get("vectors") if isinstance(memory, dict) else None
    return found or None


def profile_in(setting: Json) -> str | None:
    """The model profile that makes the vectors; None if they are made here."""
    name = setting.get("model_profile") if isinstance(setting, dict) else None
    return name if isinstance(name, str) else None


async def vector_for(call: "ActionCall", text: str) -> Vector | None:
    """The vector of a text; None if the project wants none, or if the provider has no answer: words are enough.

    Raises Refused if the settings cannot be followed here."""
    setting = vector_setting(call.settings)
    if setting is None:
        return None
    name = profile_in(setting)
    if name is None:
        return await call.resources.threads.run(lambda: local_vector(text))
    return await _provided(call, name, text)


async def _provided(call: "ActionCall", name: str, text: str) -> Vector | None:
    from jeton.executor.models.embed import embed_texts  # it imports what imports this

    profile = call.profiles.get(name)
    if profile is None:
        known = ", ".join(sorted(call.profiles)) or "none"
        problem = f"project.settings.memory.vectors names the model profile '{name}', which is not there"
        raise Refused("unknown_profile", problem, f"name one of: {known}")
    found = await embed_texts(call, name, [text])
    if isinstance(found, ModelFailed):
        problem = f"memories are compared by their words only: {found.message}"
        call.report(LogNote(call.call.step, "log", problem[:MAX_NOTE_LENGTH]))
        return None
    return vector_of(f"{profile.provider}:{profile.model}", found.vectors[0])
