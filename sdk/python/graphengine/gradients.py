"""grad, value_and_grad, vjp, jvp, hessian: gradients of functions, as functions.

A function is traced into a function of the graph, and a ge.Gradient node names it; the plugin grad
puts ordinary nodes in its place, so all of them compose, to any order.
"""
import functools as python_functools
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from graphengine import _native
from graphengine._doors import door
from graphengine.jit import trees
from graphengine.jit.hooks import HOOKS
from graphengine.jit.merge import as_tensor, describe, is_float
from graphengine.jit.program import Jitted, is_argument
from graphengine.jit.scope import Scope, Size, active, known
from graphengine.variable import Variable

Wrt = Any  # the number of an argument, a Variable, a Module, or several


class _Traced:
    """A function as one of the graph: its parameters, and what it answers."""

    def __init__(self, function: Callable[..., Any], args: Any, kwargs: Any, boxes: Sequence[Variable]) -> None:
        scope = active()
        assert scope is not None
        self.outer, self.boxes = scope, boxes
        leaves, tree = trees.flatten((args, kwargs), is_argument)
        self.inputs = [_here(scope, v) for v in [*leaves, *[b.value for b in boxes]]]
        self.scope = Scope(scope.trace, getattr(function, "__name__", "function"), scope)
        self.assigned: Dict[Variable, Any] = {}
        with self.scope:
            params = [self.scope.param(f"argument{i}", like=t, number=known(t)) for i, t in enumerate(self.inputs)]
            before = dict(scope.trace.variables)
            scope.trace.variables.update(zip(boxes, params[len(leaves):]))
            inside = dict(scope.trace.variables)
            try:
                made = trees.unflatten(tree, params[:len(leaves)])
                self.answer = HOOKS.call(function)(*made[0], **made[1])
                for variable, value in scope.trace.variables.items():
                    if value is not inside.get(variable):
                        self.assigned[variable] = value
            finally:
                scope.trace.variables.clear()
                scope.trace.variables.update(before)
        self.places = _places_of(tree, len(leaves))

    def results(self, first: Sequence[Any]) -> None:
        """Ends it: results of the function, then what it assigned to Variables."""
        with self.scope:
            self.scope.results([*first, *self.assigned.values()])

    def gradient(self, wrt: Sequence[int], results: int, cotangents: Optional[Sequence[Any]]) -> Tuple[Any, Any]:
        """(results, gradients) of the node; Variables that the function assigned get their values."""
        if "grad" not in self.outer.trace.plugins:
            self.outer.trace.plugins.append("grad")
        inputs = [*self.inputs, *self.scope.captured()]
        if cotangents is not None:
            inputs += list(cotangents)
        count = results + len(self.assigned)
        made = self.outer.node("ge", "Gradient", inputs, {"wrt": list(wrt)}, count + len(wrt), {"fn": self.scope.fn})
        for variable, value in zip(self.assigned, made[results:count]):
            variable.assign(value)
        return made[:results], made[count:]


def _here(scope: Scope, value: Any) -> Any:
    """A tensor of this scope."""
    return scope.tensor(scope.symbol(as_tensor(value)).value)


def _places_of(tree: Any, count: int) -> List[int]:
    """By leaf: which positional argument it belongs to; -1 for keywords."""
    out: List[int] = []
    args, kwargs = tree.children
    for i, child in enumerate(args.children):
        out += [i] * len(trees.paths(child))
    return out + [-1] * (count - len(out))


def _scalar(value: Any, function: Any) -> Any:
    value = as_tensor(value) if not isinstance(value, _native.Tensor) else value
    name = getattr(function, "__name__", "the function")
    if len(value.shape) != 0 or not is_float(value):
        raise TypeError(f"grad() of '{name}', which answers {describe(value)}, wanted one number of a float type; "
                        "reduce it by ge.sum() or ge.mean(), or use ge.vjp()")
    return value


class _Differentiated:
    """value_and_grad of a function; traced when it is called."""

    def __init__(self, function: Callable[..., Any], wrt: Wrt, has_aux: bool, both: bool) -> None:
        if not callable(function):
            raise TypeError(f"grad() of {type(function).__name__}, wanted a function; give the function itself, not what it "
                            "answers")
        python_functools.update_wrapper(self, function)
        self._function, self._has_aux, self._both = function, has_aux, both
        self._one = isinstance(wrt, (int, Variable, dict)) or getattr(type(wrt), "__ge_module__", False)
        self._entries: List[Any] = [wrt] if self._one else list(wrt)  # type: ignore[call-overload]
        for entry in self._entries:
            if not isinstance(entry, (int, Variable, dict)) and not getattr(type(entry), "__ge_module__", False):
                raise TypeError(f"wrt is {describe(entry)}, wanted the number of an argument, a Variable or a "
                                "Module; arguments are counted from 0")
        self._jitted = Jitted(self._inside, always=True)

    def _call(self, *args: Any, **kwargs: Any) -> Any:
        return self._inside(*args, **kwargs) if active() is not None else self._jitted(*args, **kwargs)

    __call__ = _native.Door(_call)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else python_functools.partial(self, instance)

    def _inside(self, *args: Any, **kwargs: Any) -> Any:
        boxes = [v for entry in self._entries for v in _boxes(entry)]
        traced = _Traced(self._function, args, kwargs, boxes)
        answer = traced.answer
        if self._has_aux and not (isinstance(answer, tuple) and len(answer) == 2):
            raise TypeError(f"grad(has_aux=True) of '{self.__name__}', which answers {describe(answer)}, wanted "
                            "(value, others); return both as a tuple")
        value, aux = answer if self._has_aux else (answer, None)
        others, tree = trees.flatten(aux, lambda v: is_argument(v) or isinstance(v, Size))
        with traced.scope:
            first = [_scalar(value, self._function), *[as_tensor(v) for v in others]]
        traced.results(first)
        picked = self._picked(traced, args)
        made, gradients = traced.gradient([i for p, _ in picked for i in p], len(first), None)
        rest = iter(gradients)
        out = [rebuild([next(rest) for _ in p]) for p, rebuild in picked]
        gradient = out[0] if self._one else tuple(out)
        answer = (made[0], trees.unflatten(tree, made[1:])) if self._has_aux else made[0]
        if self._both:
            return answer, gradient
        return (gradient, answer[1]) if self._has_aux else gradient

    def _picked(self, traced: _Traced, args: Any) -> List[Tuple[List[int], Callable[[List[Any]], Any]]]:
        """By entry of wrt: the parameters of its leaves, and what makes its gradient of theirs."""
        out: List[Tuple[List[int], Callable[[List[Any]], Any]]] = []
        box = len(traced.places)
        for entry in self._entries:
            boxes = _boxes(entry)
            if isinstance(entry, int):
                out.append(self._argument(traced, args, entry))
                continue
            at = list(range(box, box + len(boxes)))
            box += len(boxes)
            paths = None if isinstance(entry, Variable) else list(_named(entry))
            out.append((at, (lambda v: v[0]) if paths is None else (lambda v, p=paths: dict(zip(p, v)))))
        return out

    def _argument(self, traced: _Traced, args: Any, w: int) -> Tuple[List[int], Callable[[List[Any]], Any]]:
        if not -len(args) <= w < len(args):
            raise TypeError(f"wrt is {w}, wanted one of the {len(args)} arguments by position that '{self.__name__}' is "
                            "given; they are counted from 0")
        found = [i for i, at in enumerate(traced.places) if at == w % len(args)]
        for i in found:
            if not is_float(traced.inputs[i]):
                raise TypeError(f"grad() for argument {w} of '{self.__name__}', which is "
                                f"{describe(traced.inputs[i])}, wanted floats; convert it by astype")
        if not found:
            raise TypeError(f"grad() for argument {w} of '{self.__name__}', which holds no tensor, wanted one; "
                            "make it one by ge.asarray()")
        tree = trees.flatten(args[w], is_argument)[1]
        return found, lambda values: trees.unflatten(tree, values)


def _named(entry: Any) -> Dict[str, Variable]:
    """The parameters of a Module, or a dict of Variables, by their paths."""
    return entry.parameters() if getattr(type(entry), "__ge_module__", False) else entry


def _boxes(entry: Any) -> List[Variable]:
    if isinstance(entry, int):
        return []
    return [entry] if isinstance(entry, Variable) else list(_named(entry).values())


@door
def value_and_grad(function: Callable[..., Any], wrt: Wrt = 0, has_aux: bool = False) -> Callable[..., Any]:
    """A function that answers (value, gradient). The value is one number; wrt: the argument, or the
    arguments, Variables or Modules, that the gradient is for, each of its structure; that of a Module is
    a dict by the paths of its parameters. has_aux: the function
    answers (value, others), which are passed on: ((value, others), gradient). As jax.value_and_grad."""
    return _Differentiated(function, wrt, has_aux, True)


@door
def grad(function: Callable[..., Any], wrt: Wrt = 0, has_aux: bool = False) -> Callable[..., Any]:
    """A function that answers the gradient of `function`, which answers one number; see value_and_grad.
    With has_aux: (gradient, others). As jax.grad."""
    return _Differentiated(function, wrt, has_aux, False)


def _leaves_of_answer(answer: Any) -> Tuple[List[Any], Any]:
    leaves, tree = trees.flatten(answer, lambda v: is_argument(v) or isinstance(v, (Size, float)))
    return [as_tensor(v) for v in leaves], tree


def _pullback(function: Callable[..., Any], primals: Any, cotangent: Any) -> Tuple[Any, Any]:
    """(what the function answers, the gradients for all primals)."""
    traced = _Traced(function, primals, {}, ())
    with traced.scope:
        leaves, tree = _leaves_of_answer(traced.answer)
    traced.results(leaves)
    given, other = trees.flatten(cotangent, lambda v: is_argument(v) or isinstance(v, (int, float)))
    if other != tree:
        raise TypeError(f"the cotangent is {describe(cotangent)}, wanted one of the structure of what the function "
                        f"answers, {describe(traced.answer)}; give a value for each of its parts")
    cotangents = [None if not is_float(v) else _like(c, v) for c, v in zip(given, leaves)]
    cotangents += [None] * len(traced.assigned)
    wrt = [i for i, t in enumerate(traced.inputs) if is_float(t)]
    made, gradients = traced.gradient(wrt, len(leaves), cotangents)
    by_leaf = dict(zip(wrt, gradients))
    from graphengine import functions

    out = [by_leaf[i] if i in by_leaf else functions.zeros(t.shape) for i, t in enumerate(traced.inputs)]
    _, tree_in = trees.flatten(tuple(primals), is_argument)
    return trees.unflatten(tree, made), trees.unflatten(tree_in, out)


def _like(value: Any, like: Any) -> Any:
    from graphengine import functions

    return functions.asarray(value, dtype=like.dtype) if not isinstance(value, _native.Tensor) else value


@door
def vjp(function: Callable[..., Any], *primals: Any) -> Tuple[Any, Callable[[Any], Any]]:
    """(function(*primals), a function that takes a cotangent of its structure and answers the
    gradients for the primals, a tuple). As jax.vjp."""
    run = Jitted(lambda *p: HOOKS.call(function)(*p))
    back = Jitted(lambda p, c: _pullback(function, p, c)[1], always=True)
    if active() is not None:
        return HOOKS.call(function)(*primals), _native.Door(lambda cotangent: _pullback(function, primals, cotangent)[1])
    return run(*primals), _native.Door(lambda cotangent: back(tuple(primals), cotangent))


@door
def jvp(function: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> Tuple[Any, Any]:
    """(function(*primals), its derivative in the direction of the tangents). As jax.jvp."""
    if len(primals) != len(tangents):
        raise TypeError(f"jvp() of {len(primals)} primals and {len(tangents)} tangents, wanted as many; give one "
                        "for each primal")
    if active() is None:
        return Jitted(lambda p, t: _push(function, p, t), always=True)(tuple(primals), tuple(tangents))
    return _push(function, tuple(primals), tuple(tangents))


def _push(function: Callable[..., Any], primals: Any, tangents: Any) -> Tuple[Any, Any]:
    """The pullback is linear in the cotangent; its own pullback is the derivative."""
    from graphengine import functions

    answer = HOOKS.call(function)(*primals)
    leaves, tree = _leaves_of_answer(answer)
    zeros = trees.unflatten(tree, [functions.zeros_like(v) for v in leaves])
    tangents = trees.unflatten(trees.flatten(tuple(primals), is_argument)[1],
                               [_like(t, p) for t, p in zip(trees.flatten(tuple(tangents), is_argument)[0],
                                                            trees.flatten(tuple(primals), is_argument)[0])])
    _, made = _pullback(lambda cotangent: _pullback(function, primals, cotangent)[1], (zeros,), tangents)
    return answer, made[0]


@door
def stop_gradient(x: Any) -> Any:
    """The same value, through which no gradient goes. As jax.lax.stop_gradient."""
    from graphengine import functions

    return _native.apply("ge", "StopGradient", [functions.asarray(x)], {}, 1)


def _rows_of(function: Any, x: Any, cotangents: Any) -> Any:
    rows = []
    for c in cotangents:
        rows.append(vjp(function, x)[1](c)[0])
    return rows


_rows_of.__ge_convert__ = True  # type: ignore[attr-defined]


@door
def jacobian(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that answers d function(x)[i] / d x[j], of the shape of both. As jax.jacrev."""
    from graphengine import functions

    def inside(x: Any) -> Any:
        answer = HOOKS.call(function)(x)
        shape = tuple(answer.shape)
        size = 1
        for n in shape:
            size = size * int(n)
        basis = functions.reshape(functions.eye(size, dtype=answer.dtype), (size, *shape))
        rows = functions.stack(HOOKS.call(_rows_of)(function, x, basis))
        return functions.reshape(rows, (*shape, *x.shape))

    jitted = Jitted(inside, always=True)
    return _native.Door(lambda x: inside(x) if active() is not None else jitted(x))


@door
def hessian(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that answers the second derivatives of `function`, which answers one number, for its
    first argument. As jax.hessian."""
    return jacobian(grad(function))
