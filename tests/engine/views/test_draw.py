"""Pictures of workflows: readable, complete, and safe whatever a definition says."""

import xml.etree.ElementTree as ET
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeton.definitions import library_from
from jeton.engine.views.draw import Picture, as_mermaid, as_svg, as_text, picture_of
from jeton.engine.views.draw.layout import lay_out
from jeton.engine.views.draw.picture import COUNTED_AS
from jeton.engine.views.tokens import TokenStatus, token_views
from jeton.model.json import Json
from tests.definitions.agents.given_agents import SHOP
from tests.definitions.given import loaded
from tests.engine.views.journals import PANEL, branches_take, told, up_to

HOSTILE = 'a "b" <script>alert(1)</script> & \x1b[31m'
SVG = "{http://www.w3.org/2000/svg}"


def drawn(workflow: dict[str, Json]) -> Picture:
    return picture_of(library_from({"workflows": {"w": workflow}}).library.workflows["w"])


def panel_under_way() -> Picture:
    panel = told(PANEL, {"judges": ["a", "b", "c"]}, {"judge": branches_take(9, 1, 5)})
    return picture_of(panel.program.workflow, token_views(up_to(panel, 2).entries), "r")


def test_text_has_every_node_with_its_ways_and_its_tokens() -> None:
    assert as_text(panel_under_way()).splitlines() == [
        "w, run r",
        "● ask  1 done",
        "  └═▶ judge  [for each judge]  ✓",
        "◐ judge (task: mock)  2 active",
        "  └┄▶ tally  [join: 2 of n]  ✓",
        "◷ tally  1 waiting",
    ]


def test_mermaid_names_nodes_by_number_and_colours_them_by_state() -> None:
    assert as_mermaid(panel_under_way()).splitlines() == [
        "flowchart TD",
        '    n0(["<b>ask</b><br/>1 done"])',
        '    n1["<b>judge</b><br/>task: mock<br/>2 active"]',
        '    n2(["<b>tally</b><br/>1 waiting"])',
        "    start((( ))) --> n0",
        '    n0 ==>|"for each judge"| n1',
        '    n1 -.->|"join: 2 of n"| n2',
        "    linkStyle 1,2 stroke:#15803d,stroke-width:3px",
        "    classDef active fill:#dbeafe,stroke:#1d4ed8,color:#1e3a8a",
        "    class n1 active",
        "    classDef waiting fill:#fef3c7,stroke:#b45309,color:#78350f",
        "    class n2 waiting",
        "    classDef done fill:#dcfce7,stroke:#15803d,color:#14532d",
        "    class n0 done",
    ]


def test_svg_is_xml_with_a_box_for_each_node_and_a_path_for_each_transition() -> None:
    tree = ET.fromstring(as_svg(panel_under_way()))
    words = [text.text for text in tree.iter(f"{SVG}text")]
    assert {"ask", "judge", "tally"} <= set(words)
    assert len(tree.findall(f".//{SVG}g/{SVG}rect")) == 3
    assert len([p for p in tree.iter(f"{SVG}path") if "arrow" in p.get("class", "")]) == 2


def test_what_a_definition_says_never_becomes_markup() -> None:
    picture = drawn(
        {
            "initial_node": "a",
            "nodes": {"a": {"wait": {"seconds": 1, "label": HOSTILE}}, "b": {}},
            "transitions": [{"from": "a", "to": "b", "condition": f"state.x == '{HOSTILE[:-5]}'"}],
        }
    )
    tree = ET.fromstring(as_svg(picture))
    assert not list(tree.iter(f"{SVG}script"))
    mermaid = as_mermaid(picture)
    assert "<script" not in mermaid
    assert "\x1b" not in mermaid + as_svg(picture)


@pytest.mark.parametrize(
    ("edges", "layers"),
    [
        pytest.param([("a", "b"), ("b", "c")], "a b c", id="a chain goes down"),
        pytest.param([("a", "b"), ("a", "c")], "a bc", id="rivals stand side by side"),
        pytest.param([("a", "b"), ("b", "c"), ("a", "c")], "a b c", id="a short cut does not lift its end"),
        pytest.param([("a", "b"), ("b", "c"), ("c", "a")], "a b c", id="a loop leads back up"),
        pytest.param([("a", "a"), ("a", "b"), ("b", "c")], "a b c", id="a node may lead to itself"),
    ],
)
def test_layers(edges: list[tuple[str, str]], layers: str) -> None:
    layout = lay_out(dict.fromkeys("abc", (60.0, 30.0)), edges)
    heights = sorted({spot.y for spot in layout.centres.values()})
    found = ["".join(name for name in "abc" if layout.centres[name].y == height) for height in heights]
    assert " ".join(found) == layers


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from("abcdef")), max_size=14))
def test_no_two_boxes_overlap_in_any_graph(edges: list[tuple[str, str]]) -> None:
    layout = lay_out(dict.fromkeys("abcdef", (80.0, 30.0)), edges)
    spots = list(layout.centres.values())
    for i, one in enumerate(spots):
        assert one.x - 40 >= -0.01
        assert one.x + 40 <= layout.width + 0.01
        for other in spots[i + 1 :]:
            assert one.y != other.y or abs(one.x - other.x) >= 80
    assert [(route[0], route[-1]) for route in layout.routes] == [
        (layout.centres[source], layout.centres[target]) for source, target in edges
    ]


def test_a_token_of_any_status_can_be_drawn() -> None:
    assert set(COUNTED_AS) == set(get_args(TokenStatus))


def handled() -> Picture:
    nodes: Json = {"a": {}, "b": {}, "c": {}}
    ways: Json = [
        {"from": "a", "to": "b"},
        {"from": "a", "to": "c", "condition": "has(state._last_error)", "priority": 2},
    ]
    return drawn({"initial_node": "a", "nodes": nodes, "transitions": ways})


def test_failure_edges_are_marked() -> None:
    assert "  ├─▶ b" in as_text(handled())
    assert "  └✗▶ c  [on failure; has(state._last_error)]" in as_text(handled())
    assert "linkStyle 2 stroke:#b91c1c" in as_mermaid(handled())
    paths = ET.fromstring(as_svg(handled())).iter(f"{SVG}path")
    assert [path.get("class") for path in paths if path.get("class")] == ["arrow", "arrow failure"]


def test_connections_for_failures_are_marked_and_an_output_that_is_called_error_is_not() -> None:
    divide: dict[str, Json] = {"type": "divide", "inputs": {"a": 1, "b": 0}}
    nodes: Json = {
        "routed": {**divide, "on_error": "route"},
        "replaced": {**divide, "on_error": {"default": {}}},
        "said": {"type": "set", "data": {"error": "'none'"}},
        "end": {"type": "merge"},
    }
    sources = ("routed", "replaced", "said")
    wires: Json = [{"from": name, "from_output": "error", "to": "end", "to_input": name} for name in sources]
    picture = picture_of(library_from({"flows": {"f": {"nodes": nodes, "connections": wires}}}).library.flows["f"])
    assert [arrow.on_failure for arrow in picture.arrows] == [True, True, False]
    lines = as_text(picture).splitlines()
    assert "  └✗▶ end  [on failure; error → routed]" in lines
    assert "  └─▶ end  [error → said]" in lines
    assert "linkStyle 3,4 stroke:#b91c1c" in as_mermaid(picture)


def test_taken_edges_are_marked_and_others_are_not() -> None:
    ways: Json = [{"from": "a", "to": "b", "condition": "input.n > 1"}, {"from": "a", "to": "c", "priority": 2}]
    run = told({"initial_node": "a", "nodes": {"a": {}, "b": {}, "c": {}}, "transitions": ways}, {"n": 1})
    picture = picture_of(run.program.workflow, token_views(run.entries), "r")
    assert [(arrow.target, arrow.taken) for arrow in picture.arrows] == [("b", False), ("c", True)]
    assert "arrow taken" in as_svg(picture)


def test_ends_and_waits_say_what_they_do() -> None:
    nodes: Json = {
        "a": {"wait": {"signals": {"paid": {}, "refused": {}}}},
        "b": {"end": "completed"},
        "c": {"end": {"failed": {"type": "dear"}}},
    }
    ways: Json = [{"from": "a", "to": "b"}, {"from": "a", "to": "c", "condition": "result.signal == 'refused'"}]
    picture = drawn({"initial_node": "a", "nodes": nodes, "transitions": ways})
    assert [(box.kind, box.detail) for box in picture.boxes] == [
        ("wait", "signal paid or refused"),
        ("end", "completed"),
        ("end", "failed: dear"),
    ]
    assert '((("' in as_mermaid(picture)


def test_nodes_of_flows_show_their_type() -> None:
    mock: Json = {"kind": "mock", "implementation": {"output": {}}}
    flow: Json = {"nodes": {"a": {"type": "made"}, "b": {"type": "made"}}, "connections": [{"from": "a", "to": "b"}]}
    library = library_from({"flows": {"f": flow}, "actions": {"made": mock}}).library
    picture = picture_of(library.flows["f"])
    assert as_svg(picture).count(">made</text>") == 2
    assert as_mermaid(picture).count("<br/>made") == 2


@pytest.mark.parametrize("count", [2, 5, 9])
def test_no_label_lies_over_another_or_over_a_box(count: int) -> None:
    nodes: dict[str, Json] = {"a": {}, "z": {}, **{f"n{i}": {} for i in range(count)}}
    ways: list[Json] = []
    for i in range(count):
        ways.append({"from": "a", "to": f"n{i}", "condition": f"input.number_of_things > {i}000"})
        ways.append({"from": f"n{i}", "to": "z", "condition": f"state.something_long == 'x{i}'"})
    tree = ET.fromstring(as_svg(drawn({"initial_node": "a", "nodes": nodes, "transitions": ways})))

    def area(each: ET.Element) -> tuple[float, float, float, float]:
        x, y = float(each.get("x", 0)), float(each.get("y", 0))
        return x, y - 9, x + 6 * len(each[0].tail or ""), y + 2

    labels = [area(text) for text in tree.iter(f"{SVG}text") if text.get("class") == "label"]
    boxes = [
        (
            float(r.get("x", 0)),
            float(r.get("y", 0)),
            float(r.get("x", 0)) + float(r.get("width", 0)),
            float(r.get("y", 0)) + float(r.get("height", 0)),
        )
        for r in tree.findall(f".//{SVG}g/{SVG}rect")
    ]
    assert len(labels) == 2 * count
    for i, one in enumerate(labels):
        for other in [*labels[i + 1 :], *boxes]:
            assert one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]


def test_who_is_asked_is_drawn() -> None:
    library = loaded(SHOP).require()
    assert as_text(picture_of(library.workflows["triage"])).splitlines() == ["triage", "○ ask (agent: bob)"]
    assert "agent: zoe" in as_text(picture_of(library.flows["drawn"]))
