"""Names that statements bind in their own function, and those that they declare global."""
import ast
from typing import Iterable, List, Set, Tuple

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class _Bound(ast.NodeVisitor):
    """Collects names; what a nested function, class or comprehension binds is its own."""

    def __init__(self) -> None:
        self.names: List[str] = []
        self.globals: Set[str] = set()
        self.outer: Set[str] = set()
        self._inner = 0  # comprehensions around

    def _add(self, name: str) -> None:
        if name not in self.names:
            self.names.append(name)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, (ast.Store, ast.Del)) and not self._inner:
            self._add(node.id)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self._add(node.target.id)  # also from within a comprehension
        self.visit(node.value)

    def _visit_function(self, node: ast.AST) -> None:
        if not isinstance(node, ast.Lambda):
            self._add(node.name)
            for decorator in node.decorator_list:
                self.visit(decorator)
        if isinstance(node, ast.ClassDef):
            for base in [*node.bases, *[k.value for k in node.keywords]]:
                self.visit(base)
            return
        for default in [*node.args.defaults, *[d for d in node.args.kw_defaults if d]]:
            self.visit(default)

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = visit_ClassDef = _visit_function

    def _visit_comprehension(self, node: ast.AST) -> None:
        self._inner += 1
        self.generic_visit(node)
        self._inner -= 1

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _visit_comprehension

    def visit_Import(self, node: ast.AST) -> None:
        for alias in node.names:
            self._add(alias.asname or alias.name.split(".")[0])

    visit_ImportFrom = visit_Import

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self._add(node.name)
        self.generic_visit(node)

    def _visit_capture(self, node: ast.AST) -> None:
        if getattr(node, "name", None):
            self._add(node.name)
        if getattr(node, "rest", None):
            self._add(node.rest)
        self.generic_visit(node)

    visit_MatchAs = visit_MatchStar = visit_MatchMapping = _visit_capture

    def visit_Global(self, node: ast.Global) -> None:
        self.globals.update(node.names)

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        self.outer.update(node.names)


def bound(statements: Iterable[ast.stmt]) -> List[str]:
    """The names that the statements bind, in the order of their first binding."""
    found = _Bound()
    for statement in statements:
        found.visit(statement)
    return found.names


def declared(function: ast.AST) -> Tuple[Set[str], Set[str]]:
    """The names that the function's own statements declare global, and nonlocal."""
    found = _Bound()
    for statement in function.body:
        found.visit(statement)
    return found.globals, found.outer


class _Binds(ast.NodeVisitor):
    """Whether an expression binds a name, which it cannot from within a lambda."""

    def __init__(self) -> None:
        self.found = False

    def visit_NamedExpr(self, _: ast.NamedExpr) -> None:
        self.found = True

    def visit_Yield(self, _: ast.AST) -> None:
        self.found = True

    visit_YieldFrom = visit_Await = visit_Yield

    def visit_Lambda(self, node: ast.Lambda) -> None:
        pass


def moves(expression: ast.expr) -> bool:
    """Whether the expression means the same inside a lambda of its own."""
    binds = _Binds()
    binds.visit(expression)
    return not binds.found


class _Yields(ast.NodeVisitor):
    def __init__(self) -> None:
        self.found = False

    def visit_Yield(self, _: ast.AST) -> None:
        self.found = True

    visit_YieldFrom = visit_Await = visit_AsyncFor = visit_AsyncWith = visit_Yield

    def _leave(self, node: ast.AST) -> None:
        pass

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = visit_ClassDef = _leave


def yields(statements: Iterable[ast.stmt]) -> bool:
    """Whether the statements make their function a generator or a coroutine."""
    found = _Yields()
    for statement in statements:
        found.visit(statement)
    return found.found
