"""Checks of mappings: their targets, and their values against the schema of the target."""

from collections.abc import Collection, Mapping, Sequence

from jeton.definitions.check_schema import value_problem
from jeton.definitions.checks.compiled import CompiledWorkflow
from jeton.definitions.checks.definitions import Definitions
from jeton.definitions.checks.graph.graph import Graph
from jeton.definitions.checks.schemas import PathNotAllowed, below, misfit, required_keys
from jeton.definitions.checks.types import Types, WorkflowTypes, input_of
from jeton.definitions.read.location import SourceLocation
from jeton.definitions.report import Report, listed, shown
from jeton.expression import Expression, Failed, Missing, type_of
from jeton.model.json import Json, Schema

SECTIONS = ("state", "output")


def check_mappings(
    graph: Graph, compiled: CompiledWorkflow, types: WorkflowTypes, definitions: Definitions, report: Report
) -> None:
    """Check every mapping of a workflow."""
    for name in graph.workflow.nodes:
        _check_input(graph, name, compiled, types, definitions, report)
        _check_output(graph, name, compiled, types, report)
    _check_result(graph, compiled, types, report)


def _check_input(
    graph: Graph,
    name: str,
    compiled: CompiledWorkflow,
    types: WorkflowTypes,
    definitions: Definitions,
    report: Report,
) -> None:
    node, location = graph.workflow.nodes[name], graph.source.node(name)
    for target in node.input_mapping or {}:
        check_keys(target, location / "input_mapping" / target, report)
    wanted = input_of(node.target, definitions)
    if wanted is None:
        return
    if node.input_mapping is None:
        given = graph.workflow.input_schema or {}
        check_passed_on(given, wanted, "the workflow's input", "the node's target", location, report)
        return
    check_missing(wanted, node.input_mapping, "the node's target", location / "input_mapping", report)
    for target, expression in compiled.inputs[name].items():
        at = location / "input_mapping" / target
        check_value(expression, types.at(name), wanted, target.split("."), "the target's input", at, report)


def _check_output(graph: Graph, name: str, compiled: CompiledWorkflow, types: WorkflowTypes, report: Report) -> None:
    node, location = graph.workflow.nodes[name], graph.source.node(name) / "output_mapping"
    in_branch = not graph.source.whole or any(graph.stacks(name))
    sections = (*SECTIONS, "_branch") if in_branch else SECTIONS
    for target in node.output_mapping or {}:
        section = check_target_path(target, sections, location / target, report)
        schema = _section_schema(graph, section)
        if schema is None or target not in compiled.outputs[name] or graph.always_in_branch(name):
            continue  # in a branch it lands in the branch's output, which no schema describes
        keys, expression = target.split(".")[1:], compiled.outputs[name][target]
        check_value(expression, types.after(name), schema, keys, f"the {section}", location / target, report)


def _section_schema(graph: Graph, section: str | None) -> Schema | None:
    workflow = graph.workflow
    if section == "state":
        return workflow.state_schema
    return workflow.output_schema if section == "output" and workflow.output_mapping is None else None


def _check_result(graph: Graph, compiled: CompiledWorkflow, types: WorkflowTypes, report: Report) -> None:
    workflow, location = graph.workflow, graph.source.location / "output_mapping"
    for target in workflow.output_mapping or {}:
        check_keys(target, location / target, report)
    if workflow.output_schema is None:
        return
    if workflow.output_mapping is None:
        _check_written(graph, workflow.output_schema, report)
        return
    check_missing(workflow.output_schema, workflow.output_mapping, "the output_schema", location, report)
    for target, expression in compiled.result.items():
        keys = target.split(".")
        check_value(expression, types.context, workflow.output_schema, keys, "the output", location / target, report)


def _check_written(graph: Graph, schema: Schema, report: Report) -> None:
    """Check that required output is written. Without an output mapping, nodes and merges write it."""
    if not graph.source.whole:
        return
    targets = [target for node in graph.workflow.nodes.values() for target in node.output_mapping or {}]
    synchronizations = [transition.synchronization for transition in graph.workflow.transitions]
    targets += [found.merge.target for found in synchronizations if found is not None and found.merge is not None]
    for key in required_keys(schema):
        if not any(target.split(".")[:2] == ["output", key] for target in targets):
            problem = f"{shown(key)} is required, and no node writes 'output.{key}'"
            remedy = f"write it in an output_mapping, or add '{key}' to an output_mapping of the workflow"
            report.error(graph.source.location / "output_schema" / "required", "mapping_missing_key", problem, remedy)


def check_keys(target: str, location: SourceLocation, report: Report) -> bool:
    """Check that a target is a path of non-empty keys."""
    if all(target.split(".")):
        return True
    report.error(
        location, "mapping_target", f"{shown(target)} is not a path", "write keys with single dots between them"
    )
    return False


def check_target_path(target: str, sections: Collection[str], location: SourceLocation, report: Report) -> str | None:
    """The section that an output mapping writes to; None, and a report, if it may not."""
    section, *keys = target.split(".")
    in_branch_output = section == "_branch" and keys[:1] == ["output"]
    below_section = keys[1:] if in_branch_output else keys
    writable = in_branch_output if section == "_branch" else True
    if section not in sections or not writable or not below_section or not all(below_section):
        allowed = listed(["_branch.output.…" if each == "_branch" else f"{each}.…" for each in sections])
        problem = f"{shown(target)} {_why_not(section, in_branch_output, sections)}"
        report.error(location, "mapping_target", problem, f"write to one of {allowed}")
        return None
    if section == "state" and keys[0] == "_last_error":
        report.error(location, "mapping_target", f"{shown(target)} is written by the engine", "write to another key")
    return section


def _why_not(section: str, in_branch_output: bool, sections: Collection[str]) -> str:
    if section == "input":
        return "writes to the input, which never changes"
    if section == "_branch" and not in_branch_output:
        return "is reserved for the engine"
    if section == "_branch" and section not in sections:
        return "writes to a branch's output, and this is in no branch"
    return "cannot be written"


def check_missing(
    wanted: Schema, mapping: Mapping[str, Json], whose: str, location: SourceLocation, report: Report
) -> None:
    """Report required keys that a mapping does not set."""
    given = {target.split(".")[0] for target in mapping}
    for key in required_keys(wanted):
        if key not in given:
            problem = f"{whose} requires {shown(key)}, which is not mapped"
            report.error(location, "mapping_missing_key", problem, f"add '{key}: …'")


def check_passed_on(
    given: Schema, wanted: Schema, what: str, whose: str, location: SourceLocation, report: Report
) -> None:
    """Check what is passed on unchanged, for lack of an input mapping."""
    reason = misfit(given, wanted)
    if reason is not None:
        problem = f"{what} is passed on to {whose}, which cannot take it: {reason}"
        report.error(location, "mapping_type", problem, "add an input_mapping, or change one of the schemas")


def check_value(
    expression: Expression,
    seen: Types,
    schema: Schema,
    keys: Sequence[str],
    where: str,
    location: SourceLocation,
    report: Report,
) -> None:
    """Check one expression of a mapping against the schema of its target."""
    wanted = below(schema, keys)
    if isinstance(wanted, PathNotAllowed):
        report.error(location, "mapping_ruled_out", f"{where}: {wanted.problem}", wanted.remedy)
        return
    reason = _literal_misfit(expression, wanted) if not expression.reads else misfit(type_of(expression, seen), wanted)
    if reason is not None:
        problem = f"{shown(expression.source)} does not fit {where} at {shown('.'.join(keys))}: {reason}"
        report.error(location, "mapping_type", problem, "change the expression, or the schema")


def _literal_misfit(expression: Expression, wanted: Schema) -> str | None:
    """Why a constant does not fit the schema; None if it fits."""
    value = expression.evaluate({})
    if isinstance(value, Missing | Failed):
        return None
    problem = value_problem(wanted, value)
    return problem[1] if problem is not None else None
