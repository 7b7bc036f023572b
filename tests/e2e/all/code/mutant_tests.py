"""The tests that mutate.py runs: each step of ./test in parts, what each part takes and which mutants it reaches."""
import collections
import concurrent.futures
import functools
import hashlib
import os
import pickle
import re
import resource
import signal
import subprocess
import tempfile
import threading
import time

import mutant_tree
from mutant_tree import BUILD, STATE, TREE

PROGRAM, UNIT, UNIT_CPU, UNIT_DEVICE = (BUILD / "bin" / name
                                        for name in ("ge-test", "ge-unit", "ge-unit-cpu", "ge-unit-device"))
NODE = ["--onnx-node", "build/node-tests/node"]
# As in ./test: what an engine takes of the node tests is counted, so that declining is noticed.
NODE_STEPS = {
    "onnx-node": ["--least-taken", "ref=5100"],
    "onnx-node-all": ["--engines", "native,onednn,openblas,ref", "--least-taken", "native=4250"],
    "onnx-node-native": ["--engines", "native,ref", "--policy", "priority", "--least-taken", "native=4340"],
    "onnx-node-onednn": ["--engines", "onednn,ref", "--policy", "priority", "--least-taken", "onednn=230"],
    "onnx-node-openblas": ["--engines", "openblas,ref", "--policy", "priority", "--least-taken", "openblas=205"],
}
MODELS, MODELS_AT_ONCE = 60, 6
# Steps that reach a folder, as docs/testing.md has them. Operators are reached one by one.
OPERATORS = ("plugins/", "ge/ops", "frontend/onnx/adapt")
# Of tests/e2e: those of some seconds, which always run, and others. Those that are about time, or that take
# minutes, are not worth a mutant.
QUICK_SCRIPTS = ["answers", "code_groups", "decoder", "discovery", "flow", "float_mode", "grad", "grad_rules",
                 "inspect", "lifetimes", "offers", "op_plugins", "pass_plugins", "plugins", "precision", "prepared",
                 "prices", "ref_shares", "remat", "schemas", "shardcheck", "texts", "tour", "train_pass", "values",
                 "versions"]
SCRIPTS = ["plot", "c_client", "bad_input", "bombs", "isa_sets", "failing_files", "shipped", "red_zones", "planted",
           "conform", "train_tool"]
OF_MODELS = ["tour"]  # read what the step `models` of ./test makes
TIMES, LEAST_LIMIT, WAITS = 20, 10, 20  # a time-out is this many times the baseline, and so many seconds
BATCH_SECONDS = 3
MANY = 12  # parts of a step that reach a mutant: then the whole step is tried before them
REACHED_BYTES = 1 << 16
LARGEST = 8 << 30  # bytes of addresses: a mutant that asks for all memory fails alone
# How likely a test is to notice a mutant that it reaches: as 1 to 1 + mutants that it reaches / NARROW. Those made
# for one operator or one pass tell more of it than those through which everything goes.
NARROW = 30

# A script builds its clients at a place of its own in the build folder: it runs once at a time.
BUSY = collections.defaultdict(threading.Lock)
STOP = threading.Event()  # set: what runs is ended, and nothing more is begun


class Stopped(Exception):
    """Of a run that STOP has ended; nothing is known of its mutant."""


def environment(extra):
    env = {k: v for k, v in os.environ.items() if k != "OPENBLAS_CORETYPE"}
    return {**env, "GE_CACHE_DIR": "off", "GE_PROBE": "fixed", **extra}


def bounded():
    resource.setrlimit(resource.RLIMIT_AS, (LARGEST, LARGEST))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def spent(pid):
    """Seconds of processor time of a process, without its children's."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            fields = file.read().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def run(command, limit, extra):
    """(exit code, negative for a signal, or "timed out"; the output; the seconds). Seconds are the processor's, so
    that a busy host is no time-out; one that waits for ever is ended after WAITS times the limit, which do
    not count while this process is stopped itself. A process group of its own ends with what it started."""
    with tempfile.TemporaryFile(dir=STATE) as out:
        child = subprocess.Popen([str(w) for w in command], cwd=TREE, env=environment(extra), stdout=out,
                                 stderr=subprocess.STDOUT, start_new_session=True, preexec_fn=bounded)
        waited, late, pause = 0.0, False, 0.01
        while True:
            pid, status, used = os.wait4(child.pid, os.WNOHANG)
            if pid != 0:
                break
            begin = time.monotonic()
            time.sleep(pause)
            waited += min(time.monotonic() - begin, pause + 0.5)
            pause = min(pause * 1.2, 0.5)
            if not late and (STOP.is_set() or waited > WAITS * limit or spent(child.pid) > limit):
                late = True
                os.killpg(child.pid, signal.SIGKILL)
        child.returncode = os.waitstatus_to_exitcode(status)
        if STOP.is_set():
            raise Stopped
        out.seek(0)
        text = out.read().decode(errors="replace")
    return "timed out" if late else child.returncode, text, used.ru_utime + used.ru_stime


def squeezed(name):
    return re.sub(r"[^a-z0-9]", "", name.lower())


@functools.lru_cache(maxsize=None)
def subjects(path):
    """Names, squeezed, of the operators or the pass that a file is about: its own, or those of the files of an operator
    each that include it, where they are few."""
    if path.endswith(".h"):
        files = [f for f in mutant_tree.sources() if f.endswith(".cc") and path in mutant_tree.included([f])]
        return frozenset().union(*map(subjects, files)) if len(files) <= MANY else frozenset()
    stem = path.rsplit("/", 1)[-1].split(".")[0]
    return frozenset(map(squeezed, [stem, re.sub(r"^(onnx_ml|onnx_training|microsoft|ge)_", "", stem)]))


class Part:
    """A test: some step's, with what it adds to the step's command."""

    def __init__(self, step, name, command, words=(), joint=None):
        self.step, self.name, self.command, self.words = step, name, command, list(words)
        self.joint = joint  # how several of a step run at once: "append", "filter"; None: each alone
        self.whole = False
        self.seconds, self.reached, self.chance = 0.0, b"", 1.0

    def is_named(self, mutant):
        """Whether it is the operator's or the pass's that the mutant's file is about, or all operators' tables'."""
        if self.name == "schemas":
            return mutant.path.startswith("ge/ops")
        words = re.sub(r"\.gt$", "", self.name).split("/")[-1].split(".")[-1]
        return squeezed(words) in subjects(mutant.path)

    def reaches(self, mutant):
        return mutant.number < len(self.reached) and self.reached[mutant.number] != 0


class Batch:
    """Parts of one step, run by one process."""

    def __init__(self, parts):
        self.parts, self.seconds = parts, sum(p.seconds for p in parts)
        first = parts[0]
        self.worth = sum(p.chance for p in parts) / max(self.seconds, 1e-3)
        self.name = f"{first.step} {first.name}" + (f" and {len(parts) - 1} more" if len(parts) > 1 else "")

    def run(self, extra):
        """(exit code or "timed out", processor seconds)."""
        limit = max(LEAST_LIMIT, TIMES * self.seconds)
        with BUSY[self.parts[0].name if self.parts[0].step == "e2e" else threading.get_ident()]:
            code, _, seconds = run(command_of(self.parts), limit, extra)
        return code, seconds


def command_of(parts):
    first = parts[0]
    if first.joint == "filter":
        return [*first.command, "--gtest_filter=" + ":".join(w for p in parts for w in p.words)]
    return [*first.command, *(w for p in parts for w in p.words)]


def unit_parts(step, program):
    listed = subprocess.run([program, "--gtest_list_tests"], check=True, capture_output=True, text=True,
                            cwd=TREE, env=environment({})).stdout
    suite = ""
    for line in listed.splitlines():
        if re.match(r"\S+\.(\s|$)", line):
            suite = line.split()[0]
        elif line.startswith("  ") and suite and "DISABLED_" not in line:
            name = suite + line.split()[0]
            yield Part(step, name, [program], [name], "filter")


def operators():
    """Names of all operators that have random cases."""
    text = run([PROGRAM, "--random", "1", "--engines", "ref", "-v"], 600, {})[1]
    return sorted(set(re.findall(r"^ref +(\S+) +\d+ cases,", text, re.M)))


def isa_sets():
    text = run(["bash", "-c", "source tests/counted.sh && isa_sets"], 60, {})[1]
    return text.split()


def named_parts(names):
    """Of each operator what tells most of it for its time."""
    for name in names:
        yield Part("types", name, [PROGRAM, "--types", "30", "--op", name])
        yield Part("parts", name, [PROGRAM, "--parts", "40", "--op", name])
        yield Part("random", name, [PROGRAM, "--random", "100", "--op", name])
    for name in sorted({name.rsplit(".")[-1] for name in names}):
        yield Part("onnx-node", name, [PROGRAM, *NODE, "--op", name])


def operator_parts(cpu, names):
    """Node tests by operator, with other engines; what instruction sets change where engines of the CPU are mutated."""
    for step, words in NODE_STEPS.items():
        if step != "onnx-node" and (step == "onnx-node-all" or cpu):
            plain = words[:words.index("--least-taken")]
            for name in sorted({name.rsplit(".")[-1] for name in names}):
                yield Part(step, name, [PROGRAM, *NODE, *plain, "--op", name])
    for isa in isa_sets() if cpu else []:  # as tests/e2e/engines/isa_sets.sh
        capped = ["env", f"GE_MAX_ISA={isa}", PROGRAM]
        for threads in ("1", "2"):
            more = ["--seed", threads, "--threads", threads]
            yield Part("isa_sets", f"{isa} {threads} large", [*capped, "--random", "200", "--large", *more])
            yield Part("isa_sets", f"{isa} {threads} models", [*capped, "--random-models", "12", *more])
        yield Part("isa_sets", f"{isa} node", [*capped, *NODE, "--engines", "native,onednn,openblas,ref"])


def all_parts(scripts, rough, paths):
    """The parts of all steps that reach files of `paths`; if `rough`, no part by operator."""
    cpu = any(path.startswith("plugins/cpu") for path in paths)
    for path in sorted((TREE / "tests" / "text").rglob("*.gt")):  # a link, followed once
        name = path.relative_to(TREE).as_posix()
        yield Part("text", name, [PROGRAM], [name], "append")
    if not all(path.startswith("plugins/ref") for path in paths):
        yield from unit_parts("unit", UNIT)
    if cpu:
        yield from unit_parts("unit-cpu", UNIT_CPU)
    if any(path.startswith("plugins/device") for path in paths):
        yield from unit_parts("unit-device", UNIT_DEVICE)
    for step, words in NODE_STEPS.items():
        whole = Part(step, "as a whole", [PROGRAM, *NODE, *words])
        whole.whole = True
        yield whole
    if any(path.startswith(OPERATORS) for path in paths) and not rough:
        names = operators()
        yield from named_parts(names)
        yield from operator_parts(cpu, names)
    if any(path.startswith("ge/ops") for path in paths):
        whole = Part("parts", "as a whole", [PROGRAM, "--parts", "40", "--least", "2898"])
        whole.whole = True
        yield whole
    for first in range(0, MODELS, MODELS_AT_ONCE):
        yield Part("random-models", f"from {first}",
                   [PROGRAM, "--random-models", str(MODELS_AT_ONCE), "--first", str(first)])
    where = {path.stem: path.relative_to(ROOT) for path in (ROOT / "tests/e2e").glob("*/*.sh") if path.parent.name != "all"}
    for name in QUICK_SCRIPTS + (SCRIPTS if scripts else []):
        if name in OF_MODELS and not (TREE / "build" / "models" / "lenet.onnx").exists():
            print(f"mutate: e2e {name} is left out: build/models is missing, which ./test models makes", flush=True)
            continue
        yield Part("e2e", name, ["bash", str(where[name])])


def digest(paths):
    state = hashlib.sha256()
    for path in sorted(p for p in paths if p.is_file() and "__pycache__" not in p.parts):
        state.update(path.read_bytes())
    return state.hexdigest()[:24]


class Kept:
    """What tests took and reached, {key of a part: (seconds, reached)}, for as long as programs and engines stay the
    same; a test whose own file is another one has another key."""

    def __init__(self):
        programs = digest([*(BUILD / "bin").rglob("*"), *(BUILD / "lib").rglob("*")])
        self.path = STATE / f"baseline-{programs}.pickle"
        self.found = pickle.loads(self.path.read_bytes()) if self.path.exists() else {}
        self.scripts, self.written = digest((TREE / "tests" / "e2e").rglob("*")), time.monotonic()

    def key(self, part):
        files = [TREE / w for w in part.words if w.endswith(".gt")]
        own = self.scripts if part.step == "e2e" else digest(files)
        return " ".join([part.step, part.name, own])

    def put(self, part):
        self.found[self.key(part)] = part.seconds, part.reached
        if time.monotonic() - self.written > 30:
            self.write()

    def write(self):
        part = self.path.with_suffix(".part")
        part.write_bytes(pickle.dumps(self.found))
        part.replace(self.path)
        self.written = time.monotonic()


def measured(part):
    """(whether it passed with no mutant, whether it holds no test); notes what it takes and reaches."""
    with tempfile.NamedTemporaryFile(prefix="reached-", dir=STATE) as file:
        file.truncate(REACHED_BYTES)
        code, text, part.seconds = run(command_of([part]), 3600, {"GE_MUTANT_REACHED": file.name})
        part.reached = file.read().rstrip(b"\0")
    if not part.whole and re.search(r"^0 passed, 0 failed, 0 skipped$", text, re.M):
        part.reached = b""
    return code == 0


class Tests:
    def __init__(self, scripts, rough, paths):
        self.parts = list(all_parts(scripts, rough, paths))
        # Parts by operator that are measured when a mutant of a file of their name is judged first.
        self.later = list(named_parts(operators())) if rough else []
        self.kept, self.lock = Kept(), threading.Lock()

    def measure_named(self, mutant):
        """Takes up the parts by operator that are about the mutant's file."""
        with self.lock:
            wanted = [p for p in self.later if p.is_named(mutant)]
            self.later = [p for p in self.later if p not in wanted]
            for part in wanted:
                known = self.kept.found.get(self.kept.key(part))
                if known is not None:
                    part.seconds, part.reached = known
                elif measured(part):
                    self.kept.put(part)
                else:
                    print(f"mutate: fails with no mutant, and is left out: {part.step} {part.name}", flush=True)
                    continue
                self.parts.append(part)
            if wanted:
                self.arrange()

    def arrange(self):
        """What reaches no mutant is left out; first what tells most for its time."""
        self.parts = [p for p in self.parts if p.reached]
        for part in self.parts:
            part.chance = 1 / (1 + sum(map(bool, part.reached)) / NARROW)
        self.parts.sort(key=lambda p: p.seconds / p.chance)

    def baseline(self, jobs):
        """Runs each part with no mutant; names of those that fail. What was clean is kept, so that one that was
        stopped goes on. What reaches no mutant is left out."""
        kept, broken, begin = self.kept, [], time.monotonic()
        left = []
        for part in self.parts:
            known = kept.found.get(kept.key(part))
            if known is None:
                left.append(part)
            else:
                part.seconds, part.reached = known
        print(f"baseline: {len(left)} of {len(self.parts)} parts of steps are to be run", flush=True)
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for count, (part, good) in enumerate(zip(left, pool.map(measured, left)), 1):
                if count % 200 == 0:
                    print(f"  {count} of {len(left)}, {time.monotonic() - begin:.0f} s", flush=True)
                if good:
                    kept.put(part)
                else:
                    broken.append(f"{part.step} {part.name}")
        kept.write()
        self.arrange()
        return broken

    def batches(self, mutant, begin, end):
        """What reaches a mutant, in processes of some seconds, first what is likely to notice it for its time: what of
        it lies between `begin` and `end` seconds of them all, and never nothing of a mutant that something reaches."""
        self.measure_named(mutant)
        reach = [p for p in self.parts if p.reaches(mutant)]
        per_step = {}
        for part in reach:
            per_step.setdefault(part.step, []).append(part)
        # Where many parts of a step reach it, the whole step is one process.
        early = [p for p in reach if p.whole and len(per_step[p.step]) > MANY]
        found, open_batches = [], {}
        for part in reach:
            if part in early:
                continue
            group = open_batches.get(part.step) if part.joint else None
            if group is not None and sum(p.seconds for p in group) + part.seconds <= BATCH_SECONDS:
                group.append(part)
                continue
            group = [part]
            found.append(group)
            if part.joint:
                open_batches[part.step] = group
        many = {p.step for p in early}
        first = [Batch(g) for g in found if g[0].step not in many]
        rest = [Batch(g) for g in found if g[0].step in many]
        # A table that is made while programs start is reached by all: those of its name come first.
        ordered = sorted([*first, *(Batch([p]) for p in early)], key=lambda b: -b.worth) + rest
        ordered.sort(key=lambda b: not any(p.is_named(mutant) for p in b.parts))
        kept, before = [], 0.0
        for batch in ordered:
            if begin <= before < end:
                kept.append(batch)
            before += batch.seconds
        return kept
