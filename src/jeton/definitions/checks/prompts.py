"""Checks of prompts, and of what `llm` actions name: a prompt, a model profile, tools."""

from jeton.definitions.checks.definitions import Definitions
from jeton.definitions.checks.implementations import located_actions
from jeton.definitions.checks.names import check_reference
from jeton.definitions.library import LibrarySource
from jeton.definitions.read.location import NAME, SourceLocation
from jeton.definitions.read.template import check_template
from jeton.definitions.report import Report
from jeton.model.json import JsonObject

GIVEN = ("input", "run")  # what a prompt reads


def check_prompts(source: LibrarySource, definitions: Definitions, report: Report) -> None:
    """Check the templates of every prompt, and the names in every `llm` action."""
    for prompt in source.prompts.values():
        check_template("system", prompt.value.system, prompt.location / "system", report, GIVEN)
        check_template("template", prompt.value.template, prompt.location / "template", report, GIVEN)
    for action, _, location in located_actions(source):
        if action.kind == "llm":
            _check_action(action.implementation, location, definitions, report)


def _check_action(
    implementation: JsonObject, location: SourceLocation, definitions: Definitions, report: Report
) -> None:
    """Check the names in one action. What is no name is left to the action's kind."""
    prompt, profile = implementation.get("prompt"), implementation.get("model_profile")
    if isinstance(prompt, str) and NAME.fullmatch(prompt):
        check_reference(prompt, "prompt", definitions.prompts, location / "prompt", report)
    if isinstance(profile, str):
        check_reference(profile, "model profile", definitions.model_profiles, location / "model_profile", report)
    tools = implementation.get("tools")
    for index, tool in enumerate(tools if isinstance(tools, list) else ()):
        if isinstance(tool, str):
            check_reference(tool, "tool", definitions.tools, location / "tools" / index, report)
