#!/usr/bin/env python3
"""A root folder as a machine has it that knows nothing of this tree: the system's files, what is
installed, and a home. A script is run there by a user who owns only that.

The root is put together of bind mounts in a mount namespace of its own, so that it is gone with this
process. The machine's files are read-only there; where a package writes, folders are the root's own.

  empty_root.py ROOT [--deb F.deb] [--tree PREFIX] [--data DIR] --home DIR SCRIPT

--deb is installed by dpkg, whose wish for other packages the machine has to fulfil; --tree is what
`cmake --install` wrote, and stands at /opt/graphengine. --home is the user's, with what lies there
and what the script leaves; what lies in --data is in /usr/share/datasets. Answers the script's exit
code, and 125 where the system lets nobody make such a root.

Example: unshare --mount tests/e2e/docs/empty_root.py root --tree prefix --home home type.bash
"""
import argparse
import ctypes
import os
import pathlib
import shutil
import subprocess
import sys

SYSTEM = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
CANNOT = 125
BIND, RECURSIVE, READ_ONLY, REMOUNT, PRIVATE = 4096, 16384, 1, 32, 1 << 18
# Folders of /usr that a package writes into; the rest is the machine's own.
OPEN = {"usr", "usr/bin", "usr/lib", "usr/lib/cmake", "usr/lib/pkgconfig", "usr/include", "usr/share"}
EMPTY = {"usr/share/doc", "usr/share/datasets", "usr/local"}
DEVICES = ("null", "zero", "full", "random", "urandom")
USER, HOME = 65534, "srv/user"
LIBC = ctypes.CDLL(None, use_errno=True)


def mount(source, target, kind=None, flags=0):
    if LIBC.mount(str(source).encode(), str(target).encode(), kind and kind.encode(), flags, None):
        raise OSError(ctypes.get_errno(), f"mount {source} at {target}")


def bind(source, target, writable=False):
    if source.is_dir():
        target.mkdir(parents=True, exist_ok=True)
        mount(source, target, flags=BIND | RECURSIVE)
    else:
        target.touch()
        mount(source, target, flags=BIND)
    if not writable:
        mount("none", target, flags=REMOUNT | BIND | READ_ONLY)


def take(root, folder):
    """The entries of a folder of the machine, each as it is."""
    (root / folder).mkdir(parents=True, exist_ok=True)
    for entry in sorted(pathlib.Path("/", folder).iterdir()):
        name = f"{folder}/{entry.name}"
        if name in EMPTY:
            (root / name).mkdir()
        elif name in OPEN:
            take(root, name)
        elif entry.is_symlink():
            (root / name).symlink_to(os.readlink(entry))
        elif entry.is_dir() or entry.is_file():
            bind(entry, root / name)


def build(root, home):
    root.mkdir(parents=True, exist_ok=True)
    mount("none", "/", flags=PRIVATE | RECURSIVE)
    mount("none", root, "tmpfs")
    take(root, "usr")
    for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
        entry = pathlib.Path("/", name)
        if entry.is_symlink():
            (root / name).symlink_to(os.readlink(entry))
        elif entry.exists():
            bind(entry, root / name)
    shutil.copytree("/etc", root / "etc", symlinks=True, ignore_dangling_symlinks=True)
    shutil.copytree("/var/lib/dpkg", root / "var/lib/dpkg", symlinks=True)
    for name in ("var/log", "var/cache/ldconfig", "dev/shm", "tmp", "root", "opt"):
        (root / name).mkdir(parents=True)
    (root / "tmp").chmod(0o1777), (root / "dev/shm").chmod(0o1777)
    for name in DEVICES:
        bind(pathlib.Path("/dev", name), root / "dev" / name, writable=True)
    (root / "dev/fd").symlink_to("/proc/self/fd")
    for name in ("proc", "sys"):
        bind(pathlib.Path("/", name), root / name)
    bind(home, root / HOME, writable=True)
    for path in [root / HOME, *(root / HOME).rglob("*")]:
        os.chown(path, USER, USER)


def install(args, root):
    if args.tree:
        shutil.copytree(args.tree, root / "opt/graphengine", symlinks=True)
    if not args.deb:
        return 0
    shutil.copy(args.deb, root / "opt/graphengine.deb")
    done = subprocess.run(["chroot", root, "dpkg", "--force-unsafe-io", "-i",
                           "/opt/graphengine.deb"], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False,
                          env={"PATH": SYSTEM, "DEBIAN_FRONTEND": "noninteractive"})
    if done.returncode:
        print(done.stdout)
    return done.returncode


def as_user(root):
    os.chroot(root)
    os.chdir(f"/{HOME}")
    os.setgroups([])
    os.setgid(USER)
    os.setuid(USER)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("--deb", type=pathlib.Path)
    parser.add_argument("--tree", type=pathlib.Path)
    parser.add_argument("--home", type=pathlib.Path, required=True)
    parser.add_argument("--data", type=pathlib.Path)
    parser.add_argument("script", type=pathlib.Path)
    args = parser.parse_args()
    try:
        build(args.root, args.home)
        if args.data:
            shutil.copytree(args.data, args.root / "usr/share/datasets", dirs_exist_ok=True)
    except OSError as e:
        print(f"empty_root: {e}")
        return CANNOT
    shutil.copy(args.script, args.root / "opt/script.bash")
    (args.root / "opt/script.bash").chmod(0o755)
    code = install(args, args.root)
    if code:
        return code
    env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": f"/{HOME}", "LANG": "C.UTF-8",
           "GE_PREFIX": "/usr" if args.deb else "/opt/graphengine"}
    return subprocess.run(["bash", "/opt/script.bash"], env=env, stdin=subprocess.DEVNULL,
                          preexec_fn=lambda: as_user(args.root), check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
