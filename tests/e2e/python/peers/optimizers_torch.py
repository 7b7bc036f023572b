"""The nets of optimizer_cases.py trained by torch in float64, optimizers that torch lacks by
train_numpy.py from torch's gradients. Run by torch's own Python, which has array_api_compat;
optimizers_peers.py compares.

  optimizers_torch.py FILE      writes first weights and losses as a pickle"""
import pathlib
import pickle
import sys

import array_api_compat.torch as xp
import optimizer_cases as cases
import torch

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "training"))
import train_numpy  # noqa: E402


def torch_optimizer(net, name, kind, options):
    if name != "grouped":
        return getattr(torch.optim, kind)(net.parameters(), **options)
    named = list(net.named_parameters())
    return getattr(torch.optim, kind)([
        {"params": [p for n, p in named if not n.endswith(".bias")]},
        {"params": [p for n, p in named if n.endswith(".bias")], "lr": 1e-3, "weight_decay": 0.0}], **options)


def train(net, name, data):
    kind, _, options, by_numpy = cases.OPTIMIZERS[name]
    step = train_numpy.Optimizer(by_numpy[0], **by_numpy[1]) if by_numpy else torch_optimizer(net, name, kind, options)
    losses = []
    for i in range(cases.STEPS):
        x, y = (torch.as_tensor(a[i % len(a)]) for a in data)
        for p in net.parameters():
            p.grad = None
        loss = torch.nn.functional.cross_entropy(net(x), y)
        loss.backward()
        losses.append(float(loss.detach()))
        if by_numpy:
            values = {n: p.detach().numpy() for n, p in net.named_parameters()}
            moved = step.step(values, {n: p.grad.numpy() for n, p in net.named_parameters()})
            net.load_state_dict({n: torch.as_tensor(v) for n, v in moved.items()})
            continue
        if name == "clipped":
            torch.nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        if name == "scheduled":
            step.param_groups[0]["lr"] = cases.schedule(float(i))
        step.step()
    return losses


def all_of(net_name, make):
    torch.manual_seed(3)
    net = make().double()
    first = {k: v.numpy().copy() for k, v in net.state_dict().items()}
    losses = {}
    for name in cases.OPTIMIZERS:
        net.load_state_dict({k: torch.as_tensor(v.copy()) for k, v in first.items()})
        losses[name] = train(net, name, cases.data(net_name))
    return first, losses


if __name__ == "__main__":
    torch.set_num_threads(1)
    found = cases.nets(torch.nn, xp, lambda x: torch.softmax(x, -1))
    with open(sys.argv[1], "wb") as file:
        pickle.dump({name: all_of(name, make) for name, make in found.items()}, file)
