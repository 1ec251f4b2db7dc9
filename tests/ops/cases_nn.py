"""Cases of activations, softmax and cross-entropies, bias, losses and top-k."""

from __future__ import annotations

import numpy as np
from scipy import special

from weft.testing.op_checks import Case

A = np.array([[0.5, -1.25, 2.0], [-0.75, 7.5, -3.0]], np.float32)
B = np.array([[1.5, 0.25, -2.5], [2.25, -0.5, 1.0]], np.float32)
PROBABILITIES = np.array([[0.25, 0.25, 0.5], [0.0, 0.125, 0.875]], np.float32)
CUBE = np.arange(24, dtype=np.float32).reshape(2, 3, 4) / 7 - 1.3
IMAGE = np.random.default_rng(1).normal(size=(2, 3, 4, 5)).astype(np.float32)
INTS = np.array([[5, -7, 3, 3], [-6, 9, 2, 9]], np.int32)
SCALE, ALPHA = 1.0507009873554804934193349852946, 1.6732632423543772848170429916717


def _leaky(x):
    return np.where(x > 0, x, 0.2 * x)


def _selu(x):
    return SCALE * np.where(x > 0, x, ALPHA * (np.exp(np.minimum(x, 0)) - 1))


def _softmax(x):
    return special.softmax(x, -1)


def _cross_entropy(x, labels):
    return -(labels * special.log_softmax(x, -1)).sum(-1), _softmax(x) - labels


def _sparse_cross_entropy(x, labels):
    return _cross_entropy(x, np.eye(x.shape[1])[labels])


def _top(k):
    def top(x, *_):
        order = np.argsort(-x.astype(np.int64), -1, kind="stable")[..., :k]
        return np.take_along_axis(x, order, -1), order

    return top


ACTIVATIONS = [
    Case("Relu", [A], expected=lambda x: np.maximum(x, 0)),
    Case("ReluGrad", [B, A], expected=lambda g, x: g * (x > 0)),
    Case("Relu6", [A], expected=lambda x: np.clip(x, 0, 6)),
    Case("Relu6Grad", [B, A], expected=lambda g, x: g * ((x > 0) & (x < 6))),
    Case("LeakyRelu", [A], expected=_leaky),
    Case("LeakyRelu", [A], {"alpha": 0.5}, expected=lambda x: np.where(x > 0, x, 0.5 * x), variant="half"),
    Case("LeakyReluGrad", [B, A], expected=lambda g, x: np.where(x > 0, g, 0.2 * g)),
    Case("Elu", [A], expected=lambda x: np.where(x > 0, x, np.exp(np.minimum(x, 0)) - 1)),
    Case("EluGrad", [B, A], expected=lambda g, y: np.where(y < 0, g * (y + 1), g)),
    Case("Selu", [A], expected=_selu),
    Case("SeluGrad", [B, A], expected=lambda g, y: np.where(y < 0, g * (y + SCALE * ALPHA), g * SCALE)),
    Case("Softplus", [A], expected=lambda x: np.logaddexp(x, 0)),
    Case("SoftplusGrad", [B, A], expected=lambda g, x: g * special.expit(x)),
    Case("Softsign", [A], expected=lambda x: x / (1 + np.abs(x))),
    Case("SoftsignGrad", [B, A], expected=lambda g, x: g / (1 + np.abs(x)) ** 2),
]

BIAS = [
    Case("BiasAdd", [A, B[0]], expected=np.add),
    Case(
        "BiasAdd",
        [IMAGE, B[0]],
        {"data_format": "NCHW"},
        variant="NCHW",
        sweep=False,
        expected=lambda x, b: x + b[None, :, None, None],
    ),
    Case("BiasAddGrad", [A], expected=lambda g: g.sum(0)),
    Case("BiasAddGrad", [CUBE], expected=lambda g: g.sum((0, 1)), variant="cube", sweep=False),
    Case("BiasAddGrad", [IMAGE], {"data_format": "NCHW"}, expected=lambda g: g.sum((0, 2, 3)), variant="NCHW", sweep=False),
    Case("BiasAddV1", [A, B[0]], expected=np.add),
]

SOFTMAX = [
    Case("Softmax", [A], expected=_softmax),
    Case("Softmax", [CUBE], expected=_softmax, variant="cube", sweep=False),
    Case("Softmax", [A * 1000], expected=_softmax, variant="large", sweep=False, gradient=False),
    Case("LogSoftmax", [A], expected=lambda x: special.log_softmax(x, -1)),
    Case("LogSoftmax", [CUBE], expected=lambda x: special.log_softmax(x, -1), variant="cube", sweep=False),
    Case("SoftmaxCrossEntropyWithLogits", [A, PROBABILITIES], expected=_cross_entropy),
    Case(
        "SoftmaxCrossEntropyWithLogits",
        [A, PROBABILITIES[:1]],
        expected=_cross_entropy,
        variant="row",
        gradient=False,
        sweep=False,
    ),
    Case("SparseSoftmaxCrossEntropyWithLogits", [A, [2, 0]], expected=_sparse_cross_entropy),
]

LOSSES = [
    Case("L2Loss", [A], expected=lambda x: (x * x).sum() / 2),
    Case("WeightsFit", [[2, 1], [2, 3]], expected=lambda *_: np.True_),
    Case("WeightsFit", [[3, 1], [2, 3]], expected=lambda *_: np.False_, variant="other"),
    Case("WeightsFit", [[2], [2, 3]], expected=lambda *_: np.False_, variant="rank"),
    Case("WeightsFit", [np.zeros(0, np.int32), [2, 3]], expected=lambda *_: np.True_, variant="scalar"),
]

TOP = [
    Case("TopKV2", [INTS, 2], expected=_top(2)),
    Case(
        "TopKV2",
        [CUBE, 3],
        expected=lambda x, k: (x[..., :0:-1], np.broadcast_to([3, 2, 1], (2, 3, 3))),
        variant="cube",
        sweep=False,
    ),
    Case("TopK", [INTS], {"k": 3}, expected=_top(3)),
    Case("TopK", [A], {"k": 2}, variant="float", sweep=False),
    Case(
        "InTopKV2",
        [np.array([[1, 2, 3], [3, 2, 2]], np.float32), [1, 2], 2],
        expected=lambda *_: np.array([True, True]),
        sweep=False,
    ),
    Case(
        "InTopKV2",
        [np.array([[1, 2, 3], [3, np.inf, 2], [3, 1, 2]], np.float32), [0, 0, 5], 2],
        variant="out",
        expected=lambda *_: np.array([False, False, False]),
    ),
    Case(
        "InTopK", [np.array([[1, 2, 3], [3, 2, 1]], np.float32), [1, 1]], {"k": 1}, expected=lambda *_: np.array([False, False])
    ),
    Case("NthElement", [CUBE, 1], expected=lambda x, n: x[..., 1]),
    Case("NthElement", [INTS, 1], {"reverse": True}, expected=lambda x, n: np.array([3, 9]), variant="reverse", sweep=False),
]


def _conv_attrs(layout="NHWC", stride=1, padding="SAME", dilation=1, **more):
    def spread(number):
        return [1 if letter in "NC" else number for letter in layout]

    return {"strides": spread(stride), "padding": padding, "data_format": layout, "dilations": spread(dilation), **more}


def _noise(*shape):
    return np.random.default_rng(sum(shape)).normal(size=shape).astype(np.float32)


def _valid(x, filters):
    """The convolution of NHWC images, stride 1, no padding."""
    windows = np.lib.stride_tricks.sliding_window_view(x, filters.shape[:2], (1, 2))
    return np.einsum("nhwcij,ijco->nhwo", windows, filters)


# Each convolution: its layout and the rest; checked forward, and back to the input and to the filter.
_FORMS = {
    "same": _conv_attrs(),
    "valid": _conv_attrs(padding="VALID"),
    "strides": _conv_attrs(stride=2),
    "dilated": _conv_attrs(padding="VALID", dilation=2),
    "explicit": _conv_attrs(padding="EXPLICIT", explicit_paddings=[0, 0, 1, 0, 2, 1, 0, 0], stride=2),
    "NCHW": _conv_attrs("NCHW", stride=2),
}


def _outputs(size, length, stride, dilation, pads, padding):
    """How many places a window has."""
    return -(-size // stride) if padding == "SAME" else (size + sum(pads) - (length - 1) * dilation - 1) // stride + 1


def _family(forward, back, to_filter, x, filters, variant, attrs, outputs):
    layout, lengths = attrs["data_format"], iter(filters.shape)
    pads = attrs.get("explicit_paddings") or [0] * 2 * len(layout)
    shape = [
        size
        if letter == "N"
        else outputs
        if letter == "C"
        else _outputs(
            size,
            next(lengths),
            attrs["strides"][axis],
            attrs["dilations"][axis],
            pads[2 * axis : 2 * axis + 2],
            attrs["padding"],
        )
        for axis, (size, letter) in enumerate(zip(x.shape, layout, strict=True))
    ]
    grad = _noise(*shape)
    light = {
        "sweep": variant == "same",
        "variant": variant,
        "gradient": x.size < 200,
        "tolerance": 2e-4 if variant == "blocks" else None,
    }
    return [
        Case(forward, [x, filters], attrs, **light),
        Case(back, [np.array(x.shape, np.int32), filters, grad], attrs, **light),
        Case(to_filter, [x, np.array(filters.shape, np.int32), grad], attrs, **light),
    ]


CONVOLUTIONS = [
    Case(
        "Conv2D",
        [_noise(2, 5, 6, 3), _noise(3, 2, 3, 4)],
        _conv_attrs(padding="VALID"),
        expected=_valid,
        variant="reference",
        sweep=False,
        gradient=False,
    ),
    *(
        case
        for variant, attrs in _FORMS.items()
        for case in _family(
            "Conv2D",
            "Conv2DBackpropInput",
            "Conv2DBackpropFilter",
            _noise(*((1, 2, 6, 5) if variant == "NCHW" else (1, 6, 5, 2))),
            _noise(3, 2, 2, 3),
            variant,
            attrs,
            3,
        )
    ),
    *_family(
        "Conv2D",
        "Conv2DBackpropInput",
        "Conv2DBackpropFilter",
        _noise(1, 4, 4, 4),
        _noise(2, 2, 2, 6),
        "groups",
        _conv_attrs(),
        6,
    ),
    *_family(
        "Conv2D",
        "Conv2DBackpropInput",
        "Conv2DBackpropFilter",
        _noise(16, 9, 9, 3),
        _noise(5, 5, 3, 8),
        "large",
        _conv_attrs(stride=2),
        8,
    ),
    # Shapes that are products of matrices when compiled for the CPU, in one block, in several, and with a rest.
    *_family(
        "Conv2D",
        "Conv2DBackpropInput",
        "Conv2DBackpropFilter",
        _noise(3, 4, 5, 4),
        _noise(1, 1, 4, 6),
        "pointwise",
        _conv_attrs(),
        6,
    ),
    *_family(
        "Conv2D",
        "Conv2DBackpropInput",
        "Conv2DBackpropFilter",
        _noise(3, 5, 5, 4),
        _noise(1, 1, 4, 6),
        "pointwise_strides",
        _conv_attrs(stride=2),
        6,
    ),
    *_family(
        "Conv2D",
        "Conv2DBackpropInput",
        "Conv2DBackpropFilter",
        _noise(2, 9, 9, 16),
        _noise(4, 4, 16, 3),
        "block",
        _conv_attrs(stride=2),
        3,
    ),
    *_family(
        "Conv2D",
        "Conv2DBackpropInput",
        "Conv2DBackpropFilter",
        _noise(5, 20, 20, 32),
        _noise(5, 5, 32, 4),
        "blocks",
        _conv_attrs(),
        4,
    ),
    *(
        case
        for variant, attrs in _FORMS.items()
        if variant != "dilated"
        for case in _family(
            "DepthwiseConv2dNative",
            "DepthwiseConv2dNativeBackpropInput",
            "DepthwiseConv2dNativeBackpropFilter",
            _noise(*((1, 2, 6, 5) if variant == "NCHW" else (1, 6, 5, 2))),
            _noise(3, 2, 2, 2),
            variant,
            attrs,
            4,
        )
    ),
    *(
        case
        for layout, shape in (("NDHWC", (1, 4, 3, 4, 2)), ("NCDHW", (1, 2, 4, 3, 4)))
        for padding in ("SAME", "VALID")
        for case in _family(
            "Conv3D",
            "Conv3DBackpropInputV2",
            "Conv3DBackpropFilterV2",
            _noise(*shape),
            _noise(2, 2, 3, 2, 2),
            layout + padding,
            _conv_attrs(layout, 1, padding),
            2,
        )
    ),
]


def _pool_attrs(ksize=(1, 2, 2, 1), strides=(1, 2, 2, 1), padding="VALID", **more):
    return {"ksize": list(ksize), "strides": list(strides), "padding": padding, **more}


def _pairs(x):
    return x.reshape(x.shape[0], x.shape[1] // 2, 2, x.shape[2] // 2, 2, x.shape[3])


_POOLS = {
    "plain": _pool_attrs(),
    "same": _pool_attrs((1, 3, 3, 1), padding="SAME"),
    "overlap": _pool_attrs((1, 3, 2, 1), (1, 1, 1, 1)),
    "gaps": _pool_attrs((1, 1, 2, 1), (1, 2, 3, 1), "SAME"),
    "NCHW": _pool_attrs((1, 1, 2, 2), (1, 1, 2, 2), "SAME", data_format="NCHW"),
}
_TIED = np.array([1, 1, 1, 1, 2, 0, 3, 3, 0, 2, 3, 0, 5, 5, 5, 4], np.float32).reshape(1, 4, 4, 1)


def _pool_cases(variant, attrs):
    shape = (1, 4, 6, 2)
    # Every element differs by more than the step of the finite differences.
    x = np.random.default_rng(3).permutation(48).astype(np.float32).reshape(shape) / 4
    window = [
        (size if attrs["padding"] == "SAME" else size - k + 1, s)
        for size, k, s in zip(shape, attrs["ksize"], attrs["strides"], strict=True)
    ]
    made = [-(-size // stride) for size, stride in window]
    grad, sweep = _noise(*made), variant == "plain"
    layout = {key: value for key, value in attrs.items() if key == "data_format"}
    greatest = np.zeros(made, np.float32)
    for at in np.ndindex(*made):
        pads = [
            max((n - 1) * s + k - size, 0) // 2 if attrs["padding"] == "SAME" else 0
            for n, s, k, size in zip(made, attrs["strides"], attrs["ksize"], shape, strict=True)
        ]
        cut = tuple(
            slice(max(i * s - p, 0), i * s - p + k)
            for i, s, p, k in zip(at, attrs["strides"], pads, attrs["ksize"], strict=True)
        )
        greatest[at] = x[cut].max()
    cases = [
        Case("MaxPool", [x], attrs, expected=lambda x: greatest, variant=variant, sweep=sweep),
        Case("MaxPoolGrad", [x, greatest, grad], attrs, variant=variant, sweep=sweep),
        Case("MaxPoolGradGrad", [x, greatest, x], attrs, variant=variant, sweep=sweep),
        Case("AvgPool", [x], attrs, variant=variant, sweep=sweep),
        Case("AvgPoolGrad", [np.array(shape, np.int32), grad], attrs, variant=variant, sweep=sweep),
    ]
    if not layout:
        cases.append(Case("MaxPoolWithArgmax", [x], attrs, variant=variant, sweep=sweep))
        moved = {"ksize": attrs["ksize"], "strides": attrs["strides"]}
        if attrs["padding"] == "VALID":
            inputs = [x, np.array(attrs["ksize"], np.int32), np.array(attrs["strides"], np.int32)]
            cases.append(Case("MaxPoolV2", inputs, {"padding": "VALID"}, variant=variant, sweep=sweep))
            for op, given in (("MaxPoolGradV2", grad), ("MaxPoolGradGradV2", x)):
                inputs = [x, greatest, given, moved["ksize"], moved["strides"]]
                cases.append(Case(op, inputs, {"padding": "VALID"}, variant=variant, sweep=sweep))
    return cases


_VOLUME = np.random.default_rng(4).permutation(64).astype(np.float32).reshape(1, 4, 4, 2, 2) / 4
_GREATEST_3D = _VOLUME.reshape(1, 2, 2, 2, 2, 1, 2, 2).max((2, 4, 6))
_POOL_3D = {"ksize": [1, 2, 2, 2, 1], "strides": [1, 2, 2, 2, 1], "padding": "SAME"}
_FLAT = np.random.default_rng(5).permutation(64).astype(np.float32).reshape(2, 4, 4, 2)
_ARGMAX = np.array([[0, 9], [20, 31], [2, 11], [22, 29]], np.int64).reshape(2, 2, 2, 1).repeat(2, -1)

POOLING = [
    *(case for variant, attrs in _POOLS.items() for case in _pool_cases(variant, attrs)),
    Case(
        "AvgPool", [_noise(2, 4, 6, 3)], _pool_attrs(), expected=lambda x: _pairs(x).mean((2, 4)), variant="mean", sweep=False
    ),
    Case(
        "MaxPool",
        [_noise(2, 4, 6, 4)],
        _pool_attrs((1, 1, 1, 2), (1, 1, 1, 2)),
        variant="depth",
        sweep=False,
        gradient=False,
        expected=lambda x: x.reshape(2, 4, 6, 2, 2).max(-1),
    ),
    Case("MaxPool", [_noise(1, 20, 20, 1)], _pool_attrs((1, 9, 9, 1)), variant="large", sweep=False, gradient=False),
    Case(
        "AvgPool",
        [_noise(1, 20, 20, 1)],
        _pool_attrs((1, 9, 9, 1), padding="SAME"),
        variant="large",
        sweep=False,
        gradient=False,
    ),
    Case(
        "MaxPoolGrad",
        [_TIED, np.array([2, 3, 5, 5], np.float32).reshape(1, 2, 2, 1), _noise(1, 2, 2, 1)],
        _pool_attrs(),
        variant="ties",
        sweep=False,
        gradient=False,
        expected=lambda x, y, g: np.array(
            [[0, 0, 0, 0], [g[0, 0, 0, 0], 0, g[0, 0, 1, 0], 0], [0, 0, 0, 0], [g[0, 1, 0, 0], 0, g[0, 1, 1, 0], 0]]
        ).reshape(1, 4, 4, 1),
    ),
    Case(
        "FractionalMaxPoolGrad",
        [
            _TIED,
            np.array([1, 1, 5, 4], np.float32).reshape(1, 2, 2, 1),
            _noise(1, 2, 2, 1),
            np.array([0, 1, 4]),
            np.array([0, 3, 4]),
        ],
        sweep=False,
    ),
    Case(
        "FractionalAvgPoolGrad",
        [np.array([1, 3, 3, 1]), np.float32([4, 2, 2, 1]).reshape(1, 2, 2, 1), np.array([0, 2, 3]), np.array([0, 2, 3])],
        sweep=False,
        expected=lambda size, g, rows, columns: np.array([[1, 1, 1], [1, 1, 1], [1, 1, 1]]).reshape(1, 3, 3, 1),
    ),
    Case("MaxPool3D", [_VOLUME], _POOL_3D, sweep=False, expected=lambda x: x.reshape(1, 2, 2, 2, 2, 1, 2, 2).max((2, 4, 6))),
    Case("MaxPool3DGrad", [_VOLUME, _GREATEST_3D, _noise(1, 2, 2, 1, 2)], _POOL_3D, sweep=False),
    Case("MaxPool3DGradGrad", [_VOLUME, _GREATEST_3D, _VOLUME], _POOL_3D, sweep=False, gradient=False),
    Case("AvgPool3D", [_VOLUME], _POOL_3D, sweep=False),
    Case("AvgPool3DGrad", [np.array(_VOLUME.shape, np.int32), _noise(1, 2, 2, 1, 2)], _POOL_3D, sweep=False),
    Case(
        "MaxPoolWithArgmax",
        [_FLAT],
        _pool_attrs(include_batch_in_index=True),
        variant="batch",
        sweep=False,
        expected=lambda x: (
            _pairs(x).max((2, 4)),
            np.array(
                [[np.flatnonzero(x.ravel() == m)[0] for m in row] for row in _pairs(x).max((2, 4)).reshape(-1, 2)]
            ).reshape(2, 2, 2, 2),
        ),
    ),
    Case("MaxPoolGradWithArgmax", [_FLAT, _noise(2, 2, 2, 2), _ARGMAX], _pool_attrs(), sweep=False),
    Case("MaxPoolGradGradWithArgmax", [_FLAT, _FLAT, _ARGMAX], _pool_attrs(), sweep=False),
]

SCALES, OFFSETS = np.array([0.5, 2, 1.5], np.float32), np.array([0.25, -1, 0], np.float32)
MEANS, VARIANCES = np.array([0.1, -0.2, 0.3], np.float32), np.array([0.5, 1.5, 2], np.float32)
NOTHING = np.zeros(0, np.float32)
PIXELS = _noise(2, 2, 3, 3)


def _batch_norm(x, scale, offset, mean, variance, *_):
    count = x.size // x.shape[-1]
    mean, variance = x.mean((0, 1, 2)), x.var((0, 1, 2))
    made = (x - mean) / np.sqrt(variance + 1e-3) * scale + offset
    return made, mean, variance * count / (count - 1), mean, variance


def _inference(x, scale, offset, mean, variance):
    return (x - mean) / np.sqrt(variance + 1e-3) * scale + offset, mean, variance, mean, variance


def _lrn(x):
    squares = np.stack([(x[..., max(i - 1, 0) : i + 2] ** 2).sum(-1) for i in range(x.shape[-1])], -1)
    return x / (2 + 0.5 * squares) ** 0.75


_LRN = {"depth_radius": 1, "bias": 2.0, "alpha": 0.5, "beta": 0.75}
_TRAINING = {"epsilon": 1e-3}
_NOT_TRAINING = {"epsilon": 1e-3, "is_training": False}
# Gradients are checked through the functions: these nodes have no 64-bit type for finite differences.
_NORM = {"sweep": False, "gradient": False, "tolerance": 1e-4}

NORMALIZATION = [
    Case("FusedBatchNorm", [PIXELS, SCALES, OFFSETS, NOTHING, NOTHING], _TRAINING, expected=_batch_norm, **_NORM),
    Case("FusedBatchNormV2", [PIXELS, SCALES, OFFSETS, MEANS, VARIANCES], _NOT_TRAINING, expected=_inference, **_NORM),
    Case(
        "FusedBatchNormV3",
        [PIXELS, SCALES, OFFSETS, NOTHING, NOTHING],
        _TRAINING,
        **_NORM,
        known_shape=False,
        expected=lambda *v: (*_batch_norm(*v), NOTHING),
    ),
    Case(
        "FusedBatchNormV3",
        [PIXELS.transpose(0, 3, 1, 2), SCALES, OFFSETS, MEANS, VARIANCES],
        known_shape=False,
        attrs={**_TRAINING, "data_format": "NCHW", "exponential_avg_factor": 0.5},
        variant="NCHW",
        **_NORM,
    ),
    *(
        Case(name, [PIXELS, PIXELS[::-1], SCALES, MEANS, VARIANCES, *rest], attrs, variant=variant, **_NORM)
        for name, rest in (("FusedBatchNormGrad", ()), ("FusedBatchNormGradV2", ()), ("FusedBatchNormGradV3", (NOTHING,)))
        for variant, attrs in (("training", _TRAINING), ("inference", _NOT_TRAINING))
    ),
    Case(
        "BatchNormWithGlobalNormalization",
        [PIXELS, MEANS, VARIANCES, OFFSETS, SCALES],
        sweep=False,
        tolerance=1e-5,
        attrs={"variance_epsilon": 1e-3, "scale_after_normalization": True},
        expected=lambda x, m, v, b, g: _inference(x, g, b, m, v)[0],
    ),
    Case("LRN", [PIXELS], _LRN, expected=_lrn),
    Case("LRNGrad", [PIXELS, PIXELS[::-1], PIXELS], _LRN, gradient=False),
]

_LOGITS = _noise(4, 2, 3)
_SURE = np.log(np.eye(4)[[[0, 3], [0, 1], [3, 1], [2, 0]]] * 100 + 1).astype(np.float32)


CTC = [
    Case("CTCLoss", [_LOGITS, np.array([[0, 0], [0, 1], [1, 0]]), [0, 1, 1], [4, 3]], sweep=False, gradient=False),
    Case(
        "CTCLoss",
        [_LOGITS, np.array([[0, 0], [0, 1], [1, 0]]), [0, 0, 1], [4, 3]],
        {"ctc_merge_repeated": False},
        variant="apart",
        sweep=False,
        gradient=False,
    ),
    Case(
        "CTCGreedyDecoder",
        [_SURE, [4, 3]],
        {"merge_repeated": True},
        sweep=False,
        expected=lambda *_: (
            np.array([[0, 0], [0, 1], [1, 0]]),
            np.array([0, 2, 1]),
            np.array([2, 2]),
            -np.log(101) * np.array([[4], [3]]),
        ),
    ),
    Case("CTCBeamSearchDecoder", [_SURE, [4, 3]], {"beam_width": 20, "top_paths": 2}, sweep=False),
    Case(
        "ComputeAccidentalHits",
        [np.array([[1, 2], [5, 4]]), np.array([4, 1, 3])],
        {"num_true": 2},
        sweep=False,
        expected=lambda *_: (np.array([0, 1]), np.array([1, 0]), np.full(2, np.finfo(np.float32).min)),
    ),
]

_BATCH, _CELLS, _IN = 2, 3, 4
_STATE = [_noise(_BATCH, _CELLS), _noise(_BATCH, _CELLS) / 2]
_WEIGHTS = [_noise(_IN + _CELLS, 4 * _CELLS), *(_noise(3, _CELLS) / 3), _noise(4 * _CELLS) / 4]
_STEP = [_noise(_BATCH, _IN), *_STATE, *_WEIGHTS]
_STEPS = [np.int64(2), _noise(3, _BATCH, _IN), *_STATE, *_WEIGHTS]
_GRU = [_noise(_BATCH, _IN), _STATE[1], _noise(_IN + _CELLS, 2 * _CELLS), _noise(_IN + _CELLS, _CELLS), _noise(2 * _CELLS),
        _noise(_CELLS)]  # fmt: skip
_PEEPHOLES = {"use_peephole": True}


def _lstm(x, c, h, w, wci, wcf, wco, b, forget_bias=1.0, clip=3.0, peephole=True, places=(0, 1, 2, 3)):
    parts = np.split(np.concatenate([x, h], 1) @ w + b, 4, 1)
    i, ci, f, o = (parts[place] for place in places)
    i, f = special.expit(i + c * wci * peephole), special.expit(f + c * wcf * peephole + forget_bias)
    state = np.tanh(ci) * i + c * f
    state = np.clip(state, -clip, clip) if clip else state
    o = special.expit(o + state * wco * peephole)
    return i, state, f, o, np.tanh(ci), np.tanh(state), np.tanh(state) * o


def _lstms(steps, x, c, h, *weights, **attrs):
    made = [np.zeros((*x.shape[:2], c.shape[1])) for _ in range(7)]
    for step in range(int(steps)):
        for whole, part in zip(made, _lstm(x[step], c, h, *weights, **attrs), strict=True):
            whole[step] = part
        c, h = made[1][step], made[6][step]
    return tuple(made)


def _gru(x, h, w_ru, w_c, b_ru, b_c):
    r, u = np.split(special.expit(np.concatenate([x, h], 1) @ w_ru + b_ru), 2, 1)
    c = np.tanh(np.concatenate([x, h * r], 1) @ w_c + b_c)
    return r, u, c, u * h + (1 - u) * c


CELLS = [
    Case("LSTMBlockCell", _STEP, _PEEPHOLES, expected=_lstm, sweep=False, tolerance=1e-5, gradient=False),
    Case("LSTMBlockCell", _STEP, {"cell_clip": 0.5, "forget_bias": 0.0}, sweep=False, tolerance=1e-5, variant="clipped",
         expected=lambda *given: _lstm(*given, forget_bias=0.0, clip=0.5, peephole=False), gradient=False),
    Case("LSTMBlockCellGrad", [*_STEP, *(part.astype(np.float32) for part in _lstm(*_STEP)[:6]), *_STATE], _PEEPHOLES,
         sweep=False),
    Case("BlockLSTM", _STEPS, _PEEPHOLES, expected=_lstms, sweep=False, tolerance=1e-5, gradient=False),
    Case("BlockLSTMV2", _STEPS, sweep=False, tolerance=1e-5, gradient=False,
         expected=lambda *given: _lstms(*given, forget_bias=0.0, clip=0.0, peephole=False, places=(0, 2, 1, 3))),
    Case("BlockLSTMGrad", [*_STEPS, *(part.astype(np.float32) for part in _lstms(*_STEPS)), _STEPS[1][:, :, 1:],
                           _STEPS[1][:, :, :3]], _PEEPHOLES, sweep=False),
    Case("BlockLSTMGradV2", [*_STEPS, *(part.astype(np.float32) for part in _lstms(*_STEPS)), _STEPS[1][:, :, 1:],
                             _STEPS[1][:, :, :3]], _PEEPHOLES, sweep=False),
    Case("GRUBlockCell", _GRU, expected=_gru, tolerance=1e-5, sweep=False, gradient=False),
    Case("GRUBlockCellGrad", [*_GRU, *(part.astype(np.float32) for part in _gru(*_GRU)[:3]), _STATE[0]], sweep=False),
]  # fmt: skip

CASES = [*ACTIVATIONS, *BIAS, *SOFTMAX, *LOSSES, *TOP, *CONVOLUTIONS, *POOLING, *NORMALIZATION, *CTC, *CELLS]

OWN_OPS = {"WeightsFit": "TensorFlow compares shapes of unknown rank by a conditional and a set difference"}

WITHOUT_CASE = dict.fromkeys(
    ("FractionalAvgPool", "FractionalMaxPool"), "each kernel draws where its windows lie; tests/ops/nn/test_fractional_pool.py"
)
