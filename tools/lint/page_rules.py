"""Rules about pages: the first page stays short, links lead somewhere, the index has every page, and
folders say what they are."""
import posixpath
import re

FIRST_PAGE_CHARACTERS, FIRST_PAGE_ROWS = 9000, 16
FOLDER_README_LINES = 30
INDEX = "docs/README.md"
# The page of the package index.
LONGER = {"sdk/python/README.md"}
# Files by name, but not those that stand for any (`x_test.cc`, `cases/STEM.txt`).
NAMED = re.compile(r"`((?!(?:\w+_)?x[_.])[a-z0-9_./]+\.(?:h|cc|hpp|def|proto|txt))`")
LINK = re.compile(r"\]\(([^)\s]+)\)")


def _without_code(text):
    """The same offsets, with fenced blocks and code in lines blanked."""
    blank = lambda m: re.sub(r"[^\n]", " ", m[0])  # noqa: E731
    return re.sub(r"`[^`\n]+`", blank, re.sub(r"^```.*?^```$", blank, text, flags=re.M | re.S))


def _links(tree, path):
    """(line, path in the tree) of each link to a file, without its anchor."""
    text = _without_code(tree.text(path))
    for match in LINK.finditer(text):
        target = match[1].split("#")[0]
        if target and "://" not in target:
            yield (text.count("\n", 0, match.start()) + 1,
                   posixpath.normpath(posixpath.join(posixpath.dirname(path), target)))


def first_page(tree):
    """README.md has at most 9,000 characters, and tables of at most 16 rows."""
    if not tree.exists("README.md"):
        return
    text = tree.text("README.md")
    if len(text) > FIRST_PAGE_CHARACTERS:
        yield ("README.md", 0, f"{len(text)} characters, at most {FIRST_PAGE_CHARACTERS}; "
                               f"docs/ has room, {INDEX} leads there")
    for table in re.finditer(r"(?:^\|.*\n)+", text, re.M):
        rows = table[0].count("\n")
        if rows > FIRST_PAGE_ROWS:
            yield ("README.md", text.count("\n", 0, table.start()) + 1,
                   f"a table of {rows} rows, at most {FIRST_PAGE_ROWS}; docs/figures.md has room")


def links(tree):
    """Links of pages to files of this tree lead to one."""
    folders = {posixpath.dirname(f) for f in tree.files}
    for path in tree.named(".md"):
        for line, target in _links(tree, path):
            if not tree.exists(target) and target not in folders:
                yield path, line, f"no file '{target}'; repair the link"


def index(tree):
    """docs/README.md leads to every page and decision of docs/."""
    if not tree.exists(INDEX):
        return
    led_to = {target for _, target in _links(tree, INDEX)}
    for path in tree.named(".md"):
        if path.startswith("docs/") and path != INDEX and path not in led_to:
            yield path, 0, f"{INDEX} does not lead here; add its line"


def _files_that_are_not_there(tree, folder, page):
    for match in NAMED.finditer(tree.text(page)):
        near = [posixpath.normpath(f"{root}/{match[1]}") for root in (folder, ".", "sdk/include/ge")]
        if not any(tree.exists(path) for path in near):
            yield (page, tree.text(page).count("\n", 0, match.start()) + 1,
                   f"names `{match[1]}`, which is not here, not at the root and not in sdk/include/ge")


def folder_readmes(tree):
    """Folders of the first two levels that hold C or C++ have a README of at most 30 lines, whose files are there."""
    if not tree.exists("CONTRIBUTING.md"):  # which asks for them
        return
    folders = {"/".join(parts[:depth]) for parts in (f.split("/") for f in tree.named(".h", ".cc", ".c"))
               for depth in (1, 2) if depth < len(parts)}
    for folder in sorted(folders):
        page = f"{folder}/README.md"
        if not tree.exists(page):
            yield page, 0, "is not there; say what comes in, what goes out, where a new thing goes"
        elif page not in LONGER and tree.text(page).count("\n") > FOLDER_README_LINES:
            yield page, 0, f"over {FOLDER_README_LINES} lines; docs/ has room"
        else:
            yield from _files_that_are_not_there(tree, folder, page)


RULES = {"first-page": first_page, "links": links, "index": index,
         "folder-readmes": folder_readmes}
