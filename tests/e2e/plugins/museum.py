#!/usr/bin/env python3
"""Plugins of every published version of the ABI in today's host, and the rule by which versions grow.

tests/abi/museum/VERSION holds the plugin headers of a version as they were published, their layout, and
an engine, operators, a pass and a device of that time. They are built with those headers and give the
answers of today's own. The rule: no value changes, no field moves, structs grow at their end alone,
those without a header not at all, and what is new raises the minor version.

Prints each fault and, last, the counts.

Example: tests/e2e/plugins/museum.py --build build/release
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
MUSEUM, GOLDEN = ROOT / "tests/abi/museum", ROOT / "tests/abi/layout.golden"
NET = """ge 1
opset "" 28
opset "acme" 1
opset "sample" 1
const w : f32[24,24] = splat 0.0625
const two : f32[] = 2
fn main(x: f32[N,24], z: f32[N,24]) -> (y) {
  a = Add(x, z)
  b = MatMul(a, w)
  c = sample.Swish(b) {beta=2.0}
  d = acme.Rotate(c) {by=5}
  e = Pow(d, two)
  y = Mul(e, x)
}
entry infer "main" = main
"""
SUM = """ge 1
opset "" 28
fn main(x: f32[N,24], z: f32[N,24]) -> (y) {
  y = Add(x, z)
}
entry infer "main" = main
"""


class Layout:
    """What layout.golden says: a version, values, and structs of fields in their order."""

    def __init__(self, text):
        self.version = tuple(map(int, re.search(r"^abi (\d+)\.(\d+) ", text, re.M).groups()))
        self.values = dict(re.findall(r"^value (\w+) (-?\w+)$", text, re.M))
        self.structs, self.bytes = {}, {}
        for line in text.splitlines():
            struct = re.match(r"struct (\w+) bytes (\d+) align (\d+)", line)
            if struct:
                name = struct[1]
                self.bytes[name] = int(struct[2]), int(struct[3])
                self.structs[name] = []
            elif line.startswith("  "):
                self.structs[name].append(line.strip())

    def grows(self, name):
        first = self.structs[name][0] if self.structs[name] else ""
        return bool(re.match(r"\w+ at 0 bytes 16: ge_hdr$", first))


def broken(old, new):
    """What a host of `new` no longer keeps of `old`, a sentence each."""
    out = []
    if new.version[0] != old.version[0]:
        return [f"major version {new.version[0]}, wanted {old.version[0]}"]
    if new.version < old.version:
        out.append(f"version {new.version} is before {old.version}")
    for name, value in old.values.items():
        if new.values.get(name) != value:
            out.append(f"{name} is {new.values.get(name, 'gone')}, was {value}")
    for name, fields in old.structs.items():
        now = new.structs.get(name)
        if now is None:
            out.append(f"{name} is gone")
            continue
        for was, found in zip(fields, now + [""] * len(fields)):
            if found != was:
                out.append(f"{name}: '{found}', was '{was}'")
        longer = new.bytes[name][0] > old.bytes[name][0] or len(now) > len(fields)
        if new.bytes[name][1] != old.bytes[name][1]:
            out.append(f"{name}: other alignment")
        if longer and not old.grows(name):
            out.append(f"{name} has no header and grew")
        if new.bytes[name][0] < old.bytes[name][0]:
            out.append(f"{name} has {new.bytes[name][0]} bytes, had {old.bytes[name][0]}")
    more = (new.values.keys() - old.values.keys() or new.structs.keys() - old.structs.keys() or
            any(len(new.structs.get(n, [])) > len(f) for n, f in old.structs.items()))
    if more and new.version == old.version:
        out.append("there is more than in the version of this number; raise GE_ABI_MINOR")
    return out


class Checks:
    def __init__(self):
        self.passed = self.failed = 0

    def check(self, good, name, detail=""):
        self.passed, self.failed = self.passed + bool(good), self.failed + (not good)
        if not good:
            print(f"FAILED  {name}\n    {str(detail).strip()[-1500:]}")


# Changes of a layout: (what is replaced, by what, words of the complaint); "" = none is wanted.
CHANGES = [
    (r"value GE_PENDING 13", "value GE_PENDING 14", "GE_PENDING is 14, was 13"),
    (r"value GE_PENDING 13\n", "", "GE_PENDING is gone"),
    (r"  scope at 20 bytes 4: uint32_t", "  scope at 20 bytes 4: int32_t", "ge_err: 'scope"),
    (r"  code at 16 bytes 4: int32_t\n", "", "ge_err: "),
    (r"struct ge_str bytes 16 align 8\n((?:  .*\n)+)", r"struct ge_str bytes 24 align 8\n\1  more at 16 bytes 8: uint64_t\n",
     "ge_str has no header and grew"),
    (r"(struct ge_err) bytes 520", r"\1 bytes 512", "ge_err has 512 bytes, had 520"),
    (r"^abi 1\.0", "abi 2.0", "major version 2, wanted 1"),
    (r"value GE_PENDING 13", "value GE_PENDING 13\nvalue GE_NEWER 14", "raise GE_ABI_MINOR"),
    (r"^(abi 1)\.0((?:.*\n)*?value GE_PENDING 13)", r"\1.1\2\nvalue GE_NEWER 14", ""),
    (r"^(abi 1)\.0((?:.*\n)*)struct ge_err bytes 520 align 8\n((?:  .*\n)+)",
     r"\1.1\2struct ge_err bytes 528 align 8\n\3  more at 520 bytes 8: uint64_t\n", ""),
]


def rule(c, folder, version):
    text = (folder / "layout.golden").read_text()
    old = Layout(text)
    c.check(f"{old.version[0]}.{old.version[1]}" == version, f"museum/{version} holds its version", old.version)
    found = broken(old, Layout(GOLDEN.read_text()))
    c.check(not found, f"today's structs are those of {version} and more", "\n    ".join(found))
    for before, after, words in CHANGES if version == "1.0" else []:
        changed, count = re.subn(before, after, text, count=1, flags=re.M)
        found = broken(old, Layout(changed))
        c.check(count == 1 and (any(words in f for f in found) if words else not found),
                f"a layout with '{after[:40]}': {words or 'is kept'}", found)


def compiled(folder, out):
    """{name: .so} of a version's plugins, with its headers."""
    include, plugins = [f"-I{folder}", f"-I{ROOT}"], folder / "plugins"
    made = {}
    for source in sorted(plugins.glob("*.c")):
        made[source.stem] = out / f"{source.stem}.so"
        subprocess.run(["cc", "-std=c11", "-O1", "-shared", "-fPIC", "-fvisibility=hidden", *include, source, "-o",
                        made[source.stem], "-lm"], check=True)
    made["device"] = out / "my_plugin.so"
    subprocess.run(["c++", "-std=c++17", "-O1", "-shared", "-fPIC", "-fvisibility=hidden", *include,
                    *sorted(plugins.glob("device/*.cc")), "-o", made["device"], "-lpthread"], check=True)
    return made


class Host:
    def __init__(self, build, folder):
        self.ge, self.folder = build / "bin/ge", folder

    def run(self, text, flags):
        """(output y, what it printed)"""
        model, out = self.folder / "net.gt", self.folder / "out"
        model.write_text(text)
        (out / "y.npy").unlink(missing_ok=True)
        env = {**os.environ, "GE_CACHE_DIR": "off", "GE_PROBE": "fixed"}
        done = subprocess.run([str(w) for w in [
            self.ge, "run", model, "--input", "x=8x24:rand", "z=8x24:rand", "--seed", 3, "--threads", 1,
            "--prices", "analytic", "--output", out, *flags]], capture_output=True, text=True, env=env,
            timeout=120, check=False)
        y = out / "y.npy"
        return (y.read_bytes() if done.returncode == 0 and y.exists() else b""), done.stdout + done.stderr


def lives(c, build, folder, version):
    """Its plugins in today's host give what today's give."""
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        host, old = Host(build, work), compiled(folder, work)
        samples, ref = build / "lib/samples", build / "lib/graphengine/ref.so"
        today = ",".join(str(samples / f"{n}.so") for n in ("op", "kernels", "square"))
        wanted, said = host.run(NET, ["--engines", ref, "--plugins", today])
        c.check(wanted, "today's operators and pass", said)
        brought = ",".join(str(old[n]) for n in ("op", "kernels", "square"))
        found, said = host.run(NET, ["--engines", ref, "--plugins", brought])
        c.check(found and found == wanted, f"operators and pass of {version}", said)
        wanted, said = host.run(SUM, ["--engines", ref])
        for kind in ("minimal", "device"):
            found, said = host.run(SUM, ["--engines", old[kind]])
            c.check(found and found == wanted, f"{kind} of {version}", said)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    build = parser.parse_args().build.resolve()
    c = Checks()
    versions = sorted(p for p in MUSEUM.iterdir() if p.is_dir())
    c.check(versions, "the museum has a version")
    for folder in versions:
        rule(c, folder, folder.name)
        lives(c, build, folder, folder.name)
    print(f"{c.passed} passed, {c.failed} failed, 0 skipped")
    return 1 if c.failed else 0


if __name__ == "__main__":
    sys.exit(main())
