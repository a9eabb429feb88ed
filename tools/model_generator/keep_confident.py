"""The custom operator of custom_op.tflite, for stock TensorFlow Lite 2.9 through its C API.

Used by record_references.py. KeepConfident(rows [n, c], threshold []) -> [k, c]: the rows whose
first value is above the threshold, in their order; if there is none, the first one with the largest
first value. All float32. The structures below are the beginnings of TensorFlow Lite 2.9's
TfLiteContext, TfLiteNode, TfLiteTensor and TfLiteRegistration on a 64-bit machine.
"""

import ctypes

KERNEL = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
DYNAMIC = 4  # kTfLiteDynamic


class IntArray(ctypes.Structure):
    _fields_ = [("size", ctypes.c_int), ("data", ctypes.c_int * 8)]


class Tensor(ctypes.Structure):
    _fields_ = [
        ("type", ctypes.c_int),
        ("data", ctypes.POINTER(ctypes.c_float)),
        ("dims", ctypes.POINTER(IntArray)),
        ("scale", ctypes.c_float),
        ("zero_point", ctypes.c_int32),
        ("allocation_type", ctypes.c_int),
        ("bytes", ctypes.c_size_t),
        ("rest", ctypes.c_byte * 64),
    ]


RESIZE = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(Tensor), ctypes.POINTER(IntArray)
)


class Context(ctypes.Structure):
    _fields_ = [
        ("tensors_size", ctypes.c_size_t),
        ("get_execution_plan", ctypes.c_void_p),
        ("tensors", ctypes.POINTER(Tensor)),
        ("implementation", ctypes.c_void_p),
        ("resize_tensor", RESIZE),
    ]


class Node(ctypes.Structure):
    _fields_ = [("inputs", ctypes.POINTER(IntArray)), ("outputs", ctypes.POINTER(IntArray))]


class Registration(ctypes.Structure):
    _fields_ = [
        ("init", ctypes.c_void_p),
        ("free", ctypes.c_void_p),
        ("prepare", KERNEL),
        ("invoke", KERNEL),
        ("rest", ctypes.c_byte * 64),
    ]


def keep_confident(rows, threshold):
    """The operator itself, on a list of rows."""
    kept = [row for row in rows if row[0] > threshold]
    return kept or [max(rows, key=lambda row: row[0])]


def register(library, options):
    """Adds the operator to a TfLiteInterpreterOptions; keep the result as long as those live."""
    library.TfLiteIntArrayCreate.restype = ctypes.POINTER(IntArray)

    def tensors(context, node):
        context = ctypes.cast(context, ctypes.POINTER(Context)).contents
        node = ctypes.cast(node, ctypes.POINTER(Node)).contents
        indices = [node.inputs.contents.data[0], node.inputs.contents.data[1]]
        return context, *(context.tensors[i] for i in [*indices, node.outputs.contents.data[0]])

    def prepare(context, node):
        _, _, _, out = tensors(context, node)
        out.allocation_type = DYNAMIC
        return 0

    def invoke(context_pointer, node):
        context, rows, threshold, out = tensors(context_pointer, node)
        count, width = rows.dims.contents.data[0], rows.dims.contents.data[1]
        values = [rows.data[row * width : (row + 1) * width] for row in range(count)]
        kept = keep_confident(values, threshold.data[0])
        dims = library.TfLiteIntArrayCreate(2)
        dims.contents.data[0], dims.contents.data[1] = len(kept), width
        if context.resize_tensor(context_pointer, ctypes.byref(out), dims) != 0:
            return 1
        for place, value in enumerate(value for row in kept for value in row):
            out.data[place] = value
        return 0

    registration = Registration(prepare=KERNEL(prepare), invoke=KERNEL(invoke))
    library.TfLiteInterpreterOptionsAddCustomOp(
        ctypes.c_void_p(options), b"KeepConfident", ctypes.byref(registration), 1, 1
    )
    return registration
