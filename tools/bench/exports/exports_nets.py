"""Small PyTorch modules around the operators that users' own networks have and zoos have not.

NETS: name -> function that gives (module, inputs). Imported by export_one.py, which has PyTorch.
"""
import torch
import torch.nn.functional as F
from torch import nn


class Dcgan(nn.Module):
    """A generator: transposed convolutions of stride 2, the second in two groups."""

    def __init__(self):
        super().__init__()
        sizes, layers = [128, 256, 128, 64], []
        for i, (a, b) in enumerate(zip(sizes, sizes[1:])):
            layers += [nn.ConvTranspose2d(a, b, 4, 2, 1, groups=2 if i == 1 else 1, bias=False),
                       nn.BatchNorm2d(b), nn.ReLU()]
        self.net = nn.Sequential(nn.ConvTranspose2d(100, 128, 4, 1, 0), *layers,
                                 nn.ReflectionPad2d(1), nn.Conv2d(64, 3, 3), nn.Tanh())

    def forward(self, z):
        return self.net(z)


class Unet(nn.Module):
    def __init__(self, mode):
        super().__init__()
        self.mode = mode
        self.a, self.b = self.block(3, 32), self.block(32, 64)
        self.c, self.d = self.block(64, 128), self.block(192, 64)
        self.e, self.out = self.block(96, 32), nn.Conv2d(32, 2, 1)

    def block(self, i, o):
        return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.InstanceNorm2d(o), nn.LeakyReLU(0.1),
                             nn.Conv2d(o, o, 3, padding=1), nn.GroupNorm(8, o), nn.SiLU())

    def up(self, x):
        corners = None if self.mode == "nearest" else False
        return F.interpolate(x, scale_factor=2.0, mode=self.mode, align_corners=corners)

    def forward(self, x):
        a = self.a(x)
        b = self.b(F.max_pool2d(a, 2))
        c = self.c(F.max_pool2d(b, 2))
        d = self.d(torch.cat([self.up(c), b], 1))
        return self.out(self.e(torch.cat([self.up(d), a], 1))).argmax(1)


class SpatialTransformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.find = nn.Sequential(nn.Conv2d(3, 16, 7, 4), nn.ReLU(), nn.AdaptiveAvgPool2d(4),
                                  nn.Flatten(), nn.Linear(256, 6))
        self.net = nn.Sequential(nn.Conv2d(3, 32, 3, 2, 1), nn.ReLU(), nn.Conv2d(32, 32, 3, 2, 1))

    def forward(self, x):
        theta = self.find(x).view(-1, 2, 3) + torch.eye(2, 3)
        return self.net(F.grid_sample(x, F.affine_grid(theta, list(x.shape), align_corners=False),
                                      align_corners=False))


class Tagger(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.table = nn.Embedding(5000, 128)
        self.net = getattr(nn, kind)(128, 192, num_layers=2, bidirectional=True, batch_first=True)
        self.out = nn.Linear(384, 20)

    def forward(self, ids):
        return self.out(self.net(self.table(ids))[0]).log_softmax(-1)


class Decode(nn.Module):
    """What stands behind a detector or a beam: sorts, sums up, picks, scatters."""

    def __init__(self):
        super().__init__()
        self.score = nn.Linear(64, 400)

    def forward(self, x):
        scores = self.score(x).softmax(-1)
        best, at = scores.topk(50, dim=-1)
        kept = best.cumsum(-1) < 0.5
        mask = torch.zeros_like(scores).scatter(1, at, kept.to(scores.dtype))
        far = torch.where(mask > 0, scores, torch.full_like(scores, -1e4))
        order = far.argsort(dim=-1, descending=True)
        return far.gather(1, order), scores.argmax(-1), torch.nonzero(kept), at


class Tiles(nn.Module):
    """In-place writes to slices: ScatterND and its kin; pixels to depth and back."""

    def forward(self, x):
        out = torch.zeros_like(x)
        out[:, :, ::2, 1::2] = x[:, :, 1::2, ::2]
        out[:, 0] = x.mean(1)
        y = F.pixel_unshuffle(out, 2)
        y = F.pixel_shuffle(y.roll(1, 2), 2)
        return F.unfold(y, 3, padding=1), y.flip(3), torch.tril(y[0, 0])


class Upscale(nn.Module):
    """Super-resolution: sub-pixel convolution beside a resized copy."""

    def __init__(self, mode, antialias=False):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(3, 48, 5, padding=2), nn.PReLU(48),
                                 nn.Conv2d(48, 48, 3, padding=1, padding_mode="replicate"),
                                 nn.PReLU(48), nn.Conv2d(48, 12, 3, padding=1), nn.PixelShuffle(2))
        self.mode, self.antialias = mode, antialias

    def forward(self, x):
        big = F.interpolate(x, scale_factor=2.0, mode=self.mode, align_corners=False,
                            antialias=self.antialias)
        return self.net(x) + big


class Speech(nn.Module):
    """1-D convolutions over samples, as wave encoders have them."""

    def __init__(self):
        super().__init__()
        layers, channels = [], 1
        for wide, kernel, stride in [(64, 10, 5), (64, 3, 2), (128, 3, 2), (128, 3, 2)]:
            layers += [nn.Conv1d(channels, wide, kernel, stride), nn.GroupNorm(1, wide), nn.GELU()]
            channels = wide
        self.net = nn.Sequential(*layers, nn.Conv1d(128, 128, 15, padding=14, dilation=2, groups=128),
                                 nn.GLU(1), nn.AvgPool1d(3, 2), nn.Conv1d(64, 64, 1))
        self.rnn = nn.GRU(64, 64, batch_first=True)

    def forward(self, wave):
        return self.rnn(self.net(wave).transpose(1, 2))[0]


class Spectrum(nn.Module):
    def forward(self, wave):
        spectrum = torch.stft(wave, 400, 160, window=torch.hann_window(400), return_complex=False)
        return spectrum.pow(2).sum(-1).clamp(min=1e-6).log()


class Mixture(nn.Module):
    """Experts chosen by a router, all computed, weighed by einsum."""

    def __init__(self):
        super().__init__()
        self.route = nn.Linear(96, 8)
        self.up = nn.Parameter(torch.randn(8, 96, 192) * 0.1)
        self.down = nn.Parameter(torch.randn(8, 192, 96) * 0.1)

    def forward(self, x):
        weight, at = self.route(x).softmax(-1).topk(2, -1)
        gate = torch.zeros(*x.shape[:-1], 8).scatter(-1, at, weight)
        y = F.gelu(torch.einsum("bsd,edf->bsef", x, self.up))
        return torch.einsum("bsef,efd,bse->bsd", y, self.down, gate)


class Attend(nn.Module):
    """Pre-norm layers with attention written out, as most people's code has it."""

    def __init__(self, wide=256, heads=8, layers=3):
        super().__init__()
        self.heads = heads
        self.layers = nn.ModuleList(nn.ModuleDict({
            "a": nn.LayerNorm(wide), "qkv": nn.Linear(wide, 3 * wide), "out": nn.Linear(wide, wide),
            "b": nn.LayerNorm(wide), "up": nn.Linear(wide, 4 * wide),
            "down": nn.Linear(4 * wide, wide)}) for _ in range(layers))

    def forward(self, x):
        n, s, wide = x.shape
        for f in self.layers:
            q, k, v = f["qkv"](f["a"](x)).reshape(n, s, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
            share = ((q @ k.transpose(-2, -1)) / (wide // self.heads) ** 0.5).softmax(-1)
            x = x + f["out"]((share @ v).transpose(1, 2).reshape(n, s, wide))
            x = x + f["down"](F.gelu(f["up"](f["b"](x))))
        return x


def encoder():
    layer = nn.TransformerEncoderLayer(256, 8, 1024, batch_first=True, activation="gelu")
    return nn.TransformerEncoder(layer, 3, enable_nested_tensor=False)


def ids(*shape):
    return torch.randint(0, 1000, shape)


NETS = {
    "dcgan": lambda: (Dcgan(), (torch.randn(1, 100, 1, 1),)),
    "unet_nearest": lambda: (Unet("nearest"), (torch.randn(1, 3, 128, 128),)),
    "unet_bilinear": lambda: (Unet("bilinear"), (torch.randn(1, 3, 128, 128),)),
    "stn": lambda: (SpatialTransformer(), (torch.randn(1, 3, 96, 96),)),
    "tagger_lstm": lambda: (Tagger("LSTM"), (ids(1, 64),)),
    "tagger_gru": lambda: (Tagger("GRU"), (ids(1, 64),)),
    "decode": lambda: (Decode(), (torch.randn(16, 64),)),
    "tiles": lambda: (Tiles(), (torch.randn(1, 8, 64, 64),)),
    "upscale_bicubic": lambda: (Upscale("bicubic"), (torch.rand(1, 3, 64, 64),)),
    "upscale_antialias": lambda: (Upscale("bilinear", True), (torch.rand(1, 3, 64, 64),)),
    "speech": lambda: (Speech(), (torch.randn(1, 1, 16000),)),
    "spectrum": lambda: (Spectrum(), (torch.randn(1, 16000),)),
    "mixture": lambda: (Mixture(), (torch.randn(1, 48, 96),)),
    "attend": lambda: (Attend(), (torch.randn(1, 64, 256),)),
    "encoder": lambda: (encoder(), (torch.randn(1, 64, 256),)),
}
