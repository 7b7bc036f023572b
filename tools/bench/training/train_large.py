#!/usr/bin/env python3
"""Training steps of nets of real size beside PyTorch eager: ResNet-50, batch 8, momentum; and BERT-base
(12 layers of 768, 12 heads, 128 tokens, batch 8, a word head over 30,522 on every token, AdamW). Inputs
are random and lie in memory. Sides are processes that take turns. Prints a JSON line a net: medians of
the rounds' least and median steps in ms, how many times as fast we are round by round, and the peak
memory of each side in MB.

  train_large.py resnet50 bert                      both sides, one thread
  train_large.py resnet50 --threads 2 --rounds 3
  train_large.py resnet50 --remat bytes:400M        less memory for more work, on our side
  train_large.py bert --layers 2                    a smaller one of the kind

Runs in a Python that has PyTorch and onnx: build/venv-torch (grad_nets.py --setup makes it)."""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools" / "bench"))
WORDS, TOKENS, WIDTH, HEADS = 30522, 128, 768, 12
OPTIMIZERS = {"resnet50": "sgd;lr=0.01;momentum=0.9", "bert": "adamw;lr=0.0001;weight-decay=0.01"}


def torch_net(name, layers):
    """Modules are defined here, since PyTorch is there on one side alone."""
    import torch
    from torch import nn

    class Bottleneck(nn.Module):
        def __init__(self, channels, inner, stride):
            super().__init__()
            out = 4 * inner
            self.body = nn.Sequential(
                nn.Conv2d(channels, inner, 1, bias=False), nn.BatchNorm2d(inner), nn.ReLU(),
                nn.Conv2d(inner, inner, 3, stride, 1, bias=False), nn.BatchNorm2d(inner), nn.ReLU(),
                nn.Conv2d(inner, out, 1, bias=False), nn.BatchNorm2d(out))
            self.down = nn.Sequential() if stride == 1 and channels == out else nn.Sequential(
                nn.Conv2d(channels, out, 1, stride, bias=False), nn.BatchNorm2d(out))

        def forward(self, x):
            return torch.relu(self.body(x) + self.down(x))

    def resnet50():
        net, channels = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(),
                         nn.MaxPool2d(3, 2, 1)], 64
        for inner, count, first in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
            for i in range(count):
                net.append(Bottleneck(channels, inner, first if i == 0 else 1))
                channels = 4 * inner
        return nn.Sequential(*net, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, 1000))

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.qkv, self.join = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
            self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
            self.first, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)

        def forward(self, x):
            q, k, v = (p.reshape(-1, TOKENS, HEADS, WIDTH // HEADS).transpose(1, 2)
                       for p in self.qkv(x).chunk(3, -1))
            if torch.onnx.is_in_onnx_export():
                y = ((q @ k.transpose(-1, -2)) / (WIDTH // HEADS) ** 0.5).softmax(-1) @ v
            else:
                y = nn.functional.scaled_dot_product_attention(q, k, v)
            x = self.first(x + self.join(y.transpose(1, 2).reshape(-1, TOKENS, WIDTH)))
            return self.second(x + self.down(nn.functional.gelu(self.up(x))))

    class Bert(nn.Module):
        def __init__(self):
            super().__init__()
            self.word, self.place = nn.Embedding(WORDS, WIDTH), nn.Embedding(TOKENS, WIDTH)
            self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WORDS)
            self.layers = nn.Sequential(*(Layer() for _ in range(layers)))

        def forward(self, ids):
            return self.head(self.layers(self.norm(self.word(ids) + self.place.weight)))

    torch.manual_seed(0)
    return resnet50() if name == "resnet50" else Bert()


def data(a):
    import numpy as np
    r = np.random.default_rng(0)
    if a.net == "resnet50":
        return (r.standard_normal((a.batch, 3, 224, 224)).astype(np.float32),
                r.integers(0, 1000, a.batch))
    return r.integers(0, WORDS, (a.batch, TOKENS)), r.integers(0, WORDS, (a.batch, TOKENS))


def export(a, path):
    import warnings
    import torch
    net = torch_net(a.net, a.layers).eval()
    with torch.no_grad():  # the exporter makes one of weights that are equal
        for value in [*net.parameters(), *net.buffers()]:
            if value.is_floating_point():
                value += 0.001 * torch.rand_like(value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(net, (torch.from_numpy(data(a)[0]),), str(path), input_names=["x"],
                          output_names=["z"], opset_version=17, dynamo=False,
                          do_constant_folding=False, training=torch.onnx.TrainingMode.PRESERVE)


def ours(a):
    from ge_session import GeSession
    session = GeSession(a.model, plugins="grad", entry="train_step", threads=a.threads,
                        engines=a.engines,
                        passes=f"train:loss=softmax-ce;optimizer={OPTIMIZERS[a.net]};remat={a.remat}")
    x, y = data(a)
    feed = session.feed({"x": x, "label": y})

    def step():
        session.run_feed(feed)
        return float(dict(zip(session.outputs, session.arrays()))["loss"])
    return step, lambda: {k: session.report()[k] for k in ("arena_bytes", "max_live_bytes")}


def theirs(a):
    import torch
    torch.set_num_threads(a.threads)
    net = torch_net(a.net, a.layers)
    opt = (torch.optim.SGD(net.parameters(), 0.01, momentum=0.9) if a.net == "resnet50" else
           torch.optim.AdamW(net.parameters(), 1e-4, weight_decay=0.01))
    x, y = (torch.from_numpy(v) for v in data(a))

    def step():
        loss = torch.nn.functional.cross_entropy(net(x).flatten(0, -2), y.flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
        return loss.item()
    return step, lambda: {}


def peak_mb():
    with open("/proc/self/status", encoding="utf-8") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmHWM")) / 1024


def one_side(a):
    step, more = (ours if a.side == "ge" else theirs)(a)
    losses, times = [step()], []
    for _ in range(a.steps):
        start = time.perf_counter()
        losses.append(step())
        times.append((time.perf_counter() - start) * 1e3)
    print(json.dumps({"min_ms": min(times), "median_ms": statistics.median(times),
                      "peak_mb": peak_mb(), "losses": losses, **more()}))


def side(a, name, net, model):
    env = {**os.environ, "OMP_NUM_THREADS": str(a.threads)}
    args = [sys.executable, __file__, net, "--side", name, "--model", str(model), "--threads",
            str(a.threads), "--batch", str(a.batch), "--steps", str(a.steps), "--layers",
            str(a.layers), "--remat", a.remat, "--engines", a.engines]
    done = subprocess.run(args, capture_output=True, text=True, env=env)
    if done.returncode != 0:
        raise SystemExit(f"{name} {net}: exit code {done.returncode}: {done.stderr[-1500:]}")
    return json.loads(done.stdout.splitlines()[-1])


def compare(a, net, scratch):
    model = pathlib.Path(scratch) / f"{net}.onnx"
    a.net = net
    if a.only != "torch":
        export(a, model)
    rounds = [{name: side(a, name, net, model) for name in ("ge", "torch")
               if a.only in ("both", name)} for _ in range(a.rounds)]
    row = {"net": net, "threads": a.threads, "batch": a.batch, "remat": a.remat}
    for name in rounds[0]:
        for key in ("min_ms", "median_ms", "peak_mb"):
            row[f"{name}_{key}"] = round(statistics.median(r[name][key] for r in rounds), 1)
    if a.only == "both":
        row["times_as_fast"] = [round(r["torch"]["median_ms"] / r["ge"]["median_ms"], 3)
                                for r in rounds]
        row["memory_ratio"] = round(row["ge_peak_mb"] / row["torch_peak_mb"], 3)
    if "ge" in rounds[0]:
        row.update({k: rounds[0]["ge"][k] for k in ("arena_bytes", "max_live_bytes")})
        row["ge_losses"] = rounds[0]["ge"]["losses"]
    print(json.dumps(row), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nets", nargs="*", default=["resnet50", "bert"])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--layers", type=int, default=12, help="of bert")
    parser.add_argument("--steps", type=int, default=4, help="that are timed, behind one that is not")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--remat", default="none", help="option of the pass train")
    parser.add_argument("--engines", default="", help="of ours, as of ge run")
    parser.add_argument("--only", choices=["both", "ge", "torch"], default="both")
    parser.add_argument("--side", choices=["ge", "torch"], help=argparse.SUPPRESS)
    parser.add_argument("--model", help=argparse.SUPPRESS)
    a = parser.parse_args()
    if a.side:
        a.net = a.nets[0]
        return one_side(a)
    with tempfile.TemporaryDirectory() as scratch:
        for net in a.nets:
            compare(a, net, scratch)
    return 0


if __name__ == "__main__":
    sys.exit(main())
