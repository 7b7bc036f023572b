"""OrtValue and IOBinding as onnxruntime has them, over arrays of numpy: all lies on the CPU."""
import ctypes
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from graphengine import _native
from graphengine._error import bad_argument, bad_value, refusal
from graphengine.ort_options import RunOptions

# ONNX's numbers of element types, by the words of numpy and ml_dtypes.
_NUMBERS: Dict[str, int] = _native.element_types()
# Where onnx's words for element types are not numpy's.
_ONNX_WORDS = {"float32": "float", "float64": "double", "float8_e4m3fn": "float8e4m3fn",
               "float8_e4m3fnuz": "float8e4m3fnuz", "float8_e5m2": "float8e5m2",
               "float8_e5m2fnuz": "float8e5m2fnuz", "float8_e8m0fnu": "float8e8m0",
               "float4_e2m1fn": "float4e2m1", "float6_e2m3fn": "float6e2m3",
               "float6_e3m2fn": "float6e3m2"}


def tensor_word(dtype: str) -> str:
    """onnxruntime's "tensor(float)" of "float32"."""
    return f"tensor({_ONNX_WORDS.get(dtype, dtype)})"


def _on_cpu(device_type: str) -> None:
    if device_type.lower() != "cpu":
        raise refusal(f"the device '{device_type}'", "arrays lie on the CPU: give 'cpu'")


def _dtype(element_type: Any) -> Any:
    """numpy's type of a type or word of numpy, or of ONNX's number."""
    if not isinstance(element_type, int):
        return np.dtype(element_type)
    words = [word for word, number in _NUMBERS.items() if number == element_type]
    if not words:
        raise bad_argument(f"{element_type} is no element type of ONNX")
    try:
        return np.dtype(words[0])
    except TypeError:
        pass
    try:
        import ml_dtypes  # pylint: disable=import-outside-toplevel
        return np.dtype(getattr(ml_dtypes, words[0]))
    except (ImportError, AttributeError):
        raise refusal(f"the element type {words[0]}, which numpy lacks", "install ml_dtypes") from None


def dtype_of_word(word: str) -> Any:
    """numpy's type of "tensor(float)"."""
    for dtype, number in _NUMBERS.items():
        if tensor_word(dtype) == word and dtype != "string":
            return _dtype(number)
    raise bad_argument(f"'{word}' is no type of tensors of numbers")


def _at(address: int, element_type: Any, shape: Sequence[int]) -> Any:
    """An array over the caller's memory."""
    dtype, shape = _dtype(element_type), tuple(shape)
    count = int(np.prod(shape, dtype=np.int64))
    if count == 0:
        return np.empty(shape, dtype)
    memory = (ctypes.c_char * (count * dtype.itemsize)).from_address(address)
    return np.frombuffer(memory, np.uint8).view(dtype).reshape(shape)


def _type_of(value: Any) -> str:
    """The type of a value in onnxruntime's words."""
    if isinstance(value, list):
        return f"seq({_type_of(value[0]) if value else 'tensor(float)'})"
    if isinstance(value, dict):
        key, held = next(iter(value.items()), (0, 0.0))
        words = ["string" if isinstance(x, str) else "int64" if isinstance(x, int) else "float"
                 for x in (key, held)]
        return f"map({words[0]},tensor({words[1]}))"
    return tensor_word("string" if value.dtype.kind in "OU" else value.dtype.name)


class OrtValue:
    """A tensor on the CPU: an array of numpy, which is not copied. Of sequences, maps and optionals that
    are results a list, a dict and None.
    """

    def __init__(self, array: Any) -> None:
        self._array = array

    @classmethod
    def ortvalue_from_numpy(cls, numpy_obj: Any, /, device_type: str = "cpu", device_id: int = 0,
                            vendor_id: int = -1) -> "OrtValue":
        """Over the array itself."""
        del device_id, vendor_id
        _on_cpu(device_type)
        return cls(np.asarray(numpy_obj))

    @classmethod
    def ortvalue_from_numpy_with_onnx_type(cls, data: Any, /, onnx_element_type: int) -> "OrtValue":
        """Over the array's bits, taken as elements of this type."""
        return cls(data.view(_dtype(onnx_element_type)))

    @classmethod
    def ortvalue_from_shape_and_type(cls, shape: Sequence[int], element_type: Any,
                                     device_type: str = "cpu", device_id: int = 0,
                                     vendor_id: int = -1) -> "OrtValue":
        """A new array, whose elements are not set."""
        del device_id, vendor_id
        _on_cpu(device_type)
        return cls(np.empty(tuple(shape), _dtype(element_type)))

    @classmethod
    def from_dlpack(cls, data: Any, /) -> "OrtValue":
        """Over the memory of any framework's tensor."""
        return cls(np.from_dlpack(data))

    def numpy(self) -> Any:
        """The array."""
        return self._array

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> Any:
        array = self._array if dtype is None else self._array.astype(dtype, copy=False)
        return array.copy() if copy else array

    def __dlpack__(self, **arguments: Any) -> Any:
        return self._array.__dlpack__(**arguments)

    def __dlpack_device__(self) -> Tuple[int, int]:
        return 1, 0

    def shape(self) -> List[int]:
        """Sizes of the axes."""
        return list(self._array.shape)

    def data_type(self) -> str:
        """ "tensor(float)" and so on."""
        return _type_of(self._array)

    def element_type(self) -> int:
        """ONNX's number."""
        return _NUMBERS["string" if self._array.dtype.kind in "OU" else self._array.dtype.name]

    def tensor_size_in_bytes(self) -> int:
        """Of the elements."""
        return int(self._array.nbytes)

    def data_ptr(self) -> int:
        """Where the first element lies."""
        return int(self._array.ctypes.data)

    def device_name(self) -> str:
        """cpu"""
        return "cpu"

    def has_value(self) -> bool:
        """Whether it is no empty optional."""
        return self._array is not None

    def is_tensor(self) -> bool:
        """Whether it is no sequence, map or empty optional."""
        return self._array is not None and not isinstance(self._array, (list, dict))

    def is_sparse_tensor(self) -> bool:
        """False."""
        return False

    def is_tensor_sequence(self) -> bool:
        """Whether it is a list of arrays."""
        return isinstance(self._array, list) and not any(isinstance(each, dict) for each in self._array)

    def update_inplace(self, data: Any) -> None:
        """Writes other elements into the same memory."""
        given = np.asarray(data)
        if given.shape != self._array.shape or given.dtype != self._array.dtype:
            raise bad_argument(f"the new data are {given.dtype}{list(given.shape)}, the value is "
                               f"{self._array.dtype}{self.shape()}")
        np.copyto(self._array, given)


class IOBinding:
    """Arrays that are bound once for many runs; made by InferenceSession.io_binding()."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self._inputs: Dict[str, Any] = {}
        self._outputs: Dict[str, Any] = {}  # None where the run allocates
        self._results: Dict[str, Any] = {}

    def bind_cpu_input(self, name: str, arr_on_cpu: Any) -> None:
        """What the array holds at each run is read."""
        self._session._check_name(name, "input")
        self._inputs[name] = arr_on_cpu

    def bind_input(self, name: str, device_type: str, device_id: int, element_type: Any,
                   shape: Sequence[int], buffer_ptr: int) -> None:
        """The caller's memory, which has to stay while it is bound."""
        del device_id
        _on_cpu(device_type)
        self.bind_cpu_input(name, _at(buffer_ptr, element_type, shape))

    def bind_ortvalue_input(self, name: str, ortvalue: OrtValue) -> None:
        """The value's memory."""
        self.bind_cpu_input(name, ortvalue.numpy())

    def bind_output(self, name: str, device_type: str = "cpu", device_id: int = 0,
                    element_type: Any = None, shape: Optional[Sequence[int]] = None,
                    buffer_ptr: Optional[int] = None) -> None:
        """Without a pointer each run gives new memory."""
        del device_id
        _on_cpu(device_type)
        self._session._check_name(name, "output")
        if buffer_ptr is not None and (element_type is None or shape is None):
            raise bad_value(f"output '{name}' is bound to memory without element_type and shape; give both")
        self._outputs[name] = None if buffer_ptr is None else _at(buffer_ptr, element_type, shape or ())

    def bind_ortvalue_output(self, name: str, ortvalue: OrtValue) -> None:
        """The value's memory is written."""
        self._session._check_name(name, "output")
        self._outputs[name] = ortvalue.numpy()

    def synchronize_inputs(self) -> None:
        """Nothing is waited for on the CPU."""

    def synchronize_outputs(self) -> None:
        """Nothing is waited for on the CPU."""

    def get_outputs(self) -> List[OrtValue]:
        """Of the latest run, in the order in which they were bound."""
        return [OrtValue(array) for array in self._results.values()]

    def copy_outputs_to_cpu(self) -> List[Any]:
        """The same as arrays of numpy."""
        return [array.copy() if self._outputs.get(name) is not None else array
                for name, array in self._results.items()]

    def clear_binding_inputs(self) -> None:
        """Nothing is bound."""
        self._inputs.clear()

    def clear_binding_outputs(self) -> None:
        """Nothing is bound."""
        self._outputs.clear()
        self._results.clear()

    def _run(self, run_options: Optional[RunOptions]) -> None:
        if not self._outputs:
            raise bad_argument("no output is bound; bind one")
        out = {name: array for name, array in self._outputs.items() if array is not None}
        results = self._session._outputs_of(self._inputs, run_options, out)
        self._results = {name: results[name] for name in self._outputs}


class OrtDevice:
    """Where values lie: on the CPU."""

    def __init__(self, device_id: int = 0) -> None:
        self._device_id = device_id

    @staticmethod
    def cpu() -> int:
        """The number of its kind."""
        return 0

    @staticmethod
    def default_memory() -> int:
        """The number of its memory."""
        return 0

    @staticmethod
    def make(ort_device_name: str, device_id: int, vendor_id: int = -1) -> "OrtDevice":
        """Of "cpu"."""
        del vendor_id
        _on_cpu(ort_device_name)
        return OrtDevice(device_id)

    def device_id(self) -> int:
        """As it was given."""
        return self._device_id

    def device_type(self) -> int:
        """The number of the CPU."""
        return self.cpu()

    def device_vendor_id(self) -> int:
        """The CPU has none."""
        return 0
