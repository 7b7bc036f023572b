"""GraphEngine in Python: models on whichever engine asks the least, without copies of arrays.

    session = graphengine.Session("lenet.onnx")
    outputs = session.run({"x": pixels})

Inputs are arrays of numpy or anything with __dlpack__ on the CPU, outputs are arrays of numpy over
the engine's own memory, or the caller's own arrays (`out=`). InferenceSession and its companions
take the common calls of onnxruntime. `python -m graphengine` is the program `ge`.
"""
import importlib
import json
import os
import pathlib
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Union

from graphengine import _native
from graphengine._doors import door
from graphengine._error import Error
from graphengine._native import Batches, Prepared, Run, Runtime, TensorInfo
from graphengine.inference_session import (InferenceSession, ModelMetadata, NodeArg,
                                           disable_telemetry_events, enable_telemetry_events,
                                           get_build_info, get_version_string, has_collective_ops,
                                           preload_dlls, set_default_logger_severity,
                                           set_default_logger_verbosity, set_seed)
from graphengine.ort_options import (ExecutionMode, ExecutionOrder, GraphOptimizationLevel, RunOptions,
                                     SessionOptions, set_global_thread_pool_sizes)
from graphengine.ort_providers import get_all_providers, get_available_providers, get_device
from graphengine.ort_value import IOBinding, OrtDevice, OrtValue
from graphengine.tensor import Tensor

if TYPE_CHECKING:
    from graphengine import nn, optim, random
    from graphengine.custom_ops import custom_op
    from graphengine.exports import export, freeze
    from graphengine.files import load, save
    from graphengine.functions import *  # pylint: disable=redefined-builtin,wildcard-import
    from graphengine.derivatives import custom_vjp
    from graphengine.gradients import grad, hessian, jacobian, jvp, stop_gradient, value_and_grad, vjp
    from graphengine.jit import configure, eager, jit, range  # pylint: disable=redefined-builtin
    from graphengine.model import Callback, Model
    from graphengine.ops import plugin
    from graphengine.spec import Spec
    from graphengine.variable import Variable

SessionIOBinding = IOBinding

__version__ = _native.version()
__all__ = ["Batches", "Error", "ExecutionMode", "ExecutionOrder", "GraphOptimizationLevel", "IOBinding",
           "InferenceSession", "ModelMetadata", "NodeArg", "Observing", "OrtDevice", "OrtValue", "Prepared",
           "Run", "RunOptions", "Runtime", "Session", "SessionIOBinding", "SessionOptions", "Tensor", "TensorInfo",
           "batches", "disable_telemetry_events", "enable_telemetry_events", "engines", "get_all_providers",
           "get_available_providers", "get_build_info", "get_device", "get_include",
           "get_version_string", "has_collective_ops", "preload_dlls", "set_default_logger_severity",
           "set_default_logger_verbosity", "set_global_thread_pool_sizes", "set_seed"]


class Session(_native.Session):
    """One loaded model. Any number of threads may run it at once."""

    def report(self, entry: Optional[str] = None) -> Dict[str, Any]:
        """What the session and the entry's latest plan are made of: load_ms, engines ..."""
        found: Dict[str, Any] = json.loads(self.report_text(entry))
        return found

    def explain(self, entry: Optional[str] = None) -> Dict[str, Any]:
        """Who runs each node of the entry's latest plan, at what price, who was next, who refused."""
        found: Dict[str, Any] = json.loads(self.explain_text(entry))
        return found

    def observe(self, record: Union[str, "os.PathLike[str]", None] = None, *,
                values: Optional[str] = None, every: int = 1, first: int = 0) -> "Observing":
        """Records runs from now on as capsules, for `ge replay` and `ge bisect`.

        record: a folder, for run-000001.gecap and so on, or a file F.gecap, which holds the latest
        run; None ends it. values: what is recorded beside inputs, states and outputs, as
        `ge dump --values` takes it. every: each so manieth run. first: so many records alone. As a
        context manager it ends by itself.
        """
        self.observe_runs(record, values, every, first)
        return Observing(self)

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


class Observing:
    """Of Session.observe; ends it when a `with` block is left."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def __enter__(self) -> Session:
        return self._session

    def __exit__(self, *_: Any) -> None:
        self._session.observe_runs(None, None, 1, 0)


def engines() -> List[str]:
    """The engines that lie in the package; $GE_PLUGIN_PATH and $GE_PLUGIN_EXTRA may name others."""
    folder = pathlib.Path(__file__).resolve().parent / "lib" / "graphengine"
    # data and grad bring passes; they are named by Session(plugins=...).
    return sorted(path.stem for path in folder.glob("*.so") if path.stem not in ("data", "grad"))


_NOTHING = b"""ge 1
opset "" 28
fn nothing(x: f32[1]) -> (y) {
  y = Identity(x)
}
entry infer "nothing" = nothing
"""


def batches(pipe: Union[str, "os.PathLike[str]"], batch: int = 64, *,
            test: Union[str, "os.PathLike[str]"] = "", seed: int = 0, entry: str = "data",
            session: Optional[Dict[str, Any]] = None, **options: int) -> Batches:
    """Batches of a data pipeline, `SOURCE | step | step`: dicts of arrays by column, without end.

    seed: of the order and of random steps. test: a source or pipe whose rows are those of the entry
    "data_test" (entry=). limit: rows in all. first, rank, world, ahead, rows: as Session.batches
    takes them. session: options of the Session that makes the rows.
    """
    pipe, test = os.fspath(pipe), os.fspath(test)
    quote = "'" if "'" not in pipe + test else '"'
    if quote in pipe + test:
        raise Error("a pipe has quotes of both kinds, and takes one of them", "INVALID_ARGUMENT", 1)
    asked = (f"data:pipe={quote}{pipe}{quote};test={quote}{test}{quote};seed={seed};batch={batch}")
    made = Session(_NOTHING, format="text", plugins="data", passes=asked, **(session or {}))
    return made.batches(entry, batch=batch, **options)


def get_include() -> str:
    """The folder of ge/ge.h and ge/ge_plugin.h, for engines of one's own."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "include")


_MODULES = ("functions", "jit", "nn", "ops", "optim", "random")  # jit is called, too
_HOMES = {"plugin": "ops", "Callback": "model", "Model": "model", "Variable": "variable", "configure": "jit",
          "eager": "jit", "range": "jit", "custom_op": "custom_ops", "custom_vjp": "derivatives", "Spec": "spec",
          **dict.fromkeys(("load", "save"), "files"), **dict.fromkeys(("export", "freeze"), "exports"),
          **dict.fromkeys(("grad", "hessian", "jacobian", "jvp", "stop_gradient", "value_and_grad", "vjp"), "gradients")}


@_native.Door
@door
def __getattr__(name: str) -> Any:
    """Functions over Tensors by the standard's names, and what networks are written with, which are
    loaded when asked for."""
    if name in _MODULES:
        return importlib.import_module(f"graphengine.{name}")
    if name in _HOMES:
        found = getattr(importlib.import_module(f"graphengine.{_HOMES[name]}"), name)
        globals()[name] = found  # ahead of a module of that name
        return found
    functions = importlib.import_module("graphengine.functions")
    if name in functions.__all__:
        return getattr(functions, name)
    from graphengine._hints import FUNCTIONS, hint

    ours = [*functions.__all__, *_MODULES, *_HOMES, *__all__]
    raise AttributeError(f"module 'graphengine' has no attribute {name!r}{hint(name, FUNCTIONS, ours)}")
