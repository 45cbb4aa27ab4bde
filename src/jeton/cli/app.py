"""The `--app` option: importing the user's own Python."""

from jeton.engine.build.app import import_app


def load_app(app: str | None) -> None:
    """Import what `--app` names, if anything; its actions register themselves."""
    if app is not None:
        import_app(app)
