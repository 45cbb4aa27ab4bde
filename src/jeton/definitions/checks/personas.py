"""Checks of personas and agents: the definitions they name, and the template of the instructions."""

from jeton.definitions.checks.definitions import Definitions
from jeton.definitions.checks.names import check_reference
from jeton.definitions.library import LibrarySource, Located
from jeton.definitions.read.template import check_template
from jeton.definitions.report import Report, shown
from jeton.model.definition.agent import Persona

INSTRUCTIONS = ("agent", "persona", "run")  # what the template of the instructions reads
NEED_MODEL = ("openai", "openai_responses", "anthropic", "google")


def check_personas(source: LibrarySource, definitions: Definitions, report: Report) -> None:
    """Check every agent and every persona."""
    for agent in source.agents.values():
        check_reference(agent.value.persona, "persona", definitions.personas, agent.location / "persona", report)
    for persona in source.personas.values():
        _check_persona(persona, definitions, report)


def _check_persona(source: Located[Persona], definitions: Definitions, report: Report) -> None:
    persona, location = source.value, source.location
    check_template("instructions", persona.instructions, location / "instructions", report, INSTRUCTIONS)
    at = location / "model_profile"
    check_reference(persona.model_profile, "model profile", definitions.model_profiles, at, report)
    profile = definitions.model_profiles.get(persona.model_profile)
    if profile is not None and profile.model is None and profile.provider in NEED_MODEL:
        problem = f"the profile {shown(persona.model_profile)} names no model, and '{profile.provider}' has many"
        report.warning(at, "missing_key", problem, "add 'model:' to the profile")
    written = location / "tools"
    for index, tool in enumerate(persona.tools):
        check_reference(tool, "tool", definitions.tools, written / index, report)
    for key, workflow in (
        ("context_assembly", persona.context_assembly),
        ("memory_extraction", persona.memory_extraction),
        ("compaction", persona.compaction),
    ):
        check_reference(workflow or "", "workflow", definitions.startable, location / key, report)
