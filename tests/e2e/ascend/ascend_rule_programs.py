"""For each rule of the simulated vendor a small program that keeps it, and breaks it where told to."""
import ctypes

from ascend_vendor import (BF16, F16, F32, IN_DEVICE, NZ, P, PLAIN, SIZE, SYNC, TO_DEVICE, TO_HOST)

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
