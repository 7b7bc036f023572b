#!/usr/bin/env python3
"""How plugins are found: search path, manifests, filters, list of allowed files, `ge plugins`.

Needs the built samples (lib/samples) and a C compiler. Prints each fault and, last, the counts.

Example: tests/e2e/plugins/discovery.py --build build/release
"""
import argparse
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
MODEL = ROOT / "tests/e2e/models/three_nodes.gt"
RUN = ["run", MODEL, *[a for n in "abc" for a in ("--input", f"{n}=256:rand")]]


class Checks:
    """Counts, a folder of its own, and engines built for the test."""

    def __init__(self, build, folder):
        self.ge = build / "bin" / "ge"
        self.samples = build / "lib" / "samples"
        self.folder = folder
        self.flags = os.environ.get("CFLAGS", "").split()
        self.passed = self.failed = self.skipped = 0

    def check(self, good, name, detail=""):
        self.passed += bool(good)
        self.failed += not good
        if not good:
            print(f"FAILED  {name}\n    " + str(detail).strip().replace("\n", "\n    "))

    def run(self, *args, **env):
        """(exit code, stdout, stderr) of ge, without plugins of the user who runs the tests."""
        clean = {k: v for k, v in os.environ.items() if not k.startswith("GE_PLUGIN_")}
        clean["XDG_DATA_HOME"] = str(self.folder / "no-data")
        done = subprocess.run([self.ge, *map(str, args)],
                              env={**clean, **{k: str(v) for k, v in env.items()}}, cwd=ROOT,
                              capture_output=True, text=True, timeout=60, check=False)
        return done.returncode, done.stdout, done.stderr

    def listed(self, *args, **env):
        """{path: record} of ge plugins --json."""
        _, out, err = self.run("plugins", "--json", *args, **env)
        try:
            return {p["path"]: p for p in json.loads(out)["plugins"]}
        except json.JSONDecodeError:
            self.check(False, f"JSON of ge plugins {args}", out + err)
            return {}

    def engine(self, path, name, constructor=""):
        """The minimal sample as engine `name` in the file `path`."""
        path.parent.mkdir(parents=True, exist_ok=True)
        source = (ROOT / "sdk/samples/minimal/minimal.c").read_text()
        source = source.replace('{"minimal", 7}', f'{{"{name}", {len(name)}}}')
        if constructor:
            source += f"\n__attribute__((constructor)) static void at_load(void) {{ {constructor} }}\n"
        done = subprocess.run(["cc", "-std=gnu11", *self.flags, "-shared", "-fPIC",
                               f"-I{ROOT / 'sdk/include'}", "-xc", "-", "-o", path], input=source,
                              capture_output=True, text=True, check=False)
        self.check(done.returncode == 0, f"{path.name} builds", done.stderr)
        path.chmod(0o755)
        return path


def manifest_of(plugin, name=None, **fields):
    """Writes the manifest of a plugin: the least that one has, and `fields`."""
    path = plugin.with_name((name or plugin.stem) + ".geplugin.json")
    content = {"format": 1, "file": plugin.name, "abi": {"least": "1.0", "most": "1.999"},
               "kinds": ["engine"], **fields}
    path.write_text(json.dumps(content))
    path.chmod(0o644)
    return path


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def check_manifest(c):
    """What a manifest describes is listed without being opened, and opened when it is named."""
    mark = c.folder / "mark"
    note = f'FILE* f = fopen("{mark}", "w"); if (f) fclose(f);'
    plugin = c.engine(c.folder / "listed" / "libacme.so", "acme", note)
    manifest = manifest_of(plugin, "acme", sha256=digest(plugin), vendor="Acme", version="3.1",
                           licence="MIT", engines=["acme"])
    env = {"GE_PLUGIN_PATH": f"{plugin.parent}:{c.samples.parent / 'graphengine'}"}
    found = c.listed(**env).get(str(plugin), {})
    wanted = {"state": "found", "loaded": False, "why": "", "name": "acme", "vendor": "Acme",
              "version": "3.1", "licence": "MIT", "kinds": ["engine"], "engines": ["acme"],
              "hash": digest(plugin), "manifest": str(manifest), "from": "$GE_PLUGIN_PATH"}
    c.check({k: found.get(k) for k in wanted} == wanted, "listed by its manifest", found)
    c.check(not mark.exists(), "listing does not open it")
    code, _, err = c.run(*RUN, "--engines", "ref", **env)
    c.check(code == 0 and not mark.exists(), "another engine's run does not open it", err)
    found = c.listed("--open", **env).get(str(plugin), {})
    c.check(found.get("loaded") and mark.exists(), "--open opens it", found)
    mark.unlink(missing_ok=True)
    # By the engine's name, though the file has another; by both paths.
    for engines in ["acme,ref", f"{plugin},ref", f"{manifest},ref"]:
        code, _, err = c.run(*RUN, "--engines", engines, GE_LOG_LEVEL=2, **env)
        c.check(code == 0 and mark.exists() and "to look for it" not in err, f"run by {engines}",
                f"{code}: {err}")
        mark.unlink(missing_ok=True)
    # Nobody looks into it for an engine that its manifest does not name.
    code, _, err = c.run(*RUN, "--engines", "tpu", **env)
    c.check(code == 3 and not mark.exists(), "not opened to look for another", f"{code}: {err}")


def check_misfits(c):
    """Manifests that do not agree with the file, the host or the machine, or are none."""
    cases = [  # fields, state, what is said
        ({"sha256": "0" * 64}, "skipped", f"but its manifest '"),
        ({"abi": {"least": "7.0"}}, "skipped", "it runs in hosts of ABI 7.0 to the last 7.x"),
        ({"probe": {"library": "libacme-driver.so.9"}}, "skipped",
         "the library 'libacme-driver.so.9' that it needs is not on this machine"),
        ({"probe": [{"library": "libc.so.6"}, {"file": "/dev/acme0"}]}, "skipped",
         "the file '/dev/acme0' that it needs is not on this machine"),
        ({"format": 2}, "skipped", '"format" holds 2, wanted 1; use a newer host'),
        ({"kinds": ["gpu"]}, "skipped", "wanted engine, ops or passes"),
        ({"file": "nobody.so"}, "refused", "nobody.so' cannot be read: No such file"),
    ]
    for i, (fields, state, words) in enumerate(cases):
        plugin = c.engine(c.folder / f"misfit{i}" / "acme.so", "acme") if i == 0 else \
            c.folder / f"misfit{i}" / "acme.so"
        if i > 0:
            plugin.parent.mkdir()
            shutil.copy(c.folder / "misfit0" / "acme.so", plugin)
        manifest_of(plugin, **fields)
        code, out, err = c.run("plugins", GE_PLUGIN_PATH=plugin.parent)
        rows = [line.split()[0] for line in out.splitlines() if not line.startswith(" ")]
        c.check(code == 3 and rows == [state] and words in out, f"misfit: {fields}", out + err)
        # Named by its path the same holds: exit code 3, or 2 where the manifest is unreadable.
        code, out, err = c.run(*RUN, "--engines", f"ref,{plugin}")
        c.check(code in (2, 3) and not out and "acme" in err, f"misfit by path: {fields}",
                f"{code}: {out}{err}")
    wrong = c.folder / "misfit0" / "acme.so"
    manifest_of(wrong, engines=["emca"])
    code, _, err = c.run(*RUN, "--engines", f"{wrong},ref")
    c.check(code == 3 and "it holds engine 'acme', but its manifest" in err and "says 'emca'" in err,
            "a manifest that names another engine", f"{code}: {err}")
    manifest_of(wrong).chmod(0o666)
    code, _, err = c.run(*RUN, "--engines", f"{wrong},ref")
    c.check(code == 3 and "acme.geplugin.json' is refused: its mode 666 lets everybody" in err,
            "a manifest that everybody may write", f"{code}: {err}")


def check_order(c):
    """Which of two plugins of one name counts."""
    data = c.folder / "data"
    own = c.engine(data / "graphengine/plugins.d/acme.so", "acme")
    extra = c.engine(c.folder / "extra" / "acme.so", "acme")
    path = c.engine(c.folder / "path" / "acme.so", "acme")
    built_in = c.samples.parent / "graphengine" / "ref.so"
    env = {"XDG_DATA_HOME": data}

    def first(wanted, **more):
        found = c.listed(**env, **more)
        states = {p: r["state"] for p, r in found.items()}
        c.check(states.get(str(wanted)) == "found", f"first: {wanted}", states)
        for record in found.values():
            if record["state"] == "skipped" and record["path"].endswith("acme.so"):
                c.check(f"'acme' was found first in '{wanted}'" in record["why"], "second", record)
        return states

    states = first(own)
    c.check(states.get(str(built_in)) == "found", "the built-in folder counts, too", states)
    states = first(extra, GE_PLUGIN_EXTRA=extra.parent)
    c.check(states.get(str(own)) == "skipped", "$GE_PLUGIN_EXTRA comes first", states)
    states = first(path, GE_PLUGIN_EXTRA=extra.parent, GE_PLUGIN_PATH=path.parent)
    c.check(set(states) == {str(path), str(extra)}, "$GE_PLUGIN_PATH replaces", states)
    c.check(c.listed(**env)[str(own)]["from"] == "the user's folder", "origin")
    code, _, err = c.run(*RUN, "--engines", "acme,ref", **env)
    c.check(code == 0, "an engine of the user's folder by its name", err)
    home = {"XDG_DATA_HOME": "", "HOME": c.folder / "home"}
    c.engine(c.folder / "home/.local/share/graphengine/plugins.d/acme.so", "acme")
    code, _, err = c.run(*RUN, "--engines", "acme,ref", **home)
    c.check(code == 0, "without $XDG_DATA_HOME it is in ~/.local/share", err)


def check_filters(c):
    """Globs over names."""
    folder = c.folder / "filters"
    plain = c.engine(folder / "other_name.so", "acme")
    described = c.engine(folder / "desc.so", "described")
    manifest_of(described, engines=["described"], ops=["com.acme.Foo"])
    env = {"GE_PLUGIN_PATH": folder}

    def states(**more):
        return {pathlib.Path(p).name: r["state"] for p, r in c.listed(**env, **more).items()}

    for more, wanted in [
            ({}, ("found", "found")), ({"GE_PLUGIN_DISABLE": "descr*"}, ("found", "skipped")),
            ({"GE_PLUGIN_DISABLE": "x,com.acme.*"}, ("found", "skipped")),
            ({"GE_PLUGIN_DISABLE": "acme"}, ("skipped", "found")),  # by the name that it gives
            ({"GE_PLUGIN_DISABLE": "other_*"}, ("skipped", "found")),
            ({"GE_PLUGIN_ENABLE": "described"}, ("skipped", "found")),
            ({"GE_PLUGIN_ENABLE": "o?her_name"}, ("found", "skipped")),
            ({"GE_PLUGIN_ENABLE": "*", "GE_PLUGIN_DISABLE": "*"}, ("skipped", "skipped"))]:
        found = states(**more)
        c.check((found.get(plain.name), found.get(described.name)) == wanted, f"filter {more}",
                found)
    for engine, disabled in [("described", "desc*"), ("acme", "acme")]:
        code, _, err = c.run(*RUN, "--engines", engine, GE_PLUGIN_DISABLE=disabled, **env)
        c.check(code == 3 and f"'{disabled}' of $GE_PLUGIN_DISABLE leaves it out" in err,
                f"{engine} is disabled", f"{code}: {err}")
    code, _, err = c.run(*RUN, "--engines", f"{described},ref", GE_PLUGIN_DISABLE="desc*",
                         GE_PLUGIN_EXTRA=c.samples.parent / "graphengine", **env)
    c.check(code == 0, "who names a path wants it", err)


def check_allowed(c):
    """A list of digests, and everything else is refused."""
    folder = c.folder / "allowed"
    good, bad = c.engine(folder / "good.so", "good"), c.engine(folder / "bad.so", "bad")
    manifest_of(bad)
    listed = folder / "list"
    env = {"GE_PLUGIN_PATH": folder, "GE_PLUGIN_ALLOW": listed}
    for text, exit_code, words in [
            (f"# ours\n{digest(good)}  good.so\n", 0, f"its SHA-256 {digest(bad)} is not in the list "
             f"of allowed plugins '{listed}' ($GE_PLUGIN_ALLOW)"),
            ("", 3, f"its SHA-256 {digest(good)} is not in the list"),
            (f"{digest(good)}\nbad.so\n", 3, "line 2 of the list")]:
        listed.write_text(text)
        listed.chmod(0o644)
        code, out, err = c.run("plugins", **env)
        c.check(code == exit_code and words in out, f"list of {len(text)} bytes", out + err)
    listed.write_text(f"{digest(good)}\n")
    code, _, err = c.run(*RUN, "--engines", f"{good}", **env)
    c.check("good.so' is refused" not in err, "an allowed engine by its path", f"{code}: {err}")
    code, _, err = c.run(*RUN, "--engines", f"{bad}", **env)
    c.check(code == 3 and "is not in the list" in err, "another by its path", f"{code}: {err}")
    listed.chmod(0o666)
    code, out, err = c.run("plugins", **env)
    c.check(code == 3 and "its mode 666 lets everybody write it" in out, "a list open to all", out)
    listed.unlink()
    code, out, err = c.run("plugins", **env)
    c.check(code == 3 and "cannot be read" in out, "a list that is not there", out + err)


def check_listing(c):
    """`ge plugins PATH...`, the table's columns."""
    folder = c.folder / "listing"
    c.engine(folder / "a.so", "short")
    c.engine(folder / "b.so", "a_much_longer_name")
    (folder / "c.so").write_text("not an ELF file\n")
    manifest_of(c.engine(folder / "d.so", "described"), vendor="A vendor", probe={"file": "/none"})
    code, out, err = c.run("plugins", folder)
    rows = [line for line in out.splitlines() if not line.startswith(" ")]
    c.check(code == 0 and len(rows) == 4 and [r.split()[0] for r in rows] ==
            ["skipped", "found", "found", "refused"], "a folder", out + err)
    c.check(len({r.index(str(folder)) for r in rows}) == 1, "columns are aligned", out)
    whys = [line for line in out.splitlines() if line.startswith(" ")]
    c.check(len(whys) == 2 and "'/none' that it needs" in whys[0] and "cannot be loaded" in whys[1],
            "each says why", out)
    code, out, err = c.run("plugins", folder / "a.so", folder / "c.so", "--json")
    c.check(code == 0 and [p["state"] for p in json.loads(out)["plugins"]] == ["found", "refused"],
            "files", out + err)
    for args, words in [([folder / "c.so"], "cannot be loaded"),
                        ([folder / "nobody.so"], "No such file")]:
        code, out, err = c.run("plugins", *args)
        c.check(code == 3 and words in out, f"plugins {args}", out + err)
    code, _, err = c.run("plugins", folder, "--engines", "ref")
    c.check(code == 2 and "and not both" in err, "paths and --engines", err)


def check_told(c):
    """A plugin of the search path that cannot be loaded is told of: with it runs might be faster."""
    broken = c.folder / "told" / "fast.so"
    broken.parent.mkdir()
    broken.write_text("not an ELF file\n")
    broken.chmod(0o755)
    code, out, err = c.run(*RUN, "--json", GE_PLUGIN_EXTRA=broken.parent)
    c.check(code == 0 and json.loads(out)["nodes"] > 0, "a run beside one that is refused", out + err)
    c.check(f"plugin '{broken}' is refused: it cannot be loaded" in err, "which one, and why", err)
    code, _, err = c.run(*RUN, "--engines", "ref", GE_PLUGIN_EXTRA=broken.parent)
    c.check(code == 0 and "refused" not in err, "nothing of it where engines are named", err)
    code, _, err = c.run(*RUN)
    c.check(code == 0 and "refused" not in err, "nothing where all are loaded", err)


def check_replaced(c):
    """A file that another one replaces while it is being loaded."""
    folder = c.folder / "replaced"
    folder.mkdir()
    victim, other = folder / "victim.so", folder / "other"
    c.engine(other, "other")
    c.engine(victim, "victim", f'rename("{other}", "{victim}");')
    code, _, err = c.run(*RUN, "--engines", f"ref,{victim}")
    c.check(code == 3 and "was changed or replaced while it was being loaded" in err, "replaced",
            f"{code}: {err}")


def check_setuid(c):
    """A setuid program does not read the environment. Only root can make one."""
    folder = c.folder / "setuid"
    shutil.copytree(c.samples.parent / "graphengine", folder / "lib/graphengine")
    (folder / "bin").mkdir()
    program = shutil.copy(c.ge, folder / "bin/ge")
    if os.geteuid() != 0 or os.statvfs(folder).f_flag & os.ST_NOSUID:
        c.skipped += 1
        return
    for at in [*folder.parents]:
        if at.is_relative_to(c.folder):
            at.chmod(0o755)
    os.chown(program, 65534, 65534)
    own, c.ge = c.ge, program
    env = {"GE_PLUGIN_PATH": c.samples / "minimal.so", "GE_PLUGIN_DISABLE": "*"}
    _, out, err = c.run("plugins", **env)
    c.check("minimal" in out and "ref.so" not in out, "the copy reads it", out + err)
    program.chmod(0o4755)
    code, out, err = c.run("plugins", **env)
    c.check(code == 0 and "minimal" not in out and "ref.so" in out, "setuid", f"{code}: {out}{err}")
    c.ge = own


def check_options(c):
    """Quotes keep a value together on its way to the engine."""
    trace = c.folder / "a;b,c:d.txt"
    engines = f'ref,{c.samples / "devsim.so"}:trace="{trace}";price=1;link_latency_ns=0'
    code, _, err = c.run(*RUN, "--engines", engines)
    c.check(code == 0 and "begin" in trace.read_text(), "a quoted value", f"{code}: {err}")
    comma = c.engine(c.folder / "with,comma:colon" / "x.so", "x")
    code, _, err = c.run(*RUN, "--engines", f'"{comma}":price=1,ref')
    c.check(code == 0, "a quoted path", f"{code}: {err}")
    for bad, words in [('devsim:wrap="a', "a quote that does not end"),
                       ("devsim:fast", "the option 'fast' without a value")]:
        code, _, err = c.run(*RUN, "--engines", bad)
        c.check(code == 2 and words in err, bad, f"{code}: {err}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=os.environ.get("GE_BUILD", "build/release"))
    build = (ROOT / parser.parse_args().build).resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name).resolve()
        folder.chmod(0o755)
        c = Checks(build, folder)
        for check in [check_manifest, check_misfits, check_order, check_filters, check_allowed,
                      check_listing, check_told, check_replaced, check_setuid,
                      check_options]:
            check(c)
    print(f"{c.passed} passed, {c.failed} failed, {c.skipped} skipped")
    return 1 if c.failed else 0


if __name__ == "__main__":
    sys.exit(main())
