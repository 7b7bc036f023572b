"""Module: a part of a network, with Variables and other Modules as attributes. As torch.nn.Module."""
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Tuple

import numpy as np

from graphengine import functions
from graphengine._doors import doors
from graphengine.jit.hooks import HOOKS
from graphengine.jit.scope import active, calling
from graphengine.variable import Variable


@doors
class Module:
    """A part of a network. Attributes that are Variables are its parameters, or buffers where they are
    not trainable; those that are Modules are its parts. `forward` says what it computes."""

    __ge_module__ = True

    def __init__(self) -> None:
        object.__setattr__(self, "training", True)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no forward(), wanted one; write what it computes there")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        scope = active()
        if scope is None:
            return self.forward(*args, **kwargs)
        scope.trace.modes[id(self)] = (self, self.training)
        with calling(self):
            return HOOKS.call(self.forward)(*args, **kwargs)

    def __setattr__(self, name: str, value: Any) -> None:
        if "training" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__}.{name} is set first, wanted behind super().__init__(); call that "
                                 "at the beginning of __init__")
        if isinstance(value, Variable) and value.name.startswith("variable"):
            value.name = name
        object.__setattr__(self, name, value)

    # ---- what it is made of

    def children(self) -> Iterator[Tuple[str, "Module"]]:
        """Its own parts with their names."""
        for name, value in vars(self).items():
            if isinstance(value, Module):
                yield name, value
            elif isinstance(value, (list, tuple)):
                for i, item in enumerate(value):
                    if isinstance(item, Module):
                        yield f"{name}.{i}", item

    def modules(self, path: str = "") -> Iterator[Tuple[str, "Module"]]:
        """Itself and all parts below, with their paths; each once."""
        seen: set = set()

        def walk(module: "Module", at: str) -> Iterator[Tuple[str, "Module"]]:
            if id(module) in seen:
                return
            seen.add(id(module))
            yield at, module
            for name, child in module.children():
                yield from walk(child, f"{at}.{name}" if at else name)

        return walk(self, path)

    def variables(self) -> Dict[str, Variable]:
        """All Variables by their paths, "fc1.weight"; one with two paths goes by the first."""
        out: Dict[str, Variable] = {}
        seen: set = set()
        for path, module in self.modules():
            for name, value in vars(module).items():
                if isinstance(value, Variable) and id(value) not in seen:
                    seen.add(id(value))
                    out[f"{path}.{name}" if path else name] = value
        return out

    def parameters(self) -> Dict[str, Variable]:
        """Those that are trained."""
        return {path: v for path, v in self.variables().items() if v.trainable}

    # ---- modes

    def train(self, mode: bool = True) -> "Module":
        """How Dropout, BatchNorm and others compute; of all parts below, too."""
        for _, module in self.modules():
            object.__setattr__(module, "training", mode)
        Variable.change_mode()
        return self

    def eval(self) -> "Module":
        """train(False)."""
        return self.train(False)

    # ---- weights

    def to(self, dtype: Any) -> "Module":
        """Its Variables of floats, and those of all parts below, become ones of this type; functions under
        jit are traced anew. Before an optimizer is made of it: that one's states keep their types."""
        for variable in self.variables().values():
            if functions.isdtype(variable.dtype, "real floating"):
                variable.change_type(dtype)
        return self

    def state_dict(self) -> Dict[str, np.ndarray]:
        """What its Variables hold, by their paths."""
        return {path: v.numpy() for path, v in self.variables().items()}

    def load_state_dict(self, values: Dict[str, Any], strict: bool = True) -> None:
        """Gives the Variables what a dict of such paths holds, of torch's tensors too. strict: both have
        to have the same paths; others are passed over otherwise. Nothing is changed where it fails."""
        own = self.variables()
        given = {k: v for k, v in values.items() if not k.endswith("num_batches_tracked")}
        missing, more = [k for k in own if k not in given], [k for k in given if k not in own]
        if strict and (missing or more):
            raise KeyError(f"the values lack {missing or 'nothing'} and have {more or 'nothing'} besides, wanted "
                           f"{list(own)}; strict=False passes over them")
        made = {}
        for path, variable in own.items():
            if path in given:
                array = functions.asarray(_array(given[path]))
                if tuple(array.shape) != variable.shape:
                    raise ValueError(f"'{path}' is of shape {tuple(array.shape)}, wanted {variable.shape}; "
                                     "make the layer of these sizes, or leave it out by strict=False")
                made[path] = functions.astype(array, variable.dtype)
        for path, array in made.items():
            own[path].assign(array)

    # ---- text

    def extra_repr(self) -> str:
        return ""

    def __repr__(self) -> str:
        parts = [f"  ({name}): " + repr(child).replace("\n", "\n  ") for name, child in self.children()]
        inner = self.extra_repr()
        if not parts:
            return f"{type(self).__name__}({inner})"
        return f"{type(self).__name__}({inner}\n" + "\n".join(parts) + "\n)"


def _array(value: Any) -> Any:
    detach = getattr(value, "detach", None)
    return detach().cpu() if detach is not None else value


@doors
class Sequential(Module):
    """Its parts one after the other."""

    def __init__(self, *parts: Callable[..., Any]) -> None:
        super().__init__()
        for i, part in enumerate(parts):
            if isinstance(part, type) or not callable(part):
                what = f"the class {part.__name__}" if isinstance(part, type) else f"a {type(part).__name__}"
                raise TypeError(f"part {i} of Sequential() is {what}, wanted a Module or a function; make a layer by "
                                "calling its class")
            setattr(self, str(i), part)
        self._count = len(parts)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, i: int) -> Any:
        return getattr(self, str(range(self._count)[i]))

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(self._count))

    def forward(self, x: Any) -> Any:
        for part in self:
            x = HOOKS.call(part)(x)
        return x


@doors
class ModuleList(Module):
    """A list of parts."""

    def __init__(self, parts: Iterable[Module] = ()) -> None:
        super().__init__()
        self._count = 0
        for part in parts:
            self.append(part)

    def append(self, part: Module) -> "ModuleList":
        setattr(self, str(self._count), part)
        self._count += 1
        return self

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, i: int) -> Any:
        return getattr(self, str(range(self._count)[i]))

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(self._count))


def items(value: Any, count: int, what: str) -> List[int]:
    """A number for all axes, or one for each."""
    out = [value] * count if isinstance(value, int) else list(value)
    if len(out) != count:
        raise ValueError(f"{what} is {value}, wanted a number or {count} of them; give one for each axis")
    return out


def optional(module: Module, name: str, value: Optional[Any], trainable: bool = True) -> None:
    """A Variable under this name, or None."""
    setattr(module, name, None if value is None else Variable(value, name, trainable))
