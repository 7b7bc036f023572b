#!/usr/bin/env python3
"""The kinds of case in which PyTorch's DTensor is known to err, by the number of the report at
github.com/pytorch/pytorch, on this PyTorch: four processes on Gloo. Prints one JSON object for
redistributions.py: of each kind "right", or what the first rank that has something else has."""
import datetime
import json
import pathlib
import sys
import tempfile
import warnings

import torch
import torch.distributed as dist
from torch.distributed.tensor import DTensor, DeviceMesh, Shard, distribute_tensor
from torch.distributed.tensor.experimental import local_map

RANKS = 4


def numbers(*dims):
    return torch.arange(1, torch.Size(dims).numel() + 1, dtype=torch.float64).reshape(dims)


def own_shares(mesh):
    """144109: shares of sizes of the user's own, 2, 3, 4 and 5 of 14."""
    whole = numbers(2, 14)
    mine = whole.split([2, 3, 4, 5], 1)[dist.get_rank()].contiguous()
    x = DTensor.from_local(mine, mesh, [Shard(1)], run_check=False, shape=whole.shape, stride=whole.stride())
    return whole, x.full_tensor()


def mean(mesh, rows):
    """163241: the mean of rows that two ranks have unequal numbers of."""
    whole = numbers(rows, 4)
    return whole.mean(), distribute_tensor(whole, mesh, [Shard(0)]).mean().full_tensor()


def local_function(mesh):
    """172812: a function of each rank's share, 3 and 2 of 5."""
    whole = numbers(5)
    double = local_map(lambda x: 2 * x, out_placements=[Shard(0)], in_placements=([Shard(0)],),
                       device_mesh=mesh)
    return 2 * whole, double(distribute_tensor(whole, mesh, [Shard(0)])).full_tensor()


def view(mesh):
    """179502: [12,8], of which columns are split, as [16,6]."""
    whole = numbers(12, 8)
    return whole.view(16, 6), distribute_tensor(whole, mesh, [Shard(1)]).view(16, 6).full_tensor()


def two_axes(mesh):
    """194457: rows that two axes split one behind the other, gathered by both at once."""
    whole = numbers(5, 3)
    return whole, distribute_tensor(whole, mesh, [Shard(0)] * 2).full_tensor()


CASES = {"144109": own_shares, "163241, 3 rows": lambda m: mean(m, 3), "163241, 1 row": lambda m: mean(m, 1),
         "172812": local_function, "179502": view,
         "194457": two_axes}


def mesh_of(name):
    if name == "194457":
        mesh = DeviceMesh("cpu", [[0, 1], [2, 3]], mesh_dim_names=("a", "b"))
        mesh._flatten("ab")
        return mesh
    return DeviceMesh("cpu", list(range(RANKS if name in ("144109", "179502") else 2)))


def said(name, mesh):
    try:
        wanted, found = CASES[name](mesh)
    except Exception as e:
        return f"{type(e).__name__}: {e}".splitlines()[0][:200]
    if found.shape != wanted.shape:
        return f"sizes {list(found.shape)}, wanted {list(wanted.shape)}"
    if torch.equal(found, wanted):
        return "right"
    return f"{found.flatten()[:12].tolist()}, wanted {wanted.flatten()[:12].tolist()}"


def work(rank, folder, name):
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=RANKS,
                            timeout=datetime.timedelta(seconds=20))  # one that fails leaves others waiting
    mesh = mesh_of(name)
    text = said(name, mesh) if mesh.get_coordinate() is not None else "right"
    (pathlib.Path(folder) / f"said{rank}").write_text(text)


def on_ranks(name):
    with tempfile.TemporaryDirectory() as folder:
        try:
            torch.multiprocessing.spawn(work, (folder, name), RANKS)
        except torch.multiprocessing.ProcessExitedException as e:
            return str(e)
        each = [(pathlib.Path(folder) / f"said{r}").read_text() for r in range(RANKS)]
    return next((text for text in each if text != "right"), "right")


def main():
    json.dump({name: on_ranks(name) for name in CASES}, sys.stdout)


if __name__ == "__main__":
    main()
