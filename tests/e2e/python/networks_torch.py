"""Layers on torch: outputs, gradients and what evaluation gives, with torch's state dicts. Run by torch's
own Python; networks_peers.py compares.

  networks_torch.py FILE      writes them as a pickle"""
import pickle
import sys

import numpy as np
import torch

RNG = np.random.default_rng(0)


def draw(*shape):
    return RNG.standard_normal(shape).astype("float32")


# (name, arguments, options, input)
LAYERS = [
    ("Linear", (5, 3), {}, draw(4, 5)),
    ("Conv1d", (3, 4, 3), {"padding": 1, "stride": 2}, draw(2, 3, 9)),
    ("Conv2d", (4, 6, 3), {"padding": 1, "groups": 2}, draw(2, 4, 6, 6)),
    ("Conv3d", (2, 3, 2), {}, draw(1, 2, 4, 4, 4)),
    ("ConvTranspose2d", (3, 2, 3), {"stride": 2, "padding": 1, "output_padding": 1}, draw(2, 3, 4, 4)),
    ("BatchNorm1d", (5,), {}, draw(6, 5)),
    ("BatchNorm2d", (3,), {}, draw(4, 3, 5, 5)),
    ("LayerNorm", ((4, 5),), {}, draw(2, 3, 4, 5)),
    ("GroupNorm", (2, 4), {}, draw(2, 4, 3, 3)),
    ("RMSNorm", (5,), {}, draw(3, 5)),
    ("LSTM", (3, 4), {"num_layers": 2, "bidirectional": True}, draw(5, 2, 3)),
    ("GRU", (3, 4), {"batch_first": True}, draw(2, 5, 3)),
    ("RNN", (3, 4), {}, draw(5, 2, 3)),
    *[(name, (), {}, draw(3, 4)) for name in ("GELU", "SiLU", "ELU", "Softplus", "LeakyReLU")],
    ("Softmax", (-1,), {}, draw(3, 4)),
    ("LogSoftmax", (-1,), {}, draw(3, 4)),
    ("MaxPool2d", (2,), {"stride": 1, "padding": 1}, draw(2, 3, 6, 6)),
    ("AvgPool2d", (3,), {"padding": 1}, draw(2, 3, 6, 6)),
    ("MultiheadAttention", (8, 2), {"batch_first": True}, draw(2, 5, 8)),
]


def call(net, x):
    out = net(x, x, x) if isinstance(net, torch.nn.MultiheadAttention) else net(x)
    return out[0] if isinstance(out, tuple) else out


def one(name, args, options, array):
    net = getattr(torch.nn, name)(*args, **options)
    values = {k: v.numpy().copy() for k, v in net.state_dict().items()}
    x = torch.tensor(array, requires_grad=True)
    out = call(net, x)
    (out * torch.cos(torch.arange(out.numel()).reshape(out.shape).float())).sum().backward()
    gradients = {k: p.grad.numpy() for k, p in net.named_parameters()}
    net.eval()
    with torch.no_grad():
        evaluated = call(net, x)
    return {"name": name, "args": args, "options": options, "x": array, "values": values,
            "out": out.detach().numpy(), "gradient": x.grad.numpy(), "gradients": gradients,
            "evaluated": evaluated.numpy()}


if __name__ == "__main__":
    torch.manual_seed(0)
    with open(sys.argv[1], "wb") as file:
        pickle.dump([one(*layer) for layer in LAYERS], file)
