"""Sessions that run what is written in Python, and what all of them are made with."""
from typing import Any, Dict

from graphengine import _native
from graphengine._doors import door
from graphengine.variable import STATES

_WORDS: Dict[str, Any] = {}


@door
def configure(**words: Any) -> None:
    """Words of Session (engines=, threads=, plugins= ...) for operations at once, and for programs that are
    made from now on; those given before are forgotten. ge.configure(engines="ref")."""
    _native.eager_options(**words)  # refuses what a session would
    _WORDS.clear()
    _WORDS.update(words)


def session_of(trace: Any) -> Any:
    """A session over the graph of a trace as it is now."""
    words = dict(_WORDS)
    given = words.pop("plugins", None) or ()
    plugins = [*([given] if isinstance(given, str) else given), *trace.plugins]
    return _native.Session(trace.builder, states=STATES, plugins=plugins or None, **words)
