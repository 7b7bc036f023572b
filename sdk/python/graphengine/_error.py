"""The exceptions of the package: Error, and under it one for each kind that onnxruntime names. What Python
has an exception of its own for is that one, too: a type that does not fit is a TypeError, a shape a
ValueError, an index an IndexError.
"""
import re
from typing import Any, Dict, List, Optional, Tuple, Type


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


class BadType(InvalidArgument, TypeError):
    """INVALID_ARGUMENT: something of another type is wanted."""


class BadIndex(InvalidArgument, IndexError):
    """INVALID_ARGUMENT: an index is outside of its axis."""


class DividedByZero(InvalidArgument, ZeroDivisionError):
    """INVALID_ARGUMENT: an integer is divided by zero."""


class InvalidGraph(Fail):
    """INVALID_GRAPH."""


class BadShape(InvalidGraph, ValueError):
    """INVALID_GRAPH: sizes or attributes do not fit."""


class BadDtype(InvalidGraph, TypeError):
    """INVALID_GRAPH: an operator does not take numbers of this type."""


class InvalidProtobuf(Error):
    """DATA_CORRUPT."""


class NoSuchFile(Error, OSError):
    """IO_ERROR."""


class NotImplemented(Fail, NotImplementedError):  # pylint: disable=redefined-builtin
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
    "INVALID_GRAPH": BadShape, "INVALID_ARGUMENT": BadValue, "UNSUPPORTED": NotImplemented,
    "IO_ERROR": NoSuchFile, "DATA_CORRUPT": InvalidProtobuf, "PLUGIN_ERROR": RuntimeException,
    "RESOURCE_EXHAUSTED": RuntimeException, "DEVICE_LOST": RuntimeException, "INTERNAL": RuntimeException}


# What the engine's own words say of a refusal that Python has a kind for. By code.
_WORDS: Dict[str, List[Tuple["re.Pattern[str]", Type[Error]]]] = {
    "INVALID_GRAPH": [(re.compile(r" has dtype \w+, wanted "), BadDtype)],
    "INVALID_ARGUMENT": [(re.compile(r"\bindex -?\d+ .*\boutside |\bindices\[\d+\] is -?\d+"), BadIndex),
                         (re.compile(r"\bdivided by zero"), DividedByZero),
                         (re.compile(r" is an? [A-Za-z_][\w.]*(,| that numpy makes)| has dtype \w+, wanted "), BadType)]}


def error_of(message: str, code: str, status: int, node: Optional[str] = None) -> Error:
    """The error of this code, of the kind that its words say."""
    for words, kind in _WORDS.get(code, ()):
        if words.search(message):
            return kind(message, code, status, node)
    return _KINDS.get(code, Fail)(message, code, status, node)


_NODE = re.compile(r"^(?:[A-Z_]+: )?(?:\w+: )?node '([^']*)': (?:engine '[^']*' failed in \w+ at [^:]*: )?")


def at_once(error: BaseException) -> None:
    """An error of an operator that ran at once, which has no node that its user knows: goes by the operator."""
    found = _NODE.match(str(error)) if isinstance(error, Error) else None
    if found is None or not isinstance(error, Error):
        return
    operator, text = found[1].partition("#")[0], str(error)[found.end():]
    error.args = (text if text.startswith(f"{operator}: ") else f"{operator}: {text}",)
    error.node = None


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
