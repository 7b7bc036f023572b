#!/usr/bin/env python3
"""Hosts and plugins of different versions of the ABI, all of them simulated: `ge` and plugins are built
against headers that say 1.0, 1.1 and 1.7, whose structs are longer by one and by nine words, with
rubbish in what is new and an extension on every struct that nobody knows.

- Each plugin (engines, a simulated device, operators, passes) runs in each host, bit for bit as in
  the build folder's own host.
- An extension that must be understood is refused by a sentence that names it, from either side.
- Another major version, and a plugin that needs a newer minor one, are refused by a sentence.

Example: tests/e2e/all/plugins/abi_versions.py --build build/release
"""
import argparse
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "install"))
import abi_hosts  # noqa: E402
from abi_hosts import ROOT  # noqa: E402
from installed import Checks  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
ALL, ADD = HERE / "abi_versions.gt", HERE / "abi_versions_add.gt"
SAMPLES = {"minimal": ["sdk/samples/minimal/minimal.c"], "op": ["sdk/samples/op/op.c"],
           "kernels": ["tests/plugins/ops/kernels.c"], "square": ["sdk/samples/pass/square.c"],
           "twice": ["sdk/scaffold/pass/c/my_plugin.c"],
           "devsim": sorted(str(p.relative_to(ROOT))
                            for p in (ROOT / "sdk/samples/devsim").glob("*.cc"))}
VERSIONS = ["1.0", "1.1", "1.7"]
# Tags of ge_plugin.h: what a host gives to engines, and what plugins give to a host.
TO_ENGINE = {3: "host table", 18: "create", 7: "graph", 20: "sink", 8: "node", 9: "value",
             10: "segment", 12: "launch"}
FROM_PLUGIN = {"minimal": {1: "descriptor", 2: "function table", 4: "offer", 5: "cost",
                           6: "decline"},
               "op": {23: "operator"}, "twice": {29: "pass"}}
FROM_DEVSIM = {13: "device", 21: "domain", 19: "link"}
UNKNOWN = "0x9abc"  # the tag that abi_variant.py chains


class Run:
    def __init__(self, args):
        self.c, self.build = Checks(), (ROOT / args.build).resolve()
        self.work = self.build / "abi_versions"
        self.work.mkdir(exist_ok=True)
        self.hosts, self.plugins, self.wanted = {}, {}, {}

    def make(self, only):
        headers = {"1.0": abi_hosts.Headers(self.work, "1.0"),
                   "1.1": abi_hosts.Headers(self.work, "1.1", 1, True),
                   "1.7": abi_hosts.Headers(self.work, "1.7", 9, True)}
        compiled = abi_hosts.Compiled(self.build)
        for abi in ("1.0", "1.7"):
            for name, sources in SAMPLES.items():
                self.plugins[name, abi] = abi_hosts.plugin(name, sources, headers[abi], self.work)
        self.plugins["minimal", "2.0"] = abi_hosts.plugin(
            "minimal", SAMPLES["minimal"], abi_hosts.Headers(self.work, "2.0"), self.work)
        self.plugins["ref", "1.0"] = abi_hosts.engine_of(compiled, "ref", "plugins/ref/plugin.cc",
                                                         headers["1.0"], self.work)
        needs = ["tests/e2e/all/plugins/abi_versions_needs.c"]
        self.plugins["needs", "1.7"] = abi_hosts.plugin("needs", needs, headers["1.7"], self.work)
        self.plugins["plain", "1.0"] = abi_hosts.plugin(
            "minimal", SAMPLES["minimal"], headers["1.0"], self.work, sanitize=False)
        for name, tags in FROM_PLUGIN.items():
            for tag in tags:
                self.plugins[name, tag] = abi_hosts.plugin(name, SAMPLES[name], headers["1.7"],
                                                           self.work, tag)
        for abi in only:
            self.hosts[abi] = abi_hosts.host(compiled, headers[abi], self.work)

    def ge(self, host, model, flags, must=None):
        """(exit code, what it printed, bytes of output y)"""
        out = self.work / "out"
        env = {**os.environ, "GE_CACHE_DIR": "off", "GE_PROBE": "fixed",
               "ASAN_OPTIONS": "detect_leaks=0"}
        if must is not None:
            env["GE_VARIANT_MUST"] = str(must)
        y = out / "y.npy"
        y.unlink(missing_ok=True)
        rows = "8x24:rand"
        command = [host, "run", model, "--input", f"x={rows}", f"z={rows}", "--prices", "analytic",
                   "--threads", "1", "--output", out, *flags]
        done = subprocess.run([str(w) for w in command], env=env, capture_output=True, text=True,
                              errors="replace", timeout=300, check=False)
        return (done.returncode, done.stdout + done.stderr,
                y.read_bytes() if done.returncode == 0 and y.exists() else b"")

    def expect(self, model, flags):
        """What the build folder's own host and plugins answer."""
        code, text, y = self.ge(self.build / "bin/ge", model, flags)
        self.c.check(code == 0 and y, f"the build's own run of {model.name}", text)
        self.wanted[model] = y

    def same(self, name, host, model, flags):
        code, text, y = self.ge(self.hosts[host], model, flags)
        self.c.check(code == 0 and y and y == self.wanted[model], name,
                     f"exit code {code}, {'another answer' if y else 'no answer'}\n{text}")

    def refused(self, name, host, model, flags, words, must=None):
        """A sentence, and no crash: exit code 3, or 2 where it is about the model."""
        code, text, _ = self.ge(self.hosts[host], model, flags, must)
        good = code in (2, 3) and all(w in text for w in words) and "Sanitizer" not in text
        self.c.check(good, f"{name}: refused with {' and '.join(words)}", f"code {code}\n{text}")

    def runs(self, host, abi):
        """Plugins of one version in a host of another."""
        p = lambda name: self.plugins[name, abi]  # noqa: E731
        title = f"plugins of {abi} in host {host}"
        self.same(f"{title}: minimal", host, ADD, ["--engines", p("minimal")])
        for inner in ("1.0", "1.7"):
            flags = ["--engines", f"{p('devsim')}:wrap={self.plugins['minimal', inner]};pinned=1"]
            self.same(f"{title}: a device around an engine of {inner}", host, ADD, flags)
        flags = ["--engines", f"{p('devsim')}:wrap={self.plugins['minimal', inner]};fail_at=3"]
        self.refused(f"{title}: a device that fails", host, ADD, flags, ["work 3 fails"])
        engines = f"{p('minimal')},{self.plugins['ref', '1.0']}"
        brought = ",".join(str(p(n)) for n in ("op", "kernels", "square", "twice"))
        flags = ["--engines", engines, "--plugins", brought]
        self.same(f"{title}: operators and passes", host, ALL, flags)
        device = f"{p('devsim')}:wrap={self.plugins['ref', '1.0']}"
        flags = ["--engines", f"{device},{self.plugins['ref', '1.0']}", "--plugins", brought]
        self.same(f"{title}: operators and passes beside a device", host, ALL, flags)

    def must_understand(self):
        for host in [h for h in ("1.1", "1.7") if h in self.hosts]:
            for tag, what in TO_ENGINE.items():
                # Nodes and values may be declined one by one; then no engine is left.
                words = ["no loaded engine takes"] if tag in (8, 9) else [UNKNOWN]
                flags = ["--engines", self.plugins["minimal", "1.0"]]
                self.refused(f"host {host}, {what}", host, ADD, flags, words, tag)
        for name, tags in FROM_PLUGIN.items():
            for tag, what in tags.items():
                so = self.plugins[name, tag]
                engines = [so] if name == "minimal" else [self.plugins["ref", "1.0"]]
                flags = ["--engines", engines[0]] + (["--plugins", so] if name != "minimal" else [])
                model = ADD
                if tag == 6:  # of what it does not take
                    model = ALL
                    flags += ["--plugins", f"{self.plugins['op', '1.0']},"
                                           f"{self.plugins['kernels', '1.0']}"]
                self.refused(f"plugin of 1.7, {what}", "1.0", model, flags, [UNKNOWN], tag)
        flags = ["--engines", f"{self.plugins['devsim', '1.7']}:wrap="
                              f"{self.plugins['minimal', '1.0']};pinned=1"]
        for tag, what in FROM_DEVSIM.items():
            self.refused(f"device of 1.7, {what}", "1.0", ADD, flags, [UNKNOWN], tag)

    def versions(self):
        needs = ["--engines", self.plugins["needs", "1.7"]]
        self.refused("a plugin that needs 1.7", "1.0", ADD, needs, ["needs ABI 1.7", "1.0"])
        if "1.7" in self.hosts:
            self.same("a plugin that needs 1.7 in its host", "1.7", ADD, needs)
        later = ["--engines", self.plugins["minimal", "2.0"]]
        self.refused("a plugin of major 2", "1.0", ADD, later, ["it says: ABI 2, the host has 1"])
        code, text, y = self.ge(self.build / "bin/ge", ADD,
                                ["--engines", self.plugins["plain", "1.0"]])
        self.c.check(code == 0 and y == self.wanted[ADD], "a plugin of 1.0 in the build's own host",
                     text)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.environ.get("GE_BUILD", "build/release"))
    parser.add_argument("--hosts", default=",".join(VERSIONS), help="only these; 1.0 is always one")
    args = parser.parse_args()
    run = Run(args)
    run.make(dict.fromkeys(["1.0", *args.hosts.split(",")]))
    lib = run.build / "lib"
    run.expect(ADD, ["--engines", lib / "samples/minimal.so"])
    brought = [lib / "samples" / f"{n}.so" for n in ("op", "kernels", "square")]
    brought.append(lib / "scaffold/scaffold_pass_c.so")
    run.expect(ALL, ["--engines", f"{lib / 'samples/minimal.so'},{lib / 'graphengine/ref.so'}",
                     "--plugins", ",".join(map(str, brought))])
    for host in run.hosts:
        for abi in ("1.0", "1.7"):
            run.runs(host, abi)
    run.must_understand()
    run.versions()
    return run.c.end()


if __name__ == "__main__":
    sys.exit(main())
