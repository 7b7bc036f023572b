#!/usr/bin/env python3
"""ONNX -> ours -> ONNX: `ge dump --format onnx` of ONNX's node tests and of the real models; the ONNX
checker accepts what comes out, and ONNX Runtime computes the same from it as from the original.

A test whose original ONNX Runtime cannot run, or that draws random numbers, is checked only. Values
are compared as in node_tests.py. Prints each fault and, last, the counts.

Examples:
  tests/e2e/all/models/round_trip.py
  tests/e2e/all/models/round_trip.py --to rewrite --only test_loop
  tests/e2e/all/models/round_trip.py --no-nodes vad ddddocr
"""
import argparse
import collections
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.path.insert(0, str(ROOT / "tools" / "bench"))

import project_venv  # noqa: E402

project_venv.enter("pip", "numpy", "onnx", "onnxruntime")

import onnx  # noqa: E402
import onnxruntime  # noqa: E402

import feeds  # noqa: E402
import models  # noqa: E402
import node_tests  # noqa: E402

RANDOM = {"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Bernoulli",
          "Multinomial", "Dropout"}
# The message of `ge dump` for what is not loaded at all: those are counted, not failed.
NOT_LOADED = ("is not known", "uses opset", "export the model for opset")


class Trip:
    def __init__(self, ge, stage):
        self.ge, self.stage = ge, stage
        self.passed = self.failed = self.checked = 0
        self.skipped = collections.Counter()

    def fail(self, name, why):
        self.failed += 1
        print(f"FAILED  {name}: {why}", flush=True)

    def export(self, model, to):
        """"" or the first line of the refusal."""
        done = subprocess.run([self.ge, "dump", model, "--format", "onnx", "--to", self.stage,
                               "-o", to], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, errors="replace")
        lines = done.stdout.strip().splitlines() or ["no message"]
        return "" if done.returncode == 0 else f"exit {done.returncode}: {lines[0]}"

    def one(self, name, model, runs, exact):
        """`runs`: what to feed, each a dict."""
        with tempfile.TemporaryDirectory(prefix="ge-round-trip.") as folder:
            to = pathlib.Path(folder) / "again.onnx"
            why = self.export(model, to)
            if why:
                known = next((k for k in NOT_LOADED if k in why), None)
                return self.skipped.update([known]) if known else self.fail(name, why)
            try:
                onnx.checker.check_model(str(to))
            except Exception as error:
                return self.fail(name, f"the checker: {str(error).strip().splitlines()[0]}")
            try:
                wanted = [self.run(model, feed) for feed in runs()]
            except Exception:  # the peer's own limits
                self.checked += 1
                return None
            try:
                found = [self.run(to, feed) for feed in runs()]
            except Exception as error:
                return self.fail(name, f"ONNX Runtime: {str(error).strip().splitlines()[0]}")
        if exact and not all(len(f) == len(w) and all(map(node_tests.same, f, w))
                             for f, w in zip(found, wanted)):
            return self.fail(name, "other outputs")
        self.passed += 1
        return None

    @staticmethod
    def run(model, feed):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 4
        session = onnxruntime.InferenceSession(str(model), options,
                                               providers=["CPUExecutionProvider"])
        # Inputs keep their order; a name that was used twice has changed.
        names = [i.name for i in session.get_inputs()]
        return session.run(None, dict(zip(names, feed.values())))


def node_test(trip, folder):
    model = onnx.load(folder / "model.onnx")

    def runs():
        for data in sorted(folder.glob("test_data_set_*")):
            files = [(v, data / f"input_{i}.pb") for i, v in enumerate(model.graph.input)]
            yield {v.name: node_tests.read(f, v.type) for v, f in files if f.exists()}
    exact = not RANDOM & {n.op_type for n in model.graph.node}
    trip.one(folder.name, folder / "model.onnx", runs, exact)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="*", help="real models (default: all twenty-four)")
    parser.add_argument("--no-nodes", action="store_true", help="real models only")
    parser.add_argument("--no-models", action="store_true", help="node tests only")
    parser.add_argument("--only", default="", metavar="WORD", help="node tests with it in the name")
    parser.add_argument("--to", default="infer", choices=["load", "infer", "rewrite"],
                        help="the stage whose graph is written (default infer)")
    parser.add_argument("--node-tests", type=pathlib.Path, default=node_tests.DEFAULT_DIR)
    parser.add_argument("--ge", default=ROOT / "build" / "release" / "bin" / "ge")
    return parser.parse_args()


def main():
    args = parse_arguments()
    onnxruntime.set_default_logger_severity(4)
    trip = Trip(args.ge, args.to)
    folders = sorted(p.parent for p in args.node_tests.glob("*/model.onnx"))
    for folder in [] if args.no_nodes else folders:
        if args.only in folder.name:
            node_test(trip, folder)
    names = args.model or list(models.table())
    for name in [] if args.no_models else names:
        path = models.ensure([name], say=lambda s: print(s, file=sys.stderr))[name]
        trip.one(name, path, lambda: [feeds.make(name)], True)
    for why, count in sorted(trip.skipped.items()):
        print(f"skipped {count:4}: not loaded, '{why}'")
    print(f"{trip.checked} of the passed only by the checker: ONNX Runtime cannot run the original")
    print(f"{trip.passed + trip.checked} passed, {trip.failed} failed, "
          f"{sum(trip.skipped.values())} skipped")
    sys.exit(1 if trip.failed else 0)


if __name__ == "__main__":
    main()
