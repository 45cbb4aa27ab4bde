"""Decoder of the library's serialized expressions: a protobuf Any with a cel.expr.CheckedExpr or ParsedExpr.

The library gives no other access to its tree, and these few functions replace the protobuf package."""

import struct
from collections.abc import Iterator
from typing import TypeAlias

from jeton.expression import syntax
from jeton.expression.problems import Unsupported

Field: TypeAlias = int | bytes
Message: TypeAlias = dict[int, list[Field]]

ANY_VALUE = 2
CHECKED_TYPES, CHECKED_EXPR, CHECKED_SOURCE = 3, 4, 5
PARSED_EXPR, PARSED_SOURCE = 2, 3
POSITIONS = 4
VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
TYPE_NULL, TYPE_PRIMITIVE = 2, 3
NAMESPACES = frozenset({"base64", "hash", "json", "math", "optional"})
PRIMITIVES = {1: "bool", 2: "int", 4: "double", 5: "string"}  # and two that JSON does not have: uint and bytes


def decode(serialized: bytes) -> syntax.Node:
    """The tree of a serialized expression."""
    any_message = read(serialized)
    checked = text(any_message, 1).endswith("CheckedExpr")
    body = read(raw(any_message, ANY_VALUE))
    source = read(raw(body, CHECKED_SOURCE if checked else PARSED_SOURCE))
    positions = {number(pair, 1): number(pair, 2) for pair in repeated(source, POSITIONS)}
    kinds = {number(pair, 1): checked_kind(pair) for pair in repeated(body, CHECKED_TYPES)} if checked else {}
    root = raw(body, CHECKED_EXPR if checked else PARSED_EXPR)
    return Decoder(positions, kinds).node(root)


def checked_kind(pair: Message) -> str:
    """The type that the checker found; empty if it is not a JSON scalar."""
    kind = read(raw(pair, 2))
    return "null" if TYPE_NULL in kind else PRIMITIVES.get(number(kind, TYPE_PRIMITIVE), "")


class Decoder:
    """Turns cel.expr.Expr messages into nodes; the field numbers are those of cel/expr/syntax.proto."""

    def __init__(self, positions: dict[int, int], kinds: dict[int, str]) -> None:
        self.positions, self.kinds = positions, kinds

    def node(self, data: bytes) -> syntax.Node:
        message = read(data)
        identity = signed(number(message, 2))
        at, kind = self.positions.get(identity, 0), self.kinds.get(identity, "")
        if 3 in message:
            return self.constant(raw(message, 3), at)
        if 4 in message:
            return self.ident(text(read(raw(message, 4)), 1), at, kind)
        if 5 in message:
            return self.select(read(raw(message, 5)), at, kind)
        if 6 in message:
            return self.call(read(raw(message, 6)), at, kind)
        if 7 in message:
            return self.list_of(read(raw(message, 7)), at)
        if 8 in message:
            return self.map_of(read(raw(message, 8)), at)
        return self.fold(read(raw(message, 9)), at, kind)

    def constant(self, data: bytes, at: int) -> syntax.Constant | syntax.ForeignConstant:
        message = read(data)
        ((field, (value, *_)),) = message.items()
        match field, value:
            case 1, _:
                return syntax.Constant(None, at, "null")
            case 2, int():
                return syntax.Constant(bool(value), at, "bool")
            case 3, int():
                return syntax.Constant(signed(value), at, "int")
            case 5, bytes():
                return syntax.Constant(struct.unpack("<d", value)[0], at, "double")
            case 6, bytes():
                return syntax.Constant(value.decode(), at, "string")
            case 4, int():
                return syntax.ForeignConstant(f"{value}u", at)
            case _, bytes():
                return syntax.ForeignConstant("b'" + "".join(f"\\x{byte:02x}" for byte in value) + "'", at)
            case _:
                raise Unsupported("has a literal that JSON does not have", "write it another way", at)

    def ident(self, name: str, at: int, kind: str) -> syntax.Ident:
        if name.startswith("."):  # the library has kept the dot because the plain name means something else here
            raise Unsupported(
                f"reads '{name}' past a variable of that name", "give the inner variable another name", at
            )
        return syntax.Ident(name, at, kind)

    def select(self, message: Message, at: int, kind: str) -> syntax.Select | syntax.Has:
        operand, field = self.node(raw(message, 1)), text(message, 2)
        return syntax.Has(operand, field, at) if number(message, 3) else syntax.Select(operand, field, at, kind)

    def call(self, message: Message, at: int, kind: str) -> syntax.FunctionCall:
        args = tuple(self.node(data) for data in many(message, 3))
        name = text(message, 2)
        if 1 not in message:
            return syntax.FunctionCall(name, args, False, at, kind)
        target = self.node(raw(message, 1))
        if isinstance(target, syntax.Ident) and target.name in NAMESPACES:  # the checker alone would resolve it
            return syntax.FunctionCall(f"{target.name}.{name}", args, False, at, kind)
        return syntax.FunctionCall(name, (target, *args), True, at, kind)

    def list_of(self, message: Message, at: int) -> syntax.ListOf:
        elements = tuple(self.node(data) for data in many(message, 1))
        return syntax.ListOf(elements, frozenset(packed(message, 2)), at)

    def map_of(self, message: Message, at: int) -> syntax.MapOf:
        if 1 in message:
            raise Unsupported(f"makes a {text(message, 1)}, which is no plain data", "write a map: {'key': value}", at)
        return syntax.MapOf(tuple(self.entry(entry) for entry in repeated(message, 2)), at)

    def entry(self, message: Message) -> syntax.MapEntry:
        return syntax.MapEntry(self.node(raw(message, 3)), self.node(raw(message, 4)), bool(number(message, 5)))

    def fold(self, message: Message, at: int, kind: str) -> syntax.Comprehension:
        return syntax.Comprehension(
            variable=text(message, 1),
            range=self.node(raw(message, 2)),
            accumulator=text(message, 3),
            start=self.node(raw(message, 4)),
            condition=self.node(raw(message, 5)),
            step=self.node(raw(message, 6)),
            result=self.node(raw(message, 7)),
            at=at,
            kind=kind,
        )


def read(data: bytes) -> Message:
    """One protobuf message as the values of each field number."""
    message: Message = {}
    for field, value in fields(data):
        message.setdefault(field, []).append(value)
    return message


def fields(data: bytes) -> Iterator[tuple[int, Field]]:
    offset, end = 0, len(data)
    while offset < end:
        key, offset = varint(data, offset)
        field, wire = key >> 3, key & 7
        if wire == VARINT:
            value, offset = varint(data, offset)
            yield field, value
            continue
        if wire == BYTES:
            length, offset = varint(data, offset)
        else:
            length = 8 if wire == FIXED64 else 4
        yield field, data[offset : offset + length]
        offset += length


def varint(data: bytes, offset: int) -> tuple[int, int]:
    if data[offset] < 0x80:  # as nearly all of them are
        return data[offset], offset + 1
    value = shift = 0
    while data[offset] & 0x80:
        value |= (data[offset] & 0x7F) << shift
        shift += 7
        offset += 1
    return value | data[offset] << shift, offset + 1


def signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


def number(message: Message, field: int) -> int:
    value = message.get(field, [0])[-1]
    return value if isinstance(value, int) else 0


def raw(message: Message, field: int) -> bytes:
    value = message.get(field, [b""])[-1]
    return value if isinstance(value, bytes) else b""


def text(message: Message, field: int) -> str:
    return raw(message, field).decode()


def many(message: Message, field: int) -> list[bytes]:
    return [value for value in message.get(field, []) if isinstance(value, bytes)]


def repeated(message: Message, field: int) -> Iterator[Message]:
    return (read(value) for value in many(message, field))


def packed(message: Message, field: int) -> Iterator[int]:
    for value in message.get(field, []):
        if isinstance(value, int):
            yield value
            continue
        offset = 0
        while offset < len(value):
            item, offset = varint(value, offset)
            yield item
