"""`shell`: run a program. Arguments are a list, so that input cannot become a command."""

import codecs
import os
import re
import signal
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from typing import Literal, TypeAlias

import msgspec

from jeton.executor.action import ActionCall, ActionFailed, ActionHandler, Kind, KindProblem, LaneName
from jeton.executor.actions.file import path_failure
from jeton.executor.roots import PathRefused, Root, RootUnknown, root_named
from jeton.executor.secrets import SecretRef
from jeton.executor.task.placeholders import PlaceholderError, literal_text, names_in, value_at, whole_name
from jeton.executor.workers.supervised import DEFAULT_GRACE_MS, STDERR, STDOUT, SupervisedProcess
from jeton.model.json import Json, JsonObject, kind_of
from jeton.model.note import LogNote

DEFAULT_OUTPUT_BYTES = 1024 * 1024
MAX_OUTPUT_BYTES = 16 * 1024 * 1024
MAX_GRACE_MS = 10_000
MAX_REASON_LENGTH = 500
IDEMPOTENCY_KEY = "JETON_IDEMPOTENCY_KEY"
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

StreamName: TypeAlias = Literal["stdout", "stderr"]
STREAMS: dict[int, StreamName] = {STDOUT: "stdout", STDERR: "stderr"}


class Shell(Kind, frozen=True):
    """A program, its arguments and its environment.

    `"{name}"` as a whole argument, `stdin`, `folder` or value of `set_env` is replaced from the input. With
    `shell: true` the first of `argv` is a script for `/bin/sh`, and the others are `$1`, `$2`…
    """

    argv: tuple[str, ...]
    shell: bool = False
    stdin: str | None = None
    env: tuple[str, ...] = ()  # variables passed on from the engine's environment
    set_env: dict[str, str | SecretRef] = msgspec.field(default_factory=dict[str, str | SecretRef])
    root: str | None = None
    folder: str = ""
    allow_exit: tuple[int, ...] | bool = ()
    max_output_bytes: int = DEFAULT_OUTPUT_BYTES
    max_memory_mb: int | None = None
    grace_ms: int = DEFAULT_GRACE_MS

    def problems(self) -> Iterator[KindProblem]:
        if not self.argv or not self.argv[0]:
            yield KindProblem("argv", "has no program", "write the program first: [ls, -l]")
        elif whole_name(self.argv[0]):
            yield KindProblem("argv[0]", "lets the input choose the program", "write the program itself")
        for path, text in self._texts():
            yield from _text_problems(path, text)
        for name in (*self.env, *self.set_env):
            if not VARIABLE.fullmatch(name):
                yield KindProblem("env", f"{name!r} is not a valid variable name", "use letters, digits and '_'")
        if self.folder and self.root is None:
            yield KindProblem("folder", "needs a root", "add 'root:', with a name from project.settings.files")
        if not 0 < self.max_output_bytes <= MAX_OUTPUT_BYTES:
            remedy = f"write a number from 1 to {MAX_OUTPUT_BYTES}"
            yield KindProblem("max_output_bytes", f"is {self.max_output_bytes}", remedy)
        if not 0 <= self.grace_ms <= MAX_GRACE_MS:
            yield KindProblem("grace_ms", f"is {self.grace_ms}", f"write a number from 0 to {MAX_GRACE_MS}")
        if self.max_memory_mb is not None and self.max_memory_mb < 1:
            yield KindProblem("max_memory_mb", f"is {self.max_memory_mb}", "write 1 or more")

    def lane(self) -> LaneName:
        return "process"

    def prepare(self) -> ActionHandler:
        async def act(call: ActionCall) -> Json | ActionFailed:
            given = call.values()
            if self.shell and not _allows_scripts(call.settings):
                problem = "the project does not allow 'shell: true': project.settings.shell.scripts is false"
                return ActionFailed("script_refused", problem, fatal=True)
            try:
                program = self._program(given)
                env = await self._environment(given, call)
                stdin = None if self.stdin is None else _text("stdin", self.stdin, given, or_json=True)
                with ExitStack() as opened:
                    folder = await self._open_folder(call, given, opened)
                    return await self._run(program, env, stdin, folder, call)
            except BadInput as bad:
                return ActionFailed("input_invalid", str(bad))
            except (RootUnknown, PathRefused) as error:
                return path_failure(error)
            except OSError as problem:
                return ActionFailed("cannot_start", f"{self.argv[0]}: {problem.strerror or problem}")

        return act

    async def _run(
        self, program: list[str], env: Mapping[str, str], stdin: str | None, folder: int, call: ActionCall
    ) -> Json | ActionFailed:
        output = OutputCapture(self.max_output_bytes, call)
        memory = 0 if self.max_memory_mb is None else self.max_memory_mb * 1024 * 1024
        child = await SupervisedProcess.start(
            program, folder=folder, env=env, output=output, grace_ms=self.grace_ms, memory_bytes=memory
        )
        try:
            if stdin:
                child.write(stdin.encode())
            child.end_of_input()
            code = await child.ended()
        finally:
            await child.stop()
        output.end()
        if code == 0 or self.allow_exit is True or (self.allow_exit is not False and code in self.allow_exit):
            return {"exit_code": code, **output.result()}
        return ActionFailed("exit_code", f"{self.argv[0]} {_exit_text(code)}{output.reason()}")

    def _program(self, given: JsonObject) -> list[str]:
        program, options_end = [self.argv[0]], self.shell
        for index, argument in enumerate(self.argv[1:], 1):
            value = _text(f"argv[{index}]", argument, given)
            if whole_name(argument) and value.startswith("-") and not options_end:
                problem = f"argv[{index}] would be {value!r}, which {self.argv[0]} may read as an option"
                raise BadInput(f"{problem}; put '--' before {argument!r} in argv if it is not one")
            options_end = options_end or argument == "--"
            program.append(value)
        return ["/bin/sh", "-c", program[0], "sh", *program[1:]] if self.shell else program

    async def _environment(self, given: JsonObject, call: ActionCall) -> dict[str, str]:
        """Only the listed variables, so that no secret in the engine's environment is passed on."""
        passed = {name: os.environ[name] for name in self.env if name in os.environ}
        written = {
            name: await call.secret(value.secret)
            if isinstance(value, SecretRef)
            else _text(f"set_env.{name}", value, given)
            for name, value in self.set_env.items()
        }
        return {"PATH": os.defpath, **passed, **written, IDEMPOTENCY_KEY: call.call.idempotency_key}

    def _texts(self) -> Iterator[tuple[str, str]]:
        """All texts that may be placeholders. A script is not one of them."""
        for index, argument in enumerate(self.argv):
            if not (self.shell and index == 0):
                yield f"argv[{index}]", argument
        for name, value in self.set_env.items():
            if isinstance(value, str):
                yield f"set_env.{name}", value
        yield "folder", self.folder
        if self.stdin is not None:
            yield "stdin", self.stdin

    async def _open_folder(self, call: ActionCall, given: JsonObject, opened: ExitStack) -> int:
        if self.root is None:
            root, path = Root("the store's folder", call.resources.folder), ""
        else:
            root = root_named(self.root, call.settings, call.resources.folder)
            path = _text("folder", self.folder, given)
        return await call.resources.threads.run(lambda: opened.enter_context(root.open_folder(path)))


class BadInput(Exception):
    """A value that cannot be passed to a program."""


class OutputCapture:
    """Captures the output of a program: keeps its beginning, counts all of it, and logs it as it comes.

    Secrets are redacted before truncation, because part of one would not be recognised.
    """

    def __init__(self, most: int, call: ActionCall) -> None:
        self._call = call
        self._streams: dict[StreamName, _Stream] = {name: _Stream(most, call) for name in STREAMS.values()}

    def __call__(self, stream: int, data: bytes) -> None:
        name = STREAMS[stream]
        self._log(name, self._streams[name].add(data))

    def end(self) -> None:
        """Flush the output, after the program has ended."""
        for name, stream in self._streams.items():
            self._log(name, stream.end())

    def result(self) -> JsonObject:
        """Both streams. `truncated` has the full size of each truncated one."""
        texts: JsonObject = {name: "".join(stream.kept) for name, stream in self._streams.items()}
        cut: JsonObject = {name: stream.written for name, stream in self._streams.items() if stream.full}
        return {**texts, "truncated": cut} if cut else texts

    def reason(self) -> str:
        """The end of stderr, for error messages."""
        said = "".join(self._streams["stderr"].kept).strip()
        return f": {said[-MAX_REASON_LENGTH:]}" if said else ""

    def _log(self, name: StreamName, text: str) -> None:
        if text:
            self._call.notes.add(LogNote(self._call.call.step, name, text))


class _Stream:
    """One of the streams, decoded as UTF-8."""

    def __init__(self, most: int, call: ActionCall) -> None:
        self.kept: list[str] = []
        self.written = 0
        self.full = False
        self._room = most
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._clean = call.secrets.stream()

    def add(self, data: bytes) -> str:
        """Add data; gives the redacted text that was kept."""
        self.written += len(data)
        return "" if self.full else self._keep(self._clean.feed(self._decode(data)))

    def end(self) -> str:
        if self.full:
            return ""
        return self._keep(self._clean.feed(self._decode(b"", final=True)) + self._clean.end())

    def _keep(self, text: str) -> str:
        data = text.encode()
        if len(data) > self._room:
            self.full = True
            text = data[: self._room].decode(errors="ignore")
        self._room -= len(data)
        self.kept.append(text)
        return text


def _allows_scripts(settings: JsonObject) -> bool:
    shell = settings.get("shell")
    return not (isinstance(shell, dict) and shell.get("scripts") is False)


def _text(where: str, written: str, given: JsonObject, or_json: bool = False) -> str:
    """The text itself, or the value of its placeholder, which must be valid as an argument."""
    name = whole_name(written)
    if name is None:
        return literal_text(written)
    try:
        value = value_at(name, given)
    except PlaceholderError:
        value = None
    if value is None:
        raise BadInput(f"{where} needs '{name}', which the input lacks")
    if not or_json and isinstance(value, dict | list):
        raise BadInput(f"{where} must be a string or a number, and '{name}' is {kind_of(value)}")
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    try:
        zero = 0 in text.encode() and not or_json
    except UnicodeEncodeError:
        raise BadInput(f"{where}: '{name}' is not valid Unicode") from None
    if zero:
        raise BadInput(f"{where}: '{name}' contains a zero byte")
    return text


def _text_problems(path: str, text: str) -> Iterator[KindProblem]:
    if "\0" in text and path != "stdin":
        yield KindProblem(path, "contains a zero byte", "remove it")
    inner = names_in(text)
    if inner and whole_name(text) is None:
        problem = f"'{{{inner[0]}}}' is replaced only as the whole text"
        yield KindProblem(path, problem, f"make it the whole text, or escape it as '{{{{{inner[0]}}}}}'")


def _exit_text(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"was killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"was killed by signal {-code}"
