"""What people do in a simulated world: answer, signal, pause, cancel and fork; early, late, twice, and wrongly."""

from collections.abc import Mapping
from random import Random

from jeton.hosts.simulated.observer import Step
from jeton.hosts.simulated.world import World
from jeton.model.decision import AskInput, CallWorkflow, ForkHistory, OpenGate, WaitForSignal
from jeton.model.failure import Refused
from jeton.model.ids import ROOT_PATH, RunId, TokenId
from jeton.model.json import Json
from jeton.model.message import AnswerGate, SignalRun
from jeton.model.state.phase import Asking, WaitingForGate, WaitingForSignal
from jeton.model.state.run import Token
from tests.simulation.stories.questions import reply_to


class People:
    """They see what is committed, and act some time later. Every gate and every wait gets what it needs."""

    def __init__(self, world: World, rng: Random, *, forks: int, cancels: bool, gates: Mapping[str, list[str]]) -> None:
        self._world = world
        self._rng = rng
        self._gates = gates  # by workflow: those outside every branch
        self._said = 0
        self._forks = forks
        self._cancels = cancels
        self.forked: list[RunId] = []
        self.cancelled: set[RunId] = set()

    def before(self, run: RunId, workflow: str) -> None:
        """Of a run that has not begun: gates that are not open yet are answered, and signals sent."""
        for node in self._gates[workflow]:
            if self._rng.random() < 0.15:
                value: Json = f"{node}@{ROOT_PATH}" if node.startswith("p") else {"ok": f"{node}@{ROOT_PATH}"}
                answer = AnswerGate(0, self._id(), value, "Cid", node=node)
                self._world.answer(run, answer, after_ms=self._rng.randint(0, 15))
        if self._rng.random() < 0.05:
            self._pause(run)
        if self._cancels and self._rng.random() < (0.05 if "." in run else 0.3):
            self.cancel(run, self._rng.randint(0, 80))

    def cancel(self, run: RunId, after_ms: int) -> None:
        self.cancelled.add(run)
        self._world.cancel(run, "enough", after_ms=after_ms)

    def committed(self, step: Step) -> None:
        if step.entry is None:
            return
        for decision in step.entry.decisions:
            match decision:
                case OpenGate(token, node):
                    self._answer(step.run, token, node, self._path(step, token))
                case AskInput(token, node):
                    self._reply(step.run, token, node, self._path(step, token))
                case WaitForSignal(name=name, names=names):
                    self._signal(step.run, names or (name,))
                case CallWorkflow(child=child, workflow=workflow):
                    self._meddle(child, workflow)
                case ForkHistory():
                    for waiting in step.live.state.tokens.values():
                        self._serve(step.run, waiting)
                case _:
                    pass
        if self._rng.random() < 0.03:
            self._pause(step.run)
        if self._forks and "." not in step.run and self._rng.random() < 0.1:
            self._forks -= 1
            self._fork(step.run, step.entry.number)

    def _serve(self, run: RunId, token: Token) -> None:
        match token.phase:
            case Asking():
                self._reply(run, token.id, token.node, token.path)
            case WaitingForGate():
                self._answer(run, token.id, token.node, token.path)
            case WaitingForSignal(hears=hears):
                self._signal(run, hears)
            case _:
                pass

    def _fork(self, run: RunId, last: int) -> None:
        try:
            writes: dict[str, Json] = {} if self._rng.random() < 0.5 else {"output.edited": 1}
            self.forked.append(self._world.fork(run, self._rng.randint(0, last), writes=writes))
        except Refused as refused:
            if refused.code != "nothing_shared":
                raise

    def _pause(self, run: RunId) -> None:
        begins = self._rng.randint(0, 20)
        self._world.pause(run, after_ms=begins)
        self._world.unpause(run, after_ms=begins + self._rng.choice((1, 10, 60)))

    def _path(self, step: Step, token: TokenId) -> str:
        found = step.live.state.tokens.get(token)
        return "" if found is None else found.path

    def _answer(self, run: RunId, token: TokenId, node: str, path: str) -> None:
        """Two people at most gates, and often somebody who is wrong first."""
        if node.startswith("e") or not path:
            return
        rng = self._rng
        value: Json = f"{node}@{path}" if node.startswith("p") else {"ok": f"{node}@{path}"}
        if rng.random() < 0.3 and not node.startswith("p"):
            self._say(run, AnswerGate(0, self._id(), {"no": 1}, "Eve", token), rng.randint(0, 5))
        for person in ("Ann", "Bob", "Ann") if node.startswith("p") else rng.choice((("Ann",), ("Ann", "Bob"))):
            if rng.random() < 0.5:
                answer = AnswerGate(0, self._id(), value, person, token)
            else:
                answer = AnswerGate(0, self._id(), value, person, node=node, path=path)
            self._say(run, answer, rng.randint(0, 15))

    def _reply(self, run: RunId, token: TokenId, node: str, path: str) -> None:
        """To what a task asks: often somebody is wrong first, and sometimes two are right."""
        rng = self._rng
        if rng.random() < 0.3:
            self._say(run, AnswerGate(0, self._id(), {"no": 1}, "Eve", token), rng.randint(0, 5))
        if rng.random() < 0.3:
            named = AnswerGate(0, self._id(), reply_to(node, path), "Ann", node=node, path=path)
            self._say(run, named, rng.randint(0, 15))
        self._say(run, AnswerGate(0, self._id(), reply_to(node, path), "Bob", token), rng.randint(0, 15))

    def _say(self, run: RunId, answer: AnswerGate, after_ms: int) -> None:
        self._world.answer(run, answer, after_ms=after_ms)

    def _signal(self, run: RunId, names: tuple[str, ...]) -> None:
        """Once with a key, perhaps twice with the same one; the second changes nothing."""
        rng = self._rng
        name = rng.choice(names)
        if name.startswith(("o", "y")):
            return  # it never comes, or a task sends it
        key = None if rng.random() < 0.4 else self._id()
        for _ in range(rng.choice((1, 2))):
            signal = SignalRun(0, self._id(), name, f"signal {name}", key)
            self._world.signal(run, signal, after_ms=rng.randint(0, 15))

    def _meddle(self, child: RunId, workflow: str) -> None:
        """With a child that has only just been called: pause or cancel it, or send a signal nobody waits for yet."""
        rng = self._rng
        self.before(child, workflow)
        if rng.random() < 0.3:
            self._world.signal(child, SignalRun(0, self._id(), "nobody", 1))

    def _id(self) -> str:
        self._said += 1
        return f"said-{self._said}"
