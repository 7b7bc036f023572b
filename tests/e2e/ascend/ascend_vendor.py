"""The vendor's functions as programs of tests call them, by ctypes, without the engine."""
import ctypes

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
