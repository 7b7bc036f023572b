"""The nets of train_nets.py as PyTorch modules with the weights that it has given them, for what is
compared with PyTorch's DistributedDataParallel. Needs torch."""
import torch
from torch import nn
from torch.nn import functional as F


def parameter(weights, name, dtype):
    return nn.Parameter(torch.from_numpy(weights[name]).to(dtype).clone())


class Held(nn.Module):
    """Weights by the names that the ONNX file has; a dot is no part of a name here."""

    def __init__(self, weights, dtype):
        super().__init__()
        self.dtype = dtype
        for name in weights:
            self.register_parameter(name.replace(".", "__"), parameter(weights, name, dtype))

    def w(self, name):
        return getattr(self, name.replace(".", "__"))

    def linear(self, x, name):
        return F.linear(x, self.w(f"{name}.weight"), self.w(f"{name}.bias"))


class LeNet(Held):
    def forward(self, x):
        for name, pad in (("conv1", 2), ("conv2", 0)):
            x = F.conv2d(x, self.w(f"{name}.weight"), self.w(f"{name}.bias"), padding=pad)
            x = F.max_pool2d(F.relu(x), 2)
        x = x.flatten(1)
        for name in ("fc1", "fc2"):
            x = F.relu(self.linear(x, name))
        return self.linear(x, "fc3")


class Mlp(Held):
    names = ("fc1", "fc2"), "fc3"

    def forward(self, x):
        for name in self.names[0]:
            x = F.relu(self.linear(x, name))
        return self.linear(x, self.names[1])


class MlpWide(Mlp):
    names = tuple(f"fc{i + 1}" for i in range(8)), "last"


class Bert(Held):
    def __init__(self, weights, dtype, heads=4):
        super().__init__(weights, dtype)
        self.heads = heads
        self.blocks = sum(name.endswith(".up.weight") for name in weights)

    def product(self, x, name):
        return x @ self.w(f"{name}.weight") + self.w(f"{name}.bias")

    def norm(self, x, name):
        return F.layer_norm(x, x.shape[-1:], self.w(f"{name}.weight"), self.w(f"{name}.bias"))

    def attention(self, x, name):
        b, t, w = x.shape
        q, k, v = (self.product(x, f"{name}.{part}").view(b, t, self.heads, -1).transpose(1, 2)
                   for part in "qkv")
        y = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, t, w)
        return self.product(y, f"{name}.out")

    def forward(self, ids):
        x = F.embedding(ids, self.w("word")) + self.w("place")
        for i in range(self.blocks):
            name = f"block{i}"
            x = self.norm(x + self.attention(x, name), f"{name}.norm1")
            y = F.gelu(self.product(x, f"{name}.up"))
            x = self.norm(x + self.product(y, f"{name}.down"), f"{name}.norm2")
        return self.product(x.mean(1), "head")


NETS = {"lenet": LeNet, "mlp": Mlp, "mlp_wide": MlpWide, "bert": Bert}
