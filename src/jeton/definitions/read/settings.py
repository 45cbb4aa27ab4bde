"""`project.settings`: the settings that the executor and the host read.

They ignore what they do not understand, because a run must not fail over a setting, so mistakes are reported here.
"""

from collections.abc import Collection, Iterator
from ipaddress import ip_network

from jeton.definitions.read.fields import Fields, check_name, fields_of
from jeton.definitions.read.location import SourceLocation
from jeton.definitions.read.mcp import check_mcp, check_mcp_server
from jeton.definitions.read.sinks import check_sinks
from jeton.definitions.report import Report, closest, kind, shown
from jeton.model.json import Json, JsonObject

KNOWN = (
    "concurrency",
    "credits",
    "defaults",
    "files",
    "http",
    "limits",
    "mcp",
    "mcp_server",
    "memory",
    "secrets",
    "shell",
    "sinks",
    "snapshot_policy",
    "triggers",
)
SOURCES = ("env", "file", "command")


def check_setting(name: str, value: Json, location: SourceLocation, report: Report) -> None:
    """Check one setting."""
    if value is None:
        return
    match name:
        case "concurrency":
            _check_concurrency(value, location, report)
        case "files":
            _check_files(value, location, report)
        case "http":
            _check_http(value, location, report)
        case "secrets":
            _check_secrets(value, location, report)
        case "shell":
            shell = fields_of(value, location, report, ("scripts",), "'shell'")
            if shell is not None:
                shell.flag("scripts", default=False)
        case "credits":
            _check_credits(value, location, report)
        case "triggers":
            triggers = fields_of(value, location, report, ("max_depth",), "'triggers'")
            if triggers is not None:
                triggers.integer("max_depth", at_least=0)
        case "memory":
            _check_memory(value, location, report)
        case "sinks":
            check_sinks(value, location, report)
        case "snapshot_policy":
            _check_snapshot_policy(value, location, report)
        case "mcp":
            check_mcp(value, location, report)
        case "mcp_server":
            check_mcp_server(value, location, report)
        case _:
            meant = None if name in KNOWN else closest(name, KNOWN)
            if meant is not None:
                report.warning(
                    location, "unknown_setting", f"{shown(name)} is not a known setting", f"write '{meant}'?"
                )


def mcp_servers(settings: JsonObject) -> Collection[str]:
    """The names of the MCP servers in the settings of a project."""
    servers = settings.get("mcp")
    return servers if isinstance(servers, dict) else ()


def _named(value: Json, location: SourceLocation, report: Report, what: str) -> Iterator[tuple[str, Fields]]:
    """The entries of an object whose keys are names chosen by the author."""
    fields = fields_of(value, location, report, value if isinstance(value, dict) else (), what)
    if fields is not None and isinstance(value, dict):
        yield from ((name, fields) for name in value)


def _check_concurrency(value: Json, location: SourceLocation, report: Report) -> None:
    for name, kinds in _named(value, location, report, "'concurrency'"):
        kinds.integer(name, at_least=1)


def _check_credits(value: Json, location: SourceLocation, report: Report) -> None:
    credits = fields_of(value, location, report, ("balance", "costs"), "'credits'")
    if credits is None:
        return
    credits.integer("balance", at_least=0)
    for name, costs in _named(credits.value("costs") or {}, location / "costs", report, "'costs'"):
        costs.integer(name, at_least=0)


def _check_files(value: Json, location: SourceLocation, report: Report) -> None:
    for name, roots in _named(value, location, report, "'files'"):
        check_name(name, location / name, report)
        roots.text(name)


def _check_http(value: Json, location: SourceLocation, report: Report) -> None:
    http = fields_of(value, location, report, ("allow",), "'http'")
    for index, each in enumerate([] if http is None else http.texts("allow")):
        try:
            ip_network(each.strip("[]"), strict=False)
        except ValueError:
            if "/" in each or not each or ":" in each or any(letter.isspace() for letter in each):
                problem = f"{shown(each)} is neither a host nor a network"
                remedy = "write a host without scheme, port and path, or a network such as 10.0.0.0/8"
                report.error(location / "allow" / index, "bad_host", problem, remedy)


def _check_memory(value: Json, location: SourceLocation, report: Report) -> None:
    memory = fields_of(value, location, report, ("vectors",), "'memory'")
    vectors = None if memory is None else memory.value("vectors")
    if isinstance(vectors, dict):
        inner = fields_of(vectors, location / "vectors", report, ("model_profile",), "'vectors'")
        if inner is not None and inner.require("model_profile"):
            inner.text("model_profile")
    elif vectors is not None and not isinstance(vectors, bool):
        problem = f"is {kind(vectors)}, which is not allowed here"
        report.error(location / "vectors", "wrong_type", problem, "write true, or {model_profile: NAME}")


def _check_secrets(value: Json, location: SourceLocation, report: Report) -> None:
    for name, sources in _named(value, location, report, "'secrets'"):
        check_name(name, location / name, report)
        source = sources.value(name)
        if isinstance(source, str):
            problem, remedy = "is a text, and a secret has no place in a definition", "write {env: NAME_OF_A_VARIABLE}"
            report.error(location / name, "secret_in_definition", problem, remedy)
            continue
        fields = fields_of(source, location / name, report, SOURCES, "the source of a secret")
        if fields is None:
            continue
        given = [key for key in SOURCES if key in fields]
        if len(given) != 1:
            problem = f"has {' and '.join(given) or 'none'} of 'env', 'file' and 'command', and needs one"
            report.error(location / name, "secret_source", problem, "keep one of the three")
        fields.text("env")
        fields.text("file")
        if "command" in fields and not fields.texts("command") and fields.list("command") is not None:
            report.error(
                location / name / "command", "secret_source", "names no program", "write [program, argument, …]"
            )


def _check_snapshot_policy(value: Json, location: SourceLocation, report: Report) -> None:
    if isinstance(value, dict):
        every = fields_of(value, location, report, ("every_n_entries",), "'snapshot_policy'")
        if every is not None and every.require("every_n_entries"):
            every.integer("every_n_entries", at_least=1)
    elif value not in ("never", "on_complete"):
        problem = f"is {kind(value)}, which is not allowed here"
        remedy = "write 'never', 'on_complete' or {every_n_entries: 100}"
        report.error(location, "unknown_value", problem, remedy)
