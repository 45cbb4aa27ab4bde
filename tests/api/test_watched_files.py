"""Files that are deployed again when they change."""

import asyncio
from pathlib import Path

import jeton
from jeton.api.serving.files import Files

GOOD = "workflows: {one: {initial_node: a, nodes: {a: {}}}}\n"
OTHER = "workflows: {one: {initial_node: b, nodes: {b: {}}}}\n"


async def version_of(engine: jeton.Engine) -> int:
    return (await engine.browse.catalogue.view("one")).version


async def test_a_change_is_a_new_version_and_a_mistake_keeps_the_old_one(tmp_path: Path) -> None:
    file = tmp_path / "library.yaml"
    file.write_text(GOOD)
    files = Files([str(file)])
    async with jeton.open(tmp_path / "s.db") as engine:
        await files.deploy(engine)
        assert await version_of(engine) == 1
        view = await engine.browse.catalogue.view("one")
        assert [text.text for text in view.files] == [GOOD]
        watching = asyncio.create_task(files.watch(engine))
        try:
            file.write_text("workflows: {one: {nodes: {}}}\n# wrong\n")
            await asyncio.sleep(1.2)
            assert await version_of(engine) == 1
            file.write_text(OTHER)
            async with asyncio.timeout(30):
                while await version_of(engine) == 1:
                    await asyncio.sleep(0.05)
        finally:
            watching.cancel()
        assert await version_of(engine) == 2
