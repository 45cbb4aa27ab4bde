"""Checks of sinks against the rest of the project."""

from jeton.definitions.checks.definitions import Definitions
from jeton.definitions.library import LibrarySource
from jeton.definitions.report import Report, did_you_mean, shown


def check_sinks(source: LibrarySource, definitions: Definitions, report: Report) -> None:
    """Check that the project has the secrets that its sinks name."""
    location, sinks = source.setting_locations.get("sinks"), source.settings.get("sinks")
    if location is None or not isinstance(sinks, dict):
        return
    secrets = definitions.settings.get("secrets")
    known = secrets if isinstance(secrets, dict) else {}
    for name, sink in sinks.items():
        secret = sink.get("secret") if isinstance(sink, dict) else None
        if isinstance(secret, str) and secret and secret not in known:
            problem = f"{shown(secret)} is not a secret of the project"
            remedy = did_you_mean(secret, known, "name its source under 'project: {settings: {secrets: …}}'")
            report.error(location.at((name, "secret")), "unknown_secret", problem, remedy)
