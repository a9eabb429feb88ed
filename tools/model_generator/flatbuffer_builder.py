"""Writes FlatBuffers from a tree of Python objects.

Used by tflite_builder.py, which says what the tree of a .tflite model is. A tree is made of Table,
Scalar, Vector, String and References; `serialize` lays it out front to back: a vtable (shared by
all tables of equal layout), its table, then whatever the table refers to, depth first. Hence every
offset to a child points forward, as the format demands, and equal trees give equal bytes.

The format: https://flatbuffers.dev/internals. Numbers are little-endian; a table begins with the
signed distance back to its vtable; a vtable holds its own size, the table's size and one 16-bit
offset per field, 0 for an absent one.
"""

import struct


class Scalar:
    """A number in a table. `kind` is its struct letter; a value equal to `default` is left out."""

    def __init__(self, kind, value, default=0):
        self.kind = kind
        self.value = value
        self.default = default


class String:
    def __init__(self, text):
        self.text = text


class Vector:
    """Numbers of one struct letter, or raw bytes; the first element is aligned to `alignment`."""

    def __init__(self, kind, values, alignment=1):
        self.kind = kind
        self.values = values
        self.alignment = alignment


class References:
    """A vector of tables or strings."""

    def __init__(self, nodes):
        self.nodes = nodes


class Table:
    """`fields` maps an index in the schema to a Scalar or another node; None is an absent one."""

    def __init__(self, fields=None):
        self.fields = {
            index: node
            for index, node in (fields or {}).items()
            if node is not None and not (isinstance(node, Scalar) and node.value == node.default)
        }


class _Writer:
    def __init__(self):
        self.out = bytearray()
        self.vtables = {}  # vtable bytes -> position

    def pad(self, alignment, ahead=0):
        """Pads so that what lies `ahead` bytes after the end is aligned."""
        self.out += bytes(-(len(self.out) + ahead) % alignment)

    def node(self, node):
        """Writes a node with all it refers to and returns its position."""
        if isinstance(node, Table):
            return self.table(node)
        if isinstance(node, References):
            return self.references(node)
        if isinstance(node, Vector):
            return self.vector(node)
        return self.string(node)

    def string(self, node):
        text = node.text.encode("utf-8")
        self.pad(4)
        position = len(self.out)
        self.out += struct.pack("<I", len(text)) + text + b"\0"
        return position

    def vector(self, node):
        size = struct.calcsize("<" + node.kind)
        self.pad(max(4, size, node.alignment), ahead=4)
        position = len(self.out)
        self.out += struct.pack("<I", len(node.values))
        if isinstance(node.values, (bytes, bytearray)):
            self.out += node.values
        else:
            self.out += struct.pack("<%d%s" % (len(node.values), node.kind), *node.values)
        return position

    def references(self, node):
        self.pad(4)
        position = len(self.out)
        self.out += struct.pack("<I", len(node.nodes)) + bytes(4 * len(node.nodes))
        for index, child in enumerate(node.nodes):
            self.refer(position + 4 + 4 * index, child)
        return position

    def table(self, node):
        sizes = {
            index: struct.calcsize("<" + field.kind) if isinstance(field, Scalar) else 4
            for index, field in node.fields.items()
        }
        # Large fields first, so that no padding is needed between them.
        places, end = {}, 4
        for index in sorted(sizes, key=lambda i: (-sizes[i], i)):
            end += -end % sizes[index]
            places[index] = end
            end += sizes[index]

        slots = [places.get(index, 0) for index in range(max(places, default=-1) + 1)]
        vtable = struct.pack("<%dH" % (2 + len(slots)), 4 + 2 * len(slots), end, *slots)
        if vtable not in self.vtables:
            self.pad(2)
            self.vtables[vtable] = len(self.out)
            self.out += vtable

        self.pad(max([4, *sizes.values()]))
        start = len(self.out)
        self.out += bytes(end)
        struct.pack_into("<i", self.out, start, start - self.vtables[vtable])
        for index in sorted(places):
            field, place = node.fields[index], start + places[index]
            if isinstance(field, Scalar):
                struct.pack_into("<" + field.kind, self.out, place, field.value)
            else:
                self.refer(place, field)
        return start

    def refer(self, place, child):
        struct.pack_into("<I", self.out, place, self.node(child) - place)


def serialize(root, identifier):
    """The bytes of a FlatBuffer whose root is a Table, with a four-letter file identifier."""
    writer = _Writer()
    writer.out += bytes(4) + identifier.encode("ascii")
    writer.refer(0, root)
    writer.pad(16)
    return bytes(writer.out)
