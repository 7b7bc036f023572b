"""custom_vjp: functions that bring their own derivative.

The function is one of the graph, which names its derivative; the plugin grad goes by it wherever a
gradient meets a call of the function.
"""
import functools as python_functools
import inspect
from typing import Any, Callable, List, Optional, Sequence, Tuple

from graphengine import _native
from graphengine._doors import doors
from graphengine.jit import trees
from graphengine.jit.hooks import HOOKS
from graphengine.jit.merge import as_tensor, describe, is_float, is_number
from graphengine.jit.places import run_alone
from graphengine.jit.recursion import is_data
from graphengine.jit.scope import Scope, Symbol, TraceError, active, known


@doors
class custom_vjp:  # pylint: disable=invalid-name
    """@ge.custom_vjp: a function with a derivative of its own, given by defvjp. As jax.custom_vjp.

    f.defvjp(forward, backward): forward(*args) answers (what f answers, residuals); backward(residuals,
    cotangent) answers a tuple with a gradient for each argument, of its structure; None: zeros.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        if not callable(function):
            raise TypeError(f"custom_vjp() of {type(function).__name__}, wanted a function; give what is called")
        python_functools.update_wrapper(self, function)
        self._function = function
        self._forward: Optional[Callable[..., Any]] = None
        self._backward: Optional[Callable[..., Any]] = None

    def defvjp(self, forward: Callable[..., Any], backward: Callable[..., Any]) -> None:
        """Gives the derivative."""
        for name, f in (("forward", forward), ("backward", backward)):
            if not callable(f):
                raise TypeError(f"defvjp() of '{self.__name__}': {name} is {describe(f)}, wanted a function; give what is "
                                "called")
        self._forward, self._backward = forward, backward

    def _call(self, *args: Any, **kwargs: Any) -> Any:
        if self._forward is None:
            raise TypeError(f"'{self.__name__}' is a custom_vjp without its derivative, wanted one; give it by "
                            f"{self.__name__}.defvjp(forward, backward)")
        scope = active()
        if scope is None:
            return self._function(*args, **kwargs)
        if self in scope.trace.plain:  # its own derivative calls it
            return HOOKS.call(self._function)(*args, **kwargs)
        bound = inspect.signature(self._function).bind(*args, **kwargs)
        bound.apply_defaults()
        if bound.kwargs:
            raise TypeError(f"'{self.__name__}' is a custom_vjp and has arguments by keyword alone "
                            f"({', '.join(bound.kwargs)}), wanted arguments by position")
        return _Call(self, scope, bound.args).answer()

    __call__ = _native.Door(_call)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else python_functools.partial(self, instance)

    def functions(self) -> Tuple[Any, ...]:
        return self._function, self._forward, self._backward

    def primal(self, args: Tuple[Any, ...]) -> Any:
        """What the function itself answers, traced."""
        return HOOKS.call(self._function)(*args)

    def pull(self, args: Tuple[Any, ...], cotangent: Callable[[], Any]) -> Any:
        """What `backward` answers, traced."""
        made = HOOKS.call(self._forward)(*args)
        if not isinstance(made, tuple) or len(made) != 2:
            raise TypeError(f"forward of '{self.__name__}' answers {describe(made)}, wanted (value, residuals); "
                            "return both as a tuple")
        return HOOKS.call(self._backward)(made[1], cotangent())


class _Call:
    """One call in a trace: the function, and the one that is its derivative."""

    def __init__(self, of: custom_vjp, scope: Scope, args: Tuple[Any, ...]) -> None:
        self._of, self._outer, self._name = of, scope, of.__name__
        leaves, self._tree = trees.flatten(args, is_data)
        self._inputs = [scope.tensor(scope.symbol(as_tensor(v)).value) for v in leaves]
        self._around: List[Symbol] = []  # constants of the graph that the functions read

    def answer(self) -> Any:
        """Adds the call and answers what it does."""
        primal = self._scope(self._name)
        with primal:
            args = trees.unflatten(self._tree, self._params(primal, self._inputs))
            leaves, self._out = trees.flatten(self._alone(self._of.primal, args), is_data)
            results = [as_tensor(v) for v in leaves]
            primal.results(results)
            results = [primal.tensor(primal.symbol(v).value) for v in results]
        back = self._back(results)
        for inner in (primal, back):
            self._around += [s for s in inner.origins if all(
                (s.scope, s.value) != (t.scope, t.value) for t in self._around)]
        fn = self._function(primal, self._derivative(back, results))
        return trees.unflatten(self._out, self._call(self._outer, fn, fn.captured(), len(results)))

    def _scope(self, name: str, vjp: int = 0) -> Scope:
        return Scope(self._outer.trace, name, self._outer, custom_vjp=vjp)

    @staticmethod
    def _params(scope: Scope, like: Sequence[Any], name: str = "argument") -> List[Any]:
        return [scope.param(f"{name}{i}", like=t, number=None if name == "cotangent" else known(t))
                for i, t in enumerate(like)]

    def _alone(self, function: Callable[..., Any], *args: Any) -> Any:
        def refuse(name: str) -> None:
            raise TraceError(f"'{self._name}' is a custom_vjp and changes '{name}', which is not its own; let it answer "
                             "the new value")

        return run_alone(self._outer.trace, function, args, refuse, watch=self._of.functions())

    def _back(self, results: Sequence[Any]) -> Scope:
        """The derivative: of arguments, results and cotangents."""
        scope, trace = self._scope(self._name + ".back"), self._outer.trace
        with scope:
            params = self._params(scope, self._inputs)
            self._params(scope, results, "result")
            cotangents = self._params(scope, results, "cotangent")
            trace.plain.append(self._of)
            try:
                made = self._alone(self._of.pull, trees.unflatten(self._tree, params),
                                   lambda: trees.unflatten(self._out, cotangents))
            finally:
                trace.plain.pop()
            scope.results(self._gradients(made, params))
        for s in scope.origins:
            self._want_constant(s)
        return scope

    def _gradients(self, made: Any, params: List[Any]) -> List[Any]:
        """What `backward` answers as one gradient for each parameter of floats."""
        from graphengine import functions

        if not isinstance(made, tuple) or len(made) != len(self._tree.children):
            raise TypeError(f"backward of '{self._name}' answers {describe(made)}, wanted a tuple of a gradient for each "
                            f"of {len(self._tree.children)} arguments; None stands for zeros")
        out: List[Any] = []
        rest = iter(params)
        for i, (gradient, child) in enumerate(zip(made, self._tree.children)):
            mine = [next(rest) for _ in trees.paths(child)]
            given = [None] * len(mine) if gradient is None else trees.flatten(
                gradient, lambda v: is_data(v) or is_number(v) or v is None)[0]
            if len(given) != len(mine):
                raise TypeError(f"gradient {i} that backward of '{self._name}' answers holds {len(given)} tensors, and the "
                                f"argument {len(mine)}; give each of its tensors a gradient, or None")
            for g, p in zip(given, mine):
                if is_float(p):
                    out.append(functions.zeros_like(p) if g is None else self._fitting(i, as_tensor(g, p), p))
        return out

    def _fitting(self, i: int, gradient: Any, param: Any) -> Any:
        same = gradient.dtype == param.dtype and len(gradient.shape) == len(param.shape) and all(
            a == b for a, b in zip(gradient.shape, param.shape) if isinstance(a, int) and isinstance(b, int))
        if not same:
            raise TypeError(f"gradient {i} that backward of '{self._name}' answers is {describe(gradient)}, wanted "
                            f"{describe(param)} as the argument; reduce, reshape or cast it")
        return gradient

    def _want_constant(self, symbol: Symbol) -> None:
        root = self._outer.trace.root
        assert root is not None
        if not root.holds_constant(symbol):
            raise TraceError(f"'{self._name}' is a custom_vjp and reads a value of a function around it, which would get no "
                             "gradient; give it as an argument")

    def _function(self, primal: Scope, vjp: int) -> Scope:
        """The function that names its derivative and has its parameters."""
        for s in primal.origins:
            self._want_constant(s)
        scope = self._scope(self._name, vjp)
        with scope:
            params = self._params(scope, self._inputs)
            for s in self._around:
                scope.lift(s)
            inner = [scope.tensor(scope.lift(s).value) for s in primal.origins]
            scope.results(self._call(scope, primal, inner, len(trees.paths(self._out)), params))
        return scope

    def _derivative(self, back: Scope, results: Sequence[Any]) -> int:
        """The derivative with the function's parameters: values from around stand behind the arguments."""
        from graphengine import functions

        scope = self._scope(self._name + ".vjp")
        with scope:
            params = self._params(scope, self._inputs)
            around = [scope.tensor(scope.lift(s).value) for s in self._around]
            given = [*params, *self._params(scope, results, "result"), *self._params(scope, results, "cotangent")]
            inner = [scope.tensor(scope.lift(s).value) for s in back.origins]
            count = sum(is_float(p) for p in params)
            made = self._call(scope, back, inner, count, given) if count else []
            scope.results([*made, *[functions.zeros_like(v) for v in around if is_float(v)]])
        return scope.fn

    def _call(self, scope: Scope, of: Scope, around: Sequence[Any], outputs: int,
              inputs: Optional[Sequence[Any]] = None) -> List[Any]:
        given = [*(self._inputs if inputs is None else inputs), *around]
        return scope.node("ge", "Call", given, {}, outputs, {"fn": of.fn})
