"""Writes a tree as the library reads it: the reverse of decode.py, for the parts of an expression that it evaluates."""

import struct
from collections.abc import Mapping

from jeton.expression.syntax import Call, Entry, Fold, ForeignLiteral, Has, Ident, ListOf, Literal, MapOf, Node, Select

PARSED_EXPR = b"type.googleapis.com/cel.expr.ParsedExpr"


def encode(node: Node, names: Mapping[int, str]) -> bytes:
    """The node as a serialized expression, in which every node whose id() has a name is the variable of that name."""
    return field(1, PARSED_EXPR) + field(2, field(2, expr(node, names)))


def expr(node: Node, names: Mapping[int, str]) -> bytes:
    if id(node) in names:
        return field(4, field(1, names[id(node)].encode()))
    match node:
        case Literal():
            return field(3, constant(node))
        case ForeignLiteral(data):
            return field(3, data)
        case Ident(name):
            return field(4, field(1, name.encode()))
        case Select(operand, key):
            return field(5, field(1, expr(operand, names)) + field(2, key.encode()))
        case Has(operand, key):
            return field(5, field(1, expr(operand, names)) + field(2, key.encode()) + flag(3))
        case Call():
            return field(6, call(node, names))
        case ListOf(elements, optional):
            indices = b"".join(varint(index) for index in sorted(optional))
            return field(7, b"".join(field(1, expr(each, names)) for each in elements) + field(2, indices))
        case MapOf(entries):
            return field(8, b"".join(field(2, pair(each, names)) for each in entries))
        case Fold():
            return field(9, fold(node, names))


def constant(node: Literal) -> bytes:
    match node.value:
        case None:
            return varint(1 << 3) + varint(0)
        case bool():
            return varint(2 << 3) + varint(node.value)
        case int():
            return varint(3 << 3) + varint(node.value & (1 << 64) - 1)
        case float():
            return varint(5 << 3 | 1) + struct.pack("<d", node.value)
        case str():
            return field(6, node.value.encode())


def call(node: Call, names: Mapping[int, str]) -> bytes:
    args = [expr(arg, names) for arg in node.args]
    target = field(1, args.pop(0)) if node.method else b""
    return target + field(2, node.function.encode()) + b"".join(field(3, arg) for arg in args)


def pair(entry: Entry, names: Mapping[int, str]) -> bytes:
    optional = flag(5) if entry.optional else b""
    return field(3, expr(entry.key, names)) + field(4, expr(entry.value, names)) + optional


def fold(node: Fold, names: Mapping[int, str]) -> bytes:
    return (
        field(1, node.variable.encode())
        + field(2, expr(node.range, names))
        + field(3, node.accumulator.encode())
        + field(4, expr(node.start, names))
        + field(5, expr(node.condition, names))
        + field(6, expr(node.step, names))
        + field(7, expr(node.result, names))
    )


def field(number: int, data: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(data)) + data


def flag(number: int) -> bytes:
    return varint(number << 3) + varint(1)


def varint(value: int) -> bytes:
    data = bytearray()
    while value > 0x7F:
        data.append(value & 0x7F | 0x80)
        value >>= 7
    data.append(value)
    return bytes(data)
