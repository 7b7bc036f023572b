"""The 30 nets of grad_nets.py: each answers a module whose forward is its loss, and its inputs.
Weights and inputs come from PyTorch's generator, seeded by the net's name. Numbers that the exporter
would round to float32 (attributes, added constants) are such that it does not.
"""
import zlib

import torch
import torch.nn.functional as F
from torch import nn

NETS = {}


def net(make):
    def seeded():
        torch.manual_seed(zlib.crc32(make.__name__.encode()))
        module, inputs = make()
        for parameter in module.parameters():  # the exporter makes one of weights that are equal
            parameter.data += .1 * torch.randn_like(parameter)
        return module, inputs
    NETS[make.__name__] = seeded
    return make


class Classified(nn.Module):
    """A net, softmax and cross-entropy."""

    def __init__(self, body):
        super().__init__()
        self.body = body

    def forward(self, x, y):
        return F.cross_entropy(self.body(x), y)


class Regressed(nn.Module):
    """The mean square of what a net makes against a target."""

    def __init__(self, body):
        super().__init__()
        self.body = body

    def forward(self, x, y):
        return F.mse_loss(self.body(x), y)


def classified(*layers, shape, classes=5):
    return Classified(nn.Sequential(*layers)), (torch.randn(shape), torch.randint(classes, (shape[0],)))


def regressed(body, x, out):
    return Regressed(body), (torch.randn(x), torch.randn(out))


@net
def mlp():
    return classified(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 16), nn.Tanh(), nn.Linear(16, 5),
                      shape=(8, 20))


@net
def mlp_deep():
    layers = [m for _ in range(12) for m in (nn.Linear(16, 16), nn.GELU())]
    return classified(*layers, nn.Linear(16, 5), shape=(4, 16))


@net
def activations():
    return classified(nn.Linear(12, 24), nn.ELU(), nn.Linear(24, 24), nn.SiLU(), nn.Linear(24, 24),
                      nn.Softplus(), nn.Linear(24, 24), nn.LeakyReLU(.125), nn.Linear(24, 24),
                      nn.Mish(), nn.Linear(24, 24), nn.Hardtanh(), nn.Linear(24, 24), nn.LogSigmoid(),
                      nn.Linear(24, 5), shape=(6, 12))


@net
def prelu():
    return classified(nn.Linear(12, 24), nn.PReLU(24), nn.Linear(24, 24), nn.ELU(.5),
                      nn.Linear(24, 24), nn.Softsign(), nn.Linear(24, 5), shape=(6, 12))


@net
def lenet():
    return classified(nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5),
                      nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(400, 120), nn.ReLU(),
                      nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10), shape=(3, 1, 28, 28),
                      classes=10)


@net
def vgg():
    return classified(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 8, 3, padding=1),
                      nn.ReLU(), nn.AvgPool2d(2), nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(),
                      nn.MaxPool2d(3, 2), nn.Flatten(), nn.Linear(144, 5), shape=(2, 3, 16, 16))


class Residual(nn.Module):
    def __init__(self, channels, norm):
        super().__init__()
        self.a, self.b = (nn.Conv2d(channels, channels, 3, padding=1, bias=False) for _ in "ab")
        self.na, self.nb = norm(channels), norm(channels)

    def forward(self, x):
        return F.relu(x + self.nb(self.b(F.relu(self.na(self.a(x))))))


@net
def resnet_groupnorm():
    return classified(nn.Conv2d(3, 8, 3, 2, 1), Residual(8, lambda c: nn.GroupNorm(2, c)),
                      Residual(8, lambda c: nn.GroupNorm(4, c)), nn.AdaptiveAvgPool2d(1),
                      nn.Flatten(), nn.Linear(8, 5), shape=(2, 3, 16, 16))


@net
def resnet_batchnorm_fixed():
    net, inputs = classified(nn.Conv2d(3, 8, 3, 2, 1), Residual(8, nn.BatchNorm2d),
                             nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 5),
                             shape=(2, 3, 16, 16))
    return net.eval(), inputs


@net
def instance_norm():
    return classified(nn.Conv2d(3, 8, 3), nn.InstanceNorm2d(8, affine=True), nn.ReLU(),
                      nn.Conv2d(8, 8, 3, 2), nn.InstanceNorm2d(8), nn.Flatten(), nn.Linear(200, 5),
                      shape=(2, 3, 14, 14))


@net
def depthwise():
    return classified(nn.Conv2d(3, 12, 3, 2, 1), nn.ReLU6(), nn.Conv2d(12, 12, 3, 1, 1, groups=12),
                      nn.ReLU6(), nn.Conv2d(12, 16, 1), nn.Sigmoid(), nn.AdaptiveAvgPool2d(1),
                      nn.Flatten(), nn.Linear(16, 5), shape=(2, 3, 16, 16))


@net
def grouped_dilated():
    return classified(nn.Conv2d(4, 8, 3, dilation=2, groups=2), nn.ReLU(),
                      nn.Conv2d(8, 8, (3, 1), (2, 1), (1, 0), groups=4), nn.ReLU(), nn.Flatten(),
                      nn.Linear(384, 5), shape=(2, 4, 16, 12))


class Squeeze(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.down, self.up = nn.Linear(channels, 3), nn.Linear(3, channels)

    def forward(self, x):
        return x * torch.sigmoid(self.up(F.relu(self.down(x.mean((2, 3))))))[:, :, None, None]


@net
def squeeze_excite():
    return classified(nn.Conv2d(3, 8, 3), nn.ReLU(), Squeeze(8), nn.Conv2d(8, 8, 3), nn.ReLU(),
                      nn.Flatten(), nn.Linear(800, 5), shape=(2, 3, 14, 14))


class Dense(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Conv2d(4 + 4 * i, 4, 3, padding=1) for i in range(4))

    def forward(self, x):
        for layer in self.layers:
            x = torch.cat((x, F.relu(layer(x))), 1)
        return x


@net
def densenet():
    return classified(nn.Conv2d(3, 4, 3), Dense(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                      nn.Linear(20, 5), shape=(2, 3, 12, 12))


class Unet(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv2d(2, 6, 3, padding=1), nn.Conv2d(6, 12, 3, 2, 1)
        self.up = nn.ConvTranspose2d(12, 6, 4, 2, 1)
        self.out = nn.Conv2d(12, 2, 1)

    def forward(self, x):
        a = F.relu(self.a(x))
        return self.out(torch.cat((a, F.relu(self.up(F.relu(self.b(a))))), 1))


@net
def unet():
    return regressed(Unet(), (2, 2, 12, 12), (2, 2, 12, 12))


@net
def upsample():
    body = nn.Sequential(nn.Conv2d(2, 4, 3, padding=1), nn.Upsample(scale_factor=2, mode="bilinear"),
                         nn.Conv2d(4, 4, 3, padding=1), nn.Upsample(scale_factor=2, mode="nearest"),
                         nn.Conv2d(4, 1, 3, padding=1))
    return regressed(body, (2, 2, 6, 6), (2, 1, 24, 24))


@net
def pixel_shuffle():
    body = nn.Sequential(nn.Conv2d(2, 8, 3, padding=1), nn.ReLU(), nn.PixelShuffle(2),
                         nn.ReflectionPad2d(1), nn.Conv2d(2, 1, 3))
    return regressed(body, (2, 2, 6, 6), (2, 1, 12, 12))


@net
def autoencoder():
    body = nn.Sequential(nn.Linear(30, 12), nn.Sigmoid(), nn.Linear(12, 4), nn.Tanh(),
                         nn.Linear(4, 12), nn.Sigmoid(), nn.Linear(12, 30))
    return regressed(body, (7, 30), (7, 30))


@net
def conv1d():
    return classified(nn.Conv1d(4, 8, 5, 2), nn.ReLU(), nn.MaxPool1d(2), nn.Conv1d(8, 8, 3, padding=1),
                      nn.Tanh(), nn.Flatten(), nn.Linear(64, 5), shape=(3, 4, 37))


@net
def conv3d():
    return classified(nn.Conv3d(1, 4, 3), nn.ReLU(), nn.AvgPool3d(2), nn.Flatten(), nn.Linear(108, 5),
                      shape=(2, 1, 8, 8, 8))


class Causal(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Conv1d(6, 6, 3, dilation=2 ** i) for i in range(3))

    def forward(self, x):
        for i, layer in enumerate(self.layers):
            x = x + torch.tanh(layer(F.pad(x, (2 * 2 ** i, 0))))
        return x[:, :, -1]


@net
def causal():
    return classified(nn.Conv1d(3, 6, 1), Causal(), nn.Linear(6, 5), shape=(3, 3, 20))


class Words(nn.Module):
    """Tokens, a mean over them, a classifier."""

    def __init__(self):
        super().__init__()
        self.word, self.out = nn.Embedding(50, 12), nn.Linear(12, 5)

    def forward(self, ids, y):
        return F.cross_entropy(self.out(self.word(ids).mean(1)), y)


@net
def words():
    return Words(), (torch.randint(50, (4, 9)), torch.randint(5, (4,)))


class Recurrent(nn.Module):
    def __init__(self, kind, **more):
        super().__init__()
        self.cells = kind(6, 8, batch_first=True, **more)
        self.out = nn.Linear(16 if more.get("bidirectional") else 8, 5)

    def forward(self, x, y):
        return F.cross_entropy(self.out(self.cells(x)[0][:, -1]), y)


@net
def lstm():
    return Recurrent(nn.LSTM), (torch.randn(3, 7, 6), torch.randint(5, (3,)))


@net
def gru():
    return Recurrent(nn.GRU), (torch.randn(3, 7, 6), torch.randint(5, (3,)))


@net
def rnn_both_ways():
    return Recurrent(nn.RNN, bidirectional=True), (torch.randn(3, 7, 6), torch.randint(5, (3,)))


class Block(nn.Module):
    def __init__(self, width, heads, causal):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.n1, self.n2 = (nn.LayerNorm(width, 2 ** -16) for _ in "12")
        self.qkv, self.join = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        b, t, w = x.shape
        q, k, v = (p.view(b, t, self.heads, w // self.heads).transpose(1, 2)
                   for p in self.qkv(self.n1(x)).chunk(3, -1))
        scores = q @ k.transpose(-1, -2) / (w // self.heads) ** .5
        if self.causal:
            scores = scores.masked_fill(torch.triu(torch.ones(t, t, dtype=torch.bool), 1), -1e9)
        y = (scores.softmax(-1) @ v).transpose(1, 2).reshape(b, t, w)
        x = x + self.join(y)
        return x + self.down(F.gelu(self.up(self.n2(x))))


class Gpt(nn.Module):
    def __init__(self, layers=2, width=16, heads=4, causal=True):
        super().__init__()
        self.word, self.place = nn.Embedding(30, width), nn.Embedding(10, width)
        self.blocks = nn.Sequential(*(Block(width, heads, causal) for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(width, 2 ** -16), nn.Linear(width, 30, bias=False)

    def forward(self, ids, y):
        x = self.word(ids) + self.place.weight[:ids.shape[1]]
        return F.cross_entropy(self.head(self.norm(self.blocks(x))).flatten(0, 1), y.flatten())


@net
def gpt():
    return Gpt(), (torch.randint(30, (2, 10)), torch.randint(30, (2, 10)))


@net
def bert():
    return Gpt(layers=3, causal=False), (torch.randint(30, (2, 10)), torch.randint(30, (2, 10)))


class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(10, 3)
        self.parts = nn.ModuleList(nn.Sequential(nn.Linear(10, 8), nn.ReLU(), nn.Linear(8, 5))
                                   for _ in range(3))

    def forward(self, x):
        weights = self.gate(x).softmax(-1)
        made = torch.stack([p(x) for p in self.parts], -1)
        return (made * weights[:, None]).sum(-1)


@net
def experts():
    return classified(Experts(), shape=(6, 10))


class Siamese(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(9, 16), nn.Tanh(), nn.Linear(16, 6))

    def forward(self, a, b):
        x, y = (v / v.pow(2).sum(-1, keepdim=True).sqrt() for v in map(self.body, (a, b)))
        scores = x @ y.T * 8
        return -((x * y).sum(-1) * 8 - scores.logsumexp(-1)).mean()


@net
def siamese():
    return Siamese(), (torch.randn(6, 9), torch.randn(6, 9))


class Highway(nn.Module):
    def __init__(self):
        super().__init__()
        self.t, self.h = nn.Linear(10, 10), nn.Linear(10, 10)

    def forward(self, x):
        for _ in range(4):  # the same weights four times
            t = torch.sigmoid(self.t(x))
            x = t * torch.tanh(self.h(x)) + (1 - t) * x
        return x.clamp(-1, 1)


@net
def highway():
    return regressed(Highway(), (5, 10), (5, 10))


class Distance(nn.Module):
    """Sorted, least, greatest, products and roots."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x, y):
        a, b = self.a(x), self.b(y)
        d = (a[:, None] - b[None]).pow(2).sum(-1).add(2 ** -10).sqrt()
        top = d.topk(3, dim=1, largest=False)[0]
        far = torch.maximum(top, 1 / top), torch.einsum("ij,kj->ik", a, b).abs()
        return torch.cat(far, 1).sum()


@net
def distance():
    return Distance(), (torch.randn(5, 8), torch.randn(6, 8))
