"""SessionOptions and RunOptions as onnxruntime has them. What would have a visible effect and has none
here is refused by name; what only tunes onnxruntime is kept and has no effect.
"""
import enum
import os
import threading
from typing import Any, Dict, List

from graphengine._error import Fail, bad_argument, refusal


class _Choice(enum.IntEnum):
    __str__ = enum.Enum.__str__  # "ExecutionMode.ORT_PARALLEL"


def _set(options: Any, name: str, value: Any) -> None:
    """Sets an attribute to a value of the type of its default, or a TypeError."""
    kind = type(options._DEFAULTS.get(name))
    if kind is bool:
        value = bool(value)
    elif kind is int and hasattr(value, "__index__"):  # numpy has whole numbers of its own
        value = int(value)
    elif name in options._DEFAULTS and not isinstance(value, kind):
        raise TypeError(f"{type(options).__name__}.{name} is a {kind.__name__}, not a "
                        f"{type(value).__name__}")
    object.__setattr__(options, name, value)


_PROCESS_THREADS = [0]  # of set_global_thread_pool_sizes


def set_global_thread_pool_sizes(intra_op_num_threads: int, inter_op_num_threads: int) -> None:
    """Compute threads of the process for sessions whose options say none."""
    del inter_op_num_threads
    _PROCESS_THREADS[0] = intra_op_num_threads


class GraphOptimizationLevel(_Choice):
    """Kept for callers; plans are always chosen by price."""
    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_LAYOUT = 3
    ORT_ENABLE_ALL = 99


class ExecutionMode(_Choice):
    """Kept for callers; streams are planned."""
    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1


class ExecutionOrder(_Choice):
    """Kept for callers; the order is planned."""
    DEFAULT = 0
    PRIORITY_BASED = 1
    MEMORY_EFFICIENT = 2


class SessionOptions:
    """intra_op_num_threads: compute threads of the process, which has what its first session asks for;
    0 for the cores it may use. A mistyped name is an AttributeError.
    """

    _DEFAULTS = {
        "intra_op_num_threads": 0, "inter_op_num_threads": 0, "log_severity_level": -1,
        "log_verbosity_level": 0, "logid": "", "enable_cpu_mem_arena": True, "enable_mem_pattern": True,
        "enable_mem_reuse": True, "enable_profiling": False,
        "profile_file_prefix": "onnxruntime_profile_", "optimized_model_filepath": "",
        "use_deterministic_compute": False, "use_per_session_threads": True,
        "graph_optimization_level": GraphOptimizationLevel.ORT_ENABLE_ALL,
        "execution_mode": ExecutionMode.ORT_SEQUENTIAL, "execution_order": ExecutionOrder.DEFAULT}
    __slots__ = (*_DEFAULTS, "_config", "_plugins", "_sizes", "_denoted", "__weakref__")

    def __init__(self) -> None:
        for name, value in self._DEFAULTS.items():
            setattr(self, name, value)
        self._config: Dict[str, str] = {}
        self._plugins: List[str] = []
        self._sizes: Dict[str, int] = {}
        self._denoted: Dict[str, int] = {}

    def __setattr__(self, name: str, value: Any) -> None:
        _set(self, name, value)

    def add_session_config_entry(self, key: str, value: str) -> None:
        """session.set_denormal_as_zero = "0" keeps denormal numbers; other entries have no effect."""
        self._config[key] = value

    def get_session_config_entry(self, key: str) -> str:
        """The value that was added."""
        if key not in self._config:
            raise bad_argument(f"there is no session config entry '{key}'")
        return self._config[key]

    def add_free_dimension_override_by_name(self, name: str, size: int) -> None:
        """Inputs and outputs show `size` for the free size of this name, and no other is taken."""
        self._sizes[name] = size

    def add_free_dimension_override_by_denotation(self, denotation: str, size: int) -> None:
        """The same for free sizes of this denotation."""
        self._denoted[denotation] = size

    def register_custom_ops_library(self, path: Any) -> None:
        """A plugin of this engine that brings operators or passes, as Session(plugins=...)."""
        text = os.fspath(path)
        self._plugins.append(text if "/" in text else "./" + text)

    def has_providers(self) -> bool:
        """Providers are named when a session is made."""
        return False

    def add_provider(self, name: str, options: Any = None) -> None:
        """Keeps what is: engines are chosen by price, on the CPU."""
        del options
        if name != "CPUExecutionProvider":
            raise refusal(f"the provider {name}", "CPUExecutionProvider is there")

    def add_initializer(self, name: str, *_: Any) -> None:
        """Refused: weights are those of the model."""
        raise refusal(f"add_initializer({name!r})", "write the weight into the model")

    def add_external_initializers(self, names: Any, *_: Any) -> None:
        """Refused: weights are those of the model."""
        raise refusal(f"add_external_initializers({names!r})", "write the weights into the model")

    def _for_session(self) -> Dict[str, Any]:
        if self.enable_profiling:
            raise refusal("enable_profiling", "`ge run --times` and `ge explain` show times")
        if self.optimized_model_filepath:
            raise refusal("optimized_model_filepath", "`ge dump --format onnx` writes models")
        denormals = self._config.get("session.set_denormal_as_zero")
        return {"threads": self.intra_op_num_threads or _PROCESS_THREADS[0], "plugins": self._plugins or None,
                "denormals": "keep" if denormals == "0" else None}


class RunOptions:
    """`terminate` ends the runs that have these options with Error CANCELLED, those that go on too."""

    _DEFAULTS = {"log_severity_level": -1, "log_verbosity_level": 0, "logid": "",
                 "only_execute_path_to_fetches": False, "terminate": False}
    __slots__ = ("log_severity_level", "log_verbosity_level", "logid", "only_execute_path_to_fetches",
                 "_terminate", "_lock", "_going", "_config", "__weakref__")

    def __init__(self) -> None:
        self._terminate = False
        self._lock = threading.Lock()
        self._going: List[Any] = []
        self._config: Dict[str, str] = {}
        for name, value in self._DEFAULTS.items():
            setattr(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        _set(self, name, value)

    @property
    def terminate(self) -> bool:
        """Whether runs are to end."""
        return self._terminate

    @terminate.setter
    def terminate(self, value: bool) -> None:
        with self._lock:
            self._terminate = bool(value)
            if self._terminate:
                for run in self._going:
                    run.cancel()

    def add_run_config_entry(self, key: str, value: str) -> None:
        """Has no effect."""
        self._config[key] = value

    def get_run_config_entry(self, key: str) -> str:
        """The value that was added."""
        if key not in self._config:
            raise bad_argument(f"there is no run config entry '{key}'")
        return self._config[key]

    @staticmethod
    def _ended() -> Fail:
        return Fail("CANCELLED: terminate was set in the options of this run", "CANCELLED", 7)

    def _result(self, start: Any) -> Any:
        """The result of the run that `start` starts, which `terminate` ends."""
        with self._lock:
            if self._terminate:
                raise self._ended()
            run = start()
            self._going.append(run)
        try:
            return run.result()
        finally:
            with self._lock:
                self._going.remove(run)
