"""Finds the source of a function and makes the function whose control flow calls hooks."""
import __future__
import ast
import copy
import functools
import inspect
import linecache
import threading
import types
from typing import Any, Dict, List, Optional, Set, Tuple, Union

from graphengine.source.exits import Exits
from graphengine.source.hooks import Hooks
from graphengine.source.names import SCOPES, declared, yields
from graphengine.source.statements import HOOKS, ControlFlow


_INNER = "__ge_function"


class Unconverted(Exception):
    """Why a function is used as it is: the text for its user."""


def convert_body(function: ast.AST) -> None:
    """Converts the statements of a function, in place."""
    if yields(function.body):
        return
    globals_, outer = declared(function)
    docstring = function.body[:1] if ast.get_docstring(function, clean=False) is not None else []
    body = Exits().function(function.body[len(docstring):] or [ast.copy_location(ast.Pass(), function)])
    args = [*function.args.posonlyargs, *function.args.args]
    function.body = ControlFlow(globals_, outer, args[0].arg if args else "").body([*docstring, *body], function)


class _Mangle(ast.NodeTransformer):
    """Names `__x` of a method, as the class around it makes them."""

    def __init__(self, owner: str) -> None:
        self._owner = owner.lstrip("_")

    def _of(self, name: str) -> str:
        private = name.startswith("__") and not name.endswith("__") and "." not in name
        return f"_{self._owner}{name}" if private and self._owner else name

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self._of(node.id)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        node.attr = self._of(node.attr)
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.arg = self._of(node.arg)
        return node

    def visit_keyword(self, node: ast.keyword) -> ast.AST:
        node.arg = node.arg and self._of(node.arg)
        return self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return node


@functools.lru_cache(maxsize=256)
def _module(filename: str, lines: Tuple[str, ...]) -> Optional[ast.Module]:
    try:
        return ast.parse("".join(lines), filename)
    except SyntaxError:
        return None


def _lines_of(function: types.FunctionType) -> Tuple[str, ...]:
    filename = function.__code__.co_filename
    linecache.checkcache(filename)
    return tuple(linecache.getlines(filename, function.__globals__))


def _candidates(function: types.FunctionType) -> List[ast.AST]:
    """The nodes of the file that begin where the function's code does."""
    code = function.__code__
    tree = _module(code.co_filename, _lines_of(function))
    if tree is None:
        return []
    lambdas = code.co_name == "<lambda>"
    out = []
    for node in ast.walk(tree):
        if lambdas and isinstance(node, ast.Lambda) and node.lineno <= code.co_firstlineno <= (node.end_lineno or 0):
            out.append(node)
        if not lambdas and isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = min([node.lineno, *[d.lineno for d in node.decorator_list]])
            if node.name == code.co_name and first == code.co_firstlineno:
                out.append(node)
    return out


def _owner(function: types.FunctionType) -> str:
    """The class that the function was written in; "" for none."""
    parts = function.__qualname__.split(".")
    return parts[-2] if len(parts) > 1 and parts[-2] != "<locals>" else ""


def _imported(function: types.FunctionType) -> List[ast.alias]:
    """What the file imports: the compiler has other code for a call of `name.f()` where it is a module."""
    tree = _module(function.__code__.co_filename, _lines_of(function))
    names: Set[str] = set()

    def walk(node: ast.AST) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.Import, ast.ImportFrom)):
                names.update(a.asname or a.name.partition(".")[0] for a in child.names if a.name != "*")
            elif not isinstance(child, (*SCOPES, ast.expr)):
                walk(child)

    if tree is not None:
        walk(tree)
    return [ast.alias("a", name) for name in sorted(names)]


def _factory(made: ast.AST, free: Tuple[str, ...], imports: List[ast.alias]) -> ast.Module:
    """def __ge_factory(free variables): the function. Its code alone is used, nothing is imported."""
    arguments = ast.arguments(posonlyargs=[], args=[ast.arg(f) for f in (*free, HOOKS) if f], kwonlyargs=[],
                              kw_defaults=[], defaults=[])
    inner = made if isinstance(made, ast.stmt) else ast.Expr(made)
    if isinstance(inner, ast.FunctionDef):
        inner.name = _INNER  # by its own name, a recursive one would be a local of the factory
    factory = ast.FunctionDef("__ge_factory", arguments, [inner], [])
    body: List[ast.stmt] = [ast.Import(imports), factory] if imports else [factory]
    return ast.fix_missing_locations(ast.copy_location(ast.Module(body, []), made))


def _codes(code: types.CodeType) -> List[types.CodeType]:
    return [c for c in code.co_consts if isinstance(c, types.CodeType)]


def _compiled(node: ast.AST, function: types.FunctionType) -> types.CodeType:
    code = function.__code__
    free = tuple(f for f in code.co_freevars if f != HOOKS)
    module = compile(_factory(node, free, _imported(function)), code.co_filename, "exec", dont_inherit=True,
                     flags=code.co_flags & _FUTURES)
    factory = _codes(module)[0]
    return next(c for c in _codes(factory) if c.co_name in (_INNER, "<lambda>"))


_FUTURES = functools.reduce(lambda a, b: a | b,
                            (getattr(__future__, n).compiler_flag for n in __future__.all_feature_names))


def _bare(node: ast.AST, owner: str) -> ast.AST:
    """A copy without decorators, defaults and annotations, which were evaluated where it was made."""
    node = copy.deepcopy(node)
    node = _Mangle(owner).visit(node) if owner else node
    if isinstance(node, ast.Lambda):
        node.args.defaults = [ast.copy_location(ast.Constant(None), d) for d in node.args.defaults]
        return node
    node.decorator_list = []
    node.returns = None
    node.args.defaults = [ast.copy_location(ast.Constant(None), d) for d in node.args.defaults]
    node.args.kw_defaults = [d and ast.copy_location(ast.Constant(None), d) for d in node.args.kw_defaults]
    for arg in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs,
                *[a for a in (node.args.vararg, node.args.kwarg) if a]]:
        arg.annotation = None
    return node


def _same(a: types.CodeType, b: types.CodeType) -> bool:
    """Whether the code of the source is the function's own."""
    if (a.co_code, a.co_names, a.co_varnames) != (b.co_code, b.co_names, b.co_varnames):
        return False
    for x, y in zip(a.co_consts, b.co_consts):
        if isinstance(x, types.CodeType) and isinstance(y, types.CodeType):
            if not _same(x, y):
                return False
        elif type(x) is not type(y) or repr(x) != repr(y):
            return False
    return len(a.co_consts) == len(b.co_consts)


def _named(code: types.CodeType, name: str) -> types.CodeType:
    """The parts of a function go by its name in tracebacks."""
    consts = []
    for c in code.co_consts:
        if isinstance(c, types.CodeType):
            c = _named(c, name if c.co_name.startswith("__ge_") else c.co_name)
        consts.append(c)
    changes: Dict[str, Any] = {"co_consts": tuple(consts)}
    if code.co_name.startswith("__ge_"):
        changes.update(co_name=name)
        if hasattr(code, "co_qualname"):
            changes.update(co_qualname=name)
    return code.replace(**changes)


class Converter:
    """Converted functions over one Hooks object. Any number of threads."""

    def __init__(self, hooks: Hooks) -> None:
        self._cell = types.CellType(hooks)
        self._lock = threading.Lock()
        # By file and code, since equal texts of two files are equal code: the converted one, or why not.
        self._codes: Dict[Tuple[str, types.CodeType], Union[types.CodeType, str]] = {}
        self._made: Set[types.CodeType] = set()  # converted code, that of functions in it too

    def function(self, function: types.FunctionType) -> types.FunctionType:
        """The converted function; Unconverted where there is no source that is known to be its own."""
        code = function.__code__
        if code in self._made:
            return function
        key = (code.co_filename, code)
        with self._lock:
            if key not in self._codes:
                try:
                    self._codes[key] = self._convert(function)
                except Unconverted as why:
                    self._codes[key] = str(why)
        found = self._codes[key]
        if isinstance(found, str):
            raise Unconverted(found)
        return self._with(found, function)

    def _convert(self, function: types.FunctionType) -> types.CodeType:
        code = function.__code__
        where = f"'{code.co_name}' ({code.co_filename}:{code.co_firstlineno})"
        if code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
            raise Unconverted(f"{where} is a generator or a coroutine, whose control flow stays Python's")
        found = _candidates(function)
        if not found:
            raise Unconverted(f"the source of {where} is not there, so its control flow stays Python's; "
                              "write the function in a file")
        owner = _owner(function)
        matching = [n for n in found if _same(_compiled(_bare(n, owner), function), code)]
        if not matching:
            raise Unconverted(f"the source of {where} is not what runs: the file was changed after it was "
                              "loaded; load it again")
        node = _bare(matching[0], owner)
        if isinstance(node, ast.Lambda):
            node = ControlFlow((), ()).visit(node)
        else:
            convert_body(node)
        made = _named(_compiled(node, function), code.co_name)
        self._note(made)
        return made

    def _note(self, code: types.CodeType) -> None:
        self._made.add(code)
        for inner in _codes(code):
            self._note(inner)

    def _with(self, code: types.CodeType, function: types.FunctionType) -> types.FunctionType:
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
        cells[HOOKS] = self._cell
        made = types.FunctionType(code, function.__globals__, function.__name__, function.__defaults__,
                                  tuple(cells[f] for f in code.co_freevars))
        made.__kwdefaults__ = function.__kwdefaults__
        made.__qualname__, made.__module__, made.__doc__ = (function.__qualname__, function.__module__,
                                                            function.__doc__)
        made.__dict__.update(function.__dict__)
        return made
