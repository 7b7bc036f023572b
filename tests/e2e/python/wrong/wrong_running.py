"""What only shows when the graph runs: the line that made the operator is named."""
import numpy as np
from wrong import PLAIN, RUN, wrong

import graphengine as ge
from graphengine import nn


def ones(*shape):
    return ge.ones(shape)


def ints(*values):
    return ge.asarray(list(values))


@wrong(IndexError, "5", "[-3, 3)", how=RUN, args=lambda: (ones(3), ints(0, 5)), good=lambda: (ones(3), ints(0, 2)))
def take(x, i):
    y = x * 2
    picked = ge.take(y, i)
    #        ^^^^^^^^^^^^^
    return picked + 1


@wrong(IndexError, "index 7", "[-3, 3)", how=RUN, args=lambda: (ones(3), ge.asarray(7)),
       good=lambda: (ones(3), ge.asarray(1)))
def item_by_tensor(x, i):
    return x[i] + 1
    #      ^^^^


@wrong(IndexError, "index 4", "[-3, 3)", how=RUN, args=lambda: (ones(3, 2), ints(4)), good=lambda: (ones(3, 2), ints(1)))
def embedding(weight, i):
    return nn.functional.embedding(i, weight) * 2
    #      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(IndexError, "index 3", how=RUN, args=lambda: (ones(2, 3), ints([0], [3])), good=lambda: (ones(2, 3), ints([0], [2])))
def take_along(x, i):
    return ge.take_along_axis(x, i, axis=1)
    #      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(ZeroDivisionError, "zero", how=RUN, args=lambda: (ints(4, 5), ints(2, 0)), good=lambda: (ints(4, 5), ints(2, 1)))
def divided(x, y):
    return (x + 1) // y
    #      ^^^^^^^^^^^^


@wrong(ZeroDivisionError, "zero", how=RUN, args=lambda: (ints(4, 5), ints(2, 0)), good=lambda: (ints(4, 5), ints(2, 1)))
def rest(x, y):
    return x % y
    #      ^^^^^


@wrong(ValueError, "6", how=RUN, args=lambda: (ones(6), ints(4, 2)), good=lambda: (ones(6), ints(3, 2)))
def reshaped(x, shape):
    return ge.ops.Reshape(x, shape) * 2
    #      ^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(ValueError, "6", "4", how=RUN, args=lambda: (ones(6), ints(4)), good=lambda: (ones(6), ints(6)))
def expanded(x, shape):
    return ge.ops.Expand(x, shape) * 2
    #      ^^^^^^^^^^^^^^^^^^^^^^^


@wrong(ValueError, "6", how=RUN, args=lambda: (ones(6), ints(4, 4)), good=lambda: (ones(6), ints(4, 2)))
def split(x, sizes):
    first, second = ge.ops.Split(x, sizes, outputs=2)
    #               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    return ge.sum(first), ge.sum(second)


@wrong(ValueError, "2", how=RUN, args=lambda: (ones(3), ge.asarray([True, False, True]), ones(3)),
       good=lambda: (ones(3), ge.asarray([True, True, True]), ones(3)))
def masked(x, mask, y):
    kept = x[mask]
    return kept + y
    #      ^^^^^^^^


@wrong(IndexError, "index 3", how=RUN, args=lambda: (ones(3), ge.asarray(4)), good=lambda: (ones(3), ge.asarray(3)))
def in_a_loop(x, n):
    total = x[0]
    for i in range(n):
        total = total + x[i]
        #               ^^^^
    return total


@wrong(IndexError, "index 9", how=RUN, args=lambda: (ones(3), ge.asarray(9)), good=lambda: (ones(3), ge.asarray(2)))
def in_a_branch(x, i):
    if ge.sum(x) > 0:
        y = x[i]
        #   ^^^^
    else:
        y = x[0]
    return y * 2


@wrong(IndexError, "index 9", how=RUN, args=lambda: (ones(3), ge.asarray(9)), good=lambda: (ones(3), ge.asarray(2)))
def in_a_function(x, i):
    def inner(table, at):
        return table[at] * 2
        #      ^^^^^^^^^
    return inner(x + 1, i)


@wrong(IndexError, "index 5", how=PLAIN)
def in_a_gradient():
    @ge.jit
    def step(w, i):
        def loss(v):
            return ge.sum(v[i] ** 2)
            #~~~~~~~~~~~~~~~~~~~~~~~
        return ge.grad(loss)(w)
    return step(ge.ones((3,)), ge.asarray([5]))
    #      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(IndexError, "index 10", "Words.net.embed", how=PLAIN)
def in_a_layer():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(10, 4)
            self.head = nn.Linear(4, 2)

        def forward(self, words):
            return self.head(self.embed(words))
            #~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~

    class Words(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = Net()

        def forward(self, words):
            return self.net(words) * 2

    @ge.jit
    def run(words):
        return net(words)

    net = Words()
    return run(np.array([1, 10]))
    #      ^^^^^^^^^^^^^^^^^^^^^^


@wrong(ValueError, "3", "4", how=PLAIN)
def free_size():
    @ge.jit
    def run(x, y):
        return x + y
        #~~~~~~~~~~~
    run(ge.ones((3,)), ge.ones((3,)))
    run(ge.ones((4,)), ge.ones((4,)))
    return run(ge.ones((3,)), ge.ones((4,)))
    #      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
