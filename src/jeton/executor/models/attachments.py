"""Attachments of chat messages: their bytes if a model accepts them, otherwise a line about them."""

from fnmatch import fnmatchcase

from jeton.executor.artifacts import ArtifactMissing, Artifacts, ArtifactTooLarge
from jeton.model.chat import Attachment, ModelRequest, UserMessage
from jeton.model.definition.profile import ModelProfile
from jeton.model.ids import RunId

MAX_BYTES = 20 * 1024 * 1024  # of one attachment; no provider takes more


async def read_attachments(
    request: ModelRequest, profile: ModelProfile, run: RunId, artifacts: Artifacts
) -> dict[str, bytes]:
    """The bytes of the attachments that the profile accepts, by id. One that is gone or too large is left out."""
    found: dict[str, bytes] = {}
    for message in request.messages:
        if isinstance(message, UserMessage):
            for attachment in message.attachments:
                if attachment.id not in found and accepts(profile, attachment):
                    try:
                        found[attachment.id] = (await artifacts.read(run, attachment.id, MAX_BYTES))[1]
                    except (ArtifactMissing, ArtifactTooLarge):
                        continue
    return found


def accepts(profile: ModelProfile, attachment: Attachment) -> bool:
    """Whether the model of a profile can read the attachment."""
    media_type = attachment.media_type.partition(";")[0].strip().lower()
    return any(fnmatchcase(media_type, pattern.lower()) for pattern in profile.accepts)


def attachment_line(attachment: Attachment) -> str:
    """What a model is told of an attachment that it cannot read."""
    name = f"{attachment.name}, " if attachment.name else ""
    return f"[attachment: {name}{attachment.media_type}, {attachment.size} bytes]"
