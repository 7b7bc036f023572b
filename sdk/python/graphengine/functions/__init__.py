"""The functions of the Python array API standard over Tensors: names, signatures and promotion.

Each is a composition of operators. imag, most of fft and what factorizes matrices refuse: no operator
does these. graphengine.functions is the namespace that x.__array_namespace__() answers.
"""
import math
from typing import Any, Dict, List, Optional, Tuple, Union

from graphengine.functions import dtypes as _dtypes
from graphengine.functions import fft, linalg
from graphengine.functions.accurate import atan2, expm1, hypot, log1p, log2, log10, logaddexp
from graphengine.functions.creation import (arange, asarray, empty, empty_like, eye, from_dlpack, full, full_like,
                                            linspace, meshgrid, ones, ones_like, tril, triu, zeros, zeros_like)
from graphengine.functions.dtypes import (bfloat16, bool_, can_cast, finfo, float16, float32, float64, iinfo,
                                          int8, int16, int32, int64, isdtype, result_type, uint8, uint16, uint32,
                                          uint64)
from graphengine._doors import door as _door
from graphengine.functions.elementwise import (abs, acos, acosh, add, asin, asinh, atan, atanh, bitwise_and,
                                               bitwise_invert, bitwise_left_shift, bitwise_or,
                                               bitwise_right_shift, bitwise_xor, ceil, clip, conj, copysign, cos, cosh,
                                               divide, equal, exp, floor, floor_divide, greater, greater_equal, imag,
                                               isfinite, isinf, isnan, less, less_equal, log, logical_and,
                                               logical_not, logical_or, logical_xor, maximum, minimum, multiply,
                                               negative, nextafter, not_equal, positive, pow, real, reciprocal,
                                               remainder, round, sign, signbit, sin, sinh, sqrt, square,
                                               subtract, tan, tanh, trunc)
from graphengine.functions.linear_algebra import matmul, matrix_transpose, tensordot, vecdot
from graphengine.functions.manipulation import (astype, broadcast_arrays, broadcast_shapes, broadcast_to, concat,
                                                diff, expand_dims, flip, moveaxis, permute_dims, repeat, reshape,
                                                roll, squeeze, stack, tile, unstack)
from graphengine.functions.searching import (argmax, argmin, count_nonzero, nonzero, searchsorted, take,
                                             take_along_axis, where)
from graphengine.functions.sets import isin, unique_all, unique_counts, unique_inverse, unique_values
from graphengine.functions.sorting import argsort, sort
from graphengine.functions.statistics import (all, any, cumulative_prod, cumulative_sum, max, mean, min, prod, std,
                                              sum, var)

e, pi, inf, nan, newaxis = math.e, math.pi, math.inf, math.nan, None
bool = bool_  # the standard's word

__array_api_version__ = "2024.12"

_KINDS = {"bool": ("bool",), "signed integer": _dtypes.SIGNED, "unsigned integer": _dtypes.UNSIGNED,
          "integral": _dtypes.INTEGRAL, "real floating": ("float32", "float64"), "complex floating": (),
          "numeric": _dtypes.INTEGRAL + ("float32", "float64")}


class _Info:
    """What __array_namespace_info__ answers."""

    def capabilities(self) -> Dict[str, Any]:
        """What the standard leaves to a library."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> str:
        """Where Tensors lie."""
        return "cpu"

    def devices(self) -> List[str]:
        """All of them."""
        return ["cpu"]

    def default_dtypes(self, *, device: Optional[str] = None) -> Dict[str, Any]:
        """The types of Python's numbers. Of complex ones there is none."""
        return {"real floating": float32, "complex floating": None, "integral": int64, "indexing": int64}

    def dtypes(self, *, device: Optional[str] = None,
               kind: Union[None, str, Tuple[str, ...]] = None) -> Dict[str, Any]:
        """The standard's types of these kinds, by name."""
        names: List[str] = []
        for one in (kind if isinstance(kind, tuple) else (kind,)):
            if one is not None and one not in _KINDS:
                raise ValueError(f"dtypes: found the kind {one!r}, wanted {_dtypes.listed(_KINDS)}")
            names.extend(_KINDS["bool"] + _KINDS["numeric"] if one is None else _KINDS[one])
        return {name: _dtypes.object_of(name) for name in names}


def __array_namespace_info__() -> _Info:
    """What this namespace can do."""
    return _Info()


__all__ = ["__array_api_version__", "__array_namespace_info__", "abs", "acos", "acosh", "add", "all", "any",
           "arange", "argmax", "argmin", "argsort", "asarray", "asin", "asinh", "astype", "atan", "atan2",
           "atanh", "bfloat16", "bitwise_and", "bitwise_invert", "bitwise_left_shift", "bitwise_or",
           "bitwise_right_shift", "bitwise_xor", "bool", "broadcast_arrays", "broadcast_shapes", "broadcast_to",
           "can_cast", "ceil", "clip", "concat", "conj", "copysign", "cos", "cosh", "count_nonzero",
           "cumulative_prod", "cumulative_sum", "diff", "divide", "e", "empty", "empty_like", "equal", "exp",
           "expand_dims", "expm1", "eye", "fft", "finfo", "flip", "float16", "float32", "float64", "floor",
           "floor_divide", "from_dlpack", "full", "full_like", "greater", "greater_equal", "hypot", "iinfo",
           "imag", "inf", "int16", "int32", "int64", "int8", "isdtype", "isfinite", "isin", "isinf", "isnan",
           "less", "less_equal", "linalg", "linspace", "log", "log10", "log1p", "log2", "logaddexp",
           "logical_and", "logical_not", "logical_or", "logical_xor", "matmul", "matrix_transpose", "max",
           "maximum", "mean", "meshgrid", "min", "minimum", "moveaxis", "multiply", "nan", "negative",
           "newaxis", "nextafter", "nonzero", "not_equal", "ones", "ones_like", "permute_dims", "pi",
           "positive", "pow", "prod", "real", "reciprocal", "remainder", "repeat", "reshape", "result_type",
           "roll", "round", "searchsorted", "sign", "signbit", "sin", "sinh", "sort", "sqrt", "square",
           "squeeze", "stack", "std", "subtract", "sum", "take", "take_along_axis", "tan", "tanh", "tensordot",
           "tile", "tril", "triu", "trunc", "uint16", "uint32", "uint64", "uint8", "unique_all",
           "unique_counts", "unique_inverse", "unique_values", "unstack", "var", "vecdot", "where", "zeros",
           "zeros_like"]

for _name in __all__:
    globals()[_name] = _door(globals()[_name])
