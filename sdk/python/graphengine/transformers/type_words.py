"""Types of inputs and outputs in the words of numpy and PyTorch."""
from typing import Any, Dict

import numpy as np

from graphengine._error import bad_argument
from graphengine.ort_value import dtype_of_word


class TypeHelper:
    """All of it by the names of types: "tensor(float)", numpy.float32, torch.float32."""

    @staticmethod
    def get_input_type(ort_session: Any, name: str) -> str:
        """ "tensor(float)" and so on."""
        return TypeHelper._type_of(ort_session.get_inputs(), name, "input")

    @staticmethod
    def get_output_type(ort_session: Any, name: str) -> str:
        """ "tensor(float)" and so on."""
        return TypeHelper._type_of(ort_session.get_outputs(), name, "output")

    @staticmethod
    def _type_of(args: Any, name: str, kind: str) -> str:
        for arg in args:
            if arg.name == name:
                return str(arg.type)
        raise bad_argument(f"there is no {kind} '{name}'")

    @staticmethod
    def ort_type_to_numpy_type(ort_type: str) -> Any:
        """numpy.float32 of "tensor(float)"."""
        return dtype_of_word(ort_type).type

    @staticmethod
    def ort_type_to_torch_type(ort_type: str) -> Any:
        """torch.float32 of "tensor(float)"."""
        return TypeHelper.numpy_type_to_torch_type(dtype_of_word(ort_type))

    @staticmethod
    def numpy_type_to_torch_type(numpy_type: Any) -> Any:
        """torch.float32 of numpy.float32."""
        import torch  # pylint: disable=import-outside-toplevel,import-error
        return getattr(torch, np.dtype(numpy_type).name)

    @staticmethod
    def torch_type_to_numpy_type(torch_type: Any) -> Any:
        """numpy.float32 of torch.float32."""
        return np.dtype(str(torch_type).rpartition(".")[2]).type

    @staticmethod
    def get_io_numpy_type_map(ort_session: Any) -> Dict[str, Any]:
        """Of all inputs and outputs, by name."""
        return {arg.name: TypeHelper.ort_type_to_numpy_type(arg.type)
                for arg in ort_session.get_inputs() + ort_session.get_outputs()}
