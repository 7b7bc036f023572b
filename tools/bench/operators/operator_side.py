"""One side of the sweep in a process of its own: "ours" or "ort", driven by lines of JSON on stdin.

Not a script by itself: operators.py starts it. {"load": model, "feeds": file, "inputs": [[name, ONNX's
number of the type, dims, offset]], "outputs": file} runs it once and answers what was put out;
{"run": seconds} answers the least time of a run in ns within that time; {"close": 1}; an empty line
ends it. Outputs are kept as raw bytes, so every type passes.
"""
import ctypes
import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import numpy as np  # noqa: E402

import ge_session  # noqa: E402
from ge_api import Tensor  # noqa: E402

LEAST_RUNS, MOST_RUNS = 3, 400


def arrays_of(command):
    """[(name, type's number, dims, the array's bytes)], aligned as both runtimes like them."""
    data = np.fromfile(command["feeds"], np.uint8)
    return [(name, number, dims, data[offset:offset + size])
            for name, number, dims, offset, size in command["inputs"]]


class Ours:
    def __init__(self, threads, engines):
        self.threads, self.engines = threads, engines

    def load(self, model, arrays):
        self.session = ge_session.GeSession(model, threads=self.threads, engines=self.engines)
        self.kept = {name: (number, dims, data) for name, number, dims, data in arrays}
        tensors = (Tensor * len(self.session.inputs))()
        for t, name in zip(tensors, self.session.inputs):
            number, dims, data = self.kept[name]
            t.size, t.dtype, t.rank = ctypes.sizeof(Tensor), number, len(dims)
            t.dims[:len(dims)] = dims
            t.data, t.bytes = data.ctypes.data, data.nbytes
        self.feed = (tensors, None)

    def run(self):
        self.session.run_feed(self.feed)

    def outputs(self):
        return [(t.dtype, list(t.dims[:t.rank]), ctypes.string_at(t.data, t.bytes) if t.bytes else b"")
                for t in self.session.out]

    def who(self):
        """The engines of the latest plan's nodes, and what the plan says a run takes (ns)."""
        plan = self.session.explain()
        nodes = [(node["op"], node["chosen"]["device"].split("/")[0]) for node in plan["nodes"]
                 if node.get("chosen")]
        engines = sorted({engine for _, engine in nodes})
        slow = sorted({op for op, engine in nodes if engine == "ref"})
        return {"engines": engines, "on_ref": slow, "predicted_ns": plan["predicted_ns"]}

    def close(self):
        self.session.close()


class Ort:
    def __init__(self, threads, _):
        import onnxruntime
        self.ort, self.threads = onnxruntime, threads

    def load(self, model, arrays):
        options = self.ort.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = self.threads, 1
        options.log_severity_level = 4
        self.session = self.ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        self.binding, self.kept = self.session.io_binding(), arrays
        for name, number, dims, data in arrays:
            self.binding.bind_input(name, "cpu", 0, number, dims, data.ctypes.data)
        for output in self.session.get_outputs():
            self.binding.bind_output(output.name, "cpu")

    def run(self):
        self.session.run_with_iobinding(self.binding)

    def outputs(self):
        out = []
        for value in self.binding.get_outputs():
            dims = value.shape()
            size = value.tensor_size_in_bytes()
            out.append((value.element_type(), dims,
                        ctypes.string_at(value.data_ptr(), size) if size else b""))
        return out

    def who(self):
        return {}

    def close(self):
        self.binding = self.session = None


def load(side, command):
    """Loads, runs once, keeps the outputs in a file; runs on until nothing changes any more."""
    side.load(command["load"], arrays_of(command))
    side.run()
    found, offset = [], 0
    with open(command["outputs"], "wb") as f:
        for number, dims, data in side.outputs():
            found.append([number, dims, offset, len(data)])
            f.write(data)
            offset += len(data)
    least_ns(side, command["warm"])
    return {"outputs": found}


def least_ns(side, seconds):
    least, runs, end = float("inf"), 0, time.perf_counter() + seconds
    while runs < LEAST_RUNS or (runs < MOST_RUNS and time.perf_counter() < end):
        begin = time.perf_counter_ns()
        side.run()
        least = min(least, time.perf_counter_ns() - begin)
        runs += 1
    return least


def answer(side, command):
    if "load" in command:
        return load(side, command)
    if "run" in command:
        return {"ns": least_ns(side, command["run"])}
    said = side.who()
    side.close()
    return said


def main():
    name, threads, engines = sys.argv[1:4]
    side = {"ours": Ours, "ort": Ort}[name](int(threads), engines)
    for line in sys.stdin:
        if not line.strip():
            break
        try:
            said = answer(side, json.loads(line))
        except Exception as problem:  # whatever a runtime raises is this case's answer
            said = {"error": (str(problem).strip().splitlines() or ["no message"])[0][:300]}
        print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main()
