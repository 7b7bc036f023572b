"""Loop over a part of a function: what it changes is carried from round to round.

The body is traced until what it carries is settled: the first trace finds what it changes, the next
has that as parameters. Lists that it only appends to are scanned outputs.
"""
from typing import Any, Callable, Dict, List, Optional, Set, Tuple

from graphengine import _native
from graphengine.jit import trees
from graphengine.jit.branches import truth
from graphengine.jit.merge import (SAME, Differ, Undefined, alike, as_tensor, describe, is_number, pair)
from graphengine.jit.places import UNSET, Items, Place, Places, changed, put_back, same
from graphengine.jit.recursion import NoResultYet
from graphengine.jit.scope import Scope, TraceError, place

_TRACES = 12  # of one body; each settles a value or an axis


class Rows:
    """In a list behind a Loop: all that its rounds appended, as one tensor."""

    def __init__(self, stacked: Any) -> None:
        self.__ge_rows__ = stacked


class _Appending(Undefined):
    """Stands for what earlier rounds appended."""

    def __init__(self, name: str) -> None:
        super().__init__(name, "is appended to by a loop of the graph, which cannot read it there, wanted tensors; read it "
                         "behind the loop, or keep what it needs in a name of its own")


class _Carried:
    """A place that the rounds change."""

    def __init__(self, at: Place, first: Any) -> None:
        self.place, self.first = at, first
        self.tree: Any = None
        self.firsts: List[Any] = []  # Tensors or UNSET: before the first round, by leaf
        self.types: List[Tuple[Any, List[Any]]] = []  # dtype and sizes of the parameter, by leaf; a str is free
        self.params: List[Any] = []  # of the latest trace
        self.lost: Optional[str] = None  # why nobody may read it behind the loop

    def describe(self) -> str:
        return self.place.name or "a value"


class FirstRound(TraceError):
    """What is a number before the loop is a tensor of another shape behind a round of it."""


class Loop:
    """One loop. count: rounds, a Tensor, a number, or None; going: the first condition, or None;
    round_(i): traces a round and answers whether to go on (None: as long as there are rounds)."""

    def __init__(self, parent: Scope, parts: Any, globals_: Tuple[str, ...], count: Any, going: Any,
                 round_: Callable[[Any], Any]) -> None:
        self._parent, self._count, self._going, self._round = parent, count, going, round_
        self._where = place()
        self._places = Places(parent.trace, parts, globals_)
        self._before = self._places.look()
        self._carried: Dict[Any, _Carried] = {}
        self._scans: Dict[Any, Tuple[Items, List[Any]]] = {}
        self._noted: Set[Any] = set()  # lists that the last trace had as scanned

    def run(self) -> None:
        """Adds the node and sets what it carries."""
        try:
            for _ in range(_TRACES):
                scope, more, after = self._trace()
                if self._settled(after):
                    break
                put_back(self._before)
            else:
                names = ", ".join(c.describe() for c in self._carried.values())
                raise TraceError(f"the types of {names} do not settle in the loop at {self._where}, wanted one for all "
                                 "rounds; give them their last type before the loop")
            self._finish(scope, more, after)
        except NoResultYet:  # no round tells the results of the function that is looked at: as without rounds
            put_back(self._before)
        except BaseException:
            put_back(self._before)
            raise

    def _trace(self) -> Tuple[Scope, Any, Any]:
        scope = Scope(self._parent.trace, "body", self._parent)
        from graphengine import functions

        with scope:
            i = scope.param("i", dtype=functions.int64)
            condition = scope.param("going", dtype=functions.bool)
            self._begin(scope)
            self._start = self._places.look()
            more = self._round(i)
            if more is None:
                more = condition
            after = self._places.look()
        return scope, more, after

    def _begin(self, scope: Scope) -> None:
        """What is carried, as the body's parameters."""
        for c in self._carried.values():
            params = [scope.param(f"{c.place.name or 'value'}", dtype=dtype, dims=dims) for dtype, dims in c.types]
            c.params = params
            c.place.set(Undefined(c.describe(), c.lost) if c.lost else trees.unflatten(c.tree, params))
        for items, _ in self._scans.values():
            items.set((_Appending(items.name),))

    # ---- what is carried

    def _settled(self, after: Any) -> bool:
        """Whether the body was traced with all that it changes as parameters of their last types."""
        ok = True
        params = {id(p) for c in self._carried.values() for p in c.params}
        for key, (at, was, now) in changed(self._start, after).items():
            if isinstance(at, Items) and self._appends(key, at, was, now):
                ok = ok and key in self._noted
                self._noted.add(key)
            elif key not in self._carried and not (key[0] == "tensor" and key[1] in params):
                # A Variable that is first read here has had its value all along.
                first = self._before[key][1] if key in self._before else was if key[0] == "variable" else UNSET
                self._carried[key] = _Carried(at, first)
                ok = False
        for key, c in self._carried.items():
            ok = self._fit(c, after[key][1] if key in after else c.first) and ok
        return ok

    def _appends(self, key: Any, at: Items, was: Tuple[Any, ...], now: Tuple[Any, ...]) -> bool:
        if len(now) <= len(was) or not same(now[:len(was)], was):
            return False
        added = now[len(was):]
        if not all(isinstance(v, _native.Tensor) or is_number(v) for v in added):
            raise TraceError(f"'{at.name}' is appended {describe(added[0])} in the loop at {self._where}, wanted "
                             "tensors; append them to a list each")
        self._scans[key] = (at, list(added))
        return True

    def _fit(self, c: _Carried, now: Any) -> bool:
        """Widens what is carried to hold `now`; whether it held it already."""
        if c.lost:
            return True
        old = (c.tree, list(c.types))
        try:
            if c.first is UNSET or isinstance(c.first, Undefined):
                self._fit_unset(c, now)
            else:
                leaves: List[Any] = []
                c.tree = pair(c.first, now, leaves, lambda a, b: same(a, b) and not _tensors(a))
                c.firsts = []
                types = []
                for k, (a, b) in enumerate(leaves):
                    before = c.types[k] if old[0] == c.tree and k < len(c.types) else None
                    types.append(self._type(c, a, b, before))
                c.types = types
        except Differ as why:
            kind = FirstRound if is_number(c.first) else TraceError
            raise kind(f"'{c.describe()}' changes its type in the loop at {self._where}: before it and behind a "
                       f"round it is {why.both}, wanted one type; {SAME}") from None
        return old[0] == c.tree and [(d, list(s)) for d, s in old[1]] == [(d, list(s)) for d, s in c.types]

    def _fit_unset(self, c: _Carried, now: Any) -> None:
        """What has no value before begins as zeros; where there are none of its type, it ends there."""
        leaves, tree = trees.flatten(now, lambda v: isinstance(v, _native.Tensor) or (is_number(v)))
        types = []
        for leaf in leaves:
            leaf = self._tensor(leaf)
            dims = [d if isinstance(d, int) else self._outer_size(d) for d in _dims(leaf)]
            if any(d is None for d in dims):
                self._lose(c, f"has another size in each round of the loop at {self._where}, wanted one size")
                return
            types.append((leaf.dtype, dims))
        statics = [t for t in trees.statics(tree) if t is not None]
        if statics:
            what = statics[0].why() if isinstance(statics[0], Undefined) else f"is {statics[0]!r}"
            self._lose(c, f"{what} in the loop at {self._where}, which the graph cannot carry, wanted tensors")
            return
        c.tree, c.types, c.firsts = tree, types, [UNSET] * len(leaves)

    def _lose(self, c: _Carried, why: str) -> None:
        c.lost = why + "; set it before the loop"
        c.tree, c.types, c.firsts, c.params = None, [], [], []

    def _tensor(self, value: Any) -> Any:
        return value if isinstance(value, _native.Tensor) else as_tensor(value)

    def _outer_size(self, dim: Any) -> Any:
        return dim if dim in self._parent.trace.free else None

    def _type(self, c: _Carried, a: Any, b: Any, before: Any) -> Tuple[Any, List[Any]]:
        """The parameter's type for a first value and one behind a round."""
        a, b = self._alike(c, a, b)
        c.firsts.append(a)
        dims = []
        for axis, (x, y) in enumerate(zip(_dims(a), _dims(b))):
            if before is not None and isinstance(before[1][axis], str):
                dims.append(before[1][axis])
            elif x == y:
                dims.append(x)
            else:
                dims.append(self._parent.trace.unique("loop_size"))
        return a.dtype, dims

    def _alike(self, c: _Carried, a: Any, b: Any) -> Tuple[Any, Any]:
        return alike(a, b, c.describe())

    # ---- the node

    def _finish(self, scope: Scope, more: Any, after: Any) -> None:
        kept = [c for c in self._carried.values() if not c.lost]
        with scope:
            results = [more if isinstance(more, _native.Tensor) else as_tensor(bool(more)), *self._results(kept)]
            scope.results(results)
        put_back(self._before)
        count = None if self._count is None else as_tensor(self._count)
        going = None if self._going is None else as_tensor(self._going)
        captured = scope.captured()
        if len(results) == 1:
            return  # it changes nothing
        made = iter(self._parent.node("", "Loop", [count, going, *self._firsts(kept), *captured],
                                      {"captures": len(captured)}, len(results) - 1, {"body": scope.fn}))
        self._set(kept, made)

    def _results(self, kept: List[_Carried]) -> List[Any]:
        """What a round leaves: what is carried, then what it appends."""
        results: List[Any] = []
        for c in kept:
            now = c.place.get() if c.place.get() is not UNSET else None
            leaves: List[Any] = []
            pair(trees.unflatten(c.tree, c.params), now, leaves, lambda a, b: same(a, b) and not _tensors(a))
            results += [alike(p, v, c.describe())[1] for p, v in leaves]
        for _, added in self._scans.values():
            results += [as_tensor(v) for v in added]
        return results

    def _firsts(self, kept: List[_Carried]) -> List[Any]:
        return [self._zeros(t) if f is UNSET else f for c in kept for f, t in zip(c.firsts, c.types)]

    def _zeros(self, kind: Tuple[Any, List[Any]]) -> Any:
        from graphengine import functions

        sizes = [d if isinstance(d, int) else self._parent.trace.size_of(d) for d in kind[1]]
        return functions.zeros(tuple(sizes), dtype=kind[0])

    def _set(self, kept: List[_Carried], made: Any) -> None:
        from graphengine import functions

        for c in self._carried.values():
            if c.lost:
                c.place.set(Undefined(c.describe(), c.lost))
                continue
            c.place.set(trees.unflatten(c.tree, [next(made) for _ in c.types]))
        for items, added in self._scans.values():
            stacked = [next(made) for _ in added]
            if len(stacked) > 1:  # in the order in which they were appended
                whole = functions.stack(stacked, axis=1)
                shape = tuple(whole.shape)
                stacked = [functions.reshape(whole, (-1, *shape[2:]))]
            items.set((*items.get(), Rows(stacked[0])))


class Scan(Loop):
    """A loop over the rows of tensors, each of which is read once: so the gradient of a row is a row, where a
    Loop that gathers them would add up a whole tensor in each round."""

    def __init__(self, parent: Scope, body: Callable[[Any], Any], globals_: Tuple[str, ...], rounds: Any) -> None:
        super().__init__(parent, (body,), globals_, None, None, body)
        self._rounds = rounds
        self._sources = [parent.tensor(parent.symbol(t).value) for t, _ in rounds.sources]
        self._i: Any = None

    def _trace(self) -> Tuple[Scope, Any, Any]:
        scope = Scope(self._parent.trace, "body", self._parent)
        from graphengine import functions

        with scope:
            self._begin(scope)
            self._i = scope.param("i", dtype=functions.int64) if self._rounds.indexed else None
            found = [scope.param("row", dtype=t.dtype, dims=_dims(t)[1:]) for t in self._sources]
            self._start = self._places.look()
            self._round(self._rounds.of(self._i, found))
            after = self._places.look()
        return scope, None, after

    def _finish(self, scope: Scope, more: Any, after: Any) -> None:
        kept = [c for c in self._carried.values() if not c.lost]
        counted = int(self._i is not None)
        with scope:
            results = self._results(kept)
            states = sum(len(c.types) for c in kept)
            if counted:
                results.insert(states, self._i + 1)
            if len(results) > counted:
                scope.results(results)
        put_back(self._before)
        if len(results) == counted:
            return  # it changes nothing
        captured = scope.captured()
        attributes: Dict[str, Any] = {"num_scan_inputs": len(self._sources), "captures": len(captured)}
        if any(back for _, back in self._rounds.sources):
            attributes["scan_input_directions"] = [int(back) for _, back in self._rounds.sources]
        first = [as_tensor(0)] if counted else []
        made = self._parent.node("", "Scan", [*self._firsts(kept), *first, *self._sources, *captured], attributes,
                                 len(results), {"body": scope.fn})
        self._set(kept, iter(made[:states] + made[states + counted:]))


def _tensors(value: Any) -> bool:
    leaves, _ = trees.flatten(value, lambda v: isinstance(v, _native.Tensor))
    return bool(leaves)


def _dims(tensor: Any) -> Tuple[Any, ...]:
    if tensor.symbol is None:
        return tuple(tensor.shape)
    return tensor.symbol.dims


def while_(parent: Scope, going: Any, test: Callable[[], Any], body: Callable[[], Any],
           broke: Optional[Callable[[], Any]], globals_: Tuple[str, ...]) -> None:
    """while test(): body(). going: what test() answers now."""
    from graphengine.jit.hooks import HOOKS

    def round_(_: Any) -> Any:
        body()
        if broke is None:
            more = test()
        else:
            more = HOOKS.and_(HOOKS.not_(broke()), test)
        return truth(more) if isinstance(more, _native.Tensor) else as_tensor(bool(more))

    first = truth(going) if isinstance(going, _native.Tensor) else going
    try:
        Loop(parent, (test, body, broke), globals_, None, first, round_).run()
    except FirstRound as why:
        raise TraceError(str(why)) from None


def for_(parent: Scope, rounds: Any, body: Callable[[Any], Any], broke: Optional[Callable[[], Any]],
         globals_: Tuple[str, ...]) -> None:
    """body(item) for each of the rounds, unless it breaks."""

    def round_(i: Any) -> Any:
        body(rounds.item(i))
        if broke is None:
            return None
        left = broke()
        from graphengine.jit.hooks import HOOKS

        return HOOKS.not_(left) if isinstance(left, _native.Tensor) else as_tensor(not left)

    try:
        if broke is None and rounds.sources:
            Scan(parent, body, globals_, rounds).run()
        else:
            Loop(parent, (body, broke), globals_, rounds.count, None, round_).run()
    except FirstRound as why:
        if broke is not None or not isinstance(rounds.count, int) or rounds.count < 1:
            raise TraceError(str(why)) from None
        body(rounds.item(0))
        for_(parent, rounds.rest(), body, broke, globals_)
