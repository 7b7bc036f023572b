#!/usr/bin/env python3
"""What `nm -D` and `ldd` say of each built sample and scaffold: it exports ge_plugin_query and
nothing else, and it loads on any machine with libc and libm.

Example: tests/e2e/plugins/samples.py --build build/release
"""
import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "install"))
import installed  # noqa: E402

LEAST = 20  # samples; the faulty ones alone are more


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=installed.ROOT / "build/release")
    lib = parser.parse_args().build / "lib"
    c = installed.Checks()
    samples = sorted([*(lib / "samples").glob("*.so"), *(lib / "scaffold").glob("*.so")])
    # Engines for tests, no samples, which need the C++ library: a vendor (the simulator and ref's
    # kernels), and ranks that are sessions of one process.
    samples = [s for s in samples if s.stem not in ("simdev", "ranks", "ranks_keep")]
    c.check(len(samples) >= LEAST, "samples are built", len(samples))
    for sample in samples:
        if sample.stem == "faulty_no_symbol":  # which is its fault
            c.check(not installed.exports(sample), f"{sample.name}: no export")
        else:
            installed.check_plugin(c, sample)
    return c.end()


if __name__ == "__main__":
    sys.exit(main())
