"""One process of PyTorch for tools/bench/parallel.py, by one thread: prints JSON with the median time.

  parallel_torch.py step lone|ddp|fsdp NET ONNX BATCH SECONDS   a step of Adam on BATCH samples of its own
  parallel_torch.py allreduce BYTES SECONDS                     one all-reduce on Gloo

With RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, as torchrun sets them, but where it is alone."""
import json
import pathlib
import statistics
import sys
import time

import numpy as np
import onnx
import torch
import torch.distributed as dist
from onnx import numpy_helper
from torch.nn import functional as F

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "training"))
import torch_nets  # noqa: E402


def timed(call, seconds, together):
    """Median in ms; ranks leave together, after as many calls as the first one says."""
    for _ in range(5):
        call()
    begin = time.perf_counter()
    for _ in range(3):
        call()
    n = torch.tensor([max(10, int(seconds * 3 / (time.perf_counter() - begin)))])
    if together:
        dist.broadcast(n, 0)
    taken = []
    for _ in range(int(n)):
        begin = time.perf_counter()
        call()
        taken.append(time.perf_counter() - begin)
    return {"ms": 1e3 * statistics.median(taken), "calls": int(n)}


def make_net(name, file):
    model = onnx.load(file)
    held = {t.name: np.array(numpy_helper.to_array(t)) for t in model.graph.initializer}
    weights = {k: v for k, v in held.items() if v.dtype == np.float32 and v.ndim > 0}
    sizes = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim[1:]]
    return torch_nets.NETS[name](weights, torch.float32), sizes


def step(how, name, file, batch, seconds):
    net, sizes = make_net(name, file)
    if how == "ddp":
        net = torch.nn.parallel.DistributedDataParallel(net)
    elif how == "fsdp":
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.fsdp import fully_shard
        fully_shard(net, mesh=init_device_mesh("cpu", (dist.get_world_size(),)))
    torch.manual_seed(1)
    shape = (int(batch), *sizes)
    x = torch.randint(1000, shape) if name == "bert" else torch.randn(shape)
    y = torch.randint(10, shape[:1])
    opt = torch.optim.Adam(net.parameters(), lr=1e-4)

    def once():
        loss = F.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        return loss.item()
    return timed(once, float(seconds), how != "lone")


def allreduce(size, seconds):
    x = torch.ones(int(size) // 4)
    return timed(lambda: dist.all_reduce(x), float(seconds), True)


def main():
    torch.set_num_threads(1)
    alone = sys.argv[2] == "lone"
    if not alone:
        dist.init_process_group("gloo")
    print(json.dumps({"step": step, "allreduce": allreduce}[sys.argv[1]](*sys.argv[2:])))
    if not alone:
        dist.destroy_process_group()


main()
