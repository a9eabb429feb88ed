#!/usr/bin/env python3
"""Writes the shipped .tflite models into models/.

    tools/make_models.py            writes every model
    tools/make_models.py --check    writes nothing; exit status 1 if a committed file is not current

Needs only Python 3.8 or later. models/README.md says what each model is for and where its topology
comes from. Weights are pseudo-random (network.py), the same on every machine.
"""

import argparse
import pathlib
import sys

from network import Network
from tflite_builder import NONE, RELU, RELU6, SAME, VALID

MODELS = pathlib.Path(__file__).resolve().parent.parent / "models"


def mobilenet_v1():
    """MobileNetV1 (Howard et al., 2017, table 1), width 0.25, 96x96 RGB, 10 classes."""
    net = Network("MobileNetV1 0.25 96x96 int8", seed=1, batch=-1)
    x = net.input("image", [1, 96, 96, 3], -1, 1)
    x = net.conv(x, "conv1", 8, (3, 3), stride=2, activation=RELU6)
    blocks = [(16, 1), (32, 2), (32, 1), (64, 2), (64, 1), (128, 2), *[(128, 1)] * 5, (256, 2), (256, 1)]
    for number, (depth, stride) in enumerate(blocks, 1):
        x = net.depthwise(x, "block%d/depthwise" % number, stride=stride, activation=RELU6)
        x = net.conv(x, "block%d/pointwise" % number, depth, (1, 1), activation=RELU6)
    x = net.global_mean(x, "pool")
    x = net.conv(x, "logits", 10, (1, 1))
    x = net.reshape(x, "logits/flat", [1, 10])
    return net.finish(net.softmax(x, "probabilities"))


def ds_cnn_kws():
    """DS-CNN small (Zhang et al., "Hello Edge", 2017) as in MLPerf Tiny keyword spotting."""
    net = Network("DS-CNN keyword spotting int8", seed=2, batch=-1)
    x = net.input("mfcc", [1, 49, 10, 1], -100, 50)
    x = net.conv(x, "conv1", 64, (10, 4), stride=2, activation=RELU)
    for number in range(1, 5):
        x = net.depthwise(x, "block%d/depthwise" % number, activation=RELU)
        x = net.conv(x, "block%d/pointwise" % number, 64, (1, 1), activation=RELU)
    x = net.average_pool(x, "pool", (25, 5))
    x = net.reshape(x, "flatten", [1, 64])
    x = net.dense(x, "logits", 12)
    return net.finish(net.softmax(x, "probabilities"))


def resnet8():
    """ResNet-8 (He et al., 2015; three stages of one block) as in MLPerf Tiny image classification."""
    net = Network("ResNet-8 32x32 int8", seed=3, batch=-1)
    x = net.input("image", [1, 32, 32, 3], 0, 255)
    x = net.conv(x, "conv1", 16, (3, 3), activation=RELU)
    for stage, (depth, stride) in enumerate([(16, 1), (32, 2), (64, 2)], 1):
        name = "stage%d/" % stage
        y = net.conv(x, name + "conv1", depth, (3, 3), stride=stride, activation=RELU)
        y = net.conv(y, name + "conv2", depth, (3, 3))
        if stride != 1:
            x = net.conv(x, name + "shortcut", depth, (1, 1), stride=stride)
        x = net.add(x, y, name + "add", activation=RELU)
    x = net.average_pool(x, "pool", (8, 8))
    x = net.reshape(x, "flatten", [1, 64])
    x = net.dense(x, "logits", 10)
    return net.finish(net.softmax(x, "probabilities"))


ALL = {
    "mobilenet_v1_0.25_96_int8": mobilenet_v1,
    "ds_cnn_kws_int8": ds_cnn_kws,
    "resnet8_int8": resnet8,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare with the files, write nothing")
    arguments = parser.parse_args()
    stale = 0
    for name, make in ALL.items():
        path = MODELS / (name + ".tflite")
        data = make()
        current = path.exists() and path.read_bytes() == data
        if not arguments.check:
            path.write_bytes(data)
        elif not current:
            print("%s is not current: run tools/make_models.py" % path.name, file=sys.stderr)
            stale += 1
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
