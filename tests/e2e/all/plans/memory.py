#!/usr/bin/env python3
"""Memory of real networks: arena, max-live and its bound on six; peak of two with mapped weights.

  tests/e2e/all/plans/memory.py

Arena <= 1.10 x max-live and max-live <= 1.10 x the bound that tools/bench/plans/max_live.py computes from
the printed plan, under ref and under onednn,ref. For resnet50 and bert_base under onednn,ref:
copied_constant_bytes <= 5 % of weight_bytes, peak above base <= 1.25 x (weights + max-live).
Last line: N passed, N failed, N skipped.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[4]
GE = ROOT / "build/release/bin/ge"
FEEDS = {
    "lenet": "x=64x1x28x28", "squeezenet": "x=1x3x224x224", "resnet50": "x=1x3x224x224", "minilm": "ids=1x128",
    "ppocr_det": "x=1x3x640x640", "ppocr_rec": "x=1x3x48x320", "bert_base": "ids=1x128",
}


def flags(model, engines):
    # Analytic prices: what the run learns must not give the dump another plan.
    return [str(ROOT / "build/models" / f"{model}.onnx"), "--input", FEEDS[model] + ":rand", "--engines", engines, "--threads", "1",
            "--prices", "analytic"]


def report(model, engines):
    done = subprocess.run([GE, "run", *flags(model, engines), "--repeat", "3", "--json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def bound_holds(model, engines, r, folder):
    plan = pathlib.Path(folder) / "plan.txt"
    with plan.open("w") as out:
        subprocess.run([GE, "dump", *flags(model, engines), "--to", "memory"], stdout=out, check=True)
    done = subprocess.run([sys.executable, ROOT / "tools/bench/plans/max_live.py", plan, "--max-live", str(r["max_live_bytes"]), "--arena", str(r["arena_bytes"])], capture_output=True, text=True)
    return done.returncode == 0, " ".join(done.stdout.split("\n")[-2:]).strip()


def main():
    subprocess.run([sys.executable, ROOT / "tools/bench/models.py", *FEEDS], check=True)
    passed = failed = 0

    def count(good, text):
        nonlocal passed, failed
        passed, failed = passed + good, failed + (not good)
        print(f"{'ok    ' if good else 'FAILED'} {text}")

    with tempfile.TemporaryDirectory() as folder:
        for engines in ("ref", "onednn,ref"):
            for model in [m for m in FEEDS if m != "bert_base"]:
                r = report(model, engines)
                good, text = bound_holds(model, engines, r, folder)
                count(good, f"{model:<11} {engines:<11} arena {r['arena_bytes']} max live {r['max_live_bytes']}: {text}")
    for model in ("resnet50", "bert_base"):
        r = report(model, "onednn,ref")
        peak = (r["peak_rss_mb"] - r["base_rss_mb"]) * 2**20
        need = r["weight_bytes"] + r["max_live_bytes"]
        count(peak <= 1.25 * need, f"{model}: peak above base {peak / 1e6:.1f} MB, {peak / need:.3f} x (weights + max-live); packed {r['packed_bytes'] / 1e6:.1f} MB")
        count(r["copied_constant_bytes"] <= 0.05 * r["weight_bytes"], f"{model}: copied {r['copied_constant_bytes']} of {r['weight_bytes']} bytes")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
