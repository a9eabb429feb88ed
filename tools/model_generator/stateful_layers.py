"""The layers that keep a state between invokes, in variable tensors: SVDF and LSTM.

Used by topologies.py; like the layers of network.py, which this builds on, they scale their
weights so that nothing saturates. Everything is int8 but for the 16-bit states.
"""

from fractions import Fraction

from .network import constant, flat
from .numerics import nearest, square_root, to_float32
from .tflite_builder import RELU, TANH, Quantization

ABSENT = -1  # An optional input that is not there.


def matrix(net, name, rows, columns, variance, gain, kind="int8"):
    """Constant weights of one scale that give gain^2 as variance for inputs of `variance`.

    Returns the tensor, its scale, and the integer weights by row.
    """
    values = [net.random.weights(columns) for _ in range(rows)]
    if kind == "int16":
        values = [[258 * value for value in row] for row in values]
    energy = Fraction(sum(value * value for value in flat(values, axis=0)), rows)
    scale = to_float32(gain / square_root(variance * energy))
    stored = flat(values, axis=0)
    return constant(net, name, [rows, columns], kind, stored, [scale]), scale, values


def bias_tensor(net, name, step, values):
    """An int32 bias in units of `step`."""
    stored = [nearest(value / step) for value in values]
    return constant(net, name, [len(values)], "int32", stored, [step])


def variable(net, name, shape, kind, scale, zero_point=0):
    quantization = Quantization([scale], [zero_point])
    return net.graph.tensor(name, shape, kind, quantization=quantization, variable=True)


def svdf(net, x, name, units, rank, memory):
    """Per unit, a filter of rank `rank` over the last `memory` inputs, then RELU.

    The state holds what each filter gave for the last inputs. Source: Nakkiran et al., "Compressing
    Deep Neural Networks using a Rank-Constrained Topology", 2015.
    """
    filters = units * rank
    feature, feature_scale, features = matrix(
        net, name + "/feature", filters, x.shape[-1], x.variance, gain=1
    )
    time, time_scale, times = matrix(
        net, name + "/time", filters, memory, Fraction(rank), gain=1, kind="int16"
    )
    state_scale = to_float32(Fraction(6, 32767))
    # The bias takes away what the mean of x adds up to in each unit.
    means = [x.mean * feature_scale * sum(f) * time_scale * sum(t) for f, t in zip(features, times)]
    biases = [-sum(means[unit * rank : (unit + 1) * rank]) for unit in range(units)]
    bias = bias_tensor(net, name + "/bias", to_float32(state_scale * time_scale), biases)
    state = variable(net, name + "/state", [1, filters * memory], "int16", state_scale)
    out = net.rectified(name, [1, units], RELU)
    inputs = [x.index, feature, time, bias, state]
    return net.apply("SVDF", inputs, out, version=3, rank=rank, activation=RELU)


def lstm(net, x, name, units):
    """UNIDIRECTIONAL_SEQUENCE_LSTM over x [1, time, features], without peepholes or projection."""
    gates = ["input", "forget", "cell", "output"]
    # Around zero: TensorFlow Lite 2.9 takes the hidden state's zero point away where it should add
    # it, so with any other its results would be no reference.
    hidden_scale, hidden_zero = to_float32(Fraction(1, 127)), 0
    hidden_variance = Fraction(1, 10)  # About what tanh times a gate gives.

    # Shares of 16/25 and 9/25 make the sum's variance 1.
    input_weights, biases, hidden_weights = [], [], []
    for gate in gates:
        index, scale, rows = matrix(
            net, name + "/input_to_" + gate, units, x.shape[-1], x.variance, gain=Fraction(4, 5)
        )
        input_weights.append(index)
        base = Fraction(1 if gate == "forget" else 0)  # Forget little at first, as usual.
        values = [base + net.small() - x.mean * scale * sum(row) for row in rows]
        step = to_float32(x.scale * scale)
        biases.append(bias_tensor(net, name + "/" + gate + "_bias", step, values))
        index, _, _ = matrix(
            net, name + "/hidden_to_" + gate, units, units, hidden_variance, gain=Fraction(3, 5)
        )
        hidden_weights.append(index)

    hidden = variable(net, name + "/hidden", [1, units], "int8", hidden_scale, hidden_zero)
    cell = variable(net, name + "/cell", [1, units], "int16", Fraction(1, 4096))
    # Only a layer-normalising LSTM uses the first four; kernels want the fifth's scale.
    intermediates = [
        net.graph.tensor(name + "/" + gate + "_intermediate", [0], "float32") for gate in gates
    ]
    quantization = Quantization([hidden_scale], [hidden_zero])
    intermediates.append(
        net.graph.tensor(name + "/hidden_intermediate", [0], "int8", quantization=quantization)
    )
    shape = [*x.shape[:2], units]
    out = net.activation(name, shape, hidden_scale, hidden_zero, Fraction(0), hidden_variance)
    peepholes, projection, normalisation = [ABSENT] * 3, [ABSENT] * 2, [ABSENT] * 4
    inputs = [x.index, *input_weights, *hidden_weights, *peepholes, *biases, *projection]
    inputs += [hidden, cell, *normalisation]
    return net.apply(
        "UNIDIRECTIONAL_SEQUENCE_LSTM", inputs, out, activation=TANH, intermediates=intermediates
    )
