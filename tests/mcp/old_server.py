"""An MCP server of the older protocol, by hand and without the SDK: `initialize` first, and requests to the client."""

import json
import sys
from typing import Any

VERSION = "2025-06-18"
TOOLS = ("hello", "ask", "model", "folders")
ASKS: dict[str, tuple[str, dict[str, Any]]] = {
    "ask": ("elicitation/create", {"message": "Who?", "requestedSchema": {"type": "object", "properties": {}}}),
    "model": ("sampling/createMessage", {"messages": [], "maxTokens": 5}),
    "folders": ("roots/list", {}),
}


def send(**message: Any) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def text(said: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": said}]}


def main() -> None:
    capabilities: dict[str, Any] = {}
    waiting: dict[str, Any] = {}  # by our own request's id: the id of the call
    for line in sys.stdin:
        message = json.loads(line)
        method, number = message.get("method"), message.get("id")
        if method == "initialize":
            capabilities = message["params"]["capabilities"]
            info = {"name": "old", "version": "1"}
            result: Any = {"protocolVersion": VERSION, "capabilities": {"tools": {}}, "serverInfo": info}
            send(id=number, result=result)
        elif method == "tools/list":
            tools = [{"name": name, "description": name, "inputSchema": {"type": "object"}} for name in TOOLS]
            send(id=number, result={"tools": tools})
        elif method == "tools/call" and message["params"]["name"] == "hello":
            send(id=number, result=text(f"hello, you have {sorted(capabilities)}"))
        elif method == "tools/call":
            asked, params = ASKS[message["params"]["name"]]
            waiting[f"server-{number}"] = number
            send(id=f"server-{number}", method=asked, params=params)
        elif method is None and number in waiting:
            said = message.get("error", {}).get("message") or f"got {message.get('result')}"
            send(id=waiting.pop(number), result=text(said))
        elif number is not None:
            send(id=number, error={"code": -32601, "message": f"no method {method}"})


if __name__ == "__main__":
    main()
