"""Bugs of a server's door."""

from tests.mutants.mutant import Mutant

APP = "src/jeton/api/app.py"
EVERY_ROUTE = ("tests/api/door/test_every_route.py",)
ADDRESSES = ("tests/api/door/test_addresses.py",)

DOOR_MUTANTS = (
    Mutant(
        "a path that ends in health needs no key",
        APP,
        "        cookie = cookie_in(request.headers.get(\"cookie\"))\n",
        "        if request.path.endswith((b\"health\", b\"healthz\")):\n"
        "            return \"health\", Answer({\"ok\": True})\n"
        "        cookie = cookie_in(request.headers.get(\"cookie\"))\n",
        EVERY_ROUTE,
    ),
    Mutant(
        "a socket needs no key",
        APP,
        "        caller = self._identify(request, cookie, now)\n",
        "        if request.kind == \"websocket\":\n"
        "            from jeton.api.door.callers import ANYBODY as caller\n"
        "        else:\n"
        "            caller = self._identify(request, cookie, now)\n",
        EVERY_ROUTE,
    ),
    Mutant("no scope is asked for", APP, "        check_scope(caller, route.scopes)\n", "", EVERY_ROUTE),
    Mutant(
        "the body is read before the key is asked for",
        APP,
        "        cookie = cookie_in(request.headers.get(\"cookie\"))\n",
        "        await _read(request, receive, 1 << 40)\n        cookie = cookie_in(request.headers.get(\"cookie\"))\n",
        EVERY_ROUTE,
    ),
    Mutant(
        "a host is ours if it begins like one",
        "src/jeton/api/door/addresses.py",
        "    if name is None or not (is_loopback(name) or",
        "    if name is None or not (name.startswith(\"127.0.0.1\") or is_loopback(name) or",
        ADDRESSES,
    ),
    Mutant(
        "the origin of a socket is not looked at",
        APP,
        "        origin = request.headers.get(\"origin\")\n",
        "        origin = request.headers.get(\"origin\") if request.kind == \"http\" else None\n",
        ADDRESSES,
    ),
    Mutant(
        "a cookie is enough to change something",
        APP,
        "        if by_cookie and request.method != \"GET\" and \"origin\" not in request.headers:\n",
        "        if False:\n",
        ("tests/api/door/test_sessions.py",),
    ),
    Mutant(
        "a key is known by its id",
        "src/jeton/api/door/callers.py",
        "not hmac.compare_digest(key.hash, hash_of(text)) or ",
        "",
        EVERY_ROUTE,
    ),
    Mutant(
        "a delivery can be repeated under another id",
        "src/jeton/executor/secrets/signatures.py",
        "    if is_standard(headers):\n        return headers[\"webhook-id\"]\n",
        "",
        ("tests/executor/secrets/test_signatures.py",),
    ),
)  # fmt: skip
