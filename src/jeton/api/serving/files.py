"""The files that a server deploys, and deploys again when they change."""

import asyncio
import logging
from collections.abc import Sequence
from pathlib import Path

from jeton.actor.queries.listing import SourceText
from jeton.definitions.text.files import SUFFIXES
from jeton.engine.build.source import declared_in, load_files
from jeton.engine.engine import Engine
from jeton.model.failure import DefinitionError, Refused

log = logging.getLogger("jeton.server")
LOOK_S = 0.5


class Files:
    """Files and folders of definitions, each deployed by itself. Python files are read once, when the server starts."""

    def __init__(self, files: Sequence[str]) -> None:
        self._files = files
        self._seen: dict[str, tuple[tuple[str, int, int], ...]] = {}

    async def deploy(self, engine: Engine) -> None:
        """Deploy all of them. Raises DefinitionError with every problem of a file."""
        for file in self._files:
            self._seen[file] = _state(file)
            await _deploy(engine, file)

    async def watch(self, engine: Engine) -> None:
        """Deploy each again when it changes. What is wrong with it is logged, and the version before stays."""
        while True:
            await asyncio.sleep(LOOK_S)
            for file in self._files:
                state = await asyncio.to_thread(_state, file)
                if file.endswith(".py") or state == self._seen[file] or not state:
                    continue
                self._seen[file] = state
                try:
                    await _deploy(engine, file)
                    log.info("deployed %s again", file)
                except DefinitionError as error:
                    log.warning("%s has problems, and was not deployed:\n%s", file, error)
                except Refused as refused:
                    log.warning("%s was not deployed: %s", file, refused)


async def _deploy(engine: Engine, file: str) -> None:
    loaded = await asyncio.to_thread(load_files, [file])
    deployment = await engine.deploy_library(loaded.require(), declared_in(file), loaded.problems)
    texts = [SourceText(path.name, path.read_text()) for path in _definitions(file)]
    await engine.browse.catalogue.keep_source(deployment, texts)


def _definitions(file: str) -> list[Path]:
    path = Path(file)
    if path.is_dir():
        return sorted(each for each in path.iterdir() if each.name.endswith(SUFFIXES))
    return [path] if path.name.endswith(SUFFIXES) else []


def _state(file: str) -> tuple[tuple[str, int, int], ...]:
    """What tells that a file, or a file of a folder, has changed."""
    path = Path(file)
    try:
        found = sorted(path.iterdir()) if path.is_dir() else [path]
        return tuple((each.name, each.stat().st_mtime_ns, each.stat().st_size) for each in found)
    except OSError:  # being written, or gone for a moment
        return ()
