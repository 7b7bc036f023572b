"""A wrong program and its marks.

    @wrong(ValueError, "[3] and [4]", args=lambda: (ge.ones((3,)), ge.ones((4,))))
    def shapes(x, y):
        return x + y
        #      ^^^^^

A line `# ^^^` marks the part of the line above it that the traceback's last frame has to be at, `#^^` one
that begins above the `#`; a line
`# ~~~`, the line that the exception's note has to name: what fails when the graph runs.
"""
import inspect
import linecache
import re

BOTH, EAGER, JIT, RUN, GRAPH, PLAIN = "both", "eager", "jit", "run", "graph", "plain"
PROGRAMS = []


class Program:
    """how: BOTH: refused as eager calls and under jit, at the mark. EAGER, JIT: in one of them alone. RUN:
    at the mark as eager calls, and under jit by a note when it runs. GRAPH: as BOTH, but right under
    ge.eager(). PLAIN: the function is called as it
    is. own: the exception is the program's or Python's, whose text is not ours.
    column: whether it is always the same. good: arguments of a right call, whose answers as eager calls and under jit have to be equal."""

    def __init__(self, function, kind, words, how, args, good, own, column):
        self.function, self.kind, self.words, self.how, self.args, self.good = function, kind, words, how, args, good
        self.own, self.column, self.name = own, column, function.__name__
        self.at, self.noted = self._marks()

    def _marks(self):
        """((line, first column, behind the last column), line of the note); None for none."""
        lines, first = inspect.getsourcelines(self.function)
        at = noted = None
        code = first
        for number, line in enumerate(lines, first):
            found = re.fullmatch(r"\s*(?:#\s+(\^+|~+)|(#[\^~]+))\s*", line)
            if found is None:
                code = number
            elif "^" in found[0]:
                at = (code, *found.span(1 if found[1] else 2))
            else:
                noted = code
        return at, noted

    def file(self):
        return self.function.__code__.co_filename


def wrong(kind, *words, how=BOTH, args=lambda: (), good=None, own=False, column=True):
    """Registers a wrong program, which has to leave with this kind of exception, whose text has the words."""
    def register(function):
        PROGRAMS.append(Program(function, kind, words, how, args, good, own, column))
        return function
    return register


def position(trace):
    """(file, line, end line, first column, behind the last column) of a traceback's last frame."""
    while trace.tb_next is not None:
        trace = trace.tb_next
    code = trace.tb_frame.f_code
    line, end, first, last = list(code.co_positions())[trace.tb_lasti // 2]
    return code.co_filename, line, end, first, last


def text_at(file, line):
    return linecache.getline(file, line).rstrip("\n")
