"""The service that the saga works with: stock, money and parcels, over HTTP.

    python examples/saga/shop.py [PORT]

It honours idempotency keys: a call that comes again with the same key is answered as the first time, and nothing is
done twice. Nothing can be shipped to an order whose name begins with `X`.
"""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Shop:
    """What the shop has, and what it has done. Taking back what was never done is allowed, and does nothing."""

    def __init__(self) -> None:
        self.stock, self.money = 10, 0
        self.reserved: set[str] = set()
        self.charged: dict[str, int] = {}
        self.shipped: list[str] = []
        self.answers: dict[str, tuple[int, object]] = {}  # by idempotency key
        self.lock = threading.Lock()

    def call(self, what: str, key: str, order: str, amount: int) -> tuple[int, object]:
        """Do it, unless this very call was answered before."""
        with self.lock:
            if key not in self.answers:
                self.answers[key] = self.do(what, order, amount)
            return self.answers[key]

    def do(self, what: str, order: str, amount: int) -> tuple[int, object]:
        """Status and body of the answer."""
        match what:
            case "reserve":
                self.stock -= 1
                self.reserved.add(order)
            case "charge":
                self.money += amount
                self.charged[order] = amount
            case "ship" if order.startswith("X"):
                return 409, {"problem": "no carrier goes there"}
            case "ship":
                self.shipped.append(order)
            case "refund":
                self.money -= self.charged.pop(order, 0)
            case "release" if order in self.reserved:
                self.stock += 1
                self.reserved.remove(order)
            case "release":
                pass
            case _:
                return 404, {"problem": f"the shop cannot {what}"}
        return 200, {"stock": self.stock, "money": self.money}


def serve(shop: Shop, port: int = 0) -> ThreadingHTTPServer:
    """A server for the shop; `server_port` is its port. Call `serve_forever`."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body: dict[str, Any] = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            key = self.headers["Idempotency-Key"]
            status, answer = shop.call(self.path.strip("/"), key, body["order"], body.get("amount", 0))
            text = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, format: str, *args: object) -> None:
            pass

    return ThreadingHTTPServer(("127.0.0.1", port), Handler)


if __name__ == "__main__":
    with serve(Shop(), int(sys.argv[1]) if len(sys.argv) > 1 else 8800) as server:
        print(f"http://127.0.0.1:{server.server_port}", flush=True)
        server.serve_forever()
