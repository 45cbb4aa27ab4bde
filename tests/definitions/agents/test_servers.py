"""Settings of MCP servers."""

from jeton.definitions import library_from


def test_a_server_without_a_command_or_an_address_is_a_problem() -> None:
    loaded = library_from({"project": {"settings": {"mcp": {"web": {}}}}})
    assert [problem.code for problem in loaded.problems] == ["bad_server"]
