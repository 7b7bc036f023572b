#!/usr/bin/env python3
"""Makes the Debian package of the build (cpack -G DEB), unpacks it into a folder and runs it there.

Needs dpkg-deb and dpkg-shlibdeps. Prints each fault and, last, the counts.

Example: tests/e2e/all/install/package.py --build build/release
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "install"))

import installed  # noqa: E402
from installed import ROOT, run  # noqa: E402

DEPENDS = ["libc6", "libprotobuf-lite32", "libfmt9", "libre2-", "libdnnl2", "libpng16-16",
           "libstdc++6"]


def field(package, name):
    return subprocess.run(["dpkg-deb", "-f", str(package), name], capture_output=True, text=True,
                          check=True).stdout.strip()


def check_control(c, package):
    c.check(field(package, "Package") == "graphengine", "its name")
    c.check(field(package, "Version").startswith("0.1.0"), "its version", field(package, "Version"))
    depends = field(package, "Depends")
    for library in DEPENDS:
        c.check(library in depends, f"it depends on {library}", depends)
    c.check("graphengine" not in depends, "and not on itself", depends)
    # No tool sees it; without it each command would warn that OpenBLAS is missing.
    c.check("libopenblas0-openmp | libopenblas0" in depends, "it depends on what openblas opens",
            depends)
    triggers = subprocess.run(["dpkg-deb", "-I", str(package), "triggers"], capture_output=True,
                              text=True, check=False).stdout
    c.check("ldconfig" in triggers, "the linker's cache hears of its library", triggers)


def check_tree(c, package, folder):
    subprocess.run(["dpkg-deb", "-x", str(package), str(folder / "root")], check=True)
    prefix = folder / "root/usr"
    code, text = run([prefix / "bin/ge", "run", ROOT / "tests/e2e/models/three_nodes.gt", "--json"], folder)
    c.check(code == 0, "it runs where it was unpacked", text)
    code, text = run([prefix / "bin/ge", "plugins"], folder)
    c.check(code == 0 and text.count(str(prefix)) == 5 and "refused" not in text,
            "with its own five plugins", text)
    code, text = run([prefix / "bin/ge", "plugin", "new", "engine", "mine"], folder)
    c.check(code == 0 and f"-DCMAKE_PREFIX_PATH={prefix}" in text, "and makes plugins", text)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    build = parser.parse_args().build.resolve()
    c = installed.Checks()
    with tempfile.TemporaryDirectory(prefix="ge-package.") as scratch:
        folder = pathlib.Path(scratch).resolve()
        made = subprocess.run(["cpack", "-G", "DEB", "-B", str(folder / "package")], cwd=build,
                              capture_output=True, text=True, check=False)
        packages = list((folder / "package").glob("*.deb"))
        if c.check(made.returncode == 0 and len(packages) == 1, "cpack -G DEB",
                   made.stdout + made.stderr):
            print(f"{packages[0].name}: {packages[0].stat().st_size >> 10} KB")
            check_control(c, packages[0])
            check_tree(c, packages[0], folder)
    return c.end()


if __name__ == "__main__":
    sys.exit(main())
