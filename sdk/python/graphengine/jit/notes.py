"""Where an error of the graph belongs: the line of the user's program, as a note of the exception."""
import linecache
import re
from typing import Dict, Optional, Tuple

Places = Dict[str, Tuple[str, int, str]]  # by nodes' names: file, line, function

# What the engine puts behind a name: the number of another node of this name, or what a pass made of it.
_OPERATORS = re.compile(r"(?:^|\n|\\n) +\S+ '([^']*)'")  # a list of "RoiAlign 'net.py:42 forward' ..."
_BEHIND = re.compile(r"( #\d+|[/:.@][^ ]*)$")


_MOST = 3  # notes of one error


def add_note(error: BaseException, places: Places) -> None:
    """Names the line that made the node at fault, as tracebacks do; where the engine names no node, the
    lines of those that its words name."""
    name = _known(getattr(error, "node", None), places)
    found = [name] if name else _OPERATORS.findall(str(error))
    for each in dict.fromkeys(n for n in (_known(f, places) for f in found) if n):
        if len(getattr(error, "__notes__", ())) < _MOST:
            _add(error, *places[each])


def _known(name: Optional[str], places: Places) -> Optional[str]:
    """The name that a node was given when it was made."""
    while name and name not in places:
        shorter = _BEHIND.sub("", name)
        name = None if shorter == name else shorter
    return name or None


def _add(error: BaseException, file: str, line: int, function: str) -> None:
    text = linecache.getline(file, line).strip()
    note = f'the operator was made here:\n  File "{file}", line {line}, in {function}'
    note += f"\n    {text}" if text else ""
    if note not in getattr(error, "__notes__", ()):
        error.add_note(note)
