"""What the engine of a server does not have, and what to use instead."""

from typing import Final

ABSENT: Final = {
    "access": "manage keys with `jeton keys --url`, or at /v1/keys",
    "browse": "search with `list(q=…)`; the routes of /v1 have the rest",
    "census": "GET /v1/store counts the runs",
    "deliver_webhook": "send the request to /hooks/{path} of the server",
    "deploy_library": "use `deploy`, which sends definitions as texts",
    "emitted": "follow the events of the run, or start a run by a trigger on the event",
    "head": "`stream(\"head\")` gives only what is new",
    "idle": "others use the server too: wait for the run that you mean, with `ended`",
    "journal": "`entries` and `events` have what can be sent of it",
    "line": "`stream` has the events of all runs, in the order of their commits",
    "line_reader": "`stream` has the events of all runs, in the order of their commits",
    "listen_to_deltas": "`Conversation.stream` has the pieces of answers",
    "mcp_pins": "run `jeton mcp pins` where the store is",
    "needs_app": "the server's process knows it, and says so in its log",
    "pin_mcp": "run `jeton mcp pin` where the store is",
    "position": "`stream` takes a sequence number of the run itself",
    "set_aside": "`list` has the error `run_set_aside` for such runs",
    "tree": "`entries` and `events` have what can be sent of it",
    "vitals": "/metrics and /readyz tell how the server fares",
    "wall": "the answers of the server have its times",
}  # fmt: skip
"""Names of `Engine` that need the process which owns the store."""
