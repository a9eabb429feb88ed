"""Layers with pseudo-random weights, as a trained and converted network would hold them.

Used by make_models.py; writes through tflite_builder.py. A layer's weights are drawn, then scaled
per output channel so that its output has variance 1 and a mean near 0 for inputs of the expected
mean and variance: what training with batch normalisation, folded into the weights, does. The
expectation is carried from layer to layer in the activations, so quantization ranges follow from
it and no layer saturates, whatever the depth. It takes the positions of a window as independent
(He et al., "Delving Deep into Rectifiers", 2015, section 2.2, with the mean taken along).

The same code gives the same bytes everywhere: weights come from SplitMix64 (Steele et al., "Fast
Splittable Pseudorandom Number Generators", 2014), statistics and scales are rationals rounded to
float32 at each step, and square roots are integer square roots.
"""

import math
import struct
from fractions import Fraction

from tflite_builder import NONE, RELU, RELU6, SAME, Model, Quantization

# Mean and variance of max(0, x) for x normal with mean 0 and variance 1. RELU6 differs by < 1e-6.
RELU_MEAN, RELU_VARIANCE = Fraction(398942, 10**6), Fraction(340845, 10**6)


def to_float32(value):
    """The float32 nearest to a rational, as a rational."""
    return Fraction(struct.unpack("<f", struct.pack("<f", value.numerator / value.denominator))[0])


def square_root(value):
    """The square root of a rational to about 60 bits."""
    shift = 1 << 64
    root = math.isqrt(value.numerator * value.denominator * shift * shift)
    return Fraction(root, value.denominator * shift)


def nearest(value):
    """The nearest integer, halves away from zero."""
    magnitude = math.floor(abs(value) + Fraction(1, 2))
    return magnitude if value >= 0 else -magnitude


class Random:
    """SplitMix64."""

    def __init__(self, seed):
        self.state = seed

    def bits(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & 0xFFFFFFFFFFFFFFFF
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & 0xFFFFFFFFFFFFFFFF
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & 0xFFFFFFFFFFFFFFFF
        return z ^ (z >> 31)

    def between(self, low, high):
        """A rational in [low, high)."""
        return low + (high - low) * Fraction(self.bits() >> 44, 1 << 20)

    def bell(self):
        """An integer in [-131070, 131070], near normal: the sum of four uniform ones."""
        z = self.bits()
        return (z & 0xFFFF) + (z >> 16 & 0xFFFF) + (z >> 32 & 0xFFFF) + (z >> 48) - 131070


class Activation:
    """A tensor between layers: where it is, how it is stored, and what values it is expected to hold.

    `scale` and `zero_point` are None in float networks; `mean` and `variance` are of real values.
    """

    def __init__(self, index, shape, scale, zero_point, mean, variance):
        self.index = index
        self.shape = shape
        self.scale = scale
        self.zero_point = zero_point
        self.mean = mean
        self.variance = variance


class Network:
    """A model under construction, layer by layer, in its main subgraph.

    `weights` is int8 (all tensors quantized), float32, or float16 (stored as half precision and
    expanded by DEQUANTIZE operators, as the converter does for a float network). With `batch` -1
    every tensor's shape_signature leaves the batch open, and has_rank is left out: LiteRT takes -1
    together with has_rank for a shape that the caller must set before it can run.
    """

    def __init__(self, description, seed, weights="int8", batch=1):
        self.model = Model(description, has_rank=batch == 1)
        self.graph = self.model.subgraph("main")
        self.random = Random(seed)
        self.weights = weights
        self.batch = batch
        self.kind = "int8" if weights == "int8" else "float32"

    # ---- Tensors

    def signature(self, shape):
        return [self.batch, *shape[1:]] if self.batch != 1 else None

    def activation(self, name, shape, scale, zero_point, mean, variance, kind=None):
        """A new tensor; `scale` None in float networks."""
        quantization = Quantization([scale], [zero_point]) if scale else None
        index = self.graph.tensor(name, shape, kind or self.kind, quantization=quantization,
                                  signature=self.signature(shape))  # fmt: skip
        return Activation(index, shape, scale, zero_point, mean, variance)

    def ranged(self, name, shape, low, high, mean, variance):
        """A new tensor whose int8 values span about [low, high], which includes 0."""
        if self.kind == "float32":
            return self.activation(name, shape, None, None, mean, variance)
        scale = to_float32((high - low) / 255)
        return self.activation(name, shape, scale, nearest(-128 - low / scale), mean, variance)

    def normal(self, name, shape, variance=Fraction(1)):
        """A new tensor for values of mean 0 that are both negative and positive."""
        reach = square_root(variance)
        low, high = (reach * self.random.between(Fraction(7, 2), Fraction(9, 2)) for _ in range(2))
        return self.ranged(name, shape, -low, high, Fraction(0), variance)

    def rectified(self, name, shape, activation):
        """A new tensor for what RELU or RELU6 leaves of values of mean 0 and variance 1."""
        high = Fraction(6)
        if activation == RELU:
            high = self.random.between(Fraction(4), Fraction(5))
        return self.ranged(name, shape, Fraction(0), high, RELU_MEAN, RELU_VARIANCE)

    def like(self, name, shape, x):
        """A new tensor that is stored as x is and holds the same kind of values."""
        return self.activation(name, shape, x.scale, x.zero_point, x.mean, x.variance)

    def integers(self, name, values, shape=None):
        """A constant int32 tensor: an operator's axes, sizes or paddings."""
        shape = shape if shape is not None else [len(values)]
        return self.graph.tensor(name, shape, "int32", data=values)

    def input(self, name, shape, low, high, kind=None):
        """The graph's input: uniform noise over [low, high] is what the layers expect."""
        mean, variance = Fraction(low + high, 2), Fraction((high - low) ** 2, 12)
        kind = kind or self.kind
        scale = zero_point = None
        if kind != "float32":
            scale = to_float32(Fraction(high - low, 65535 if kind == "int16" else 255))
            smallest = {"int8": -128, "uint8": 0, "int16": -32768}[kind]
            zero_point = 0 if kind == "int16" else nearest(smallest - low / scale)
        x = self.activation(name, shape, scale, zero_point, mean, variance, kind)
        self.graph.inputs.append(x.index)
        return x

    # ---- Weights

    def channel(self, count):
        """`count` weights as integers in [-127, 127] that reach at least one of the ends."""
        drawn = [self.random.bell() for _ in range(count)]
        largest = max(1, max(abs(value) for value in drawn))
        # Halves away from zero, in integers.
        return [
            (254 * abs(value) + largest) // (2 * largest) * (1 if value >= 0 else -1)
            for value in drawn
        ]

    def filter_tensors(self, name, shape, axis, channels, x, per_channel=True, gain=1):
        """Constant weights and bias; returns their tensor indices.

        `channels` holds the integer weights of each output channel, of which all those scaled by
        one number have variance `gain` squared at the output for inputs such as x.
        """
        energies = [sum(weight * weight for weight in channel) for channel in channels]
        if not per_channel:
            energies = [Fraction(sum(energies), len(energies))] * len(energies)
        spread = square_root(x.variance)
        scales = [to_float32(gain / (spread * square_root(Fraction(e)))) for e in energies]
        biases = [
            self.random.between(Fraction(-1, 4), Fraction(1, 4)) * gain - x.mean * scale * sum(channel)
            for scale, channel in zip(scales, channels)
        ]
        if axis == 0:
            stored = [weight for channel in channels for weight in channel]
            stored_scales = [s for s, channel in zip(scales, channels) for _ in channel]
        else:  # The channel is the innermost dimension.
            stored = [weight for group in zip(*channels) for weight in group]
            stored_scales = scales * (len(stored) // len(scales))

        if self.kind == "int8":
            used = scales if per_channel else scales[:1]
            weights = self.graph.tensor(
                name + "/weights", shape, "int8", data=stored,
                quantization=Quantization(used, [0] * len(used), axis if per_channel else 0))  # fmt: skip
            steps = [to_float32(x.scale * scale) for scale in scales]
            used = steps if per_channel else steps[:1]
            bias = self.graph.tensor(
                name + "/bias", [len(biases)], "int32",
                data=[nearest(value / step) for value, step in zip(biases, steps)],
                quantization=Quantization(used, [0] * len(used), 0))  # fmt: skip
            return weights, bias
        real = [weight * float(scale) for weight, scale in zip(stored, stored_scales)]
        return (self.real_constant(name + "/weights", shape, real),
                self.real_constant(name + "/bias", [len(biases)], [float(to_float32(b)) for b in biases]))  # fmt: skip

    def real_constant(self, name, shape, values):
        """A float constant, through a DEQUANTIZE operator in a float16 network."""
        if self.weights == "float32":
            return self.graph.tensor(name, shape, "float32", data=values)
        half = self.graph.tensor(name + "/float16", shape, "float16", data=values)
        full = self.graph.tensor(name, shape, "float32")
        self.graph.operator("DEQUANTIZE", [half], [full], version=3)
        return full

    # ---- Layers with weights

    def result(self, name, shape, activation):
        return self.normal(name, shape) if activation == NONE else self.rectified(name, shape, activation)

    def conv(self, x, name, depth, kernel, stride=1, padding=SAME, activation=NONE):
        height, width, channels = x.shape[1:]
        filters = [self.channel(kernel[0] * kernel[1] * channels) for _ in range(depth)]
        weights, bias = self.filter_tensors(name, [depth, *kernel, channels], 0, filters, x)
        out = self.result(name, [1, *window(height, width, kernel, stride, padding), depth], activation)
        self.graph.operator("CONV_2D", [x.index, weights, bias], [out.index],
                            version=3 if self.kind == "int8" else 1, padding=padding,
                            stride_w=stride, stride_h=stride, activation=activation)  # fmt: skip
        return out

    def depthwise(self, x, name, kernel=(3, 3), stride=1, padding=SAME, activation=NONE):
        height, width, channels = x.shape[1:]
        filters = [self.channel(kernel[0] * kernel[1]) for _ in range(channels)]
        weights, bias = self.filter_tensors(name, [1, *kernel, channels], 3, filters, x)
        out = self.result(name, [1, *window(height, width, kernel, stride, padding), channels], activation)
        self.graph.operator("DEPTHWISE_CONV_2D", [x.index, weights, bias], [out.index],
                            version=3 if self.kind == "int8" else 1, padding=padding,
                            stride_w=stride, stride_h=stride, depth_multiplier=1,
                            activation=activation)  # fmt: skip
        return out

    def dense(self, x, name, units, activation=NONE, gain=1):
        filters = [self.channel(x.shape[-1]) for _ in range(units)]
        weights, bias = self.filter_tensors(name, [units, x.shape[-1]], 0, filters, x,
                                            per_channel=False, gain=gain)  # fmt: skip
        if activation == NONE:
            out = self.normal(name, [1, units], Fraction(gain * gain))
        else:
            out = self.rectified(name, [1, units], activation)
        self.graph.operator("FULLY_CONNECTED", [x.index, weights, bias], [out.index],
                            version=4 if self.kind == "int8" else 1, activation=activation)  # fmt: skip
        return out

    # ---- Layers without weights

    def version(self, int8=2, real=1):
        return int8 if self.kind == "int8" else real

    def average_pool(self, x, name, kernel):
        shape = [1, *window(x.shape[1], x.shape[2], kernel, kernel[0], 1), x.shape[3]]
        out = self.like(name, shape, x)
        out.variance = pooled_variance(x, kernel[0] * kernel[1])
        self.graph.operator("AVERAGE_POOL_2D", [x.index], [out.index], version=self.version(),
                            padding=1, stride_w=kernel[1], stride_h=kernel[0],
                            filter_width=kernel[1], filter_height=kernel[0])  # fmt: skip
        return out

    def global_mean(self, x, name):
        """MEAN over height and width, kept as dimensions of 1."""
        variance = pooled_variance(x, x.shape[1] * x.shape[2])
        reach = x.mean + 6 * square_root(variance)
        out = self.ranged(name, [1, 1, 1, x.shape[3]], Fraction(0), reach, x.mean, variance)
        axes = self.integers(name + "/axes", [1, 2])
        self.graph.operator("MEAN", [x.index, axes], [out.index], version=self.version(),
                            keep_dims=True)  # fmt: skip
        return out

    def add(self, a, b, name, activation=NONE):
        """a + b, for b of mean 0."""
        variance = to_float32(a.variance + b.variance)
        if activation == NONE:
            out = self.normal(name, a.shape, variance)
        else:
            # Shifted by a's mean, the sum loses less to RELU than RELU_MEAN says; near enough.
            reach = square_root(variance)
            out = self.ranged(name, a.shape, Fraction(0), a.mean + 4 * reach,
                              to_float32(a.mean / 2 + RELU_MEAN * reach),
                              to_float32(RELU_VARIANCE * variance * Fraction(5, 4)))  # fmt: skip
        self.graph.operator("ADD", [a.index, b.index], [out.index], version=self.version(),
                            activation=activation)  # fmt: skip
        return out

    def pad(self, x, name, top, bottom, left, right):
        shape = [1, x.shape[1] + top + bottom, x.shape[2] + left + right, x.shape[3]]
        paddings = self.integers(name + "/paddings", [0, 0, top, bottom, left, right, 0, 0], [4, 2])
        out = self.like(name, shape, x)
        self.graph.operator("PAD", [x.index, paddings], [out.index], version=self.version())
        return out

    def reshape(self, x, name, shape):
        target = [self.batch, *shape[1:]]
        out = self.like(name, shape, x)
        self.graph.operator("RESHAPE", [x.index, self.integers(name + "/shape", target)], [out.index],
                            new_shape=target)  # fmt: skip
        return out

    def concat(self, parts, name, axis):
        """Parts must be stored alike."""
        shape = list(parts[0].shape)
        shape[axis] = sum(part.shape[axis] for part in parts)
        out = self.like(name, shape, parts[0])
        self.graph.operator("CONCATENATION", [part.index for part in parts], [out.index],
                            version=self.version(), axis=axis)  # fmt: skip
        return out

    def probabilities(self, kind, x, name, **options):
        """SOFTMAX or LOGISTIC: int8 results are in steps of 1/256 from -128."""
        quantized = self.kind == "int8"
        out = self.activation(name, x.shape, Fraction(1, 256) if quantized else None,
                              -128 if quantized else None, Fraction(1, 2), Fraction(1, 12))  # fmt: skip
        self.graph.operator(kind, [x.index], [out.index], version=self.version(), **options)
        return out

    def softmax(self, x, name):
        return self.probabilities("SOFTMAX", x, name, beta=1.0)

    def logistic(self, x, name):
        return self.probabilities("LOGISTIC", x, name)

    def convert(self, x, name, kind, scale=None, zero_point=None):
        """QUANTIZE to an integer type, or DEQUANTIZE to float32."""
        out = self.activation(name, x.shape, scale, zero_point, x.mean, x.variance, kind)
        if kind == "float32":
            self.graph.operator("DEQUANTIZE", [x.index], [out.index], version=2)
        else:
            self.graph.operator("QUANTIZE", [x.index], [out.index])
        return out

    def finish(self, *outputs):
        self.graph.outputs = [x.index for x in outputs]
        return self.model.serialize()


def window(height, width, kernel, stride, padding):
    """Height and width after a sliding window; padding SAME or VALID."""
    if padding == SAME:
        return [-(-height // stride), -(-width // stride)]
    return [(height - kernel[0]) // stride + 1, (width - kernel[1]) // stride + 1]


def pooled_variance(x, positions):
    """Variance of a mean over positions, plus what channels differ by from each other."""
    return to_float32(x.variance / positions + Fraction(1, 20))
