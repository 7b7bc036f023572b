#!/usr/bin/env python3
"""The rules of the simulated vendor: each kept, broken on purpose, and broken with the rule off.

A case is a small program against the vendor's functions, in a process of its own. Kept, every call
succeeds and the reports are empty; broken, a call answers the rule's code and names it, and so do
the reports; off, nothing does.

Example: tests/e2e/ascend/ascend_rules.py --build build/release
"""
import argparse
import ctypes
import json
import os
import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
LIBRARIES = ["libascendcl.so", "libnnopbase.so", "libopapi.so"]
F32, F16, BF16 = 0, 1, 27
ND, NZ = 2, 29
TO_DEVICE, TO_HOST, IN_DEVICE = 1, 2, 3
SYNC, PLAIN = 1, 14  # flags of events: of those with times, too
P, SIZE = ctypes.c_void_p, ctypes.c_size_t


class Vendor:
    """The vendor's functions, what they made, and their answers other than 0, with their texts."""

    def __init__(self, folder):
        self.libraries = [ctypes.CDLL(str(folder / name)) for name in LIBRARIES]
        self.failed, self.later, self.context = [], [], None

    def function(self, name):
        library = next(one for one in self.libraries if hasattr(one, name))
        return getattr(library, name)

    def call(self, name, *args):
        status = self.function(name)(*args)
        if status:
            text = self.function("aclGetRecentErrMsg")
            text.restype = ctypes.c_char_p
            self.failed.append((name, status, (text() or b"").decode()))
        return status

    def made(self, name, *args):
        at = P()
        self.call(name, ctypes.byref(at), *args)
        return P(at.value)

    def kept(self, made, end):
        self.later.append((self.context, end, made))
        return made

    def tidy(self):
        for context, end, made in reversed(self.later):
            if context is not None:
                self.enter(context)
            self.call(end, made)
        self.later = []

    # ---- what programs are made of
    def start(self, device=0):
        """Initialized, with a context."""
        self.call("aclInit", None)
        return self.another(device)

    def another(self, device=0):
        context = self.made("aclrtCreateContext", ctypes.c_int32(device))
        self.later.append((None, "aclrtDestroyContext", context))
        self.context = context
        return context

    def enter(self, context):
        self.call("aclrtSetCurrentContext", context)
        self.context = context

    def stream(self):
        return self.kept(self.made("aclrtCreateStream"), "aclrtDestroyStream")

    def event(self, flags=SYNC):
        function = "aclrtCreateEventExWithFlag" if flags == SYNC else "aclrtCreateEventWithFlag"
        made = self.made(function, ctypes.c_uint32(flags))
        return self.kept(made, "aclrtDestroyEvent")

    def block(self, size=64, filled=True):
        made = self.kept(self.made("aclrtMalloc", SIZE(size), 0), "aclrtFree")
        if filled:
            self.call("aclrtMemset", made, SIZE(size), 0, SIZE(size))
        return made

    def pinned(self, size=64):
        return self.kept(self.made("aclrtMallocHost", SIZE(size)), "aclrtFreeHost")

    def wait(self, stream):
        self.call("aclrtSynchronizeStream", stream)

    def tensor(self, dims, data, dtype=F32, layout=ND, storage=None, keep=True):
        array = (ctypes.c_int64 * len(dims))(*dims)
        kept = storage if storage is not None else dims
        inner = (ctypes.c_int64 * len(kept))(*kept)
        create = self.function("aclCreateTensor")
        create.restype = P
        made = P(create(array, ctypes.c_uint64(len(dims)), dtype, None, ctypes.c_int64(0), layout,
                        inner, ctypes.c_uint64(len(kept)), data))
        return self.kept(made, "aclDestroyTensor") if keep else made

    def first(self, operator, *args):
        """Phase one: (workspace, executor)."""
        workspace, executor = ctypes.c_uint64(), P()
        self.call(f"aclnn{operator}GetWorkspaceSize", *args, ctypes.byref(workspace),
                  ctypes.byref(executor))
        return workspace.value, P(executor.value)

    def second(self, operator, executor, stream, workspace=None, size=0):
        self.call(f"aclnn{operator}", workspace, ctypes.c_uint64(size), executor, stream)

    def relu(self, stream, x, y):
        _, executor = self.first("Relu", x, y)
        self.second("Relu", executor, stream)


CASES = {}


def case(options="", broken=""):
    """A program body(vendor, wrong); `broken` are options of the wrong one alone."""
    def add(body):
        name = body.__name__.replace("_", "-")
        CASES[name] = (body, options, broken)
        return body
    return add


# ---- the library, devices, contexts

@case()
def init_first(v, wrong):
    if not wrong:
        v.call("aclInit", None)
    v.call("aclrtGetDeviceCount", ctypes.byref(ctypes.c_uint32()))


@case()
def init_twice(v, wrong):
    for _ in range(2 if wrong else 1):
        v.call("aclInit", None)


@case()
def finish_last(v, wrong):
    context = v.start()
    v.later = []
    stream = v.made("aclrtCreateStream")
    if not wrong:
        v.call("aclrtDestroyStream", stream)
        v.call("aclrtDestroyContext", context)
    v.call("aclFinalize")


@case()
def null_argument(v, wrong):
    v.start()
    v.call("aclrtGetDeviceCount", None if wrong else ctypes.byref(ctypes.c_uint32()))


@case()
def device_known(v, wrong):
    v.call("aclInit", None)
    v.call("aclrtSetDevice", ctypes.c_int32(7 if wrong else 0))


@case()
def context_current(v, wrong):
    if wrong:
        v.call("aclInit", None)
    else:
        v.start()
    v.stream()


@case()
def destroyed_context(v, wrong):
    context = v.start()
    v.later = []
    for _ in range(2 if wrong else 1):
        v.call("aclrtDestroyContext", context)


@case()
def context_empty(v, wrong):
    context = v.start()
    v.later = []
    stream = v.made("aclrtCreateStream")
    if not wrong:
        v.call("aclrtDestroyStream", stream)
    v.call("aclrtDestroyContext", context)


@case("devices=2")
def peer_enabled(v, wrong):
    context = v.start(0)
    a = v.block()
    v.another(1)
    b = v.block()
    v.enter(context)
    if not wrong:
        v.call("aclrtDeviceEnablePeerAccess", ctypes.c_int32(1), ctypes.c_uint32(0))
    v.call("aclrtMemcpy", b, SIZE(64), a, SIZE(64), IN_DEVICE)


# ---- streams and events

@case()
def context_of_stream(v, wrong):
    context = v.start()
    stream = v.stream()
    v.another()
    if not wrong:
        v.enter(context)
    v.wait(stream)


@case()
def context_of_event(v, wrong):
    context = v.start()
    stream, event = v.stream(), v.event()
    v.another()
    other = v.stream()
    if not wrong:
        v.enter(context)
    v.call("aclrtRecordEvent", event, other if wrong else stream)


@case()
def destroyed_stream(v, wrong):
    v.start()
    stream = v.made("aclrtCreateStream")
    if not wrong:
        v.wait(stream)
    v.call("aclrtDestroyStream", stream)
    if wrong:
        v.wait(stream)


@case()
def destroyed_event(v, wrong):
    v.start()
    stream, event = v.stream(), v.made("aclrtCreateEventExWithFlag", SYNC)
    if not wrong:
        v.call("aclrtRecordEvent", event, stream)
    v.call("aclrtDestroyEvent", event)
    if wrong:
        v.call("aclrtRecordEvent", event, stream)


@case("schedule=lazy")
def destroy_in_flight(v, wrong):
    v.start()
    block, stream = v.block(), v.made("aclrtCreateStream")
    v.call("aclrtMemsetAsync", block, SIZE(64), 1, SIZE(64), stream)
    if not wrong:
        v.wait(stream)
    v.call("aclrtDestroyStream", stream)


@case("streams=2")
def streams_cap(v, wrong):
    v.start()
    for _ in range(3 if wrong else 2):
        v.stream()


@case("events=2")
def events_cap(v, wrong):
    v.start()
    for _ in range(3 if wrong else 2):
        v.event(PLAIN)


@case()
def event_reset(v, wrong):
    v.start()
    stream, event = v.stream(), v.event(PLAIN)
    v.call("aclrtRecordEvent", event, stream)
    v.wait(stream)
    if not wrong:
        v.call("aclrtResetEvent", event, stream)
    v.call("aclrtRecordEvent", event, stream)
    v.wait(stream)


@case()
def event_query_unrecorded(v, wrong):
    v.start()
    stream, event = v.stream(), v.event()
    if not wrong:
        v.call("aclrtRecordEvent", event, stream)
    v.call("aclrtQueryEventStatus", event, ctypes.byref(ctypes.c_int32()))


def elapsed(v, recorded, flags, waits):
    v.start()
    stream, events = v.stream(), [v.event(flags), v.event(flags)]
    block = v.block()
    for event in events[:recorded]:
        v.call("aclrtMemsetAsync", block, SIZE(64), 1, SIZE(64), stream)
        v.call("aclrtRecordEvent", event, stream)
    if waits:
        v.wait(stream)
    v.call("aclrtEventElapsedTime", ctypes.byref(ctypes.c_float()), *events)
    v.wait(stream)


@case()
def elapsed_unrecorded(v, wrong):
    elapsed(v, 1 if wrong else 2, PLAIN, True)


@case()
def elapsed_untimed(v, wrong):
    elapsed(v, 2, SYNC if wrong else PLAIN, True)


@case("schedule=lazy")
def elapsed_unfinished(v, wrong):
    elapsed(v, 2, PLAIN, not wrong)


@case(broken="stall_work=1")
def endless_wait(v, wrong):
    v.start()
    block, stream = v.block(filled=False), v.stream()
    v.call("aclrtMemsetAsync", block, SIZE(64), 1, SIZE(64), stream)
    v.wait(stream)


# ---- memory and copies

@case()
def malloc_zero(v, wrong):
    v.start()
    v.block(0 if wrong else 1, filled=False)


@case()
def free_unknown(v, wrong):
    v.start()
    block = v.block()
    if wrong:
        v.call("aclrtFree", P(block.value + 16))


@case()
def free_twice(v, wrong):
    v.start()
    block = v.made("aclrtMalloc", SIZE(64), 0)
    for _ in range(2 if wrong else 1):
        v.call("aclrtFree", block)


@case()
def free_kind(v, wrong):
    v.start()
    block = v.made("aclrtMalloc", SIZE(64), 0)
    v.call("aclrtFreeHost" if wrong else "aclrtFree", block)


@case("schedule=lazy")
def free_in_flight(v, wrong):
    v.start()
    block, stream = v.made("aclrtMalloc", SIZE(64), 0), v.stream()
    v.call("aclrtMemsetAsync", block, SIZE(64), 1, SIZE(64), stream)
    if not wrong:
        v.wait(stream)
    v.call("aclrtFree", block)
    v.wait(stream)


@case()
def use_after_free(v, wrong):
    v.start()
    block = v.made("aclrtMalloc", SIZE(64), 0)
    if wrong:
        v.call("aclrtFree", block)
    v.call("aclrtMemset", block, SIZE(64), 1, SIZE(64))
    if not wrong:
        v.call("aclrtFree", block)


def copied(v, kind=TO_DEVICE, pinned=True, room=64, size=64):
    v.start()
    stream, to = v.stream(), v.block()
    source = v.pinned() if pinned else P(ctypes.addressof(ctypes.create_string_buffer(128)))
    v.call("aclrtMemcpyAsync", to, SIZE(room), source, SIZE(size), kind, stream)
    v.wait(stream)


@case("off=uninitialized-read")
def pinned_async(v, wrong):
    copied(v, pinned=not wrong)


@case("off=uninitialized-read")
def copy_kind(v, wrong):
    copied(v, kind=TO_HOST if wrong else TO_DEVICE)


@case("off=uninitialized-read")
def dest_max(v, wrong):
    copied(v, room=63 if wrong else 64)


@case("off=uninitialized-read")
def copy_bounds(v, wrong):
    copied(v, room=80, size=65 if wrong else 64)


@case()
def memset_bounds(v, wrong):
    v.start()
    block = v.block()
    size = SIZE(65 if wrong else 64)
    v.call("aclrtMemset", block, size, 1, size)


# ---- objects and operators

@case()
def object_destroyed(v, wrong):
    v.start()
    stream = v.stream()
    x, y = v.tensor([4], v.block(), keep=False), v.tensor([4], v.block())
    if wrong:
        v.call("aclDestroyTensor", x)
    v.relu(stream, x, y)
    if not wrong:
        v.call("aclDestroyTensor", x)
    v.wait(stream)


def two(v, x_dims=(4,), y_dims=(4,), x_data=None, dtype=F32, storage=None, size=64):
    """x and y, and a Relu of them."""
    v.start()
    stream = v.stream()
    x = v.tensor(x_dims, x_data or v.block(size), dtype, storage=storage)
    y = v.tensor(y_dims, v.block(size), dtype)
    v.relu(stream, x, y)
    v.wait(stream)


@case(broken="without=Relu")
def operator_known(v, wrong):
    two(v)


@case()
def operator_arguments(v, wrong):
    two(v, y_dims=(5,) if wrong else (4,))


@case()
def tensor_null(v, wrong):
    v.start()
    stream, x = v.stream(), v.tensor([4], None if wrong else v.block())
    v.relu(stream, x, v.tensor([4], v.block()))
    v.wait(stream)


@case()
def tensor_storage(v, wrong):
    two(v, storage=[3] if wrong else [4])


@case()
def tensor_bounds(v, wrong):
    two(v, size=8 if wrong else 16)


@case("off=uninitialized-read")
def tensor_memory(v, wrong):
    v.start()
    stream = v.stream()
    x, y = v.tensor([4], v.pinned() if wrong else v.block()), v.tensor([4], v.block())
    v.relu(stream, x, y)
    v.wait(stream)


@case(broken="chip=310p")
def dtype_chip(v, wrong):
    two(v, dtype=BF16)


def to_nz(v, n):
    """The stream and the block of a matrix n x n in FRACTAL_NZ."""
    v.start()
    stream, to = v.stream(), v.block(512, filled=False)
    _, executor = v.first("NpuFormatCast", v.tensor([n, n], v.block(512), F16),
                          v.tensor([n, n], to, F16, NZ, [1, 1, 16, 16]))
    v.second("NpuFormatCast", executor, stream)
    v.wait(stream)
    return stream, to


@case(broken="chip=Ascend999")
def format_chip(v, wrong):
    to_nz(v, 16)


@case()
def padded_lane(v, wrong):
    stream, block = to_nz(v, 15 if wrong else 16)
    v.relu(stream, v.tensor([16, 16], block, F16), v.tensor([16, 16], v.block(512), F16))
    v.wait(stream)


@case()
def executor_once(v, wrong):
    v.start()
    stream = v.stream()
    _, executor = v.first("Relu", v.tensor([4], v.block()), v.tensor([4], v.block()))
    for _ in range(2 if wrong else 1):
        v.second("Relu", executor, stream)
    v.wait(stream)


@case()
def executor_operator(v, wrong):
    v.start()
    stream = v.stream()
    _, executor = v.first("Relu", v.tensor([4], v.block()), v.tensor([4], v.block()))
    v.second("Abs" if wrong else "Relu", executor, stream)
    v.wait(stream)


@case()
def executor_context(v, wrong):
    context = v.start()
    stream = v.stream()
    _, executor = v.first("Relu", v.tensor([4], v.block()), v.tensor([4], v.block()))
    v.another()
    other = v.stream()
    if not wrong:
        v.enter(context)
    v.second("Relu", executor, other if wrong else stream)
    v.wait(other if wrong else stream)


def softmax(v, more=0, null=False, room=4096):
    v.start()
    stream, room = v.stream(), v.block(room, filled=False)
    x, y = v.tensor([2, 64], v.block(512)), v.tensor([2, 64], v.block(512))
    size, executor = v.first("Softmax", x, ctypes.c_int64(1), y)
    v.second("Softmax", executor, stream, None if null else room, size + more)
    v.wait(stream)


@case()
def workspace_size(v, wrong):
    softmax(v, more=1 if wrong else 0)


@case()
def workspace_null(v, wrong):
    softmax(v, null=wrong)


@case()
def workspace_bounds(v, wrong):
    softmax(v, room=16 if wrong else 4096)


@case(broken="spill=4")
def workspace_red_zone(v, wrong):
    softmax(v)


# ---- what work does

@case()
def uninitialized_read(v, wrong):
    v.start()
    stream = v.stream()
    v.relu(stream, v.tensor([4], v.block(filled=not wrong)), v.tensor([4], v.block()))
    v.wait(stream)


@case()
def race(v, wrong):
    v.start()
    one, two_, event, block = v.stream(), v.stream(), v.event(), v.block()
    v.call("aclrtMemsetAsync", block, SIZE(64), 1, SIZE(64), one)
    if not wrong:
        v.call("aclrtRecordEvent", event, one)
        v.call("aclrtStreamWaitEvent", two_, event)
    v.relu(two_, v.tensor([4], block), v.tensor([4], v.block()))
    v.wait(one)
    v.wait(two_)


@case()
def leak(v, wrong):
    v.start()
    v.tensor([4], v.block(), keep=not wrong)


def run_case(folder, name, wrong, off, reports):
    """(answers other than 0, lines of the reports, exit status) of a program."""
    body, options, broken = CASES[name]
    options += (";" + broken) if wrong else ""
    if off:
        options = options.replace("off=", f"off={name}+") if "off=" in options \
            else f"{options};off={name}"
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        os.environ["GE_SIM_ASCEND"] = f"{options};reports={reports}".strip(";")
        try:
            vendor = Vendor(folder)
            body(vendor, wrong)
            if not wrong:
                vendor.tidy()
            os.write(write, json.dumps(vendor.failed).encode())
        except BaseException as x:  # pylint: disable=broad-except; told to the parent
            os.write(write, json.dumps([["python", -1, repr(x)]]).encode())
        os.close(write)
        ctypes.CDLL(None).exit(0)  # so that the libraries tell what is left
    os.close(write)
    with os.fdopen(read, "rb") as answers:
        failed = json.loads(answers.read() or b"null")
    _, status = os.waitpid(child, 0)
    lines = reports.read_text().splitlines() if reports.exists() else []
    reports.unlink(missing_ok=True)
    return failed or [], lines, status if failed is not None else -1


def rules():
    """{name: (code, whether it is told)}"""
    text = (ROOT / "plugins/ascend/sim/rules.def").read_text()
    codes = dict(re.findall(r"(k\w+) = (\d+),",
                            (ROOT / "plugins/ascend/api/acl.h").read_text()))
    return {name: (int(codes[code]), told == "true") for name, code, told in
            re.findall(r'GE_RULE\(k\w+, "([^"]+)", (k\w+), (true|false),', text)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--rule", help="this one alone")
    options = parser.parse_args()
    folder = options.build.resolve() / "lib/sim/ascend"
    passed = failed = 0

    def check(good, text, *details):
        nonlocal passed, failed
        passed += bool(good)
        failed += not good
        if not good:
            print(f"FAILED  {text}\n    {details}")

    known = rules()
    check(set(known) == set(CASES) and len(known) >= 30, "a case of every rule",
          set(known) ^ set(CASES))
    with tempfile.TemporaryDirectory() as scratch:
        reports = pathlib.Path(scratch) / "reports"
        for name, (code, told) in known.items():
            if name not in CASES or options.rule not in (None, name):
                continue
            answers, lines, status = run_case(folder, name, False, False, reports)
            check(not answers and not lines and status == 0, f"{name}: kept", answers, lines, status)
            answers, lines, status = run_case(folder, name, True, False, reports)
            named = [a for a in answers if a[2].startswith(name + ": ") and a[1] == code]
            # A leak is found when there is no call any more.
            check((named or name == "leak") and status == 0, f"{name}: broken", answers, status)
            check(told == any(line.startswith(name + ": ") for line in lines),
                  f"{name}: its report", lines)
            answers, lines, status = run_case(folder, name, True, True, reports)
            check(not [a for a in answers if name + ": " in a[2]] and status == 0 and
                  not [a for a in answers if a[0] == "python"], f"{name}: off", answers, status)
            check(not any(line.startswith(name + ": ") for line in lines), f"{name}: off, reported",
                  lines)
    print(f"{len(known)} rules")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
