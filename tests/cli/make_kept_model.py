#!/usr/bin/env python3
"""Writes two models that differ in their outputs only: one as it should be, one whose conversion kept
every tensor as an output. The second also has a branch whose result nobody uses.

usage: make_kept_model.py GOOD.tflite KEPT.tflite UNUSED.tflite
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from model_generator.network import Network  # noqa: E402
from model_generator.tflite_builder import RELU  # noqa: E402


def model(kept, unused):
    net = Network("small", seed=7)
    x = net.input("image", [1, 16, 16, 3], 0, 255)
    layers = []
    for number in range(20):
        x = net.conv(x, "conv%d" % number, 8, (3, 3), activation=RELU)
        layers.append(x)
    if unused:
        for number in range(3):
            net.conv(layers[2 * number], "side%d" % number, 32, (3, 3), activation=RELU)
    return net.finish(*(layers if kept else layers[-1:]))


for name, kept, unused in zip(sys.argv[1:], (False, True, False), (False, False, True)):
    pathlib.Path(name).write_bytes(model(kept, unused))
