"""A workflow written in Python is the very same value as one written in a file."""

import dataclasses
import itertools
from pathlib import Path
from typing import Any, ClassVar, TypedDict

import msgspec
import pytest

import jeton
from jeton.definitions import library_from, load_library
from jeton.engine.build.parts import Shape
from jeton.engine.build.source import Built
from jeton.engine.build.workflow import Workflow, join, merge
from jeton.executor.python.action import action
from jeton.model.definition.task import RetryPolicy, Step, Task
from jeton.model.definition.workflow import Library, TaskTarget
from jeton.model.failure import DefinitionError
from jeton.model.json import JsonObject


@dataclasses.dataclass
class Panel:
    essay: str
    judges: list[str]


class Vote(msgspec.Struct):
    judge: str
    points: int


class PanelState(TypedDict, total=False):
    votes: list[Vote]
    verdict: str


@action(timeout_ms=5000, retry=RetryPolicy(3, "exponential", 100))
async def judge_essay(essay: str, judge: str) -> Vote:
    """One judge's vote."""
    return Vote(judge, len(essay))


def panel() -> Workflow:
    panel = Workflow(
        "panel",
        input=Panel,
        state=PanelState,
        output={"type": "object", "required": ["verdict"]},
        output_mapping={"verdict": "state.verdict"},
        timeout_ms=3_600_000,
    )
    prepare = panel.node("prepare")
    judge = panel.node("judge", action=judge_essay, input={"essay": "input.essay", "judge": "judge"})
    tally = panel.node(
        "tally",
        action={"kind": "context", "implementation": {"set": {"verdict": "'accept'"}}},
        input={"votes": "state.votes"},
        output={"state.verdict": "result.verdict"},
    )
    pause = panel.node("pause", wait={"seconds": 5})
    done = panel.node("done")

    panel.transition(prepare, judge, foreach="input.judges", item_var="judge", sibling_group="judges")
    voted = join(
        m_of_n=2,
        sibling_group="judges",
        merge=merge("state.votes"),
        timeout_ms=30_000,
        on_timeout="proceed_with_available",
        on_branch_failure="continue",
    )
    panel.transition(judge, tally, synchronization=voted)
    panel.transition(tally, pause, condition="state.verdict == 'reject'", max_iterations=1)
    panel.transition(tally, done, priority=2)
    _ = pause >> done
    return panel


PANEL = """
workflows:
  panel:
    input_schema:
      type: object
      required: [essay, judges]
      properties: {essay: {type: string}, judges: {type: array, items: {type: string}}}
      x-closed: true
    state_schema:
      type: object
      properties:
        votes:
          type: array
          items:
            type: object
            required: [judge, points]
            properties: {judge: {type: string}, points: {type: integer}}
            x-closed: true
        verdict: {type: string}
      required: []
      x-closed: true
    output_schema: {type: object, required: [verdict]}
    output_mapping: {verdict: state.verdict}
    timeout_ms: 3600000
    initial_node: prepare
    nodes:
      prepare: {}
      judge: {action: judge_essay, input_mapping: {essay: input.essay, judge: judge}}
      tally:
        action: {kind: context, implementation: {set: {verdict: "'accept'"}}}
        input_mapping: {votes: state.votes}
        output_mapping: {state.verdict: result.verdict}
      pause: {wait: {seconds: 5}}
      done: {}
    transitions:
      - {from: prepare, to: judge, foreach: {collection: input.judges, item_var: judge}, sibling_group: judges}
      - from: judge
        to: tally
        synchronization:
          strategy: {m_of_n: 2}
          sibling_group: judges
          merge: {source: _branch.output, target: state.votes, strategy: append}
          timeout_ms: 30000
          on_timeout: proceed_with_available
          on_branch_failure: continue
      - {from: tally, to: pause, condition: "state.verdict == 'reject'", loop_config: {max_iterations: 1}}
      - {from: tally, to: done, priority: 2}
      - {from: pause, to: done}
actions:
  judge_essay:
    kind: python
    implementation: {function: "MODULE:judge_essay"}
    description: One judge's vote.
    input_schema:
      type: object
      required: [essay, judge]
      properties: {essay: {type: string}, judge: {type: string}}
      x-closed: true
    output_schema:
      type: object
      required: [judge, points]
      properties: {judge: {type: string}, points: {type: integer}}
      x-closed: true
    execution:
      timeout_ms: 5000
      retry_policy: {max_attempts: 3, backoff: exponential, initial_delay_ms: 100}
"""


def test_python_and_yaml_give_the_same_library(tmp_path: Path) -> None:
    (tmp_path / "panel.yaml").write_text(PANEL.replace("MODULE", __name__))
    written = load_library(tmp_path / "panel.yaml")
    built = library_from(panel().definition())
    assert built.problems == written.problems == ()
    assert built.library == written.library


def test_it_can_be_deployed() -> None:
    assert isinstance(panel(), Built)


def built(workflow: Workflow) -> Library:
    return library_from(workflow.definition()).require()


def test_the_first_node_is_the_initial_one_unless_told() -> None:
    for initial, then in ((None, "a"), ("b", "b")):
        workflow = Workflow("w", initial_node=initial)
        a, b = workflow.node("a"), workflow.node("b")
        _ = a >> b >> a
        assert library_from(workflow.definition()).library.workflows["w"].initial_node == then


def test_plain_transitions_chain() -> None:
    workflow = Workflow("w")
    a, b, c = (workflow.node(name) for name in "abc")
    _ = a >> b >> c
    assert [(t.source, t.target) for t in built(workflow).workflows["w"].transitions] == [("a", "b"), ("b", "c")]


def test_a_called_workflow_comes_along_with_its_actions() -> None:
    child = Workflow("child")
    child.node("judge", action=judge_essay)
    parent = Workflow("parent")
    parent.node("call", workflow=child, on_failure="catch")
    library = built(parent)
    assert set(library.workflows) == {"parent", "child"}
    assert set(library.actions) == {"judge_essay"}


def test_a_task_can_be_a_model_value() -> None:
    workflow = Workflow("w")
    given = Task((Step(judge_essay.action, ref="ask", on_failure="retry"),), retry=RetryPolicy(3))
    workflow.node("judge", task=given)
    assert built(workflow).workflows["w"].nodes["judge"].target == TaskTarget(given)


def test_what_is_taken_is_copied() -> None:
    mapping: JsonObject = {"a": "input.a"}
    workflow = Workflow("w")
    workflow.node("a", input=mapping)
    mapping["b"] = "nonsense"
    definition: Any = workflow.definition()
    assert definition["workflows"]["w"]["nodes"]["a"] == {"input_mapping": {"a": "input.a"}}


def test_two_nodes_of_one_name_are_refused() -> None:
    workflow = Workflow("w")
    workflow.node("a")
    with pytest.raises(DefinitionError, match="already exists"):
        workflow.node("a")


class Struct(msgspec.Struct):
    n: int


@dataclasses.dataclass
class Data:
    n: int


class Typed(TypedDict):
    n: int


class LikePydantic:
    @classmethod
    def model_json_schema(cls, *, ref_template: str = "") -> JsonObject:
        properties: JsonObject = {"n": {"title": "N", "type": "integer"}}
        return {"title": "LikePydantic", "type": "object", "properties": properties, "required": ["n"]}

    @classmethod
    def model_validate(cls, obj: object) -> object:
        return obj


SCHEMA: JsonObject = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


@pytest.mark.parametrize(
    "shape",
    [
        pytest.param(Struct, id="a msgspec struct"),
        pytest.param(Data, id="a dataclass"),
        pytest.param(Typed, id="a TypedDict"),
        pytest.param(LikePydantic, id="a pydantic model"),
        pytest.param(SCHEMA, id="a schema"),
    ],
)
def test_shapes(shape: Shape) -> None:
    workflow = Workflow("w", input=shape, state=shape, output=shape)
    workflow.node("a", output={"output.n": "input.n", "state.n": "input.n"})
    found = built(workflow).workflows["w"]
    closed = {} if shape is SCHEMA else {"x-closed": True}
    assert found.input_schema == found.state_schema == found.output_schema == {**SCHEMA, **closed}


def made_tags() -> list[str]:
    return ["new"]


class StructState(msgspec.Struct):
    owner: str
    count: int = 3
    votes: list[str] = []
    tags: list[str] = msgspec.field(default_factory=made_tags, name="labels")


@dataclasses.dataclass
class DataState:
    owner: str
    count: int = 3
    votes: list[str] = dataclasses.field(default_factory=list[str])
    labels: list[str] = dataclasses.field(default_factory=made_tags)


class PydanticField:
    """What pydantic keeps of a field with a default factory."""

    alias = None
    validation_alias = "labels"
    default_factory = staticmethod(made_tags)


class LikePydanticState(LikePydantic):
    model_fields: ClassVar = {"tags": PydanticField()}

    @classmethod
    def model_json_schema(cls, *, ref_template: str = "") -> JsonObject:
        properties: JsonObject = {
            "owner": {"type": "string"},
            "count": {"type": "integer", "default": 3},
            "votes": {"type": "array", "default": []},
            "labels": {"type": "array"},
        }
        return {"type": "object", "properties": properties, "required": ["owner"]}


@pytest.mark.parametrize(
    "model",
    [
        pytest.param(StructState, id="a msgspec struct"),
        pytest.param(DataState, id="a dataclass"),
        pytest.param(LikePydanticState, id="a pydantic model"),
    ],
)
async def test_a_run_begins_with_the_defaults_of_its_state_model(model: Shape, tmp_path: Path) -> None:
    workflow = Workflow("w", state=model, output_mapping={"all": "state", "twice": "state.count * 2"})
    workflow.node("a")
    async with jeton.open(tmp_path / "s.db") as engine:
        record = await (await engine.start(workflow)).result()
    assert record.output == {"all": {"count": 3, "labels": ["new"], "votes": []}, "twice": 6}


class WithoutPlainDefault(msgspec.Struct):
    where: Any = msgspec.field(default_factory=object)


class WithVaryingDefault(msgspec.Struct):
    id: int = msgspec.field(default_factory=itertools.count().__next__)


@pytest.mark.parametrize(
    ("model", "problem"),
    [
        pytest.param(WithoutPlainDefault, "an object of the type 'object' is not plain data", id="no plain data"),
        pytest.param(WithVaryingDefault, "the default of 'id' differs from call to call", id="another at each call"),
    ],
)
def test_a_default_that_no_definition_can_have(model: Shape, problem: str) -> None:
    with pytest.raises(DefinitionError, match=problem) as raised:
        Workflow("w", state=model)
    assert raised.value.problems[0].path == "workflows.w.state_schema"
    assert "constant default" in raised.value.problems[0].remedy


def test_a_shape_that_no_json_has() -> None:
    with pytest.raises(DefinitionError, match=r"workflows\.w\.state_schema: has no JSON Schema"):
        Workflow("w", state=Path)
