"""What is served without a key: health, signing in, webhooks by their signature, and the page."""

import time

import msgspec

from jeton.api.app import Public, Request
from jeton.api.assets import page_routes
from jeton.api.door.callers import SESSION_MS, set_cookie
from jeton.api.reading import read_body
from jeton.api.route import Answer
from jeton.api.state import ServerState
from jeton.engine.engine import Engine
from jeton.engine.views.plain import plain
from jeton.model.failure import Refused

READY_S = 0.2  # for so long the store's state is taken to be what it was


class SessionBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    key: str


class HookTaken(msgspec.Struct, frozen=True):
    """What a webhook's request came to: the run it started, or had started before."""

    trigger: str
    delivery_id: str
    run_id: str | None


def public_routes(engine: Engine, state: ServerState) -> tuple[Public, ...]:
    """The public routes of a server."""

    checked = -READY_S
    failed: str | None = None

    async def healthz(request: Request, body: bytes) -> Answer:
        return Answer({"ok": True})

    async def readyz(request: Request, body: bytes) -> Answer:
        if state.draining.is_set():
            raise Refused("draining", "the server is shutting down", "ask another one")
        nonlocal checked, failed
        if time.monotonic() - checked > READY_S:  # however often strangers ask
            checked = time.monotonic()
            failed = (await engine.vitals()).failed
        if failed is not None:
            raise Refused(
                "store_failed", f"the last write to the store did not go well: {failed}", "see the server's log"
            )
        return Answer({"ok": True})

    async def sign_in(request: Request, body: bytes) -> Answer:
        cookie = await state.callers.begin_session(read_body(body, SessionBody).key, state.wall())
        return Answer(status=204, headers={"set-cookie": set_cookie(cookie, SESSION_MS // 1000, request.scheme)})

    async def hook(request: Request, body: bytes) -> Answer:
        path = request.path.decode("latin-1").removeprefix("/hooks/")
        if path.strip("/") != path:  # the engine forgives slashes at the ends; here a path counts as it was sent
            raise Refused("unknown_hook", "no trigger has this path", "list the triggers there are")
        fired = await engine.deliver_webhook(path, body, request.headers)
        taken = HookTaken(fired.trigger, fired.delivery_id, fired.run_id)
        return Answer(plain(taken), 200 if fired.again else 202)

    return (
        Public("GET", "/healthz", healthz, rated=False),
        Public("GET", "/readyz", readyz, rated=False),
        Public("POST", "/v1/session", sign_in),
        Public("POST", "/hooks/", hook),
        *page_routes(state.settings.no_auth),
    )
