"""libgraphengine.so by its C API, from Python: what a service in Python would call.

GeSession(model, ...).run(feeds) gives the outputs as arrays.
"""
import ctypes
import json

import numpy as np

import project_venv
from ge_api import Error, Options, Tensor, TensorInfo

LIBRARY = project_venv.ROOT / "build" / "release" / "lib" / "libgraphengine.so"
DTYPES = {1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 9: "bool",
          10: "float16", 11: "float64", 12: "uint32", 13: "uint64"}
NUMBERS = {np.dtype(name): number for number, name in DTYPES.items()}


class GeError(Exception):
    pass


class GeSession:
    """One model with default options; `library` names another build; `kv_cache`: rows that caches of
    a decoder's past have at first; `plugins`, `passes`, `engines`, `pins`: of ge_session_options;
    `entry`: none is the first; `threads`: 0 is the default, one number a process; `precision`: GE_*_PRECISION;
    `policy`: GE_PLACE_*.
    Not for several threads."""

    def __init__(self, model, library=LIBRARY, kv_cache=0, plugins="", engines="", passes="",
                 entry="", threads=0, precision=0, pins="", policy=0):
        self.lib = ctypes.CDLL(str(library))
        self.session, self.error = ctypes.c_void_p(), Error(size=ctypes.sizeof(Error))
        options = Options()
        self._try(self.lib.ge_session_options_init_sized(ctypes.byref(options),
                                                         ctypes.sizeof(options)))
        options.kv_cache, options.threads, options.precision = kv_cache, threads, precision
        options.policy = policy
        options.plugins = plugins.encode() or None
        options.engines = engines.encode() or None
        options.passes, options.pins = passes.encode() or None, pins.encode() or None
        self.entry = entry.encode() or None
        self._try(self.lib.ge_session_create(ctypes.byref(options), ctypes.byref(self.session),
                                             self._error()))
        self._try(self.lib.ge_session_load_file(self.session, str(model).encode(), 0, self._error()))
        self.inputs, self.outputs = self._names("input"), self._names("output")
        self.out = (Tensor * len(self.outputs))()
        for t in self.out:
            t.size = ctypes.sizeof(Tensor)

    def _error(self):
        return ctypes.byref(self.error)

    def _try(self, status):
        if status:
            raise GeError(self.error.message.decode(errors="replace") or f"status {status}")

    def _names(self, kind):
        count, names = ctypes.c_uint32(), []
        self._try(getattr(self.lib, f"ge_session_{kind}_count")(self.session, self.entry,
                                                                ctypes.byref(count)))
        for i in range(count.value):
            info = TensorInfo(size=ctypes.sizeof(TensorInfo))
            self._try(getattr(self.lib, f"ge_session_{kind}_info")(self.session, self.entry, i,
                                                                   ctypes.byref(info)))
            names.append(info.name.decode())
        return names

    def feed(self, arrays):
        """What run_feed takes, made beforehand so that it is not timed."""
        tensors = (Tensor * len(self.inputs))()
        for t, name in zip(tensors, self.inputs):
            array = np.asarray(arrays[name], order="C")
            t.size, t.dtype, t.rank = ctypes.sizeof(Tensor), NUMBERS[array.dtype], array.ndim
            t.dims[:array.ndim] = array.shape
            t.data, t.bytes = array.ctypes.data, array.nbytes
        return tensors, arrays

    def run_feed(self, feed):
        tensors, _ = feed
        self._try(self.lib.ge_session_run(self.session, self.entry, tensors, len(tensors),
                                          self.out, len(self.out), self._error()))

    def run(self, arrays):
        self.run_feed(self.feed(arrays))
        return self.arrays()

    def arrays(self):
        """The outputs of the last run."""
        return [np.ctypeslib.as_array(ctypes.cast(t.data, ctypes.POINTER(ctypes.c_uint8)),
                                      (t.bytes,)).view(DTYPES[t.dtype]).reshape(t.dims[:t.rank]).copy()
                for t in self.out]

    def reset(self):
        self._try(self.lib.ge_session_reset_states(self.session, self._error()))

    def report(self):
        return self._json("ge_session_report")

    def explain(self):
        """Of the entry's latest plan, which a run has made."""
        return self._json("ge_session_explain")

    def _json(self, function):
        text = ctypes.c_char_p()
        self._try(getattr(self.lib, function)(self.session, self.entry, ctypes.byref(text),
                                              self._error()))
        said = json.loads(text.value)
        self.lib.ge_text_release(text)
        return said

    def metadata(self, name):
        """Of the model, or of a pass; None where there is none of the name."""
        text = ctypes.c_char_p()
        self._try(self.lib.ge_session_metadata(self.session, name.encode(), ctypes.byref(text)))
        return text.value.decode() if text.value is not None else None

    def state(self, name):
        """A copy of what it holds."""
        t = Tensor(size=ctypes.sizeof(Tensor))
        for _ in range(2):  # the first says how large it is
            self._try(self.lib.ge_session_get_state(self.session, name.encode(), ctypes.byref(t),
                                                    self._error()))
            if not t.data:
                out = np.zeros(tuple(t.dims[:t.rank]), DTYPES[t.dtype])
                t.data = out.ctypes.data
        return out

    def close(self):
        for t in self.out:
            self.lib.ge_tensor_release(ctypes.byref(t))
        self.lib.ge_session_destroy(self.session)
        self.session = None
