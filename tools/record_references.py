#!/usr/bin/env python3
"""Records what stock TensorFlow Lite gives for the shipped models, into models/reference/.

    tools/record_references.py LIBTENSORFLOWLITE_C

LIBTENSORFLOWLITE_C is the shared library of TensorFlow Lite 2.9's C API for 64-bit Linux, as in the
npm package tfjs-tflite-node 0.0.2 (cc_deps/linux_amd64/libtensorflowlite_c.so). No delegate is used:
these are the built-in kernels. models/README.md says how to read what is written.
"""

import ctypes
import pathlib
import shutil
import struct
import sys
import zlib

from model_generator.keep_confident import register
from model_generator.numerics import Random

MODELS = pathlib.Path(__file__).resolve().parent.parent / "models"
FLOAT32, INT32 = 1, 2  # TfLiteType

# Invokes recorded per model, in a row on one interpreter; 1 where nothing is said.
RUNS = {
    "control_flow": 4,  # More and more steps; both branches are taken.
    "custom_op": 3,  # The last one on zeros, where no row is above the threshold.
    "lstm_sequence_int8": 3,
    "resource_variables": 5,
    "svdf_keyword_int8": 10,  # Longer than the first layers remember.
}

# Added to a model's seed: with these inputs no sum of a CONV_2D or FULLY_CONNECTED without RELU, and
# no MEAN, is a tie that kernels round in different directions (models/README.md). ResNet-8 has too
# many to avoid.
SEEDS = {"ds_cnn_kws_int8": 1, "detector_two_outputs_int8": 23, "sound_conv_int8": 27}


class Interpreter:
    def __init__(self, library, path):
        self.library = library
        for name in (
            "ModelCreateFromFile",
            "InterpreterOptionsCreate",
            "InterpreterCreate",
            "InterpreterGetInputTensor",
            "InterpreterGetOutputTensor",
        ):
            getattr(library, "TfLite" + name).restype = ctypes.c_void_p
        library.TfLiteTensorByteSize.restype = ctypes.c_size_t
        options = library.TfLiteInterpreterOptionsCreate()
        library.TfLiteInterpreterOptionsSetNumThreads(ctypes.c_void_p(options), 1)
        self.registration = register(library, options)
        model = library.TfLiteModelCreateFromFile(str(path).encode())
        self.handle = ctypes.c_void_p(
            library.TfLiteInterpreterCreate(ctypes.c_void_p(model), ctypes.c_void_p(options))
        )
        self.call("AllocateTensors")

    def call(self, name):
        if getattr(self.library, "TfLiteInterpreter" + name)(self.handle) != 0:
            raise RuntimeError(name + " failed")

    def tensors(self, direction):
        count = getattr(self.library, "TfLiteInterpreterGet%sTensorCount" % direction)(self.handle)
        get = getattr(self.library, "TfLiteInterpreterGet%sTensor" % direction)
        return [ctypes.c_void_p(get(self.handle, index)) for index in range(count)]

    def size(self, tensor):
        return self.library.TfLiteTensorByteSize(tensor)

    def write(self, tensor, data):
        size = ctypes.c_size_t(len(data))
        if self.library.TfLiteTensorCopyFromBuffer(tensor, data, size) != 0:
            raise RuntimeError("an input was not taken")

    def read(self, tensor):
        data = ctypes.create_string_buffer(self.size(tensor))
        size = ctypes.c_size_t(len(data))
        if self.library.TfLiteTensorCopyToBuffer(tensor, data, size) != 0:
            raise RuntimeError("an output was not given")
        return data.raw


def noise(random, kind, size, run):
    """Uniform over all a quantized type holds, over [-1, 1) for floats; the run's number for int32."""
    if kind == INT32:
        return struct.pack("<%di" % (size // 4), *[run] * (size // 4))
    if kind == FLOAT32:
        values = [float(random.between(-1, 1)) for _ in range(size // 4)]
        return struct.pack("<%df" % len(values), *values)
    return bytes(random.bits() & 0xFF for _ in range(size))


def record(library, path, folder):
    interpreter = Interpreter(library, path)
    random = Random(zlib.crc32(path.stem.encode()) + SEEDS.get(path.stem, 0))
    folder.mkdir(parents=True)
    runs = RUNS.get(path.stem, 1)
    for run in range(1, runs + 1):
        for index, tensor in enumerate(interpreter.tensors("Input")):
            kind, size = library.TfLiteTensorType(tensor), interpreter.size(tensor)
            data = noise(random, kind, size, run)
            if path.stem == "custom_op" and run == runs:
                data = bytes(size)
            interpreter.write(tensor, data)
            (folder / ("run%d.in%d.bin" % (run, index))).write_bytes(data)
        interpreter.call("Invoke")
        for index, tensor in enumerate(interpreter.tensors("Output")):
            (folder / ("run%d.out%d.bin" % (run, index))).write_bytes(interpreter.read(tensor))


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    library = ctypes.CDLL(sys.argv[1])
    shutil.rmtree(MODELS / "reference", ignore_errors=True)
    for path in sorted(MODELS.glob("*.tflite")):
        record(library, path, MODELS / "reference" / path.stem)
    return 0


if __name__ == "__main__":
    sys.exit(main())
