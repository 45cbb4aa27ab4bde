"""Split a template into text and tags, and rewrite each."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from jeton.expression.templates.allowed import TemplateRefused
from jeton.expression.templates.rewrite import Rewriter, tokens

MAX_SOURCE: Final = 65_536
"""The characters of a template."""

MAX_REWRITTEN: Final = 1_000_000
"""The characters of a rewritten template: `+` writes its operands twice."""

_OPEN: Final = re.compile(r"\{(?P<kind>[{%#])(?P<trim>[-+]?)")
_RAW: Final = re.compile(
    r"\s*raw\s*(?P<left>[-+]?)%\}(?P<text>.*?)\{%(?P<right>[-+]?)\s*endraw\s*(?P<after>[-+]?)%\}", re.DOTALL
)
_QUOTED: Final = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)
_BARE: Final = frozenset({"else", "endif", "endfor", "endset", "endwith", "break", "continue"})


class Piece(NamedTuple):
    """Text (`kind` is empty) or the inside of a tag."""

    kind: str
    text: str


def rewrite(source: str) -> str:
    """The template as it is given to the engine. Raises TemplateRefused."""
    if len(source) > MAX_SOURCE:
        raise TemplateRefused(f"a template has at most {MAX_SOURCE:,} characters, and this one has {len(source):,}")
    made: list[str] = []
    size = 0
    for piece in _pieces(source):
        match piece.kind:
            case "":
                text = piece.text.replace("\\", "\\\\").replace('"', '\\"')
                part = f'{{{{ "{text}" }}}}' if text else ""
            case "{":
                part = f"{{{{ {_expression(piece.text)} }}}}"
            case _:
                part = f"{{% {_statement(piece.text)} %}}"
        made.append(part)
        size += len(part)
        if size > MAX_REWRITTEN:
            raise TemplateRefused("it is too large")
    return "".join(made)


def _pieces(source: str) -> Iterator[Piece]:
    """The pieces of a template, with the text trimmed as its tags ask for."""
    at, strip = 0, False
    while (opened := _OPEN.search(source, at)) is not None:
        text = source[at : opened.start()]
        text = text.lstrip() if strip else text
        yield Piece("", text.rstrip() if opened["trim"] == "-" else text)
        raw = _RAW.match(source, opened.end()) if opened["kind"] == "%" else None
        if raw is not None:
            inner = raw["text"].lstrip() if raw["left"] == "-" else raw["text"]
            yield Piece("", inner.rstrip() if raw["right"] == "-" else inner)
            at, strip = raw.end(), raw["after"] == "-"
            continue
        end = _end(source, opened.end(), opened["kind"])
        inside = source[opened.end() : end]
        strip = inside.endswith("-")
        if opened["kind"] != "#":
            yield Piece(opened["kind"], inside[:-1] if inside[-1:] in ("-", "+") else inside)
        at = end + 2
    text = source[at:]
    text = text.lstrip() if strip else text
    yield Piece("", re.sub(r"\r?\n\Z", "", text))


def _end(source: str, at: int, kind: str) -> int:
    """Where the closing braces of a tag are. Those inside quotes do not count."""
    closing = {"{": "}}", "%": "%}", "#": "#}"}[kind]
    braces = 0
    while at < len(source):
        quoted = _QUOTED.match(source, at) if kind != "#" else None
        if quoted is not None:
            at = quoted.end()
            continue
        if source.startswith(closing, at) and braces == 0:
            return at
        if kind != "#":
            braces += {"{": 1, "}": -1}.get(source[at], 0)
        at += 1
    raise TemplateRefused(f"a tag is not closed with {closing!r}")


def _expression(inside: str) -> str:
    rewriter = Rewriter(tokens(inside))
    found = rewriter.expression()
    rewriter.finish()
    return found.text


def _statement(inside: str) -> str:
    rewriter = Rewriter(tokens(inside))
    word = rewriter.take().text
    match word:
        case "if" | "elif":
            text = f"{word} {rewriter.expression().text}"
        case "for":
            text = f"for {_targets(rewriter)}"
            rewriter.expect("in")
            text += f" in {rewriter.expression(condition=False).text}"
            if rewriter.skip("if"):
                text += f" if {rewriter.expression().text}"
        case "set":
            text = f"set {rewriter.name()}"
            if rewriter.skip("="):
                text += f" = {rewriter.expression().text}"
        case "with":
            text = "with " + ", ".join(_assignments(rewriter))
        case word if word in _BARE:
            text = word
        case _:
            raise TemplateRefused(f"there is no tag {word!r}; there are: for, if, raw, set, with")
    rewriter.finish()
    return text


def _targets(rewriter: Rewriter) -> str:
    names = [rewriter.name()]
    while rewriter.skip(","):
        names.append(rewriter.name())
    return ", ".join(names)


def _assignments(rewriter: Rewriter) -> Iterator[str]:
    while True:
        name = rewriter.name()
        rewriter.expect("=")
        yield f"{name} = {rewriter.expression().text}"
        if not rewriter.skip(","):
            return
