"""The exceptions of the package: Error, and under it one for each kind that onnxruntime names."""
from typing import Any, Dict, Optional, Type


class Error(RuntimeError):
    """What the engine refused or failed at.

    code: the name of the status, "INVALID_ARGUMENT" and so on.
    status: its number in ge.h.
    node: the model's own name for the node at fault, or None where no node is.
    """

    def __init__(self, message: str, code: str = "INTERNAL", status: int = 13,
                 node: Optional[str] = None) -> None:
        super().__init__(message)
        self.code = code
        self.status = status
        self.node = node

    def __reduce__(self) -> Any:
        return type(self), (str(self), self.code, self.status, self.node)


class Fail(Error):
    """What has no other name there, and what onnxruntime calls so where this engine says more: a program
    that waits for Fail gets those, too.
    """


class InvalidArgument(Error):
    """INVALID_ARGUMENT."""


class BadValue(InvalidArgument, ValueError):
    """INVALID_ARGUMENT where onnxruntime has ValueError."""


class InvalidGraph(Fail):
    """INVALID_GRAPH."""


class InvalidProtobuf(Error):
    """DATA_CORRUPT."""


class NoSuchFile(Error):
    """IO_ERROR."""


class NotImplemented(Fail):  # pylint: disable=redefined-builtin
    """UNSUPPORTED."""


class RuntimeException(Error):
    """PLUGIN_ERROR, RESOURCE_EXHAUSTED, DEVICE_LOST, INTERNAL."""


class EngineError(Error):
    """Never raised."""


class EPFail(Error):
    """Never raised."""


class ModelLoaded(Error):
    """Never raised."""


class NoModel(Error):
    """Never raised."""


class NotFound(Error):
    """Never raised."""


_KINDS: Dict[str, Type[Error]] = {
    "INVALID_GRAPH": InvalidGraph, "INVALID_ARGUMENT": InvalidArgument, "UNSUPPORTED": NotImplemented,
    "IO_ERROR": NoSuchFile, "DATA_CORRUPT": InvalidProtobuf, "PLUGIN_ERROR": RuntimeException,
    "RESOURCE_EXHAUSTED": RuntimeException, "DEVICE_LOST": RuntimeException, "INTERNAL": RuntimeException}


def error_of(message: str, code: str, status: int, node: Optional[str] = None) -> Error:
    """The error of this code."""
    return _KINDS.get(code, Fail)(message, code, status, node)


def bad_argument(text: str) -> Error:
    """The error for what a caller gave."""
    return InvalidArgument(f"INVALID_ARGUMENT: {text}", "INVALID_ARGUMENT", 2)


def bad_value(text: str) -> Error:
    """The same where onnxruntime has ValueError."""
    return BadValue(f"INVALID_ARGUMENT: {text}", "INVALID_ARGUMENT", 2)


def raise_bad_value(text: str) -> None:
    """Raises bad_value(text)."""
    raise bad_value(text)


def refusal(what: str, instead: str) -> Error:
    """The error for what is not supported."""
    return NotImplemented(f"UNSUPPORTED: {what} is not supported; {instead}", "UNSUPPORTED", 3)
