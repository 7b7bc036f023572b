"""The calls of onnxruntime that have no like there, or are refused; python_drop_in.py compares the others."""
import os
import pathlib
import subprocess
import sys
import threading
import time
import warnings

import numpy as np

import graphengine as ort
from python_checks import check, refused, run_all
from python_signals import ENDLESS

THREE = "tests/e2e/models/three_nodes.gt"
ONES = {name: np.ones(256, np.float32) for name in "abc"}


def sessions(_):
    session = ort.InferenceSession(THREE)
    refused("an unknown output", "INVALID_ARGUMENT", "no output 'q'; the model has y",
            lambda: session.run(["q"], ONES))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        named = ort.InferenceSession(THREE, None, ["CPUExecutionProvider"], [{}, {}])
    check(f"options that fit no providers: {said}", "runs on CPUExecutionProvider" in str(said[0].message))
    named.disable_fallback()
    check("no metadata", "author" not in session.get_modelmeta().custom_metadata_map)
    info = ort.Session(THREE).model_info()
    check("a model that says nothing", (info["version"], info["metadata"], info["producer"])
          == (None, {}, ""))
    free = b'ge 1\nopset "" 28\nfn main(x: f32[N,3]) -> (y) {\n  y = Neg(x)\n}\nentry infer "main" = main\n'
    check("names of free sizes", ort.InferenceSession(free).get_inputs()[0].shape == ["N", 3])
    declared = (b'ge 1\nopset "" 28\nfn main(x: f32[N], z: f32[M]) -> (y) {\n  a = Add(x, z)\n'
                b'  y: f32[N] = Neg(a)\n}\nentry infer "main" = main\n')
    check("a size of an output by the model's word", ort.Session(declared).outputs()[0].dim_names == ("N",))
    unknown = b'ge 1\nopset "" 28\nfn main(x: f32[?]) -> (y) {\n  y = Neg(x)\n}\nentry infer "main" = main\n'
    check("a rank that is not known", ort.InferenceSession(unknown).get_inputs()[0].shape == [])
    options = ort.SessionOptions()
    options.add_free_dimension_override_by_name("N", 5)
    sized = ort.InferenceSession(free, options)
    check("a free size that is said", sized.get_outputs()[0].shape == [5, 3])
    refused("another size", "INVALID_ARGUMENT", "Got: 4 Expected: 5", lambda: sized.run(None, {"x": np.ones((4, 3), "f")}))
    refused("another size, later", "INVALID_ARGUMENT", "free dimension override",
            lambda: sized.run_async(None, {"x": np.ones((4, 3), "f")}, print))
    ort.set_global_thread_pool_sizes(1, 1)
    check("threads of the process", options._for_session()["threads"] == 1)
    ort.set_global_thread_pool_sizes(0, 0)


def options(_):
    options = ort.SessionOptions()
    for options.intra_op_num_threads in (1, 2):  # the process has what its first session got
        found = ort.InferenceSession(THREE, options).run(["y"], ONES)[0]
        check(f"{options.intra_op_num_threads} threads", np.array_equal(found, [3] * 256))
    options.intra_op_num_threads = -1
    refused("threads below 0", "INVALID_ARGUMENT", "threads is -1",
            lambda: ort.InferenceSession(THREE, options))
    try:
        options.intra_op_threads = 1
        check("a mistyped option", False)
    except AttributeError as error:
        check(f"a mistyped option: {error}", "intra_op_threads" in str(error))
    options = ort.SessionOptions()
    options.enable_profiling = True
    refused("profiles", "UNSUPPORTED", "enable_profiling", lambda: ort.InferenceSession("x", options))
    refused("weights from outside", "UNSUPPORTED", "add_initializer('w')",
            lambda: options.add_initializer("w", None))
    refused("another provider", "UNSUPPORTED", "the provider X", lambda: options.add_provider("X"))
    refused("no such entry", "INVALID_ARGUMENT", "'q'", lambda: options.get_session_config_entry("q"))


def terminate(_):
    session, endless = ort.InferenceSession(THREE), ort.InferenceSession(ENDLESS.encode())
    before = ort.RunOptions()
    before.terminate = True
    refused("a run that was ended before", "CANCELLED", "terminate",
            lambda: session.run(None, ONES, before))
    before.terminate = False
    check("options that are used again", session.run(None, ONES, before)[0][0] == 3)
    x, said, during = {"x": np.ones(4, np.float32)}, [], ort.RunOptions()
    endless.run_async(None, x, lambda outputs, user, error: said.append(error), None, during)
    thread = threading.Thread(target=lambda: (time.sleep(0.2), setattr(during, "terminate", True)))
    thread.start()
    refused("a run that is ended", "CANCELLED", "", lambda: endless.run(None, x, during), node="Loop#1")
    thread.join()
    while not said:
        time.sleep(0.01)
    check(f"a run of another thread that is ended: {said}", said[0].startswith("CANCELLED"))


def values(_):
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    value = ort.OrtValue.ortvalue_from_numpy(x, "cpu", 0)
    check("from_dlpack of a value", np.from_dlpack(value).ctypes.data == x.ctypes.data)
    check("a value from DLPack", ort.OrtValue.from_dlpack(x).data_ptr() == x.ctypes.data)
    check("a value by ONNX's number", ort.OrtValue.ortvalue_from_shape_and_type(
        [2], 7).data_type() == "tensor(int64)")
    refused("a value on a device", "UNSUPPORTED", "'cuda'",
            lambda: ort.OrtValue.ortvalue_from_numpy(x, "cuda", 0))
    refused("a number that is no type", "INVALID_ARGUMENT", "99",
            lambda: ort.OrtValue.ortvalue_from_shape_and_type([2], 99))
    refused("other data in place", "INVALID_ARGUMENT", "float64[2, 3]",
            lambda: value.update_inplace(x.astype(np.float64)))
    session = ort.InferenceSession(THREE)
    binding = session.io_binding()
    refused("an input that is not there", "INVALID_ARGUMENT", "no input 'q'; the model has a, b, c",
            lambda: binding.bind_cpu_input("q", x))
    refused("an output that is not there", "INVALID_ARGUMENT", "no output 'q'",
            lambda: binding.bind_output("q"))
    refused("an output on a device", "UNSUPPORTED", "'cuda'", lambda: binding.bind_output("y", "cuda"))
    refused("an address without a type", "INVALID_ARGUMENT", "give both",
            lambda: binding.bind_output("y", buffer_ptr=x.ctypes.data))
    binding.bind_output("y")
    refused("inputs that are not bound", "INVALID_ARGUMENT", "input 'a' is not given",
            lambda: session.run_with_iobinding(binding))


def as_the_module(_):
    """Programs that import onnxruntime, with this package in its place."""
    program = ("import sys, graphengine; sys.modules['onnxruntime'] = graphengine\n"
               "from onnxruntime import (GraphOptimizationLevel, InferenceSession, OrtValue, RunOptions,\n"
               "                         SessionOptions, get_available_providers, get_device)\n"
               "class Own(InferenceSession):\n"
               "  def __init__(self, path, **words):\n    super().__init__(path, **words)\n"
               f"print(Own('{THREE}', providers=get_available_providers()).get_inputs()[0].name)\n")
    plain = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=plain)
    check(f"a subclass of the session: {done.stderr[-300:]}", done.stdout == "a\n")


def by_its_name(args):
    """graphengine.as_onnxruntime: the package where `import onnxruntime` looks."""
    folder = args.scratch / "by_its_name"
    folder.mkdir()
    (folder / "program.py").write_text(
        "import importlib.util, sys, onnxruntime as ort\n"
        "from onnxruntime.capi.onnxruntime_pybind11_state import InvalidArgument\n"
        "from onnxruntime.capi.onnxruntime_inference_collection import InferenceSession\n"
        "import graphengine, graphengine.capi, onnxruntime.transformers.io_binding_helper as helper\n"
        "assert InferenceSession is ort.InferenceSession is graphengine.InferenceSession\n"
        "assert ort.capi is graphengine.capi and helper.TypeHelper\n"
        "assert graphengine.capi.__spec__.name == 'graphengine.capi'\n"
        "assert importlib.util.find_spec('onnxruntime').name == 'onnxruntime'\n"
        "assert importlib.util.find_spec('onnxruntime.quantization') is None\n"
        "assert importlib.util.find_spec('onnxruntime.capi.nothing') is None\n"
        "assert int(ort.__version__.split('.')[0]) >= 1 and ort.__version__ == ort.get_version_string()\n"
        f"session = ort.InferenceSession({str(pathlib.Path(THREE).resolve())!r})\n"
        "print(session.get_inputs()[0].name, sys.argv[1:], __name__)\n")
    (folder / "late.py").write_text("import onnxruntime, graphengine.as_onnxruntime\n")
    (folder / "onnxruntime.py").write_text("")
    plain = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    for command in (["-m", "graphengine.as_onnxruntime", "program.py", "1"],
                    ["-m", "graphengine.as_onnxruntime", "-m", "program", "1"],
                    ["-c", "import sys, runpy, graphengine.as_onnxruntime; sys.path.insert(0, '')\n"
                     "sys.argv = ['', '1']; runpy.run_path('program.py', run_name='__main__')"]):
        done = subprocess.run([sys.executable, *command], cwd=folder, env=plain, capture_output=True, text=True)
        check(f"{command[:4]}: {done.stdout} {done.stderr[-400:]}", done.stdout == "a ['1'] __main__\n")
    done = subprocess.run([sys.executable, "late.py"], cwd=folder, env=plain, capture_output=True, text=True)
    check(f"too late: {done.stderr[-300:]}", "imported already, from" in done.stderr and done.returncode == 1)
    done = subprocess.run([sys.executable, "-m", "graphengine.as_onnxruntime"], env=plain, capture_output=True,
                          text=True)
    check("no program", done.returncode == 1 and "PROGRAM.py ARGUMENT" in done.stderr)


def exceptions(args):
    """By onnxruntime's names, all of them graphengine.Error."""
    bad = ('ge 1\nopset "" 28\nfn main(x: f32[2,3], w: f32[5,7]) -> (y) {\n  y = MatMul(x, w)\n}\n'
           'entry infer "main" = main\n')
    program = ("import sys, graphengine; sys.modules['onnxruntime'] = graphengine\n"
               "from onnxruntime.capi import _pybind_state as C\n"
               "from onnxruntime.capi.onnxruntime_pybind11_state import (Fail, InvalidArgument,\n"
               "  InvalidGraph, InvalidProtobuf, NoSuchFile, NotImplemented, RuntimeException)\n"
               f"import onnxruntime as ort\nBAD = {bad!r}\n"
               "for kind, model in ((NoSuchFile, 'nowhere.onnx'), (InvalidProtobuf, b'\\x07garbage'),\n"
               "                    (InvalidGraph, BAD.encode()), (InvalidArgument, None)):\n"
               "  try:\n"
               f"    ort.InferenceSession(model or '{THREE}').run(['q'], {{}})\n"
               "  except kind as error:\n"
               "    assert isinstance(error, graphengine.Error), error\n"
               "try:\n  ort.SessionOptions().add_provider('Other')\n"
               "except Fail as error:\n"
               "  assert isinstance(error, NotImplemented)\n  print(C.get_available_providers())\n")
    plain = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=plain)
    check(f"exceptions: {done.stderr[-600:]}", done.stdout == "['CPUExecutionProvider']\n")
    del args


def words_of_types(_):
    """What programs for transformers ask for."""
    program = ("import sys, graphengine; sys.modules['onnxruntime'] = graphengine\n"
               "from onnxruntime.transformers.io_binding_helper import TypeHelper as T\n"
               f"s = graphengine.InferenceSession('{THREE}')\n"
               "print(T.get_input_type(s, 'a'), T.get_output_type(s, 'y'), sorted(T.get_io_numpy_type_map(s)),\n"
               "      [T.ort_type_to_numpy_type(f'tensor({w})').__name__ for w in\n"
               "       ('float', 'double', 'float16', 'int64', 'int32', 'bool', 'uint8')])\n")
    plain = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=plain)
    check(f"words of types: {done.stdout} {done.stderr[-300:]}", done.stdout == (
        "tensor(float) tensor(float) ['a', 'b', 'c', 'y'] "
        "['float32', 'float64', 'float16', 'int64', 'int32', 'bool', 'uint8']\n"))


def the_log(_):
    """What is told on stderr, by severity."""
    program = ("import graphengine as ort, sys\n"
               "if sys.argv[1] != '-': ort.set_default_logger_severity(int(sys.argv[1]))\n"
               f"ort.InferenceSession('{THREE}')\n")
    plain = {k: v for k, v in os.environ.items() if k not in ("LD_PRELOAD", "GE_LOG_LEVEL")}

    def lines(severity):
        done = subprocess.run([sys.executable, "-c", program, severity], capture_output=True, text=True,
                              env={**plain, "GE_PLUGIN_EXTRA": "nowhere-at-all.so"})
        return [line for line in done.stderr.splitlines() if line.startswith("graphengine: ")]
    told = {severity: len(lines(severity)) for severity in "-0234"}
    check(f"lines by severity: {told}", told["0"] >= told["2"] == told["-"] > 0 == told["3"] == told["4"])
    refused("a severity that is none", "INVALID_ARGUMENT", "severity is 7",
            lambda: ort.set_default_logger_severity(7))


if __name__ == "__main__":
    run_all([sessions, options, terminate, values, as_the_module, by_its_name, exceptions, words_of_types,
             the_log])
