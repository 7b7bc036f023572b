"""One file of a build: a zip that Python runs, with the programs, the engines and the libraries of
Debian's that they need. What every Linux has, and the vendor's libraries, stay out."""
import pathlib
import re
import subprocess
import sys
import zipfile

PROGRAMS = ["ge", "ge-test"]
ENGINES = ["gpu", "ref", "native", "grad"]
LIMIT = 40 << 20
# The C library and the loader: those of the machine, which drivers are made for.
SYSTEM = re.compile(r"^(ld-linux|lib(c|m|dl|rt|pthread|resolv)\.so|linux-vdso)")


def libraries(files, build):
    """{name: path} of what the files load, themselves left out."""
    found = {}
    for file in files:
        said = subprocess.run(["ldd", file], capture_output=True, text=True, check=True).stdout
        if "not found" in said:
            sys.exit(f"gpu_verify: {file} lacks a library:\n{said}")
        for name, path in re.findall(r"^\s*(\S+) => (\S+)", said, re.M):
            if not SYSTEM.match(name):
                found[name] = pathlib.Path(path)
    return found


def write(build, here, target):
    if not (build / "plugins/gpu/kernels.fatbin").exists():
        print("gpu_verify: this build has no kernels for devices; fix: tools/setup/install.sh gpu, then build again",
              file=sys.stderr)
        return 1
    files = {f"bin/{p}": build / "bin" / p for p in PROGRAMS}
    files.update({f"lib/graphengine/{e}.so": build / f"lib/graphengine/{e}.so" for e in ENGINES})
    files.update({f"lib/graphengine/{m.name}": m
                  for m in (build / "lib/graphengine").glob("*.geplugin.json")
                  if m.name.split(".")[0] in ENGINES})
    simulated = {f"lib/sim/cuda/{f.name}": f for f in (build / "lib/sim/cuda").iterdir()}
    for name, path in libraries(list(files.values())[:len(PROGRAMS) + len(ENGINES)], build).items():
        files[f"lib/{name}"] = path
    partly = target.with_name(target.name + ".part")
    with open(partly, "wb") as out:
        out.write(b"#!/usr/bin/env python3\n")
        with zipfile.ZipFile(out, "a", zipfile.ZIP_DEFLATED) as packed:
            for name, path in {**files, **simulated}.items():
                packed.write(path.resolve(), name)
            for name in ["gpu_verify.py", "parts.py"]:
                packed.write(here / name, name)
            packed.writestr("__main__.py", "import sys\n\nimport gpu_verify\n\nsys.exit(gpu_verify.main())\n")
    size = partly.stat().st_size
    if size > LIMIT:
        partly.unlink()
        print(f"gpu_verify: {target} would have {size / 2**20:.1f} MiB; wanted at most 40; fix: strip "
              "the build", file=sys.stderr)
        return 1
    partly.chmod(0o755)
    partly.replace(target)
    print(f"{target}: {size / 2**20:.1f} MiB, {len(files) + len(simulated)} files; elsewhere: python3 {target.name}")
    return 0
