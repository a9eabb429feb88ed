#!/usr/bin/env python3
"""Writes a model with a graph input that is a variable, and another variable that an operator makes:
nothing that a converter would write, but what a file may say.

usage: make_variables_model.py MODEL.tflite
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from model_generator.network import Activation, Network  # noqa: E402

SHAPE = [1, 20, 1, 4]


def variable(net, name):
    index = net.graph.tensor(name, SHAPE, "float32", variable=True)
    return Activation(index, SHAPE, None, None, 0, 1)


net = Network("variables at both ends", seed=3, weights="float32")
given, made = variable(net, "given"), variable(net, "made")
net.graph.inputs.append(given.index)
x = net.apply("TANH", [given.index], net.normal("first", SHAPE))
x = net.apply("TANH", [x.index], net.normal("second", SHAPE))
net.apply("TANH", [x.index], made)
x = net.apply("TANH", [made.index], net.normal("third", SHAPE))
pathlib.Path(sys.argv[1]).write_bytes(net.finish(net.global_mean(x, "mean")))
