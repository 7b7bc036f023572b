"""Optimizers: one step operator for each parameter. As torch.optim, with names and first options of it.

    step = ge.optim.Adam(net, lr=1e-3)
    @ge.jit
    def train(x, y):
        loss, gradients = ge.value_and_grad(lambda: net_loss(x, y), wrt=net)()
        step(gradients)
        return loss
"""
import fnmatch
import math
from typing import Any, Callable, Dict, List, Optional, Tuple, Union

import numpy as np

from graphengine import functions
from graphengine._doors import doors
from graphengine._native import apply
from graphengine.nn.module import Module
from graphengine.variable import Variable

Rate = Union[float, Callable[[Any], Any]]


@doors
class Optimizer:
    """Gives parameters other values by their gradients. lr: the rate, a number or a function of the step, which
    is a tensor that begins with 0. groups: options for parameters whose path fits a pattern,
    {"*.bias": {"weight_decay": 0.0}}; the last that fits counts. clip_norm: gradients are scaled to at
    most this norm over all."""

    op = ""
    slots: Tuple[str, ...] = ()
    options: Dict[str, Any] = {}
    corrected = False  # takes what the averages lack of whole ones

    def __init__(self, parameters: Union[Module, Dict[str, Variable]], lr: Rate, *,
                 groups: Optional[Dict[str, Dict[str, Any]]] = None, clip_norm: Optional[float] = None,
                 **options: Any) -> None:
        for name in options:
            if name not in self.options:
                raise TypeError(f"{type(self).__name__}() has no option '{name}', wanted "
                                f"{', '.join(self.options)}; the rate is `lr`")
        if not isinstance(parameters, (Module, dict)):
            raise TypeError(f"{type(self).__name__}() of {type(parameters).__name__}, wanted a Module, or a dict of "
                            "Variables by their paths; give the net itself")
        self.parameters = parameters.parameters() if isinstance(parameters, Module) else dict(parameters)
        if not self.parameters:
            raise ValueError(f"{type(self).__name__}() of {type(parameters).__name__} without parameters, wanted one or more; "
                             "Variables have to be attributes of the Module, or of Modules in it")
        for pattern in groups or {}:
            if not any(fnmatch.fnmatchcase(path, pattern) for path in self.parameters):
                raise ValueError(f"group '{pattern}' fits no parameter, wanted one or more of {', '.join(self.parameters)}; "
                                 "* stands for any part of a path")
        self.lr, self.clip_norm = lr, clip_norm
        self._options = {path: self._of(path, {**self.options, **options}, groups or {}) for path in self.parameters}
        self.count = Variable(np.zeros((), np.int64), "step", trainable=False)
        self.states: Dict[str, List[Variable]] = {
            path: [Variable(np.full(v.shape, self.first(slot, self._options[path]), v.dtype.name), f"{path}.{slot}",
                            False)
                   for slot in self.slots] for path, v in self.parameters.items()}

    def _of(self, path: str, options: Dict[str, Any], groups: Dict[str, Dict[str, Any]]) -> Dict[str, Any]:
        for pattern, more in groups.items():
            if fnmatch.fnmatchcase(path, pattern):
                for name in more:
                    if name not in self.options and name != "lr":
                        raise TypeError(f"group '{pattern}' has option '{name}', wanted lr, "
                                        f"{', '.join(self.options)}; leave it out")
                options = {**options, **more}
        return options

    def first(self, slot: str, options: Dict[str, Any]) -> float:
        """What a slot begins with."""
        return 0.0

    def variables(self) -> Dict[str, Variable]:
        """What it keeps from step to step, by names."""
        out = {"step": self.count}
        for path, slots in self.states.items():
            out.update({f"{path}.{name}": v for name, v in zip(self.slots, slots)})
        return out

    def __call__(self, gradients: Dict[str, Any]) -> None:
        """One step; gradients by the parameters' paths."""
        missing = [p for p in self.parameters if p not in gradients]
        if missing:
            raise KeyError(f"there are no gradients for {missing}, wanted one for each of "
                           f"{list(self.parameters)}; take them by value_and_grad(loss, wrt=net)")
        done = self.count.value
        gradients = {p: gradients[p] for p in self.parameters}
        if self.clip_norm is not None:
            gradients = clip_by_norm(gradients, self.clip_norm)
        scalars: Dict[Any, List[Any]] = {}  # one set for all parameters of a type and options
        for path, variable in self.parameters.items():
            options = dict(self._options[path])
            rate, slots = options.pop("lr", self.lr), self.states[path]
            key = (rate, options.get("beta1"), options.get("beta2"), variable.dtype)
            if key not in scalars:
                scalars[key] = self._scalars(rate, done, options, variable.dtype)
            inputs = [variable.value, *[s.value for s in slots], gradients[path], *scalars[key]]
            made = apply("ge", self.op, inputs, self.attributes(options), 1 + len(slots))
            made = made if slots else (made,)
            for kept, value in zip([variable, *slots], made):
                kept.assign(value)
        self.count.assign(done + 1)

    def attributes(self, options: Dict[str, Any]) -> Dict[str, Any]:
        """Options as the operator has them."""
        return {name: int(v) if isinstance(v, bool) else float(v) for name, v in options.items()}

    def _scalars(self, rate: Rate, done: Any, options: Dict[str, Any], dtype: Any) -> List[Any]:
        """The operator's inputs of one number, of the parameter's type."""
        made = [functions.asarray(rate(done) if callable(rate) else rate, dtype=dtype)]
        return [*made, *(self._corrections(done, options, dtype) if self.corrected else ())]

    @staticmethod
    def _corrections(done: Any, options: Dict[str, Any], dtype: Any) -> List[Any]:
        t = functions.astype(done + 1, functions.float64)
        first = 1 - functions.exp(t * math.log(options["beta1"])) if options["beta1"] else functions.ones(
            (), dtype=functions.float64)
        second = functions.sqrt(1 - functions.exp(t * math.log(options["beta2"])))
        return [functions.astype(first, dtype), functions.astype(second, dtype)]


def clip_by_norm(gradients: Dict[str, Any], most: float) -> Dict[str, Any]:
    """Scaled so that the root of the sum of all squares is at most `most`. As torch's clip_grad_norm_."""
    total: Any = 0.0
    for g in gradients.values():
        total = total + functions.sum(functions.square(g))
    scale = functions.minimum(most / (functions.sqrt(total) + 1e-6), functions.asarray(1.0))
    return {path: g * scale for path, g in gradients.items()}


class SGD(Optimizer):
    """With momentum, and Nesterov's."""

    op, slots = "MomentumStep", ("velocity",)
    options = {"momentum": 0.0, "weight_decay": 0.0, "nesterov": False}


class Adam(Optimizer):
    """arXiv 1412.6980; weight_decay is added to the gradient."""

    op, slots, corrected = "AdamStep", ("mean", "square"), True
    options = {"beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8, "weight_decay": 0.0}


class AdamW(Adam):
    """arXiv 1711.05101: weight_decay shrinks the weight itself."""

    options = {**Adam.options, "weight_decay": 0.01}

    def attributes(self, options: Dict[str, Any]) -> Dict[str, Any]:
        return {**super().attributes(options), "decoupled": 1}


class RMSprop(Optimizer):
    """By a running mean of squares."""

    op, slots = "RmsPropStep", ("square",)
    options = {"alpha": 0.99, "epsilon": 1e-8, "weight_decay": 0.0}


class Adagrad(Optimizer):
    """By the sum of squares so far."""

    op, slots = "AdagradStep", ("square",)
    options = {"epsilon": 1e-10, "weight_decay": 0.0}


class Lamb(Optimizer):
    """arXiv 1904.00962."""

    op, slots, corrected = "LambStep", ("mean", "square"), True
    options = {"beta1": 0.9, "beta2": 0.999, "epsilon": 1e-6, "weight_decay": 0.01}


class Lars(Optimizer):
    """arXiv 1708.03888."""

    op, slots = "LarsStep", ("velocity",)
    options = {"momentum": 0.9, "trust": 0.001, "epsilon": 1e-8, "weight_decay": 0.0, "nesterov": False}


class Lion(Optimizer):
    """arXiv 2302.06675."""

    op, slots = "LionStep", ("mean",)
    options = {"beta1": 0.9, "beta2": 0.99, "weight_decay": 0.0}


