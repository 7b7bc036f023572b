#!/usr/bin/env python3
"""PyTorch's DTensor on redistributions, all ranks in this process, for redistributions.py.

  dtensor.py CASES.json RESULTS.json

Of each case every rank's numbers go from one layout to another by each planner, with and without
meshes that join axes. The result has what each rank then holds, and the bytes that all ranks send, by
the formula of passes/parallel/redistribute.h: rings, each rank as much as the one that sends most. Its
all-to-all is taken for one, though Gloo gathers instead."""
import contextlib
import json
import math
import sys
import warnings

import torch
import torch.distributed as dist
from torch.distributed._local_tensor import LocalTensor, LocalTensorMode
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, init_device_mesh
from torch.distributed.tensor import _redistribute as redistribute
from torch.utils._python_dispatch import TorchDispatchMode

warnings.filterwarnings("ignore")
# Name of the operator: where its group is among the arguments, and how often the ranks of a group of p
# send (p - 1) / p of the input.
COLLECTIVES = {"all_gather_into_tensor": (2, lambda p: p), "reduce_scatter_tensor": (3, lambda p: 1),
               "all_reduce": (2, lambda p: 2), "shard_dim_alltoall": (3, lambda p: 1)}
SENDS_NOTHING = ("wait_tensor", "_wrap_tensor_autograd")
PLANNERS = {"greedy": False, "min-cost": True}


class Sent(TorchDispatchMode):
    """Counts what collectives send."""

    def __init__(self, ranks):
        super().__init__()
        self.ranks, self.moved, self.calls = ranks, 0, []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name = func._schema.name.split("::")[1]
        if func.namespace in ("_c10d_functional", "_dtensor", "c10d", "c10d_functional") and \
                name not in SENDS_NOTHING:
            at, times = COLLECTIVES[name]
            group = args[at]
            if isinstance(group, str):
                group = dist.distributed_c10d._resolve_process_group(group)
            p = group.size()
            most = max(t.numel() * t.element_size() for t in args[0]._local_tensors.values())
            self.moved += most * times(p) * (p - 1) * (self.ranks // p)
            self.calls.append(name)
        return func(*args, **(kwargs or {}))


def placement(place):
    if place == "whole":
        return Replicate()
    return Partial(place) if isinstance(place, str) else Shard(place)


def local(case):
    return LocalTensor({r: torch.tensor(part, dtype=torch.int64).reshape(dims) for r, (part, dims) in
                        enumerate(zip(case["ranks"], case["sizes"]))})


def run(case, mesh, planner):
    redistribute._gen_transform_infos.cache_clear()
    dims = case["dims"]
    stride = [math.prod(dims[i + 1:]) for i in range(len(dims))]
    x = DTensor.from_local(local(case), mesh, [placement(p) for p in case["from"]], run_check=False,
                           shape=torch.Size(dims), stride=tuple(stride))
    with redistribute.use_min_cost_redistribution_plan(PLANNERS[planner]):
        with Sent(mesh.size()) as sent:
            y = x.redistribute(mesh, [placement(p) for p in case["to"]])
    held = y.to_local()._local_tensors
    return {"moved": sent.moved, "calls": sent.calls,
            "ranks": [held[r].flatten().tolist() for r in range(mesh.size())],
            "sizes": [list(held[r].shape) for r in range(mesh.size())]}


def joined(mesh, sizes):
    """Meshes that join axes, which DTensor takes a collective along all of them for."""
    names = mesh.mesh_dim_names
    for first in range(len(sizes)):
        for last in range(first + 2, len(sizes) + 1):
            mesh[names[first:last]]._flatten("".join(names[first:last]))


@contextlib.contextmanager
def mesh_of(sizes, join):
    dist.init_process_group("fake", rank=0, world_size=math.prod(sizes))
    with LocalTensorMode(math.prod(sizes)):
        mesh = init_device_mesh("cpu", tuple(sizes), mesh_dim_names=tuple("abcd"[:len(sizes)]))
        if join:
            joined(mesh, sizes)
        yield mesh
    dist.destroy_process_group()


def main():
    with open(sys.argv[1]) as f:
        cases = json.load(f)["cases"]
    results = [{} for _ in cases]
    for sizes in sorted({tuple(c["sizes_of_mesh"]) for c in cases}):
        for join in (False, True)[:len(sizes)]:
            with mesh_of(sizes, join) as mesh:
                for case, result in zip(cases, results):
                    if tuple(case["sizes_of_mesh"]) != sizes:
                        continue
                    for planner in PLANNERS:
                        try:
                            said = run(case, mesh, planner)
                        except Exception as e:
                            said = {"error": f"{type(e).__name__}: {e}".splitlines()[0][:200]}
                        result[planner + (", joined axes" if join else "")] = said
    with open(sys.argv[2], "w") as f:
        json.dump({"torch": torch.__version__, "cases": results}, f)


if __name__ == "__main__":
    main()
