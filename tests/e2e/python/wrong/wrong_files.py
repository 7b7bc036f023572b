"""Files, plugins, engines, and operators and derivatives of the program's own."""
import os
import tempfile

import numpy as np
from wrong import PLAIN, RUN, wrong

import graphengine as ge
from graphengine import nn


def ones(*shape):
    return ge.ones(shape)


@wrong(OSError, "nowhere.safetensors", own=True, how=PLAIN)
def load_of_no_file():
    return ge.load("/nowhere/nowhere.safetensors")
    #      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(OSError, "/nowhere", own=True, how=PLAIN)
def save_into_no_folder():
    ge.save(nn.Linear(2, 2), "/nowhere/weights.safetensors")
    #^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(TypeError, "list", "dict", how=PLAIN)
def save_of_a_list():
    ge.save([ge.ones((2,))], "/nowhere/weights.safetensors")
    #^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(KeyError, "'0.weight'", "strict=False", how=PLAIN)
def load_into_another_net():
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "w.safetensors")
        ge.save(nn.Linear(2, 2), file)
        ge.load(file, into=nn.Sequential(nn.Linear(2, 2)))
        #^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(ValueError, "weights", "safetensors", how=PLAIN)
def load_of_damaged_bytes():
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "weights")
        with open(file, "wb") as out:
            out.write(b"\xff" * 64)
        ge.load(file)
        #^^^^^^^^^^^^


@wrong(FileExistsError, "resume=True", how=PLAIN)
def checkpoint_of_another_run():
    net = nn.Linear(2, 2)
    x = np.ones((4, 2), np.float32)
    with tempfile.TemporaryDirectory() as folder:
        model = ge.Model(net, nn.MSELoss(), ge.optim.SGD(net, 0.1))
        model.fit(x, x, checkpoint=folder)
        model.fit(x, x, checkpoint=folder)
        #^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(OSError, "not_a_folder", own=True, how=PLAIN)
def checkpoint_in_no_folder():
    net = nn.Linear(2, 2)
    x = np.ones((4, 2), np.float32)
    with tempfile.NamedTemporaryFile(suffix="not_a_folder") as file:
        model = ge.Model(net, nn.MSELoss(), ge.optim.SGD(net, 0.1))
        model.fit(x, x, checkpoint=os.path.join(file.name, "a"))
        #^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(ge.Error, "nobody", own=True, how=PLAIN)
def engine_of_no_name():
    ge.configure(engines="nobody")
    #^^^^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(NotImplementedError, "Hardmax", "engine", how=PLAIN)
def no_engine_takes_it():
    @ge.jit
    def run(x):
        y = ge.ops.Hardmax(x)
        #~~~~~~~~~~~~~~~~~~~~
        return y * 2
    ge.configure(engines="openblas")
    try:
        return run(np.ones((2, 2), np.float32))
        #      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    finally:
        ge.configure()


@wrong(ZeroDivisionError, "more than 100", own=True, how=PLAIN)
def raised_in_an_operator():
    @ge.custom_op
    def checked(x):
        if x.sum() > 100:
            raise ZeroDivisionError("more than 100")
            #^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        return x / 2

    @ge.jit
    def run(x):
        return checked(x * 2)
    return run(np.full((3,), 50, np.float32))


@wrong(ValueError, "(2,)", "(3,)", how=PLAIN)
def operator_of_another_size():
    @ge.custom_op
    def shorter(x):
        return x[1:]

    @ge.jit
    def run(x):
        return shorter(x * 2)
    return run(ge.ones((3,)))
    #      ^^^^^^^^^^^^^^^^^^


@wrong(TypeError, "defvjp", "derivative", how=PLAIN)
def no_derivative():
    @ge.custom_vjp
    def run(x):
        return ge.sum(x)
    return ge.grad(run)(ge.ones((3,)))
    #      ^^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(TypeError, "backward", "tuple", how=PLAIN)
def derivative_of_one():
    @ge.custom_vjp
    def run(x):
        return ge.sum(x)
    run.defvjp(lambda x: (ge.sum(x), x), lambda x, c: x * c)
    return ge.grad(run)(ge.ones((3,)))
    #      ^^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(TypeError, "(2)", "(3)", how=PLAIN)
def derivative_of_another_shape():
    @ge.custom_vjp
    def run(x):
        return ge.sum(x)
    run.defvjp(lambda x: (ge.sum(x), x), lambda x, c: (x[1:] * c,))
    return ge.grad(run)(ge.ones((3,)))
    #      ^^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(ValueError, "[3]", "[2]", how=PLAIN)
def shape_in_a_derivative():
    @ge.custom_vjp
    def run(x):
        return ge.sum(x)

    def back(x, cotangent):
        return (x * ge.ones((2,)),)
        #       ^^^^^^^^^^^^^^^^^
    run.defvjp(lambda x: (ge.sum(x), x), back)
    return ge.grad(run)(ge.ones((3,)))


@wrong(ValueError, "6", how=RUN, args=lambda: (ones(6), ge.asarray(4)), good=lambda: (ones(6), ge.asarray(3)))
def rows_by_tensor(x, n):
    return ge.sum(ge.reshape(x, (n, 2)), axis=1)
    #             ^^^^^^^^^^^^^^^^^^^^^


@wrong(RuntimeError, "no program", "call it", how=PLAIN)
def dump_before_a_call():
    run = ge.jit(lambda x: x)
    return run.dump()
    #      ^^^^^^^^^^
