"""Nets and optimizers that train here and on a peer: `nn` is the library of layers, `xp` that of
functions; ours, or torch's. LeNet and a small GPT have the same weights, data and steps on both sides.

OPTIMIZERS: by name (class, options of ours, options of torch's or None, the name in train_numpy.py
or None)."""
import numpy as np

STEPS = 100
VOCABULARY, LENGTH, WIDTH, HEADS, BLOCKS = 17, 8, 16, 2, 2

OPTIMIZERS = {
    "adam": ("Adam", {"lr": 2e-3}, {"lr": 2e-3}, None),
    "adam, decay": ("Adam", {"lr": 2e-3, "weight_decay": 0.02}, {"lr": 2e-3, "weight_decay": 0.02}, None),
    "adamw": ("AdamW", {"lr": 2e-3, "weight_decay": 0.05}, {"lr": 2e-3, "weight_decay": 0.05}, None),
    "sgd": ("SGD", {"lr": 0.02}, {"lr": 0.02}, None),
    "momentum": ("SGD", {"lr": 0.01, "momentum": 0.9, "weight_decay": 1e-3},
                 {"lr": 0.01, "momentum": 0.9, "weight_decay": 1e-3}, None),
    "nesterov": ("SGD", {"lr": 0.01, "momentum": 0.8, "nesterov": True},
                 {"lr": 0.01, "momentum": 0.8, "nesterov": True}, None),
    "rmsprop": ("RMSprop", {"lr": 1e-3, "alpha": 0.95}, {"lr": 1e-3, "alpha": 0.95}, None),
    "adagrad": ("Adagrad", {"lr": 0.01}, {"lr": 0.01}, None),
    "lamb": ("Lamb", {"lr": 2e-3, "weight_decay": 0.02}, None,
             ("lamb", {"lr": 2e-3, "weight-decay": 0.02})),
    "lars": ("Lars", {"lr": 0.2, "momentum": 0.9, "weight_decay": 1e-3}, None,
             ("lars", {"lr": 0.2, "momentum": 0.9, "weight-decay": 1e-3})),
    "lion": ("Lion", {"lr": 2e-4, "weight_decay": 0.1}, None,
             ("lion", {"lr": 2e-4, "weight-decay": 0.1})),
    "clipped": ("SGD", {"lr": 0.05, "clip_norm": 0.5}, {"lr": 0.05}, None),
    "grouped": ("AdamW", {"lr": 2e-3, "weight_decay": 0.1, "groups": {"*.bias": {"weight_decay": 0.0, "lr": 1e-3}}},
                {"lr": 2e-3, "weight_decay": 0.1}, None),
    "scheduled": ("Adam", {}, {"lr": 1.0}, None),
}


def schedule(step):
    """The rate of `scheduled`, of a step in float64."""
    return 4e-3 / (1.0 + 0.1 * step)


def nets(nn, xp, softmax):
    """{name: a function that makes the net}."""

    class LeNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1, self.conv2 = nn.Conv2d(1, 6, 5, padding=2), nn.Conv2d(6, 16, 5)
            self.pool = nn.MaxPool2d(2)
            self.fc1, self.fc2, self.fc3 = nn.Linear(64, 32), nn.Linear(32, 24), nn.Linear(24, 10)
            self.relu = nn.ReLU()

        def forward(self, x):
            x = self.pool(self.relu(self.conv1(x)))
            x = self.pool(self.relu(self.conv2(x)))
            x = xp.reshape(x, (-1, 64))
            return self.fc3(self.relu(self.fc2(self.relu(self.fc1(x)))))

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
            self.qkv, self.join = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
            self.up, self.down, self.gelu = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH), nn.GELU()

        def forward(self, x, mask):
            y = xp.reshape(self.qkv(self.first(x)), (-1, LENGTH, 3, HEADS, WIDTH // HEADS))
            q, k, v = (xp.permute_dims(y[:, :, i], (0, 2, 1, 3)) for i in range(3))
            scores = xp.matmul(q, xp.permute_dims(k, (0, 1, 3, 2))) / (WIDTH // HEADS) ** 0.5
            y = xp.matmul(softmax(xp.where(mask, scores, -1e9 + 0 * scores)), v)
            x = x + self.join(xp.reshape(xp.permute_dims(y, (0, 2, 1, 3)), (-1, LENGTH, WIDTH)))
            return x + self.down(self.gelu(self.up(self.second(x))))

    class GPT(nn.Module):
        def __init__(self):
            super().__init__()
            self.word, self.place = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(LENGTH, WIDTH)
            self.blocks = nn.ModuleList([Block() for _ in range(BLOCKS)])
            self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY)

        def forward(self, ids):
            mask = xp.tril(xp.ones((LENGTH, LENGTH))) > 0
            x = self.word(ids) + self.place(xp.arange(LENGTH))
            for block in self.blocks:
                x = block(x, mask)
            return xp.reshape(self.head(self.norm(x)), (-1, VOCABULARY))

    return {"lenet": LeNet, "gpt": GPT}


def data(name):
    """One batch for each step: (inputs, targets)."""
    rng = np.random.default_rng(7)
    if name == "lenet":
        y = rng.integers(0, 10, (4, 8))
        return rng.standard_normal((4, 8, 1, 16, 16)) + y[..., None, None, None] / 5, y
    ids = rng.integers(0, VOCABULARY, (4, 4, LENGTH + 1))
    return ids[..., :-1], ids[..., 1:].reshape(4, -1)
