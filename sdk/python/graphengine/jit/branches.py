"""If over two parts of a function, and `and`, `or`, `not` of tensors."""
from typing import Any, Callable, List, Optional, Tuple

from graphengine import _native
from graphengine.jit import trees
from graphengine.jit.merge import (RETURNED_VALUE, SAME, Differ, Undefined, alike, as_tensor, describe, pair)
from graphengine.jit.places import UNSET, Place, Places, changed, put_back
from graphengine.jit.recursion import NoResultYet, looks_for_results
from graphengine.jit.scope import ConditionError, Scope, TraceError, place

Part = Callable[[], Any]


def truth(value: Any) -> Any:
    """A tensor as a condition: one of bool without axes."""
    if any(n != 1 for n in value.shape):
        shape = ", ".join(map(str, value.shape))
        raise ConditionError(f"the condition is a tensor of shape ({shape}), wanted one of one element; "
                             "reduce it by ge.any() or ge.all(), or choose by element with ge.where()")
    from graphengine import functions

    out = value if len(value.shape) == 0 else functions.reshape(value, ())
    if out.dtype != functions.bool:
        out = functions.not_equal(out, functions.zeros((), dtype=out.dtype))
    return out


class _Side:
    """One branch traced: its function, what it answers and what it changed."""

    def __init__(self, scope: Scope, part: Optional[Part], places: Places, before: Any) -> None:
        self.scope = scope
        with scope:
            self.answer = part() if part is not None else None
            self.changed = changed(before, places.look())
        put_back(before)

    def of(self, key: Any, other: "_Side") -> Any:
        """The value of a place behind this branch."""
        return self.changed[key][2] if key in self.changed else other.changed[key][1]


class If:
    """Makes an If of a condition and two parts."""

    def __init__(self, test: Any, then: Part, orelse: Optional[Part], parent: Scope, globals_: Tuple[str, ...]) -> None:
        self._test, self._parent = truth(test), parent
        self._where = place()
        scopes = [Scope(parent.trace, name, parent) for name in ("then", "else")]
        scopes[0].twin, scopes[1].twin = scopes[1], scopes[0]
        places = Places(parent.trace, (then, orelse), globals_)
        before = places.look()
        try:
            self._then = _Side(scopes[0], then, places, before)
            self._else = _Side(scopes[1], orelse, places, before)
        except BaseException:
            put_back(before)
            raise
        self._leaves: List[Tuple[Any, Any]] = []

    def answer(self) -> Any:
        """Adds the node, sets what the branches changed, and answers what they answer."""
        trees_ = [(p, self._tree(p, self._then.of(key, self._else), self._else.of(key, self._then)))
                  for key, p in self._changed()]
        try:
            answer = pair(self._then.answer, self._else.answer, self._leaves)
        except Differ as why:
            raise TraceError(f"the branches of the `if` at {self._where} answer {why.both}, wanted one "
                             "structure; return values of the same kinds from both") from None
        made = iter(self._node())
        for p, tree in trees_:
            p.set(_with(tree, made))
        return _with(answer, made)

    def _changed(self) -> List[Tuple[Any, Place]]:
        keys = {**self._then.changed, **self._else.changed}
        return [(key, found[0]) for key, found in keys.items()]

    def _tree(self, p: Place, a: Any, b: Any) -> Any:
        # What a loop sets begins as zeros, and so does what its branches set.
        if (a is UNSET) != (b is UNSET) and (p.name == RETURNED_VALUE or self._parent.in_loop):
            return self._zeros_where_unset(a, b)
        if a is UNSET or b is UNSET:
            return trees.Static(Undefined(p.name, f"is set in one branch of the `if` at {self._where} alone, "
                                                  "wanted in both; set it in the other, too, or before the `if`"))
        if isinstance(a, Undefined) or isinstance(b, Undefined):
            return trees.Static(a if isinstance(a, Undefined) else b)
        kept = len(self._leaves)
        try:
            tree = pair(a, b, self._leaves)
            for x, y in self._leaves[kept:]:
                self._check(x, y, p.name)
            return tree
        except Differ:
            del self._leaves[kept:]
            return trees.Static(Undefined(p.name, f"is {describe(a)} in one branch of the `if` at {self._where} "
                                                  f"and {describe(b)} in the other, wanted one type; {SAME}"))

    def _check(self, x: Any, y: Any, name: str) -> None:
        with self._then.scope:
            alike(x, y, name)

    def _zeros_where_unset(self, a: Any, b: Any) -> Any:
        """What was not returned is not looked at: zeros of the other's type."""
        given = b if a is UNSET else a
        leaves, tree = trees.flatten(given, lambda v: isinstance(v, _native.Tensor))
        self._leaves += [(UNSET, x) if a is UNSET else (x, UNSET) for x in leaves]
        return tree

    def _node(self) -> List[Any]:
        """The node, if there is anything to answer."""
        if not self._leaves:
            return []
        firsts, others = [], []
        for a, b in self._leaves:
            with self._then.scope:
                firsts.append(_in_branch(a, b))
            with self._else.scope:
                others.append(_in_branch(b, a))
        for i, (a, b) in enumerate(zip(firsts, others)):
            if a.dtype != b.dtype or len(a.shape) != len(b.shape):
                raise TraceError(f"result {i} of the `if` at {self._where} is {describe(a)} in one branch and "
                                 f"{describe(b)} in the other, wanted one type; {SAME}")
        self._then.scope.results(firsts)
        self._else.scope.results(others)
        bodies = {"then_branch": self._then.scope.fn, "else_branch": self._else.scope.fn}
        return self._parent.node("", "If", [self._test, *self._then.scope.captured()], {}, len(firsts), bodies)


def if_else(test: Any, then: Part, orelse: Optional[Part], scope: Scope, globals_: Tuple[str, ...] = ()) -> Any:
    """What an If of a tensor answers. While the results of a function that calls itself are looked for:
    what the first branch does that can tell."""
    if not looks_for_results(scope.trace):
        return If(test, then, orelse, scope, globals_).answer()
    before = Places(scope.trace, (then, orelse), globals_).look()
    try:
        return then()
    except NoResultYet:
        put_back(before)
        return None if orelse is None else orelse()


def _in_branch(mine: Any, other: Any) -> Any:
    """A leaf of one branch as a Tensor of it, of the type that both have."""
    from graphengine import functions

    if mine is UNSET:
        return functions.zeros(tuple(other.shape), dtype=other.dtype)
    if isinstance(mine, _native.Tensor):
        return mine
    if isinstance(other, _native.Tensor):
        return as_tensor(mine, other)
    return alike(mine, other, "")[0]


def _with(tree: Any, made: Any) -> Any:
    """The tree with the next of the made leaves."""
    if tree is trees.LEAF:
        return next(made)
    if isinstance(tree, trees.Static):
        return tree.value
    count = len(trees.paths(tree))
    return trees.unflatten(tree, [next(made) for _ in range(count)])


def both(a: Any, other: Part, scope: Scope, is_and: bool) -> Any:
    """`a and other()`, or `or`, of a tensor: by an If, unless computing both is the same."""
    from graphengine import functions

    if len(a.shape) == 0 and a.dtype == functions.bool:
        places = Places(scope.trace, (other,), ())
        before = places.look()
        fallible = scope.trace.fallible
        try:
            b = other()
        except NoResultYet:
            put_back(before)
            return a
        same_place = not changed(before, places.look())
        plain = isinstance(b, bool) or (isinstance(b, _native.Tensor) and len(b.shape) == 0
                                        and b.dtype == functions.bool)
        if same_place and plain and fallible == scope.trace.fallible:
            if isinstance(b, bool):
                return a if b == is_and else functions.asarray(b)
            return (functions.logical_and if is_and else functions.logical_or)(a, b)
        put_back(before)
    return if_else(a, other if is_and else lambda: a, (lambda: a) if is_and else other, scope)


def negation(value: Any) -> Any:
    from graphengine import functions

    return functions.logical_not(truth(value))
