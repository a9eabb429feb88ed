"""The shipped models, layer by layer. Used by make_models.py; models/README.md tells their uses.

Every function returns the bytes of one .tflite file.
"""

from fractions import Fraction

from .network import Network
from .numerics import to_float32
from .stateful_layers import lstm, svdf
from .tflite_builder import RELU, RELU6, TYPES, VALID


def mobilenet_v1():
    """MobileNetV1 (Howard et al., 2017, table 1), width 0.25, 96x96 RGB, 10 classes."""
    net = Network("MobileNetV1 0.25 96x96 int8", seed=1, batch=-1, has_rank=False)
    x = net.input("image", [1, 96, 96, 3], -1, 1)
    x = net.conv(x, "conv1", 8, (3, 3), stride=2, activation=RELU6)
    blocks = [
        (16, 1),
        (32, 2),
        (32, 1),
        (64, 2),
        (64, 1),
        (128, 2),
        *[(128, 1)] * 5,
        (256, 2),
        (256, 1),
    ]
    for number, (depth, stride) in enumerate(blocks, 1):
        x = net.depthwise(x, "block%d/depthwise" % number, stride=stride, activation=RELU6)
        x = net.conv(x, "block%d/pointwise" % number, depth, (1, 1), activation=RELU6)
    x = net.global_mean(x, "pool")
    x = net.conv(x, "logits", 10, (1, 1))
    x = net.reshape(x, "logits/flat", [1, 10])
    return net.finish(net.softmax(x, "probabilities"))


def ds_cnn_kws():
    """DS-CNN small (Zhang et al., "Hello Edge", 2017) as in MLPerf Tiny keyword spotting."""
    net = Network("DS-CNN keyword spotting int8", seed=2, batch=-1, has_rank=False)
    x = net.input("mfcc", [1, 49, 10, 1], -100, 50)
    x = net.conv(x, "conv1", 64, (10, 4), stride=2, activation=RELU)
    for number in range(1, 5):
        x = net.depthwise(x, "block%d/depthwise" % number, activation=RELU)
        x = net.conv(x, "block%d/pointwise" % number, 64, (1, 1), activation=RELU)
    x = net.average_pool(x, "pool")
    x = net.reshape(x, "flatten", [1, 64])
    x = net.dense(x, "logits", 12)
    return net.finish(net.softmax(x, "probabilities"))


def resnet8():
    """ResNet-8 (He et al., 2015; stages of one block) as in MLPerf Tiny image classification."""
    net = Network("ResNet-8 32x32 int8", seed=3, batch=-1, has_rank=False)
    x = net.input("image", [1, 32, 32, 3], 0, 255)
    x = net.conv(x, "conv1", 16, (3, 3), activation=RELU)
    for stage, (depth, stride) in enumerate([(16, 1), (32, 2), (64, 2)], 1):
        name = "stage%d/" % stage
        y = net.conv(x, name + "conv1", depth, (3, 3), stride=stride, activation=RELU)
        y = net.conv(y, name + "conv2", depth, (3, 3))
        if stride != 1:
            x = net.conv(x, name + "shortcut", depth, (1, 1), stride=stride)
        x = net.add(x, y, name + "add", activation=RELU)
    x = net.average_pool(x, "pool")
    x = net.reshape(x, "flatten", [1, 64])
    x = net.dense(x, "logits", 10)
    return net.finish(net.softmax(x, "probabilities"))


def svdf_keyword():
    """A streaming keyword spotter of SVDF layers, as in TFLM's micro_speech successors."""
    net = Network("SVDF keyword spotting int8", seed=4)
    x = net.input("features", [1, 40], -1, 1, kind="int16")
    x = net.quantize(x, "features/int8", to_float32(Fraction(2, 255)), 0)
    for number, (units, rank, memory) in enumerate([(64, 1, 8), (64, 1, 8), (32, 2, 32)], 1):
        x = svdf(net, x, "svdf%d" % number, units, rank, memory)
        x = (
            net.dense(x, "bottleneck%d" % number, 16)
            if number < 3
            else net.dense(x, "logits", 4, gain=2)
        )
    x = net.softmax(x, "probabilities/int8")
    return net.finish(net.dequantize(x, "probabilities"))


def lstm_sequence():
    """An LSTM over 16 steps, its last step and a classifier: Keras' LSTM and Dense, converted."""
    net = Network("LSTM sequence classifier int8", seed=5)
    real = net.input("sequence", [1, 16, 20], -1, 1, kind="float32")
    x = net.quantize(real, "sequence/int8", to_float32(Fraction(2, 255)), -1)
    x = lstm(net, x, "lstm", 24)
    x = net.last_step(x, "last")
    x = net.dense(x, "logits", 10, gain=2)
    x = net.softmax(x, "probabilities/int8")
    return net.finish(net.dequantize(x, "probabilities"))


def sound_conv():
    """1-D convolutions over raw samples (Dai et al., "Very Deep CNNs for Raw Waveforms", 2016).

    Every one is a Conv1D of Keras, as converted: a CONV_2D of height 1 between two RESHAPE.
    """
    net = Network("1-D convolutions over raw samples, int8", seed=12)
    x = net.input("samples", [1, 4000, 1], -1, 1)
    layers = [(32, 80, 4), (64, 8, 4), (64, 3, 2), (64, 3, 2)]
    for number, (depth, taps, stride) in enumerate(layers, 1):
        name = "conv%d" % number
        if number > 1:
            x = net.reshape(x, name + "/squeezed", [1, *x.shape[2:]])
        x = net.reshape(x, name + "/expanded", [1, 1, *x.shape[1:]])
        x = net.conv(x, name, depth, (1, taps), stride=stride, activation=RELU)
    x = net.global_mean(x, "pool")
    x = net.reshape(x, "flatten", [1, 64])
    x = net.dense(x, "logits", 10, gain=2)
    return net.finish(net.softmax(x, "probabilities"))


def detector():
    """SSD with separable heads on two scales (Liu et al., 2016; Sandler et al., 2018)."""
    net = Network("SSD detector, two outputs, int8", seed=6)
    image = net.input("image", [1, 64, 64, 3], -1, 1, kind="uint8")
    x = net.quantize(image, "image/int8", image.scale, image.zero_point - 128)
    x = net.pad(x, "conv1/pad", 0, 1, 0, 1)
    x = net.conv(x, "conv1", 16, (3, 3), stride=2, padding=VALID, activation=RELU6)
    levels = []
    for number, (depth, stride) in enumerate([(24, 1), (32, 2), (48, 2), (64, 2)], 1):
        x = net.depthwise(x, "block%d/depthwise" % number, stride=stride, activation=RELU6)
        x = net.conv(x, "block%d/pointwise" % number, depth, (1, 1), activation=RELU6)
        levels.append(x)
    anchors, outputs = 3, []
    for head, numbers in [("boxes", 4), ("scores", 5)]:
        parts = []
        for level, x in zip("ab", levels[2:]):
            name = "%s/%s/" % (head, level)
            cells = x.shape[1] * x.shape[2]
            x = net.depthwise(x, name + "depthwise", activation=RELU6)
            like = parts[0] if parts else None  # CONCATENATION wants its inputs stored alike.
            x = net.conv(x, name + "conv", anchors * numbers, (1, 1), like=like)
            parts.append(net.reshape(x, name + "flat", [1, cells * anchors, numbers]))
        x = net.concat(parts, head + "/int8", axis=1)
        if head == "scores":
            x = net.logistic(x, "scores/logistic")
        outputs.append(net.dequantize(x, head))
    return net.finish(*outputs)


def segmentation():
    """A small U-Net (Ronneberger et al., 2015) of separable layers, with float16 weights."""
    net = Network("U-Net segmentation, float16 weights", seed=7, weights="float16")
    x = net.input("image", [1, 48, 48, 3], -1, 1)
    x = net.pad(x, "conv1/pad", 0, 1, 0, 1)
    x = net.conv(x, "conv1", 8, (3, 3), stride=2, padding=VALID, activation=RELU6)
    skips = []
    for number, depth in enumerate([16, 32], 1):
        skips.append(x)
        x = net.depthwise(x, "down%d/depthwise" % number, stride=2, activation=RELU6)
        x = net.conv(x, "down%d/pointwise" % number, depth, (1, 1), activation=RELU6)
    for number in (2, 1):
        skip = skips.pop()
        name = "up%d/" % number
        x = net.resize_bilinear(x, name + "resize", skip.shape[1], skip.shape[2])
        x = net.conv(x, name + "pointwise", skip.shape[3], (1, 1))
        x = net.add(skip, x, name + "add", activation=RELU)
        x = net.depthwise(x, name + "depthwise", activation=RELU6)
    x = net.transpose_conv(x, "mask/logits", 1, 2)
    return net.finish(net.logistic(x, "mask"))


def control_flow():
    """A recurrent cell iterated `steps` times by WHILE; IF then picks one of two classifiers."""
    net = Network("WHILE and IF, float32", seed=8, weights="float32")
    main, size = net.graph, 32
    x = net.input("x", [1, size], -1, 1)
    steps = net.integer("steps", [], graph_input=True)
    start = net.integers("start", [0], shape=[])
    zeros = net.real_constant("zeros", [1, size], [Fraction(0)] * size)

    def enter(name):
        """Starts a loop subgraph; its inputs are what the loop carries."""
        net.graph = net.model.subgraph(name)
        count = net.integer("count", [], graph_input=True)
        limit = net.integer("limit", [], graph_input=True)
        return count, limit, net.input("x", [1, size], -1, 1), net.input("state", [1, size], -1, 1)

    count, limit, _, _ = enter("loop_condition")
    more = net.graph.tensor("more", [], "bool")
    net.graph.operator("LESS", [count, limit], [more])
    net.graph.outputs = [more]

    count, limit, x_in, state = enter("loop_body")
    one = net.integers("one", [1], shape=[])
    following = net.integer("next", [])
    net.graph.operator("ADD", [count, one], [following])
    state = net.dense(state, "recurrent", size)
    state = net.tanh(net.add(state, x_in, "sum"), "new_state")
    net.graph.outputs = [following, limit, x_in.index, state.index]

    branches = []
    for name in ("deep", "shallow"):
        net.graph = net.model.subgraph(name)
        branches.append(len(net.model.subgraphs) - 1)
        y = net.input("state", [1, size], -1, 1)
        if name == "deep":
            y = net.dense(y, "hidden", 16, activation=RELU)
        y = net.dense(y, "logits", 10)
        net.graph.outputs = [y.index]

    net.graph = main
    carried = [
        net.integer("loop/count", []),
        net.integer("loop/limit", []),
        net.like("loop/x", x.shape, x).index,
        net.like("loop/state", x.shape, x).index,
    ]
    main.operator(
        "WHILE", [start, steps, x.index, zeros], carried, cond_subgraph=1, body_subgraph=2
    )
    mean = main.tensor("mean", [], "float32")
    main.operator("MEAN", [carried[3], net.integers("mean/axes", [0, 1])], [mean])
    positive = main.tensor("positive", [], "bool")
    main.operator("GREATER", [mean, net.real_constant("zero", [], [Fraction(0)])], [positive])
    logits = net.normal("logits", [1, 10])
    main.operator(
        "IF",
        [positive, carried[3]],
        [logits.index],
        then_subgraph=branches[0],
        else_subgraph=branches[1],
    )
    return net.finish(net.softmax(logits, "probabilities"))


def resource_variables():
    """A classifier of a running average: resource variables that a subgraph sets at the first run.

    average := average + 1/4 (x - average), in a variable that CALL_ONCE sets to 1/2; a second one
    counts the runs. Each subgraph has handles of its own to them.
    """
    net = Network("CALL_ONCE and resource variables", seed=11, weights="float32")
    main, size = net.graph, 24
    x = net.input("x", [1, size], -1, 1)
    main.operator("CALL_ONCE", [], [], init_subgraph_index=1)

    def handle(name):
        index = net.graph.tensor(name + "/handle", [], "resource")
        net.graph.operator("VAR_HANDLE", [], [index], container="", shared_name=name)
        return index

    def read(index, name, shape, kind):
        value = net.graph.tensor(name, shape, kind)
        net.graph.operator("READ_VARIABLE", [index], [value])
        return value

    net.graph = net.model.subgraph("initialize")
    start = net.real_constant("average/start", [1, size], [Fraction(1, 2)] * size)
    net.graph.operator("ASSIGN_VARIABLE", [handle("average"), start], [])
    net.graph.operator("ASSIGN_VARIABLE", [handle("runs"), net.integers("zero", [0], shape=[])], [])

    net.graph = main
    average = handle("average")
    before = read(average, "average/before", [1, size], "float32")
    difference = main.tensor("difference", [1, size], "float32")
    main.operator("SUB", [x.index, before], [difference])
    step = main.tensor("step", [1, size], "float32")
    main.operator("MUL", [difference, net.real_constant("quarter", [], [Fraction(1, 4)])], [step])
    after = net.activation("average/after", [1, size], None, None, Fraction(0), Fraction(1, 12))
    main.operator("ADD", [before, step], [after.index])
    main.operator("ASSIGN_VARIABLE", [average, after.index], [])

    runs = handle("runs")
    count = net.integer("runs/before", [])
    main.operator("READ_VARIABLE", [runs], [count])
    counted = net.integer("runs/after", [])
    main.operator("ADD", [count, net.integers("one", [1], shape=[])], [counted])
    main.operator("ASSIGN_VARIABLE", [runs, counted], [])
    probabilities = net.softmax(net.dense(after, "logits", 6), "probabilities")
    net.finish(probabilities)
    main.outputs.append(counted)
    return net.model.serialize()


def custom_op():
    """Scores per cell, of which the custom operator KeepConfident keeps some rows; then their mean.

    KeepConfident(rows [n, c], threshold []) -> [k, c]: the rows whose first value is above the
    threshold, in order; if there is none, the first row with the largest first value. How many
    there are depends on the values, so the output's shape, and even its rank, is left open.
    """
    net = Network("Custom operator with an output of unknown shape", seed=9, weights="float32")
    x = net.input("image", [1, 16, 16, 3], -1, 1)
    x = net.conv(x, "conv1", 8, (3, 3), stride=2, activation=RELU6)
    x = net.conv(x, "conv2", 4, (1, 1))
    x = net.logistic(net.reshape(x, "cells", [64, 4]), "scores")
    kept = net.graph.tensor("kept", None, "float32")
    net.graph.operator(
        "CUSTOM",
        [x.index, net.real_constant("threshold", [], [Fraction(3, 4)])],
        [kept],
        custom="KeepConfident",
    )
    mean = net.activation("kept/mean", [1, 4], None, None, Fraction(1, 2), Fraction(1, 30))
    net.graph.operator(
        "MEAN", [kept, net.integers("kept/mean/axes", [0])], [mean.index], keep_dims=True
    )
    probabilities = net.softmax(net.dense(mean, "logits", 3), "probabilities")
    net.finish(probabilities)
    net.graph.outputs.append(kept)
    return net.model.serialize()


def dynamic_shape():
    """A float classifier of open batch that computes what it reshapes to, as Keras' Reshape does.

    The RESHAPE's output is [batch, 49, 16], but the converter only knows [-1, -1, 16] and stores 1
    for what it does not know.
    """
    net = Network("Shapes known at run time only, float32", seed=10, weights="float32", batch=-1)
    x = net.input("image", [1, 28, 28, 1], -1, 1)
    for number, depth in enumerate([8, 16], 1):
        x = net.conv(x, "conv%d" % number, depth, (3, 3), activation=RELU)
        x = net.max_pool(x, "pool%d" % number, 2)

    shape = net.integer("shape", [4])
    net.graph.operator("SHAPE", [x.index], [shape], out_type=TYPES["int32"][0])
    bounds = [
        net.integers("batch/" + what, [value])
        for what, value in [("begin", 0), ("end", 1), ("strides", 1)]
    ]
    batch = net.integer("batch", [])
    net.graph.operator("STRIDED_SLICE", [shape, *bounds], [batch], shrink_axis_mask=1)
    target = net.integer("target", [3])
    rest, depth = net.integers("target/rest", [-1], shape=[]), net.integers(
        "target/depth", [16], shape=[]
    )
    net.graph.operator("PACK", [batch, rest, depth], [target], values_count=3, axis=0)
    cells = net.graph.tensor("cells", [1, 1, 16], "float32", signature=[-1, -1, 16])
    net.graph.operator("RESHAPE", [x.index, target], [cells])

    mean = net.activation("mean", [1, 16], None, None, x.mean, to_float32(x.variance / 20))
    net.graph.operator("MEAN", [cells, net.integers("mean/axes", [1])], [mean.index])
    return net.finish(net.softmax(net.dense(mean, "logits", 10), "probabilities"))


ALL = {
    "mobilenet_v1_0.25_96_int8": mobilenet_v1,
    "ds_cnn_kws_int8": ds_cnn_kws,
    "resnet8_int8": resnet8,
    "svdf_keyword_int8": svdf_keyword,
    "lstm_sequence_int8": lstm_sequence,
    "sound_conv_int8": sound_conv,
    "detector_two_outputs_int8": detector,
    "segmentation_float16": segmentation,
    "control_flow": control_flow,
    "resource_variables": resource_variables,
    "custom_op": custom_op,
    "dynamic_shape": dynamic_shape,
}
