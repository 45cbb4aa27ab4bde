"""Writes the pages of docs/reference that list what the code has: `python -m tests.docs.reference_pages`."""

import inspect
from collections.abc import Callable, Iterator
from html import escape
from types import ModuleType
from typing import Any, get_args

import click
import msgspec

import jeton
import jeton.plugins
import jeton.testing
from jeton.cli.main import SECTIONS as VERB_SECTIONS
from jeton.cli.main import VERBS, main
from jeton.definitions import library
from jeton.definitions.read import (
    action,
    flow,
    node,
    persona,
    profile,
    prompt,
    script,
    settings,
    task,
    tool,
    transition,
    trigger,
    workflow,
)  # fmt: skip
from jeton.model.event import Fact
from tests.docs import error_codes, http_api
from tests.docs.key_meanings import MEANINGS, SAME
from tests.docs.markdown import ROOT

REFERENCE = ROOT / "docs" / "reference"
MADE = "<!-- Made by `python -m tests.docs.reference_pages` from the code. -->"
KEYS: dict[str, tuple[str, ...]] = {
    "A library file": library.SECTIONS,
    "A workflow": workflow.WORKFLOW_KEYS,
    "A node": node.NODE_KEYS,
    "An agent of a node": node.AGENT_KEYS,
    "A gate": node.GATE_KEYS,
    "A wait": node.WAIT_KEYS,
    "A transition": transition.TRANSITION_KEYS,
    "A foreach": transition.FOREACH_KEYS,
    "A synchronization": transition.SYNCHRONIZATION_KEYS,
    "A merge": transition.MERGE_KEYS,
    "A flow": flow.FLOW_KEYS,
    "A node of a flow": flow.FLOW_NODE_KEYS,
    "A connection": flow.CONNECTION_KEYS,
    "A task": task.TASK_KEYS,
    "A step": task.STEP_KEYS,
    "An action": action.ACTION_KEYS,
    "An execution": action.EXECUTION_KEYS,
    "A retry": action.RETRY_KEYS,
    "A trigger": tuple(dict.fromkeys(trigger.TRIGGER_KEYS)),
    "An agent": persona.AGENT_KEYS,
    "A persona": persona.PERSONA_KEYS,
    "A tool": tuple(dict.fromkeys(tool.TOOL_KEYS)),
    "A prompt": prompt.PROMPT_KEYS,
    "A model profile": profile.KEYS,
    "An answer of a script": script.ENTRY_KEYS,
    "project.settings": settings.KNOWN,
}


def cli_page() -> str:
    """Every verb with its arguments and options."""
    parts = [
        f"# Command line\n\n{MADE}\n\nEvery verb has `--help`. What verbs print with `--json`, and the exit codes, are "
        "in [interfaces](../semantics/interfaces.md#command-line). Shell completion: "
        "[install](../how-to/install.md#shell-completion).\n"
    ]
    context = click.Context(main, info_name="jeton")
    for folder, title in VERB_SECTIONS.items():
        parts.append(f"## {title}\n")
        for name in (name for name, (module, _) in VERBS.items() if module.startswith(f"{folder}.")):
            command = main.get_command(context, name)
            assert command is not None
            parts.extend(_verb(command, f"jeton {name}", context))
    return "\n".join(parts)


def _verb(command: click.Command, path: str, parent: click.Context) -> Iterator[str]:
    context = click.Context(command, info_name=path.rpartition(" ")[2], parent=parent)
    usage = " ".join(command.collect_usage_pieces(context))
    yield f"### {path}\n\n```text\n{path} {usage}\n```\n\n{inspect.cleandoc(command.help or '').split(chr(12))[0]}\n"
    records = [each.get_help_record(context) for each in command.params if isinstance(each, click.Option)]
    rows = [f"| {_code(record[0])} | {_cell(record[1])} |" for record in records if record is not None]
    if rows:
        yield "| option | |\n| --- | --- |\n" + "\n".join(rows) + "\n"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from _verb(inner, f"{path} {name}", context)


def _code(text: str) -> str:
    """Code in a cell of a table, where a bar would end the cell."""
    return f"`{text}`" if "|" not in text else f"<code>{escape(text, quote=False).replace('|', '&#124;')}</code>"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def definitions_page() -> str:
    """Every key of every part of a definition."""
    parts = [
        f"# Definition keys\n\n{MADE}\n\nAll keys that a library file may have; any other key is an error. "
        "How to use them: [writing workflows](../concepts/workflows.md); the rules: "
        "[definitions](../semantics/definitions.md).\n"
    ]
    for part, keys in KEYS.items():
        rows = "\n".join(f"| `{key}` | {meaning_of(part, key)} |" for key in keys)
        parts.append(f"## {part}\n\n| key | |\n| --- | --- |\n{rows}\n")
    return "\n".join(parts)


def meaning_of(part: str, key: str) -> str:
    """What a key means. Fails if nobody wrote it down."""
    found = MEANINGS[part].get(key) or SAME.get(key)
    assert found is not None, f"no meaning of '{key}' in {part}: add it to tests/docs/key_meanings.py"
    return found


def events_page() -> str:
    """Every type of event with its fields."""
    parts = [
        f"# Events\n\n{MADE}\n\nEvery event also has `seq`, `at`, `run_id` and `type`. A field with `?` may be "
        "left out. How to read them: [streams](../how-to/streams.md), [rules](../semantics/interfaces.md#events).\n\n"
        "| event | | fields |\n| --- | --- | --- |"
    ]
    for fact in get_args(Fact):
        fields = [
            f"`{each.encode_name}`" if each.required else f"`{each.encode_name}?`"
            for each in msgspec.structs.fields(fact)
        ]
        text = _cell((inspect.getdoc(fact) or "").partition("\n\n")[0])
        parts.append(f"| `{fact.__struct_config__.tag}` | {text} | {', '.join(fields)} |")
    return "\n".join(parts) + "\n"


def signatures_page() -> str:
    """Every public class and function with its signature, its methods or its fields."""
    parts = [
        f"# Signatures\n\n{MADE}\n\nWhat `jeton`, `jeton.testing` and `jeton.plugins` list in `__all__`, with methods "
        "and fields. A list with one line for each name is in [Python API](python-api.md); a first program in "
        "[use jeton from Python](../how-to/python.md). `SyncEngine` and its like have the same methods without "
        "`async`, `RemoteEngine` and its like the same over HTTP.\n"
    ]
    for module in (jeton, jeton.testing, jeton.plugins):
        parts.append(f"## {module.__name__}\n")
        parts.extend(_name(module, name) for name in module.__all__)
    return "\n".join(parts)


def _name(module: ModuleType, name: str) -> str:
    value: Any = getattr(module, name)
    text = _summary(value)
    if not inspect.isclass(value):
        shown = f"```python\n{name}{_signature(value)}\n```\n" if callable(value) else ""
        return f"### {name}\n\n{text}\n\n{shown}"
    if issubclass(value, msgspec.Struct):
        fields = ", ".join(f"`{each.name}`" for each in msgspec.structs.fields(value))
        return f"### {name}\n\n{text}\n\nFields: {fields or 'none'}.\n"
    if name.startswith(("Sync", "Remote", "Blocking")):
        return f"### {name}\n\n{text}\n"
    methods = [
        f"| {_code(each + _signature(getattr(value, each)))} | {_cell(_summary(getattr(value, each)))} |"
        for each in sorted(_methods(value))
    ]
    table = "| method | |\n| --- | --- |\n" + "\n".join(methods) + "\n" if methods else ""
    return f"### {name}\n\n{text}\n\n{table}"


def _methods(kind: type) -> set[str]:
    inherited = (base for base in kind.__mro__ if base.__module__.startswith("jeton"))
    named = {name for base in inherited for name, value in vars(base).items() if inspect.isfunction(value)}
    return {name for name in named if not name.startswith("_")}


def _summary(value: Any) -> str:
    return (inspect.getdoc(value) or "").partition("\n\n")[0].replace("\n", " ")


def _signature(value: Callable[..., Any]) -> str:
    """Parameters by name, with their defaults; types are in the package, which has `py.typed`."""
    try:
        given = inspect.signature(value)
    except (TypeError, ValueError):
        return "(…)"
    plain = [_plain(each) for name, each in given.parameters.items() if name != "self"]
    text = str(given.replace(parameters=plain, return_annotation=inspect.Signature.empty))
    return "(…)" if " object at 0x" in text or "<" in text else text


def _plain(parameter: inspect.Parameter) -> inspect.Parameter:
    """A parameter without its type. A set is shown in no order that stays, so its items are sorted."""
    default: object = parameter.default
    if isinstance(default, frozenset):
        default = tuple(sorted(str(each) for each in default))  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return parameter.replace(annotation=inspect.Parameter.empty, default=default)


PAGES: dict[str, Callable[[], str]] = {
    "cli.md": cli_page,
    "definitions.md": definitions_page,
    "events.md": events_page,
    "python-signatures.md": signatures_page,
    "error-codes.md": error_codes.error_codes_page,
    "http-api.md": http_api.http_api_page,
}

if __name__ == "__main__":
    for file, page in PAGES.items():
        (REFERENCE / file).write_text(page(), encoding="utf-8")
