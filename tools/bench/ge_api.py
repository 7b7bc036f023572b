"""The structures of ge.h for ctypes, as libgraphengine.so takes them. Needs nothing but Python."""
import ctypes

MAX_RANK = 16


class Error(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("status", ctypes.c_int32),
                ("message", ctypes.c_char * 1016)]


class Tensor(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("dtype", ctypes.c_int32), ("rank", ctypes.c_int32),
                ("flags", ctypes.c_uint32), ("dims", ctypes.c_int64 * MAX_RANK),
                ("data", ctypes.c_void_p), ("bytes", ctypes.c_uint64)]


class Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("threads", ctypes.c_uint32),
                ("isa_cap", ctypes.c_uint32), ("max_streams", ctypes.c_uint32),
                ("engines", ctypes.c_char_p), ("plan_cache_bytes", ctypes.c_uint64),
                ("prices", ctypes.c_uint32), ("replan", ctypes.c_uint32),
                ("measure_budget_ms", ctypes.c_uint32), ("reserved", ctypes.c_uint32),
                ("skip_passes", ctypes.c_char_p), ("denormals", ctypes.c_uint32),
                ("numerics", ctypes.c_uint32), ("memory_limit_bytes", ctypes.c_uint64),
                ("time_limit_ms", ctypes.c_uint64), ("runtime", ctypes.c_void_p),
                ("kv_cache", ctypes.c_uint64), ("plugins", ctypes.c_char_p),
                ("pins", ctypes.c_char_p), ("policy", ctypes.c_uint32),
                ("reserved2", ctypes.c_uint32), ("passes", ctypes.c_char_p),
                ("precision", ctypes.c_uint32), ("reserved3", ctypes.c_uint32)]


class TensorInfo(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("dtype", ctypes.c_int32), ("rank", ctypes.c_int32),
                ("reserved", ctypes.c_uint32), ("dims", ctypes.c_int64 * MAX_RANK),
                ("name", ctypes.c_char_p)]
