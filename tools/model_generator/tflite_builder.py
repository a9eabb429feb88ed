"""Builds TensorFlow Lite models: tensors, operators, subgraphs, buffers, metadata -> bytes.

Used by network.py, stateful_layers.py and topologies.py. Field numbers, operator codes and option
tables are those of TensorFlow's public schema.fbs (version 3); operator versions and the runtime
release that each needs are those that the TensorFlow converter writes. Only what the shipped models
use is here: an operator that is missing takes one line in OPERATORS.

What must hold for TFLite and TFLM to take a model: buffer 0 is empty; constant data is aligned to
16; the operator code stands in both of its fields; a per-channel scale names its dimension.
"""

import struct

from .flatbuffer_builder import References, Scalar, String, Table, Vector, serialize

# TensorType: number in the schema, struct letter of an element.
TYPES = {
    "float32": (0, "f"),
    "float16": (1, "e"),
    "int32": (2, "i"),
    "uint8": (3, "B"),
    "bool": (6, "?"),
    "resource": (13, "I"),
    "int16": (7, "h"),
    "int8": (9, "b"),
}

SAME, VALID = 0, 1
NONE, RELU, RELU6, TANH = 0, 1, 3, 4

# Operator: (code, number of its options in the BuiltinOptions union, their fields in the schema's
# order as name:struct-letter (s: text) with "-" for one that is never written, and for each version the first
# TensorFlow release that runs it). Every field written here has the default 0 or none.
_POOL = "padding:b stride_w:i stride_h:i filter_width:i filter_height:i activation:b"
OPERATORS = {
    "ADD": (0, 11, "activation:b", {1: "1.5.0", 2: "1.14.0"}),
    "AVERAGE_POOL_2D": (1, 5, _POOL, {1: "1.5.0", 2: "1.14.0"}),
    "CONCATENATION": (2, 10, "axis:i activation:b", {1: "1.5.0", 2: "1.14.0"}),
    "CONV_2D": (3, 1, "padding:b stride_w:i stride_h:i activation:b", {1: "1.5.0", 3: "1.14.0"}),
    "DEPTHWISE_CONV_2D": (
        4,
        2,
        "padding:b stride_w:i stride_h:i depth_multiplier:i activation:b",
        {1: "1.5.0", 3: "1.14.0"},
    ),
    "DEQUANTIZE": (6, 38, "", {2: "1.14.0", 3: "1.15.0"}),
    "FULLY_CONNECTED": (9, 8, "activation:b", {1: "1.5.0", 4: "1.14.0"}),
    "LOGISTIC": (14, 0, "", {1: "1.14.0", 2: "1.14.0"}),
    "MAX_POOL_2D": (17, 5, _POOL, {1: "1.5.0"}),
    "MUL": (18, 21, "activation:b", {1: "1.5.0"}),
    "RESHAPE": (22, 17, "new_shape:[i]", {1: "1.5.0"}),
    "RESIZE_BILINEAR": (23, 15, "- - align_corners:? half_pixel_centers:?", {3: "2.2.0"}),
    "SOFTMAX": (25, 9, "beta:f", {1: "1.5.0", 2: "1.14.0"}),
    "SVDF": (27, 6, "rank:i activation:b", {3: "2.2.0"}),
    "TANH": (28, 0, "", {1: "1.14.0"}),
    "CUSTOM": (32, 0, "", {1: "1.5.0"}),
    "PAD": (34, 22, "", {1: "1.5.0", 2: "1.14.0"}),
    "MEAN": (40, 27, "keep_dims:?", {1: "1.6.0", 2: "1.14.0"}),
    "SUB": (41, 28, "activation:b", {1: "1.6.0"}),
    "UNIDIRECTIONAL_SEQUENCE_LSTM": (
        44,
        71,
        "activation:b cell_clip:f proj_clip:f time_major:?",
        {1: "1.13.1"},
    ),
    "STRIDED_SLICE": (
        45,
        32,
        "begin_mask:i end_mask:i ellipsis_mask:i new_axis_mask:i shrink_axis_mask:i",
        {1: "1.6.0", 2: "1.14.0"},
    ),
    "LESS": (58, 41, "", {1: "1.14.0"}),
    "GREATER": (61, 44, "", {1: "1.14.0"}),
    "TRANSPOSE_CONV": (67, 49, "padding:b stride_w:i stride_h:i", {1: "1.9.0"}),
    "SHAPE": (77, 55, "out_type:b", {1: "1.10.0"}),
    "PACK": (83, 59, "values_count:i axis:i", {1: "1.11.0"}),
    "QUANTIZE": (114, 89, "", {1: "1.14.0"}),
    "IF": (118, 92, "then_subgraph:i else_subgraph:i", {1: "1.15.0"}),
    "WHILE": (119, 93, "cond_subgraph:i body_subgraph:i", {1: "1.15.0"}),
    "CALL_ONCE": (129, 103, "init_subgraph_index:i", {1: "2.5.0"}),
    "VAR_HANDLE": (142, 111, "container:s shared_name:s", {1: "2.6.0"}),
    "READ_VARIABLE": (143, 112, "", {1: "2.6.0"}),
    "ASSIGN_VARIABLE": (144, 113, "", {1: "2.6.0"}),
}


class Quantization:
    """real = scale * (stored - zero_point); one scale, or one per index of `dimension`."""

    def __init__(self, scales, zero_points, dimension=0):
        self.scales = scales
        self.zero_points = zero_points
        self.dimension = dimension

    def table(self):
        return Table(
            {
                2: Vector("f", [float(scale) for scale in self.scales]),
                3: Vector("q", self.zero_points),
                6: Scalar("i", self.dimension),
            }
        )


class Subgraph:
    def __init__(self, model, name):
        self.model = model
        self.name = name
        self.tensors = []  # tables
        self.operators = []  # tables
        self.inputs = []
        self.outputs = []
        self.names = []
        self.shapes = []

    def tensor(
        self, name, shape, kind, data=None, quantization=None, signature=None, variable=False
    ):
        """Adds a tensor and returns its index.

        `data` are the elements of a constant. `shape` None means that even the rank is unknown.
        `signature` is the shape with -1 where a dimension is known at run time only.
        """
        if data is not None:
            buffer = self.model.buffer(struct.pack("<%d%s" % (len(data), TYPES[kind][1]), *data))
        else:
            buffer = 0 if variable else self.model.buffer(None)
        self.tensors.append(
            Table(
                {
                    0: Vector("i", shape or []),
                    1: Scalar("b", TYPES[kind][0]),
                    2: Scalar("I", buffer),
                    3: String(name),
                    4: quantization.table() if quantization else None,
                    5: Scalar("?", variable, False),
                    7: Vector("i", signature) if signature else None,
                    8: Scalar("?", self.model.has_rank and shape is not None, False),
                }
            )
        )
        self.names.append(name)
        self.shapes.append(shape)
        return len(self.tensors) - 1

    def operator(
        self, kind, inputs, outputs, version=1, intermediates=None, custom=None, **options
    ):
        """Adds an operator. `options` are its fields in OPERATORS, `custom` a custom one's name."""
        _, union, fields, _ = OPERATORS[kind]
        letters = dict(field.split(":") for field in fields.split() if field != "-")
        places = [field.split(":")[0] for field in fields.split()]
        makers = {"[i]": lambda value: Vector("i", value), "s": String}
        table = {
            places.index(name): makers[letters[name]](value)
            if letters[name] in makers
            else Scalar(letters[name], value)
            for name, value in options.items()
        }
        self.operators.append(
            Table(
                {
                    0: Scalar("I", self.model.operator_code(kind, version, custom)),
                    1: Vector("i", inputs),
                    2: Vector("i", outputs),
                    3: Scalar("B", union),
                    4: Table(table) if union else None,
                    8: Vector("i", intermediates) if intermediates else None,
                }
            )
        )

    def table(self):
        return Table(
            {
                0: References(self.tensors),
                1: Vector("i", self.inputs),
                2: Vector("i", self.outputs),
                3: References(self.operators),
                4: String(self.name),
            }
        )


class Model:
    """The whole file. Subgraph 0 is the main one and gets the signature `serving_default`.

    `has_rank` False leaves that field out of tensors, as converters did until about 2021.
    """

    def __init__(self, description, has_rank=True):
        self.description = description
        self.has_rank = has_rank
        self.codes = []  # (operator, version, custom name)
        self.subgraphs = []
        self.buffers = [Table()]

    def subgraph(self, name):
        self.subgraphs.append(Subgraph(self, name))
        return self.subgraphs[-1]

    def buffer(self, data):
        self.buffers.append(Table({0: Vector("B", data, alignment=16) if data else None}))
        return len(self.buffers) - 1

    def operator_code(self, kind, version, custom):
        code = (kind, version, custom)
        if code not in self.codes:
            self.codes.append(code)
        return self.codes.index(code)

    def min_runtime_version(self):
        releases = [OPERATORS[kind][3][version] for kind, version, _ in self.codes]
        return max(releases, key=lambda release: [int(part) for part in release.split(".")])

    def serialize(self):
        main = self.subgraphs[0]
        codes = [
            Table(
                {
                    0: Scalar("b", min(OPERATORS[kind][0], 127)),
                    1: String(custom) if custom else None,
                    2: Scalar("i", version, 1),
                    3: Scalar("i", OPERATORS[kind][0]),
                }
            )
            for kind, version, custom in self.codes
        ]

        def named(indices):
            return References(
                [
                    Table({0: String(main.names[index].split(":")[0]), 1: Scalar("I", index)})
                    for index in indices
                ]
            )

        signature = Table(
            {
                0: named(main.inputs),
                1: named(main.outputs),
                2: String("serving_default"),
            }
        )
        release = self.min_runtime_version().encode("ascii").ljust(16, b"\0")
        metadata = Table({0: String("min_runtime_version"), 1: Scalar("I", self.buffer(release))})
        root = Table(
            {
                0: Scalar("I", 3),
                1: References(codes),
                2: References([subgraph.table() for subgraph in self.subgraphs]),
                3: String(self.description),
                4: References(self.buffers),
                6: References([metadata]),
                7: References([signature]),
            }
        )
        return serialize(root, "TFL3")
