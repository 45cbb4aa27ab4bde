"""In which order a flow is walked."""

from tests.planning.flow_drive import MERGE, Object, program_of, wire


def test_the_order_is_that_of_the_connections_and_else_of_the_declaration() -> None:
    """D14"""
    flow: Object = {
        "nodes": {"d": MERGE, "c": MERGE, "b": MERGE, "a": MERGE},
        "connections": [wire("a", "d"), wire("b", "c")],
    }
    assert program_of(**flow).order == ("b", "c", "a", "d")
