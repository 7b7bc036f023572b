"""Layers with weights, of torch.nn's names, layouts and first values."""
import math
from typing import Any, List, Optional, Sequence, Tuple, Union

import numpy as np

from graphengine import functions
from graphengine.nn import functional as F
from graphengine.nn.module import Module, items, optional
from graphengine.random import generator
from graphengine.variable import Variable

Sizes = Union[int, Sequence[int]]


def uniform(shape: Sequence[int], bound: float) -> np.ndarray:
    """First values between -bound and bound."""
    return generator().uniform(-bound, bound, size=tuple(shape)).astype(np.float32)


class Linear(Module):
    """x @ weight.T + bias. weight: [out_features, in_features]."""

    def __init__(self, in_features: int, out_features: int, bias: bool = True) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        bound = 1 / math.sqrt(in_features) if in_features else 0
        self.weight = Variable(uniform((out_features, in_features), bound), "weight")
        optional(self, "bias", uniform((out_features,), bound) if bias else None)

    def forward(self, x: Any) -> Any:
        return F.linear(x, self.weight.value, None if self.bias is None else self.bias.value)

    def extra_repr(self) -> str:
        return f"{self.in_features}, {self.out_features}, bias={self.bias is not None}"


class Bilinear(Module):
    """x1 @ weight @ x2 + bias. weight: [out_features, in1_features, in2_features]."""

    def __init__(self, in1_features: int, in2_features: int, out_features: int, bias: bool = True) -> None:
        super().__init__()
        bound = 1 / math.sqrt(in1_features)
        self.weight = Variable(uniform((out_features, in1_features, in2_features), bound), "weight")
        optional(self, "bias", uniform((out_features,), bound) if bias else None)

    def forward(self, x1: Any, x2: Any) -> Any:
        left = functions.matmul(functions.expand_dims(functions.expand_dims(x1, axis=-2), axis=-2), self.weight.value)
        out = functions.sum(functions.squeeze(left, axis=-2) * functions.expand_dims(x2, axis=-2), axis=-1)
        return out if self.bias is None else out + self.bias.value


class _Conv(Module):
    """Convolutions over `axes` axes."""

    axes = 0
    transposed = False

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Sizes, stride: Sizes = 1,
                 padding: Union[Sizes, str] = 0, dilation: Sizes = 1, groups: int = 1, bias: bool = True,
                 output_padding: Sizes = 0) -> None:
        super().__init__()
        for what, channels in (("in_channels", in_channels), ("out_channels", out_channels)):
            if channels % groups:
                raise ValueError(f"{what} is {channels}, wanted a multiple of groups, {groups}; give one that "
                                 "groups divides")
        kernel = items(kernel_size, self.axes, "kernel_size")
        if isinstance(padding, str) and padding not in ("same", "valid"):
            raise ValueError(f"padding is {padding!r}, wanted numbers, 'same' or 'valid'; 'same' keeps the sizes")
        self.in_channels, self.out_channels, self.kernel_size = in_channels, out_channels, tuple(kernel)
        self.stride, self.padding, self.dilation, self.groups = stride, padding, dilation, groups
        self.output_padding = output_padding
        shape = ((in_channels, out_channels // groups) if self.transposed else
                 (out_channels, in_channels // groups)) + tuple(kernel)
        bound = 1 / math.sqrt(math.prod(shape[1:]))
        self.weight = Variable(uniform(shape, bound), "weight")
        optional(self, "bias", uniform((out_channels,), bound) if bias else None)

    def forward(self, x: Any) -> Any:
        bias = None if self.bias is None else self.bias.value
        if self.transposed:
            return F.conv_transpose(x, self.weight.value, bias, self.stride, self.padding, self.output_padding,
                                    self.groups, self.dilation)
        return F.conv(x, self.weight.value, bias, self.stride, self.padding, self.dilation, self.groups)

    def extra_repr(self) -> str:
        return (f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}, "
                f"padding={self.padding}")


class Conv1d(_Conv):
    """x: [batch, channels, length]."""
    axes = 1


class Conv2d(_Conv):
    """x: [batch, channels, height, width]."""
    axes = 2


class Conv3d(_Conv):
    """x: [batch, channels, depth, height, width]."""
    axes = 3


class _ConvTranspose(_Conv):
    transposed = True

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Sizes, stride: Sizes = 1,
                 padding: Sizes = 0, output_padding: Sizes = 0, groups: int = 1, bias: bool = True,
                 dilation: Sizes = 1) -> None:
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias,
                         output_padding)


class ConvTranspose1d(_ConvTranspose):
    """x: [batch, channels, length]."""
    axes = 1


class ConvTranspose2d(_ConvTranspose):
    """x: [batch, channels, height, width]."""
    axes = 2


class Embedding(Module):
    """Rows of a table. weight: [num_embeddings, embedding_dim]."""

    def __init__(self, num_embeddings: int, embedding_dim: int) -> None:
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        first = generator().standard_normal((num_embeddings, embedding_dim)).astype(np.float32)
        self.weight = Variable(first, "weight")

    def forward(self, indices: Any) -> Any:
        return F.embedding(indices, self.weight.value)

    def extra_repr(self) -> str:
        return f"{self.num_embeddings}, {self.embedding_dim}"


class _BatchNorm(Module):
    """Over all axes but that of the channels, 1. In training by the batch's moments, which it averages."""

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float = 0.1, affine: bool = True,
                 track_running_stats: bool = True) -> None:
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        optional(self, "weight", np.ones(num_features, np.float32) if affine else None)
        optional(self, "bias", np.zeros(num_features, np.float32) if affine else None)
        kept = track_running_stats
        optional(self, "running_mean", np.zeros(num_features, np.float32) if kept else None, False)
        optional(self, "running_var", np.ones(num_features, np.float32) if kept else None, False)

    def forward(self, x: Any) -> Any:
        if len(x.shape) < 2 or isinstance(x.shape[1], int) and x.shape[1] != self.num_features:
            raise ValueError(f"{type(self).__name__}({self.num_features}) of shape {tuple(x.shape)}, wanted {self.num_features} "
                             "channels along axis 1; make the layer of as many, or move the channels there")
        axes = (0, *range(2, len(x.shape)))
        shape = (1, self.num_features) + (1,) * (len(x.shape) - 2)
        if self.training or self.running_mean is None:
            mean = functions.mean(x, axis=axes, keepdims=True)
            var = functions.mean(functions.square(x - mean), axis=axes, keepdims=True)
            self._average(x, mean, var, axes)
        else:
            mean = functions.reshape(self.running_mean.value, shape)
            var = functions.reshape(self.running_var.value, shape)
        out = (x - mean) / functions.sqrt(var + self.eps)
        if self.weight is None:
            return out
        return out * functions.reshape(self.weight.value, shape) + functions.reshape(self.bias.value, shape)

    def _average(self, x: Any, mean: Any, var: Any, axes: Tuple[int, ...]) -> None:
        if not self.training or self.running_mean is None:
            return
        count: Any = 1
        for axis in axes:
            count = count * x.shape[axis]
        if not isinstance(count, int):
            count = functions.astype(count, x.dtype)
        m, flat = self.momentum, (self.num_features,)
        unbiased = functions.reshape(var, flat) * (count / (count - 1))
        self.running_mean.assign(self.running_mean.value * (1 - m) + functions.reshape(mean, flat) * m)
        self.running_var.assign(self.running_var.value * (1 - m) + unbiased * m)

    def extra_repr(self) -> str:
        return f"{self.num_features}, eps={self.eps}, momentum={self.momentum}"


class BatchNorm1d(_BatchNorm):
    """x: [batch, channels] or [batch, channels, length]."""


class BatchNorm2d(_BatchNorm):
    """x: [batch, channels, height, width]."""


class BatchNorm3d(_BatchNorm):
    """x: [batch, channels, depth, height, width]."""


class LayerNorm(Module):
    """Over the last axes, of sizes normalized_shape."""

    def __init__(self, normalized_shape: Sizes, eps: float = 1e-5, elementwise_affine: bool = True,
                 bias: bool = True) -> None:
        super().__init__()
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps = eps
        shape, affine = self.normalized_shape, elementwise_affine
        optional(self, "weight", np.ones(shape, np.float32) if affine else None)
        optional(self, "bias", np.zeros(shape, np.float32) if affine and bias else None)

    def forward(self, x: Any) -> Any:
        weight, bias = (None if v is None else v.value for v in (self.weight, self.bias))
        return F.layer_norm(x, self.normalized_shape, weight, bias, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}"


class RMSNorm(Module):
    """Over the last axes, of sizes normalized_shape, without a mean."""

    def __init__(self, normalized_shape: Sizes, eps: Optional[float] = None, elementwise_affine: bool = True) -> None:
        super().__init__()
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps = float(np.finfo(np.float32).eps) if eps is None else eps
        optional(self, "weight", np.ones(self.normalized_shape, np.float32) if elementwise_affine else None)

    def forward(self, x: Any) -> Any:
        return F.rms_norm(x, self.normalized_shape, None if self.weight is None else self.weight.value, self.eps)


class GroupNorm(Module):
    """Over groups of channels, axis 1."""

    def __init__(self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True) -> None:
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(f"num_channels is {num_channels}, wanted a multiple of num_groups, {num_groups}; "
                             "give one that num_groups divides")
        self.num_groups, self.eps = num_groups, eps
        optional(self, "weight", np.ones(num_channels, np.float32) if affine else None)
        optional(self, "bias", np.zeros(num_channels, np.float32) if affine else None)

    def forward(self, x: Any) -> Any:
        weight, bias = (None if v is None else v.value for v in (self.weight, self.bias))
        return F.group_norm(x, self.num_groups, weight, bias, self.eps)


class Dropout(Module):
    """In training, zero with probability p, the others divided by 1 - p."""

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        if not 0 <= p < 1:
            raise ValueError(f"p is {p}, wanted 0 or more and less than 1; it is the part that is left out")
        self.p = p

    def forward(self, x: Any) -> Any:
        if not self.training or self.p == 0:
            return x
        from graphengine import random

        kept = random.uniform(x.shape) >= self.p
        return functions.where(kept, x / (1 - self.p), functions.zeros_like(x))

    def extra_repr(self) -> str:
        return f"p={self.p}"


class MultiheadAttention(Module):
    """Attention with projections of query, key and value. in_proj_weight: [3 embed_dim, embed_dim]."""

    def __init__(self, embed_dim: int, num_heads: int, bias: bool = True, batch_first: bool = False) -> None:
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError(f"embed_dim is {embed_dim}, wanted a multiple of num_heads, {num_heads}; give one that "
                             "num_heads divides")
        self.embed_dim, self.num_heads, self.batch_first = embed_dim, num_heads, batch_first
        bound = math.sqrt(6 / (4 * embed_dim))
        self.in_proj_weight = Variable(uniform((3 * embed_dim, embed_dim), bound), "in_proj_weight")
        optional(self, "in_proj_bias", np.zeros(3 * embed_dim, np.float32) if bias else None)
        self.out_proj = Linear(embed_dim, embed_dim, bias)

    def _heads(self, x: Any, which: int) -> Any:
        e, h = self.embed_dim, self.num_heads
        weight = self.in_proj_weight.value[which * e:(which + 1) * e]
        bias = None if self.in_proj_bias is None else self.in_proj_bias.value[which * e:(which + 1) * e]
        out = F.linear(x, weight, bias)  # [batch, length, embed_dim]
        out = functions.reshape(out, (out.shape[0], out.shape[1], h, e // h))
        return functions.permute_dims(out, (0, 2, 1, 3))

    def forward(self, query: Any, key: Any, value: Any, attn_mask: Optional[Any] = None,
                is_causal: bool = False) -> Any:
        if not self.batch_first:
            query, key, value = (functions.permute_dims(t, (1, 0, 2)) for t in (query, key, value))
        q, k, v = self._heads(query, 0), self._heads(key, 1), self._heads(value, 2)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask, is_causal)
        out = functions.permute_dims(out, (0, 2, 1, 3))
        out = self.out_proj(functions.reshape(out, (out.shape[0], out.shape[1], self.embed_dim)))
        return out if self.batch_first else functions.permute_dims(out, (1, 0, 2))


class _Recurrent(Module):
    """Layers of LSTM, GRU or RNN, by ONNX's operators. Weights as torch's: weight_ih_l0 ..."""

    op = ""
    gates = 1
    order: Tuple[int, ...] = (0,)  # torch's gates in ONNX's order

    def __init__(self, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True,
                 batch_first: bool = False, bidirectional: bool = False) -> None:
        super().__init__()
        self.input_size, self.hidden_size, self.num_layers = input_size, hidden_size, num_layers
        self.batch_first, self.directions, self.has_bias = batch_first, 2 if bidirectional else 1, bias
        bound, rows = 1 / math.sqrt(hidden_size), self.gates * hidden_size
        for layer, end in self._parts():
            inputs = input_size if layer == 0 else hidden_size * self.directions
            name = f"l{layer}{end}"
            setattr(self, f"weight_ih_{name}", Variable(uniform((rows, inputs), bound), f"weight_ih_{name}"))
            setattr(self, f"weight_hh_{name}", Variable(uniform((rows, hidden_size), bound), f"weight_hh_{name}"))
            if bias:
                setattr(self, f"bias_ih_{name}", Variable(uniform((rows,), bound), f"bias_ih_{name}"))
                setattr(self, f"bias_hh_{name}", Variable(uniform((rows,), bound), f"bias_hh_{name}"))

    def _parts(self) -> List[Tuple[int, str]]:
        return [(layer, end) for layer in range(self.num_layers) for end in ("", "_reverse")[:self.directions]]

    def _ordered(self, name: str) -> Any:
        value, h = getattr(self, name).value, self.hidden_size
        return value if len(self.order) == 1 else functions.concat([value[g * h:(g + 1) * h] for g in self.order])

    def _weights(self, layer: int) -> List[Any]:
        names = [f"l{layer}{end}" for end in ("", "_reverse")[:self.directions]]
        out = [functions.stack([self._ordered(f"weight_{kind}_{n}") for n in names]) for kind in ("ih", "hh")]
        if self.has_bias:
            out.append(functions.stack([functions.concat([self._ordered(f"bias_ih_{n}"),
                                                          self._ordered(f"bias_hh_{n}")]) for n in names]))
        return out

    def _run(self, x: Any, states: Sequence[Any]) -> Tuple[Any, List[Any]]:
        """x: [length, batch, size]; states: [layers * directions, batch, hidden] each."""
        ends: List[List[Any]] = [[] for _ in states]
        for layer in range(self.num_layers):
            first, last = layer * self.directions, (layer + 1) * self.directions
            weights = self._weights(layer)
            weights += [None] * (3 - len(weights))
            made = F.apply("", self.op, [x, *weights, None, *[s[first:last] for s in states]], {
                "hidden_size": self.hidden_size, "direction": "bidirectional" if self.directions == 2 else "forward",
                **self.attributes()}, 1 + len(states))
            y = functions.permute_dims(made[0], (0, 2, 1, 3))  # [length, batch, directions, hidden]
            x = functions.reshape(y, (y.shape[0], y.shape[1], self.directions * self.hidden_size))
            for kept, end in zip(ends, made[1:]):
                kept.append(end)
        return x, [functions.concat(e) for e in ends]

    def attributes(self) -> dict:
        return {}

    def _zeros(self, x: Any) -> Any:
        return functions.zeros((self.num_layers * self.directions, x.shape[1], self.hidden_size), dtype=x.dtype)

    def forward(self, x: Any, state: Any = None) -> Any:
        if self.batch_first:
            x = functions.permute_dims(x, (1, 0, 2))
        out, ends = self._run(x, self._first(x, state))
        if self.batch_first:
            out = functions.permute_dims(out, (1, 0, 2))
        return out, self._last(ends)

    def _first(self, x: Any, state: Any) -> List[Any]:
        return [self._zeros(x) if state is None else state]

    def _last(self, ends: List[Any]) -> Any:
        return ends[0]


class LSTM(_Recurrent):
    """x: [length, batch, input_size]; answers (outputs, (hidden, cell))."""
    op, gates, order = "LSTM", 4, (0, 3, 1, 2)

    def _first(self, x: Any, state: Any) -> List[Any]:
        return [self._zeros(x), self._zeros(x)] if state is None else list(state)

    def _last(self, ends: List[Any]) -> Any:
        return tuple(ends)


class GRU(_Recurrent):
    """x: [length, batch, input_size]; answers (outputs, hidden)."""
    op, gates, order = "GRU", 3, (1, 0, 2)

    def attributes(self) -> dict:
        return {"linear_before_reset": 1}


class RNN(_Recurrent):
    """x: [length, batch, input_size]; tanh; answers (outputs, hidden)."""
    op = "RNN"
