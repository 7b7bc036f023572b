"""Rules of style that clang-format has no option for. Each answers (path, line, words) of its faults."""
import statements

CPP = (".h", ".hpp", ".cc", ".cpp", ".c")
# Folders that are still to be swept for a rule; each list is to become empty.
JOINED_LEFT = ("plugins/cpu/", "ge/compile/", "ge/engine/", "passes/grad/", "passes/kit/")


def comma_statements(tree):
    """Expression statements joined by commas; each gets a semicolon, and braces where there are several."""
    for path in tree.named(*CPP):
        text = tree.text(path)
        if path.startswith(JOINED_LEFT) or "," not in text:
            continue
        code = statements.Code(text)
        for joined in statements.Statements(code).joined:
            line = text.count("\n", 0, code.tokens[joined.begin].start) + 1
            yield path, line, "statements joined by commas; write each with a semicolon of its own"


RULES = {"comma-statements": comma_statements}
