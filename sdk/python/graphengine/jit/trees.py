"""Trees of values: what a function takes and answers, taken apart into leaves and put together again.

Nodes are tuples, named tuples, lists, dicts, dataclasses and None; everything else is a leaf. A tree
of equal structure and equal static leaves is equal, and hashable where the static leaves are.
"""
import dataclasses
from typing import Any, Callable, List, Tuple


class Leaf:
    """The place of a tensor."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "*"


LEAF = Leaf()


class Static:
    """A leaf that is Python's: equal by type and value where it can be hashed, else the same object."""

    __slots__ = ("value", "_key")

    def __init__(self, value: Any) -> None:
        self.value = value
        try:
            hash(value)
            self._key = (type(value), value)
        except TypeError:
            self._key = (type(value), id(value))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Static) and (self._key == other._key or self.value is other.value)

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        return repr(self.value)


class Node:
    """A container: its class, what its children are called, and the children."""

    __slots__ = ("kind", "names", "children")

    def __init__(self, kind: type, names: Tuple[Any, ...], children: Tuple[Any, ...]) -> None:
        self.kind, self.names, self.children = kind, names, children

    def __eq__(self, other: object) -> bool:
        return (isinstance(other, Node) and self.kind is other.kind and self.names == other.names
                and self.children == other.children)

    def __hash__(self) -> int:
        return hash((self.kind, self.names, self.children))

    def __repr__(self) -> str:
        inner = ", ".join(f"{n}: {c}" for n, c in zip(self.names, self.children))
        return f"{self.kind.__name__}({inner})"


def is_named_tuple(value: Any) -> bool:
    return isinstance(value, tuple) and hasattr(type(value), "_fields")


def children_of(value: Any) -> Any:
    """(names, children) of a container; None of anything else."""
    kind = type(value)
    if kind in (tuple, list) or is_named_tuple(value):
        return tuple(range(len(value))), tuple(value)
    if kind is dict:
        return tuple(value), tuple(value.values())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = tuple(f.name for f in dataclasses.fields(value))
        return names, tuple(getattr(value, n) for n in names)
    return None


def flatten(value: Any, is_tensor: Callable[[Any], bool]) -> Tuple[List[Any], Any]:
    """The leaves that are tensors, in order, and the tree around them."""
    leaves: List[Any] = []

    def walk(v: Any) -> Any:
        if is_tensor(v):
            leaves.append(v)
            return LEAF
        found = children_of(v)
        if found is None:
            return Static(v)
        return Node(type(v), found[0], tuple(walk(c) for c in found[1]))

    tree = walk(value)
    return leaves, tree


def unflatten(tree: Any, leaves: List[Any]) -> Any:
    """The value of this tree with these leaves."""
    rest = iter(leaves)

    def make(t: Any) -> Any:
        if t is LEAF:
            return next(rest)
        if isinstance(t, Static):
            return t.value
        made = [make(c) for c in t.children]
        if t.kind is dict:
            return dict(zip(t.names, made))
        if t.kind in (tuple, list):
            return t.kind(made)
        if issubclass(t.kind, tuple):
            return t.kind(*made)
        out = object.__new__(t.kind)  # a dataclass, whose __init__ may do more than store
        for name, child in zip(t.names, made):
            object.__setattr__(out, name, child)
        return out

    return make(tree)


def paths(tree: Any) -> List[str]:
    """What users call each leaf: "[0].weights['bias']", in order."""
    out: List[str] = []

    def walk(t: Any, at: str) -> None:
        if t is LEAF:
            out.append(at)
        elif isinstance(t, Node):
            for name, child in zip(t.names, t.children):
                if t.kind is dict:
                    walk(child, f"{at}[{name!r}]")
                elif isinstance(name, str):
                    walk(child, f"{at}.{name}")
                else:
                    walk(child, f"{at}[{name}]")

    walk(tree, "")
    return out


def statics(tree: Any) -> List[Any]:
    """What the tree itself holds: all that is no tensor."""
    if isinstance(tree, Static):
        return [tree.value]
    if isinstance(tree, Node):
        return [s for c in tree.children for s in statics(c)]
    return []
