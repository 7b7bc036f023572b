"""The common calls of onnxruntime's Python API, over Session.

    import graphengine as ort
    session = ort.InferenceSession("model.onnx", providers=["CPUExecutionProvider"])
    outputs = session.run(None, {session.get_inputs()[0].name: array})

Options are in ort_options.py, providers in ort_providers.py, values and bindings in ort_value.py.
"""
import json
import os
import threading
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Union

import numpy as np

from graphengine import _native
from graphengine._error import Error, Fail, InvalidGraph, bad_argument, bad_value
from graphengine.ort_options import RunOptions, SessionOptions
from graphengine.ort_providers import PROVIDER, check_providers
from graphengine.ort_value import IOBinding, OrtValue

_NO_VERSION = 2**63 - 1  # what onnxruntime says of a model without one


class NodeArg(NamedTuple):
    """An input or output: type is "tensor(float)" and so on, a free size is its name or None. The shape
    of one whose rank is not known is [], as it is there.
    """
    name: str
    shape: List[Union[int, str, None]]
    type: str

    def __str__(self) -> str:
        return f"NodeArg(name='{self.name}', type='{self.type}', shape={self.shape})"


class ModelMetadata(NamedTuple):
    """What the model says of itself; custom_metadata_map has its own metadata."""
    custom_metadata_map: Dict[str, str]
    description: str
    domain: str
    graph_description: str
    graph_name: str
    producer_name: str
    version: int


def _node_arg(info: _native.TensorInfo, options: SessionOptions) -> NodeArg:
    shape: List[Union[int, str, None]] = []
    for size, name, denotation in zip(info.shape or (), info.model_dims or (), info.denotations or ()):
        known = options._sizes.get(name or "", options._denoted.get(denotation or "", name))
        shape.append(known if size is None else size)
    return NodeArg(info.name, shape, info.type)


def _overridden(infos: Sequence[_native.TensorInfo], args: Sequence[NodeArg]) -> Dict[str, Dict[int, int]]:
    """{input: {axis: size}} of free sizes that the options fix."""
    found = {arg.name: {axis: wanted for axis, (size, wanted) in enumerate(zip(info.shape or (), arg.shape))
                        if size is None and isinstance(wanted, int)}
             for info, arg in zip(infos, args)}
    return {name: axes for name, axes in found.items() if axes}


def _open(model: Any, options: Dict[str, Any]) -> _native.Session:
    try:
        return _native.Session(model, **options)
    except Error as error:
        if error.code != "FAILED_PRECONDITION" or not options["threads"]:
            raise
    # Sessions of onnxruntime have threads of their own; here all share what the first one asked for.
    return _native.Session(model, **dict(options, threads=0))


class InferenceSession:
    """One loaded model, by a path or by its bytes."""

    def __init__(self, path_or_bytes: Any, sess_options: Optional[SessionOptions] = None,
                 providers: Optional[Sequence[Any]] = None,
                 provider_options: Optional[Sequence[Dict[str, Any]]] = None, **words: Any) -> None:
        check_providers(providers, provider_options, bool(words.get("enable_fallback", True)))
        # Packages read some of onnxruntime's own members (insightface, for one): by the names they have there.
        self._providers = [PROVIDER]
        self._provider_options: Dict[str, Dict[str, str]] = {PROVIDER: {}}
        self._sess_options = sess_options or SessionOptions()
        self._model_path = "" if isinstance(path_or_bytes, bytes) else os.fspath(path_or_bytes)
        self._session = _open(path_or_bytes, self._sess_options._for_session())
        inputs, outputs = self._session.inputs(), self._session.outputs()
        self._inputs_meta, self._outputs_meta, self._overridable_initializers = (
            [_node_arg(info, self._sess_options) for info in infos]
            for infos in (inputs, outputs, self._session.defaults()))
        self._fixed = _overridden(inputs, self._inputs_meta)
        self._required = {info.name for info in inputs if not info.optional}
        self._of_tensors = all(info.kind in ("tensor", "unknown") and not info.optional
                               for info in inputs + outputs)

    def get_inputs(self) -> List[NodeArg]:
        """Inputs in the model's order."""
        return self._inputs_meta

    def get_outputs(self) -> List[NodeArg]:
        """Outputs in the model's order."""
        return self._outputs_meta

    def get_overridable_initializers(self) -> List[NodeArg]:
        """Initializers that are inputs too: a feed that has some overrides them."""
        return self._overridable_initializers

    def run(self, output_names: Optional[Sequence[str]], input_feed: Dict[str, Any],
            run_options: Optional[RunOptions] = None) -> List[Any]:
        """The outputs named, all of them for None, in that order."""
        self._check_feed(input_feed)
        self._check_names(output_names)
        return self._named(output_names, self._outputs_of(input_feed, run_options))

    def run_with_ort_values(self, output_names: Optional[Sequence[str]],
                            input_dict_ort_values: Dict[str, OrtValue],
                            run_options: Optional[RunOptions] = None) -> List[OrtValue]:
        """As run, from and to OrtValues."""
        feed = {name: value.numpy() for name, value in input_dict_ort_values.items()}
        return [OrtValue(array) for array in self.run(output_names, feed, run_options)]

    def io_binding(self) -> IOBinding:
        """For run_with_iobinding."""
        return IOBinding(self)

    def run_with_iobinding(self, iobinding: IOBinding, run_options: Optional[RunOptions] = None) -> None:
        """Runs on what is bound; iobinding.get_outputs() has the outputs that were bound."""
        if iobinding._session is not self:
            raise bad_value("IOBinding must be used with the session that created it.")
        iobinding._run(run_options)

    def run_async(self, output_names: Optional[Sequence[str]], input_feed: Dict[str, Any],
                  callback: Callable[[Any, Any, str], None], user_data: Any = None,
                  run_options: Optional[RunOptions] = None) -> None:
        """Calls callback(outputs, user_data, error) from another thread; error is "" on success."""
        self._check_feed(input_feed)
        self._check_names(output_names)
        options = run_options or RunOptions()
        self._check_sizes(input_feed)
        run = self._session.run_async(input_feed) if self._of_tensors else None

        def finish() -> None:
            try:
                found = self._outputs_of(input_feed, options) if run is None else options._result(lambda: run)
                outputs, said = self._named(output_names, found), ""
            except Error as error:
                outputs, said = [], str(error)
            callback(outputs, user_data, said)
        threading.Thread(target=finish, daemon=True).start()

    def _outputs_of(self, feed: Dict[str, Any], options: Optional[RunOptions],
                    out: Optional[Dict[str, Any]] = None) -> Dict[str, Any]:
        if options is not None and options.terminate:
            raise options._ended()
        self._check_sizes(feed)
        try:
            # Values of other kinds have no run that `terminate` reaches.
            if options is None or not self._of_tensors:
                return self._session.run(feed, out or None)
            outputs: Dict[str, Any] = options._result(lambda: self._session.run_async(feed, out))
            return outputs
        except InvalidGraph as error:
            # What a node cannot do with the arrays of this run is no fault of the model there.
            raise Fail(str(error), error.code, error.status, error.node) from None

    def _check_feed(self, feed: Dict[str, Any]) -> None:
        if not self._required <= feed.keys():
            missing = [arg.name for arg in self._inputs_meta if arg.name in self._required - feed.keys()]
            raise bad_value(f"Required inputs ({missing}) are missing from input feed ({list(feed)}).")

    def _check_sizes(self, feed: Dict[str, Any]) -> None:
        """That inputs have the sizes which the options fix."""
        for name, axes in self._fixed.items():
            shape = np.shape(feed.get(name, ()))
            for axis, size in axes.items():
                if axis < len(shape) and shape[axis] != size:
                    raise bad_argument(f"Got invalid dimensions for input: {name} for the following "
                                       f"indices\n index: {axis} Got: {shape[axis]} Expected: {size}\n"
                                       "; a free dimension override of the session options fixed it")

    def _check_name(self, name: str, kind: str) -> None:
        known = [arg.name for arg in (self._inputs_meta if kind == "input" else self._outputs_meta)]
        if name not in known:
            raise bad_argument(f"there is no {kind} '{name}'; the model has {', '.join(known)}")

    def _check_names(self, output_names: Optional[Sequence[str]]) -> None:
        for name in output_names or []:
            self._check_name(name, "output")

    @staticmethod
    def _named(output_names: Optional[Sequence[str]], outputs: Dict[str, Any]) -> List[Any]:
        return [outputs[name] for name in output_names] if output_names else list(outputs.values())

    def get_providers(self) -> List[str]:
        """Engines are chosen by price, all on the CPU."""
        return self._providers

    def get_provider_options(self) -> Dict[str, Dict[str, str]]:
        """The provider has no options."""
        return self._provider_options

    def set_providers(self, providers: Optional[Sequence[Any]] = None, provider_options: Any = None) -> None:
        """Keeps what is: there is one provider."""
        check_providers(providers, provider_options, True)

    def disable_fallback(self) -> None:
        """Has no effect: there is one provider."""

    def enable_fallback(self) -> None:
        """Has no effect: there is one provider."""

    def get_session_options(self) -> SessionOptions:
        """The options that the session was made with."""
        return self._sess_options

    def get_modelmeta(self) -> ModelMetadata:
        """What the model says of itself."""
        info = self._session.model_info()
        version = _NO_VERSION if info["version"] is None else info["version"]
        return ModelMetadata(info["metadata"], info["description"], info["domain"],
                             info["graph_description"], info["name"], info["producer"], version)

    def end_profiling(self) -> str:
        """No file: enable_profiling is refused."""
        return ""

    def report(self) -> Dict[str, Any]:
        """Not of onnxruntime: as Session.report."""
        found: Dict[str, Any] = json.loads(self._session.report_text())
        return found


def get_version_string() -> str:
    """The engine's own version."""
    return _native.version()


def disable_telemetry_events() -> None:
    """Has no effect: nothing is ever sent."""


def enable_telemetry_events() -> None:
    """Has no effect: nothing is ever sent."""


def set_default_logger_severity(severity: int) -> None:
    """What the process's log says on stderr: 0 all, 1 infos, 2 warnings, 3 and 4 errors alone."""
    if not 0 <= severity <= 4:
        raise bad_argument(f"severity is {severity}, wanted 0 to 4")
    _native.set_log_level((4, 2, 1, 0, 0)[severity])


def set_default_logger_verbosity(verbosity: int) -> None:
    """Has no effect: the severity decides."""
    del verbosity


def set_seed(seed: int) -> None:
    """Has no effect: random numbers without a seed of their own are the same in every session."""
    del seed


def get_build_info() -> str:
    """The engine's own version."""
    return f"graphengine {_native.version()}"


def has_collective_ops() -> bool:
    """False."""
    return False


def preload_dlls(cuda: bool = True, cudnn: bool = True, msvc: bool = True, directory: Any = None) -> None:
    """Has no effect: no library of a device is needed."""
    del cuda, cudnn, msvc, directory
