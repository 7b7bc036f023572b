#!/usr/bin/env python3
"""The device code of the engine gpu, by the compiler that built it: each kernel is there for each
architecture, keeps all in registers, and its image lies in gpu.so.

Without nvcc of CUDA 13.0 the build has no device code, and this is skipped.

Example: tests/e2e/engines/gpu_kernels.py --build build/release
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
ARCHITECTURES = [80, 90]


def compiler(build):
    found = re.search(r"^GE_NVCC:FILEPATH=(.+)$", (build / "CMakeCache.txt").read_text(), re.M)
    return found[1] if found and not found[1].endswith("NOTFOUND") and found[1] != "OFF" else None


def usage(nvcc, architecture, folder):
    """{kernel: (stack, spilled to, spilled from) in bytes}"""
    done = subprocess.run(
        [nvcc, "-std=c++20", f"-I{ROOT}", "-cubin", f"-arch=sm_{architecture}", "--resource-usage",
         ROOT / "plugins/gpu/kernels/kernels.cu", "-o", folder / "kernels.cubin"],
        capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stderr)
    found = re.findall(r"Function properties for ge_(\w+)\n\s+(\d+) bytes stack frame, "
                       r"(\d+) bytes spill stores, (\d+) bytes spill loads", done.stderr)
    return {name: tuple(map(int, numbers)) for name, *numbers in found}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    build = parser.parse_args().build.resolve()
    nvcc = compiler(build)
    if nvcc is None:
        print("skipped: no nvcc of CUDA 13.0; tools/setup/install.sh gpu brings one")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    names = re.findall(r"^GE_GPU_(?:THREAD|TEAM)\((\w+),",
                       (ROOT / "plugins/gpu/kernels/kernels.def").read_text(), re.M)
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for architecture in ARCHITECTURES:
            used = usage(nvcc, architecture, pathlib.Path(folder))
            for name in names:
                good = used.get(name) == (0, 0, 0)
                passed, failed = passed + good, failed + (not good)
                if not good:
                    print(f"FAILED  sm_{architecture} {name}: stack, spilled to, spilled from: "
                          f"{used.get(name, 'not there')}")
    image = build / "plugins/gpu/kernels.fatbin"
    good = image.exists() and image.read_bytes() in (build / "lib/graphengine/gpu.so").read_bytes()
    passed, failed = passed + good, failed + (not good)
    if not good:
        print(f"FAILED  gpu.so has not the image {image}")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
