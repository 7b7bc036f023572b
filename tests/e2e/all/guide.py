#!/usr/bin/env python3
"""Does what docs/plugin-guide.md says, as a stranger who has nothing but an installed SDK: writes the
files that it shows, runs its commands in one shell, and compares what it says that they print.

Blocks of the guide: ```sh is run; ```LANGUAGE FILE is written to FILE; ```text prints follows a
```sh and holds lines of its output in their order, with ... for any text.

Prints each fault and, last, the counts.

Example: tests/e2e/all/guide.py --build build/release
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import installed  # noqa: E402
from installed import ROOT, SYSTEM  # noqa: E402

PLUGINS = ["minimal.so", "my_engine/build/my_engine.so", "op.so", "my_op/build/my_op.so",
           "square.so", "my_pass/build/my_pass.so"]
MARK = "=== block "


def blocks(text):
    """(language, word behind it or "", content) of each fenced block."""
    return re.findall(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", text, re.M | re.S)


def script_of(guide):
    """One shell script of all blocks, and by block what it has to print."""
    script, wanted = ["set -eu"], []
    for language, word, content in blocks(guide):
        if word == "prints":
            wanted[-1] = content.splitlines()
        elif word:
            script.append(f"cat >{word} <<'END_OF_FILE'\n{content}END_OF_FILE")
        elif language == "sh":
            script.append(f"echo '{MARK}{len(wanted)}'\n{content}")
            wanted.append([])
    return "\n".join(script), wanted


def prints(wanted, text):
    """Whether the lines of `wanted` come in this order."""
    at = 0
    lines = text.splitlines()
    for line in wanted:
        pattern = re.compile(".*".join(re.escape(part.strip()) for part in line.split("...")))
        while at < len(lines) and not pattern.fullmatch(lines[at].strip()):
            at += 1
        if at == len(lines):
            return False
        at += 1
    return True


def can_hide():
    """Whether this system lets us cover a folder for one command."""
    if shutil.which("unshare") is None:
        return False
    tried = subprocess.run(["unshare", "--mount", "mount", "-t", "tmpfs", "none", str(ROOT)],
                           capture_output=True, check=False)
    return tried.returncode == 0


def run_alone(c, script, folder, prefix):
    """The script's exit code and output, where only the system and the installed SDK are."""
    (folder / "guide.bash").write_text(script)
    words = ["env", "-i", f"PATH={SYSTEM}", f"HOME={folder}", f"GE_PREFIX={prefix}", "bash",
             "guide.bash"]
    if can_hide():
        hide = f'mount -t tmpfs none "{ROOT}" && exec "$@"'
        words = ["unshare", "--mount", "bash", "-euc", hide, "bash", *words]
        c.check(True, "without the source tree")
    else:
        c.skip("the source tree stays visible: mount namespaces are not allowed here")
    done = subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", timeout=1800,
                          check=False)
    return done.returncode, done.stdout


def follow(c, prefix, folder):
    script, wanted = script_of((prefix / "share/doc/graphengine/docs/plugin-guide.md").read_text())
    code, text = run_alone(c, script, folder, prefix)
    printed = re.split(f"^{MARK}\\d+$", text, flags=re.M)[1:]
    c.check(code == 0, f"the guide's commands, block {len(printed) - 1} of {len(wanted)}",
            f"exit {code}\n{printed[-1] if printed else text}")
    for i, (lines, said) in enumerate(zip(wanted, printed)):
        if lines:
            c.check(prints(lines, said), f"block {i} prints what the guide says", said)
    c.check(len(printed) == len(wanted), "all blocks ran", len(printed))
    for plugin in PLUGINS:
        if c.check((folder / plugin).exists(), f"{plugin} was built"):
            installed.check_plugin(c, folder / plugin)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    build = parser.parse_args().build.resolve()
    c = installed.Checks()
    with tempfile.TemporaryDirectory(prefix="ge-guide.") as scratch:
        prefix = pathlib.Path(scratch).resolve() / "sdk"
        folder = pathlib.Path(scratch).resolve() / "empty"
        folder.mkdir()
        if installed.install(c, build, prefix):
            follow(c, prefix, folder)
    return c.end()


if __name__ == "__main__":
    sys.exit(main())
