"""Where a source can be changed, and how: the places of a file, and its text with some of them guarded.

A place becomes an expression that asks mutants.h whether its mutant is the active one, so that all
mutants of the product are compiled at once and a mutant costs its tests alone. Line numbers stay.
"""
import dataclasses
import random
import re

GUARD = "::ge_mutants::On({n})"
BINARY = ["<", "<=", ">", ">=", "==", "!=", "+", "-", "*", "/", "%", "&", "|", "^"]
# What words, declarations and hints to compilers stand in: a change would change no number, or is no
# code that runs.
PASSED_OVER = re.compile(
    r"^\s*#|static_assert|\btemplate\b|\bconstexpr\b|\bcase\b|\boperator\b|\busing\b|\btypedef\b|\bfriend\b|"
    r"\benum\b|\brequires\b|\bextern\b|\balignas\b|fmt::|to_string|reserve\(|= default|= delete|\bvirtual\b|"
    r"\bthrow\b|__builtin|__attribute__|GE_RETURN_IF_ERROR\(Say|\bassert\(")
MASK = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-zA-Z])\'(?:\\.|[^\'\\\n])+\'', re.S)
# A member's value before it is set, and a parameter's where none is given: most are never read.
MEMBER = re.compile(r"^\s*(?:[\w:<>,]+ )+\w+ = (?:[\w.\-]+, \w+ = )*-?$|^[^;]*\b[\w:<>]+[*&]? \w+ = -?$|\) (?:const |override )*= $")
ARITHMETIC = {"bool", "int", "int64_t", "int32_t", "uint64_t", "uint32_t", "uint16_t", "uint8_t", "size_t", "double",
              "float", "W", "T"}
OPEN, CLOSE = "([{", ")]}"
SETS = {"kNumeric": "kInts", "kFloats": "kInts", "kClassic": "kInts", "kAnyDType": "kInts", "kInts": "kFloats"}
DTYPES = {"kInt64": "kInt32", "kInt32": "kInt64", "kFloat32": "kFloat64", "kBool": "kInt8", "kUInt8": "kInt8",
          "kInt8": "kUInt8", "kFloat64": "kFloat32", "kFloat16": "kBFloat16"}


@dataclasses.dataclass
class Place:
    """One change: text[start:end] becomes `new`, in which {n} is the mutant's number."""
    rule: str
    start: int
    end: int
    new: str
    line: int = 0  # from 1
    was: str = ""  # what is changed, in words
    becomes: str = ""
    key: str = ""  # rule and text of the line, and which of equal ones


def masked(text):
    """The text without comments and the contents of strings, at the same offsets."""
    def blank(match):
        found = match[0]
        filler = " " if found.startswith("/") else "_"
        inner = re.sub(r"[^\n]", filler, found)
        return inner if filler == " " else found[0] + inner[1:-1] + found[-1]
    return MASK.sub(blank, text)


def closing(code, at):
    """Offset behind the bracket that closes the one at `at`; None when it is not closed."""
    depth = 0
    for i in range(at, len(code)):
        depth += (code[i] in OPEN) - (code[i] in CLOSE)
        if depth == 0:
            return i + 1
    return None


def operand_end(code, at):
    """Where the operand of && or || that begins at `at` ends."""
    depth = 0
    for i in range(at, len(code)):
        if depth == 0 and (code[i] in ")]};,?" or code.startswith(("&&", "||", " : "), i)):
            return i
        depth += (code[i] in OPEN) - (code[i] in CLOSE)
    return None


def constant_ranges(code):
    """Initialisers of constexpr tables, enumerations and macros."""
    found = []
    for match in re.finditer(r"\b(?:constexpr|constinit|enum)\b[^;{}()]*\{", code):
        found.append((match.start(), closing(code, match.end() - 1) or len(code)))
    for match in re.finditer(r"^#(?:[^\n]*\\\n)*[^\n]*", code, re.M):
        found.append(match.span())
    return found


def binaries(code):
    for op in BINARY:
        for match in re.finditer(rf"(?<=[\w)\]]) {re.escape(op)} (?=[\w(\-*!~&:])", code):
            line = code[code.rfind("\n", 0, match.start()) + 1:code.find("\n", match.end())]
            if op == "&" and re.search(r"\b(auto|const)\b", line):
                continue
            second = op == "<" and re.search(r"\bfor \(", line)
            change = "kSecond" if second else "kFirst"
            new = f" {op} (::ge_mutants::At<{{n}}, ::ge_mutants::Change::{change}>()) {op} "
            yield Place(f"{op} other", match.start(), match.end(), new)


def operands(code):
    for match in re.finditer(r" (&&|\|\|)\s(?=\s*[\w(!*])", code):
        end = operand_end(code, match.end())
        if end is None or "{" in code[match.end():end]:
            continue
        guard = "(::ge_mutants::On({n}) || " if match[1] == "&&" else "(!::ge_mutants::On({n}) && "
        yield Place(f"operand of {match[1]} left out", match.end(), end, guard + "static_cast<bool>({old}))")


def conditions(code):
    for match in re.finditer(r"\bif \(", code):
        end = closing(code, match.end() - 1)
        inner = code[match.end():end - 1] if end else ";"
        if ";" in inner or re.match(r"\s*(const\s+)?[\w:<>,]+\s*[*&]*\s+[*&]?\w+ = ", inner):
            continue
        yield Place("condition turned round", match.end(), end - 1,
                    "static_cast<bool>({old}) != ::ge_mutants::On({n})")


def statements(code):
    call = r"[\w:.\->\[\]]+(?:<[\w:]+>)?\((?:.*)\)"
    assign = r"\*?[\w:]+(?:(?:\.|->|::)\w+|\[[^\]\n]*\]|\([^()\n]*\))*\s(?:[-+*/|&^%]|<<|>>)?=\s[^=].*"
    step = r"(?:\+\+|--)[\w.\->\[\]]+"
    for match in re.finditer(rf"(?<=[;{{}}):e]\n)( +)((?:{call}|{assign}|{step});)[ ]*$", code, re.M):
        text = match[2]
        if text.startswith(("return", "delete", "else", "for", "while", "if", "switch", "}", "do ")):
            continue
        if text.count("(") != text.count(")") or text.count("{") != text.count("}"):
            continue
        if re.match(r"[\w:]+\(", text) and re.search(r"[\w>][&*]? \w", text.split("[&", 1)[0]):
            continue  # declares a constructor
        yield Place("statement left out", match.start(2), match.end(2), "{{ if (!::ge_mutants::On({n})) {old} }}")
    for match in re.finditer(r"(?<=[ )])(continue|break);", code):
        yield Place("statement left out", match.start(), match.end(), "{{ if (!::ge_mutants::On({n})) {old} }}")


def numbers(code):
    for match in re.finditer(r"(?<=[ (\[{,\-])(\d+(?:\.\d+)?f?|true|false)(?=[,;)\]} ])", code):
        line_start = code.rfind("\n", 0, match.start()) + 1
        before = code[line_start:match.start()]
        if MEMBER.match(before):
            continue
        if re.search(r"\w\[$", before) and re.match(r"\s*(?:const |static )?[\w:]+ \w+\[", before):
            continue  # an array's length
        if re.search(r"\w<$|<[\w:, ]*$", before) and " < " not in before:
            continue  # of a template
        yield Place("number or truth off", match.start(), match.end(), "::ge_mutants::Off<{n}>({old})")


def returns(code):
    """Of functions that return a number or a truth."""
    function, starts = None, []
    for match in re.finditer(r"^([ ]*)((?:[\w:<>,*&\[\]]+ )+)[\w:~]+\([^;]*$", code, re.M):
        words = match[2].split()
        if words[0] not in ("return", "if", "for", "while", "else", "switch", "new", "delete", "using", "do"):
            starts.append((match.start(), words))
    for match in re.finditer(r"\breturn ([^;{}\n\"]+);", code):
        above = [words for at, words in starts if at < match.start()]
        function = above[-1] if above else []
        if not ARITHMETIC & set(function) or match[1] in ("true", "false"):
            continue
        yield Place("result off", match.start(1), match.end(1), "::ge_mutants::Off<{n}>({old})")


def swaps(code):
    for match in re.finditer(r"std::(min|max|floor|ceil)(?:<[\w:]+>)?\(", code):
        end = closing(code, match.end() - 1)
        other = {"min": "max", "max": "min", "floor": "ceil", "ceil": "floor"}[match[1]]
        if end:
            twin = code[match.start():end].replace(f"std::{match[1]}", f"std::{other}", 1)
            if "\n" not in twin and "\"" not in twin:
                yield Place(f"{match[1]} to {other}", match.start(), end,
                            "(::ge_mutants::On({n}) ? " + twin.replace("{", "{{").replace("}", "}}") + " : {old})")
    for word, other in SETS.items():
        for match in re.finditer(rf"(?<=[ ({{,]){word}(?=[,; )}}])", code):
            yield Place("other element types", match.start(), match.end(),
                        "(::ge_mutants::On({n}) ? " + other + " : {old})")
    for word, other in DTYPES.items():
        for match in re.finditer(rf"\bDType::{word}(?=[,; )}}])", code):
            yield Place("other element type", match.start(), match.end(),
                        "(::ge_mutants::On({n}) ? DType::" + other + " : {old})")


RULES = [binaries, operands, conditions, statements, numbers, returns, swaps]


def places(text):
    """All places of a text, by rule."""
    code = masked(text)
    lines = code.split("\n")
    constant, seen, found = constant_ranges(code), {}, []
    for rule in RULES:
        kept = []
        for place in rule(code):
            row = code.count("\n", 0, place.start)
            last = code.count("\n", 0, place.end)
            if any(PASSED_OVER.search(line) for line in lines[row:last + 1]):
                continue
            if any(a <= place.start < b for a, b in constant):
                continue
            place.line = row + 1
            place.was = " ".join(text.split("\n")[row].split())
            old = text[place.start:place.end]
            place.becomes = f"{place.rule}: '{' '.join(old.split())}'"
            stem = f"{place.becomes} in '{place.was}'"
            seen[stem] = seen.get(stem, 0) + 1
            place.key = stem + (f" ({seen[stem]})" if seen[stem] > 1 else "")
            kept.append(place)
        found.append(kept)
    return found


def drawn(text, seed, count, dropped):
    """`count` places of a text, fewer when there are none, in the order of the text. Rules take turns, so that
    a file with a hundred numbers is not changed in numbers alone. `dropped`: keys that do not compile."""
    dice = random.Random(seed)
    groups = places(text)
    for group in groups:
        dice.shuffle(group)
    dice.shuffle(groups)
    chosen, taken = [], []
    while any(groups) and len(chosen) < count:
        for group in groups:
            if not group or len(chosen) == count:
                continue
            place = group.pop()
            span = range(place.line, place.line + text.count("\n", place.start, place.end) + 1)
            if place.key in dropped or any(set(span) & set(t) for t in taken):
                continue
            taken.append(span)
            chosen.append(place)
    return sorted(chosen, key=lambda p: p.start)


def guarded(text, numbered):
    """The text with the places of [(number, place)] guarded. Its lines keep their numbers."""
    for n, place in sorted(numbered, key=lambda p: -p[1].start):
        old = text[place.start:place.end]
        text = text[:place.start] + place.new.format(n=n, old=old) + text[place.end:]
    return '#include "tests/e2e/all/code/mutants.h"\n#line 1\n' + text
