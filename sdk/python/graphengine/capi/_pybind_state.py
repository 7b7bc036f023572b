"""onnxruntime's names for what the binding has."""
# pylint: disable=redefined-builtin
from graphengine._error import (Fail, InvalidArgument, InvalidGraph, InvalidProtobuf, NoSuchFile,
                                NotImplemented, RuntimeException)
from graphengine.inference_session import (ModelMetadata, NodeArg, disable_telemetry_events,
                                           enable_telemetry_events, get_all_providers,
                                           get_available_providers, get_device, get_version_string,
                                           set_default_logger_severity, set_default_logger_verbosity)
from graphengine.ort_options import (ExecutionMode, ExecutionOrder, GraphOptimizationLevel, RunOptions,
                                     SessionOptions)

__all__ = ["ExecutionMode", "ExecutionOrder", "Fail", "GraphOptimizationLevel", "InvalidArgument",
           "InvalidGraph", "InvalidProtobuf", "ModelMetadata", "NoSuchFile", "NodeArg", "NotImplemented",
           "RunOptions", "RuntimeException", "SessionOptions", "disable_telemetry_events",
           "enable_telemetry_events", "get_all_providers", "get_available_providers", "get_device",
           "get_version_string", "set_default_logger_severity", "set_default_logger_verbosity"]
