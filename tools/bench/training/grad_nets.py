#!/usr/bin/env python3
"""Losses and gradients of 30 nets against PyTorch's, on the same weights and inputs.

  grad_nets.py --setup             makes the environment build/venv-torch (PyPI)
  grad_nets.py [NET...] [--json]   compares; all of them without names

Each net is exported with its loss in it. In float64 the loss and every gradient have to equal
PyTorch's within 1e-9 of the largest magnitude; in float32 the distance to PyTorch's float64 may be
twice that of PyTorch's own float32. Of `lenet` and `gpt` also the Hessian times a vector.
Exit code 1: something differs.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import project_venv  # noqa: E402

ROOT = project_venv.ROOT
VENV = ROOT / "build" / "venv-torch"
BOUND = 1e-9
# What two orders of the same sums may differ by, whoever adds: of the largest magnitude.
FLOAT = 1e-6
HESSIAN = ("lenet", "gpt")


def setup():
    subprocess.run([sys.executable, "-m", "venv", str(VENV)], check=True)
    subprocess.run([str(VENV / "bin" / "pip"), "install", "-q", "-r",
                    str(ROOT / "tools" / "setup" / "requirements-torch.txt")], check=True)


def export(net, inputs, path):
    import torch
    warnings.simplefilter("ignore")
    torch.onnx.export(net, inputs, str(path), input_names=[f"in{i}" for i in range(len(inputs))],
                      output_names=["loss"], do_constant_folding=False, dynamo=False,
                      opset_version=18)


def torch_gradients(net, inputs):
    loss = net(*inputs)
    loss.backward()
    made = {n: p.grad.detach().numpy() for n, p in net.named_parameters() if p.grad is not None}
    return loss.item(), made


def engine(path, kind, engines):
    from ge_session import GeSession
    return GeSession(path, engines=engines, plugins="grad", entry="g",
                     passes=f"grad:wrt=*weights;of=loss;name=g;kind={kind}")


def distance(got, wanted):
    """The greatest difference of any tensor, by the largest magnitude of that tensor; of one whose
    gradient is zero but for rounding (a bias ahead of a normalization), by that of all."""
    import numpy as np
    worst = 0.0
    most = max(np.abs(w).max(initial=0) for w in wanted.values())
    for name, w in wanted.items():
        scale = np.abs(w).max(initial=0)
        scale = most if scale < most * 1e-7 else scale
        worst = max(worst, float(np.abs(got[name] - w).max(initial=0) / scale))
    return worst


def compare(name, make, dtype_name, scratch):
    import torch
    dtype = getattr(torch, dtype_name)
    net, inputs = make()
    net = net.to(dtype)
    inputs = tuple(i.to(dtype) if i.is_floating_point() else i for i in inputs)
    path = scratch / f"{name}_{dtype_name}.onnx"
    export(net, inputs, path)
    loss, wanted = torch_gradients(net, inputs)
    session = engine(path, "grad", "ref" if dtype_name == "float64" else "")
    feeds = {f"in{i}": x.numpy() for i, x in enumerate(inputs) if f"in{i}" in session.inputs}
    outputs = dict(zip(session.outputs, session.run(feeds)))
    got = {n[len("grad."):]: v for n, v in outputs.items() if n.startswith("grad.")}
    missing = sorted(set(wanted) - set(got))
    return {"loss": loss, "wanted": wanted, "got_loss": float(outputs["loss"]), "got": got,
            "missing": missing, "path": path, "feeds": feeds, "net": net, "inputs": inputs}


def hessian(r):
    """Of the weights, times a vector: engine against double backward; the distance."""
    import numpy as np
    import torch
    rng = np.random.default_rng(11)
    params = dict(r["net"].named_parameters())
    vectors = {n: rng.standard_normal(p.shape) for n, p in params.items()}
    loss = r["net"](*r["inputs"])
    grads = torch.autograd.grad(loss, list(params.values()), create_graph=True)
    along = sum((g * torch.from_numpy(vectors[n])).sum() for n, g in zip(params, grads))
    twice = torch.autograd.grad(along, list(params.values()), allow_unused=True)
    wanted = {n: np.zeros(p.shape) if h is None else h.numpy()
              for (n, p), h in zip(params.items(), twice)}
    session = engine(r["path"], "hvp", "ref")
    feeds = {**r["feeds"], **{f"v.{n}": v for n, v in vectors.items()}}
    for n in session.inputs:  # weights that are no parameters: nothing along them
        if n not in feeds:
            feeds[n] = np.zeros_like(r["got"][n[2:]])
    outputs = dict(zip(session.outputs, session.run(feeds)))
    return distance({n: outputs[f"hvp.{n}"] for n in wanted}, wanted)


def one(name, make, scratch):
    wide = compare(name, make, "float64", scratch)
    narrow = compare(name, make, "float32", scratch)
    row = {"net": name, "weights": len(wide["wanted"]), "missing": wide["missing"]}
    if row["missing"]:
        return {**row, "ok": False}
    row["loss_f64"] = abs(wide["got_loss"] - wide["loss"]) / max(abs(wide["loss"]), 1e-12)
    row["grad_f64"] = distance(wide["got"], wide["wanted"])
    row["ours_f32"] = distance(narrow["got"], wide["wanted"])
    row["torch_f32"] = distance(narrow["wanted"], wide["wanted"])
    row["ok"] = (row["loss_f64"] <= BOUND and row["grad_f64"] <= BOUND and
                 row["ours_f32"] <= max(2 * row["torch_f32"], FLOAT))
    if name in HESSIAN:
        row["hvp_f64"] = hessian(wide)
        row["ok"] = row["ok"] and row["hvp_f64"] <= BOUND
    return row


def work(args):
    from grad_nets_list import NETS
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, make in NETS.items():
            if args.net and name not in args.net:
                continue
            try:
                row = one(name, make, pathlib.Path(folder))
            except Exception as error:  # one net's failure is its row
                row = {"net": name, "ok": False, "error": str(error)[:600]}
            rows.append(row)
            if not args.json:
                show(row)
    if args.json:
        print(json.dumps(rows))
    good = sum(r["ok"] for r in rows)
    print(f"{good} passed, {len(rows) - good} failed, 0 skipped",
          file=sys.stderr if args.json else sys.stdout)
    return good != len(rows)


def show(row):
    if "error" in row or row.get("missing"):
        print(f"{row['net']:18} FAILED  {row.get('error') or 'no gradient of ' + str(row['missing'])}",
              flush=True)
        return
    more = f"  hvp {row['hvp_f64']:.1e}" if "hvp_f64" in row else ""
    print(f"{row['net']:18} {'ok' if row['ok'] else 'DIFFERS':8} {row['weights']:4} weights  "
          f"f64 loss {row['loss_f64']:.1e} grad {row['grad_f64']:.1e}  "
          f"f32 ours {row['ours_f32']:.1e} PyTorch {row['torch_f32']:.1e}{more}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("net", nargs="*")
    parser.add_argument("--setup", action="store_true", help="make the environment")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    if args.setup:
        return setup()
    if not (VENV / "bin" / "python").exists():
        parser.error(f"{VENV.relative_to(ROOT)} is not there; run grad_nets.py --setup")
    if pathlib.Path(sys.prefix) != VENV.absolute():
        return subprocess.run([str(VENV / "bin" / "python"), *sys.argv], check=False).returncode
    return work(args)


if __name__ == "__main__":
    sys.exit(main())
