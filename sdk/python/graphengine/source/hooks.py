"""What converted functions call: Python's own control flow. jit/ has the ones that know tensors."""
from typing import Any, Callable, Iterable, Optional

Thunk = Callable[[], Any]


class Hooks:
    """Does as Python does. `globals`: names that a construct's parts declare global and bind."""

    def if_(self, test: Any, then: Thunk, orelse: Optional[Thunk], globals: tuple = ()) -> None:
        if test:
            then()
        elif orelse is not None:
            orelse()

    def if_return(self, test: Any, then: Thunk, orelse: Thunk, globals: tuple = ()) -> Any:
        """An `if` at the end of a function, both of whose branches return."""
        return then() if test else orelse()

    def if_exp(self, test: Any, then: Thunk, orelse: Thunk) -> Any:
        return then() if test else orelse()

    def while_(self, test: Thunk, body: Thunk, broke: Optional[Thunk], globals: tuple = ()) -> None:
        """broke: whether a `break` was reached."""
        while not (broke is not None and broke()) and test():
            body()

    def for_(self, items: Iterable, body: Callable[[Any], None], broke: Optional[Thunk],
             globals: tuple = ()) -> None:
        for item in items:
            body(item)
            if broke is not None and broke():
                break

    def and_(self, first: Any, *others: Thunk) -> Any:
        for other in others:
            if not first:
                return first
            first = other()
        return first

    def or_(self, first: Any, *others: Thunk) -> Any:
        for other in others:
            if first:
                return first
            first = other()
        return first

    def not_(self, value: Any) -> Any:
        return not value

    def range_(self, function: Any, *args: Any, **kwargs: Any) -> Any:
        """A call of `range` in a `for`; `function`: what the name stands for there."""
        return function(*args, **kwargs)

    def call(self, function: Any) -> Any:
        """What is called in place of `function`."""
        return function
