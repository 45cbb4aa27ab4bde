"""Write `src/jeton/engine/sync.py` and `talk/sync.py`, the blocking engine, from the async one: `make sync`.

Every public method and property of `Engine` and of its handles (`Run`, `Conversation`, `ChatTurn`) gets a twin with the
same parameters and docstring. A coroutine is run on the loop's thread, an async generator becomes an iterator, and a
handle becomes its twin, such as `SyncRun`.
"""

import ast
import builtins
import inspect
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType

import jeton
from jeton.engine.look.queries import Queries

ENGINE_FOLDER = Path(__file__).parent.parent / "src" / "jeton" / "engine"
TARGET = ENGINE_FOLDER / "sync.py"
QUERIES_TARGET = ENGINE_FOLDER / "look" / "sync.py"
TALK_TARGET = ENGINE_FOLDER / "talk" / "sync.py"
# What they give is for code on the event loop.
ONLY_ASYNC = {"line_reader", "access", "browse", "wall", "listen_to_deltas", "vitals", "census"}
HANDLES = ("Run", "Conversation", "ChatTurn")

HEADER = '''"""The engine without `await`, for scripts: the same methods, run on an event loop in a thread of its own.

Generated from the async engine by `make sync`; do not edit.
"""
'''
IMPORTS = {
    "from collections.abc import Generator, Iterator",
    *(f"from {face.__module__} import {face.__name__}" for face in (jeton.Engine, jeton.Run, jeton.open)),
    "from jeton.engine.look.sync import SyncQueries",
    "from jeton.engine.loop_thread import LoopThread",
    "from jeton.engine.misuse import opens_sync",
    "from jeton.engine.talk.sync import SyncConversation",
}
FUTURE = "from __future__ import annotations  # as the modules have it that these methods are from\n"
TALK_HEADER = HEADER.replace("The engine", "Conversations")
TALK_IMPORTS = {
    "from collections.abc import Iterator",
    "from jeton.engine.talk.conversation import ChatTurn, Conversation",
    "from jeton.engine.loop_thread import LoopThread",
}
QUERIES_HEADER = HEADER.replace("The engine", "The queries of an engine")
QUERIES_IMPORTS = {
    "from collections.abc import Iterator",
    "from jeton.engine.look.queries import Queries",
    "from jeton.engine.loop_thread import LoopThread",
}
QUERIES = '''
class SyncQueries:
    """What can be asked of an engine. Each method does what the method of `Queries` with the same name does."""

    def __init__(self, queries: Queries, loop: LoopThread) -> None:
        self._queries = queries
        self._loop = loop
'''
TALK_HANDLE = '''
class SyncNAME:
    """One THING. Each method does what the method of `NAME` with the same name does."""

    def __init__(self, handle: NAME, loop: LoopThread) -> None:
        self._handle = handle
        self._loop = loop
        self.id = handle.id

    def __repr__(self) -> str:
        return f"SyncNAME({self.id!r})"
'''
RUN = '''
class SyncRun:
    """One run. Each method does what the method of `Run` with the same name does."""

    def __init__(self, run: Run, loop: LoopThread) -> None:
        self._run = run
        self._loop = loop
        self.id = run.id
        self.new = run.new

    def __repr__(self) -> str:
        return f"SyncRun({self.id!r})"
'''
ENGINE = '''
class SyncEngine(SyncQueries):
    """All runs of one store. Each method does what the method of `Engine` with the same name does."""

    def __init__(self, engine: Engine, loop: LoopThread) -> None:
        super().__init__(engine, loop)
        self._engine = engine
'''
OPEN = '''
@opens_sync
def open_sync(PARAMETERS) -> Generator[SyncEngine, None, None]:
    """Open a store for code that is not async, as `open` does. Runs go on in the background between calls."""
    with LoopThread() as loop:
        opening = open(ARGUMENTS)
        engine = loop.wait(opening.__aenter__())
        try:
            yield SyncEngine(engine, loop)
        finally:
            loop.wait(opening.__aexit__(None, None, None))
'''


class Method:
    """One public method or property of an async class, as its source says."""

    def __init__(self, name: str, member: object) -> None:
        self.name = name
        self.is_property = isinstance(member, property)
        function = member.fget if isinstance(member, property) else member
        if not isinstance(function, FunctionType):
            raise TypeError(f"'{name}' is neither a method nor a property")
        self.module = function.__module__
        source = textwrap.dedent(inspect.getsource(function))
        node = ast.parse(source).body[0]
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            raise TypeError(f"'{name}' is not written as a function")
        self.node = node
        self.returns = _unquoted(node.returns)
        if node.args.posonlyargs or node.args.vararg or node.args.kwarg:
            raise TypeError(f"'{name}' has parameters that cannot be passed on by name")
        for parameter in (*node.args.args, *node.args.kwonlyargs):
            parameter.annotation = _unquoted(parameter.annotation)

    @property
    def is_stream(self) -> bool:
        """Whether it gives an async generator."""
        found = self.returns
        return isinstance(found, ast.Subscript) and ast.unparse(found.value) == "AsyncGenerator"

    @property
    def is_coroutine(self) -> bool:
        return isinstance(self.node, ast.AsyncFunctionDef) and not self.is_stream

    def parameters(self) -> str:
        return ast.unparse(self.node.args)

    def arguments(self) -> str:
        """The call's arguments: each parameter under its own name."""
        by_position = [each.arg for each in self.node.args.args if each.arg != "self"]
        return ", ".join([*by_position, *(f"{each.arg}={each.arg}" for each in self.node.args.kwonlyargs)])

    def names(self) -> set[str]:
        """The names that its parameters, their defaults and its return type use."""
        parts = [*ast.walk(self.node.args), *(ast.walk(self.returns) if self.returns is not None else ())]
        return {part.id for part in parts if isinstance(part, ast.Name)} - set(dir(builtins))


def _unquoted(annotation: ast.expr | None) -> ast.expr | None:
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        return ast.parse(annotation.value, mode="eval").body
    return annotation


def public_methods(face: type) -> list[Method]:
    """The public methods and properties of a class and its bases, bases first, in the order of their definition."""
    found: dict[str, object] = {}
    for cls in reversed(face.__mro__):
        found.update({name: member for name, member in vars(cls).items() if not name.startswith("_")})
    return [Method(name, member) for name, member in found.items() if name not in ONLY_ASYNC]


def twin(method: Method, target: str) -> str:
    """The blocking method. `target` is the attribute that has the async object."""
    returns = "None" if method.returns is None else ast.unparse(method.returns)
    call = f"self.{target}.{method.name}" + ("" if method.is_property else f"({method.arguments()})")
    if method.is_stream and isinstance(method.returns, ast.Subscript):
        items = method.returns.slice
        returns = f"Iterator[{ast.unparse(items.elts[0] if isinstance(items, ast.Tuple) else items)}]"
        call = f"self._loop.each({call})"
    elif method.is_coroutine:
        call = f"self._loop.wait({call})"
    if returns in HANDLES:
        returns, call = f"Sync{returns}", f"Sync{returns}({call}, self._loop)"
    elif method.names() & set(HANDLES):
        raise TypeError(f"'{method.name}' gives a handle inside something else, which has no twin")
    lines = [
        *(["@property"] if method.is_property else []),
        f"def {method.name}({method.parameters()}) -> {returns}:",
        textwrap.indent(_docstring(method), "    "),
        f"    {call}" if returns == "None" else f"    return {call}",
    ]
    return textwrap.indent("\n".join(lines), "    ")


def _docstring(method: Method) -> str:
    text = ast.get_docstring(method.node)
    if text is None:
        raise TypeError(f"'{method.name}' has no docstring")
    return f'"""{text}"""'


def imports_for(method: Method) -> Iterator[str]:
    """Import statements for the names a method uses: from where its own module has them."""
    module = sys.modules[method.module]
    tree = ast.parse(inspect.getsource(module))
    statements = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    imported = {(alias.asname or alias.name): (node, alias) for node in statements for alias in node.names}
    for name in method.names() - {"AsyncGenerator", *HANDLES}:
        if name not in imported:
            yield f"from {method.module} import {name}"
            continue
        node, alias = imported[name]
        renamed = f" as {alias.asname}" if alias.asname else ""
        origin = f"from {node.module} " if isinstance(node, ast.ImportFrom) else ""
        yield f"{origin}import {alias.name}{renamed}"


def generated() -> str:
    """The text of the blocking engine."""
    asked = {method.name for method in public_methods(Queries)}
    run, engine = public_methods(jeton.Run), [each for each in public_methods(jeton.Engine) if each.name not in asked]
    opened = Method("open", inspect.unwrap(jeton.open))
    imports = IMPORTS | {line for method in (*run, *engine, opened) for line in imports_for(method)}
    open_sync = OPEN.replace("PARAMETERS", opened.parameters()).replace("ARGUMENTS", opened.arguments())
    text = "\n".join(
        [
            HEADER,
            FUTURE,
            *sorted(imports),
            RUN,
            *(f"{twin(method, '_run')}\n" for method in run),
            ENGINE,
            *(f"{twin(method, '_engine')}\n" for method in engine),
            open_sync,
        ]
    )
    return _tidied(text, TARGET)


def generated_queries() -> str:
    """The text of the blocking queries."""
    methods = [method for method in public_methods(Queries) if method.name not in ONLY_ASYNC]
    imports = QUERIES_IMPORTS | {line for method in methods for line in imports_for(method)}
    parts = [
        QUERIES_HEADER,
        FUTURE,
        *sorted(imports),
        QUERIES,
        *(f"{twin(method, '_queries')}\n" for method in methods),
    ]
    return _tidied("\n".join(parts), QUERIES_TARGET)


def generated_talk() -> str:
    """The text of the blocking handles on conversations."""
    turn, conversation = public_methods(jeton.ChatTurn), public_methods(jeton.Conversation)
    imports = TALK_IMPORTS | {line for method in (*turn, *conversation) for line in imports_for(method)}
    handle = TALK_HANDLE.replace
    parts = [
        TALK_HEADER,
        FUTURE,
        *sorted(imports),
        handle("NAME", "ChatTurn").replace("THING", "turn of a chat message"),
        *(f"{twin(method, '_handle')}\n" for method in turn),
        handle("NAME", "Conversation").replace("THING", "conversation with an agent"),
        *(f"{twin(method, '_handle')}\n" for method in conversation),
    ]
    return _tidied("\n".join(parts), TALK_TARGET)


def _tidied(text: str, target: Path) -> str:
    return _ruff("format", _ruff("check", text, target, "--fix-only", "--select", "I,F401"), target)


def _ruff(command: str, text: str, target: Path, *options: str) -> str:
    line = [sys.executable, "-m", "ruff", command, "--quiet", *options, "--stdin-filename", str(target), "-"]
    return subprocess.run(line, input=text, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    TALK_TARGET.write_text(generated_talk(), encoding="utf-8")
    QUERIES_TARGET.write_text(generated_queries(), encoding="utf-8")
    TARGET.write_text(generated(), encoding="utf-8")
