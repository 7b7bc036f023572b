"""Builds `ge` and plugins against headers of other versions of the ABI (tools/gen/abi_variant.py),
with the address sanitizer. Used by abi_versions.py.

A host is cheap: of the programs' objects only those are compiled again that read the plugin headers;
the others are those of the build folder. They carry no checks of the sanitizer, which does no harm."""
import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[4]
SANITIZE = ["-fsanitize=address", "-fno-omit-frame-pointer", "-O0", "-g1", "-w"]
HEADER = "sdk/include/ge/ge_plugin.h"


def call(command, cwd=None):
    done = subprocess.run([str(c) for c in command], cwd=cwd, capture_output=True, text=True,
                          check=False)
    if done.returncode:
        raise RuntimeError(f"{shlex.join(map(str, command))[:300]}\n{done.stderr[-2000:]}")
    return done.stdout


class Headers:
    """Those of one version, in a folder of their own."""

    def __init__(self, work, abi, grow=0, extend=False):
        self.abi, self.folder = abi, work / "headers" / abi
        call([sys.executable, ROOT / "tools/gen/abi_variant.py", "--abi", abi, "--grow", grow,
              *(["--extend"] if extend else []), self.folder])
        self.flags = [f"-I{self.folder}"] + (["-DGE_VARIANT_ASKS"] if extend else [])


class Compiled:
    """What the build folder knows of its objects."""

    def __init__(self, build):
        self.build = build
        rows = json.loads((build / "compile_commands.json").read_text())
        self.commands = {self.object_of(r): r for r in rows}
        self.readers = set()
        target = None
        for line in call(["ninja", "-C", build, "-t", "deps"]).splitlines():
            if line and not line[0].isspace():
                target = line.split(": #deps")[0]
            elif line.strip().endswith(HEADER):
                self.readers.add(target)

    @staticmethod
    def object_of(row):
        words = shlex.split(row["command"])
        return words[words.index("-o") + 1]

    def link(self, target):
        """The words of the command that links it."""
        line = call(["ninja", "-C", self.build, "-t", "commands", target]).splitlines()[-1]
        return shlex.split(line.removeprefix(": && ").removesuffix(" && :"))

    def again(self, obj, headers, to):
        """Compiles an object against other headers."""
        row = self.commands[obj]
        words = shlex.split(row["command"])
        words[words.index("-o") + 1] = str(to)
        at = next(i for i, w in enumerate(words) if w.startswith("-I"))
        kept = [w for w in words if w not in ("-O2", "-O1", "-O3")]
        words = kept[:at] + headers.flags + kept[at:] + SANITIZE
        to.parent.mkdir(parents=True, exist_ok=True)
        launcher = ["ccache"] if subprocess.run(["which", "ccache"], capture_output=True,
                                                check=False).returncode == 0 else []
        call(["env", f"CCACHE_BASEDIR={ROOT}", "CCACHE_NOHASHDIR=1", *launcher, *words],
             cwd=row["directory"])
        return to


def host(compiled, headers, work):
    """bin/ge of this version."""
    out = work / "hosts" / headers.abi
    link = compiled.link("bin/ge")
    own = [w for w in link if w.endswith(".o")]
    parts = [o for o in compiled.readers
             if o in compiled.commands and o.startswith(("CMakeFiles/ge_", "CMakeFiles/fe_"))]
    chosen = [o for o in own if o in compiled.readers] + parts
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        again = dict(zip(chosen, pool.map(
            lambda o: compiled.again(o, headers, out / o.replace("/", "_")), chosen)))
    # An archive's member is taken only where nothing before it has its names.
    words = [str(again.get(w, w)) for w in link]
    words[words.index("-o") + 1] = str(out / "ge")
    at = words.index("libge_core.a")
    words[at:at] = [str(again[p]) for p in parts]
    call([*words, "-fsanitize=address"], cwd=compiled.build)
    return out / "ge"


def engine_of(compiled, name, source, headers, work):
    """An engine of the build folder as it would be of this version: of its objects the one that holds
    its descriptor is compiled again. For versions whose structs are those of today."""
    out = work / "plugins" / headers.abi / f"{name}.so"
    link = compiled.link(f"lib/graphengine/{name}.so")
    holder = [o for o in link if o.endswith(".o") and o in compiled.commands and
              source in pathlib.Path(compiled.build, compiled.commands[o]["file"]).read_text()]
    if len(holder) != 1:
        raise RuntimeError(f"{source} is in {len(holder)} objects of {name}.so, wanted 1")
    new = compiled.again(holder[0], headers, out.with_suffix(".o"))
    words = [str(new) if w == holder[0] else w for w in link]
    words[words.index("-o") + 1] = str(out)
    call([*words, "-fsanitize=address"], cwd=compiled.build)
    return out


def plugin(name, sources, headers, work, must=None, sanitize=True):
    """A plugin of this version; `must` is the tag of the struct whose extension must be understood."""
    more = ("" if must is None else f"_must_{must}") + ("" if sanitize else "_plain")
    out = work / "plugins" / headers.abi / f"{name}{more}.so"
    out.parent.mkdir(parents=True, exist_ok=True)
    cxx = sources[0].endswith(".cc")
    flags = [f for f in headers.flags if cxx or f.startswith("-I")]
    more = SANITIZE if sanitize else ["-O1", "-w"]
    more = more + ([f"-DGE_VARIANT_MUST={must}"] if must is not None else [])
    more += [f'-DDEVSIM_NAME="{name}"'] if cxx else []
    call(["c++" if cxx else "cc", "-std=c++17" if cxx else "-std=c11", "-shared", "-fPIC",
          "-fvisibility=hidden", *flags, *more, f"-I{ROOT}", f"-I{ROOT / 'sdk/include'}",
          *[ROOT / s for s in sources], "-o", out, "-lm", "-pthread"])
    return out
