"""Reads C and C++ source as text for the linter: blanks what is not code, finds functions.

It is no parser: it matches tokens and braces, which is enough for code that clang-format has laid
out. Line numbers are kept, since every blanked character but the newline becomes a space.
"""
import re

# Order matters: a comment or a literal is taken before what looks like one inside it. A number is
# a token so that the ' in 1'000 opens no character literal.
TOKENS = re.compile(
    r'(?P<comment>//(?:\\\n|[^\n])*|/\*.*?\*/)'
    r'|(?P<raw>\b(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)")'
    r'|(?P<string>"(?:\\.|[^"\\\n])*")'
    r"|(?P<number>\b\d(?:'?[\w.])*)"
    r"|(?P<char>'(?:\\.|[^'\\\n])+')", re.DOTALL)


def blank(text):
    """`text` as spaces, its newlines kept."""
    return re.sub(r"[^\n]", " ", text)


def code_of(source, keep_strings=False):
    """`source` with comments blanked, and string and character literals unless kept."""
    def replace(match):
        if match.lastgroup == "number":
            return match.group()
        if match.group("comment") or not keep_strings:
            return blank(match.group())
        return match.group()
    return TOKENS.sub(replace, source)


def without_directives(code):
    """`code` with preprocessor lines blanked, and every branch of an #if but its first.

    Two branches that each open a brace would unbalance the count.
    """
    out, depth_skipped, stack, in_directive = [], 0, [], False
    for line in code.split("\n"):
        directive = re.match(r"\s*#\s*(\w+)", line)
        if in_directive or directive:
            word = directive.group(1) if directive and not in_directive else ""
            if word in ("if", "ifdef", "ifndef"):
                stack.append(False)
            elif word in ("else", "elif") and stack and not stack[-1]:
                stack[-1] = True
                depth_skipped += 1
            elif word == "endif" and stack:
                depth_skipped -= stack.pop()
            in_directive = line.rstrip().endswith("\\")
            out.append("")
        else:
            out.append("" if depth_skipped else line)
    return "\n".join(out)


# What stands before a function's brace: a parameter list, then qualifiers, a trailing return type
# or constructor initialisers.
QUALIFIERS = re.compile(r"\)\s*(?:(?:const|noexcept|override|final|mutable|volatile|&&?|try)\b\s*"
                        r"|&&?\s*|noexcept\s*\([^()]*\)\s*|->[^;{}]*|:(?!:)[^;]*)*$")
CONTROL = re.compile(r"^\s*(?:else\s+)?(?:if|for|while|switch|catch|do|return)\b")
SCOPE = re.compile(r"(?:^|[\s;>])(?:namespace|class|struct|union|enum|extern)\b[^()=]*$")


def is_function(head):
    """Whether the text between the last statement and a { declares a function."""
    assigned = "=" in head.split("(")[0]  # a table or a lambda's variable, but for operator==
    if (CONTROL.match(head) or SCOPE.search(head) or assigned) and "operator" not in head:
        return False
    return bool(QUALIFIERS.search(head))


def functions(source):
    """(name, line, lines) of every function, from its opening brace's line to its closing one.

    A lambda or a local class belongs to the function around it.
    """
    code = without_directives(code_of(source))
    found, stack, head_start, line = [], [], 0, 1
    for i, c in enumerate(code):
        if c == "\n":
            line += 1
        elif c == "{":
            head = code[head_start:i]
            inside = any(entry is not None for entry in stack)
            name = function_name(head) if not inside and is_function(head) else None
            stack.append((name, line) if name else None)
            head_start = i + 1
        elif c == "}":
            entry = stack.pop() if stack else None
            if entry:
                found.append((entry[0], entry[1], line - entry[1] + 1))
            head_start = i + 1
        elif c == ";":
            head_start = i + 1
    return found


def function_name(head):
    """The name before the first parameter list of `head`, or "?"."""
    match = re.search(r"([~\w:]+|operator[^(\s]+)\s*\(", head)
    return match.group(1) if match else "?"


def includes(source):
    """(line, path) of every #include "path"."""
    code = code_of(source, keep_strings=True)
    return [(code.count("\n", 0, m.start(1)) + 1, m.group(1))
            for m in re.finditer(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', code, re.MULTILINE)]
