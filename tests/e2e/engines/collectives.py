#!/usr/bin/env python3
"""The four collectives by the engine `mpi` under mpirun: meshes of one to three axes, each set of
axes, shares of uneven and no size, small and large tensors, sums, greatest and least; asynchronous
and not, to the bit. Each rank's results are what numpy cuts from whole tensors."""
import itertools
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = ROOT / "build/release"
ENV = dict(os.environ, GE_CACHE_DIR="off", GE_PROBE="fixed", OMPI_ALLOW_RUN_AS_ROOT="1",
           OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1")
TYPES = {np.float32: "f32", np.float64: "f64", np.int64: "i64"}
REDUCED = {"sum": np.add, "max": np.maximum, "min": np.minimum}


class Mesh:
    def __init__(self, **sizes):
        self.names, self.sizes = list(sizes), list(sizes.values())
        self.ranks = int(np.prod(self.sizes))
        self.text = ",".join(f"{k}={v}" for k, v in sizes.items())

    def at(self, rank):
        return np.unravel_index(rank, self.sizes)

    def group(self, rank, axes):
        """The ranks that agree in all places but those along axes, in order."""
        mine = self.at(rank)
        return [r for r in range(self.ranks)
                if all(self.at(r)[a] == mine[a] for a in range(len(mine)) if a not in axes)]


def share(x, dim, shares, place):
    each = -(-x.shape[dim] // shares)
    first = min(x.shape[dim], each * place)
    return np.take(x, range(first, min(x.shape[dim], first + each)), dim)


class Program:
    """One graph a rank, a node for each case; what goes in and what comes out."""

    def __init__(self, mesh, seed):
        self.mesh, self.random = mesh, np.random.default_rng(seed)
        self.params, self.lines, self.given, self.wanted = ([[] for _ in range(mesh.ranks)]
                                                            for _ in range(4))
        self.nodes = 0

    def tensor(self, dims, dtype):
        # Whole numbers: sums are exact in any order.
        return self.random.integers(-1000, 1000, dims).astype(dtype)

    def add(self, op, axes, attrs, ins, outs):
        names = ",".join(self.mesh.names[a] for a in axes)
        for r in range(self.mesh.ranks):
            def typed(letter, tensors):
                return [f"{letter}{self.nodes}_{i}: {TYPES[x.dtype.type]}"
                        f"[{','.join(map(str, x.shape))}]" for i, x in enumerate(tensors)]
            xs = typed("x", ins[r])
            self.params[r] += xs
            self.lines[r].append(
                f"  {', '.join(typed('y', outs[r]))} = comm.{op}"
                f"({', '.join(x.split(':')[0] for x in xs)}) {{{attrs}, mesh=\"{self.mesh.text}\", "
                f"axes=\"{names}\", rank={r}}} effects [collective 1 seq {self.nodes}]")
            self.given[r] += [(f"x{self.nodes}_{i}", x) for i, x in enumerate(ins[r])]
            self.wanted[r] += [(f"y{self.nodes}_{i}", y) for i, y in enumerate(outs[r])]
        self.nodes += 1

    def case(self, axes, dims, dim, other, dtype, how):
        ranks = range(self.mesh.ranks)
        groups = [self.mesh.group(r, axes) for r in ranks]
        place = [groups[r].index(r) for r in ranks]
        n = len(groups[0])
        mine = [self.tensor(dims, dtype) for _ in ranks]
        large = [self.tensor((70_000,), dtype) for _ in ranks]
        whole = {g[0]: self.tensor(dims, dtype) for g in groups}
        whole = [whole[g[0]] for g in groups]
        size = f"size={dims[dim]}"

        def reduced(of):
            return [REDUCED[how].reduce([of[m] for m in g]) for g in groups]
        self.add("AllReduce", axes, f'reduction="{how}"', list(zip(mine, large, mine)),
                 list(zip(reduced(mine), reduced(large), reduced(mine))))
        self.add("AllGather", axes, f"dim={dim}, {size}",
                 [[share(whole[r], dim, n, place[r])] for r in ranks], [[w] for w in whole])
        self.add("ReduceScatter", axes, f'dim={dim}, reduction="{how}"', [[m] for m in mine],
                 [[share(y, dim, n, place[r])] for r, y in enumerate(reduced(mine))])
        self.add("AllToAll", axes, f"gather_dim={dim}, {size}, split_dim={other}",
                 [[share(whole[r], dim, n, place[r])] for r in ranks],
                 [[share(whole[r], other, n, place[r])] for r in ranks])

    def write(self, to):
        for r in range(self.mesh.ranks):
            results = ", ".join(name for name, _ in self.wanted[r])
            (to / f"{r}.gt").write_text(
                'ge 1\nopset "" 28\nopset "comm" 1\n'
                f"fn main({', '.join(self.params[r])}) -> ({results}) effects [collective 1] {{\n" +
                "\n".join(self.lines[r]) + '\n}\nentry infer "main" = main\n')
            for name, x in self.given[r]:
                np.save(to / f"{r}_{name}.npy", x)


def run(to, program, engine):
    """Exit code, text, and for each rank its results."""
    parts = []
    for r in range(program.mesh.ranks):
        parts += [":"] * bool(r) + ["-np", "1", str(BUILD / "bin/ge"), "run", str(to / f"{r}.gt"),
                                    "--plugins", "parallel", "--engines", f"ref,{engine}",
                                    "--output", str(to / f"out{r}"), "--repeat", "2", "--warmup",
                                    "0"]
        for name, _ in program.given[r]:
            parts += ["--input", f"{name}={to}/{r}_{name}.npy"]
    for _ in range(2):
        done = subprocess.run(["mpirun", *parts], capture_output=True, text=True, timeout=300,
                              check=False, env=ENV)
        if done.returncode != -signal.SIGSEGV:  # Debian's mpirun 4.1.4 itself, in its end
            break
    return done.returncode, done.stdout + done.stderr


def main():
    if subprocess.run(["sh", "-c", "command -v mpirun"], capture_output=True,
                      check=False).returncode or not (BUILD / "lib/graphengine/mpi.so").exists():
        print("skipped: no Open MPI (apt-get install libopenmpi-dev openmpi-bin, then build)")
        print("0 passed, 0 failed, 1 skipped")
        return
    passed = failed = 0
    for seed, mesh in enumerate([Mesh(a=2), Mesh(a=3), Mesh(a=2, b=2), Mesh(a=2, b=1, c=2)]):
        program = Program(mesh, seed)
        wide = [a for a, size in enumerate(mesh.sizes) if size > 1]
        sets = [s for n in range(1, len(wide) + 1) for s in itertools.combinations(wide, n)]
        hows, types = itertools.cycle(REDUCED), itertools.cycle(TYPES)
        for axes in sets:
            for dims, dim, other in (((4, 6, 3), 0, 1), ((3, 5, 2), 1, 0), ((2, 1, 7), 2, 1),
                                     ((300, 400), 1, 0)):
                program.case(axes, dims, dim, other, next(types), next(hows))
        for engine in ("mpi", "mpi:async=0"):
            with tempfile.TemporaryDirectory() as scratch:
                to = pathlib.Path(scratch)
                program.write(to)
                code, text = run(to, program, engine)
                if code:
                    print(f"FAILED  {mesh.text}, {engine}: exit {code}\n{text}")
                    failed += 1
                    continue
                for r in range(mesh.ranks):
                    for name, y in program.wanted[r]:
                        got = np.load(to / f"out{r}" / f"{name}.npy")
                        good = got.shape == y.shape and np.array_equal(got, y)
                        passed += good
                        failed += not good
                        if not good:
                            print(f"FAILED  {mesh.text}, {engine}, rank {r}, {name}")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    sys.exit(failed != 0)


main()
