"""Layers as functions: activations, convolutions, norms, pools, losses. As torch.nn.functional."""
import math
from typing import Any, List, Optional, Sequence, Union

from graphengine import functions as F
from graphengine._native import Tensor, apply

Sizes = Union[int, Sequence[int]]


def _op(op: str, *inputs: Any, outputs: int = 1, domain: str = "", **attributes: Any) -> Any:
    given = [x if x is None or isinstance(x, Tensor) else F.asarray(x) for x in inputs]
    return apply(domain, op, given, attributes, outputs)


def _alike(loss: str, x: Any, target: Any) -> Any:
    """The target as a Tensor; refused where it would be broadcast, which is a mistake as a rule."""
    target = target if isinstance(target, Tensor) else F.asarray(target)
    same = len(x.shape) == len(target.shape) and all(
        n == m for n, m in zip(x.shape, target.shape) if isinstance(n, int) and isinstance(m, int))
    if not same:
        raise ValueError(f"{loss}: found a target of the shape {_sizes(target)} for outputs of {_sizes(x)}, wanted the same; "
                         "reshape one")
    return target


def _sizes(x: Any) -> str:
    return f"({', '.join(map(str, x.shape))})"


def relu(x: Any) -> Any:
    return _op("Relu", x)


def gelu(x: Any, approximate: str = "none") -> Any:
    return _op("Gelu", x, approximate=approximate)


def sigmoid(x: Any) -> Any:
    return _op("Sigmoid", x)


def silu(x: Any) -> Any:
    return x * _op("Sigmoid", x)


def softplus(x: Any) -> Any:
    return _op("Softplus", x)


def elu(x: Any, alpha: float = 1.0) -> Any:
    return _op("Elu", x, alpha=float(alpha))


def leaky_relu(x: Any, negative_slope: float = 0.01) -> Any:
    return _op("LeakyRelu", x, alpha=float(negative_slope))


def softmax(x: Any, dim: int = -1) -> Any:
    return _op("Softmax", x, axis=dim)


def log_softmax(x: Any, dim: int = -1) -> Any:
    return _op("LogSoftmax", x, axis=dim)


def linear(x: Any, weight: Any, bias: Optional[Any] = None) -> Any:
    """x @ weight.T + bias; weight: [outputs, inputs]."""
    out = F.matmul(x, F.permute_dims(weight, (1, 0)))
    return out if bias is None else out + bias


def _each(value: Sizes, count: int) -> List[int]:
    return [value] * count if isinstance(value, int) else list(value)


def conv(x: Any, weight: Any, bias: Optional[Any] = None, stride: Sizes = 1, padding: Union[Sizes, str] = 0,
         dilation: Sizes = 1, groups: int = 1) -> Any:
    """A convolution over as many axes as the weight [outputs, inputs / groups, sizes...] has."""
    n = len(weight.shape) - 2
    if len(x.shape) != n + 2:
        raise ValueError(f"convolution over {n} axes of shape {tuple(x.shape)}, wanted {n + 2} axes: [batch, channels] and "
                         "the sizes; add a batch of one by expand_dims(x, axis=0)")
    attributes = {"strides": _each(stride, n), "dilations": _each(dilation, n), "group": groups}
    if padding == "same":
        attributes["auto_pad"] = "SAME_UPPER"
    elif padding != "valid":
        attributes["pads"] = _each(padding, n) * 2
    return _op("Conv", x, weight, *([] if bias is None else [bias]), **attributes)


def conv_transpose(x: Any, weight: Any, bias: Optional[Any] = None, stride: Sizes = 1, padding: Sizes = 0,
                   output_padding: Sizes = 0, groups: int = 1, dilation: Sizes = 1) -> Any:
    """weight: [inputs, outputs / groups, sizes...]."""
    n = len(weight.shape) - 2
    return _op("ConvTranspose", x, weight, *([] if bias is None else [bias]), strides=_each(stride, n),
               pads=_each(padding, n) * 2, output_padding=_each(output_padding, n), group=groups,
               dilations=_each(dilation, n))


def max_pool(x: Any, kernel_size: Sizes, stride: Optional[Sizes] = None, padding: Sizes = 0,
             dilation: Sizes = 1, ceil_mode: bool = False) -> Any:
    n = len(x.shape) - 2
    return _op("MaxPool", x, kernel_shape=_each(kernel_size, n), strides=_each(stride or kernel_size, n),
               pads=_each(padding, n) * 2, dilations=_each(dilation, n), ceil_mode=int(ceil_mode))


def avg_pool(x: Any, kernel_size: Sizes, stride: Optional[Sizes] = None, padding: Sizes = 0,
             ceil_mode: bool = False, count_include_pad: bool = True) -> Any:
    n = len(x.shape) - 2
    return _op("AveragePool", x, kernel_shape=_each(kernel_size, n), strides=_each(stride or kernel_size, n),
               pads=_each(padding, n) * 2, ceil_mode=int(ceil_mode), count_include_pad=int(count_include_pad))


def layer_norm(x: Any, normalized_shape: Sequence[int], weight: Optional[Any] = None, bias: Optional[Any] = None,
               eps: float = 1e-5) -> Any:
    scale = F.ones(tuple(normalized_shape), dtype=x.dtype) if weight is None else weight
    return _op("LayerNormalization", x, scale, *([] if bias is None else [bias]), axis=-len(normalized_shape),
               epsilon=eps)


def rms_norm(x: Any, normalized_shape: Sequence[int], weight: Optional[Any] = None, eps: float = 1e-5) -> Any:
    scale = F.ones(tuple(normalized_shape), dtype=x.dtype) if weight is None else weight
    return _op("RMSNormalization", x, scale, axis=-len(normalized_shape), epsilon=eps)


def group_norm(x: Any, num_groups: int, weight: Optional[Any] = None, bias: Optional[Any] = None,
               eps: float = 1e-5) -> Any:
    channels = x.shape[1]
    scale = F.ones((channels,), dtype=x.dtype) if weight is None else weight
    shift = F.zeros((channels,), dtype=x.dtype) if bias is None else bias
    return _op("GroupNormalization", x, scale, shift, num_groups=num_groups, epsilon=eps)


def embedding(indices: Any, weight: Any) -> Any:
    return _op("Gather", weight, indices, axis=0)


def scaled_dot_product_attention(query: Any, key: Any, value: Any, attn_mask: Optional[Any] = None,
                                 is_causal: bool = False, scale: Optional[float] = None) -> Any:
    """query, key, value: [batch, heads, length, size]."""
    more = [] if attn_mask is None else [attn_mask]
    attributes = {"is_causal": int(is_causal)}
    if scale is not None:
        attributes["scale"] = float(scale)  # type: ignore[assignment]
    return _op("Attention", query, key, value, *more, **attributes)


# ---- losses

def _reduced(x: Any, reduction: str) -> Any:
    if reduction == "mean":
        return F.mean(x)
    if reduction == "sum":
        return F.sum(x)
    if reduction == "none":
        return x
    raise ValueError(f"reduction is '{reduction}', wanted 'mean', 'sum' or 'none'; 'none' answers all of them")


def cross_entropy(logits: Any, target: Any, weight: Optional[Any] = None, ignore_index: int = -100,
                  reduction: str = "mean", label_smoothing: float = 0.0) -> Any:
    """logits: [batch, classes, ...]; target: class numbers [batch, ...], or probabilities as the logits."""
    target = target if isinstance(target, Tensor) else F.asarray(target)
    if F.isdtype(target.dtype, "real floating"):
        if len(target.shape) == len(logits.shape) - 1:
            raise TypeError(f"cross_entropy: found class numbers of {target.dtype.name}, wanted integers; convert them by "
                            "astype(ge.int64), or give probabilities in the shape of the logits")
        target = _alike("cross_entropy of probabilities", logits, target)
        if label_smoothing:
            target = target * (1 - label_smoothing) + label_smoothing / logits.shape[1]
        logs = log_softmax(logits, 1)
        if weight is not None:
            logs = logs * F.reshape(weight, (1, -1, *[1] * (len(logits.shape) - 2)))
        return _reduced(-F.sum(target * logs, axis=1), reduction)
    if len(target.shape) != len(logits.shape) - 1:
        raise ValueError(f"cross_entropy: found class numbers of the shape {_sizes(target)} for logits of {_sizes(logits)}, "
                         "wanted one for each row, (batch, ...); reshape them, or give probabilities of floats")
    if label_smoothing:
        logs = log_softmax(logits, 1)
        plain = nll_loss(logs, target, weight, ignore_index, reduction)
        smooth = _reduced(-F.mean(logs, axis=1), reduction)
        return (1 - label_smoothing) * plain + label_smoothing * smooth
    inputs = [logits, target] + ([] if weight is None else [weight])
    return _op("SoftmaxCrossEntropyLoss", *inputs, reduction=reduction, ignore_index=ignore_index)


def nll_loss(logs: Any, target: Any, weight: Optional[Any] = None, ignore_index: int = -100,
             reduction: str = "mean") -> Any:
    inputs = [logs, target] + ([] if weight is None else [weight])
    return _op("NegativeLogLikelihoodLoss", *inputs, reduction=reduction, ignore_index=ignore_index)


def mse_loss(x: Any, target: Any, reduction: str = "mean") -> Any:
    target = _alike("mse_loss", x, target)
    return _reduced(F.square(x - target), reduction)


def l1_loss(x: Any, target: Any, reduction: str = "mean") -> Any:
    target = _alike("l1_loss", x, target)
    return _reduced(F.abs(x - target), reduction)


def huber_loss(x: Any, target: Any, reduction: str = "mean", delta: float = 1.0) -> Any:
    target = _alike("huber_loss", x, target)
    far = F.abs(x - target)
    return _reduced(F.where(far < delta, 0.5 * far * far, delta * (far - 0.5 * delta)), reduction)


def smooth_l1_loss(x: Any, target: Any, reduction: str = "mean", beta: float = 1.0) -> Any:
    target = _alike("smooth_l1_loss", x, target)
    far = F.abs(x - target)
    return _reduced(F.where(far < beta, 0.5 * far * far / beta, far - 0.5 * beta), reduction)


def binary_cross_entropy_with_logits(x: Any, target: Any, reduction: str = "mean") -> Any:
    target = _alike("binary_cross_entropy_with_logits", x, target)
    return _reduced(F.maximum(x, F.zeros_like(x)) - x * target + F.log1p(F.exp(-F.abs(x))), reduction)


def binary_cross_entropy(x: Any, target: Any, reduction: str = "mean") -> Any:
    target = _alike("binary_cross_entropy", x, target)
    low = -100.0  # as torch bounds the logarithm
    return _reduced(-(target * F.clip(F.log(x), low, None) + (1 - target) * F.clip(F.log(1 - x), low, None)),
                    reduction)


def kl_div(x: Any, target: Any, reduction: str = "mean") -> Any:
    target = _alike("kl_div", x, target)
    return _reduced(F.where(target > 0, target * (F.log(target) - x), F.zeros_like(x)), reduction)


def sinusoid(length: int, size: int) -> List[List[float]]:
    """Positions as sines and cosines, [length][size]."""
    return [[(math.cos if k % 2 else math.sin)(p / 10000 ** (k // 2 * 2 / size)) for k in range(size)]
            for p in range(length)]
