"""Weights in files: save, load. By PyPI's safetensors, whose format holds names, types and bytes."""
import importlib
import os
import tempfile
from typing import Any, Dict, Mapping, Union

import numpy as np

from graphengine._doors import door
from graphengine.nn.module import Module
from graphengine.variable import Variable

Path = Union[str, "os.PathLike[str]"]


def _library(name: str = "safetensors.numpy") -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError("save() and load() want PyPI's safetensors: pip install safetensors") from error


def _arrays(what: Any) -> Dict[str, np.ndarray]:
    values = what.state_dict() if isinstance(what, Module) else what
    if not isinstance(values, Mapping):
        raise TypeError(f"save() of {type(what).__name__}, wanted a Module or a dict of tensors; give each a name")
    out = {}
    for name, value in values.items():
        if isinstance(value, Variable):
            value = value.value
        out[str(name)] = np.asarray(value.numpy() if hasattr(value, "numpy") else value, order="C")
    return out


def write_whole(path: Path, data: bytes) -> None:
    """The file has all of it or is as it was, whenever the process ends."""
    path = os.fspath(path)
    folder = os.path.dirname(path) or "."
    handle, temporary = tempfile.mkstemp(dir=folder, prefix=os.path.basename(path) + ".")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        os.unlink(temporary)
        raise OSError(error.errno, f"{error.strerror}; a former file is as it was", path) from None
    except BaseException:
        os.unlink(temporary)
        raise


@door
def save(what: Any, path: Path) -> None:
    """Writes the Variables of a Module, or a dict of tensors, into a file, which is replaced whole."""
    write_whole(path, _library().save(_arrays(what)))


@door
def load(path: Path, into: Any = None) -> Any:
    """The arrays of a file by their names. into: a Module that gets them, all or none."""
    library = _library()
    try:
        values = library.load_file(os.fspath(path))
    except _library("safetensors").SafetensorError as error:
        raise ValueError(f"'{os.fspath(path)}' is not of safetensors ({error}), wanted a file that ge.save() or safetensors "
                         "wrote; take its own library for another format") from None
    if into is None:
        return values
    into.load_state_dict(values)
    return into
