"""The functions of jit_cases.py and jit_recursion.py on torch by array_api_compat, in float64: the sum of
the floats that they answer, and its gradients for arguments of floats. Run by torch's own Python;
control_peers.py compares.

  control_torch.py FILE      writes them as a pickle"""
import pickle
import sys

import array_api_compat.torch as xp
import control_cases as cases
import torch




def one(function, args):
    given = [torch.as_tensor(a) for a in args]
    floats = [g.requires_grad_() for g in given if g.dtype == torch.float64]
    with cases.under(xp):
        out = cases.leaves(function(*given))
    total = sum(v.sum() for v in out if isinstance(v, torch.Tensor) and v.dtype == torch.float64)
    if not isinstance(total, torch.Tensor) or not floats:
        return None
    gradients = torch.autograd.grad(total, floats, allow_unused=True) if total.requires_grad else [None] * len(floats)
    return float(total.detach()), [torch.zeros_like(f).numpy() if g is None else g.numpy() for f, g in zip(floats, gradients)]


if __name__ == "__main__":
    with open(sys.argv[1], "wb") as file:
        pickle.dump([[one(f, args) for args in calls] for f, calls in cases.CASES], file)
