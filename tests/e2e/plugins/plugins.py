#!/usr/bin/env python3
"""Engines of strangers: each misbehaving sample is refused or contained with the right words, and
the minimal one, built outside the tree, wins and loses by its price.

Needs the built samples (lib/samples) and a C compiler. Prints each fault and, last, the counts.

Example: tests/e2e/plugins/plugins.py --build build/release
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
MODEL = ROOT / "tests/e2e/models/three_nodes.gt"
INPUTS = [a for n in "abc" for a in ("--input", f"{n}=256:rand")]
ABI = ".".join(re.findall(r"define GE_ABI_M\w+ (\d+)u", (ROOT / "sdk/include/ge/ge_plugin.h").read_text()))

# Refused when it is loaded: what `ge plugins` and `ge run` say, after the path.
AT_LOAD = {
    "magic": "its descriptor begins with 0x1234, wanted the magic number 0x4e49474c50454721",
    "major": f"it was built for ABI 2.{ABI[2:]}, this host speaks {ABI}; use a plugin and a host of the same",
    "null_desc": "ge_plugin_query answered NULL and gave no reason",
    "refuse": "it says: faulty refuses on request",
    "short_desc": "its descriptor says that it is 8 bytes, wanted at least 120",
    "bad_name": "its descriptor has no legal name; wanted 1 to 64 characters of [a-z0-9_]",
    "no_kind": "its kinds are 0x0; this host loads engines (0x1), operators (0x2) and passes (0x4)",
    "null_table": "its engine table is NULL",
    "zero_table": "its engine table (query, compile, enqueue) says that it is 0 bytes, wanted at least 40",
    "null_query": "the required function query is NULL",
    "half_stamps": "it fills 2 of its four slots stamps_create, stamps_destroy, stream_stamp and "
                   "stamps_read; fill all four or none",
    "no_symbol": "it exports no ge_plugin_query",
    "must_desc": "its descriptor carries extension 0x8001, which must be understood and which this "
                 f"host (ABI {ABI}) does not know; use a newer host, or a plugin that can do without",
    "must_table": "its engine table (query, compile, enqueue) carries extension 0x8001, which must",
}
# Loads, but ends the command: exit code 3.
FATAL = {
    "create_error": "failed in engine_create (code 9): faulty: engine_create fails on request",
    "create_null": "answered OK to engine_create, but gave no engine",
    "devices_error": "failed in devices (code 9): faulty: devices fails on request",
    "must_device": "', devices carries extension 0x8001, which must be understood",
    "short_device": "', devices says that it is 32 bytes, wanted at least 88; initialise",
    "endless_next": "failed in query: an offer has more than 64 extensions; does its chain of",
    "must_offer": "failed in query: an offer carries extension 0x8001, which must be understood",
    "query_error": "failed in query (code 11): faulty: query fails on request",
    "long_message": "failed in query (code 11): " + 480 * "x" + "\n",
    "enqueue_error": "node 'first': engine 'faulty_enqueue_error' failed in enqueue",
}
# The offer is left out, says `ge explain`, and the run gives what ref alone gives.
REJECTED = {
    "offer_bad_index": "an offer's node index 3 at place 0 is out of range or not ascending",
    "offer_twice": "an offer's node index 0 at place 1 is out of range or not ascending",
    "offer_unsorted": "an offer's node index 0 at place 1 is out of range or not ascending",
    "offer_empty": "an offer names 0 nodes; wanted 1 to 3",
    "offer_bad_layout": "a layout choice names value",
    "offer_bad_device": "an offer names device 7 of 1",
    "offer_not_convex": "a pattern from node 'first' to node 'last' leaves out a node between",
    "decline_bad_index": "a decline names node 4 of 3",
    "short_offer": "an offer says that it is 24 bytes, wanted at least 96; initialise its header",
}
# The segment does not compile: its offers are struck and ref does the work.
STRUCK = ["compile_error", "segment_error", "null_exec", "internal_steps", "internal_alias",
          "huge_workspace", "alias_bad", "must_compiled", "pack_no_fill", "pack_bad_value",
          "pack_no_value", "pack_huge", "pack_align", "pack_short", "pack_null", "fill_error"]
# Overruns, named by a run with red zones (GE_RED_ZONES=1) and by nothing else: which node, which
# engine, which bytes of which value.
OVERRUNS = {
    "writes_behind": "node 'first': engine 'faulty_writes_behind' failed in enqueue at plan "
                     "instruction 0 (code 11): red zones: bytes 0 to 3 behind the end of value "
                     "'s' of 1024 bytes were written",
    "writes_before": "node 'first': engine 'faulty_writes_before' failed in enqueue at plan "
                     "instruction 0 (code 11): red zones: bytes -4 to -1 before the begin of value "
                     "'s' of 1024 bytes were written",
    "changes_input": "node 'first': engine 'faulty_changes_input' failed in enqueue at plan "
                     "instruction 0 (code 11): red zones: input 0, value 'a' of 1024 "
                     "bytes, was written",
}
# Legal, if useless or bad, or of another version of the header.
HARMLESS = ["none", "silent", "offer_no_cost", "poisoned_tails", "grown", "may_skip", "shape_error",
            "shape_null_exec"]
# Which of these have to be chosen: they ask the least.
CHOSEN = ["none", "poisoned_tails", "grown", "may_skip", "shape_error", "shape_null_exec"]


class Checks:
    """Counts and the first words of each fault."""

    def __init__(self, build):
        self.ge = build / "bin" / "ge"
        self.samples = build / "lib" / "samples"
        self.passed = self.failed = self.skipped = 0

    def check(self, good, name, detail=""):
        self.passed += bool(good)
        self.failed += not good
        if not good:
            print(f"FAILED  {name}\n    " + detail.strip().replace("\n", "\n    "))

    def run(self, *args, **env):
        """(exit code, stdout, stderr) of ge."""
        done = subprocess.run([self.ge, *map(str, args)], env={**os.environ, **env}, cwd=ROOT,
                              capture_output=True, text=True, timeout=60, check=False)
        return done.returncode, done.stdout, done.stderr

    def output_of(self, engines, folder):
        """The bytes of the model's output, or None."""
        code, _, _ = self.run("run", MODEL, "--engines", engines, "--output", folder, *INPUTS)
        written = pathlib.Path(folder) / "y.npy"
        return written.read_bytes() if code == 0 and written.exists() else None

    def explain(self, engines, **env):
        """What ge explain --json answers, or {} with a fault counted."""
        code, out, err = self.run("explain", MODEL, "--engines", engines, "--json", *INPUTS, **env)
        self.check(code == 0, f"explain with {engines}", err)
        return json.loads(out) if code == 0 else {}


def one_message(err):
    """Exactly one line of `ge: ...` on stderr."""
    return sum(line.startswith("ge: ") for line in err.splitlines()) == 1


def check_load(c):
    for fault, words in AT_LOAD.items():
        path = c.samples / f"faulty_{fault}.so"
        code, out, err = c.run("plugins", GE_PLUGIN_PATH=str(path))
        wanted = f"plugin '{path}' is refused: {words}" if words[0] != "r" else words
        c.check(code == 3 and wanted in out, f"plugins: {fault}", f"{code}: {out}{err}")
        code, out, err = c.run("run", MODEL, "--engines", f"ref,{path}", *INPUTS)
        c.check(code == 3 and wanted in err and one_message(err) and not out, f"run: {fault}",
                f"{code}: {out}{err}")
        # Beside a good engine it is listed, and does no harm.
        good = c.samples.parent / "graphengine" / "ref.so"
        code, out, err = c.run("plugins", GE_PLUGIN_PATH=f"{path}:{good}")
        c.check(code == 0 and words in out and "ref" in out, f"plugins beside ref: {fault}", out)


def check_fatal(c):
    for fault, words in FATAL.items():
        path = c.samples / f"faulty_{fault}.so"
        code, out, err = c.run("run", MODEL, "--engines", f"ref,{path}", "--json", *INPUTS)
        c.check(code == 3 and words in err and one_message(err) and not out, f"run: {fault}",
                f"{code}: {out}{err}")


def check_contained(c, folder):
    wanted = c.output_of("ref", folder / "ref")
    c.check(wanted is not None, "run with ref alone")
    for fault in [*REJECTED, *STRUCK, *HARMLESS]:
        engines = f"ref,{c.samples / f'faulty_{fault}.so'}"
        told = c.explain(engines)
        rejected = told.get("rejected_offers", [])
        if fault in REJECTED:
            c.check(any(REJECTED[fault] in r for r in rejected), f"explain: {fault}",
                    str(rejected))
        else:
            c.check(rejected == [], f"explain: {fault}", str(rejected))
        c.check((told.get("struck_offers", 0) > 0) == (fault in STRUCK), f"struck: {fault}",
                str(told.get("struck_offers")))
        c.check(c.output_of(engines, folder / fault) == wanted, f"output: {fault}")
        if fault in CHOSEN:
            code, out, err = c.run("run", MODEL, "--engines", engines, "--json", *INPUTS)
            took = json.loads(out)["engines"].get(f"faulty_{fault}", 0) if code == 0 else 0
            c.check(took > 0, f"chosen: {fault}", f"{code}: {out}{err}")
    # Where nobody else takes the node, why the offer was struck is said, too.
    add = folder / "add.gt"
    add.write_text('ge 1\nopset "" 28\nfn main(x: f32[4], z: f32[4]) -> (y) {\n  y = Add(x, z)\n}\n'
                   'entry infer "main" = main\n')
    alone = c.run("run", add, "--engines", c.samples / "faulty_segment_error.so")
    c.check(alone[0] != 0 and "no loaded engine takes operator" in alone[2] and
            "did not compile: " in alone[2] and "faulty: this segment fails on request" in alone[2],
            "struck, and nobody else", str(alone))
    # This one lies; that it is noticed here shows that the comparison above can fail.
    engines = f"ref,{c.samples / 'faulty_wrong_result.so'}"
    c.check(c.output_of(engines, folder / "wrong") not in (None, wanted), "output: wrong_result")


def check_pinned(c, folder):
    """The host's end of a device's copies lies in page-locked memory where the device has some."""
    wanted = c.output_of("ref", folder / "unpinned")
    devsim = f"{c.samples / 'devsim.so'}:wrap=ref;ops=Add;price=1;link_latency_ns=0;link_gbps=1000"
    for pinned in (0, 1):
        engines = f"ref,{devsim};pinned={pinned}"
        c.check(c.output_of(engines, folder / f"pinned{pinned}") == wanted, f"pinned={pinned}")
        _, _, err = c.run("run", MODEL, "--engines", engines, *INPUTS, GE_LOG_LEVEL="3")
        blocks = re.search(r"devsim: (\d+) blocks of pinned memory", err)
        c.check((int(blocks[1]) > 0) if pinned else blocks is None, f"blocks, pinned={pinned}", err)
    code, _, err = c.run("run", MODEL, "--engines", f"ref,{devsim};pinned=2", *INPUTS)
    c.check(code == 2 and "option pinned is '2', wanted a number from 0 to 1" in err, "pinned=2", err)


def check_red_zones(c, folder):
    """Values with guarded places of their own: an overrun is named, an honest run is as ever."""
    wanted = c.output_of("ref", folder / "plain")
    for fault, words in OVERRUNS.items():
        engines = f"ref,{c.samples / f'faulty_{fault}.so'}"
        code, out, err = c.run("run", MODEL, "--engines", engines, *INPUTS, GE_RED_ZONES="1")
        c.check(code == 3 and words in err and one_message(err) and not out, f"zones: {fault}",
                f"{code}: {out}{err}")
    os.environ["GE_RED_ZONES"] = "1"
    for engines in ["ref", f"ref,{c.samples / 'faulty_none.so'}", "native,ref",
                    f"ref,{c.samples / 'devsim.so'}:wrap=ref"]:
        c.check(c.output_of(engines, folder / "zones") == wanted, f"zones: output of {engines}")
    # What nobody wrote is no number, and no left-over of an earlier run either.
    few = c.output_of(f"ref,{c.samples / 'faulty_writes_too_few.so'}", folder / "few")
    c.check(few is not None and few[:-4] == wanted[:-4] and few[-4:] == 4 * b"\xff",
            "zones: writes_too_few", str(few and few[-8:]))
    del os.environ["GE_RED_ZONES"]


def check_taken(c):
    """The node tests fail for an engine that declines all, and not for one that takes Add."""
    tests = ["--onnx-node", ROOT / "build/node-tests/node", "--filter", "test_add", "--policy",
             "priority"]
    if not (ROOT / "build/node-tests/node").is_dir():
        return
    for name, wanted in [("null", 1), ("minimal", 0)]:
        command = [c.ge.parent / "ge-test", *tests, "--engines", f"{c.samples / name}.so,ref",
                   "--least-taken", f"{name}=1"]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=60,
                              check=False)
        said = "null: took 0 nodes, wanted at least 1 (--least-taken)" in done.stdout
        c.check(done.returncode == wanted and said == bool(wanted), f"taken: {name}", done.stdout)


def check_files(c, folder):
    """Paths that are no plugin at all."""
    text = folder / "text.so"
    text.write_text("not an ELF file\n")
    open_to_all = folder / "open.so"
    shutil.copy(c.samples / "minimal.so", open_to_all)
    open_to_all.chmod(0o666)
    for path, words, wanted in [
            (folder / "nothing.so", "cannot be read: No such file or directory", 2),
            (folder, "it is not a regular file", 3), (text, "it cannot be loaded", 3),
            (open_to_all, "lets everybody write it; run chmod o-w on it", 3)]:
        code, _, err = c.run("run", MODEL, "--engines", f"ref,{path}", *INPUTS)
        c.check(code == wanted and words in err and one_message(err), f"file: {path.name}",
                f"{code}: {err}")


def copy_of(c, folder, name="minimal.so", mode=0o644):
    """The minimal engine as folder/name; the folder is made."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)
    path = folder / name
    shutil.copy(c.samples / "minimal.so", path)
    path.chmod(mode)
    return path


def check_writers(c, folder):
    """Files and folders that somebody else may write; as root also those of another owner."""
    good = copy_of(c, folder / "good")
    open_folder = copy_of(c, folder / "open" / "inner")
    (folder / "open").chmod(0o777)
    sticky = copy_of(c, folder / "sticky" / "inner")
    (folder / "sticky").chmod(0o1777)
    cases = [(good, None), (sticky, None),
             (open_folder, f"of its folder '{folder / 'open'}': its mode 777 lets everybody write "
                           "it; run chmod o-w on it")]
    if os.geteuid() == 0:
        other = copy_of(c, folder / "other")
        os.chown(other, 54321, 0)
        others_folder = copy_of(c, folder / "others")
        os.chown(folder / "others", 54321, 0)
        group = copy_of(c, folder / "group", mode=0o664)
        os.chown(group, 0, 54321)
        groups_folder = copy_of(c, folder / "groups")
        (folder / "groups").chmod(0o775)
        os.chown(folder / "groups", 0, 54321)
        of_root = copy_of(c, folder / "root", mode=0o664)
        cases += [(other, "is refused: its owner is 54321, wanted root; copy"),
                  (others_folder, f"'{folder / 'others'}': its owner is 54321, wanted root; copy"),
                  (group, "is refused: its mode 664 lets group 54321 write it, in which others are "
                          "than root and you; run chmod g-w on it"),
                  (groups_folder, f"'{folder / 'groups'}': its mode 775 lets group 54321 write it"),
                  (of_root, None)]
    else:
        c.skipped += 1  # nobody else can give files away
    for path, words in cases:
        code, _, err = c.run("run", MODEL, "--engines", f"ref,{path}", *INPUTS)
        good = code == 0 if words is None else code == 3 and words in err and one_message(err)
        c.check(good, f"writers: {path.parent.name}/{path.name}", f"{code}: {err}")
        code, out, _ = c.run("plugins", GE_PLUGIN_PATH=str(path))
        c.check((code == 0) == (words is None) and (words or "minimal") in out,
                f"writers, ge plugins: {path.parent.name}", f"{code}: {out}")


def check_named(c, folder):
    """`ge plugins --engines` answers about those that are named, whether by path or by name."""
    path = copy_of(c, folder / "named", "x.so")
    code, out, err = c.run("plugins", "--engines", path)
    c.check(code == 0 and f"{path}" in out and "ref" not in out.split(), "named: a path",
            f"{code}: {out}{err}")
    code, out, err = c.run("plugins", "--engines", f"ref,{path}", "--json")
    told = json.loads(out)["plugins"]
    c.check(code == 0 and [p["name"] for p in told] == ["ref", "minimal"], "named: both", out)
    for wrong, words in [(folder / "nothing.so", "cannot be read"), ("tpu", "is not loaded; found"),
                         (c.samples / "faulty_magic.so", "its descriptor begins with 0x1234")]:
        code, out, err = c.run("plugins", "--engines", f"ref,{wrong}")
        c.check(code == 3 and words in out and "ref.so" in out, f"named: {wrong}",
                f"{code}: {out}{err}")


def check_constructors(c, folder):
    """A list of engines opens the plugins that it names and no others."""
    outside = folder / "constructor"
    outside.mkdir()
    mark = outside / "mark"
    source = (ROOT / "sdk/samples/minimal/minimal.c").read_text()
    source += ('\n__attribute__((constructor)) static void leave_mark(void) {\n'
               f'  FILE* f = fopen("{mark}", "w");\n  if (f) fclose(f);\n}}\n')
    (outside / "marker.c").write_text("#include <stdio.h>\n" +
                                      source.replace('{"minimal", 7}', '{"marker", 6}'))
    built = subprocess.run(["cc", "-std=gnu11", "-shared", "-fPIC", f"-I{ROOT / 'sdk/include'}",
                            "marker.c", "-o", "marker.so"], cwd=outside, capture_output=True,
                           text=True, check=False)
    c.check(built.returncode == 0, "constructor: builds", built.stderr)
    shutil.copy(outside / "marker.so", outside / "another.so")
    installed = c.samples.parent / "graphengine"
    env = {"GE_PLUGIN_PATH": f"{outside / 'marker.so'}:{installed}", "GE_LOG_LEVEL": "2"}
    for engines in ["ref", f"ref,{c.samples / 'minimal.so'}"]:
        for command in [["run", MODEL, *INPUTS], ["plugins"]]:
            code, out, err = c.run(*command, "--engines", engines, **env)
            c.check(code == 0 and not mark.exists(), f"{command[0]} --engines {engines} opens it",
                    f"{code}: {out}{err}")
            mark.unlink(missing_ok=True)
    code, _, err = c.run("run", MODEL, "--engines", "marker,ref", *INPUTS, **env)
    c.check(code == 0 and mark.exists() and "to look for it" not in err, "named, it is opened", err)
    mark.unlink(missing_ok=True)
    # In a file of another name it is found all the same, and what that took is said.
    env["GE_PLUGIN_PATH"] = f"{installed}:{outside / 'another.so'}"
    code, _, err = c.run("run", MODEL, "--engines", "ref,marker", *INPUTS, **env)
    c.check(code == 0 and mark.exists() and "engine 'marker' is in no file 'marker.so'" in err,
            "a file of another name", f"{code}: {err}")
    # One that is called so and is refused is the answer; nothing else is opened.
    mark.unlink(missing_ok=True)
    shutil.copy(c.samples / "faulty_magic.so", outside / "marker.so")
    env["GE_PLUGIN_PATH"] = f"{outside / 'another.so'}:{outside / 'marker.so'}"
    code, _, err = c.run("run", MODEL, "--engines", "marker", *INPUTS, **env)
    c.check(code == 3 and "its descriptor begins with" in err and not mark.exists(),
            "a refused file of that name", f"{code}: {err}")


def check_openblas(c, folder):
    """OpenBLAS takes milliseconds to open, so that it is opened where something is taken of it."""
    product = folder / "product.gt"
    product.write_text('ge 1\nopset "" 28\nfn main(a: f32[64,64], b: f32[64,64]) -> (y) {\n'
                       '  y: f32[64,64] = MatMul(a, b)\n}\nentry infer "main" = main\n')
    for model, wanted in ((product, True), (MODEL, False)):
        told = folder / f"libraries-{wanted}"
        code, _, err = c.run("run", model, "--engines", "ref,openblas",
                             *(INPUTS if model == MODEL else ()), LD_DEBUG="files",
                             LD_DEBUG_OUTPUT=str(told))
        text = "".join(p.read_text() for p in folder.glob(f"{told.name}.*"))
        begun = [line for line in text.splitlines() if "calling init: " in line]
        c.check(code == 0 and begun and any("libopenblas" in line for line in begun) == wanted,
                f"openblas opened: {wanted}", err)


def check_minimal(c, folder):
    """Row by row what a stranger does: compile against sdk/include alone, name the folder, run."""
    outside = folder / "stranger"
    outside.mkdir()
    shutil.copytree(ROOT / "sdk" / "include", outside / "include")
    shutil.copy(ROOT / "sdk/samples/minimal/minimal.c", outside)
    lines = (outside / "minimal.c").read_text().count("\n")
    c.check(lines <= 120, "minimal: at most 120 lines", f"{lines} lines")
    built = subprocess.run(["cc", "-std=c11", "-Wall", "-Wextra", "-shared", "-fPIC", "-Iinclude",
                            "minimal.c", "-o", "minimal.so"], cwd=outside, capture_output=True,
                           text=True, check=False)
    c.check(built.returncode == 0, "minimal: builds outside the tree", built.stderr)
    env = {"GE_PLUGIN_PATH": f"{outside}:{c.samples.parent / 'graphengine'}"}
    code, out, err = c.run("plugins", **env)
    c.check(code == 0 and str(outside / "minimal.so") in out, "minimal: found", out + err)
    wanted = c.output_of("ref", folder / "ref2")
    for price, winner in [(1, "minimal/cpu"), (100000, "ref/cpu")]:
        told = c.explain(f"ref,minimal:price={price}", **env)
        chosen = [n["chosen"]["device"] for n in told.get("nodes", [])]
        c.check(chosen == 3 * [winner], f"minimal: price={price}", str(chosen))
        other = [(n["runner_up"] or {}).get("device") for n in told.get("nodes", [])]
        c.check(len(other) == 3 and set(other) == {"ref/cpu", "minimal/cpu"} - {winner},
                f"minimal: runner-up at price={price}", str(other))
        where = folder / f"minimal{price}"
        code, _, err = c.run("run", MODEL, "--engines", f"ref,minimal:price={price}", "--output",
                             where, *INPUTS, **env)
        c.check(code == 0 and (where / "y.npy").read_bytes() == wanted,
                f"minimal: output at price={price}", err)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=os.environ.get("GE_BUILD", "build/release"))
    c = Checks((ROOT / parser.parse_args().build).resolve())
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name).resolve()
        check_load(c)
        check_fatal(c)
        check_contained(c, folder)
        check_pinned(c, folder)
        check_red_zones(c, folder)
        check_taken(c)
        check_files(c, folder)
        check_writers(c, folder)
        check_named(c, folder)
        check_constructors(c, folder)
        check_openblas(c, folder)
        check_minimal(c, folder)
    # Every sample is in one of the tables.
    known = {*AT_LOAD, *FATAL, *REJECTED, *STRUCK, *HARMLESS, *OVERRUNS, "wrong_result",
             "writes_too_few", "offer_apart"}
    for path in sorted(c.samples.glob("faulty_*.so")):
        c.check(path.stem[len("faulty_"):] in known, f"{path.name} has no expectation here")
    print(f"{c.passed} passed, {c.failed} failed, {c.skipped} skipped")
    return 1 if c.failed else 0


if __name__ == "__main__":
    sys.exit(main())
