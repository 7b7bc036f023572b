"""The one exception of the package."""
import re
from typing import Any

# How the engine writes a failure: "INVALID_GRAPH: infer: node 'Conv_1': ...".
_AT_NODE = re.compile(r"^[A-Z_]+: (?:[\w-]+: )?node '(.*?)'(?:: | \()")
_NAMES_NODE = re.compile(r"\bnode '(.*?)'")


class Error(RuntimeError):
    """What the engine refused or failed at.

    code: the name of the status, "INVALID_ARGUMENT" and so on.
    status: its number in ge.h.
    node: the model's own name for the node at fault, or None where no node is.
    """

    def __init__(self, message: str, code: str = "INTERNAL", status: int = 13) -> None:
        super().__init__(message)
        self.code = code
        self.status = status
        found = _AT_NODE.search(message) or _NAMES_NODE.search(message)
        self.node = found.group(1) if found else None

    def __reduce__(self) -> Any:
        return type(self), (str(self), self.code, self.status)
