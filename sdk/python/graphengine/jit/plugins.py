"""Plugins of operators that functions under jit may call, by the domains of their operators."""
import threading
from typing import Dict, List

_LOCK = threading.Lock()
_BY_DOMAIN: Dict[str, List[str]] = {}


class PluginAdded(BaseException):
    """A plugin came while a function was traced: the trace begins again, with it."""


def bring(domain: str, path: str) -> None:
    """From now on graphs may have the operators of this domain, which the plugin brings."""
    with _LOCK:
        paths = _BY_DOMAIN.setdefault(domain, [])
        if path not in paths:
            paths.append(path)


def of(domain: str) -> List[str]:
    """The plugins that bring operators of the domain."""
    return _BY_DOMAIN.get(domain, [])


def every() -> List[str]:
    """All of them, each once."""
    with _LOCK:
        return list(dict.fromkeys(p for paths in _BY_DOMAIN.values() for p in paths))
