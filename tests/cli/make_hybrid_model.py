#!/usr/bin/env python3
"""Writes a float model whose pointwise convolutions have int8 weights: each must see its whole input
before it begins, so that row by row every layer runs alone.

usage: make_hybrid_model.py MODEL.tflite
"""
import pathlib
import sys
from fractions import Fraction

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from model_generator.network import Network, constant  # noqa: E402
from model_generator.numerics import to_float32  # noqa: E402
from model_generator.tflite_builder import SAME  # noqa: E402


def pointwise(net, x, name):
    depth = x.shape[3]
    weights, scale = net.random.weights(depth * depth), to_float32(Fraction(1, 100))
    filters = constant(net, name + "/weights", [depth, 1, 1, depth], "int8", weights, [scale])
    bias = net.real_constant(name + "/bias", [depth], [net.small() for _ in range(depth)])
    out = net.result(name, x.shape, 0)
    options = {"padding": SAME, "stride_w": 1, "stride_h": 1}
    return net.apply("CONV_2D", [x.index, filters, bias], out, version=1, **options)


net = Network("hybrid", seed=23, weights="float32")
x = net.conv(net.input("image", [1, 24, 12, 1], -1, 1), "stem", 16, (3, 3))
for number in range(4):
    x = pointwise(net, net.depthwise(x, "depthwise%d" % number), "pointwise%d" % number)
pathlib.Path(sys.argv[1]).write_bytes(net.finish(net.global_mean(x, "mean")))
