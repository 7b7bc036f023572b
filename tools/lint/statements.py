"""Reads C and C++ as statements and parameter lists for the linter.

A reader of tokens, not a compiler: it trusts what clang-format lays out (a `<` that opens template
arguments touches the name before it). Preprocessor lines and every branch of an #if but its first
are left out.
"""
import collections
import re

import source_text

Token = collections.namedtuple("Token", "text start")
TOKEN = re.compile(r"[A-Za-z_]\w*|\d(?:'?[\w.])*|\.\d+\w*|->\*?|\+\+|--|<<=|[-+*/%&|^=!<>]=|&&|\|\||::|\.\.\.|\"+|'+|\S")
NAME = re.compile(r"[A-Za-z_]\w*$")
OPENS, CLOSES = {"(": ")", "[": "]", "{": "}"}, {")", "]", "}"}
# What a statement begins with that is no expression.
DECLARES = {"const", "constexpr", "static", "auto", "int", "unsigned", "signed", "long", "short", "char", "bool",
            "float", "double", "void", "struct", "class", "union", "enum", "typename", "using", "typedef", "template",
            "extern", "thread_local", "volatile", "register", "namespace", "static_assert", "alignas", "mutable",
            "inline", "friend", "constinit", "decltype"}
LEAVES = {"return", "co_return", "co_yield", "throw", "goto", "break", "continue", "asm", "__asm__"}


def tokens(source):
    """The tokens of `source`, literals blanked but for their quotes."""
    def quotes(match):
        kind = match.lastgroup
        if kind == "number":
            return match.group()
        if match.group("comment"):
            return source_text.blank(match.group())
        text = match.group()
        return '"' + source_text.blank(text[1:-1]) + '"' if len(text) > 1 else text
    code = source_text.TOKENS.sub(quotes, source)
    return [Token(m.group(), m.start()) for m in TOKEN.finditer(kept_lines(code))]


def kept_lines(code):
    """`code` of the same length, with preprocessor lines and later branches of #if as spaces."""
    lines, kept = code.split("\n"), source_text.without_directives(code).split("\n")
    return "\n".join(line if line == other else source_text.blank(line) for line, other in zip(lines, kept))


class Code:
    """The tokens of one file with their brackets matched: `ends[i]` is where bracket i closes."""

    def __init__(self, source):
        self.tokens = tokens(source)
        self.texts = [t.text for t in self.tokens]
        self.ends, stack = {}, []
        for i, text in enumerate(self.texts):
            if text in OPENS:
                stack.append(i)
            elif text in CLOSES and stack:
                self.ends[stack.pop()] = i
        self.begins = {end: begin for begin, end in self.ends.items()}

    def text(self, i):
        return self.texts[i] if 0 <= i < len(self.texts) else ""

    def template_end(self, i):
        """Behind the `>` of the `<` at i, or i where it opens no template arguments."""
        depth, j = 0, i
        while j < len(self.texts):
            text = self.texts[j]
            if text == "<":
                depth += 1
            elif text == ">":
                depth -= 1
                if depth == 0:
                    return j + 1
            elif text in self.ends and text != "{":
                j = self.ends.get(j, j)
            elif text in ";{}" or text in ("&&", "||"):
                return i
            j += 1
        return i

    def opens_template(self, i):
        """Whether the `<` at i touches a name before it and closes."""
        before = self.tokens[i - 1] if i else None
        return (before is not None and NAME.match(before.text)
                and before.start + len(before.text) == self.tokens[i].start and self.template_end(i) > i)

    def is_lambda_bracket(self, i):
        """Whether the `[` at i opens the captures of a lambda."""
        before = self.text(i - 1)
        return not (NAME.match(before) and before not in LEAVES) and before not in (")", "]", '"')

    def is_lambda(self, i):
        """Whether the `{` at i opens the body of a lambda."""
        j = i - 1
        while self.text(j) in ("mutable", "noexcept"):
            j -= 1
        if self.text(j) not in (")", "]"):  # a return type behind the parameters?
            while j > 0 and (NAME.match(self.texts[j]) or self.texts[j] in ("::", "<", ">", "*", "&", ",")):
                j -= 1
            if self.text(j) != "->":
                return False
            j -= 1
            while self.text(j) in ("mutable", "noexcept"):
                j -= 1
        if self.text(j) == ")":
            j = self.begins.get(j, 0) - 1
            if self.text(j) == ">":  # of a lambda with template parameters
                while j > 0 and self.texts[j] != "<":
                    j -= 1
                j -= 1
        return self.text(j) == "]" and self.is_lambda_bracket(self.begins.get(j, 0))

# ---- scopes and functions -----------------------------------------------------------------------

BUILT_IN = {"int", "unsigned", "signed", "long", "short", "char", "bool", "float", "double", "void", "auto", "wchar_t"}
QUALIFIES = {"const", "volatile", "struct", "class", "union", "enum", "typename", "register", "static", "constexpr"}
# Names before a parenthesis that is no parameter list.
NO_FUNCTION = {"__attribute__", "alignas", "decltype", "noexcept", "explicit", "requires", "sizeof", "static_assert",
               "__declspec", "if", "for", "while", "switch", "catch", "return", "alignof"}
# `begin` is where the declaration begins, `opens` its parameters' parenthesis, `body` its brace or None, `end` its
# last token; `parameters` are (index of the name's token or None, index of the first token).
Function = collections.namedtuple("Function", "name begin opens closes body end parameters")


def functions(code):
    """Every function that is declared or defined outside functions, with its parameters."""
    found = []
    walk(code, 0, len(code.texts), found)
    return found


def walk(code, begin, end, found):
    """Adds the functions between tokens `begin` and `end` of a file, a namespace or a class."""
    i = head = begin
    while i < end:
        text = code.texts[i]
        if text == ";":
            add(code, head, i, None, found)
            head = i + 1
        elif text == ":" and code.text(i - 1) in ("public", "private", "protected") and head == i - 1:
            head = i + 1
        elif text == "{":
            close = code.ends.get(i, end)
            kind = scope_kind(code, head, i)
            if kind == "scope":
                walk(code, i + 1, close, found)
                head = close + 1
            elif kind == "function":
                add(code, head, i, i, found)
                head = close + 1
            i = close  # else initial values: the declaration goes on behind them
        elif text in ("(", "["):
            i = code.ends.get(i, end)
        elif text == "<" and code.opens_template(i):
            i = code.template_end(i) - 1
        i += 1


def scope_kind(code, head, brace):
    """What the `{` at `brace` opens, whose declaration begins at `head`."""
    words, i, called = [], head, False
    while i < brace:
        text = code.texts[i]
        if text in ("(", "["):
            called = called or text == "("
            i = code.ends.get(i, brace)
        elif text == "{":
            i = code.ends.get(i, brace)
        elif text == "<" and code.template_end(i) > i and (code.opens_template(i) or code.text(i - 1) == "template"):
            i = code.template_end(i) - 1
        else:
            words.append(text)
        i += 1
    if "namespace" in words or ("extern" in words and '"' in words and not called):
        return "scope"
    if "enum" in words:
        return "values"
    if called and "=" not in words or "operator" in words:
        before = code.text(brace - 1)
        member = ":" in words and (NAME.match(before) or before == ">") and before not in ("const", "noexcept", "try")
        return "values" if member else "function"  # of a member that a constructor makes
    if "=" not in words and {"class", "struct", "union"} & set(words):
        return "scope"
    return "values"


def parameter_list(code, head, end):
    """The index of the parenthesis of the parameters declared between `head` and `end`, or None."""
    i = head
    while i < end:
        text = code.texts[i]
        if text == "=":
            if code.text(i - 1) != "operator":
                return None
        elif text == "(":
            before = code.text(i - 1)
            if before == "operator":  # operator()(...)
                i = code.ends.get(i, end) + 1
                return i if code.text(i) == "(" else None
            if "operator" in code.texts[max(head, i - 3):i]:
                return i
            if NAME.match(before) and before not in NO_FUNCTION:
                return None if code.text(i + 1) == "*" and before in BUILT_IN else i
            i = code.ends.get(i, end)
        elif text in ("[", "{"):
            i = code.ends.get(i, end)
        elif text == "<" and code.template_end(i) > i and (code.opens_template(i) or code.text(i - 1) == "template"):
            i = code.template_end(i) - 1
        i += 1
    return None


def add(code, head, end, body, found):
    if code.text(head) in ("using", "typedef", "static_assert", "friend") and body is None:
        if code.text(head) != "friend":
            return
    opens = parameter_list(code, head, end)
    if opens is None or opens not in code.ends:
        return
    closes = code.ends[opens]
    last = code.ends.get(body, end) if body is not None else end
    found.append(Function(code.text(opens - 1), head, opens, closes, body, last, parameters(code, opens, closes)))


def parameters(code, opens, closes):
    """(index of the name's token or None, of the first token) of each parameter between parentheses."""
    out, first, i = [], opens + 1, opens + 1
    while i <= closes:
        text = code.texts[i]
        if i == closes or text == ",":
            if i > first:
                out.append((parameter_name(code, first, i), first))
            first = i + 1
        elif text in OPENS:
            i = code.ends.get(i, closes)
        elif text == "<" and code.opens_template(i):
            i = code.template_end(i) - 1
        i += 1
    return out


def parameter_name(code, first, end):
    """The index of the name of the parameter in tokens [first, end), or None."""
    i, last, types = first, None, 0
    while i < end and code.texts[i] != "=":
        text = code.texts[i]
        if text == "(":  # a pointer to a function, a reference to an array
            inside = code.ends.get(i, end)
            if code.text(i + 1) in ("*", "&") and NAME.match(code.text(inside - 1)):
                return inside - 1
            i = inside
        elif text == "[":
            i = code.ends.get(i, end)
        elif text == "<" and code.opens_template(i):
            i = code.template_end(i) - 1
        elif NAME.match(text):
            if text not in QUALIFIES:
                types += code.text(i - 1) != "::"
                last = i
        i += 1
    if last is None or types < 2 or code.texts[last] in BUILT_IN or code.text(last - 1) == "::":
        return None
    return last


# ---- statements joined by commas ----------------------------------------------------------------

# An expression statement with commas: its first token, the commas, its semicolon, and the branches
# that one keyword holds together if it stands in one of them without braces, else None.
Joined = collections.namedtuple("Joined", "begin commas end chain")


class Statements:
    """The statements of all functions of `code`, read by descent; what is joined is in `joined`."""

    def __init__(self, code):
        self.code, self.joined = code, []
        for function in functions(code):
            if function.body is not None:
                self.inside(function.opens, function.body)
                self.block(function.body)

    def block(self, opens):
        """Reads the statements between the brace at `opens` and its end; answers what is behind."""
        end = self.code.ends.get(opens, len(self.code.texts))
        i = opens + 1
        while i < end:
            i = self.statement(i, end)
        return end + 1

    def statement(self, i, end, chain=None):
        """Reads the statement at token i; answers the index behind it. `chain` is a list that gets
        (first, behind, has braces) of a branch."""
        first, behind = i, self.unwrapped(i, end, chain)
        if chain is not None:
            chain.append((first, behind, self.code.text(first) == "{"))
        return behind

    def unwrapped(self, i, end, chain):
        text = self.code.text(i)
        if text == "{":
            return self.block(i)
        if text == "if":
            return self.branches(i, end, chain)
        if text in ("for", "while", "switch"):
            return self.statement(self.behind_parens(i + 1), end, [])
        if text == "do":
            return self.behind_semicolon(self.statement(i + 1, end, []), end)
        if text == "try":
            i = self.block(i + 1)
            while self.code.text(i) == "catch":
                i = self.block(self.behind_parens(i + 1))
            return i
        if text in ("case", "default") or (NAME.match(text) and self.code.text(i + 1) == ":"):
            while i < end and self.code.texts[i] != ":":
                i += 1
            return i + 1 if i + 1 >= end else self.statement(i + 1, end)
        return self.simple(i, end, chain)

    def branches(self, i, end, chain):
        """An if with all its else; one chain for all of them."""
        mine = chain if chain is not None and self.code.text(i - 1) == "else" else []
        i += 2 if self.code.text(i + 1) == "constexpr" else 1
        i = self.statement(self.behind_parens(i), end, mine)
        if self.code.text(i) == "else":
            if self.code.text(i + 1) == "if":
                return self.branches(i + 1, end, mine)
            return self.statement(i + 1, end, mine)
        return i

    def behind_parens(self, i):
        """Behind the parentheses at i, whose lambdas are read."""
        close = self.code.ends.get(i, i)
        self.inside(i, close)
        return close + 1

    def behind_semicolon(self, i, end):
        while i < end and self.code.texts[i] != ";":
            i += 1
        return i + 1

    def inside(self, begin, end):
        """Reads the lambdas between two tokens."""
        i = begin
        while i < end:
            if self.code.texts[i] == "{" and self.code.is_lambda(i):
                i = self.block(i)
            else:
                i += 1

    def simple(self, first, end, chain):
        commas, i = [], first
        while i < end:
            text = self.code.texts[i]
            if text == ";":
                break
            if text == "{" and self.code.is_lambda(i):
                i = self.block(i)
                continue
            name = self.code.text(first)
            if text == "{" and self.code.begins.get(i - 1) == first + 1 and NAME.match(name) and name not in LEAVES:
                return self.block(i)  # a loop or a function that a macro begins
            if text == ",":
                commas.append(i)
            elif text in OPENS:
                close = self.code.ends.get(i, end)
                self.inside(i + 1, close)
                i = close
            elif text == "<" and self.code.opens_template(i):
                i = self.code.template_end(i) - 1
            i += 1
        if commas and self.is_expression(first):
            self.joined.append(Joined(first, commas, i, chain))
        return i + 1

    def is_expression(self, i):
        """Whether the statement at token i is neither a declaration nor one that leaves."""
        text = self.code.text(i)
        if text in DECLARES or text in LEAVES or text in ("delete", "["):
            return text == "delete"
        if not (NAME.match(text) or text == "::"):
            return True
        while True:
            i += text == "::"
            i += 1
            if self.code.text(i) == "<" and self.code.opens_template(i):
                i = self.code.template_end(i)
            text = self.code.text(i)
            if text != "::":
                break
        if self.code.text(i) == "(":  # of a macro that stands for a type
            i = self.code.ends.get(i, i) + 1
        while self.code.text(i) in ("*", "&", "&&", "const"):
            i += 1
        return not NAME.match(self.code.text(i))
