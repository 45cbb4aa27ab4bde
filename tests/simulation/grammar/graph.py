"""Random valid token graphs, as plain definitions: the engine loads them, and the oracle reads them as they are.

A graph is grown from parts with one entry and any number of ends: a node, a choice, a fan-out with or without its
join, a loop around other parts. What follows a part goes on from all its ends.
"""

from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from tests.simulation.grammar import words
from tests.simulation.grammar.words import Object

MOST_AT_ONCE = 16.0


@dataclass(frozen=True)
class Around:
    """What encloses a part: how deep it is, the item variables there, and about how many tokens come by."""

    depth: int = 0
    items: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()  # those of the item variables that are lists themselves
    tokens: float = 1.0

    @property
    def branch(self) -> bool:
        return self.depth > 0


@dataclass(frozen=True)
class Part:
    """A stretch of the graph. `leaks`: a token at an end may be in a group that was made inside and not joined."""

    entry: str
    ends: tuple[str, ...]
    leaks: bool = False


@dataclass
class Grammar:
    """One workflow in the making."""

    rng: Random
    left: int  # about how many nodes may still be made
    nodes: Object = field(default_factory=dict[str, Any])
    transitions: list[Object] = field(default_factory=list[Object])
    default_priority: dict[str, int] = field(default_factory=dict[str, int])

    def __post_init__(self) -> None:
        self.leaks = 0
        self.unsure = False  # whether a join may reach a group further out than it looks
        self.on_branch_failure: str = self.rng.choice(("fail", "continue"))

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def workflow(self) -> Object:
        whole = self.sequence(Around(), self.rng.randint(1, 3))
        if self.chance(0.9):
            self.finish(whole)
        made: Object = {"initial_node": whole.entry, "nodes": self.nodes, "transitions": self.transitions}
        if self.unsure:
            self.keep_out_of_branches()
        if self.chance(0.5):
            made["output_mapping"] = {"a": "state.a", "whole": self.rng.choice(("state", "output", "state.b"))}
        if self.chance(0.15):
            made["on_no_match"] = "complete"
        if self.chance(0.1):
            made["timeout_ms"] = self.rng.choice((15, 40, 90, 300))
        made["limits"] = {"max_node_executions": self.rng.randint(3, 30) if self.chance(0.07) else 120}
        if self.chance(0.05):
            made["limits"]["max_tokens"] = self.rng.randint(2, 12)
        return made

    def finish(self, whole: Part) -> None:
        """A way to the end for every node that has other ways already: without one, its success would match none."""
        busy = {transition["from"] for transition in self.transitions}
        last = [end for end in whole.ends if end in busy]
        if last:
            self.nodes["end"] = {}
        for end in last:
            self.go(end, "end")

    def keep_out_of_branches(self) -> None:
        """A node that may stand outside every branch cannot write to one."""
        for node in self.nodes.values():
            mapping = node.get("output_mapping", {})
            if any(target.startswith("_branch") for target in mapping):
                node["output_mapping"] = {t.replace("_branch.output", "state"): v for t, v in mapping.items()}

    # nodes and transitions

    def node(self, around: Around, *, kinds: str = "tttttppw") -> str:
        """A node with a target or without: t for a task, p for none, w for a wait."""
        kind = self.rng.choice(kinds)
        name = f"{kind}{len(self.nodes)}"
        self.left -= 1
        made: Object = {}
        if kind == "t":
            made["task"] = self.rng.choice(("plain", "plain", "plain", "again", "again", "brief"))
        elif kind == "w":
            made["wait"] = self.wait()
        if kind != "w" and self.chance(0.5):
            made["input_mapping"] = words.input_mapping(self.rng, branch=around.branch, items=around.items)
        if self.chance(0.55):
            made["output_mapping"] = words.output_mapping(
                self.rng, branch=around.branch, result=kind != "w", items=around.items
            )
        self.nodes[name] = made
        return name

    def wait(self) -> Object:
        if self.chance(0.15):
            return {"until": f"'2023-11-14T22:13:20.{self.rng.randint(0, 60):03}Z'"}
        return {"seconds": self.rng.choice((0, 0.001, 0.004, 0.009, 0.02))}

    def go(self, source: str, target: str, **rest: Any) -> None:
        if "priority" not in rest and source in self.default_priority:
            rest["priority"] = self.default_priority[source]
        self.transitions.append({"from": source, "to": target, **rest})

    def condition(self, around: Around, node: str) -> Any:
        """What a transition out of the node may ask; only a task's result has fields to speak of."""
        return words.condition(self.rng, branch=around.branch, result=node.startswith("t"))

    # parts

    def sequence(self, around: Around, length: int) -> Part:
        first = last = self.part(around)
        for _ in range(length - 1):
            if last.leaks:
                around = replace(around, tokens=around.tokens * 2.5)
            following = self.part(around)
            for end in last.ends:
                self.go(end, following.entry)
            last = Part(first.entry, following.ends, last.leaks or following.leaks)
        return Part(first.entry, last.ends, last.leaks)

    def part(self, around: Around) -> Part:
        small = self.left <= 0 or around.depth >= 3 or around.tokens > MOST_AT_ONCE
        match self.rng.choice("ss" if small else "ssscfffll"):
            case "c":
                return self.decision(around)
            case "f":
                return self.fan_out(around)
            case "l":
                return self.loop(around)
            case _:
                return self.step(around)

    def step(self, around: Around) -> Part:
        node = self.node(around)
        if not node.startswith("t") or not self.chance(0.35):
            return Part(node, (node,))
        condition = words.handler_condition(self.rng)
        if self.chance(0.25):
            self.go(node, node, condition=condition, loop_config={"max_iterations": self.rng.randint(1, 2)})
            return Part(node, (node,))
        handler = self.node(around)
        self.go(node, handler, condition=condition, priority=self.rng.randint(0, 2))
        return Part(node, (node, handler))

    def decision(self, around: Around) -> Part:
        """Several ways on, of which one is taken: by distinct priorities, or the first that matches."""
        node = self.node(around, kinds="tttpw")
        first_match = self.chance(0.4)
        if first_match:
            self.nodes[node]["fan_out"] = "first_match"
        ends: list[str] = []
        leaks = False
        arms = self.rng.randint(2, 3)
        for arm in range(arms):
            part = self.part(around)
            rest: Object = {} if first_match else {"priority": arm + 1}
            if arm < arms - 1 or self.chance(0.1):
                rest["condition"] = self.condition(around, node)
            self.go(node, part.entry, **rest)
            ends += part.ends
            leaks = leaks or part.leaks
        return Part(node, tuple(ends), leaks)

    def loop(self, around: Around) -> Part:
        body = self.sequence(replace(around, tokens=around.tokens * 1.5), self.rng.randint(1, 2))
        again = self.rng.choice(body.ends)
        at_once = self.chance(0.1)  # back and onward in one tier: the loop is then a fan-out too
        iterations = {"max_iterations": self.rng.randint(1, 2)}
        rest: Object = {"condition": self.condition(around, again)} if self.chance(0.7) else {}
        self.go(again, body.entry, loop_config=iterations, **rest)
        if not at_once:
            self.default_priority[again] = 2
        return Part(body.entry, body.ends, body.leaks or at_once)

    def fan_out(self, around: Around) -> Part:
        node = self.node(around)
        match self.rng.choice(("one", "one", "one", "plain", "plain", "named", "shared", "crowd")):
            case "crowd":
                return self.crowd(around, node)
            case "plain":
                return self.several_matches(around, node)
            case "named":
                return self.named_groups(around, node)
            case "shared":  # a plain match beside an unnamed foreach is one more slot of it
                listed = self.branch(around, node, self.many(around))
                single = self.branch(around, node, {})
                return self.join(around, node, node, listed, single, fixed=1)
            case _:
                many = self.many(around)
                if self.chance(0.3):
                    many["sibling_group"] = f"g{len(self.nodes)}"
                body = self.branch(around, node, many)
                return self.join(around, node, many.get("sibling_group", node), body, fixed=fixed_total(many))

    def many(self, around: Around) -> Object:
        """A foreach or a spawn_count: of none, one or some."""
        if self.chance(0.3):
            return {"spawn_count": self.rng.choice((0, 1, 2, 3, "input.n", "size(input.xs)"))}
        collections = ["input.xs", "input.xs", "input.xss", "[1, 2]", "[]", "[5]"] * 2 + ["state.a"]
        collections += around.lists * 3
        foreach: Object = {"collection": self.rng.choice(collections)}
        if self.chance(0.8):
            foreach["item_var"] = "item" if self.chance(0.3) else f"item{around.depth}"
        if self.chance(0.3):
            foreach["max_parallel"] = self.rng.randint(1, 2)
        return {"foreach": foreach}

    def branch(self, around: Around, node: str, rest: Object) -> Part:
        """The path of the slots that one transition makes."""
        item_var = rest.get("foreach", {}).get("item_var")
        lists = tuple(name for name in around.lists if name != item_var)
        if item_var is not None:
            around = replace(around, items=(*around.items, item_var), lists=lists)
            if rest["foreach"]["collection"] == "input.xss":
                around = replace(around, lists=(*lists, item_var))
        inside = replace(around, depth=around.depth + 1, tokens=around.tokens * (2.5 if rest else 1.0))
        body = self.sequence(inside, self.rng.choice((1, 1, 2)))
        self.go(node, body.entry, **rest)
        return body

    def crowd(self, around: Around, node: str) -> Part:
        """Slots that split again and are not joined inside, so that several tokens of each come to the join."""
        many = {**self.many(around), "sibling_group": f"g{len(self.nodes)}"}
        inside = replace(around, depth=around.depth + 1, tokens=around.tokens * 5)
        split = self.node(inside, kinds="tpp")
        crowd = self.node(replace(inside, depth=inside.depth + 1), kinds="tttpw")
        self.go(node, split, **many)
        self.go(split, crowd, spawn_count=self.rng.choice((2, 2, 3)))
        fixed = fixed_total(many)
        sync = self.synchronization(around, many["sibling_group"], fixed)
        if self.chance(0.6) and (fixed is None or fixed >= 2):
            sync["strategy"] = {"m_of_n": self.rng.choice((2, 2, "size(range(2))"))}
        return Part(node, (self.fan_in(around, [crowd], sync),))

    def several_matches(self, around: Around, node: str) -> Part:
        bodies: list[Part] = []
        for arm in range(self.rng.randint(2, 3)):
            rest: Object = {"condition": self.condition(around, node)} if arm > 1 or self.chance(0.3) else {}
            body = self.sequence(around, 1)
            self.go(node, body.entry, **rest)
            bodies.append(body)
        return self.join(around, node, node, *bodies, fixed=1, sure=False)

    def named_groups(self, around: Around, node: str) -> Part:
        """Each name is a group of its own; one plain match beside them makes no slot."""
        ends: list[str] = []
        leaks = False
        for number in range(2):
            many = {**self.many(around), "sibling_group": f"g{number}"}
            joined = self.join(around, node, f"g{number}", self.branch(around, node, many), fixed=fixed_total(many))
            ends += joined.ends
            leaks = leaks or joined.leaks
        if self.chance(0.5):
            beside = self.part(around)
            self.go(node, beside.entry)
            ends += beside.ends
            leaks = leaks or beside.leaks
        return Part(node, tuple(ends), leaks)

    # joins

    def join(
        self, around: Around, node: str, group: str, *bodies: Part, fixed: int | None = None, sure: bool = True
    ) -> Part:
        """Bring the branches together: at one fan-in, at two, or nowhere."""
        ends = [end for body in bodies for end in body.ends]
        leaks = any(body.leaks for body in bodies)
        if self.leaks < 2 and self.chance(0.3 if around.branch else 0.15):
            self.leaks += 1
            return Part(node, tuple(ends), leaks=True)
        inside = replace(around, depth=around.depth + sure)
        if self.chance(0.15):
            self.lose_some(inside, ends)
        named = group if (leaks and self.chance(0.85)) or self.chance(0.4) else None
        self.unsure = self.unsure or (named is None and not sure)
        if not self.chance(0.12):
            fixed = 0 if named is None else fixed  # another group may come to this join, of any size: no quorum
            return Part(node, (self.fan_in(around, ends, self.synchronization(around, named, fixed)),))
        first = self.fan_in(around, ends, self.synchronization(around, group, fixed), some=inside)
        second = self.fan_in(around, ends, self.synchronization(around, group, fixed))
        return Part(node, (first, second))

    def synchronization(self, around: Around, group: str | None, fixed: int | None) -> Object:
        failing = self.on_branch_failure
        return words.synchronization(
            self.rng, group=group, on_branch_failure=failing, fixed=fixed, branch=around.branch and not self.unsure
        )

    def fan_in(self, around: Around, ends: list[str], sync: Object, *, some: Around | None = None) -> str:
        """A node all ends lead to, over transitions that agree; `some`: only if a condition holds."""
        joined = self.node(around, kinds="ttpp")
        if self.chance(0.15):
            self.nodes[joined]["fan_in"] = sync
            rest: Object = {}
        else:
            rest = {"synchronization": sync}
        for end in ends:
            if some is not None:
                self.go_if(some, end, joined, **rest)
            else:
                self.go(end, joined, **rest)
        return joined

    def go_if(self, around: Around, source: str, target: str, **rest: Any) -> None:
        """A way that is tried before whatever comes later."""
        priority = self.default_priority.get(source, 1)
        self.go(source, target, condition=self.condition(around, source), priority=priority, **rest)
        self.default_priority[source] = priority + 1

    def lose_some(self, inside: Around, ends: list[str]) -> None:
        """A way out of the branch that leads to no join."""
        self.go_if(inside, self.rng.choice(ends), self.node(inside, kinds="tp"))


def fixed_total(many: Object) -> int | None:
    """How many slots there are, if the definition alone says so."""
    count = many.get("spawn_count")
    if isinstance(count, int):
        return count
    return {"[1, 2]": 2, "[5]": 1, "[]": 0}.get(many.get("foreach", {}).get("collection", ""))


def workflow_from(rng: Random) -> Object:
    """One random workflow."""
    return Grammar(rng, left=rng.choice((2, 4, 6, 9))).workflow()
