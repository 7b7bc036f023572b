"""Lowers `return`, `break` and `continue` inside control flow, so that every `if` and loop has one
way out at its end.

A branch that always leaves takes what follows it into the other branch. Where a branch only may
leave, a flag guards what follows. A `return` inside a loop is a flag and a `break`. An `if` in the
last place of a function whose branches both return becomes one value: it is marked `returns`.
"""
import ast
import copy
from typing import Iterator, List, Optional, Tuple

from graphengine.source.names import SCOPES

NEVER, MAYBE, ALWAYS = "never", "maybe", "always"
LOOPS = (ast.While, ast.For)
RETURNED, VALUE = "__ge_returned", "__ge_value"
Block = List[ast.stmt]


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes in a statement, without those of functions in it."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, SCOPES):
            yield child
            yield from _walk(child)


def has_return(node: ast.AST) -> bool:
    return isinstance(node, ast.Return) or any(isinstance(n, ast.Return) for n in _walk(node))


def _has_exit(node: ast.AST) -> bool:
    """Whether it may leave the block it stands in: by `return`, or `break` of a loop around it."""
    if isinstance(node, (ast.Return, ast.Break, ast.Continue)):
        return True
    if isinstance(node, LOOPS):
        return has_return(node) or any(_has_exit(n) for n in node.orelse)
    if isinstance(node, SCOPES):
        return False
    return any(_has_exit(n) for n in ast.iter_child_nodes(node) if isinstance(n, (ast.stmt, ast.ExceptHandler,
                                                                                  ast.match_case)))


def _at(node: ast.AST, place: ast.AST) -> ast.AST:
    for child in ast.walk(node):
        if not hasattr(child, "lineno"):
            ast.copy_location(child, place)
    return node


def _assign(name: str, value: ast.expr, place: ast.AST) -> ast.stmt:
    return _at(ast.Assign([ast.Name(name, ast.Store())], value), place)


def load(name: str, place: ast.AST) -> ast.expr:
    return ast.copy_location(ast.Name(name, ast.Load()), place)


def _set(name: str, value: bool, place: ast.AST) -> ast.stmt:
    return _assign(name, ast.Constant(value), place)


def _if(test: ast.expr, body: Block, orelse: Block, place: ast.AST) -> ast.If:
    return ast.copy_location(ast.If(test, body or [ast.copy_location(ast.Pass(), place)], orelse), place)


class _Loop:
    """A loop being lowered: the flags that its body may set."""

    def __init__(self, number: int) -> None:
        self.broke = f"__ge_broke_{number}"
        self.skip = f"__ge_skip_{number}"
        self.breaks = False  # whether something sets `broke`
        self.guards = False  # whether something reads `skip`


class Exits:
    """Lowers one function; nested functions are lowered by themselves."""

    def __init__(self) -> None:
        self._loops = 0

    def function(self, body: Block) -> Block:
        """The body, each of whose paths ends with a `return`."""
        return self._tail(body)

    # ---- the last place of a function

    def _tail(self, body: Block) -> Block:
        for i, s in enumerate(body):
            if isinstance(s, ast.Return):
                return [*self._plain(body[:i]), s]
            if not has_return(s):
                continue
            return [*self._plain(body[:i]), *self._tail_of(s, body[i + 1:])]
        end = ast.copy_location(ast.Return(_at(ast.Constant(None), body[-1])), body[-1]) if body else ast.Return(None)
        return [*self._plain(body), end]

    def _plain(self, body: Block) -> Block:
        return self._block(body, None)[0]

    def _tail_of(self, s: ast.stmt, rest: Block) -> Block:
        if isinstance(s, ast.If):
            first, other = self._always(s.body), self._always(s.orelse)
            if first or other:
                made = _if(s.test, self._tail([*s.body, *([] if first else rest)]),
                           self._tail_or_none([*s.orelse, *([] if other else rest)], s), s)
                made.returns = True
                return [made]
        if isinstance(s, ast.With) and self._always(s.body):
            s.body = self._tail(s.body)
            return [s]
        if isinstance(s, LOOPS):
            made, behind = self._loop(s)
            return [*made, *self._tail([*behind, *rest])]
        block, _ = self._block([s], None)
        after = _if(load(RETURNED, s), [ast.copy_location(ast.Return(load(VALUE, s)), s)], [], s)
        return [_set(RETURNED, False, s), *block, *self._tail_of(after, rest)]

    def _tail_or_none(self, body: Block, place: ast.AST) -> Block:
        return self._tail(body) if body else [_at(ast.copy_location(ast.Return(ast.Constant(None)), place), place)]

    def _always(self, body: Block) -> bool:
        """Whether each path through the block ends with `return`."""
        for s in body:
            if isinstance(s, (ast.Return, ast.Raise)):
                return True
            if isinstance(s, ast.If) and self._always(s.body) and self._always(s.orelse):
                return True
            if isinstance(s, ast.With) and self._always(s.body):
                return True
        return False

    # ---- any other place

    def _block(self, body: Block, loop: Optional[_Loop]) -> Tuple[Block, str]:
        out: Block = []
        for i, s in enumerate(body):
            rest = body[i + 1:]
            if isinstance(s, (ast.Return, ast.Break, ast.Continue)):
                return [*out, *self._leave(s, loop)], ALWAYS
            if isinstance(s, ast.Raise):
                return [*out, s], NEVER
            if isinstance(s, LOOPS):
                made, behind = self._loop(s)
                out += made
                if behind:
                    more, how = self._block([*behind, *rest], loop)
                    return [*out, *more], how
                continue
            if isinstance(s, ast.If):
                made, how = self._if(s, rest, loop)
                out += made
                if how is not None:
                    return out, how
                continue
            if not _has_exit(s):
                out.append(self._inside(s, loop)[0])
                continue
            made, how = self._inside(s, loop)
            out.append(made)
            return [*out, *self._guarded(rest, loop, s)], MAYBE
        return out, NEVER

    def _leave(self, s: ast.stmt, loop: Optional[_Loop]) -> Block:
        out: Block = []
        if isinstance(s, ast.Return):
            value = s.value or ast.copy_location(ast.Constant(None), s)
            if not (isinstance(value, ast.Name) and value.id == VALUE):
                out.append(_assign(VALUE, value, s))
            out.append(_set(RETURNED, True, s))
        if loop is not None:
            if not isinstance(s, ast.Continue):
                loop.breaks = True
                out.append(_set(loop.broke, True, s))
            skip = _set(loop.skip, True, s)
            skip.skips = loop  # taken out again where nothing reads it
            out.append(skip)
        return out

    def _if(self, s: ast.If, rest: Block, loop: Optional[_Loop]) -> Tuple[Block, Optional[str]]:
        """None: goes on behind it, `rest` is not in it yet."""
        body, first = self._block(s.body, loop)
        orelse, other = self._block(s.orelse, loop)
        if first == other == NEVER:
            return [_if(s.test, body, orelse, s)], None
        if first == ALWAYS and other == ALWAYS:
            return [_if(s.test, body, orelse, s)], ALWAYS
        if first == ALWAYS and other == NEVER:
            more, how = self._block(rest, loop)
            return [_if(s.test, body, [*orelse, *more], s)], ALWAYS if how == ALWAYS else MAYBE
        if other == ALWAYS and first == NEVER:
            more, how = self._block(rest, loop)
            return [_if(s.test, [*body, *more], orelse, s)], ALWAYS if how == ALWAYS else MAYBE
        return [_if(s.test, body, orelse, s), *self._guarded(rest, loop, s)], MAYBE

    def _guarded(self, rest: Block, loop: Optional[_Loop], place: ast.AST) -> Block:
        if not rest:
            return []
        flag = RETURNED
        if loop is not None:
            loop.guards = True
            flag = loop.skip
        block, _ = self._block(rest, loop)
        test = _at(ast.copy_location(ast.UnaryOp(ast.Not(), load(flag, place)), place), place)
        return [_if(test, block, [], rest[0])]

    def _inside(self, s: ast.stmt, loop: Optional[_Loop]) -> Tuple[ast.stmt, str]:
        """Blocks of `with`, `try` and `match`."""
        how = NEVER
        for field in ("body", "orelse", "finalbody"):
            block = getattr(s, field, None)
            if isinstance(block, list) and block and not isinstance(s, SCOPES):
                if field == "orelse" and how != NEVER:  # of a `try` that may have been left
                    made, kind = self._guarded(block, loop, s), MAYBE
                else:
                    made, kind = self._block(block, loop)
                setattr(s, field, made or [ast.copy_location(ast.Pass(), s)])
                how = MAYBE if kind != NEVER else how
        for part in [*getattr(s, "handlers", []), *getattr(s, "cases", [])]:
            made, kind = self._block(part.body, loop)
            part.body = made or [ast.copy_location(ast.Pass(), s)]
            how = MAYBE if kind != NEVER else how
        return s, how

    def _loop(self, s: ast.stmt) -> Tuple[Block, Block]:
        """The loop with `broke`, and what stands behind it then, still to be lowered."""
        self._loops += 1
        inner = _Loop(self._loops)
        returns = any(has_return(x) for x in s.body)
        body, _ = self._block(s.body, inner)
        body = _settle(body, inner) or [ast.copy_location(ast.Pass(), s)]
        if inner.guards:
            body = [_set(inner.skip, False, s), *body]
        made = copy.copy(s)
        made.body, made.orelse = body, []
        made.broke = inner.broke if inner.breaks else None
        out: Block = [_set(RETURNED, False, s)] if returns else []
        if inner.breaks:
            out.append(_set(inner.broke, False, s))
        behind: Block = []
        if returns:
            again = ast.copy_location(ast.Return(load(VALUE, s)), s)
            behind.append(_if(load(RETURNED, s), [again], [], s))
        if s.orelse and inner.breaks:
            test = _at(ast.copy_location(ast.UnaryOp(ast.Not(), load(inner.broke, s)), s), s)
            behind.append(_if(test, s.orelse, [], s.orelse[0]))
        elif s.orelse:
            behind += s.orelse
        return [*out, made], behind


def _settle(body: Block, loop: _Loop) -> Block:
    """Without settings of a `skip` that nothing reads."""
    if loop.guards:
        return body
    out: Block = []
    for s in body:
        if getattr(s, "skips", None) is loop:
            continue
        for field in ("body", "orelse", "finalbody"):
            block = getattr(s, field, None)
            if isinstance(block, list) and not isinstance(s, SCOPES):
                kept = _settle(block, loop)
                setattr(s, field, kept or ([ast.copy_location(ast.Pass(), s)] if field == "body" else []))
        for part in [*getattr(s, "handlers", []), *getattr(s, "cases", [])]:
            part.body = _settle(part.body, loop) or [ast.copy_location(ast.Pass(), s)]
        out.append(s)
    return out
