"""Layers, Modules and losses that are put together wrong."""
import numpy as np
from wrong import BOTH, JIT, PLAIN, wrong

import graphengine as ge
from graphengine import nn


def ones(*shape):
    return ge.ones(shape)


@wrong(ValueError, "5", "4", args=lambda: (ones(3, 5),), good=lambda: (ones(3, 4),))
def linear(x, layer=nn.Linear(4, 2)):
    return layer(x)
    #      ^^^^^^^^


@wrong(ValueError, "1 channels", "wanted 3", args=lambda: (ones(1, 1, 8, 8),), good=lambda: (ones(1, 3, 8, 8),))
def conv_channels(x, layer=nn.Conv2d(3, 4, 3)):
    return layer(x)
    #      ^^^^^^^^


@wrong(ValueError, "4 axes", "expand_dims", args=lambda: (ones(3, 8, 8),), good=lambda: (ones(1, 3, 8, 8),))
def conv_without_batch(x, layer=nn.Conv2d(3, 4, 3)):
    return layer(x)
    #      ^^^^^^^^


@wrong(ValueError, "in_channels", "groups", how=PLAIN)
def conv_groups():
    return nn.Conv2d(3, 4, 3, groups=2)
    #      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(ValueError, "kernel_size", "2 of them", how=PLAIN)
def kernel_of_three():
    return nn.Conv2d(3, 4, (3, 3, 3))
    #      ^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(ValueError, "padding", "'full'", args=lambda: (ones(1, 3, 8, 8),))
def padding_word(x):
    return nn.Conv2d(3, 4, 3, padding="full")(x)
    #      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(TypeError, "out_channels", own=True, how=PLAIN)
def missing_argument():
    return nn.Conv2d(3)
    #      ^^^^^^^^^^^^


@wrong(TypeError, "MaxPool2d()", "'kernel'", how=PLAIN)
def pool_option():
    return nn.MaxPool2d(kernel=2)
    #      ^^^^^^^^^^^^^^^^^^^^^^


@wrong(ValueError, "p is 1.5", how=PLAIN)
def dropout():
    return nn.Dropout(1.5)
    #      ^^^^^^^^^^^^^^^


@wrong(ValueError, "embed_dim", "num_heads", how=PLAIN)
def heads():
    return nn.MultiheadAttention(10, 3)
    #      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(TypeError, "f32", args=lambda: (ones(3),), good=lambda: (ge.asarray([1, 2]),))
def embedding_of_floats(x, layer=nn.Embedding(10, 4)):
    return layer(x)
    #      ^^^^^^^^


@wrong(ValueError, "BatchNorm2d", "3", "4", args=lambda: (ones(1, 3, 8, 8),))
def batch_norm(x, layer=nn.BatchNorm2d(4)):
    return layer(x)
    #      ^^^^^^^^


@wrong(ValueError, "8", "4", args=lambda: (ones(2, 4),), good=lambda: (ones(2, 8),))
def layer_norm(x, layer=nn.LayerNorm(8)):
    return layer(x)
    #      ^^^^^^^^


@wrong(ValueError, "6", "4", args=lambda: (ones(2, 5, 6),))
def lstm(x, layer=nn.LSTM(4, 8, batch_first=True)):
    return layer(x)
    #      ^^^^^^^^


@wrong(AttributeError, "layer", "super().__init__()", how=PLAIN)
def before_init():
    class Early(nn.Module):
        def __init__(self):
            self.layer = nn.Linear(4, 2)
            #^^^^^^^^^
            super().__init__()
    return Early()


@wrong(NotImplementedError, "Empty", "forward", how=BOTH, args=lambda: (ones(2, 4),))
def no_forward(x):
    class Empty(nn.Module):
        pass
    return Empty()(x)
    #      ^^^^^^^^^^


@wrong(AttributeError, "fc3", own=True, how=PLAIN)
def no_layer():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc1 = nn.Linear(4, 2)

        def forward(self, x):
            return self.fc3(self.fc1(x))
            #      ^^^^^^^^
    return ge.jit(Net())(ge.ones((1, 4)))


@wrong(ValueError, "2", "3", how=PLAIN)
def deep_in_a_net():
    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(3, 2))

        def forward(self, x):
            return self.body(x) + x
            #      ^^^^^^^^^^^^
    return ge.jit(nn.Sequential(Block(), nn.Tanh()))(ge.ones((1, 4)))


@wrong(ValueError, "[3]", "[2]", args=lambda: (ones(2, 10), ge.asarray([1, 2, 3])))
def labels_of_another_batch(x, y):
    return nn.CrossEntropyLoss()(x, y)
    #      ^^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(TypeError, "float32", args=lambda: (ones(2, 10), ones(2)), good=lambda: (ones(2, 10), ge.asarray([1, 2])))
def labels_of_floats(x, y):
    return nn.functional.cross_entropy(x, y)
    #      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(ValueError, "'average'", "'mean'", args=lambda: (ones(2), ones(2)))
def reduction(x, y):
    return nn.functional.mse_loss(x, y, reduction="average")
    #      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(KeyError, "'weight'", "strict=False", how=PLAIN)
def state_dict_names():
    nn.Linear(4, 2).load_state_dict({"kernel": np.ones((2, 4)), "bias": np.ones(2)})
    #^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(ValueError, "'weight'", "(4, 2)", "(2, 4)", how=PLAIN)
def state_dict_shapes():
    nn.Linear(4, 2).load_state_dict({"weight": np.ones((4, 2)), "bias": np.ones(2)})
    #^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(TypeError, "the class ReLU", "calling", how=PLAIN)
def class_for_a_layer():
    return nn.Sequential(nn.Linear(4, 4), nn.ReLU)(ge.ones((1, 4)))
    #      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(TypeError, "positional", own=True, how=JIT, args=lambda: (ones(2, 4),))
def too_many_arguments(x, layer=nn.Linear(4, 2)):
    return layer(x, x)
    #      ^^^^^^^^^^^
