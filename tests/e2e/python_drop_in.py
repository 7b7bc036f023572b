"""The common calls of onnxruntime, by the module named, into a file; or two such files compared.

  python_drop_in.py MODULE OUT.npz
  python_drop_in.py --compare THEIRS.npz OURS.npz
"""
import importlib
import pathlib
import sys
import threading

import numpy as np

MODEL = "build/models/lenet.onnx"


def told(session):
    """What a session says of its model, as one text."""
    lines = []
    for arg in session.get_inputs() + session.get_outputs():
        # Free axes have names there and none here.
        shape = [n if isinstance(n, int) else None for n in arg.shape]
        lines.append(f"{arg.name} {shape} {arg.type}")
    lines += session.get_providers()
    lines.append(str(len(session.get_overridable_initializers())))
    return "\n".join(lines)


def calls(ort):
    """Everything that is compared, by a name."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = 2
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
    options.add_session_config_entry("session.set_denormal_as_zero", "1")
    session = ort.InferenceSession(MODEL, sess_options=options, providers=["CPUExecutionProvider"])
    x = np.random.default_rng(5).standard_normal((3, 1, 28, 28), dtype=np.float32)
    feed, name = {session.get_inputs()[0].name: x}, session.get_outputs()[0].name
    out = {"told": np.array(told(session)), "all": session.run(None, feed)[0],
           "empty": session.run([], feed)[0], "named": session.run([name], feed)[0],
           "options": session.run([name], feed, ort.RunOptions())[0]}
    by_bytes = ort.InferenceSession(pathlib.Path(MODEL).read_bytes(), options,
                                    providers=["CPUExecutionProvider"])
    out["bytes"] = by_bytes.run([name, name], feed)[1]
    out["strided"] = session.run(None, {session.get_inputs()[0].name: x[::2]})[0]
    done, ended = [], threading.Event()

    def finished(outputs, user, said):
        done.extend([outputs[0], user, said])
        ended.set()
    session.run_async([name], feed, finished, "mine")
    ended.wait(30)
    out["async"], out["async said"] = done[0], np.array(f"{done[1]} {done[2]}")
    for what, bad in (("name", {"nothing": x}), ("type", {"x": x.astype(np.float64)}),
                      ("rank", {"x": x[0]}), ("none", {})):
        try:
            session.run(None, bad)
            out["refused " + what] = np.array("no")
        except Exception:  # pylint: disable=broad-except
            out["refused " + what] = np.array("yes")
    out["providers"] = np.array("CPUExecutionProvider" in ort.get_available_providers())
    out["device"] = np.array(ort.get_device())
    out["kept"] = np.array(session.get_session_options().intra_op_num_threads)
    return out


def compare(theirs, ours):
    """Counts the values that agree."""
    passed = failed = 0
    for name in theirs:
        a, b = theirs[name], ours[name] if name in ours else np.array("nothing")
        if a.dtype.kind == "f":
            good = a.shape == b.shape and np.max(np.abs(a - b)) <= 1e-4 * np.max(np.abs(a))
        else:
            good = np.array_equal(a, b)
        passed, failed = passed + bool(good), failed + (not good)
        if not good:
            print(f"FAILED  {name}: theirs {a}, ours {b}")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed != 0


if __name__ == "__main__":
    if sys.argv[1] == "--compare":
        sys.exit(compare(np.load(sys.argv[2]), np.load(sys.argv[3])))
    np.savez(sys.argv[2], **calls(importlib.import_module(sys.argv[1])))
