#!/usr/bin/env python3
"""Networks: layers against formulas in numpy, optimizers' steps, state dicts, random numbers, and a Model
that trains, is killed and goes on to the same bits.

It needs safetensors. Example: python tests/e2e/python/python_networks.py --build build/release --scratch FOLDER
"""
import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
from python_checks import check, run_all

import graphengine as ge
from graphengine import nn

RNG = np.random.default_rng(20261129)


def draw(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def near(got, wanted, tolerance=1e-5):
    got = np.asarray(got.numpy() if hasattr(got, "numpy") else got)
    return got.shape == np.shape(wanted) and np.allclose(got, wanted, rtol=tolerance, atol=tolerance)


def both(net, *args):
    """What the net answers at once, and as a graph."""
    return net(*[ge.asarray(a) for a in args]), ge.jit(net)(*[ge.asarray(a) for a in args])


def weights(net):
    return {k: v.numpy() for k, v in net.variables().items()}


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def layers(_):
    x = draw(4, 5)
    net = nn.Linear(5, 3)
    w = weights(net)
    for how, got in zip(("at once", "as a graph"), both(net, x)):
        check(f"Linear {how}", near(got, x @ w["weight"].T + w["bias"]))
    image = draw(2, 3, 6, 6)
    net = nn.Conv2d(3, 4, 3, stride=2, padding=1)
    w = weights(net)
    padded = np.pad(image, ((0, 0), (0, 0), (1, 1), (1, 1)))
    wanted = np.zeros((2, 4, 3, 3), np.float32)
    for i in range(3):
        for j in range(3):
            window = padded[:, :, 2 * i:2 * i + 3, 2 * j:2 * j + 3]
            wanted[:, :, i, j] = np.einsum("bchw,ochw->bo", window, w["weight"]) + w["bias"]
    for got in both(net, image):
        check("Conv2d", near(got, wanted, 1e-4))
    net = nn.LayerNorm(5)
    mean, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    for got in both(net, x):
        check("LayerNorm", near(got, (x - mean) / np.sqrt(var + 1e-5)))
    table = nn.Embedding(7, 4)
    rows = np.array([[1, 6], [0, 1]], np.int64)
    for got in both(table, rows):
        check("Embedding", near(got, weights(table)["weight"][rows]))
    pooled = image.reshape(2, 3, 3, 2, 3, 2)
    check("MaxPool2d", near(nn.MaxPool2d(2)(ge.asarray(image)), pooled.max((3, 5))))
    check("AvgPool2d", near(nn.AvgPool2d(2)(ge.asarray(image)), pooled.mean((3, 5))))
    check("Flatten", nn.Flatten()(ge.asarray(image)).shape == (2, 108))
    net = nn.Sequential(nn.Linear(5, 4), nn.ReLU(), nn.Linear(4, 2))
    w = weights(net)
    for got in both(net, x):
        hidden = np.maximum(x @ w["0.weight"].T + w["0.bias"], 0)
        check("Sequential", near(got, hidden @ w["2.weight"].T + w["2.bias"]))


def batch_norm(_):
    x = draw(8, 3, 4, 4) * 2 + 1
    net = nn.BatchNorm2d(3)
    run = ge.jit(net)
    mean, var = x.mean((0, 2, 3)), x.var((0, 2, 3))
    spread = (x - mean[:, None, None]) / np.sqrt(var[:, None, None] + 1e-5)
    check("BatchNorm2d in training", near(run(ge.asarray(x)), spread, 1e-4))
    count = x.size // 3
    check("its mean", near(net.running_mean, 0.1 * mean))
    check("its variance", near(net.running_var, 0.9 + 0.1 * var * count / (count - 1)))
    net.eval()
    m, v = net.running_mean.numpy()[:, None, None], net.running_var.numpy()[:, None, None]
    check("BatchNorm2d in evaluation", near(run(ge.asarray(x)), (x - m) / np.sqrt(v + 1e-5), 1e-4))
    net.train()
    run(ge.asarray(x))
    check("programs of two modes", run.traces() == 2)


def recurrent(_):
    x = draw(5, 2, 3)
    net = nn.LSTM(3, 4)
    w = weights(net)
    h = c = np.zeros((2, 4), np.float32)
    outputs = []
    for t in x:
        gates = t @ w["weight_ih_l0"].T + w["bias_ih_l0"] + h @ w["weight_hh_l0"].T + w["bias_hh_l0"]
        i, f, g, o = np.split(gates, 4, axis=1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        outputs.append(h)
    for out, (last, cell) in both(net, x):
        check("LSTM", near(out, np.stack(outputs)) and near(last[0], h) and near(cell[0], c))
    net = nn.GRU(3, 4)
    w = weights(net)
    h, outputs = np.zeros((2, 4), np.float32), []
    for t in x:
        a = np.split(t @ w["weight_ih_l0"].T + w["bias_ih_l0"], 3, axis=1)
        b = np.split(h @ w["weight_hh_l0"].T + w["bias_hh_l0"], 3, axis=1)
        r, z = sigmoid(a[0] + b[0]), sigmoid(a[1] + b[1])
        h = (1 - z) * np.tanh(a[2] + r * b[2]) + z * h
        outputs.append(h)
    for out, last in both(net, x):
        check("GRU", near(out, np.stack(outputs)) and near(last[0], h))


def attention(_):
    x = draw(2, 5, 8)
    net = nn.MultiheadAttention(8, 2, batch_first=True)
    w = weights(net)
    q, k, v = np.split(x @ w["in_proj_weight"].T + w["in_proj_bias"], 3, axis=-1)
    q, k, v = (t.reshape(2, 5, 2, 4).transpose(0, 2, 1, 3) for t in (q, k, v))
    scores = q @ k.transpose(0, 1, 3, 2) / 2
    p = np.exp(scores - scores.max(-1, keepdims=True))
    out = (p / p.sum(-1, keepdims=True) @ v).transpose(0, 2, 1, 3).reshape(2, 5, 8)
    for got in both(net, x, x, x):
        check("MultiheadAttention", near(got, out @ w["out_proj.weight"].T + w["out_proj.bias"]))


def losses(_):
    x, t = draw(6, 4), np.array([0, 3, 1, 2, 2, 0], np.int64)
    logs = x - np.log(np.exp(x).sum(1, keepdims=True))
    given = ge.asarray(x), ge.asarray(t)
    check("CrossEntropyLoss", near(nn.CrossEntropyLoss()(*given), -logs[np.arange(6), t].mean()))
    y = draw(6, 4)
    check("MSELoss", near(nn.MSELoss()(ge.asarray(x), ge.asarray(y)), ((x - y) ** 2).mean()))
    check("L1Loss", near(nn.L1Loss("sum")(ge.asarray(x), ge.asarray(y)), np.abs(x - y).sum(), 1e-4))
    bits = (y > 0).astype(np.float32)
    wanted = -(bits * np.log(sigmoid(x)) + (1 - bits) * np.log(1 - sigmoid(x))).mean()
    check("BCEWithLogitsLoss", near(nn.BCEWithLogitsLoss()(ge.asarray(x), ge.asarray(bits)), wanted))


def optimizers(_):
    first = draw(3, 4)
    gradients = [draw(3, 4) for _ in range(3)]

    def ours(make):
        v = ge.Variable(first, "w")
        step = ge.jit(make({"w": v}))
        for g in gradients:
            step({"w": ge.asarray(g)})
        return v.numpy()
    w, m, s = first.astype(np.float64), 0.0, 0.0
    for t, g in enumerate(gradients, 1):
        m, s = 0.9 * m + 0.1 * g, 0.999 * s + 0.001 * g * g
        w = w - 0.1 * (m / (1 - 0.9 ** t)) / (np.sqrt(s / (1 - 0.999 ** t)) + 1e-8)
    check("Adam", near(ours(lambda p: ge.optim.Adam(p, 0.1)), w))
    w, v = first.astype(np.float64), 0.0
    for g in gradients:
        v = 0.9 * v + g
        w = w - 0.1 * v
    check("SGD", near(ours(lambda p: ge.optim.SGD(p, 0.1, momentum=0.9)), w))
    w = first.astype(np.float64)
    for t, g in enumerate(gradients):
        w = w - 0.1 / (1 + t) * g
    check("SGD by a rate of the step", near(ours(lambda p: ge.optim.SGD(p, lambda t: 0.1 / (1.0 + t))), w))
    w = first.astype(np.float64)
    for g in gradients:
        w = w - 0.1 * g * min(1, 0.5 / (np.sqrt((g * g).sum()) + 1e-6))
    check("SGD, clipped", near(ours(lambda p: ge.optim.SGD(p, 0.1, clip_norm=0.5)), w))
    w, decay = first.astype(np.float64), {"weight_decay": 0.5, "lr": 0.2}
    for g in gradients:
        w = w - 0.2 * (g + 0.5 * w)
    check("SGD by groups", near(ours(lambda p: ge.optim.SGD(p, 0.1, groups={"*": {"lr": 9.0}, "w": decay})), w))
    for kind in ("AdamW", "RMSprop", "Adagrad", "Lamb", "Lars", "Lion"):
        check(f"{kind} moves", not near(ours(lambda p, k=kind: getattr(ge.optim, k)(p, 0.1)), first))
    for name, call, words in (
            ("option", lambda: ge.optim.Adam({"w": ge.Variable(first)}, 0.1, momentum=1), "no option 'momentum'"),
            ("group", lambda: ge.optim.Adam({"w": ge.Variable(first)}, 0.1, groups={"w": {"rate": 1}}), "wanted lr, beta1"),
            ("none", lambda: ge.optim.Adam({}, 0.1), "of dict without parameters")):
        try:
            call()
            check(f"{name} was not refused", False)
        except (TypeError, ValueError) as error:
            check(f"{name}: {error}", words in str(error))


def of_doubles(_):
    """Module.to: Variables of another type, programs traced anew, and an optimizer's states of it."""
    net = nn.Sequential(nn.Linear(5, 4), nn.Tanh(), nn.Linear(4, 3))
    run, x = ge.jit(net), draw(6, 5).astype(np.float64)
    before = run(ge.asarray(x.astype(np.float32)))
    net.to(ge.float64)
    got = run(ge.asarray(x))
    check(f"to float64: {got.dtype}", got.dtype == ge.float64 and near(got, before.numpy()))
    w = weights(net)
    check("its numbers", near(got, np.tanh(x @ w["0.weight"].T + w["0.bias"]) @ w["2.weight"].T + w["2.bias"], 1e-14))
    step, target = ge.optim.Adam(net, 0.1, weight_decay=0.1), ge.asarray(x[:, :3])
    check("its states", {v.dtype.name for v in step.variables().values()} == {"float64", "int64"})

    @ge.jit
    def train(x):
        loss, gradients = ge.value_and_grad(lambda: nn.functional.mse_loss(net(x), target), wrt=net)()
        step(gradients)
        return loss, gradients
    m = s = 0.0
    for t in range(1, 4):
        before = net[2].bias.numpy()
        g = train(x)[1]["2.bias"].numpy() + 0.1 * before
        m, s = 0.9 * m + 0.1 * g, 0.999 * s + 0.001 * g * g
        wanted = before - 0.1 * (m / (1 - 0.9 ** t)) / (np.sqrt(s / (1 - 0.999 ** t)) + 1e-8)
        check(f"Adam in float64, step {t}", near(net[2].bias, wanted, 1e-14))
    net.to(ge.float32)
    net.load_state_dict({k: v * 0 + 1 for k, v in net.state_dict().items()})
    wanted = np.tanh(x.sum(1) + 1)[:, None] * 4 + 1
    check("back to float32", near(run(ge.asarray(x.astype(np.float32))), np.repeat(wanted, 3, 1)))
    check(f"traces: {run.traces()}", run.traces() == 3)
    try:
        ge.jit(lambda x: net.to(ge.float64)(x))(ge.ones((2, 5)))
        check("a type changed under jit was not refused", False)
    except TypeError as error:
        check(f"a type changed under jit: {error}", "wanted outside of it" in str(error))


def random_numbers(_):
    ge.random.seed(7)
    run = ge.jit(lambda: ge.random.uniform((1000,)))
    a, b = run().numpy(), run().numpy()
    ge.random.seed(7)
    check("the same seed, the same numbers", (run().numpy() == a).all() and (run().numpy() == b).all())
    check("draws differ", (a != b).any() and 0.45 < a.mean() < 0.55 and a.min() >= 0 and a.max() < 1)
    net = nn.Dropout(0.25)
    out = ge.jit(net)(ge.ones((4000,))).numpy()
    check("Dropout", set(np.unique(out)) == {0, np.float32(1 / 0.75)} and 0.2 < (out == 0).mean() < 0.3)
    check("Dropout in evaluation", near(net.eval()(ge.ones((4,))), np.ones(4)))


def files(args):
    net, other = (nn.Sequential(nn.Linear(5, 4), nn.BatchNorm1d(4)) for _ in range(2))
    path = args.scratch / "net.safetensors"
    ge.save(net, path)
    ge.load(path, other)
    check("load", all(near(other.state_dict()[k], v) for k, v in net.state_dict().items()))
    try:
        other.load_state_dict({"0.weight": np.zeros((4, 5))})
        check("a dict that lacks some was not refused", False)
    except KeyError as error:
        check("a dict that lacks some", "0.bias" in str(error))


PROGRAM = """
    import resource
    import sys
    import numpy as np
    import graphengine as ge
    from graphengine import nn
    rng = np.random.default_rng(3)
    x, y = rng.standard_normal((96, 8)).astype("float32"), rng.integers(0, 3, 96)
    ge.random.seed(1)
    net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, 3))
    model = ge.Model(net, nn.CrossEntropyLoss(), ge.optim.Adam(net, 1e-2), ["accuracy"])
    class Told(ge.Callback):
        def on_epoch_end(self, model, epoch, logs):
            print(epoch, flush=True)
            if "full" in sys.argv and epoch == 3:  # no room for the next checkpoint
                resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))
    model.fit(x, y, epochs=6, batch_size=16, checkpoint=sys.argv[1], resume=True, callbacks=[Told()])
    print(model.evaluate(x, y)["loss"], [float(abs(v.numpy()).sum()) for v in net.variables().values()])
"""


def killed(args):
    """A run that is killed, interrupted or finds no room for its checkpoint leaves whole files, and
    ends, resumed, with the bits of one that was not disturbed."""
    program = args.scratch / "fit.py"
    program.write_text(textwrap.dedent(PROGRAM))

    def start(folder, *more):
        return subprocess.Popen([sys.executable, program, args.scratch / folder, *more], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def resumed(folder, first):
        left = [f.name for f in (args.scratch / folder).iterdir() if f.suffix not in (".json", ".safetensors")]
        if first is not None:
            check(f"{folder}: other files: {left}", not left)
        lines = start(folder).communicate()[0].splitlines()
        check(f"{folder}: it goes on: {lines[:1]}", lines[0] in (first or ("2", "3")))
        check(f"{folder}: {lines[-1]}, wanted {whole}", lines[-1] == whole)
    whole = start("whole").communicate()[0].splitlines()[-1]
    run = start("killed")
    for line in run.stdout:
        if line.strip() == "2":
            os.kill(run.pid, signal.SIGKILL)
            break
    run.communicate()
    resumed("killed", None)
    for epoch in ("0", "2"):
        run = start(f"interrupted {epoch}")
        for line in run.stdout:
            if line.strip() == epoch:
                os.kill(run.pid, signal.SIGINT)
                break
        said = run.communicate()[1].splitlines()
        check(f"interrupted: {said[-1:]}, exit {run.returncode}",
              said[-1] == "KeyboardInterrupt" and run.returncode == -signal.SIGINT)
        resumed(f"interrupted {epoch}", (epoch, str(int(epoch) + 1), str(int(epoch) + 2)))
    full = start("full", "full")
    said = full.communicate()[1].splitlines()
    check(f"no room: {said}", "OSError" in said[-1] and "full" in said[-1] and full.returncode == 1)
    resumed("full", ("3",))


def trained(_):
    """A net learns; the loss of a run goes down and the metric up."""
    x = draw(200, 4)
    y = (x[:, 0] * x[:, 1] > 0).astype(np.int64)
    net = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
    model = ge.Model(net, nn.CrossEntropyLoss(), ge.optim.Adam(net, 2e-2), ["accuracy"])
    history = model.fit(x, y, epochs=30, batch_size=20)
    found = model.evaluate(x, y)
    check(f"accuracy {found}", found["accuracy"] > 0.95 and history[-1]["loss"] < history[0]["loss"] / 2)
    check("predict", abs((model.predict(x).argmax(1) == y).mean() - found["accuracy"]) < 1e-6)


if __name__ == "__main__":
    run_all([layers, batch_norm, recurrent, attention, losses, optimizers, of_doubles, random_numbers, files, killed, trained])
