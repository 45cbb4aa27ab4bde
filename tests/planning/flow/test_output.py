"""With which output a run of a flow ends."""

from tests.planning.flow_drive import BRANCHES, CHAIN, WORK, Driver, Object, program_of, run


class TestOutput:
    def test_it_is_the_contexts_of_the_last_nodes_in_declaration_order(self) -> None:
        flow: Object = {"nodes": {"a": WORK, "b": WORK}}
        done = Driver(program_of(**flow), {"x": 1})
        done.finish("b", {"k": "b"})
        done.finish("a", {"k": "a"})
        assert done.output == {"x": 1, "k": "b"}

    def test_a_node_whose_branch_led_nowhere_is_a_last_node(self) -> None:
        done = Driver(program_of(**BRANCHES))
        done.finish("a", {"_branch": "neither", "k": 1})
        assert done.output == {"k": 1}

    def test_a_mapping_says_it_otherwise(self) -> None:
        done = run({**CHAIN, "output_mapping": {"total.value": "context.result", "gone": "context.gone"}})
        assert done.output == {"total": {"value": 16}, "gone": None}

    def test_an_empty_flow_completes_with_what_it_was_given(self) -> None:
        """D10"""
        done = run({"nodes": {}}, {"x": 1})
        assert (done.status, done.output) == ("completed", {"x": 1})
