#!/usr/bin/env python3
"""A decoder that writes text, one token after another, against ONNX Runtime.

The model has GPT-2's shape (--layers 12 --width 768 --heads 12, vocabulary 50257) and seeded random
weights; decoder_model.py makes it as exporters do, with past keys and values as inputs and present
ones as outputs. A prompt of 128 ids, then 256 ids one by one. Ours keeps the past in caches (kv_cache
of ge_session_options); ONNX Runtime gets its own outputs bound as inputs again (IoBinding, OrtValues),
so that it copies none. Each side runs in its own process, in turn, --rounds of them; default options
and threads, our cache of prices empty. Logits of both are compared. --bits 4: what it multiplies by is
of 4 bits in blocks of 32 (MatMulNBits), --level 4 says that activations may be taken in 8.

token: the median time of a single id, ours / ONNX Runtime's, the median over rounds and its 95 %
bootstrap interval. all: the same of the sum of all single ids, with the plan that is made when the
caches have grown. prompt: of the first run, planning included, where ONNX Runtime has copied its weights
at load; start: of both, from the file to the prompt's answer. read: what reading the weights that a
token needs takes at the speed at which this machine reads memory (read_speed.c, in the same rounds),
of our time per token.

Examples:
  tools/bench/sequences/decoder.py
  tools/bench/sequences/decoder.py --layers 4 --tokens 64 --rounds 3
  tools/bench/sequences/decoder.py --kv-cache 512 --json decoder.json
  tools/bench/sequences/decoder.py --bits 4
"""
import argparse
import importlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import project_venv  # noqa: E402

project_venv.enter("numpy", "onnx", "onnxruntime")

import numpy as np  # noqa: E402

import decoder_model  # noqa: E402
import peer_bench  # noqa: E402
import speed  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
VOCABULARY, POSITIONS = 50257, 1024


def ids_of(args):
    random = np.random.default_rng(11)
    counts = [args.prompt] + [1] * args.tokens
    return [random.integers(0, VOCABULARY, (args.batch, n), dtype=np.int64) for n in counts]


def pasts(args):
    return [f"past_key_values.{i}.{kind}" for i in range(args.layers) for kind in ("key", "value")]


def ours(args):
    import ge_session
    session = ge_session.GeSession(args.model, kv_cache=args.kv_cache)
    made = []

    def run(ids):
        feed = session.feed({"input_ids": ids})
        ms = peer_bench.milliseconds(lambda: session.run_feed(feed))[1]
        made.append(session.report())
        return ms, session.arrays()[0]
    return run, lambda: made


def onnx_runtime(args):
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.log_severity_level = 3
    session = ort.InferenceSession(args.model, options, providers=["CPUExecutionProvider"])
    names = [o.name for o in session.get_outputs()]
    empty = np.zeros((args.batch, args.heads, 0, args.width // args.heads), np.float32)
    past = {name: ort.OrtValue.ortvalue_from_numpy(empty) for name in pasts(args)}

    def step(ids):
        binding = session.io_binding()
        binding.bind_cpu_input("input_ids", ids)
        for name, value in past.items():
            binding.bind_ortvalue_input(name, value)
        for name in names:
            binding.bind_output(name)
        session.run_with_iobinding(binding)
        found = dict(zip(names, binding.get_outputs()))
        for name in past:
            past[name] = found[name.replace("past_key_values", "present")]
        return found["logits"]

    def run(ids):
        logits, ms = peer_bench.milliseconds(lambda: step(ids))
        return ms, logits.numpy()
    return run, lambda: []


def side(args):
    """One process's figures, as JSON on stdout; logits of each step's last id into --save."""
    importlib.import_module({"ours": "ge_session", "ort": "onnxruntime"}[args.side])  # not timed
    opened, load_ms = peer_bench.milliseconds(
        lambda: {"ours": ours, "ort": onnx_runtime}[args.side](args))
    run, reports = opened
    times, logits = [], []
    for ids in ids_of(args):
        ms, found = run(ids)
        times.append(ms)
        logits.append(np.asarray(found[:, -1]))
    if args.save:
        np.save(args.save, np.stack(logits))
    keys = ("compiles", "state_bytes_written", "weight_bytes", "threads", "segments")
    told = [{k: r[k] for k in keys} for r in reports()]
    print(json.dumps({"load_ms": load_ms, "ms": times, "reports": told}))


def start_side(which, args, save):
    with tempfile.TemporaryDirectory() as cache:
        env = dict(os.environ, GE_CACHE_DIR=cache)
        env.pop("OPENBLAS_CORETYPE", None)
        command = [sys.executable, __file__, "--side", which, "--model", args.model, "--save", save]
        for name in ("layers", "width", "heads", "batch", "prompt", "tokens", "kv_cache"):
            command += [f"--{name.replace('_', '-')}", str(getattr(args, name))]
        done = subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"decoder.py: {which} failed")
    return json.loads(done.stdout.splitlines()[-1])


def read_speed(folder, threads):
    """Gigabytes a second that this machine reads, the median of some rounds."""
    program = folder / "read_speed"
    if not program.exists():
        subprocess.run(["cc", "-O3", "-march=native", str(HERE / "read_speed.c"), "-o", str(program),
                        "-lpthread"], check=True)
    told = subprocess.run([str(program), str(threads), "1024", "9"], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    return float(np.median([float(line) for line in told.split()]))


def measure(args, folder):
    rounds, threads = [], os.cpu_count()
    for i in range(args.rounds):
        speed.progress(f"round {i + 1} of {args.rounds}")
        both = {"read": read_speed(folder, threads)}
        for which in (["ours", "ort"] if i % 2 == 0 else ["ort", "ours"]):
            both[which] = start_side(which, args, str(folder / f"{which}.npy") if i == 0 else "")
        rounds.append(both)
    speed.progress("")
    a, b = np.load(folder / "ours.npy"), np.load(folder / "ort.npy")
    apart = float(np.abs(a.astype("f8") - b).max() / np.abs(b).max())
    return rounds, apart, bool((a.argmax(-1) == b.argmax(-1)).all())


def ratio(rounds, what):
    """Of what is read off a side's record."""
    values = [what(r["ours"]) / what(r["ort"]) for r in rounds]
    low, high = speed.interval(values)
    ours_ms = float(np.median([what(r["ours"]) for r in rounds]))
    ort_ms = float(np.median([what(r["ort"]) for r in rounds]))
    return {"ratio": float(np.median(values)), "low": low, "high": high, "ours_ms": ours_ms,
            "ort_ms": ort_ms}


def summary(rounds, apart, same, args):
    rows = {"token": ratio(rounds, lambda side: float(np.median(side["ms"][1:]))),
            "all": ratio(rounds, lambda side: sum(side["ms"][1:])),
            "prompt": ratio(rounds, lambda side: side["ms"][0]),
            "start": ratio(rounds, lambda side: side["load_ms"] + side["ms"][0])}
    reports = rounds[-1]["ours"]["reports"]
    tables = 4 * args.width * (VOCABULARY + POSITIONS)  # of which a token reads a row each
    weights = reports[-1]["weight_bytes"] - tables - POSITIONS**2  # and the mask's corner
    read_ms = [weights / r["read"] / 1e6 / float(np.median(r["ours"]["ms"][1:])) for r in rounds]
    rows.update(weights=weights, read=float(np.median(read_ms)),
                read_gb_s=float(np.median([r["read"] for r in rounds])),
                compiles=[reports[0]["compiles"], reports[-1]["compiles"]],
                state_bytes=reports[-1]["state_bytes_written"],
                appended=args.layers * 2 * args.batch * args.width * 4, apart=apart, same=same)
    return rows


def show(rows, args):
    for name in ("token", "all", "prompt", "start"):
        r = rows[name]
        print(f"{name:<7} {r['ratio']:.3f} [{r['low']:.3f}, {r['high']:.3f}]  ours {r['ours_ms']:.2f} ms,"
              f" ONNX Runtime {r['ort_ms']:.2f} ms")
    print(f"read    {rows['read']:.2f}: {rows['weights'] / 1e6:.1f} MB of weights a token, and this "
          f"machine reads {rows['read_gb_s']:.1f} GB/s")
    print(f"plans   {rows['compiles'][0]} for the prompt, {rows['compiles'][1]} in all, with caches of "
          f"{args.kv_cache} rows at first and {args.prompt + args.tokens} in use at last")
    print(f"states  {rows['state_bytes']} bytes written a token; new rows are {rows['appended']}, the "
          f"length 8")
    print(f"logits  {rows['apart']:.1e} of the greatest apart; the most likely ids are "
          f"{'the same' if rows['same'] else 'NOT the same'}")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value, text in (("layers", 12, "of the model"), ("width", 768, "of the model"),
                              ("heads", 12, "of the model"), ("batch", 1, "sequences at once"),
                              ("prompt", 128, "ids of the first run"),
                              ("tokens", 256, "ids one by one"),
                              ("bits", 32, "of the weights, 32 or 4"),
                              ("level", 0, "accuracy_level of these 4 bits"), ("rounds", 7, "processes a side"),
                              ("kv-cache", 256, "rows of our caches at first")):
        parser.add_argument(f"--{name}", type=int, default=value, help=f"{text} (default {value})")
    parser.add_argument("--json", metavar="FILE", help="all that was measured")
    parser.add_argument("--side", choices=["ours", "ort"], help=argparse.SUPPRESS)
    parser.add_argument("--model", help=argparse.SUPPRESS)
    parser.add_argument("--save", help=argparse.SUPPRESS)
    return parser.parse_args()


def main():
    args = parse_arguments()
    if args.side:
        side(args)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        args.model = str(folder / "decoder.onnx")
        import onnx
        onnx.save(decoder_model.build(args.layers, args.width, args.heads, VOCABULARY, POSITIONS,
                                      last_only=True, bits=args.bits, level=args.level), args.model)
        rounds, apart, same = measure(args, folder)
    rows = summary(rounds, apart, same, args)
    show(rows, args)
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps({"summary": rows, "rounds": rounds}, indent=1)
                                           + "\n")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
