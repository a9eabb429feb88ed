#!/usr/bin/env python3
"""Writes an LSTM whose input has more bytes than its output, which may so lie at either end of it.

usage: make_lstm_model.py MODEL.tflite
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from model_generator.network import Network  # noqa: E402
from model_generator.stateful_layers import lstm  # noqa: E402

net = Network("an LSTM over 28 steps", seed=3)
x = lstm(net, net.input("sequence", [1, 28, 28], -1, 1), "lstm", 20)
x = net.dense(net.reshape(x, "flatten", [1, 560]), "logits", 10)
pathlib.Path(sys.argv[1]).write_bytes(net.finish(net.softmax(x, "probabilities")))
