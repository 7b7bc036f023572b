"""What the checks of an installed tree share: counting, an empty environment, and installing."""
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[3]
SYSTEM = "/usr/bin:/bin"
# What every Linux program has, and the two libraries that a plugin may need.
LIBC = {"linux-vdso.so.1", "/lib64/ld-linux-x86-64.so.2", "libc.so.6", "libm.so.6"}


class Checks:
    """Counts, and the first words of each fault."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def check(self, good, name, found=""):
        self.passed, self.failed = self.passed + bool(good), self.failed + (not good)
        if not good:
            print(f"FAILED  {name}\n    " + str(found).strip()[-3000:].replace("\n", "\n    "))
        return bool(good)

    def skip(self, why):
        self.skipped += 1
        print(f"skipped: {why}")

    def end(self):
        print(f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped")
        return 1 if self.failed or not self.passed else 0


def run(command, cwd, path=SYSTEM, timeout=300, **more):
    """`command` in an environment that holds PATH and HOME alone; what it answers and prints."""
    env = {"PATH": path, "HOME": str(cwd), **more}
    shell = ["bash", "-euc", command] if isinstance(command, str) else [str(c) for c in command]
    done = subprocess.run(shell, cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", timeout=timeout, check=False)
    return done.returncode, done.stdout


def install(c, build, prefix):
    done = subprocess.run(["cmake", "--install", str(build), "--prefix", str(prefix)],
                          capture_output=True, text=True, check=False)
    return c.check(done.returncode == 0, "cmake --install", done.stdout[-500:] + done.stderr)


def exports(library):
    """Names that a library defines for others."""
    done = subprocess.run(["nm", "-D", "--defined-only", "--no-demangle", str(library)],
                          capture_output=True, text=True, check=True)
    return {line.split()[-1] for line in done.stdout.splitlines()}


def foreign_symbols(library):
    """Names that a library must find elsewhere and that are not glibc's."""
    done = subprocess.run(["nm", "-D", "--undefined-only", str(library)], capture_output=True,
                          text=True, check=True)
    rows = [line.split() for line in done.stdout.splitlines()]
    return {name for kind, name in rows if kind == "U" and "@GLIBC_" not in name}


def needed(library):
    """Libraries that are loaded with this one."""
    done = subprocess.run(["ldd", str(library)], capture_output=True, text=True, check=False,
                          env={**os.environ, "LD_LIBRARY_PATH": ""})
    lines = [line.strip() for line in done.stdout.splitlines()]
    return {line.split()[0] for line in lines if line and line != "statically linked"}


def check_plugin(c, library, name=""):
    """One export, and libc and libm alone."""
    name = name or library.name
    c.check(exports(library) == {"ge_plugin_query"}, f"{name}: one export", exports(library))
    c.check(needed(library) <= LIBC, f"{name}: libc and libm alone", needed(library) - LIBC)
    c.check(not foreign_symbols(library), f"{name}: nothing of the host's",
            foreign_symbols(library))
