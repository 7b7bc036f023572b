"""The common calls of onnxruntime's Python API, over Session.

    import graphengine as ort
    session = ort.InferenceSession("model.onnx", providers=["CPUExecutionProvider"])
    outputs = session.run(None, {session.get_inputs()[0].name: array})

What would have a visible effect and has none here is refused by name; what only tunes onnxruntime
(optimization levels, arenas, thread spinning) is kept and has no effect.
"""
import enum
import json
import threading
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence

from graphengine import _native
from graphengine._error import Error

_PROVIDER = "CPUExecutionProvider"
# Where onnx's words for element types are not numpy's.
_ONNX_WORDS = {"float32": "float", "float64": "double", "float8_e4m3fn": "float8e4m3fn",
               "float8_e4m3fnuz": "float8e4m3fnuz", "float8_e5m2": "float8e5m2",
               "float8_e5m2fnuz": "float8e5m2fnuz", "float8_e8m0fnu": "float8e8m0",
               "float4_e2m1fn": "float4e2m1"}


def _refuse(what: str, instead: str) -> Error:
    return Error(f"UNSUPPORTED: {what} is not supported; {instead}", "UNSUPPORTED", 3)


class GraphOptimizationLevel(enum.IntEnum):
    """Kept for callers; plans are always chosen by price."""
    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_LAYOUT = 3
    ORT_ENABLE_ALL = 99


class ExecutionMode(enum.IntEnum):
    """Kept for callers; streams are planned."""
    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1


class SessionOptions:
    """intra_op_num_threads: compute threads of the process, which has what its first session asks for;
    0 for the cores it may use.
    """

    def __init__(self) -> None:
        self.intra_op_num_threads = 0
        self.inter_op_num_threads = 0
        self.graph_optimization_level = GraphOptimizationLevel.ORT_ENABLE_ALL
        self.execution_mode = ExecutionMode.ORT_SEQUENTIAL
        self.log_severity_level = 2
        self.log_verbosity_level = 0
        self.logid = ""
        self.enable_cpu_mem_arena = True
        self.enable_mem_pattern = True
        self.enable_mem_reuse = True
        self.enable_profiling = False
        self.optimized_model_filepath = ""
        self.use_deterministic_compute = False
        self._config: Dict[str, str] = {}

    def add_session_config_entry(self, key: str, value: str) -> None:
        """session.set_denormal_as_zero = "0" keeps denormal numbers; other entries have no effect."""
        self._config[key] = value

    def get_session_config_entry(self, key: str) -> str:
        """The value that was added."""
        return self._config[key]

    def register_custom_ops_library(self, path: str) -> None:
        """Refused: engines of one's own come by $GE_PLUGIN_EXTRA."""
        raise _refuse(f"register_custom_ops_library({path!r})", "name a plugin in $GE_PLUGIN_EXTRA")

    def _for_session(self) -> Dict[str, Any]:
        if self.enable_profiling:
            raise _refuse("enable_profiling", "`ge run --times` and `ge explain` show times")
        if self.optimized_model_filepath:
            raise _refuse("optimized_model_filepath", "`ge dump --format onnx` writes models")
        denormals = self._config.get("session.set_denormal_as_zero")
        return {"threads": self.intra_op_num_threads,
                "denormals": "keep" if denormals == "0" else None}


class RunOptions:
    """`terminate` set before a run ends it with Error CANCELLED."""

    def __init__(self) -> None:
        self.terminate = False
        self.log_severity_level = 2
        self.logid = ""

    def add_run_config_entry(self, key: str, value: str) -> None:
        """Has no effect."""


class NodeArg(NamedTuple):
    """An input or output: type is "tensor(float)" and so on, free dimensions are None."""
    name: str
    shape: Optional[List[Optional[int]]]
    type: str


class _Metadata(Dict[str, str]):
    """Values by key; the engine does not list keys."""

    def __init__(self, session: _native.Session) -> None:
        super().__init__()
        self._session = session

    def __missing__(self, key: str) -> str:
        value = self._session.metadata(key)
        if value is None:
            raise KeyError(key)
        return value

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self._session.metadata(key) is not None

    def get(self, key: str, default: Any = None) -> Any:
        value = self._session.metadata(key)
        return default if value is None else value


class ModelMetadata(NamedTuple):
    """custom_metadata_map answers keys that are asked for and does not list them."""
    custom_metadata_map: Dict[str, str]


def _node_arg(info: _native.TensorInfo) -> NodeArg:
    shape = None if info.shape is None else list(info.shape)
    return NodeArg(info.name, shape, f"tensor({_ONNX_WORDS.get(info.dtype, info.dtype)})")


def _check_providers(providers: Optional[Sequence[Any]]) -> None:
    names = [p if isinstance(p, str) else p[0] for p in providers or []]
    if names and _PROVIDER not in names:
        raise _refuse(f"{names} without {_PROVIDER}", f"add {_PROVIDER}")


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
                 provider_options: Optional[Sequence[Dict[str, Any]]] = None, **_: Any) -> None:
        _check_providers(providers)
        self._options = sess_options or SessionOptions()
        self._session = _open(path_or_bytes, self._options._for_session())
        self._inputs = [_node_arg(info) for info in self._session.inputs()]
        self._outputs = [_node_arg(info) for info in self._session.outputs()]

    def get_inputs(self) -> List[NodeArg]:
        """Inputs in the model's order."""
        return self._inputs

    def get_outputs(self) -> List[NodeArg]:
        """Outputs in the model's order."""
        return self._outputs

    def get_overridable_initializers(self) -> List[NodeArg]:
        """None: constants stay constants."""
        return []

    def run(self, output_names: Optional[Sequence[str]], input_feed: Dict[str, Any],
            run_options: Optional[RunOptions] = None) -> List[Any]:
        """The outputs named, all of them for None, in that order."""
        if run_options is not None and run_options.terminate:
            raise Error("CANCELLED: terminate was set in the options of this run", "CANCELLED", 7)
        self._check_names(output_names)
        return self._named(output_names, self._session.run(input_feed))

    def run_async(self, output_names: Optional[Sequence[str]], input_feed: Dict[str, Any],
                  callback: Callable[[Any, Any, str], None], user_data: Any = None,
                  run_options: Optional[RunOptions] = None) -> None:
        """Calls callback(outputs, user_data, error) from another thread; error is "" on success."""
        self._check_names(output_names)
        run = self._session.run_async(input_feed)

        def finish() -> None:
            try:
                outputs, said = self._named(output_names, run.result()), ""
            except Error as error:
                outputs, said = [], str(error)
            callback(outputs, user_data, said)
        threading.Thread(target=finish, daemon=True).start()

    def _check_names(self, output_names: Optional[Sequence[str]]) -> None:
        known = [arg.name for arg in self._outputs]
        for name in output_names or []:
            if name not in known:
                raise Error(f"INVALID_ARGUMENT: there is no output '{name}'; the model has "
                            f"{', '.join(known)}", "INVALID_ARGUMENT", 2)

    @staticmethod
    def _named(output_names: Optional[Sequence[str]], outputs: Dict[str, Any]) -> List[Any]:
        return [outputs[name] for name in output_names] if output_names else list(outputs.values())

    def get_providers(self) -> List[str]:
        """Engines are chosen by price, all on the CPU."""
        return [_PROVIDER]

    def get_provider_options(self) -> Dict[str, Dict[str, str]]:
        """The provider has no options."""
        return {_PROVIDER: {}}

    def set_providers(self, providers: Sequence[Any], provider_options: Any = None) -> None:
        """Keeps what is: there is one provider."""
        _check_providers(providers)

    def get_session_options(self) -> SessionOptions:
        """The options that the session was made with."""
        return self._options

    def get_modelmeta(self) -> ModelMetadata:
        """The model's own metadata."""
        return ModelMetadata(_Metadata(self._session))

    def report(self) -> Dict[str, Any]:
        """Not of onnxruntime: as Session.report."""
        found: Dict[str, Any] = json.loads(self._session.report_text())
        return found


def get_available_providers() -> List[str]:
    """The one provider."""
    return [_PROVIDER]


def get_device() -> str:
    """Engines run on the CPU."""
    return "CPU"
