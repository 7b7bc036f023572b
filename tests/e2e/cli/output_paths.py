#!/usr/bin/env python3
"""What commands that write do with every kind of path, as root and as another user.

As root it runs in a mount namespace of its own, on a tmpfs that holds the devices it names; as
another user the kinds that need root are skipped. Prints each fault and, last, the counts.

Example: tests/e2e/cli/output_paths.py --build build/release
"""
import argparse
import ctypes
import os
import pathlib
import shutil
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import threading
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
OTHER, OLD = 65534, b"what was there before"
NET = """ge 1
opset "" 28
symbol N from "x axis 0"
const w1 : f32[8,4] = [%s]
fn f(x: f32[N,4]) -> (y) {
  y: f32[N,8] = Gemm(x, w1) {transB=1} "g1"
}
entry infer "main" = f
""" % ",".join(f"0.{i % 9 + 1}" for i in range(32))
WITH_STATE = """ge 1
opset "" 28
opset "ge" 1
const zero : f32[32] = splat 0
state total : f32[32] buffer init zero
fn add(x: f32[32]) -> (sum) effects [state total] {
  old: f32[32] = ge.Read() effects [state total]
  sum = Add(old, x)
  ge.Assign(sum) effects [state total]
}
entry infer "add" = add
"""


def npy(descr, shape, data):
    head = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"
    head += " " * (-(10 + len(head) + 1) % 64) + "\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode() + data


class Place:
    """One path, what was set up around it, and what has to be true behind."""

    def __init__(self, folder, name):
        self.folder, self.path, self.works = folder, folder / name, True
        self.text = None      # of which file the new bytes are expected; default: the path
        self.keeps = []       # (path, lstat) whose type, mode and owner stay
        self.reader = self.done = None

    def keep(self, path):
        self.keeps.append((path, os.lstat(path)))

    def old(self, path, mode=0o644, owner=None):
        path.write_bytes(OLD)
        os.chmod(path, mode)
        if owner is not None:
            os.chown(path, owner, owner)
        self.keep(path)
        return self


# Each: sets a Place up for a user; None where it cannot be here.
def new(p, user):
    return p


def new_in_spaces(p, user):
    p.path = p.folder / f"two words, ümlaut{p.path.suffix}"
    return p


def longest_name(p, user):
    p.path = p.folder / ("n" * (255 - len(p.path.suffix)) + p.path.suffix)
    return p


def too_long_name(p, user):
    p.path, p.works = p.folder / ("n" * 256 + p.path.suffix), False
    return p


def mode_600(p, user):
    return p.old(p.path, 0o600, user)


def mode_755(p, user):
    return p.old(p.path, 0o755, user)


def read_only(p, user):
    p.works = user == 0
    return p.old(p.path, 0o444, user)


def of_somebody_else(p, user):
    if os.getuid() != 0:
        return None
    p.works = user == 0
    return p.old(p.path, 0o666, 12345)


def link(p, user):
    p.text = p.folder / "target"
    p.old(p.text, 0o640, user)
    p.path.symlink_to("target")
    p.keep(p.path)
    return p


def link_of_links(p, user):
    (p.folder / "sub").mkdir()
    os.chown(p.folder / "sub", user, user)
    p.text = p.folder / "sub" / "target"
    p.old(p.text, 0o640, user)
    (p.folder / "sub" / "one").symlink_to("target")
    p.path.symlink_to("sub/one")
    p.keep(p.path)
    return p


def dangling(p, user):
    p.text = p.folder / "not yet"
    p.path.symlink_to("not yet")
    p.keep(p.path)
    return p


def dangling_folder(p, user):
    p.path.symlink_to("nowhere/file")
    p.works = False
    p.keep(p.path)
    return p


def loop(p, user):
    p.path.symlink_to("other")
    (p.folder / "other").symlink_to(p.path.name)
    p.works = False
    p.keep(p.path)
    return p


def itself(p, user):
    p.path.symlink_to(p.path.name)
    p.works = False
    p.keep(p.path)
    return p


def folder(p, user):
    p.path.mkdir()
    p.works = False
    p.keep(p.path)
    return p


def below_a_file(p, user):
    p.old(p.folder / "file", 0o644, user)
    p.path, p.works = p.folder / "file" / p.path.name, False
    return p


def no_parent(p, user):
    p.path, p.works = p.folder / "nowhere" / p.path.name, False
    return p


def parent_read_only(p, user):
    inner = p.folder / "closed"
    inner.mkdir(mode=0o555)
    p.path, p.works = inner / p.path.name, user == 0
    return p


def parent_unseen(p, user):
    inner = p.folder / "unseen"
    inner.mkdir()
    p.old(inner / p.path.name)
    p.path = inner / p.path.name
    os.chmod(inner, 0o000)
    p.works = user == 0
    return p


def a_socket(p, user):
    made = socket.socket(socket.AF_UNIX)
    here = os.getcwd()
    os.chdir(p.folder)  # the name of a socket has 107 bytes at most
    made.bind(p.path.name)
    os.chdir(here)
    made.close()
    p.works = False
    p.keep(p.path)
    return p


def fifo(p, user):
    os.mkfifo(p.path)
    os.chown(p.path, user, user)
    p.keep(p.path)
    p.text = b""
    opened = os.open(p.path, os.O_RDONLY | os.O_NONBLOCK)

    def read():
        os.set_blocking(opened, True)
        while True:
            part = os.read(opened, 1 << 16)
            if part:
                p.text += part
            elif p.done.is_set():
                os.close(opened)
                return
            else:
                p.done.wait(0.002)
    p.done = threading.Event()
    p.reader = threading.Thread(target=read)
    p.reader.start()
    return p


def device(p, major_minor, works):
    if os.getuid() != 0:
        return None
    os.mknod(p.path, 0o666 | stat.S_IFCHR, os.makedev(*major_minor))
    os.chmod(p.path, 0o666)
    p.works, p.text = works, False
    p.keep(p.path)
    return p


def null_device(p, user):
    return device(p, (1, 3), True)


def full_device(p, user):
    return device(p, (1, 7), False)


def no_such_device(p, user):
    return device(p, (240, 77), False)


def link_to_null(p, user):
    p = device(p, (1, 3), True)
    if p is not None:
        p.path.rename(p.folder / "null")
        p.path.symlink_to("null")
        p.keeps = []
        p.keep(p.path)
        p.keep(p.folder / "null")
    return p


def block_device(p, user):
    if os.getuid() != 0:
        return None
    os.mknod(p.path, 0o666 | stat.S_IFBLK, os.makedev(240, 77))
    p.works = False
    p.keep(p.path)
    return p


def of_the_kernel(p, user):
    p.path, p.works = pathlib.Path("/proc/version"), False
    return p


def mounted(p, user, options):
    """A tmpfs of its own below the folder."""
    if os.getuid() != 0:
        return None
    inner = p.folder / "mount"
    inner.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", inner], check=True)
    p.path = inner / p.path.name
    os.chown(inner, user, user)
    return p


def full(p, user):
    p = mounted(p, user, "size=64k")
    if p is None:
        return None
    p.old(p.path, 0o644, user)
    filler = os.open(p.path.parent / "filler", os.O_WRONLY | os.O_CREAT)
    try:
        while True:
            os.write(filler, b"x" * 4096)
    except OSError:
        os.close(filler)
    p.works = False
    return p


def no_names_left(p, user):
    p = mounted(p, user, "size=1m,nr_inodes=2")
    if p is None:
        return None
    p.old(p.path, 0o644, user)
    p.works = False
    return p


def mounted_read_only(p, user):
    p = mounted(p, user, "size=1m")
    if p is None:
        return None
    p.old(p.path, 0o644, user)
    subprocess.run(["mount", "-o", "remount,ro", p.path.parent], check=True)
    p.works = False
    return p


KINDS = [new, new_in_spaces, longest_name, too_long_name, mode_600, mode_755, read_only,
         of_somebody_else, link, link_of_links, dangling, dangling_folder, loop, itself, folder,
         below_a_file, no_parent, parent_read_only, parent_unseen, a_socket, fifo, null_device,
         full_device, no_such_device, link_to_null, block_device, of_the_kernel, full,
         no_names_left, mounted_read_only]


class Checks:
    def __init__(self, build, scratch):
        self.ge, self.scratch, self.build = build / "bin/ge", scratch, build
        self.passed = self.failed = self.skipped = 0
        self.model = scratch / "m.gt"
        self.model.write_text(NET)
        (scratch / "state.gt").write_text(WITH_STATE)
        with zipfile.ZipFile(scratch / "d.npz", "w") as z:
            z.writestr("x.npy", npy("<f4", "(4, 4)", struct.pack("<16f", *range(16))))
            z.writestr("y.npy", npy("<i8", "(4,)", struct.pack("<4q", 0, 1, 2, 3)))

    def check(self, good, name, detail=""):
        self.passed += bool(good)
        self.failed += not good
        if not good:
            print(f"FAILED  {name}\n    " + str(detail).strip()[:600].replace("\n", "\n    "))

    def commands(self):
        """name -> (suffix of the path, arguments for a path)."""
        train = ["train", self.model, "--data", self.scratch / "d.npz", "--batch", "2", "--no-test"]
        return {
            "dump": (".gt", lambda p: ["dump", self.model, "-o", p]),
            "dump onnx": (".onnx", lambda p: ["dump", self.model, "--format", "onnx", "-o", p]),
            "explain": (".svg", lambda p: ["explain", self.model, "--plot", p]),
            "run": (".npy", lambda p: ["run", self.model, "--output", p.parent]),
            "train export": (".onnx", lambda p: [*train, "--export", p]),
            "train plot": (".png", lambda p: [*train, "--plot", p]),
            "save states": (".gepb", None),
        }

    def call(self, arguments, user, **more):
        as_user = {} if user == os.getuid() else {"user": user, "group": user, "extra_groups": []}
        return subprocess.run([self.ge, *map(str, arguments)], capture_output=True, timeout=60,
                              check=False, cwd=self.scratch, **as_user, **more)

    def save_states(self, path, user):
        """As `call`: ge_session_save_states of ge.h, in a child of that user."""
        ours, childs = os.pipe()
        child = os.fork()
        if child == 0:
            code = 3
            try:
                if user != os.getuid():
                    os.setgroups([]), os.setgid(user), os.setuid(user)
                code, text = save_states(self.build, str(path), str(self.scratch / "state.gt"))
                os.write(childs, text)
            finally:
                os._exit(code)
        os.close(childs)
        with os.fdopen(ours, "rb") as pipe:
            said = pipe.read()
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        return subprocess.CompletedProcess([], code, said, b"")

    def one(self, command, kind, user):
        suffix, arguments = self.commands()[command]
        inside = pathlib.Path(tempfile.mkdtemp(dir=self.scratch))
        os.chmod(inside, 0o755)
        os.chown(inside, user, user)
        # `ge run` names the file itself.
        place = kind(Place(inside, "y.npy" if command == "run" else "out" + suffix), user)
        named = command == "run" and place is not None and place.path.name != "y.npy"
        if place is None or named or (place.path.parts[1] == "proc" and suffix in (".svg", ".npy")):
            self.skipped += place is None
            return
        place.works |= command == "run" and kind is no_parent  # it makes folders
        before = self.seen(place)
        done = (self.save_states(place.path, user) if arguments is None
                else self.call(arguments(place.path), user))
        if place.reader:
            place.done.set()
            place.reader.join()
        self.judge(place, f"{command}, {kind.__name__}, user {user}", done, before)
        subprocess.run(["umount", "-q", "-l", inside / "mount"], check=False,
                       stderr=subprocess.DEVNULL)
        subprocess.run(["chmod", "-R", "u+rwx", inside], check=False)
        shutil.rmtree(inside)

    @staticmethod
    def seen(place):
        """The names around the path: nothing of ours may be left there."""
        here = place.path.parent
        return sorted(os.listdir(here)) if here.is_dir() and here.parts[1] != "proc" else []

    def judge(self, place, name, done, before):
        err = (done.stdout + done.stderr).decode(errors="replace")
        self.check(done.returncode == (0 if place.works else 2), f"{name}: exit code",
                   f"{done.returncode}, {err}")
        if not place.works:
            self.check(str(place.path.name)[:40] in err or str(place.path.parent) in err,
                       f"{name}: the message names it", err)
        for path, was in place.keeps:
            is_now = os.lstat(path) if os.path.lexists(path) else None
            same = is_now and (is_now.st_mode, is_now.st_uid, is_now.st_gid, is_now.st_rdev) == (
                was.st_mode, was.st_uid, was.st_gid, was.st_rdev)
            self.check(same, f"{name}: '{path.name}' keeps type, mode and owner", (was, is_now))
            if not place.works and stat.S_ISREG(was.st_mode):
                self.check(path.read_bytes() == OLD, f"{name}: the old file is whole", path)
        text = place.text
        if place.works and text is not False:
            file = place.path if text is None else text
            got = file if isinstance(file, bytes) else file.is_file() and file.read_bytes() or b""
            self.check(len(got) > 60 and OLD not in got, f"{name}: the new bytes are there", got)
        extra = set(self.seen(place)) - set(before) - {place.path.name, "not yet", "probe.npy"}
        self.check(not extra and not any("probe" in n for n in self.seen(place)),
                   f"{name}: nothing else is left", extra)

    def standard_output(self):
        """/dev/stdout as people type it: a pipe, a file that has bytes, a full device."""
        dump = ["dump", self.model, "-o", "/dev/stdout"]
        wanted = self.call(["dump", self.model], os.getuid()).stdout
        self.check(self.call(dump, os.getuid()).stdout == wanted, "-o /dev/stdout into a pipe")
        log = self.scratch / "log"
        log.write_bytes(OLD)
        with open(log, "ab") as f:
            subprocess.run([self.ge, *map(str, dump)], stdout=f, check=False)
        self.check(log.read_bytes() == OLD + wanted, "-o /dev/stdout >> log")
        self.check(stat.S_ISLNK(os.lstat("/dev/stdout").st_mode), "/dev/stdout is there still")
        with open("/dev/full", "wb") as f:
            for arguments in (["ops"], ["ops", "--json"], ["dump", self.model],
                              ["run", self.model], ["explain", self.model], ["plugins"]):
                done = subprocess.run([self.ge, *map(str, arguments)], stdout=f, check=False,
                                      stderr=subprocess.PIPE, text=True)
                self.check(done.returncode == 3 and "standard output: No space" in done.stderr,
                           f"ge {arguments[0]} > /dev/full", f"{done.returncode} {done.stderr}")

    def colliding_names(self):
        """Outputs whose names differ only in what a file cannot have."""
        model, to = self.scratch / "names.gt", self.scratch / "to"
        names = ["a_b", "a/b", "a:b", "a_b-2", "..", "a b"]
        model.write_text('ge 1\nopset "" 28\nfn f(x: f32[2]) -> (%s) {\n%s}\nentry infer "main" = f\n'
                         % (", ".join(f'"{n}"' for n in names),
                            "".join(f' "{n}" = {op}(x)\n' for n, op in zip(
                                names, ("Neg", "Abs", "Sqrt", "Exp", "Sin", "Cos")))))
        done = self.call(["run", model, "--output", to], os.getuid())
        files = sorted(os.listdir(to)) if to.is_dir() else []
        self.check(files == sorted(["a_b.npy", "a_b-3.npy", "a_b-4.npy", "a_b-2.npy", "...npy",
                                    "a_b-5.npy"]), "six outputs, six files",
                   (files, done.stdout, done.stderr))
        said = done.stdout.decode()
        self.check(all(f"{to}/{f}" in said for f in files), "which file is whose is printed", said)

    def removed_on_the_way(self):
        """The folder comes and goes while files are written into it."""
        inside = self.scratch / "gone"
        end = threading.Event()

        def flicker():
            while not end.is_set():
                inside.mkdir(exist_ok=True)
                shutil.rmtree(inside, ignore_errors=True)
        thread = threading.Thread(target=flicker)
        thread.start()
        for _ in range(15):
            done = self.call(["dump", self.model, "-o", inside / "out.gt"], os.getuid())
            self.check(done.returncode in (0, 2), "a folder that is removed on the way",
                       (done.returncode, done.stderr))
        end.set()
        thread.join()


def save_states(build, path, model):
    """(exit code, message): the states of a model that has one, saved."""
    lib = ctypes.CDLL(str(build / "lib/libgraphengine.so"))
    error = ctypes.create_string_buffer(struct.pack("<I", 1280), 1280)  # ge_error
    session = ctypes.c_void_p()
    for call in (lambda: lib.ge_session_create(None, ctypes.byref(session), error),
                 lambda: lib.ge_session_load_file(session, model.encode(), 0, error),
                 lambda: lib.ge_session_save_states(session, path.encode(), error)):
        if call() != 0:
            return 2, error.raw[8:1024].rstrip(b"\0")
    return 0, b""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    args = parser.parse_args()
    if os.getuid() == 0 and "GE_OWN_MOUNTS" not in os.environ:
        os.environ["GE_OWN_MOUNTS"] = "yes"
        os.execvp("unshare", ["unshare", "-m", sys.executable, __file__, *sys.argv[1:]])
    scratch = pathlib.Path(tempfile.mkdtemp())
    if os.getuid() == 0:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "none", scratch], check=True)
        # Where another user may look, whatever folder the build lies in.
        (scratch / "build").mkdir()
        subprocess.run(["mount", "--bind", args.build, scratch / "build"], check=True)
        args.build = scratch / "build"
    checks = Checks(args.build, scratch)
    try:
        checks.standard_output()
        checks.colliding_names()
        checks.removed_on_the_way()
        for user in [0, OTHER] if os.getuid() == 0 else [os.getuid()]:
            for command in checks.commands():
                for kind in KINDS:
                    checks.one(command, kind, user)
    finally:
        if os.getuid() == 0:
            subprocess.run(["umount", "-R", "-l", scratch], check=False)
        shutil.rmtree(scratch, ignore_errors=True)
    print(f"{checks.passed} passed, {checks.failed} failed, {checks.skipped} skipped")
    sys.exit(checks.failed != 0)


if __name__ == "__main__":
    main()
