"""Random workflows that call one another, ask people and wait for signals, with the value each must come to.

They are grown from blocks whose value is known beforehand, whatever the order of events: what remains open is only
which of several slots came first, and whether somebody answered before the time was over.
"""

from dataclasses import dataclass, field
from itertools import pairwise
from random import Random
from typing import Any, TypeAlias, TypeGuard

from jeton.model.ids import ROOT_PATH, branch_path

Object: TypeAlias = dict[str, Any]

TASKS: Object = {
    "plain": {"steps": [{"ref": "only", "action": {"kind": "mock"}}], "timeout_ms": 150},
    "again": {
        "steps": [{"ref": "only", "action": {"kind": "mock"}}],
        "timeout_ms": 150,
        "retry": {"max_attempts": 3, "initial_delay_ms": 5},
    },
}
OF_THE_RUN = "{'workflow': run.workflow, 'own': run.id == run.root_id || run.id.startsWith(run.root_id + '.')}"
CALLED = "has(result.error) ? {'caught': result.error.type} : result.s"


@dataclass(frozen=True)
class Either:
    """One of these."""

    values: tuple[Any, ...]


@dataclass(frozen=True)
class Some:
    """At least so many of these, in their order."""

    values: tuple[Any, ...]
    least: int


@dataclass(frozen=True)
class Block:
    """A stretch of a workflow: where it begins and ends, and the node whose value it leaves behind."""

    entry: str
    end: str
    value: "Value"


@dataclass(frozen=True)
class Value:
    """What a block writes, by the path it stands on."""

    node: str
    kind: str
    called: str = ""
    body: "tuple[Value, ...]" = ()
    count: int = 0
    least: int | None = None
    entry: str = ""


@dataclass
class Library:
    """Workflows in the making; each calls only those made before it."""

    rng: Random
    workflows: Object = field(default_factory=dict[str, Any])
    values: dict[str, tuple[Value, ...]] = field(default_factory=dict[str, tuple[Value, ...]])
    failures: dict[str, str] = field(default_factory=dict[str, str])  # by workflow: the type it fails with

    def make(self, name: str, blocks: int, *, fails: bool = False) -> None:
        graph = _Graph(self, name)
        sequence = graph.sequence(blocks, branch=False)
        if fails:
            sequence.append(graph.after(sequence[-1], graph.failing()))
        elif self.rng.random() < 0.25:
            graph.end_beside(sequence[-1])
        made: Object = {
            "initial_node": sequence[0].entry,
            "nodes": graph.nodes,
            "transitions": graph.transitions,
            "output_mapping": {"s": "state"},
        }
        self.workflows[name] = made
        self.values[name] = tuple(block.value for block in sequence)

    def expected(self, name: str) -> Object:
        """The output a run of this workflow ends with, if it completes."""
        return {"s": self._written(self.values[name], ROOT_PATH)}

    def _written(self, values: tuple[Value, ...], path: str) -> Object:
        return {value.node: self._value(value, path) for value in values}

    def _value(self, value: Value, path: str) -> Any:
        said = f"{value.node}@{path}"
        match value.kind:
            case "t" | "g" | "r":
                return said
            case "p":
                return [said, said]
            case "d":
                return Either((said, "late"))
            case "e":
                return "late"
            case "s" | "k" | "y":
                return f"signal {value.node}"
            case "m":
                names = (value.node, f"{value.node}_b")
                return Either(tuple({"signal": name, "value": f"signal {name}"} for name in names))
            case "n":
                return Either((f"signal {value.node}", "late"))
            case "o":
                return "late"
            case "w":
                return None
            case "i":
                return {"workflow": value.called, "own": True}
            case "c":
                return self.expected(value.called)["s"]
            case "h":
                fails = self.failures.get(value.called)
                return Either(({"caught": fails} if fails else self.expected(value.called)["s"],))
            case _:
                slots = [self._written(value.body, branch_path(path, value.entry, n)) for n in range(value.count)]
                return slots if value.least is None else Some(tuple(slots), value.least)


@dataclass
class _Graph:
    """One workflow of the library."""

    library: Library
    name: str
    nodes: Object = field(default_factory=dict[str, Any])
    transitions: list[Object] = field(default_factory=list[Object])

    def sequence(self, length: int, *, branch: bool) -> list[Block]:
        rng = self.library.rng
        blocks: list[Block] = []
        for _ in range(length):
            fan = rng.random() < (0.12 if branch else 0.3)
            block = self.fan_out() if fan else self.single(self.kind(), branch=branch)
            blocks.append(self.after(blocks[-1], block) if blocks else block)
        return blocks

    def after(self, last: Block, block: Block) -> Block:
        self.transitions.append({"from": last.end, "to": block.entry})
        return block

    def kind(self) -> str:
        """t task, r retried, g gate, p approvals, d gate with a default, e never answered, s signal, w timer…

        m is the first of two signals, n a signal with a default, o one that never comes, y one that a task sends."""
        kinds = "ttrgggpdesssmmnoyw"
        if self.library.values:
            kinds += "hh" if all(name.endswith("x") for name in self.library.values) else "cccch"
        return self.library.rng.choice(kinds)

    def single(self, kind: str, *, branch: bool) -> Block:
        rng = self.library.rng
        node = f"{kind}{len(self.nodes)}_{self.name}"
        called = ""
        apart = Random(f"{node} {len(self.transitions)}")  # so that a seed keeps its shape
        if kind == "w" and apart.random() < 0.4:
            kind = "i"
        made: Object = {}
        result = "result"
        match kind:
            case "t" | "x":
                made["task"], result = "plain", "result.v"
            case "r":
                made["task"], result = "again", "result.v"
            case "g" | "d" | "e":
                schema = {"type": "object", "required": ["ok"]}
                made["gate"] = {"title": f"{node} {{{{ input }}}}", "schema": schema}
                result = "result.ok"
                if kind != "g":
                    timeout_ms = length(apart, rng.choice((5, 12, 30)))
                    made["gate"] |= {"timeout_ms": timeout_ms, "on_timeout": {"ok": "late"}}
            case "p":
                made["gate"] = {"title": node, "approvals": 2}
            case "s" | "y":
                made["wait"] = {"signal": node}
            case "m":
                made["wait"] = {"signals": {node: {}, f"{node}_b": {"schema": {"type": "string"}}}}
            case "n" | "o":
                timeout_ms = length(apart, rng.choice((5, 12, 30)))
                made["wait"] = {"signal": node, "timeout_ms": timeout_ms, "on_timeout": "late"}
            case "w":
                made["wait"] = {"seconds": rng.choice((0, 0.002, 0.01))}
            case "i":
                called, result = self.name, OF_THE_RUN
            case _:
                called = rng.choice([name for name in self.library.values if kind == "h" or not name.endswith("x")])
                made |= {"workflow": called, "on_failure": "catch" if kind == "h" else "propagate"}
                made["input_mapping"] = {"from": f"'{node}'"}
                if apart.random() < 0.3:
                    made["timeout_ms"] = "size(run.id) * 1000000"
                result = CALLED if kind == "h" else "result.s"
        made["output_mapping"] = {f"{'_branch.output' if branch else 'state'}.{node}": result}
        self.nodes[node] = made
        if kind == "y":
            sender = f"t{len(self.nodes)}_to_{node}"
            self.nodes[sender] = {"task": "plain"}
            self.transitions.append({"from": sender, "to": node})
            return Block(sender, node, Value(node, kind, called))
        return Block(node, node, Value(node, kind, called))

    def failing(self) -> Block:
        """A task that fails, the end of the run as failed, or a gate or wait whose timeout is no count."""
        self.library.failures[self.name] = "boom"
        if self.library.rng.random() < 0.5:
            return self.single("x", branch=False)
        node = f"x{len(self.nodes)}_{self.name}"
        apart = Random(f"{node} {len(self.transitions)}")
        if apart.random() < 0.5:
            self.library.failures[self.name] = "not_a_count"
            timeout = {"timeout_ms": apart.choice(("input.gone", "0 * size(run.id)", "input.from"))}
            self.nodes[node] = apart.choice(({"gate": timeout}, {"wait": {"signal": node, **timeout}}))
            return Block(node, node, Value(node, "x"))
        self.nodes[node] = {"end": {"failed": {"type": "boom", "message": "as it should"}}}
        return Block(node, node, Value(node, "x"))

    def end_beside(self, last: Block) -> None:
        """Two ways on from the last block: one ends the run, and the other leads to something that may take longer."""
        rest, end = f"w{len(self.nodes)}_{self.name}", f"z{len(self.nodes)}_{self.name}"
        self.nodes[rest] = {"wait": {"seconds": self.library.rng.choice((0, 0.002, 0.01))}}
        self.nodes[end] = {"end": "completed"}
        beside = self.single(self.library.rng.choice("gpesth" if self.library.values else "gpest"), branch=True)
        for target in (rest, beside.entry):
            self.transitions.append({"from": last.end, "to": target})
        self.transitions.append({"from": rest, "to": end})

    def fan_out(self) -> Block:
        rng = self.library.rng
        split, join = f"f{len(self.nodes)}_{self.name}", f"j{len(self.nodes)}_{self.name}"
        self.nodes[split] = {}
        self.nodes[join] = {}
        body = [self.single(self.kind(), branch=True) for _ in range(rng.choice((1, 1, 2)))]
        for last, block in pairwise(body):
            self.after(last, block)
        count = rng.choice((1, 2, 3))
        foreach: Object = {"collection": str(list(range(count))), "item_var": "item"}
        if rng.random() < 0.3:
            foreach["max_parallel"] = rng.randint(1, 2)
        self.transitions.append({"from": split, "to": body[0].entry, "foreach": foreach, "sibling_group": split})
        merge = {"source": "_branch.output", "target": f"state.{split}", "strategy": "collect"}
        sync: Object = {"sibling_group": split, "merge": merge}
        least = None
        if rng.random() < 0.4:
            least = rng.randint(1, count)
            sync["strategy"] = {"m_of_n": least}
            sync["on_early_complete"] = rng.choice(("cancel", "abandon"))
        self.transitions.append({"from": body[-1].end, "to": join, "synchronization": sync})
        values = tuple(block.value for block in body)
        return Block(split, join, Value(split, "f", body=values, count=count, least=least, entry=body[0].entry))


def length(rng: Random, timeout_ms: int) -> int | str:
    """A timeout, sometimes from data."""
    ways = (f"size(range({timeout_ms}))", f"[{timeout_ms}, 40].min()", f"size(run.id) * 0 + {timeout_ms}")
    return rng.choice(ways) if rng.random() < 0.4 else timeout_ms


def library_from_seed(rng: Random) -> Library:
    """A few workflows; `w` is the one that is started. One whose name ends in x fails at its end."""
    made = Library(rng)
    for number in range(rng.choice((0, 1, 2, 3))):
        fails = rng.random() < 0.3
        made.make(f"c{number}{'x' if fails else ''}", rng.randint(1, 2), fails=fails)
    made.make("w", rng.randint(1, 4))
    return made


def agrees(found: Any, expected: Any, *, troubled: bool) -> bool:
    """Whether a value is one that may be. In a troubled world any child that is called may fail."""
    fields: Object = found if _is_object(found) else {}
    items: list[Any] = found if _is_list(found) else []
    match expected:
        case Either(values):
            return (troubled and "caught" in fields) or any(agrees(found, one, troubled=troubled) for one in values)
        case Some(values, least):
            return _in_order(items, values, least, troubled=troubled)
        case dict():
            return _same_fields(fields, expected, troubled=troubled)
        case list():
            return _same_items(items, expected, troubled=troubled)
        case _:
            return bool(found == expected)


def _is_object(value: Any) -> TypeGuard[Object]:
    return isinstance(value, dict)


def _is_list(value: Any) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def _same_fields(found: Object, expected: Any, *, troubled: bool) -> bool:
    return set(found) == set(expected) and all(agrees(found[k], expected[k], troubled=troubled) for k in expected)


def _same_items(found: list[Any], expected: Any, *, troubled: bool) -> bool:
    pairs = zip(found, expected, strict=False)
    return len(found) == len(expected) and all(agrees(a, b, troubled=troubled) for a, b in pairs)


def _in_order(found: list[Any], values: tuple[Any, ...], least: int, *, troubled: bool) -> bool:
    left = list(values)
    for one in found:
        while left and not agrees(one, left[0], troubled=troubled):
            left.pop(0)
        if not left:
            return False
        left.pop(0)
    return len(found) >= least
