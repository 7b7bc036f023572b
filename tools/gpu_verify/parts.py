"""What gpu_verify tries, a function a part: (machine, report) -> nothing. Each ends by itself when its
seconds are over (machine.left)."""
import json
import os
import pathlib
import re
import subprocess
import tempfile
import time

COUNTS = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", re.M)


class Machine:
    """Runs programs of a build with the driver of this machine, or with the simulated one."""

    def __init__(self, build, simulated):
        self.build, self.simulated, self.until = build, simulated, 0.0
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="gpu_verify."))

    def left(self):
        return self.until - time.monotonic()

    def run(self, program, *args, seconds=None, **env):
        """A finished process; one that takes too long has returncode 124."""
        whole = {**os.environ, "GE_CACHE_DIR": "off", "GE_PROBE": "fixed", **env}
        before = whole.get("LD_LIBRARY_PATH")
        paths = [str(self.build / "lib")] + ([before] if before else [])
        if self.simulated:
            paths.insert(0, str(self.build / "lib/sim/cuda"))
        whole["LD_LIBRARY_PATH"] = ":".join(paths)
        command = [str(self.build / "bin" / program), *map(str, args)]
        limit = max(1.0, self.left()) if seconds is None else seconds
        try:
            return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=whole,
                                  universal_newlines=True, timeout=limit, check=False)
        except subprocess.TimeoutExpired as late:
            said = late.stdout.decode(errors="replace") if isinstance(late.stdout, bytes) else ""
            return subprocess.CompletedProcess(command, 124, said, f"not done after {limit:.0f} s")

    def ran(self, graph, *args, engines="gpu,ref", **env):
        """The report of `ge run`, and its stderr."""
        done = self.run("ge", "run", graph, "--engines", engines, "--policy", "priority", "--json",
                        *args, **env)
        return (json.loads(done.stdout) if done.returncode == 0 else {}), done.stderr

    def graph(self, name, text):
        path = self.folder / f"{name}.gt"
        path.write_text(text)
        return path

    def device(self):
        """What is known of the device; 'why' alone where there is none."""
        said = self.run("ge", "plugins", "--json", "--open", seconds=60)
        found = [p for p in json.loads(said.stdout or '{"plugins": []}')["plugins"]
                 if p["name"] == "gpu"]
        if not found or not found[0].get("devices"):
            return {"why": found[0].get("why", "") if found else said.stderr}
        facts = {"name": "gpu/" + found[0]["devices"][0], "simulated": self.simulated}
        try:
            asked = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version,memory.total",
                                    "--format=csv,noheader"], stdout=subprocess.PIPE, timeout=30,
                                   universal_newlines=True, check=True)
            facts["nvidia-smi"] = asked.stdout.strip().splitlines()[0]
        except (OSError, subprocess.SubprocessError, IndexError):
            pass
        return facts


def counted(report, part, name, done, least=1):
    """A run of ge-test as a check: its last counts, and how many passed."""
    found = COUNTS.findall(done.stdout)
    passed, failed = (int(found[-1][0]), int(found[-1][1])) if found else (0, 0)
    good = done.returncode == 0 and failed == 0 and passed >= least
    report.add(part, f"{name}: {passed} passed", "passed" if good else "failed",
               "" if good else (done.stdout[-1500:] + done.stderr[-500:]))
    return passed


def device(machine, report):
    model = machine.graph("small", TRANSFORMER)
    found, said = machine.ran(model, "--seed", 5)
    share = found.get("engines", {}).get("gpu", 0)
    report.add("device", f"a first run: {share} nodes on gpu", "passed" if share > 0 else "failed",
               said)
    done = machine.run("ge", "explain", model, "--engines", "gpu,ref", "--policy", "priority")
    named = report.device["name"] in done.stdout
    report.add("device", "ge explain names the device", "passed" if named else "failed", done.stderr)


def operators(machine, report):
    """Random cases by one seed after the other, as long as there is time."""
    total, seed = 0, 1
    while True:
        before = machine.left()
        done = machine.run("ge-test", "--random", 4, "--engines", "gpu", "--seed", seed)
        if done.returncode == 124 and seed > 1:
            break
        total += counted(report, "operators", f"random cases, seed {seed}", done, 500)
        took = before - machine.left()
        seed += 1
        if machine.left() < 1.2 * took or (machine.simulated and seed > 2):
            break
    report.figures["cases of operators"] = total


def graphs(machine, report):
    many = 40 if machine.simulated else 200
    for zones in ["0", "1"]:
        done = machine.run("ge-test", "--random-models", many, "--engines", "gpu,ref",
                           GE_RED_ZONES=zones)
        counted(report, "graphs", f"{many} random models{', red zones' if zones == '1' else ''}", done)


def outputs(machine, *args, **env):
    with tempfile.TemporaryDirectory(dir=machine.folder) as folder:
        found, said = machine.ran(*args, "--output", folder, **env)
        return found, said, {f.name: f.read_bytes() for f in sorted(pathlib.Path(folder).iterdir())}


def schedules(machine, report):
    """The bits of the first run are those of the fiftieth, captured or not."""
    model = machine.graph("small", TRANSFORMER)
    for words in [[], ["--no-fuse"]]:
        first, said, wanted = outputs(machine, model, "--seed", 5, *words)
        wrong = 0
        for repeat in [4, 8, 50]:
            _, said, found = outputs(machine, model, "--seed", 5, "--repeat", repeat, *words)
            wrong += found != wanted
        good = bool(first) and wanted and wrong == 0
        report.add("schedules", "repeated runs have the bits of the first" + "".join(words),
                   "passed" if good else "failed", said)


def memory(machine, report):
    model = machine.graph("small", TRANSFORMER)
    few, said = machine.ran(model, "--repeat", 20)
    many, said_many = machine.ran(model, "--repeat", 2000)
    for key, allowed in [("device_memory", 0), ("peak_rss_mb", 8)]:
        a, b = few.get(key), many.get(key)
        if isinstance(a, (int, float)) and isinstance(b, (int, float)):
            level = b - a <= allowed
        else:
            level = bool(few) and a == b
        report.add("memory", f"{key} of 20 and of 2000 runs", "passed" if level else "failed",
                   f"{a} and {b} {said} {said_many}")


def speed(machine, report):
    """Figures of the device's work alone: what a run copies is one number in and one out."""
    for dtype, size in [("f32", 4096), ("f16", 8192), ("bf16", 8192)]:
        ns = per_step(machine, report, "MatMul", dtype, size)
        if ns:
            report.figures[f"product of {size}, {dtype}"] = f"{2 * size**3 / ns / 1000:.1f} TFLOP/s"
    ns = per_step(machine, report, "Relu", "f32", 8192)
    if ns:
        report.figures["pointwise, 8192 x 8192, f32"] = f"{2 * 4 * 8192**2 / ns:.0f} GB/s"
    found, said = machine.ran(machine.graph("small", TRANSFORMER), "--no-fuse", "--repeat", 2000)
    report.add("speed", "time of a replay", "passed" if found else "failed", said)
    report.figures["run of a captured graph of 11 nodes, copies included"] = (
        f"{1000 * found['median_ms']:.1f} us" if found else "none")


def per_step(machine, report, op, dtype, size):
    """Nanoseconds of one of a chain of such nodes: a long chain less a short one."""
    times = []
    for steps in (4, 20):
        name = f"{op}_{dtype}_{steps}"
        found, said = machine.ran(machine.graph(name, chain(op, dtype, size, steps)), "--no-fuse",
                                  "--repeat", 15, "--warmup", 5)
        if not found:
            report.add("speed", name, "failed", said)
            return None
        times.append(found["median_ms"])
    ns = (times[1] - times[0]) * 1e6 / 16
    report.add("speed", f"{op} {dtype} {size}", "passed" if ns > 0 else "failed", f"{ns:.0f} ns")
    return ns if ns > 0 else None


def chain(op, dtype, size, steps):
    words = {"MatMul": "MatMul(v{}, w)", "Relu": "Abs(v{})"}[op]
    lines = ["ge 1", 'opset "" 27', f"const w : {dtype}[{size},{size}] = splat 0.0001220703125",
             f"const shape : i64[2] = [{size}, {size}]", f"fn main(x: {dtype}[1,1]) -> (y) {{",
             "  v0 = Expand(x, shape)"]
    lines += [f"  v{k + 1} = {words.format(k)}" for k in range(steps)]
    lines += [f"  y = ReduceMax(v{steps}) {{keepdims=1}}", "}", 'entry infer "main" = main', ""]
    return "\n".join(lines)


TRANSFORMER = """ge 1
opset "" 27
const wq : f32[64,64] = splat 0.015625
const wk : f32[64,64] = splat -0.03125
const wv : f32[64,64] = splat 0.0625
const wo : f32[64,64] = splat 0.03125
const scale : f32[64] = splat 1.5
const bias : f32[64] = splat 0.25
fn main(x: f32[2,16,64]) -> (y) {
  q = MatMul(x, wq)
  k = MatMul(x, wk)
  v = MatMul(x, wv)
  kt = Transpose(k) {perm=[0, 2, 1]}
  s = MatMul(q, kt)
  p = Softmax(s)
  a = MatMul(p, v)
  r = Add(a, x)
  n = LayerNormalization(r, scale, bias)
  g = Gelu(n)
  y = MatMul(g, wo)
}
entry infer "main" = main
"""

# Name: (part, seconds). On a device 460 s in all.
PARTS = {
    "device": (device, 30),
    "operators": (operators, 180),
    "graphs": (graphs, 100),
    "schedules": (schedules, 40),
    "memory": (memory, 50),
    "speed": (speed, 60),
}
