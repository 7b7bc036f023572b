"""onnxruntime's names for what the binding has."""
# pylint: disable=redefined-builtin
from graphengine._error import (EngineError, EPFail, Fail, InvalidArgument, InvalidGraph, InvalidProtobuf,
                                ModelLoaded, NoModel, NoSuchFile, NotFound, NotImplemented,
                                RuntimeException)
from graphengine.inference_session import (ModelMetadata, NodeArg, disable_telemetry_events,
                                           enable_telemetry_events, get_build_info, get_version_string,
                                           has_collective_ops, set_default_logger_severity,
                                           set_default_logger_verbosity, set_seed)
from graphengine.ort_options import (ExecutionMode, ExecutionOrder, GraphOptimizationLevel, RunOptions,
                                     SessionOptions, set_global_thread_pool_sizes)
from graphengine.ort_providers import get_all_providers, get_available_providers, get_device
from graphengine.ort_value import IOBinding as SessionIOBinding
from graphengine.ort_value import OrtDevice, OrtValue

__all__ = ["EPFail", "EngineError", "ExecutionMode", "ExecutionOrder", "Fail", "GraphOptimizationLevel",
           "InvalidArgument", "InvalidGraph", "InvalidProtobuf", "ModelLoaded", "ModelMetadata", "NoModel",
           "NoSuchFile", "NodeArg", "NotFound", "NotImplemented", "OrtDevice", "OrtValue", "RunOptions",
           "RuntimeException", "SessionIOBinding", "SessionOptions", "disable_telemetry_events",
           "enable_telemetry_events", "get_all_providers", "get_available_providers", "get_build_info",
           "get_device", "get_version_string", "has_collective_ops", "set_default_logger_severity",
           "set_default_logger_verbosity", "set_global_thread_pool_sizes", "set_seed"]
