"""Layers without weights and losses, of torch.nn's names."""
from typing import Any, Callable, Dict

from graphengine import functions
from graphengine.nn import functional as F
from graphengine.nn.module import Module


class _Function(Module):
    """A function of nn.functional with its options."""

    options: Dict[str, Any] = {}
    function: Callable[..., Any]

    def __init__(self, *values: Any, **given: Any) -> None:
        super().__init__()
        names = list(self.options)
        if len(values) > len(names) or set(given) - set(names) or set(names[:len(values)]) & set(given):
            found = [*(type(v).__name__ for v in values), *map(repr, given)]
            raise TypeError(f"{type(self).__name__}() is given {', '.join(found)}, wanted "
                            f"{', '.join(names) or 'nothing'}; a layer is made first, and then called with tensors")
        self.given = {**self.options, **dict(zip(names, values)), **given}

    def forward(self, *inputs: Any) -> Any:
        return type(self).function(*inputs, **self.given)

    def extra_repr(self) -> str:
        return ", ".join(f"{k}={v}" for k, v in self.given.items())


def _layer(name: str, function: Callable[..., Any], text: str, **options: Any) -> Any:
    return type(name, (_Function,), {"options": options, "function": staticmethod(function), "__doc__": text,
                                     "__module__": "graphengine.nn"})


ReLU = _layer("ReLU", F.relu, "max(x, 0).")
GELU = _layer("GELU", F.gelu, "x by the normal distribution's share below it.", approximate="none")
SiLU = _layer("SiLU", F.silu, "x sigmoid(x).")
Sigmoid = _layer("Sigmoid", F.sigmoid, "1 / (1 + exp(-x)).")
Tanh = _layer("Tanh", functions.tanh, "tanh(x).")
Softplus = _layer("Softplus", F.softplus, "log(1 + exp(x)).")
ELU = _layer("ELU", F.elu, "x, or alpha (exp(x) - 1) below 0.", alpha=1.0)
LeakyReLU = _layer("LeakyReLU", F.leaky_relu, "x, or negative_slope x below 0.", negative_slope=0.01)
Softmax = _layer("Softmax", F.softmax, "exp(x) / sum(exp(x)) over an axis.", dim=-1)
LogSoftmax = _layer("LogSoftmax", F.log_softmax, "log(softmax(x)).", dim=-1)
_POOL = {"stride": None, "padding": 0}
_MOST = {"kernel_size": None, **_POOL, "dilation": 1, "ceil_mode": False}
_MEAN = {"kernel_size": None, **_POOL, "ceil_mode": False, "count_include_pad": True}
MaxPool1d = _layer("MaxPool1d", F.max_pool, "The greatest of windows of [batch, channels, length].", **_MOST)
MaxPool2d = _layer("MaxPool2d", F.max_pool, "The greatest of windows of [batch, channels, height, width].", **_MOST)
AvgPool1d = _layer("AvgPool1d", F.avg_pool, "The mean of windows of [batch, channels, length].", **_MEAN)
AvgPool2d = _layer("AvgPool2d", F.avg_pool, "The mean of windows of [batch, channels, height, width].", **_MEAN)
_LOSS = {"reduction": "mean"}
MSELoss = _layer("MSELoss", F.mse_loss, "(x - target)^2.", **_LOSS)
L1Loss = _layer("L1Loss", F.l1_loss, "|x - target|.", **_LOSS)
HuberLoss = _layer("HuberLoss", F.huber_loss, "Squared near 0, straight beyond delta.", **_LOSS, delta=1.0)
SmoothL1Loss = _layer("SmoothL1Loss", F.smooth_l1_loss, "HuberLoss / beta.", **_LOSS, beta=1.0)
BCELoss = _layer("BCELoss", F.binary_cross_entropy, "Of probabilities and targets from 0 to 1.", **_LOSS)
BCEWithLogitsLoss = _layer("BCEWithLogitsLoss", F.binary_cross_entropy_with_logits,
                           "BCELoss of sigmoid(x).", **_LOSS)
KLDivLoss = _layer("KLDivLoss", F.kl_div, "target (log(target) - x).", **_LOSS)
NLLLoss = _layer("NLLLoss", F.nll_loss, "-x of the target's class.", weight=None, ignore_index=-100, **_LOSS)
CrossEntropyLoss = _layer("CrossEntropyLoss", F.cross_entropy, "NLLLoss of log_softmax(x).", weight=None,
                          ignore_index=-100, **_LOSS, label_smoothing=0.0)


class Identity(Module):
    """x."""

    def forward(self, x: Any) -> Any:
        return x


class Flatten(Module):
    """Axes start_dim to end_dim as one."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, x: Any) -> Any:
        last = self.end_dim % len(x.shape)
        return functions.reshape(x, (*x.shape[:self.start_dim], -1, *x.shape[last + 1:]))


class AdaptiveAvgPool2d(Module):
    """The mean over the whole image; output_size 1 alone."""

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        if output_size not in (1, (1, 1)):
            raise ValueError(f"output_size is {output_size}, wanted 1; other sizes are not supported: use AvgPool2d")

    def forward(self, x: Any) -> Any:
        return functions.mean(x, axis=(-2, -1), keepdims=True)


