"""Scripts of scripted profiles: the answers that stand in for a model, in the definition or in a file of their own."""

from pathlib import Path

import msgspec

from jeton.definitions.read.fields import Fields, fields_of
from jeton.definitions.read.location import SourceLocation
from jeton.definitions.report import Report, kind, listed
from jeton.definitions.text.files import read_document
from jeton.model.json import Json, JsonObject

ANSWERS = ("text", "tool_calls", "error")
ENTRY_KEYS = (*ANSWERS, "transient", "when", "delay_ms", "usage")
HINTS = {"reply": "write 'text'", "answer": "write 'text'", "tools": "write 'tool_calls: [{name: …, input: {…}}]'"}


class ScriptSource(msgspec.Struct, frozen=True):
    """The entries of a script, each with its location."""

    entries: tuple[JsonObject, ...] = ()
    locations: tuple[SourceLocation, ...] = ()


def read_script(fields: Fields) -> ScriptSource:
    """Read the `script` of a profile: a list of entries, or the path of a file with one, beside the definition."""
    if "script" not in fields:
        return ScriptSource()
    written, location = fields.value("script"), fields.location("script")
    if isinstance(written, str):
        found = _from_file(written, location, fields.report)
        if found is None:
            return ScriptSource()
        written, location = found
    if not isinstance(written, list):
        problem = f"is {kind(written)}, but must be a list of answers"
        fields.report.error(location, "wrong_type", problem, "write '[{text: …}, …]', or the path of a file with one")
        return ScriptSource()
    entries: list[JsonObject] = []
    locations: list[SourceLocation] = []
    for index, entry in enumerate(written):
        if _check_entry(entry, location / index, fields.report) and isinstance(entry, dict):
            entries.append(entry)
            locations.append(location / index)
    return ScriptSource(tuple(entries), tuple(locations))


def _from_file(path: str, location: SourceLocation, report: Report) -> tuple[Json, SourceLocation] | None:
    """The content of a script's file. Only a definition in a file may name one: other data may come from anybody."""
    if location.line == 0 or not report.reads_files:
        problem = "names a file, and only a definition that is in a file itself can do that"
        report.error(location, "wrong_type", problem, "write the list of answers here")
        return None
    file = Path(location.file).parent / path
    try:
        is_file = file.is_file()
    except (OSError, ValueError):
        is_file = False
    if not is_file:
        report.error(
            location, "file_not_found", f"there is no file '{path}'", "write a path from the definition's folder"
        )
        return None
    document = read_document(file, report)
    if document is None:
        return None
    return document.value, SourceLocation(str(file), document.mark)


def _check_entry(entry: Json, location: SourceLocation, report: Report) -> bool:
    fields = fields_of(entry, location, report, ENTRY_KEYS, "an answer of a script", HINTS)
    if fields is None:
        return False
    _check_answer(fields)
    when = fields.value("when", True)
    if not isinstance(when, str | bool) or when == "":
        fields.wrong("when", "an expression")
    fields.integer("delay_ms", at_least=0)
    usage = fields.inner("usage", ("input_tokens", "output_tokens"), "'usage'")
    if usage is not None:
        usage.integer("input_tokens", at_least=0)
        usage.integer("output_tokens", at_least=0)
    return True


def _check_answer(fields: Fields) -> None:
    """Check that it says one thing: a text, tool calls (perhaps with a text), or an error."""
    given = [key for key in ANSWERS if key in fields]
    if not given and not fields.unknown:
        problem, remedy = "has no answer", "write 'text', 'tool_calls' or 'error'"
        fields.report.error(fields.here, "bad_script_entry", problem, remedy)
    elif "error" in given and len(given) > 1:
        problem = f"has {listed(given)}, and an error comes alone"
        fields.report.error(fields.here, "bad_script_entry", problem, "write an entry of its own for the error")
    if "text" in fields and not isinstance(fields.value("text"), str):
        fields.wrong("text", "a text")
    fields.text("error")
    if "transient" in fields:
        fields.flag("transient", default=False)
        if "error" not in fields:
            problem = "'transient' belongs to an 'error', and this entry has none"
            fields.report.error(fields.location("transient"), "key_without_target", problem, "remove it")
    calls = fields.list("tool_calls")
    if calls is not None and not calls:
        fields.wrong("tool_calls", "a list with a call", "write '[{name: …, input: {…}}]', or remove it")
    for index, call in enumerate(calls or []):
        inner = fields_of(call, fields.location("tool_calls") / index, fields.report, ("name", "input"), "a tool call")
        if inner is not None and inner.require("name"):
            inner.text("name")  # any text and any input: a model may get both wrong
