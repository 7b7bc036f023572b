"""This package by the name of onnxruntime, for programs and packages that import that by themselves.

    import graphengine.as_onnxruntime     # before the first import of onnxruntime
    python -m graphengine.as_onnxruntime PROGRAM.py ARGUMENT...
    python -m graphengine.as_onnxruntime -m MODULE ARGUMENT...

From then on `import onnxruntime` gives the calls of onnxruntime that this package has, in this process.
What it has not (onnxruntime.quantization ...) is not found, whether onnxruntime is installed or not.
"""
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import runpy
import sys
import types
from typing import Any, List, Optional, Sequence

import graphengine

VERSION = "1.32.0"  # of the onnxruntime whose calls these are
_NAME, _PACKAGES = "onnxruntime", ("capi", "transformers")


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds onnxruntime.capi.X in graphengine.capi.X: the same module by two names."""

    def find_spec(self, fullname: str, path: Optional[Sequence[str]],
                  target: Optional[types.ModuleType] = None) -> Optional[importlib.machinery.ModuleSpec]:
        del path, target
        words = fullname.split(".")
        if words[0] != _NAME or len(words) < 2 or words[1] not in _PACKAGES:
            return None
        if importlib.util.find_spec(self._ours(fullname)) is None:
            return None
        return importlib.machinery.ModuleSpec(fullname, self)

    def exec_module(self, module: types.ModuleType) -> None:
        name = module.__name__
        sys.modules[name] = importlib.import_module(self._ours(name))

    @staticmethod
    def _ours(name: str) -> str:
        return graphengine.__name__ + name[len(_NAME):]


def _module() -> types.ModuleType:
    module = types.ModuleType(_NAME, graphengine.__doc__)
    for name in graphengine.__all__:
        setattr(module, name, getattr(graphengine, name))
    values: Any = vars(module)
    values.update(__version__=VERSION, get_version_string=lambda: VERSION, __path__=[], __package__=_NAME,
                  __all__=list(graphengine.__all__))
    module.__spec__ = importlib.machinery.ModuleSpec(_NAME, None, is_package=True)
    return module


def _install() -> None:
    there = sys.modules.get(_NAME)
    if there is not None:
        raise ImportError(f"onnxruntime is imported already, from {getattr(there, '__file__', 'elsewhere')}; "
                          "import graphengine.as_onnxruntime before it", name=_NAME)
    sys.meta_path.insert(0, _Finder())
    sys.modules[_NAME] = _module()
    for name in _PACKAGES:
        setattr(sys.modules[_NAME], name, importlib.import_module(f"{_NAME}.{name}"))


def main(arguments: List[str]) -> None:
    """Runs a program or module with the rest of the arguments."""
    if not arguments or arguments[0] in ("-h", "--help") or arguments == ["-m"]:
        sys.exit(__doc__)
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        sys.path.insert(0, "")
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        return
    sys.argv = arguments
    sys.path.insert(0, os.path.dirname(os.path.abspath(arguments[0])))
    runpy.run_path(arguments[0], run_name="__main__")


if __name__ == "__main__":
    # By `python -m` this file is a module of another name, which others would import once more.
    importlib.import_module("graphengine.as_onnxruntime").main(sys.argv[1:])
else:
    _install()
