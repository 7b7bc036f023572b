"""Model: trains, evaluates and uses a network."""
import hashlib
import json
import math
import os
import sys
import time
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple

import numpy as np

from graphengine import functions
from graphengine._doors import doors
from graphengine.files import load, save, write_whole
from graphengine.gradients import value_and_grad
from graphengine.jit.merge import describe
from graphengine.jit.program import is_argument, jit
from graphengine.nn.module import Module
from graphengine.optim import Optimizer
from graphengine.order import Order


class Callback:
    """What a program does while a Model trains; each method may be left out. logs: numbers by name."""

    def on_epoch_begin(self, model: "Model", epoch: int) -> None: ...
    def on_step_end(self, model: "Model", step: int, logs: Dict[str, float]) -> None: ...
    def on_epoch_end(self, model: "Model", epoch: int, logs: Dict[str, float]) -> None: ...


class _Rows:
    """Arrays of as many rows."""

    def __init__(self, arrays: Sequence[Any]) -> None:
        self.arrays = [np.asarray(a) for a in arrays]
        counts = [len(a) for a in self.arrays]
        if len(set(counts)) != 1:
            raise ValueError(f"the arrays have {counts} rows, wanted as many in each; leave some out of the longer")
        self.rows = counts[0]

    def batches(self, size: int, epoch: Optional[int], seed: int, first: int = 0) -> Iterator[Tuple[Any, ...]]:
        """Whole batches in the order of the epoch; all rows as they are where it is None."""
        if epoch is None:
            for at in range(0, self.rows, size):
                yield tuple(a[at:at + size] for a in self.arrays)
            return
        size = min(size, self.rows)
        count = self.rows // size * size
        order = Order(epoch, self.rows, count, seed)
        for at in range(first * size, count, size):
            rows = order.rows(at, size)
            yield tuple(a[rows] for a in self.arrays)


def accuracy(outputs: Any, target: Any) -> Any:
    """The part of rows whose greatest output is that of the target."""
    best = functions.argmax(outputs, axis=-1)
    return functions.mean(functions.astype(best == functions.astype(target, best.dtype), functions.float32))


METRICS: Dict[str, Callable[[Any, Any], Any]] = {"accuracy": accuracy}


@doors
class Model:
    """A network with what trains it. loss(outputs, target) answers a number; metrics: functions of the
    same arguments, or "accuracy"."""

    def __init__(self, net: Module, loss: Callable[[Any, Any], Any], optimizer: Optional[Optimizer] = None,
                 metrics: Sequence[Any] = ()) -> None:
        self.net, self.loss, self.optimizer = net, loss, optimizer
        self.metrics: Dict[str, Callable[[Any, Any], Any]] = {}
        for m in metrics:
            if isinstance(m, str) and m not in METRICS:
                raise ValueError(f"there is no metric '{m}', wanted {', '.join(METRICS)} or a function; it takes "
                                 "(outputs, target)")
            self.metrics[m if isinstance(m, str) else m.__name__] = METRICS[m] if isinstance(m, str) else m
        self.step, self.stop = 0, False
        self._train, self._measure, self._predict = jit(self._step), jit(self._measured), jit(lambda x: self.net(x))

    # ---- the three programs

    def _step(self, x: Any, target: Any) -> Tuple[Any, ...]:
        def of_batch(x: Any, target: Any) -> Tuple[Any, Any]:
            outputs = self.net(x)
            return self.loss(outputs, target), outputs
        (loss, outputs), gradients = value_and_grad(of_batch, wrt=self.net, has_aux=True)(x, target)
        assert self.optimizer is not None
        self.optimizer(gradients)
        return (loss, *[m(outputs, target) for m in self.metrics.values()])

    def _measured(self, x: Any, target: Any) -> Tuple[Any, ...]:
        outputs = self.net(x)
        return (self.loss(outputs, target), *[m(outputs, target) for m in self.metrics.values()])

    # ---- for users

    def fit(self, x: Any, target: Any = None, *, epochs: int = 1, batch_size: int = 32, seed: int = 0,
            validation: Any = None, callbacks: Sequence[Callback] = (), checkpoint: Optional[str] = None,
            resume: bool = False, progress: Optional[bool] = None) -> List[Dict[str, float]]:
        """Trains over arrays x and target, or over an iterable of (x, target) batches. Answers what each
        epoch came to. checkpoint: a folder that has the run's state after each epoch; resume: goes on from
        it. progress: a bar on the error stream, by default on a terminal alone."""
        if self.optimizer is None:
            raise ValueError("fit() of a Model without an optimizer, wanted one; give it to Model(net, loss, optimizer)")
        for i, c in enumerate(callbacks):
            if not all(hasattr(c, name) for name in ("on_epoch_begin", "on_step_end", "on_epoch_end")):
                raise TypeError(f"callback {i} is a {type(c).__name__}, wanted a ge.Callback; derive a class from that")
        kept = None if checkpoint is None else _Checkpoint(checkpoint, self, {
            "seed": seed, "batch_size": batch_size, "data": _digest(x, target)})
        history, first = kept.begin(resume) if kept is not None else ([], 0)
        self.stop = False
        show = sys.stderr.isatty() if progress is None else progress
        for epoch in range(first, epochs):
            for c in callbacks:
                c.on_epoch_begin(self, epoch)
            self.net.train()
            logs = self._epoch(x, target, epoch, batch_size, seed, callbacks, show)
            if validation is not None:
                found = self.evaluate(*validation, batch_size=batch_size)
                logs.update({f"val_{name}": v for name, v in found.items()})
            history.append(logs)
            for c in callbacks:
                c.on_epoch_end(self, epoch, logs)
            if kept is not None:
                kept.write(history)
            if self.stop:
                break
        return history

    def _epoch(self, x: Any, target: Any, epoch: int, size: int, seed: int, callbacks: Sequence[Callback],
               show: bool) -> Dict[str, float]:
        names, sums, rows = ["loss", *self.metrics], np.zeros(1 + len(self.metrics)), 0
        for batch in _bar(_batches(x, target, size, epoch, seed), f"epoch {epoch + 1}", show):
            found = [float(v) for v in self._train(*batch)]
            if not math.isfinite(found[0]):
                raise FloatingPointError(f"the loss of step {self.step} is {found[0]}, wanted a finite one; a "
                                         "smaller rate or clip_norm helps as a rule")
            self.step += 1
            for c in callbacks:
                c.on_step_end(self, self.step, dict(zip(names, found)))
            sums += np.array(found) * len(batch[0])
            rows += len(batch[0])
            if self.stop:
                break
        return dict(zip(names, (sums / max(rows, 1)).tolist()))

    def evaluate(self, x: Any, target: Any = None, *, batch_size: int = 32) -> Dict[str, float]:
        """The loss and the metrics over arrays, or an iterable of batches."""
        self.net.eval()
        names, sums, rows = ["loss", *self.metrics], np.zeros(1 + len(self.metrics)), 0
        for batch in _batches(x, target, batch_size, None, 0):
            sums += np.array([float(v) for v in self._measure(*batch)]) * len(batch[0])
            rows += len(batch[0])
        return dict(zip(names, (sums / max(rows, 1)).tolist()))

    def predict(self, x: Any, *, batch_size: int = 32) -> np.ndarray:
        """The net's outputs for the rows of an array."""
        self.net.eval()
        found = [self._predict(b[0]).numpy() for b in _Rows([x]).batches(batch_size, None, 0)]
        return np.concatenate(found)


def _batches(x: Any, target: Any, size: int, epoch: Optional[int], seed: int) -> Iterable[Tuple[Any, ...]]:
    if not isinstance(size, int) or size < 1:
        raise ValueError(f"batch_size is {size!r}, wanted 1 or more; a whole epoch at once is as many as the arrays have rows")
    if target is not None:
        return _Rows([x, target]).batches(size, epoch, seed)
    if is_argument(x) or not hasattr(x, "__iter__"):
        raise TypeError(f"fit() of {type(x).__name__} without a target, wanted arrays (x, target), or an iterable of "
                        "such batches; give the target as the second argument")
    return _pairs(x)


def _pairs(batches: Iterable[Any]) -> Iterator[Tuple[Any, ...]]:
    for i, batch in enumerate(batches):
        if not isinstance(batch, (tuple, list)) or len(batch) != 2:
            raise TypeError(f"batch {i} of the data is {describe(batch)}, wanted (x, target); let the iterable give pairs")
        yield tuple(batch)


def _bar(batches: Iterable[Any], text: str, show: bool) -> Iterable[Any]:
    if not show:
        return batches
    try:
        from tqdm import tqdm
    except ImportError as error:
        raise ImportError("progress wants PyPI's tqdm: pip install tqdm, or progress=False") from error
    bar: Iterable[Any] = tqdm(batches, desc=text, file=sys.stderr, leave=False)
    return bar


def _digest(x: Any, target: Any) -> str:
    """Of arrays, so that a run does not go on with other data; "" of an iterable."""
    if target is None:
        return ""
    out = hashlib.blake2b(digest_size=16)
    for array in (np.asarray(x), np.asarray(target)):
        out.update(f"{array.dtype} {array.shape}".encode())
        out.update(np.ascontiguousarray(array).data)
    return out.hexdigest()


class _Checkpoint:
    """A folder with the state of a run after its latest epoch. The manifest is written last and names the
    file of states, so that a killed run leaves the former ones whole."""

    def __init__(self, folder: str, model: Model, said: Dict[str, Any]) -> None:
        self._folder, self._model, self._said = folder, model, said
        self._manifest = os.path.join(folder, "checkpoint.json")

    def _variables(self) -> Dict[str, Any]:
        from graphengine import random

        assert self._model.optimizer is not None
        out = {f"net.{k}": v for k, v in self._model.net.variables().items()}
        out.update({f"optimizer.{k}": v for k, v in self._model.optimizer.variables().items()})
        out["random"] = random.counter()
        return out

    def begin(self, resume: bool) -> Tuple[List[Dict[str, float]], int]:
        """(what epochs came to, the first epoch to do)."""
        os.makedirs(self._folder, exist_ok=True)
        if not os.path.exists(self._manifest):
            return [], 0
        if not resume:
            raise FileExistsError(f"'{self._folder}' holds a checkpoint already, wanted none; resume=True goes on "
                                  "from it, another folder begins anew")
        with open(self._manifest, encoding="utf-8") as file:
            found = json.load(file)
        for name, value in self._said.items():
            if found["said"][name] != value:
                raise ValueError(f"{name} is {value!r}, and the checkpoint in '{self._folder}' was made with "
                                 f"{found['said'][name]!r}")
        path = os.path.join(self._folder, found["states"])
        with open(path, "rb") as file:
            if hashlib.blake2b(file.read(), digest_size=16).hexdigest() != found["digest"]:
                raise ValueError(f"'{path}' was changed since the checkpoint was made")
        values, own = load(path), self._variables()
        if set(values) != set(own):
            raise ValueError(f"the checkpoint in '{self._folder}' is of another net or optimizer: "
                             f"{sorted(set(values) ^ set(own))}")
        for name, variable in own.items():
            variable.assign(values[name])
        self._model.step = found["step"]
        return found["history"], len(found["history"])

    def write(self, history: List[Dict[str, float]]) -> None:
        name = f"states-{'ab'[len(history) % 2]}.safetensors"
        path = os.path.join(self._folder, name)
        save(self._variables(), path)
        with open(path, "rb") as file:
            digest = hashlib.blake2b(file.read(), digest_size=16).hexdigest()
        text = json.dumps({"step": self._model.step, "history": history, "states": name, "digest": digest,
                           "said": self._said, "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}, indent=1)
        write_whole(self._manifest, text.encode())
