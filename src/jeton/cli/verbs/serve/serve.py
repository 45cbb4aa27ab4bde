"""`jeton serve`: the engine as a service."""

import asyncio
import sys

import click

from jeton.api.serving.files import Files
from jeton.api.serving.serve import Serving, serve
from jeton.api.state import Settings
from jeton.api.watching.logs import log_to
from jeton.cli.app import load_app
from jeton.cli.options import app_option, json_option, store_option
from jeton.cli.output import echo, echo_json_line, reporting_errors
from jeton.cli.store import local_only


@click.command("serve")
@click.argument("files", nargs=-1, type=click.Path())
@click.option("--watch", is_flag=True, help="Deploy the files again when they change.")
@click.option("--open", "opens", is_flag=True, help="Open the page in a browser.")
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="Listen at this address.")
@click.option("--port", default=8765, show_default=True, type=click.IntRange(0, 65535), help="Listen at this port.")
@click.option("--allowed-host", "hosts", multiple=True, metavar="H", help="Answer to this host name too.")
@click.option("--allowed-origin", "origins", multiple=True, metavar="O", help="Take requests of this origin's pages.")
@click.option("--no-auth", is_flag=True, help="Ask for no key. On loopback addresses only.")
@app_option
@store_option
@json_option
def command(
    files: tuple[str, ...],
    watch: bool,
    opens: bool,
    host: str,
    port: int,
    hosts: tuple[str, ...],
    origins: tuple[str, ...],
    no_auth: bool,
    app: str | None,
    store: str,
    as_json: bool,
) -> None:
    """Serve the store over HTTP: runs, gates, conversations, triggers, streams of events.

    FILEs are deployed first. Without a key in the store (`jeton keys add`), a key for this process alone is printed.
    """
    log_to(sys.stderr)
    settings = Settings(host, frozenset(name.lower() for name in hosts), frozenset(origins), no_auth, app=app)
    with reporting_errors(as_json):
        local_only(store, "serve")
        load_app(app)

        def ready(serving: Serving) -> None:
            page = serving.url if serving.key is None else f"{serving.url}/#key={serving.key}"
            if as_json:
                echo_json_line({"serving": serving.url, "key": serving.key})
            else:
                echo(page)
            sys.stdout.flush()
            if opens:
                import webbrowser

                webbrowser.open(page)

        given = Files(files)
        asyncio.run(serve(store, settings, port, ready, given.deploy, watch=given.watch if watch else None))
