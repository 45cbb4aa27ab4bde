"""Checks of merges: the type of the result against the schema of the target."""

from jeton.definitions.checks.graph.graph import Graph
from jeton.definitions.checks.schemas import WORDS, PathNotAllowed, below, excludes
from jeton.definitions.read.location import SourceLocation
from jeton.definitions.report import Report
from jeton.model.definition.workflow import Merge
from jeton.model.json import Schema

MAKES = {"append": "list", "collect": "list", "merge_object": "map", "keyed_by_branch": "map"}


def check_merges(graph: Graph, report: Report) -> None:
    """Check merges into the context. A merge inside a branch writes to the branch's output, which has no schema."""
    workflow = graph.workflow
    sections = {
        "state": workflow.state_schema,
        "output": workflow.output_schema if workflow.output_mapping is None else None,
    }
    for index, transition in enumerate(workflow.transitions):
        merge = transition.synchronization.merge if transition.synchronization is not None else None
        if merge is None or all(joined.around for joined in graph.joined(index)):
            continue
        schema = sections.get(merge.target.split(".")[0])
        if schema is not None:
            _check(merge, schema, graph.source.synchronization(index) / "merge", report)


def _check(merge: Merge, schema: Schema, location: SourceLocation, report: Report) -> None:
    wanted = below(schema, merge.target.split(".")[1:])
    if isinstance(wanted, PathNotAllowed):
        report.error(location / "target", "mapping_ruled_out", wanted.problem, wanted.remedy)
        return
    made = MAKES.get(merge.strategy)
    instead = excludes(wanted, made) if made is not None else None
    if made is not None and instead is not None:
        problem = f"'{merge.strategy}' makes {WORDS[made]}, and the schema wants {instead} at '{merge.target}'"
        report.error(location / "strategy", "merge_type", problem, "choose another strategy, or change the schema")
