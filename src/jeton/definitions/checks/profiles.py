"""Checks of model profiles: providers, secrets, fallbacks and the conditions of scripts."""

from collections.abc import Callable, Collection
from typing import TypeAlias

from jeton.definitions.checks.compiled import compile_one
from jeton.definitions.checks.definitions import Definitions
from jeton.definitions.checks.expressions import check_gives
from jeton.definitions.checks.graph.cycles import cycle_text, example_cycles
from jeton.definitions.checks.names import check_reference
from jeton.definitions.checks.types import UNKNOWN, Types
from jeton.definitions.library import LibrarySource
from jeton.definitions.read.profile import ProfileSource
from jeton.definitions.report import Report, closest, did_you_mean, shown

PROVIDERS = ("openai", "openai_responses", "anthropic", "google", "scripted")
WHEN: Types = {
    "message": {"type": "string"},
    "moves": {"type": "integer"},
    "tool_results": {"type": "array", "items": UNKNOWN},
    "context": UNKNOWN,
}
"""What the condition of an entry reads."""


Installed: TypeAlias = Callable[[], Collection[str]]


def check_profiles(source: LibrarySource, definitions: Definitions, installed: Installed, report: Report) -> None:
    """Check every model profile. `installed`: the providers of plugins, which are looked for only if need be."""
    secrets = definitions.settings.get("secrets")
    known = secrets if isinstance(secrets, dict) else {}
    for found in source.model_profiles.values():
        _check_provider(found, installed, report)
        secret = found.profile.api_key
        if secret is not None and secret not in known:
            remedy = did_you_mean(secret, known, "name its source under 'project: {settings: {secrets: …}}'")
            problem = f"{shown(secret)} is not a secret of the project"
            report.error(found.location / "api_key" / "secret", "unknown_secret", problem, remedy)
        for index, fallback in enumerate(found.profile.fallbacks):
            at = found.location / "fallbacks" / index
            check_reference(fallback, "model profile", definitions.model_profiles, at, report)
        _check_script(found, report)
    _check_fallbacks(source, report)


def _check_provider(source: ProfileSource, installed: Installed, report: Report) -> None:
    """Warn of an unknown provider. Not an error, because a plugin may be installed where it runs."""
    provider = source.profile.provider
    if not provider or provider in PROVIDERS:
        return
    known = sorted({*PROVIDERS, *installed()})
    if provider not in known:
        problem = f"no provider that is built in or installed is called {shown(provider)}"
        meant = closest(provider, known)
        remedy = f"write '{meant}' if that is meant" if meant else "install the plugin that has it"
        report.warning(source.location / "provider", "unknown_provider", problem, remedy)


def _check_script(source: ProfileSource, report: Report) -> None:
    for entry, location in zip(source.script.entries, source.script.locations, strict=True):
        when = entry.get("when")
        if isinstance(when, str) and when:
            condition = compile_one(when, frozenset(WHEN), location / "when", report)
            if condition is not None:
                check_gives(condition, "bool", WHEN, location / "when", report)


def _check_fallbacks(source: LibrarySource, report: Report) -> None:
    """Report one error for each set of profiles that fall back to each other."""
    profiles = {name: found.profile for name, found in source.model_profiles.items()}
    steps = {name: list(profile.fallbacks) for name, profile in profiles.items()}
    for cycle in example_cycles(profiles, steps):
        first, last = cycle[0], cycle[-1]
        at = source.model_profiles[last].location / "fallbacks" / profiles[last].fallbacks.index(first)
        problem = f"the fallbacks lead back: {cycle_text(cycle)}"
        report.error(at, "fallback_cycle", problem, "remove one of them")
