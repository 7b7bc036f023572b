"""One rank of a run of PyTorch's DistributedDataParallel on Gloo: prints the mean loss of each step
of all ranks, as JSON. parallel_nets.py starts it, with RANK and WORLD_SIZE.

  ddp.py NET WEIGHTS.npz DATA.npz BATCH STEPS OPTIMIZER LR"""
import json
import pathlib
import sys

import numpy as np
import torch
import torch.distributed as dist
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel

ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.path.insert(0, str(ROOT / "tools/bench/training"))
import torch_nets  # noqa: E402


def main():
    name, weights, data, batch, steps, optimizer, lr = sys.argv[1:8]
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    weights = dict(np.load(weights))
    dtype = torch.from_numpy(next(iter(weights.values()))).dtype
    net = DistributedDataParallel(torch_nets.NETS[name](weights, dtype))
    opt = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}[optimizer](net.parameters(),
                                                                       lr=float(lr))
    with np.load(data) as d:
        x, y = torch.from_numpy(d["x"]), torch.from_numpy(d["y"])
    each, losses = int(batch) // ranks, []
    for step in range(int(steps)):
        first = step * int(batch) + rank * each
        loss = F.cross_entropy(net(x[first:first + each]), y[first:first + each])
        opt.zero_grad()
        loss.backward()
        opt.step()
        said = loss.detach().clone()
        dist.all_reduce(said)
        losses.append(said.item() / ranks)
    if rank == 0:
        print(json.dumps(losses))
    dist.destroy_process_group()


main()
