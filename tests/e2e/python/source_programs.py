"""Random functions of nested control flow over whole numbers, as texts; by seed."""
import random


class Programs:
    """Each `text()` is a function `f(a, b)` that ends for all numbers: loops have a budget."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._loops = 0
        self._lines = []

    def _number(self) -> str:
        r = self._random.random()
        if r < 0.5:
            return self._random.choice("abxyz")
        if r < 0.7:
            return str(self._random.randrange(-3, 9))
        return f"({self._number()} {self._random.choice(['+', '-', '*'])} {self._number()}) % 17"

    def _test(self, depth: int = 0) -> str:
        r = self._random.random()
        if depth < 2 and r < 0.3:
            return f"({self._test(depth + 1)} {self._random.choice(['and', 'or'])} {self._test(depth + 1)})"
        if depth < 2 and r < 0.4:
            return f"not {self._test(depth + 1)}"
        if r < 0.5:
            return f"{self._number()} < {self._number()} <= {self._number()}"
        return f"{self._number()} {self._random.choice(['<', '>', '==', '!='])} {self._number()}"

    def _put(self, indent: int, text: str) -> None:
        self._lines.append("    " * indent + text)

    def _block(self, indent: int, depth: int, in_loop: bool) -> None:
        for _ in range(self._random.randrange(1, 4)):
            self._statement(indent, depth, in_loop)

    def _statement(self, indent: int, depth: int, in_loop: bool) -> None:
        r = self._random.random()
        if depth > 3 or r < 0.4:
            name = self._random.choice("xyz")
            if r < 0.05:
                self._put(indent, f"{name} = {self._number()} if {self._test()} else {self._number()}")
            else:
                self._put(indent, f"{name} {self._random.choice(['=', '+=', '-='])} {self._number()}")
        elif r < 0.65:
            self._put(indent, f"if {self._test()}:")
            self._block(indent + 1, depth + 1, in_loop)
            if self._random.random() < 0.5:
                self._put(indent, "else:")
                self._block(indent + 1, depth + 1, in_loop)
        elif r < 0.72:
            self._put(indent, f"return ({self._number()}, {self._number()})")
        elif r < 0.82 and in_loop:
            self._put(indent, self._random.choice(["break", "continue"]))
        elif r < 0.86:
            self._put(indent, "try:")
            self._block(indent + 1, depth + 1, in_loop)
            self._put(indent, "finally:")
            self._put(indent + 1, f"x = {self._number()}")
        else:
            self._loop(indent, depth)

    def _loop(self, indent: int, depth: int) -> None:
        self._loops += 1
        if self._random.random() < 0.5:
            self._put(indent, f"for y in range(({self._number()}) % 5):")
        else:
            count = f"n{self._loops}"
            self._put(indent, f"{count} = 0")
            self._put(indent, f"while {count} < 7 and {self._test()}:")
            self._put(indent + 1, f"{count} += 1")
        self._block(indent + 1, depth + 1, True)
        if self._random.random() < 0.4:
            self._put(indent, "else:")
            self._block(indent + 1, depth + 1, False)

    def text(self, name: str = "f") -> str:
        self._lines = [f"def {name}(a, b):", "    x = y = z = 1"]
        for _ in range(3):
            self._statement(1, 0, False)
        self._put(1, "return (x, y, z)")
        return "\n".join(self._lines) + "\n\n\n"
