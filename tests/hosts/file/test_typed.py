"""Typed state: tables that hold the state exactly, whatever its keys and values are."""

from typing import Any, cast

import apsw
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET

from jeton.actor.typed.layout import Layout, plan_layout
from jeton.actor.typed.names import literal, quoted
from jeton.hosts.sql.mirrors.typed.tables import Tables, create_tables, stored_layout
from jeton.hosts.sqlite.file.connect import connect
from jeton.model.ids import RunId
from jeton.model.json import Json, JsonObject, Schema
from tests.hosts.file.schemas import contexts, floats, properties_of, state_schemas

RUN = RunId("r")
PANEL: Schema = {
    "type": "object",
    "properties": {
        "verdict": {"type": "string", "enum": ["accept", "reject"]},
        "round": {"type": "integer", "minimum": 0, "maximum": 9},
        "score": {"type": "number", "exclusiveMinimum": 0},
        "final": {"type": "boolean"},
        "essay": {"type": "string", "minLength": 2, "maxLength": 9},
        "author": {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}},
        "votes": {
            "type": "array",
            "items": {"type": "object", "properties": {"judge": {"type": "string"}, "tags": {"type": "array"}}},
        },
        "grid": {"type": "array", "items": {"type": "array", "items": {"type": "number"}}},
        "either": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        "anything": {},
    },
}


class Given:
    """A store in memory with one workflow's tables, and one run."""

    def __init__(self, schema: Schema, workflow: str = "panel", version: int = 3) -> None:
        self.db = connect(":memory:", create=True)
        self.sqlite = cast(Any, self.db)
        self.db.pragma("foreign_keys", True)
        self.db.execute("create table layouts(workflow text, version integer, layout blob, digest blob) strict")
        self.db.execute("create table meta(key text primary key, value any, digest blob) strict")
        self.layout = create_tables(self.db, workflow, version, schema)
        self.tables = Tables(self.layout)
        self.tables.add(self.db, [RUN])

    def write(self, context: JsonObject, run: RunId = RUN) -> None:
        with self.db:
            self.tables.write(self.db, {run: context})

    def read(self) -> JsonObject:
        found = self.tables.read(self.db, RUN)
        assert found is not None
        return found

    def ask(self, query: str) -> list[tuple[Any, ...]]:
        return list(self.db.execute(query))


def exact(value: Json) -> bytes:
    """1, 1.0 and true are different here, as they are in JSON."""
    return msgspec.json.encode(value, order="sorted")


# queries


def test_a_verdict_is_found_over_all_runs() -> None:
    panel = Given(PANEL)
    panel.tables.add(panel.db, [RunId("s")])
    panel.write({"verdict": "reject"})
    panel.write({"verdict": "accept"}, RunId("s"))
    assert panel.ask("SELECT run_id FROM state_panel_v3 WHERE verdict = 'reject'") == [("r",)]


def test_objects_are_columns_and_lists_are_tables_keyed_by_position() -> None:
    panel = Given(PANEL)
    panel.write(
        {
            "author": {"name": "Ada", "age": 36},
            "votes": [{"judge": "a", "tags": ["x", "y"]}, {"judge": "b"}],
            "grid": [[1, 2.5], [], [3]],
            "final": True,
        }
    )
    assert panel.ask("select author_name, author_age, final from state_panel_v3") == [("Ada", 36, 1)]
    assert panel.ask("select position, judge from state_panel_v3_votes") == [(0, "a"), (1, "b")]
    assert panel.ask("select position, position_2, value from state_panel_v3_votes_tags") == [
        (0, 0, '"x"'),
        (0, 1, '"y"'),
    ]
    assert panel.ask("select position, position_2, value from state_panel_v3_grid_items") == [
        (0, 0, 1),
        (0, 1, 2.5),
        (2, 0, 3),
    ]


@pytest.mark.parametrize(
    ("column", "wrong"),
    [
        pytest.param("verdict", "'maybe'", id="an enum"),
        pytest.param("round", "-1", id="a minimum"),
        pytest.param("round", "10", id="a maximum"),
        pytest.param("score", "0", id="an exclusive minimum"),
        pytest.param("score", "'high'", id="a number"),
        pytest.param("final", "2", id="a boolean"),
        pytest.param("essay", "'a'", id="a shortest length"),
        pytest.param("essay", "'0123456789'", id="a longest length"),
    ],
)
def test_a_column_checks(column: str, wrong: str) -> None:
    panel = Given(PANEL)
    with pytest.raises(apsw.ConstraintError):
        panel.ask(f"update state_panel_v3 set {column} = {wrong}")


def test_an_item_without_its_row_is_refused() -> None:
    panel = Given(PANEL)
    with pytest.raises(apsw.ConstraintError, match="FOREIGN KEY"):
        panel.ask("insert into state_panel_v3_votes_tags(run_id, position, position_2) values('r', 7, 0)")


def test_a_deleted_run_leaves_nothing_behind() -> None:
    panel = Given(PANEL)
    panel.write({"votes": [{"judge": "a", "tags": ["x"]}], "unknown": 1})
    panel.tables.drop_run(panel.db, RUN)
    assert [panel.ask(f"select count(*) from {quoted(table)}")[0][0] for table in tables_of(panel.layout)] == [0] * 7


def tables_of(layout: Layout) -> list[str]:
    return [layout.table, layout.rest, layout.branches, *Tables(layout).lists]


# reading back


CONTEXTS: dict[str, JsonObject] = {
    "nothing": {},
    "a null is not missing": {"verdict": None},
    "an empty object is not missing": {"author": {}},
    "a null in an object": {"author": {"name": None}},
    "an empty list is not missing": {"votes": []},
    "empty items": {"votes": [{}, None, {"judge": None}, {"tags": []}, {"tags": [None, {}, []]}]},
    "lists in lists": {"grid": [[], [[]], [1], None, "x", [1.0, 1, True, -0.0]]},
    "a whole number among numbers": {"score": 1},
    "1.0 is not 1": {"score": 1.0},
    "1.0 where whole numbers are kept": {"round": 1.0},
    "true is not 1": {"round": True},
    "64 bits": {"anything": 2**63 - 1, "score": 2**63 - 1, "either": -(2**63)},
    "more than 64 bits": {"score": 2**63, "anything": 10**30},
    "small floats": {"score": -0.0, "anything": 5e-324},
    "unicode": {"essay": "añ🎉\u202e", "verdict": "reject"},
    "NUL": {"essay": "a\0b", "anything": "\0", "author": {"name": "\0"}},
    "long texts": {"essay": "x" * 10_000, "author": {"name": "y" * 10_000}},
    "long JSON": {"anything": {"deep": ["x" * 10_000]}},
    "what the schema refuses": {"verdict": "maybe", "round": 99, "essay": "", "final": "yes"},
    "other types": {"author": "me", "votes": {"0": 1}, "grid": 7},
    "other properties": {"extra": {"a": 1}, "author": {"extra": [1]}, "votes": [{"extra": 1}]},
    "odd names": {"": 1, "a/b": 2, "a~b": 3, "~1": {"/": 4}, "0": 5, "run_id": 6},
}


@pytest.mark.parametrize("context", CONTEXTS.values(), ids=CONTEXTS)
def test_the_context_comes_back_exactly(context: JsonObject) -> None:
    panel = Given(PANEL)
    panel.write(context)
    assert exact(panel.read()) == exact(context)


def test_a_key_that_is_gone_leaves_no_trace() -> None:
    panel = Given(PANEL)
    panel.write({"votes": [{"judge": "a"}], "verdict": None, "extra": 1})
    with panel.db:
        panel.tables.write(panel.db, {RUN: {"votes": UNSET, "verdict": UNSET, "extra": UNSET}})
    assert panel.read() == {}


def test_a_schema_that_refers_to_itself_ends_somewhere() -> None:
    node: Schema = {"type": "object", "properties": {"name": {"type": "string"}, "next": {"$ref": "#/$defs/node"}}}
    tree = Given({"$defs": {"node": node}, "properties": {"root": {"$ref": "#/$defs/node"}}})
    context: JsonObject = {"root": {"name": "a", "next": {"name": "b", "next": {"name": "c"}}}}
    tree.write(context)
    assert tree.read() == context
    assert tree.ask("select root_name from state_panel_v3") == [("a",)]


def test_a_schema_of_many_references_is_bounded() -> None:
    levels: JsonObject = {
        f"l{i}": {"properties": {side: {"$ref": f"#/$defs/l{i + 1}"} for side in ("a", "b")}} for i in range(40)
    }
    bomb = Given({"$defs": levels, "$ref": "#/$defs/l0"})
    context: JsonObject = {"a": {"b": {"a": 1}}, "b": 2}
    bomb.write(context)
    assert bomb.read() == context


def test_too_many_columns_and_lists_are_kept_with_the_rest() -> None:
    wide: JsonObject = {f"c{i}": {"type": "integer"} for i in range(3000)}
    lists: JsonObject = {f"l{i}": {"type": "array"} for i in range(150)}
    store = Given({"properties": {**wide, **lists}})
    context: JsonObject = {"c0": 1, "c2999": 2, "l0": [1], "l149": [2]}
    store.write(context)
    assert store.read() == context


# names


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(["a_b", "a.b"], id="a dot beside an underscore"),
        pytest.param(
            ["select", "index", "table", "order", "rowid", "oid", "_rowid_", "true", "null"], id="words of SQL"
        ),
        pytest.param(["A", "a", "a_2", "A_2"], id="twins but for their case"),
        pytest.param(["É", "é", "ß", "SS", "ı", "İ", "K", "\u212a"], id="letters whose case is a matter of taste"),
        pytest.param(["x" * 5_000, "x" * 5_001, "x" * 4_999 + "y"], id="long names"),
        pytest.param(['"', '""', "'", "`", "]", ";", "--", "/*", '"; drop table layouts; --'], id="quotes"),
        pytest.param(["run_id", "value", "position", "key", "path", "rest"], id="our own words"),
        pytest.param(["", " ", "\t", "\u202e", "\x7f", "a\nb", "a\rb", "a_b"], id="what cannot be seen"),
        pytest.param(["名前", "имя", "🎉", "a\u0301", "á"], id="unicode"),
        pytest.param(["?1", ":x", "@x", "$x", "%s", "{}", "\\"], id="what looks like a parameter"),
    ],
)
def test_names_never_collide(names: list[str]) -> None:
    scalars: JsonObject = {name: {"type": "integer"} for name in names}
    lists: JsonObject = {name: {"type": "array", "items": {"properties": scalars}} for name in names}
    store = Given({"properties": {**scalars, "o": {"properties": scalars}, "l": {"properties": lists}}})
    numbered: JsonObject = {name: number for number, name in enumerate(names)}
    context: JsonObject = {**numbered, "o": numbered, "l": {name: [numbered] for name in names}}
    store.write(context)
    assert exact(store.read()) == exact(context)
    assert not store.ask(f"select * from {quoted(store.layout.rest)}")


def test_a_plain_property_keeps_its_name_whatever_else_wants_it() -> None:
    store = Given({"properties": {"a": {"properties": {"b": {"type": "string"}}}, "a_b": {"type": "string"}}})
    store.write({"a": {"b": "nested"}, "a_b": "plain"})
    assert store.ask("select a_b, a_b_2 from state_panel_v3") == [("plain", "nested")]


def test_two_workflows_never_share_a_table() -> None:
    """`a` version 1 with a list called `v1` beside `a_v1` version 1, `A` beside `a`, and a name with a dash."""
    store = Given({"properties": {"v1": {"type": "array"}}}, "a", 1)
    others = [
        create_tables(store.db, name, 1, {"properties": {"v1": {"type": "array"}}}) for name in ("a_v1", "A", "a-b")
    ]
    tables = [table.lower() for layout in (store.layout, *others) for table in tables_of(layout)]
    assert len(set(tables)) == len(tables)
    assert others[2].table == "state_a-b_v1"
    assert store.ask('select count(*) from "state_a-b_v1"') == [(0,)]


def test_a_layout_is_read_back_as_it_was_stored() -> None:
    store = Given(PANEL)
    assert stored_layout(store.db, "panel", 3) == store.layout
    assert stored_layout(store.db, "panel", 4) is None


def test_planning_twice_gives_the_same_names() -> None:
    assert plan_layout("panel", 3, PANEL) == plan_layout("panel", 3, PANEL)


# properties


@given(contexts())
@settings(max_examples=200, deadline=None)
def test_any_context_under_any_schema_comes_back_exactly(drawn: tuple[Schema, list[JsonObject]]) -> None:
    schema, (context,) = drawn
    store = Given(schema)
    store.write(context)
    assert exact(store.read()) == exact(context)


@given(contexts(count=4))
@settings(max_examples=100, deadline=None)
def test_writing_key_by_key_ends_where_writing_all_at_once_does(drawn: tuple[Schema, list[JsonObject]]) -> None:
    schema, steps = drawn
    by_key, at_once = Given(schema), Given(schema)
    whole: JsonObject = {}
    for step in steps:
        by_key.write(step)
        whole |= step
    at_once.write(whole)
    assert exact(by_key.read()) == exact(whole)
    assert dump(by_key) == dump(at_once)


def dump(store: Given) -> list[list[tuple[Any, ...]]]:
    return [sorted(store.ask(f"select * from {quoted(table)}"), key=repr) for table in tables_of(store.layout)]


@given(state_schemas, st.text(max_size=20), st.integers(1, 2**31))
@settings(max_examples=200, deadline=None)
def test_no_name_escapes_its_quotes(schema: Schema, workflow: str, version: int) -> None:
    """SQLite reports every operation: only the tables of the layout are created, read and written."""
    store = Given({})
    wanted: set[str] = set()
    seen: list[tuple[int, str | None]] = []

    def authorize(action: int, first: str | None, second: str | None, *_: str | None) -> int:
        seen.append((action, first))
        return apsw.SQLITE_OK

    store.sqlite.authorizer = authorize
    layout = create_tables(store.db, workflow, version, schema)
    tables = Tables(layout)
    tables.add(store.db, [RUN])
    tables.write(store.db, {RUN: {name: [name] for name in properties_of(schema)}})
    tables.read(store.db, RUN)
    tables.drop_run(store.db, RUN)
    wanted |= set(tables_of(layout)) | {"layouts", "meta", "sqlite_master", "sqlite_schema"}
    made = {name for action, name in seen if action == apsw.SQLITE_CREATE_TABLE}
    assert made == set(tables_of(layout))
    assert {action for action, _ in seen} <= ALLOWED
    assert {name for action, name in seen if action in TOUCHING and name} <= wanted


TOUCHING = {apsw.SQLITE_INSERT, apsw.SQLITE_UPDATE, apsw.SQLITE_DELETE, apsw.SQLITE_READ}
ALLOWED = {
    *TOUCHING,
    apsw.SQLITE_CREATE_TABLE,
    apsw.SQLITE_CREATE_INDEX,
    apsw.SQLITE_REINDEX,
    apsw.SQLITE_SELECT,
    apsw.SQLITE_FUNCTION,
    apsw.SQLITE_RECURSIVE,
}


@given(floats | st.integers(-(2**63), 2**63 - 1))
@settings(max_examples=300, deadline=None)
def test_sqlite_reads_a_number_in_sql_to_the_bit(number: float) -> None:
    assert repr(Given({}).ask(f"select {literal(number)}")[0][0]) == repr(number)


@given(st.text(alphabet=st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
@settings(deadline=None)
def test_sqlite_reads_a_text_in_sql_as_it_is(text: str) -> None:
    assert Given({}).ask(f"select {literal(text)}") == [(text,)]


# cost


def test_a_write_costs_its_own_size() -> None:
    """A counter beside ten thousand votes and a long essay changes a row or two, not all of them."""
    panel = Given(PANEL)
    panel.write({"votes": [{"judge": str(i)} for i in range(10_000)], "essay": "x" * 1_000_000, "round": 1})
    before = panel.sqlite.total_changes()
    panel.write({"round": 2})
    assert panel.sqlite.total_changes() - before <= 2
    assert len(panel.ask("select * from state_panel_v3")[0]) < 20
    assert sum(len(str(cell)) for cell in panel.ask("select * from state_panel_v3")[0]) < 100
