"""The one exception of the package."""
from typing import Any, Optional


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
