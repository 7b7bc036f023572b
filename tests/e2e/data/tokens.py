#!/usr/bin/env python3
"""`tokens FILE.model`: a unigram model written here by hand, as SentencePiece has them, gives the pieces of
the likeliest cut, which is searched here, too, and models trained by SentencePiece's own Python give its pieces;
windows over texts, ended by the model's end; a changed
model is refused by name, damaged ones never crash. In a build without libsentencepiece-dev only
that it is refused. The last line counts checks."""
import json
import os
import resource
import struct
import subprocess
import sys

import numpy as np

import data_run

SEED, SPACE = 57, "\u2581"
LIBRARY = data_run.ROOT / "build/release/lib/libgraphengine_sentencepiece.so"
WORDS = ("the order of rows is a function of their positions and nothing else; nobody knows what a row "
         "holds until it is read").split()


def field(number, kind, data):
    return bytes([number << 3 | kind]) + data


def message(number, data):
    size, n = b"", len(data)
    while n >= 128:
        size, n = size + bytes([n & 127 | 128]), n >> 7
    return field(number, 2, size + bytes([n]) + data)


def pieces(ends=True):
    """(text, score, kind): 2 is unknown, 3 control."""
    r = np.random.default_rng(SEED)
    letters = sorted(set("".join(WORDS)) | {SPACE})
    cut = sorted({SPACE + w for w in WORDS} | {w[:3] for w in WORDS} | {w[-2:] for w in WORDS} - set(letters))
    out = [("<unk>", 0.0, 2), ("<s>", 0.0, 3), ("</s>", 0.0, 3) if ends else ("<end>", 0.0, 3)]
    seen = {p[0] for p in out}
    for p in [*letters, *cut]:
        if p not in seen:
            out.append((p, -float(r.uniform(2, 9)), 1))
            seen.add(p)
    return out


def model(list_of):
    body = b"".join(message(1, message(1, p.encode()) + field(2, 5, struct.pack("<f", s))
                            + (field(3, 0, bytes([k])) if k != 1 else b"")) for p, s, k in list_of)
    # Its kind is unigram; spaces are put together, and one is put in front.
    return body + message(2, field(3, 0, b"\1")) + message(3, message(1, b"identity"))


def likeliest(text, list_of):
    """Ids of the cut with the greatest sum of scores."""
    text = " ".join(text.split(" ")).strip()
    while "  " in text:
        text = text.replace("  ", " ")
    if not text:
        return []
    text = SPACE + text.replace(" ", SPACE)
    known = {p: (np.float32(s), i) for i, (p, s, k) in enumerate(list_of) if k == 1}
    best = [(np.float32(0), 0, 0)] + [(np.float32(-np.inf), 0, 0)] * len(text)
    for end in range(1, len(text) + 1):
        for begin in range(max(0, end - 20), end):
            if text[begin:end] in known:
                score, i = known[text[begin:end]]
                if best[begin][0] + score > best[end][0]:
                    best[end] = (best[begin][0] + score, begin, i)
    out, at = [], len(text)
    while at:
        out.append(best[at][2])
        at = best[at][1]
    return out[::-1]


# Trains models as others do, and encodes: its first word is the text's file, then kinds. Of each the pieces of
# all lines and the end's, as JSON.
TRAINER = """import json, sys
import sentencepiece as s
lines = open(sys.argv[1], encoding='utf-8').read().split('\\n')[:-1]
out = []
for kind in sys.argv[2:]:
    s.SentencePieceTrainer.train(input=sys.argv[1], model_prefix=kind, model_type=kind, vocab_size=120,
                                 hard_vocab_limit=False, character_coverage=0.98, minloglevel=2)
    p = s.SentencePieceProcessor(model_file=kind + '.model')
    out.append([p.encode(lines), p.eos_id()])
print(json.dumps(out))
"""


class Tokens(data_run.DataRun):
    def files(self):
        r = np.random.default_rng(SEED)
        self.lines = [" ".join(r.choice(WORDS, r.integers(0, 12))) for _ in range(200)]
        self.write("t.txt", "\n".join(self.lines) + "\n")
        self.write("t.model", model(pieces()))
        self.write("no_end.model", model(pieces(False)))

    def windows(self):
        for name, ends in (("t.model", True), ("no_end.model", False)):
            wanted = []
            for line in self.lines:
                wanted += likeliest(line, pieces(ends)) + ([2] if ends else [])
            for length in (7, 64):
                rows = (len(wanted) - 1) // length
                self.gives(f"{name} {length}", f"t.txt | tokens {name} | pack {length}",
                           {"x": np.array(wanted[:rows * length], "i8").reshape(rows, length),
                            "y": np.array(wanted[1:rows * length + 1], "i8").reshape(rows, length)})

    def trained_by_others(self):
        """Models that SentencePiece's own Python has trained give the pieces that it gives: unigram, BPE, words,
        letters; texts of other scripts, too, some of which no model has seen."""
        r = np.random.default_rng(SEED)
        others = ["na\u00efve caf\u00e9", "\u4e2d\u6587 \u5b57", "  two  blanks ", "\ufb01ne \u2460", "a\tb", "\U0001f600!"]
        lines = [" ".join(r.choice(WORDS, r.integers(1, 12))) for _ in range(600)]
        lines = [f"{line} {others[i // 20 % 6]}" if i % 20 == 0 else line for i, line in enumerate(lines)]
        self.write("o.txt", "\n".join(lines) + "\n")
        kinds = ["unigram", "bpe", "word", "char"]
        done = subprocess.run(["/usr/bin/python3", "-c", TRAINER, "o.txt", *kinds], cwd=self.here,
                              capture_output=True, text=True, timeout=120, check=False)
        if "No module named 'sentencepiece'" in done.stderr:
            self.skipped += 1
            print("skipped: python3-sentencepiece is not installed")
            return
        self.check("models are trained", done.returncode == 0, done.stderr)
        for kind, (pieces_of, end) in zip(kinds, json.loads(done.stdout or "[]")):
            wanted = [piece for line in pieces_of for piece in [*line, end]]
            rows = (len(wanted) - 1) // 32
            self.gives(f"{kind} by others", f"o.txt | tokens {kind}.model | pack 32",
                       {"x": np.array(wanted[:rows * 32], "i8").reshape(rows, 32),
                        "y": np.array(wanted[1:rows * 32 + 1], "i8").reshape(rows, 32)})

    def ge(self, *words):
        env = dict(os.environ, GE_CACHE_DIR="off", GE_PROBE="fixed")
        return subprocess.run([str(data_run.GE), *map(str, words)], cwd=self.here, env=env,
                              capture_output=True, text=True, timeout=120, check=False)

    def digests(self):
        seen = set()
        for more in (["--threads", 1, "--rows", 1], ["--threads", 2, "--ahead", 4], ["--ahead", 0]):
            done = self.ge("data", "run", "t.txt | tokens t.model | pack 16 | shuffle", "--batch", 8, "--digest",
                           "--json", *more)
            self.check("shuffle comes before what reads columns", done.returncode == 2, done.stderr)
            done = self.ge("data", "run", "t.txt | shuffle | tokens t.model | pack 16", "--batch", 8, "--digest",
                           "--json", *more)
            self.check(str(more), done.returncode == 0, done.stderr)
            seen.add(json.loads(done.stdout)["digest"])
        self.check("one digest", len(seen) == 1, seen)
        info = json.loads(self.ge("data", "info", "t.txt | tokens t.model | pack 16", "--json").stdout)
        other = json.loads(self.ge("data", "info", "t.txt | tokens no_end.model | pack 16", "--json").stdout)
        self.check("the model is part of the digest", info["digest"] != other["digest"], info)

    def encoded_once(self):
        """A pipe and its test pipe encode each text once: two texts take the processor's time of two."""
        def spent(options):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            done = self.call("a.txt | tokens t.model | pack 64", options=options)
            self.check(f"encodes{options}", done.returncode == 0, done.stderr)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

        self.write("a.txt", "\n".join(self.lines * 1500) + "\n")
        self.write("b.txt", "\n".join(self.lines * 1500 + ["and"]) + "\n")
        one = spent(";batch=1")
        two = spent(";batch=1;test='b.txt | tokens t.model | pack 64'")
        print(f"texts encoded in {one:.2f} s of processor, two in {two:.2f} s")
        self.check("each text once", two < 2.4 * one, (one, two))

    def trained(self):
        """A checkpoint of one model is none of another's."""
        count = len(pieces())
        self.write("net.gt", f"""ge 1
opset "" 28
symbol N from "x axis 0"
const table : f32[{count},8] = splat 0.1
const w : f32[8,{count}] = splat 0.1
fn f(x: i64[N,16]) -> (y) {{
  e: f32[N,16,8] = Gather(table, x) "e"
  y: f32[N,16,{count}] = MatMul(e, w) "y"
}}
entry infer "main" = f
""")
        run = ["train", "net.gt", "--data", "t.txt | tokens t.model | pack 16", "--batch", 4, "--checkpoint", "kept",
               "--resume"]
        done = self.ge(*run, "--steps", 3)
        self.check("trains", done.returncode == 0, done.stderr)
        good = (self.here / "t.model").read_bytes()
        self.write("t.model", model([(p, s * 1.5, k) for p, s, k in pieces()]))
        done = self.ge(*run, "--steps", 6)
        self.check("another model", done.returncode == 2 and "its data is" in done.stderr, done.stderr)
        self.write("t.model", good)
        self.check("and back", self.ge(*run, "--steps", 6).returncode == 0)

    def bad(self):
        self.refused("t.txt | tokens none.model | pack 8", "none.model")
        self.refused("t.txt | tokens t.txt | pack 8", "wanted tokens bytes or tokens F.model")
        self.refused("t.txt | tokens t.model | pack 100000", "wanted more than 100000 tokens")
        self.write("empty.model", b"")
        self.refused("t.txt | tokens empty.model | pack 8", "empty.model' is no model of SentencePiece")
        r, good = np.random.default_rng(SEED), model(pieces())
        for i in range(40):
            data = bytearray(good)
            for _ in range(1 + i % 5):
                data[int(r.integers(len(data)))] = int(r.integers(256))
            self.write("bad.model", bytes(data[:int(r.integers(len(data)))] if i % 8 == 0 else data))
            self.survives(f"damaged model {i}", "t.txt | tokens bad.model | pack 8")


def main():
    c = Tokens()
    c.files()
    if LIBRARY.exists():
        for part in (c.windows, c.trained_by_others, c.digests, c.encoded_once, c.trained, c.bad):
            part()
        c.small()
    else:
        c.refused("t.txt | tokens t.model | pack 8", "built where libsentencepiece-dev is installed",
                  "'tokens bytes' does without it", code=3)
    return c.close()


if __name__ == "__main__":
    sys.exit(main())
