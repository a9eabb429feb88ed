"""Layers with pseudo-random weights, as a trained and converted network would hold them.

Used by topologies.py; writes through tflite_builder.py. A layer's weights are drawn, then scaled
per output channel so that its output has variance 1 and a mean near 0 for inputs of the expected
mean and variance: what training with batch normalisation, folded into the weights, does. The
expectation is carried from layer to layer in the activations, so quantization ranges follow from
it and no layer saturates, whatever the depth. It takes the positions of a window as independent
(He et al., "Delving Deep into Rectifiers", 2015, section 2.2, with the mean taken along).
"""

from fractions import Fraction

from .numerics import Random, nearest, square_root, to_float32
from .tflite_builder import NONE, RELU, SAME, VALID, Model, Quantization

# Mean and variance of max(0, x) for x normal with mean 0 and variance 1. RELU6 differs by < 1e-6.
RELU_MEAN, RELU_VARIANCE = Fraction(398942, 10**6), Fraction(340845, 10**6)


class Activation:
    """A tensor between layers: where it is, how it is stored, what values are expected in it.

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
    """A model under construction, layer by layer, in its current subgraph (`graph`).

    `weights` is int8 (all tensors quantized), float32, or float16 (stored as half precision and
    expanded by DEQUANTIZE operators, as the converter does for a float network). With `batch` -1
    every tensor's shape_signature leaves the batch open. `has_rank` says whether tensors have that
    field: LiteRT lets the caller set an open batch where they do and takes it for 1 elsewhere.

    A layer takes the activation it reads and its name, adds its constants, its operator and its
    output, and returns the output.
    """

    def __init__(self, description, seed, weights="int8", batch=1, has_rank=True):
        self.model = Model(description, has_rank)
        self.graph = self.model.subgraph("main")
        self.random = Random(seed)
        self.weights = weights
        self.batch = batch
        self.kind = "int8" if weights == "int8" else "float32"

    def apply(self, kind, inputs, out, **options):
        """Adds an operator with one output."""
        self.graph.operator(kind, inputs, [out.index], **options)
        return out

    def version(self, int8=2, real=1):
        """An operator's version by the network's type."""
        return int8 if self.kind == "int8" else real

    def finish(self, *outputs):
        self.graph.outputs = [x.index for x in outputs]
        return self.model.serialize()

    # ---- Tensors

    def activation(self, name, shape, scale, zero_point, mean, variance, kind=None):
        """A new tensor; `scale` None in float networks."""
        quantization = Quantization([scale], [zero_point]) if scale else None
        signature = [-1, *shape[1:]] if self.batch == -1 else None
        kind = kind or self.kind
        index = self.graph.tensor(name, shape, kind, quantization=quantization, signature=signature)
        return Activation(index, shape, scale, zero_point, mean, variance)

    def ranged(self, name, shape, low, high, mean, variance):
        """A new tensor whose int8 values span about [low, high], which includes 0."""
        if self.kind == "float32":
            return self.activation(name, shape, None, None, mean, variance)
        scale = to_float32((high - low) / 255)
        return self.activation(name, shape, scale, nearest(-128 - low / scale), mean, variance)

    def normal(self, name, shape, variance=Fraction(1)):
        """A new tensor for values of mean 0, negative and positive."""
        reach = square_root(variance)
        low, high = (reach * self.random.between(Fraction(7, 2), Fraction(9, 2)) for _ in range(2))
        return self.ranged(name, shape, -low, high, Fraction(0), variance)

    def rectified(self, name, shape, activation):
        """A new tensor for what RELU or RELU6 leaves of values of mean 0 and variance 1."""
        high = Fraction(6)
        if activation == RELU:
            high = self.random.between(Fraction(4), Fraction(5))
        return self.ranged(name, shape, Fraction(0), high, RELU_MEAN, RELU_VARIANCE)

    def result(self, name, shape, activation):
        """A new tensor for what a layer with weights gives."""
        if activation == NONE:
            return self.normal(name, shape)
        return self.rectified(name, shape, activation)

    def like(self, name, shape, x):
        """A new tensor that is stored as x is and holds the same kind of values."""
        return self.activation(name, shape, x.scale, x.zero_point, x.mean, x.variance)

    def integers(self, name, values, shape=None):
        """A constant int32 tensor: an operator's axes, sizes or paddings."""
        shape = shape if shape is not None else [len(values)]
        return self.graph.tensor(name, shape, "int32", data=values)

    def integer(self, name, shape, graph_input=False):
        """An int32 tensor that an operator or the caller fills."""
        index = self.graph.tensor(name, shape, "int32")
        if graph_input:
            self.graph.inputs.append(index)
        return index

    def input(self, name, shape, low, high, kind=None):
        """An input of the graph: uniform noise over [low, high] is what the layers expect."""
        mean, variance = Fraction(low + high, 2), Fraction((high - low) ** 2, 12)
        kind = kind or self.kind
        scale = zero_point = None
        if kind == "int16":
            scale, zero_point = to_float32(Fraction(high - low, 65535)), 0
        elif kind != "float32":
            scale = to_float32(Fraction(high - low, 255))
            zero_point = nearest((-128 if kind == "int8" else 0) - low / scale)
        x = self.activation(name, shape, scale, zero_point, mean, variance, kind)
        self.graph.inputs.append(x.index)
        return x

    # ---- Weights

    def small(self):
        """A bias in [-1/4, 1/4)."""
        return self.random.between(Fraction(-1, 4), Fraction(1, 4))

    def weights_and_bias(self, name, shape, axis, channels, x, per_channel=True, gain=1):
        """Constant weights and bias; returns their tensor indices.

        `channels` are the integer weights by output channel, which is dimension `axis` of `shape`:
        the outermost or the innermost one. Inputs such as x give values of variance gain^2.
        """
        energies = [Fraction(sum(weight * weight for weight in channel)) for channel in channels]
        if not per_channel:
            energies = [sum(energies) / len(energies)] * len(energies)
        spread = square_root(x.variance)
        scales = [to_float32(gain / (spread * square_root(energy))) for energy in energies]
        biases = [
            self.small() * gain - x.mean * scale * sum(channel)
            for scale, channel in zip(scales, channels)
        ]

        if self.kind == "int8":
            steps = [to_float32(x.scale * scale) for scale in scales]
            stored = [nearest(value / step) for value, step in zip(biases, steps)]
            if not per_channel:
                scales, steps = scales[:1], steps[:1]
            data = flat(channels, axis)
            return (
                constant(self, name + "/weights", shape, "int8", data, scales, axis),
                constant(self, name + "/bias", [len(stored)], "int32", stored, steps),
            )
        real = [[weight * scale for weight in row] for row, scale in zip(channels, scales)]
        return (
            self.real_constant(name + "/weights", shape, flat(real, axis)),
            self.real_constant(name + "/bias", [len(biases)], biases),
        )

    def real_constant(self, name, shape, values):
        """A float constant of rationals, through a DEQUANTIZE operator in a float16 network."""
        values = [float(to_float32(value)) for value in values]
        if self.weights == "float32":
            return self.graph.tensor(name, shape, "float32", data=values)
        half = self.graph.tensor(name + "/float16", shape, "float16", data=values)
        full = self.graph.tensor(name, shape, "float32")
        self.graph.operator("DEQUANTIZE", [half], [full], version=3)
        return full

    # ---- Layers with weights

    def conv(self, x, name, depth, kernel, stride=1, padding=SAME, activation=NONE, like=None):
        """`like` is an activation whose scale and zero point the output takes."""
        size = kernel[0] * kernel[1] * x.shape[3]
        filters = [self.random.weights(size) for _ in range(depth)]
        weights, bias = self.weights_and_bias(name, [depth, *kernel, x.shape[3]], 0, filters, x)
        shape = [1, *window(x, kernel, stride, padding), depth]
        out = self.like(name, shape, like) if like else self.result(name, shape, activation)
        return self.apply(
            "CONV_2D",
            [x.index, weights, bias],
            out,
            version=self.version(int8=3),
            padding=padding,
            stride_w=stride,
            stride_h=stride,
            activation=activation,
        )

    def depthwise(self, x, name, kernel=(3, 3), stride=1, padding=SAME, activation=NONE):
        channels = x.shape[3]
        filters = [self.random.weights(kernel[0] * kernel[1]) for _ in range(channels)]
        weights, bias = self.weights_and_bias(name, [1, *kernel, channels], 3, filters, x)
        out = self.result(name, [1, *window(x, kernel, stride, padding), channels], activation)
        return self.apply(
            "DEPTHWISE_CONV_2D",
            [x.index, weights, bias],
            out,
            version=self.version(int8=3),
            padding=padding,
            stride_w=stride,
            stride_h=stride,
            depth_multiplier=1,
            activation=activation,
        )

    def dense(self, x, name, units, activation=NONE, gain=1):
        """FULLY_CONNECTED; `gain` is the standard deviation of its results."""
        filters = [self.random.weights(x.shape[-1]) for _ in range(units)]
        weights, bias = self.weights_and_bias(
            name, [units, x.shape[-1]], 0, filters, x, per_channel=False, gain=gain
        )
        if activation == NONE:
            out = self.normal(name, [1, units], Fraction(gain * gain))
        else:
            out = self.rectified(name, [1, units], activation)
        version = self.version(int8=4)
        inputs = [x.index, weights, bias]
        return self.apply("FULLY_CONNECTED", inputs, out, version=version, activation=activation)

    def transpose_conv(self, x, name, depth, size):
        """Float only: square windows that do not overlap, without a bias."""
        height, width, channels = x.shape[1:]
        filters = [self.random.weights(size * size * channels) for _ in range(depth)]
        # Each output value is a sum over the channels alone.
        energy = Fraction(sum(w * w for f in filters for w in f), size * size * depth)
        scale = to_float32(1 / square_root(x.variance * energy))
        real = [weight * scale for f in filters for weight in f]
        weights = self.real_constant(name + "/weights", [depth, size, size, channels], real)
        out = self.normal(name, [1, height * size, width * size, depth])
        inputs = [self.integers(name + "/size", out.shape), weights, x.index]
        return self.apply("TRANSPOSE_CONV", inputs, out, padding=SAME, stride_w=size, stride_h=size)

    # ---- Layers without weights

    def pool(self, kind, x, out, kernel):
        return self.apply(
            kind,
            [x.index],
            out,
            version=self.version(),
            padding=VALID,
            stride_w=kernel[1],
            stride_h=kernel[0],
            filter_width=kernel[1],
            filter_height=kernel[0],
        )

    def average_pool(self, x, name):
        """Over the whole height and width."""
        out = self.like(name, [1, 1, 1, x.shape[3]], x)
        out.variance = pooled_variance(x)
        return self.pool("AVERAGE_POOL_2D", x, out, x.shape[1:3])

    def max_pool(self, x, name, size):
        """Float only: square windows that do not overlap; statistics as for the largest of 4."""
        shape = [1, x.shape[1] // size, x.shape[2] // size, x.shape[3]]
        out = self.activation(name, shape, None, None, Fraction(1), Fraction(1, 2))
        return self.pool("MAX_POOL_2D", x, out, [size, size])

    def global_mean(self, x, name):
        """MEAN over height and width, kept as dimensions of 1."""
        variance = pooled_variance(x)
        high = x.mean + 6 * square_root(variance)
        out = self.ranged(name, [1, 1, 1, x.shape[3]], Fraction(0), high, x.mean, variance)
        inputs = [x.index, self.integers(name + "/axes", [1, 2])]
        return self.apply("MEAN", inputs, out, version=self.version(), keep_dims=True)

    def resize_bilinear(self, x, name, height, width):
        """Float only."""
        out = self.like(name, [1, height, width, x.shape[3]], x)
        inputs = [x.index, self.integers(name + "/size", [height, width])]
        return self.apply("RESIZE_BILINEAR", inputs, out, version=3, half_pixel_centers=True)

    def tanh(self, x, name):
        """Float only."""
        out = self.activation(name, x.shape, None, None, x.mean, Fraction(2, 5))
        return self.apply("TANH", [x.index], out)

    def last_step(self, x, name):
        """The last of the steps of [1, time, features]: x[:, -1, :]."""
        out = self.like(name, [1, x.shape[2]], x)
        begin = self.integers(name + "/begin", [0, -1, 0])
        end = self.integers(name + "/end", [0, 0, 0])
        strides = self.integers(name + "/strides", [1, 1, 1])
        return self.apply(
            "STRIDED_SLICE",
            [x.index, begin, end, strides],
            out,
            version=self.version(),
            begin_mask=0b101,
            end_mask=0b101,
            shrink_axis_mask=0b010,
        )

    def add(self, a, b, name, activation=NONE):
        """a + b, for b of mean 0."""
        variance = to_float32(a.variance + b.variance)
        if activation == NONE:
            out = self.normal(name, a.shape, variance)
        else:
            # Shifted up by a's mean, the sum loses less to RELU than RELU_MEAN says; near enough.
            reach = square_root(variance)
            mean = to_float32(a.mean / 2 + RELU_MEAN * reach)
            after = to_float32(RELU_VARIANCE * variance * Fraction(5, 4))
            out = self.ranged(name, a.shape, Fraction(0), a.mean + 4 * reach, mean, after)
        inputs = [a.index, b.index]
        return self.apply("ADD", inputs, out, version=self.version(), activation=activation)

    def pad(self, x, name, top, bottom, left, right):
        shape = [1, x.shape[1] + top + bottom, x.shape[2] + left + right, x.shape[3]]
        paddings = self.integers(name + "/paddings", [0, 0, top, bottom, left, right, 0, 0], [4, 2])
        out = self.like(name, shape, x)
        return self.apply("PAD", [x.index, paddings], out, version=self.version())

    def reshape(self, x, name, shape):
        target = [-1, *shape[1:]] if self.batch == -1 else shape
        out = self.like(name, shape, x)
        inputs = [x.index, self.integers(name + "/shape", target)]
        return self.apply("RESHAPE", inputs, out, new_shape=target)

    def concat(self, parts, name, axis):
        """Parts must be stored alike."""
        shape = list(parts[0].shape)
        shape[axis] = sum(part.shape[axis] for part in parts)
        out = self.like(name, shape, parts[0])
        inputs = [part.index for part in parts]
        return self.apply("CONCATENATION", inputs, out, version=self.version(), axis=axis)

    def softmax(self, x, name):
        return self.probabilities("SOFTMAX", x, name, beta=1.0)

    def logistic(self, x, name):
        return self.probabilities("LOGISTIC", x, name)

    def probabilities(self, kind, x, name, **options):
        """In int8, steps of 1/256 from -128 on."""
        scale, zero_point = (Fraction(1, 256), -128) if self.kind == "int8" else (None, None)
        out = self.activation(name, x.shape, scale, zero_point, Fraction(1, 2), Fraction(1, 12))
        return self.apply(kind, [x.index], out, version=self.version(), **options)

    def quantize(self, x, name, scale, zero_point):
        """To int8, from float32 or from integers of another type or scale."""
        out = self.activation(name, x.shape, scale, zero_point, x.mean, x.variance, "int8")
        return self.apply("QUANTIZE", [x.index], out)

    def dequantize(self, x, name):
        """From int8 to float32."""
        out = self.activation(name, x.shape, None, None, x.mean, x.variance, "float32")
        return self.apply("DEQUANTIZE", [x.index], out, version=2)


def flat(channels, axis):
    """The weights of all channels in memory order, the channel outermost (axis 0) or innermost."""
    rows = channels if axis == 0 else zip(*channels)
    return [weight for row in rows for weight in row]


def constant(net, name, shape, kind, data, scales, axis=0):
    """A quantized constant with zero point 0; several scales belong to dimension `axis`."""
    axis = axis if len(scales) > 1 else 0
    quantization = Quantization(scales, [0] * len(scales), axis)
    return net.graph.tensor(name, shape, kind, data=data, quantization=quantization)


def window(x, kernel, stride, padding):
    """Height and width after sliding a window over x."""
    height, width = x.shape[1:3]
    if padding == SAME:
        return [-(-height // stride), -(-width // stride)]
    return [(height - kernel[0]) // stride + 1, (width - kernel[1]) // stride + 1]


def pooled_variance(x):
    """Variance of the mean over height and width, plus what channels differ by from each other."""
    return to_float32(x.variance / (x.shape[1] * x.shape[2]) + Fraction(1, 20))
