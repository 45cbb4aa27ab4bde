"""What can go wrong with an MCP server, whatever the SDK calls it."""


class Unavailable(Exception):
    """The server cannot be reached, has ended, or was started too often. It may be there later."""

    def __init__(self, problem: str, wait_ms: int | None = None) -> None:
        super().__init__(problem)
        self.wait_ms = wait_ms


class TimedOut(Exception):
    """The server did not answer in time."""


class Refusal(Exception):
    """The server answered with an error of the protocol, or with what breaks it."""


class Denied(Exception):
    """The server asks for something that it does not get: a model's answer, or a list of folders."""
