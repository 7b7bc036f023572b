"""Control flow as calls of hooks: bodies become functions in place, which bind the names of the
function around them by `nonlocal`. Each made node has the place of the user's own.
"""
import ast
import copy
from typing import Iterable, List, Sequence

from graphengine.source.exits import load
from graphengine.source.names import bound, moves, yields

HOOKS = "__ge"
ITEM = "__ge_item"
COMPARISONS = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
               ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in"}


def _placed(node: ast.AST, place: ast.AST) -> ast.AST:
    """The node and all that it lacks a place for, at `place`."""
    for child in ast.walk(node):
        if isinstance(child, (ast.expr, ast.stmt, ast.excepthandler, ast.arg, ast.keyword)) and not hasattr(
                child, "lineno"):
            ast.copy_location(child, place)
    return node


def _none() -> ast.expr:
    return ast.Constant(None)


class _Function:
    """A function of the user's being converted."""

    def __init__(self, globals_: Iterable[str], outer: Iterable[str], first: str) -> None:
        self.globals = set(globals_)
        self.outer = set(outer)  # bound by the function around
        self.first = first  # parameter, which super() means; "" for none
        self.moved: List[str] = []  # names that its inner functions bind
        self.made = 0


class ControlFlow(ast.NodeTransformer):
    """Over a function whose exits are lowered (exits.py)."""

    def __init__(self, globals_: Iterable[str], outer: Iterable[str], first: str = "") -> None:
        """globals_, outer: names that the function declares global and nonlocal; first: its first
        parameter."""
        self._function = _Function(globals_, outer, first)

    def body(self, statements: List[ast.stmt], place: ast.AST) -> List[ast.stmt]:
        """The converted statements, which begin with what binds the moved names in the function."""
        out = self._statements(statements)
        names = [ast.Name(n, ast.Store()) for n in self._function.moved if n not in self._function.outer]
        if not names:
            return out
        first = statements[0] if statements else place
        nothing = ast.If(ast.Constant(False), [ast.Assign(names, _none())], [])
        at = 1 if _is_docstring(out) else 0
        return [*out[:at], _placed(nothing, first), *out[at:]]

    def _statements(self, statements: List[ast.stmt]) -> List[ast.stmt]:
        out: List[ast.stmt] = []
        for s in statements:
            made = self.visit(s)
            out += made if isinstance(made, list) else [made]
        return out

    # ---- statements

    def _part(self, kind: str, statements: List[ast.stmt], place: ast.AST, args: Sequence[str] = (),
              first: Sequence[ast.stmt] = ()) -> ast.FunctionDef:
        """A function of a construct's statements."""
        self._function.made += 1
        names = [n for n in bound([*first, *statements])]
        own = [n for n in names if n not in self._function.globals]
        declared = [n for n in names if n in self._function.globals]
        self._function.moved += [n for n in own if n not in self._function.moved]
        inner = self._statements([*first, *statements])
        head: List[ast.stmt] = []
        if own:
            head.append(ast.Nonlocal(own))
        if declared:
            head.append(ast.Global(declared))
        arguments = ast.arguments(posonlyargs=[], args=[ast.arg(a) for a in args], kwonlyargs=[], kw_defaults=[],
                                  defaults=[])
        made = ast.FunctionDef(f"__ge_{kind}_{self._function.made}", arguments, [*head, *inner], [])
        made.globals = declared
        return _placed(made, place)

    def _call(self, hook: str, args: List[ast.expr], place: ast.AST, globals_: Sequence[str] = ()) -> ast.expr:
        keywords = []
        if globals_:
            keywords = [ast.keyword("globals", ast.Tuple([ast.Constant(g) for g in globals_], ast.Load()))]
        call = ast.Call(ast.Attribute(ast.Name(HOOKS, ast.Load()), hook, ast.Load()), args, keywords)
        return _placed(call, place)

    def _statement(self, call: ast.expr, place: ast.AST) -> ast.stmt:
        return ast.copy_location(ast.Expr(call), place)

    def visit_If(self, node: ast.If) -> List[ast.stmt]:
        test = self.visit(node.test)
        if yields([node]):  # a part of its own would be the generator
            node.test, node.body = test, self._statements(node.body)
            node.orelse = self._statements(node.orelse)
            return [node]
        place = node.test
        then = self._part("then", node.body, node)
        parts: List[ast.stmt] = [then]
        other = _none()
        globals_ = list(then.globals)
        if node.orelse:
            orelse = self._part("else", node.orelse, node)
            parts.append(orelse)
            other = load(orelse.name, node)
            globals_ += [g for g in orelse.globals if g not in globals_]
        if getattr(node, "returns", False):
            call = self._call("if_return", [test, load(then.name, node), other], place, globals_)
            return [*parts, ast.copy_location(ast.Return(call), node)]
        return [*parts, self._statement(self._call("if_", [test, load(then.name, node), other], place, globals_), node)]

    def _thunk(self, value: ast.expr, place: ast.AST) -> ast.expr:
        arguments = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
        return _placed(ast.Lambda(arguments, value), place)

    def _broke(self, node: ast.stmt) -> ast.expr:
        if getattr(node, "broke", None) is None:
            return _none()
        return self._thunk(load(node.broke, node), node)

    def visit_While(self, node: ast.While) -> List[ast.stmt]:
        if yields([node]) or not moves(node.test):
            node.test, node.body = self.visit(node.test), self._statements(node.body)
            return self._left(node)
        test = self._thunk(self.visit(node.test), node.test)
        body = self._part("body", node.body, node)
        call = self._call("while_", [test, load(body.name, node), self._broke(node)], node.test, body.globals)
        return [body, self._statement(call, node)]

    def visit_For(self, node: ast.For) -> List[ast.stmt]:
        items = self._items(node.iter)
        if yields([node]):
            node.iter, node.body = items, self._statements(node.body)
            return self._left(node)
        target = ast.copy_location(ast.Assign([node.target], load(ITEM, node.target)), node.target)
        body = self._part("body", node.body, node, [ITEM], [target])
        call = self._call("for_", [items, load(body.name, node), self._broke(node)], node.iter, body.globals)
        return [body, self._statement(call, node)]

    def _left(self, node: ast.stmt) -> List[ast.stmt]:
        """A loop that stays Python's; its `break` was lowered to a flag."""
        if getattr(node, "broke", None) is None:
            return [node]
        leave = ast.If(load(node.broke, node), [ast.copy_location(ast.Break(), node)], [])
        node.body.append(_placed(leave, node))
        return [node]

    def _items(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range":
            made = copy.copy(node)
            made.func = ast.Attribute(ast.Name(HOOKS, ast.Load()), "range_", ast.Load())
            made.args = [load("range", node.func), *[self.visit(a) for a in node.args]]
            made.keywords = [self.visit(k) for k in node.keywords]
            return _placed(made, node)
        return self.visit(node)

    # ---- expressions

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        test = self.visit(node.test)
        body, orelse = self.visit(node.body), self.visit(node.orelse)
        if not (moves(node.body) and moves(node.orelse)):
            return ast.copy_location(ast.IfExp(test, body, orelse), node)
        return self._call("if_exp", [test, self._thunk(body, node.body), self._thunk(orelse, node.orelse)], node)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        values = [self.visit(v) for v in node.values]
        if not all(moves(v) for v in node.values[1:]):
            return ast.copy_location(ast.BoolOp(node.op, values), node)
        hook = "and_" if isinstance(node.op, ast.And) else "or_"
        return self._call(hook, [values[0], *[self._thunk(v, v) for v in values[1:]]], node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        node.operand = self.visit(node.operand)
        return self._call("not_", [node.operand], node) if isinstance(node.op, ast.Not) else node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        if len(node.ops) == 1 or not all(moves(v) for v in node.comparators):
            return self.generic_visit(node)
        # a < b < c: each middle one is computed once, by the lambda that compares it.
        values = [self.visit(node.left), *[self.visit(c) for c in node.comparators]]
        return self._chain(values, node.ops, 0, node)

    def _chain(self, values: List[ast.expr], ops: List[ast.cmpop], i: int, node: ast.Compare) -> ast.expr:
        """(lambda l, r: and_(l OP r, lambda: the rest over r))(left, right)."""
        left, right = f"__ge_left_{i}", f"__ge_right_{i}"
        first = values[0] if i == 0 else load(f"__ge_right_{i - 1}", node)
        here = ast.copy_location(ast.Compare(load(left, node), [ops[i]], [load(right, node)]), node)
        result: ast.expr = here
        if i + 1 < len(ops):
            result = self._call("and_", [here, self._thunk(self._chain(values, ops, i + 1, node), node)], node)
        arguments = ast.arguments(posonlyargs=[], args=[ast.arg(left), ast.arg(right)], kwonlyargs=[],
                                  kw_defaults=[], defaults=[])
        return _placed(ast.Call(ast.Lambda(arguments, result), [first, values[i + 1]], []), node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        own = isinstance(node.func, ast.Name) and node.func.id in ("super", "locals", "globals", "vars", "eval", "exec")
        node.args = [self.visit(a) for a in node.args]
        node.keywords = [self.visit(k) for k in node.keywords]
        if own:  # they look at the frame that calls them
            if node.func.id == "super" and not node.args and self._function.first:
                node.args = [load("__class__", node), load(self._function.first, node)]
            return node
        node.func = self._call("call", [self.visit(node.func)], node.func)
        return node

    # ---- functions in the function

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        from graphengine.source.convert import convert_body

        node.decorator_list = [self.visit(d) for d in node.decorator_list]
        node.args.defaults = [self.visit(d) for d in node.args.defaults]
        node.args.kw_defaults = [d and self.visit(d) for d in node.args.kw_defaults]
        convert_body(node)
        return node

    def visit_AsyncFunctionDef(self, node: ast.AST) -> ast.AST:
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.stmt:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        node.body = self.visit(node.body)
        return node


def _is_docstring(statements: List[ast.stmt]) -> bool:
    return bool(statements) and isinstance(statements[0], ast.Expr) and isinstance(
        statements[0].value, ast.Constant) and isinstance(statements[0].value.value, str)
