"""Networks of layers, of torch.nn's names and layouts, so that its state dicts load."""
from graphengine._doors import door, doors
from graphengine.nn import functional
from graphengine.nn.layers import (GRU, LSTM, RNN, BatchNorm1d, BatchNorm2d, BatchNorm3d, Bilinear, Conv1d, Conv2d,
                                   Conv3d, ConvTranspose1d, ConvTranspose2d, Dropout, Embedding, GroupNorm, LayerNorm,
                                   Linear, MultiheadAttention, RMSNorm)
from graphengine.nn.module import Module, ModuleList, Sequential
from graphengine.nn.plain import (ELU, GELU, AdaptiveAvgPool2d, AvgPool1d, AvgPool2d, BCELoss, BCEWithLogitsLoss,
                                  CrossEntropyLoss, Flatten, HuberLoss, Identity, KLDivLoss, L1Loss, LeakyReLU,
                                  LogSoftmax, MaxPool1d, MaxPool2d, MSELoss, NLLLoss, ReLU, Sigmoid, SiLU, SmoothL1Loss,
                                  Softmax, Softplus, Tanh)

for _kind in list(globals().values()):
    if isinstance(_kind, type) and issubclass(_kind, Module):
        for _base in _kind.__mro__:
            if issubclass(_base, Module):
                doors(_base)
for _name in [n for n in vars(functional) if n[0].islower()]:
    if getattr(vars(functional)[_name], "__module__", "") == functional.__name__:
        door(vars(functional)[_name])

__all__ = [name for name in dir() if name[0].isupper()] + ["functional"]
