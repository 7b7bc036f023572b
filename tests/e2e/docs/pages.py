#!/usr/bin/env python3
"""Types what the installed pages say, as a stranger does who has nothing but an installed engine: in a
root of its own (empty_root.py), as a user who owns only a home, with nothing of this tree in sight.

  README.md                     each command that begins with `ge`, in blocks and in the text, and its lines
                                of C. Those of a clone are typed by tests/e2e/all/docs/first_page.py, its lines
                                of Python by tests/e2e/python/python_package.py
  docs/training.md              each line of a block that begins with `ge`; the example of training
  docs/data.md                  each line of its first block
  docs/sessions.md, engines.md, models.md, gradients.md, capsule.md
                                their commands in blocks and in the text
  docs/text-format.md           its example is a legal model, and what is printed of it is read back
  docs/plugin-guide.md          its files and commands, in one shell, with what it says they print

Blocks of the guide: ```sh is run; ```LANGUAGE FILE is written to FILE; ```text prints follows a ```sh
and holds lines of its output in their order, with ... for any text.

Prints each fault and, last, the counts.

Examples:
  tests/e2e/docs/pages.py --build build/release
  tests/e2e/docs/pages.py --as deb --pages README,guide
"""
import argparse
import gzip
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "install"))
import installed  # noqa: E402
from installed import ROOT, run  # noqa: E402

DOCS = "$GE_PREFIX/share/doc/graphengine"
MARK = "=== typed "
PATHS = 'export PATH="$GE_PREFIX/bin:$PATH" PKG_CONFIG_PATH="$GE_PREFIX/lib/pkgconfig"'
# What the pages leave for the reader to fill in.
FILLED = {"STAGE": "partition", "NAME": "my_engine", "MODEL": "MODEL.onnx"}
PLUGINS = ["minimal.so", "my_engine/build/my_engine.so",
           "my_device/build/my_device.so", "op.so", "my_op/build/my_op.so",
           "square.so", "my_pass/build/my_pass.so"]

# The models that the pages name.
MODEL = """ge 1
opset "" 28
const w : f32[4,3,7,7] = splat 0.01
fn main(x: f32[N,3,224,224]) -> (y) {
  a: f32[N,4,112,112] = Conv(x, w, _) {kernel_shape=[7, 7], pads=[3, 3, 3, 3], strides=[2, 2]} "conv1"
  y: f32[N,4,112,112] = Relu(a) "relu1"
}
entry infer "main" = main
"""
NET = """ge 1
opset "" 28
const weights : f32[20,1] = splat 0.5
fn main(x: f32[N,20]) -> (loss) {
  p: f32[N,1] = MatMul(x, weights) "product"
  loss: f32[] = ReduceMean(p) {keepdims=0} "mean"
}
entry infer "main" = main
"""
LENET = """ge 1
opset "" 28
const c1 : f32[6,1,5,5] = splat 0.01
const b1 : f32[6] = [0.1, -0.1, 0.2, -0.2, 0.3, -0.3]
const c2 : f32[16,6,5,5] = splat 0.01
const b2 : f32[16] = splat 0.01
const w : f32[256,10] = splat 0.01
const b : f32[10] = splat 0.01
const flat : i64[2] = [-1, 256]
fn main(x: f32[N,1,28,28]) -> (y) {
  a: f32[N,6,24,24] = Conv(x, c1, b1) {kernel_shape=[5, 5]} "conv1"
  r = Relu(a) "relu1"
  p: f32[N,6,12,12] = MaxPool(r) {kernel_shape=[2, 2], strides=[2, 2]} "pool1"
  d: f32[N,16,8,8] = Conv(p, c2, b2) {kernel_shape=[5, 5]} "conv2"
  s = Relu(d) "relu2"
  q: f32[N,16,4,4] = MaxPool(s) {kernel_shape=[2, 2], strides=[2, 2]} "pool2"
  f: f32[N,256] = Reshape(q, flat) "flatten"
  y: f32[N,10] = Gemm(f, w, b) "fc"
}
entry infer "main" = main
"""
CLIENT = """#include <ge/ge.h>
#include <stdio.h>
static int fail(const char* message) { return fprintf(stderr, "%s\\n", message), 1; }
static void use(const void* data, uint64_t bytes) { printf("%d bytes\\n", data ? (int)bytes : 0); }
static float pixels[28 * 28];
int main(void) {
LINES
  return 0;
}
"""


def blocks(text):
    """(language, word behind it or "", content) of each fenced block."""
    return re.findall(r"^```(\w*)(?: (\S+))?\n(.*?)^```$", text, re.M | re.S)


def filled(command):
    for word, with_what in FILLED.items():
        command = re.sub(rf"\b{word}\b(?!\.)", with_what, command)
    return command


def block_lines(text):
    """The lines of blocks without a language, without what is said of them."""
    return [re.split(r"\s{2,}", line.strip())[0] for language, word, content in blocks(text)
            for line in ([] if language or word else content.splitlines()) if line.strip()]


def commands(text, inline=False):
    """What begins with `ge` in blocks without a language, and with `inline` in the text as well."""
    found = []
    for line in block_lines(text):
        line = line.removeprefix("build/release/bin/")
        found += [filled(line)] if line.startswith("ge ") and line != "ge 1" else []
    plain = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    for words in re.findall(r"`(ge [^`]+)`", plain) if inline else []:
        found.append(filled(" ".join(words.split())))
    return list(dict.fromkeys(found))


def marked(words):
    return [f"echo '{MARK}{i}'\n{w}" for i, w in enumerate(words)]


# ---- the pages: each a script, and by mark what it has to print ---------------------------------


MODELS = ["ge dump MODEL.gt --format onnx -o MODEL.onnx; ge dump NET.gt --format onnx -o NET.onnx",
          "ge dump lenet.gt --format onnx -o lenet.onnx"]


def commands_alone(page):
    return [*MODELS, *commands(page.read_text(), inline=True)], {}


def readme(page):
    text = page.read_text()
    words, _ = commands_alone(page)
    for i, content in enumerate(c for language, _, c in blocks(text) if language == "c"):
        source = CLIENT.replace("LINES", content)
        words.append(f"cat >client{i}.c <<'END_OF_FILE'\n{source}END_OF_FILE\n"
                     f"cc client{i}.c -o client{i} $(pkg-config --cflags --libs graphengine) "
                     f'-Wl,-rpath,"$GE_PREFIX/lib"\n./client{i}')
    return words, {len(words) - 1: ["40 bytes"]}


def training(page):
    build = f'cmake -S "{DOCS}/examples/train" -B example >log && cmake --build example >>log'
    words = ["ge dump lenet.gt --format onnx -o lenet.onnx", *commands(page.read_text()),
             f"{build} || cat log", "example/train lenet.onnx 3"]
    return words, {len(words) - 1: ["step 0: loss ...", "test accuracy ..."]}


def text_format(page):
    example = next(c for language, _, c in blocks(page.read_text()) if c.startswith("ge 1 "))
    words = [f"cat >example.gt <<'END_OF_FILE'\n{example}END_OF_FILE",
             "head -c 4096 /dev/zero >lenet.bin",
             "ge dump example.gt --to load",
             "ge dump example.gt --format proto -o example.gepb\nge dump example.gepb --to load",
             "ge run example.gt", "ge run example.gepb"]
    return words, {2: ["entry infer ..."], 3: ["entry infer ..."]}


def data(page):
    head = "{'descr': '|u1', 'fortran_order': False, 'shape': (1000, 4), }"
    words = [f"printf '\\x93NUMPY\\x01\\x00\\x76\\x00%-117s\\n' \"{head}\" >x.npy\n"
             "head -c 4000 /dev/zero >>x.npy", *commands(page.read_text())]
    return words, {}


def guide(page):
    words, prints = [], {}
    files = []
    for language, word, content in blocks(page.read_text()):
        if word == "prints":
            prints[len(words) - 1] = content.splitlines()
        elif word:
            files.append(f"cat >{word} <<'END_OF_FILE'\n{content}END_OF_FILE\n")
        elif language == "sh":
            words.append("".join(files) + content)
            files = []
    return words, prints


PAGES = {"README": ("README.md", readme), "training": ("docs/training.md", training),
         "text-format": ("docs/text-format.md", text_format),
         "data": ("docs/data.md", data), "guide": ("docs/plugin-guide.md", guide),
         **{name: (f"docs/{name}.md", commands_alone)
            for name in ("sessions", "engines", "models", "gradients", "capsule")}}


def prints(wanted, text):
    """Whether the lines of `wanted` come in this order."""
    at = 0
    lines = text.splitlines()
    for line in wanted:
        pattern = re.compile(".*".join(re.escape(part.strip()) for part in line.split("...")))
        while at < len(lines) and not pattern.fullmatch(lines[at].strip()):
            at += 1
        if at == len(lines):
            return False
        at += 1
    return True


def judge(c, name, words, wanted, text):
    """`text`: what the page's commands printed, up to the first that failed."""
    said = re.split(f"^{MARK}\\d+$", text, flags=re.M)[1:]
    for i, command in enumerate(words):
        short = command.strip().splitlines()[0][:120]
        if i >= len(said):
            return c.check(False, f"{name}: not typed, since the one before failed: {short}")
        last = i + 1 == len(said)
        ended = re.search(r"^=== ended (\d+)$", said[i], re.M)
        c.check(not last or (ended and ended[1] == "0"), f"{name}: {short}", said[i])
        if i in wanted:
            c.check(prints(wanted[i], said[i]), f"{name}: what it prints: {short}", said[i])
    return True


# ---- the machine --------------------------------------------------------------------------------


def write_data_set(folder):
    """Fashion-MNIST's names and form, of a size that five epochs take a second for."""
    folder.mkdir(parents=True)
    for stem, count in (("train", 256), ("t10k", 128)):
        pixels = bytes(i * 7 % 251 for i in range(count * 784))
        labels = bytes(i % 10 for i in range(count))
        head = (0x803).to_bytes(4, "big") + count.to_bytes(4, "big") + (28).to_bytes(4, "big") * 2
        with gzip.open(folder / f"{stem}-images-idx3-ubyte.gz", "wb") as f:
            f.write(head + pixels)
        with gzip.open(folder / f"{stem}-labels-idx1-ubyte.gz", "wb") as f:
            f.write((0x801).to_bytes(4, "big") + count.to_bytes(4, "big") + labels)


def make_home(home, pages, docs):
    """The scripts of the pages and the files that they name; by page its words and what they print."""
    typed = {}
    for name in pages:
        file, reader = PAGES[name]
        words, wanted = reader(docs / file)
        folder = home / name
        folder.mkdir(parents=True)
        for model, text in (("MODEL", MODEL), ("NET", NET), ("lenet", LENET)):
            (folder / f"{model}.gt").write_text(text)
        script = "\n".join(["set -eu", PATHS, *marked(words)])
        (home / f"{name}.bash").write_text(script)
        typed[name] = words, wanted
    lines = [f"echo '=== page {n}'; (cd {n}; bash ../{n}.bash 2>&1; echo \"=== ended $?\")"
             for n in pages]
    (home / "all.bash").write_text("\n".join(lines))
    return typed


def in_empty_root(c, scratch, home, how):
    words = [sys.executable, ROOT / "tests/e2e/docs/empty_root.py", scratch / "root", "--home", home,
             "--data", scratch / "data", *how, home / "all.bash"]
    done = subprocess.run(["unshare", "--mount", *map(str, words)], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", timeout=1800,
                          check=False)
    if done.returncode == 125 or "unshare" in done.stdout.splitlines()[:1]:
        c.skip(f"no root of its own can be made here: {done.stdout.strip()[:200]}")
        return None
    return done.stdout


def make_package(c, build, folder):
    code, text = run(["cpack", "-G", "DEB", "-B", folder], build)
    packages = list(folder.glob("*.deb"))
    c.check(code == 0 and len(packages) == 1, "cpack -G DEB", text)
    return packages


def type_pages(c, build, scratch, how, pages):
    if how == "deb":
        packages = make_package(c, build, scratch / "package")
        if not packages:
            return
        run(["dpkg-deb", "-x", packages[0], scratch / "unpacked"], scratch)
        docs, words = scratch / "unpacked/usr/share/doc/graphengine", ["--deb", packages[0]]
    else:
        if not installed.install(c, build, scratch / "tree"):
            return
        docs, words = scratch / "tree/share/doc/graphengine", ["--tree", scratch / "tree"]
    write_data_set(scratch / "data/fashion-mnist")
    typed = make_home(scratch / "home", pages, docs)
    text = in_empty_root(c, scratch, scratch / "home", words)
    if text is None:
        return
    said = re.split(r"^=== page .*$", text, flags=re.M)
    if c.check(len(said) == len(pages) + 1, "all pages were typed", text):
        for name, part in zip(pages, said[1:]):
            judge(c, f"{how}: {name}", *typed[name], part)
    for plugin in PLUGINS if "guide" in pages else []:
        file = scratch / "home/guide" / plugin
        if c.check(file.exists(), f"{how}: {plugin} was built"):
            installed.check_plugin(c, file)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--as", dest="how", choices=("tree", "deb"), default="tree",
                        help="cmake --install, or the Debian package by dpkg -i")
    parser.add_argument("--pages", default=",".join(PAGES), help=f"of {', '.join(PAGES)}")
    args = parser.parse_args()
    c = installed.Checks()
    with tempfile.TemporaryDirectory(prefix="ge-pages.") as scratch:
        type_pages(c, args.build.resolve(), pathlib.Path(scratch).resolve(), args.how,
                   args.pages.split(","))
    return c.end()


if __name__ == "__main__":
    sys.exit(main())
