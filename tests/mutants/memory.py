"""Bugs of memories."""

from tests.mutants.mutant import Mutant

ROWS = "src/jeton/hosts/sql/mirrors/memory/rows.py"
SEARCH = "src/jeton/hosts/sql/mirrors/memory/search.py"
ACTION = "src/jeton/executor/actions/memory.py"
STORES = ("tests/executor/memory/test_stores.py", "tests/executor/actions/test_memory.py")

_DELETE = '        db.execute("delete from memories where id = ?", (memory.id,))\n'
_RELEASE = (
    "        if memory.artifact is not None:\n            release(db, RunId(HOLDER + memory.id), memory.artifact.id)\n"
)

MEMORY_MUTANTS = (
    Mutant(
        "a deletion leaves copies of what it deleted",
        ROWS,
        _DELETE + _RELEASE + "    if found:\n        db.dialect.erase_deleted(db)\n",
        "        if memory.superseded_by is None:\n"
        "            db.dialect.unindex_memory(db, memory.id)\n" + _DELETE + _RELEASE,
        ("tests/hosts/memory/test_copies.py",),
    ),
    Mutant(
        "what is deleted is not overwritten",
        "src/jeton/hosts/sql/host.py",
        "        write = partial(self._write, overwrite=True)\n",
        "        write = self._write\n",
        ("tests/hosts/memory/test_erasure.py",),
    ),
    Mutant(
        "a memory is written twice by a call that is repeated",
        ROWS,
        "    before = written_by(db, new.key)\n    if before is not None:\n        return before\n",
        "",
        STORES,
    ),
    Mutant(
        "users with a memory of their own see that of others",
        ROWS,
        """'agent = ? and scope = ? and "user" is not distinct from ?', (scope.agent, scope.of, scope.user)""",
        '"agent = ? and scope = ?", (scope.agent, scope.of)',
        STORES,
    ),
    Mutant(
        "a score counts the words of other users",
        SEARCH,
        '    places = [agent_word(scope.agent) if scope.of == "all" else scope_word(scope)]\n',
        "    places = [agent_word(scope.agent)]\n",
        STORES,
    ),
    Mutant(
        "what was superseded is still found",
        ROWS,
        "    db.dialect.unindex_memory(db, id)\n",
        "",
        STORES,
    ),
    Mutant(
        "the action reads the memory of the agent that the definition names, whoever speaks",
        ACTION,
        "            agent = self.agent if call.speaker is None else call.speaker.agent\n",
        "            agent = self.agent or (None if call.speaker is None else call.speaker.agent)\n",
        STORES,
    ),
)
