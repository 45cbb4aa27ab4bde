"""Checks of MCP servers against the rest of the project: secrets, tools that are called, and what is exposed."""

from jeton.definitions.checks.definitions import Definitions
from jeton.definitions.library import LibrarySource
from jeton.definitions.read.location import parts_of
from jeton.definitions.report import Report, did_you_mean, shown
from jeton.model.json import JsonObject


def check_servers(source: LibrarySource, definitions: Definitions, report: Report) -> None:
    """Check the settings `mcp` and `mcp_server`."""
    secrets = definitions.settings.get("secrets")
    known = secrets if isinstance(secrets, dict) else {}
    location = source.setting_locations.get("mcp")
    if location is not None:
        for path, part in parts_of(source.settings.get("mcp")):
            match part:
                case {"secret": str() as name, **rest} if not rest and name not in known:
                    problem = f"{shown(name)} is not a secret of the project"
                    remedy = did_you_mean(name, known, "name its source under 'project: {settings: {secrets: …}}'")
                    report.error(location.at((*path, "secret")), "unknown_secret", problem, remedy)
                case _:
                    pass
    _check_exposed(source, definitions, report)


def _check_exposed(source: LibrarySource, definitions: Definitions, report: Report) -> None:
    location, server = source.setting_locations.get("mcp_server"), source.settings.get("mcp_server")
    names = server.get("expose") if isinstance(server, dict) else None
    if location is None or not isinstance(names, list):
        return
    known = {*definitions.startable, *definitions.agents}
    for index, name in enumerate(names):
        if isinstance(name, str) and name not in known:
            problem = f"no workflow, flow or agent is called {shown(name)}"
            remedy = did_you_mean(name, sorted(known), "name one that exists")
            report.error(location / "expose" / index, "unknown_workflow", problem, remedy)


def server_problem(server: str, settings: JsonObject) -> tuple[str, str] | None:
    """The problem and the remedy of a server that the project does not have; None if it has it."""
    from jeton.definitions.read.settings import mcp_servers

    known = mcp_servers(settings)
    if server in known:
        return None
    remedy = did_you_mean(server, known, "add it under 'project: {settings: {mcp: …}}'")
    return f"{shown(server)} is not an MCP server of the project", remedy
