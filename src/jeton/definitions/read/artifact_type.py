"""Types of artifacts: read and checked."""

from jeton.definitions.read.fields import fields_of
from jeton.definitions.read.location import SourceLocation
from jeton.definitions.read.profile import MEDIA_TYPE
from jeton.definitions.report import Report, shown
from jeton.model.json import Json

KEYS = ("media_type", "schema", "max_bytes", "description", "tags")


def check_artifact_type(value: Json, location: SourceLocation, report: Report) -> None:
    """Check a type of artifact."""
    fields = fields_of(value, location, report, KEYS, "an artifact type")
    if fields is None:
        return
    media_type = fields.text("media_type")
    if media_type is not None and not MEDIA_TYPE.fullmatch(media_type):
        problem = f"{shown(media_type)} is not a media type"
        report.error(fields.location("media_type"), "unknown_value", problem, "write one, such as 'application/pdf'")
    fields.schema("schema")
    fields.integer("max_bytes", at_least=1)
    fields.text("description")
    fields.texts("tags")
