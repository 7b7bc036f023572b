"""Optimizers, fit and its callbacks."""
import numpy as np
from wrong import PLAIN, wrong

import graphengine as ge
from graphengine import nn, optim

X = np.ones((8, 4), np.float32)
Y = np.zeros((8,), np.int64)


def model(**words):
    net = nn.Sequential(nn.Linear(4, 3))
    return ge.Model(net, nn.CrossEntropyLoss(), optim.SGD(net, 0.1), **words)


@wrong(ValueError, "Sequential", "parameters", how=PLAIN)
def no_parameters():
    return optim.Adam(nn.Sequential(nn.ReLU()), 0.1)
    #      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(TypeError, "'lt'", "momentum", how=PLAIN)
def no_option():
    return optim.SGD(nn.Linear(4, 2), 0.1, lt=0.1)
    #      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(TypeError, "lr", own=True, how=PLAIN)
def no_rate():
    return optim.SGD(nn.Linear(4, 2))
    #      ^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(TypeError, "list", "Module", how=PLAIN)
def list_of_parameters():
    return optim.SGD([ge.Variable(1.0)], 0.1)
    #      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(TypeError, "'decay'", "weight_decay", how=PLAIN)
def group_option():
    return optim.SGD(nn.Linear(4, 2), 0.1, groups={"*bias": {"decay": 0.0}})
    #      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(KeyError, "weight", how=PLAIN)
def missing_gradients():
    step = optim.SGD(nn.Linear(4, 2), 0.1)
    step({})
    #^^^^^^^


@wrong(ValueError, "optimizer", how=PLAIN)
def fit_without_optimizer():
    net = nn.Linear(4, 3)
    ge.Model(net, nn.CrossEntropyLoss()).fit(X, Y)
    #^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(ValueError, "8, 7", "rows", how=PLAIN)
def rows():
    model().fit(X, Y[:7])
    #^^^^^^^^^^^^^^^^^^^^


@wrong(TypeError, "target", how=PLAIN)
def no_target():
    model().fit(X)
    #^^^^^^^^^^^^^


@wrong(ValueError, "'recall'", "accuracy", how=PLAIN)
def metric():
    net = nn.Linear(4, 3)
    ge.Model(net, nn.CrossEntropyLoss(), metrics=["recall"])
    #^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(ValueError, "5", "4", how=PLAIN)
def columns():
    model().fit(np.ones((8, 5), np.float32), Y)
    #^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(TypeError, "one number", how=PLAIN)
def loss_of_many():
    net = nn.Linear(4, 3)
    ge.Model(net, lambda out, target: out, optim.SGD(net, 0.1)).fit(X, Y)
    #^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(ValueError, "[8,3]", "[8]", how=PLAIN)
def own_loss():
    net = nn.Linear(4, 3)

    def loss(out, target):
        return ge.mean((out - target) ** 2)
        #               ^^^^^^^^^^^^
    ge.Model(net, loss, optim.SGD(net, 0.1)).fit(X, Y.astype(np.float32))


class Stop(Exception):
    pass


@wrong(Stop, "step 2", own=True, how=PLAIN)
def callback():
    class Logger(ge.Callback):
        def on_step_end(self, model, step, logs):
            if step == 2:
                raise Stop(f"step {step}")
                #^^^^^^^^^^^^^^^^^^^^^^^^^
    model().fit(X, Y, batch_size=2, callbacks=[Logger()])


@wrong(KeyError, "acc", own=True, how=PLAIN)
def callback_logs():
    class Logger(ge.Callback):
        def on_epoch_end(self, model, epoch, logs):
            print(logs["acc"])
            #     ^^^^^^^^^^^
    model().fit(X, Y, callbacks=[Logger()])


@wrong(TypeError, "callback 0", "ge.Callback", how=PLAIN)
def callback_of_no_kind():
    model().fit(X, Y, callbacks=[print])
    #^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(Stop, "no more", own=True, how=PLAIN)
def batches():
    def source():
        yield X, Y
        raise Stop("no more")
        #^^^^^^^^^^^^^^^^^^^^
    model().fit(source())


@wrong(TypeError, "batch 0", "(x, target)", how=PLAIN)
def batches_of_one():
    model().fit([[X], [X]])
    #^^^^^^^^^^^^^^^^^^^^^^


@wrong(ValueError, "(8)", "(8, 3)", how=PLAIN)
def target_without_axis():
    net = nn.Linear(4, 3)
    ge.Model(net, nn.MSELoss(), optim.SGD(net, 0.1)).fit(X, Y.astype(np.float32))
    #^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(ValueError, "(8, 1)", "(8, 3)", how=PLAIN)
def probabilities_of_one_class():
    model().fit(X, Y.astype(np.float32).reshape(8, 1))
    #^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(ValueError, "(8, 1)", "class numbers", how=PLAIN)
def classes_with_an_axis():
    model().fit(X, Y.reshape(8, 1))
    #^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(IndexError, "3", how=PLAIN)
def label_out_of_range():
    labels = Y.copy()
    labels[5] = 3
    model().fit(X, labels)
    #^^^^^^^^^^^^^^^^^^^^^


@wrong(FloatingPointError, "nan", "rate", how=PLAIN)
def loss_of_nan():
    model().fit(X * np.nan, Y)
    #^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(ValueError, "batch_size", "0", how=PLAIN)
def batch_of_zero():
    model().fit(X, Y, batch_size=0)
    #^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(ValueError, "(8, 5)", "4", how=PLAIN)
def predict():
    model().predict(np.ones((8, 5), np.float32))
    #^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(TypeError, "assigned", "eval", how=PLAIN)
def export_of_training():
    net = nn.BatchNorm1d(4)

    def run(x):
        return net(x)
        #      ^^^^^^
    ge.export(run, "x.onnx", x=ge.Spec("batch", 4))


@wrong(OSError, "/nowhere", own=True, how=PLAIN)
def export_to_no_folder():
    net = nn.Linear(4, 3)
    ge.export(net, "/nowhere/at/all.onnx", x=ge.Spec("batch", 4))
    #^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(ValueError, "'*.bias'", "fits no parameter", how=PLAIN)
def group_of_nothing():
    return optim.SGD(nn.Linear(4, 2), 0.1, groups={"*.bias": {"weight_decay": 0.0}})
    #      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^


@wrong(TypeError, "'x' is 3", "ge.Spec", how=PLAIN)
def export_of_a_number():
    ge.export(lambda x: x, "x.onnx", x=3)
    #^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
