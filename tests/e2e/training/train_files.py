#!/usr/bin/env python3
"""What `ge train` does to files: no checkpoint, log or file of others is lost, a checkpoint that was
changed is refused by name, what cannot be written is found before the first step, and a loss that is
no number ends the run with exit code 1 and leaves nothing bad behind. The last line counts checks."""
import copy
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import train_tool
from train_tool import step_of

ANOTHER_KIND = [None, True, -1, 2.5, 1e300, 2 ** 70, "x", "", [], {}, [[]], "0" * 32]
FILES_OF_OTHERS = ["states-of-america.csv", "states-notes", "checkpoint.json.bak",
                   "states-000000001.gepb", ".0123456789abcdef.part"]


class Files(train_tool.Checks):
    def names(self, folder):
        return sorted(p.name for p in folder.iterdir())

    def fails(self, code, wanted, *more, **which):
        done = self.call(*more, **which)
        self.check(wanted, done.returncode == code and wanted in done.stderr,
                   f"{done.returncode} {done.stderr or done.stdout}")
        return done

    def overwriting(self):
        """A checkpoint is only replaced by who says so."""
        folder = self.scratch / "kept"
        self.last("--epochs", 4, "--checkpoint", folder)
        manifest = (folder / "checkpoint.json").read_bytes()
        self.fails(2, "holds a checkpoint already, of step 80; --resume goes on from it, --overwrite",
                   "--epochs", 1, "--checkpoint", folder)
        self.check("and it is as it was", (folder / "checkpoint.json").read_bytes() == manifest
                   and self.names(folder / "states-b") == ["states.gepb"], self.names(folder))
        self.fails(2, "--overwrite begins anew: give one of both", "--checkpoint", folder, "--resume",
                   "--overwrite")
        self.fails(2, "--overwrite wants --checkpoint DIR", "--overwrite")
        last = self.last("--epochs", 1, "--checkpoint", folder, "--overwrite")
        self.check("--overwrite begins anew", last.get("resumed_at") == 0 and step_of(folder) == 20,
                   last)
        self.check("one checkpoint is left", len(self.names(folder)) == 2, self.names(folder))
        (folder / "checkpoint.json").write_text("nothing")
        self.fails(2, "holds a checkpoint already;", "--checkpoint", folder)
        self.last("--epochs", 1, "--checkpoint", folder, "--overwrite")
        self.check("a damaged one is replaced", step_of(folder) == 20)
        changed = self.scratch / "changed.npz"
        shutil.copy(self.npz, changed)
        run = ["--epochs", 2, "--checkpoint", folder, "--resume"]
        self.fails(2, "its pipe is", *run, data=changed)
        self.fails(2, "its pipe is", *run, data=f"{self.npz} | select x y")
        self.last("--epochs", 1, "--checkpoint", self.scratch / "of_changed", data=changed)
        x = self.x[:400].copy()
        x[7, 3] += 1
        self.np.savez(changed, x_train=x, y_train=self.y[:400])
        self.fails(2, "its data is", "--epochs", 2, "--checkpoint", self.scratch / "of_changed",
                   "--resume", data=changed)
        other = self.model("other.onnx", [5, 8, 3])
        self.fails(2, "its model is", "--epochs", 2, "--checkpoint", folder, "--resume", net=other)

    def others(self):
        """Files of others, also in the folders of states, and what a killed run had begun."""
        folder = self.scratch / "others"
        (folder / "states-a").mkdir(parents=True)
        for name in FILES_OF_OTHERS:
            (folder / name).write_text(name)
        (folder / "states-a" / "mine").write_text("mine")
        (folder / "states-b").mkdir()
        (folder / "states-b" / ".00000000deadbeef.part").write_text("begun")
        self.last("--epochs", 3, "--checkpoint", folder)
        here = self.names(folder)
        self.check("files of others stay", all((folder / n).read_text() == n
                                               for n in FILES_OF_OTHERS), here)
        self.check("also beside states", (folder / "states-a" / "mine").exists(), here)
        self.check("what was begun goes", not list(folder.glob("states-*/.*.part")))
        self.check("states are kept once", len(list(folder.glob("states-?/states.gepb"))) == 1, here)
        self.check("no lock is left", "checkpoint.lock" not in here, here)
        last = self.last("--epochs", 3, "--checkpoint", folder, "--resume")
        self.check("and it can go on", last.get("resumed_at") == 60, last)

    def lock(self):
        """Two runs in one folder: the second is refused, and goes on when the first is gone."""
        folder = self.scratch / "locked"
        run = ["--epochs", 20000, "--checkpoint-every", 5, "--checkpoint", folder]
        first = subprocess.Popen(self.args(*run), stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        end = time.monotonic() + 60
        while step_of(folder) == 0 and time.monotonic() < end:
            time.sleep(0.001)
        for more in (["--resume"], ["--overwrite"], []):
            self.fails(2, "another run keeps its checkpoint in", *run, *more)
        self.check("the first one goes on", first.poll() is None)
        first.send_signal(signal.SIGKILL)
        first.wait()
        at = step_of(folder)
        last = self.last("--steps", at + 3, *run, "--resume")
        self.check("its lock goes with it", last.get("steps") == at + 3, last)

    def damaged(self):
        """Each field of another kind, and states of another step."""
        folder, bad = self.scratch / "good", self.scratch / "bad"
        run = ["--checkpoint-every", 3]
        self.last(*run, "--steps", 6, "--checkpoint", folder)
        good = json.loads((folder / "checkpoint.json").read_text())
        self.check("the copy is as good", self.damaged_by(good, folder, bad) == 0)
        fields = [(None, k) for k in good] + [(g, k) for g in ("states", "run") for k in good[g]]
        codes, unnamed = set(), []
        for group, name in fields:
            kinds = ANOTHER_KIND if group is None or name in ("bytes", "file") else ANOTHER_KIND[:7]
            for value in ["missing", *kinds]:
                j = copy.deepcopy(good)
                at = j if group is None else j[group]
                if value == "missing":
                    del at[name]
                elif value == at[name] and isinstance(value, type(at[name])):
                    continue
                else:
                    at[name] = value
                codes.add(self.damaged_by(j, folder, bad))
                if "DATA_CORRUPT" not in self.said and "INVALID" not in self.said:
                    unnamed.append((group, name, value, self.said))
        self.check("each field of another kind is refused", codes == {2} and not unnamed,
                   (codes, unnamed[:3]))
        for change in ({"step": 5}, {"loss_sum": 1.0}, {"correct": good["correct"] + 1}):
            self.damaged_by({**good, **change}, folder, bad)
            self.check("its digest is not that of its content", "its digest is not that" in self.said,
                       self.said)
        for text in ("[" * 100000, '{"a":' * 50000, "", "{", "null", "1" * 5000, " " * 2000000):
            self.damaged_by(text, folder, bad)
            self.check(f"{text[:9]!r}", self.code == 2 and "checkpoint.json" in self.said, self.said)
        self.states(folder, bad, good)

    def damaged_by(self, manifest, folder, bad):
        shutil.rmtree(bad, ignore_errors=True)
        shutil.copytree(folder, bad)
        text = manifest if isinstance(manifest, str) else json.dumps(manifest)
        (bad / "checkpoint.json").write_text(text)
        return self.resumed(bad)

    def resumed(self, folder):
        done = self.call("--checkpoint-every", 3, "--steps", 8, "--checkpoint", folder, "--resume")
        self.said, self.code = done.stderr, done.returncode
        return done.returncode

    def states(self, folder, bad, good):
        other = self.scratch / "of_3"
        self.last("--checkpoint-every", 3, "--steps", 3, "--checkpoint", other)
        theirs = json.loads((other / "checkpoint.json").read_text())

        def fresh():
            shutil.rmtree(bad, ignore_errors=True)
            shutil.copytree(folder, bad)
        fresh()
        shutil.copy(other / theirs["states"]["file"], bad / good["states"]["file"])
        self.resumed(bad)
        self.check("states of another step", self.code == 2
                   and "are not those of step 6 that it was made with" in self.said, self.said)
        data = (folder / good["states"]["file"]).read_bytes()
        for name, damage in (("cut", data[:-1]), ("longer", data + b"\0"), ("empty", b""),
                             ("a bit", data[:-9] + bytes([data[-9] ^ 1]) + data[-8:])):
            fresh()
            (bad / good["states"]["file"]).write_bytes(damage)
            self.check(f"states, {name}", self.resumed(bad) == 2 and "are not those" in self.said,
                       self.said)
        fresh()
        (bad / good["states"]["file"]).unlink()
        self.check("states that are gone", self.resumed(bad) == 2 and "No such file" in self.said,
                   self.said)

    def csv(self):
        """A log has each step once, whenever the run was stopped, and at once."""
        folder, whole, part = (self.scratch / n for n in ("csv", "whole.csv", "part.csv"))
        run = ["--epochs", 400, "--checkpoint-every", 50]
        self.last(*run, "--steps", 120, "--log", f"csv:{whole}")
        parts = [*run, "--checkpoint", folder, "--log", f"csv:{part}"]
        child = subprocess.Popen(self.args(*parts), stdout=subprocess.DEVNULL)
        end = time.monotonic() + 60
        while step_of(folder) < 50 and time.monotonic() < end:
            time.sleep(0.001)
        child.send_signal(signal.SIGKILL)
        child.wait()
        at, rows = step_of(folder), part.read_text().splitlines()
        self.check("each step is in the file at once", len(rows) > at >= 50, (len(rows), at))
        steps = max(120, at + 20)
        self.last(*run, "--steps", steps, "--log", f"csv:{whole}")
        self.last(*parts, "--steps", steps, "--resume")
        self.check("each step once", part.read_text() == whole.read_text(),
                   part.read_text()[-200:])
        before = part.read_bytes()
        self.last(*parts, "--steps", steps, "--resume")
        self.check("a finished run adds nothing", part.read_bytes() == before)
        part.write_bytes(before + b"130,0.5")
        self.last(*parts, "--steps", steps, "--resume")
        self.check("a row that was not finished goes", part.read_bytes() == before)
        for text in (b"my notes\n", b"step,loss,correct,rate\n1,2,3,4\nnotes\n", b"x" * 100000):
            part.write_bytes(text)
            self.fails(2, "is no log of ge train that could go on", *parts, "--steps", steps,
                       "--resume")
            self.check("which stays as it is", part.read_bytes() == text)
        part.unlink()
        self.last(*parts, "--steps", steps + 2, "--resume")
        self.check("one that is gone begins anew", len(part.read_text().splitlines()) == 3)
        self.last("--steps", 2, "--log", f"csv:{part}")
        self.check("a new run has a new log", part.read_text().splitlines()[1].startswith("1,"))
        self.fails(2, "--log csv: is given twice", "--log", f"csv:{part}", "--log", "csv:x.csv")

    def targets(self):
        """What cannot be written is found before the first step, and nothing is changed."""
        log, nowhere = self.scratch / "targets.csv", self.scratch / "nowhere"
        log.write_text("mine\n")
        for more in (["--export", nowhere / "o.onnx"], ["--plot", nowhere / "o.png"],
                     ["--log", f"csv:{nowhere}/o.csv"], ["--export", self.scratch],
                     ["--log", f"csv:{self.scratch}"], ["--checkpoint", self.npz],
                     ["--log", f"tensorboard:{self.npz}/x"], ["--checkpoint", self.npz / "x"]):
            done = self.call("--epochs", 20000, "--log", f"csv:{log}", *more)
            if "--log" in more:
                done = self.call("--epochs", 20000, *more)
            self.check(f"{more[0]} {more[1]}", done.returncode in (2, 3) and not done.stdout
                       and "cannot " in done.stderr, done.stderr)
        self.fails(2, "--layout is 'chw', wanted nchw or nhwc", "--layout", "chw", "--log",
                   f"csv:{log}")
        self.check("a refused run changes no log", log.read_text() == "mine\n", log.read_text())
        taken = self.scratch / "taken"
        taken.mkdir()
        (taken / "states-a").write_text("mine")
        self.fails(2, "cannot write", "--epochs", 20000, "--checkpoint", taken)
        self.check("where states would be", (taken / "states-a").read_text() == "mine")
        empty = self.scratch / "made"
        self.fails(2, "cannot open 'nothing'", "--checkpoint", empty, data="nothing")
        self.check("nor makes a folder", not empty.exists())

    def moved(self):
        """Files that a run has read may go: what it exports is of the net that it began with."""
        wanted, out, log = (self.scratch / n for n in ("wanted.onnx", "moved.onnx", "moved.csv"))
        net, data = self.scratch / "moving.onnx", self.scratch / "moving.npz"
        run = ["--epochs", 150]
        self.last(*run, "--export", wanted)
        for name, change in (("gone", lambda p: p.unlink()), ("another", self.replaced)):
            shutil.copy(self.net, net)
            shutil.copy(self.npz, data)
            log.unlink(missing_ok=True)
            child = subprocess.Popen(self.args(*run, "--export", out, "--log", f"csv:{log}", net=net,
                                               data=data), stdout=subprocess.DEVNULL)
            end = time.monotonic() + 60
            while not (log.exists() and log.stat().st_size > 500) and time.monotonic() < end:
                time.sleep(0.001)
            early = child.poll() is None
            change(net), change(data)
            self.check(f"{name}: the same export", child.wait(60) == 0 and early
                       and out.read_bytes() == wanted.read_bytes(), early)

    def replaced(self, path):
        other = path.with_suffix(".new")
        other.write_bytes((self.scratch / "other.onnx").read_bytes())
        other.rename(path)

    def fifos(self):
        """What is no regular file is not waited for."""
        fifo = self.scratch / "fifo"
        os.mkfifo(fifo)
        self.fails(2, "is not a regular file", data=fifo)
        folder = self.scratch / "fifo_folder"
        (folder / "a").mkdir(parents=True)
        (folder / "a" / "x.png").symlink_to(fifo)
        self.fails(2, "is not a regular file", data=folder)
        (folder / "a" / "x.png").unlink()
        (folder / "a" / "x.png").symlink_to("/dev/zero")
        self.fails(2, "is not a regular file", data=folder)
        (folder / "a" / "x.png").unlink()
        (folder / "a" / "x.png").symlink_to("x.png")
        self.fails(2, "Too many levels of symbolic links", data=folder)
        for name in ("train-images-idx3-ubyte", "train-labels-idx1-ubyte"):
            (folder / name).symlink_to(fifo)
        (folder / "a" / "x.png").unlink()
        self.fails(2, "has no pictures", data=folder)
        held = self.scratch / "held"
        held.mkdir()
        os.mkfifo(held / "checkpoint.json")
        self.fails(2, "is no regular file but a FIFO", "--checkpoint", held, "--resume")
        self.fails(2, "is no regular file but a FIFO", "--checkpoint", held, "--overwrite")
        self.fails(2, "is a FIFO that nobody reads", "--log", f"csv:{fifo}")
        reader = subprocess.Popen(["cat", fifo], stdout=subprocess.PIPE, text=True)
        os.close(os.open(fifo, os.O_WRONLY))  # waits until it reads; it ends with this writer
        reader.communicate()
        reader = subprocess.Popen(["cat", fifo], stdout=subprocess.PIPE, text=True)
        keep = os.open(fifo, os.O_WRONLY)
        self.last("--steps", 3, "--log", f"csv:{fifo}")
        os.close(keep)
        self.check("a FIFO that is read gets the rows", reader.communicate()[0].count("\n") == 4)
        self.last("--steps", 3, "--log", "csv:/dev/null")
        self.check("/dev/null stays a device", pathlib.Path("/dev/null").is_char_device())
        done = self.call("--steps", 3, "--log", "csv:/dev/stdout")
        self.check("rows on stdout", "step,loss,correct,rate\n1," in done.stdout, done.stdout)
        text = self.scratch / "appended"
        text.write_text("mine\n")
        with open(text, "a", encoding="utf-8") as out:
            subprocess.run(self.args("--steps", 3, "--log", "csv:/dev/stdout"), stdout=out, check=True)
        self.check("which keeps what it had", text.read_text().startswith("mine\nstep,loss"),
                   text.read_text())

    def nan(self):
        """Of the data: the run ends, and what it leaves is good."""
        x = self.x[:400].copy()
        x[330, 2] = self.np.nan  # without shuffling, in step 17
        data, out, folder = self.scratch / "nan.npz", self.scratch / "nan.onnx", self.scratch / "nan"
        self.np.savez(data, x=x, y=self.y[:400])
        run = ["--no-shuffle", "--checkpoint-every", 5, "--checkpoint", folder]
        done = self.fails(1, "the loss of step 17 is nan; the last good checkpoint is of step 15",
                          *run, "--export", out, data=data)
        self.check("it says what goes on", "--allow-nan" in done.stderr, done.stderr)
        self.check("nothing is exported", not out.exists())
        self.check("the checkpoint is the last good one", step_of(folder) == 15)
        good = self.scratch / "good.onnx"
        self.last(*run, "--resume", "--steps", 16, "--export", good, data=data)
        import onnx
        weights = onnx.load(str(good)).graph.initializer
        self.check("and its weights are numbers", all(
            self.np.isfinite(onnx.numpy_helper.to_array(w)).all() for w in weights))
        self.fails(1, "there is no checkpoint, which --checkpoint DIR would have kept",
                   "--no-shuffle", data=data)
        last = self.last("--no-shuffle", "--allow-nan", "--export", out, data=data)
        self.check("--allow-nan goes on", last.get("steps") == 20 and out.exists(), last)
        for wanted in (0, 20):
            last = self.last("--no-shuffle", "--allow-nan", "--checkpoint", self.scratch / "allowed",
                             "--resume", data=data)
            self.check("and from its checkpoint", last.get("resumed_at") == wanted
                       and last.get("train_loss", 0) is None, last)
        self.np.savez(data, x_train=self.x[:400], y_train=self.y[:400], x_test=x[320:],
                      y_test=self.y[320:400])
        self.fails(1, "the test loss after step 20 is nan", data=data)
        # The last update alone: its loss is finite, its weights are not.
        x[330, 2] = 3e38
        self.np.savez(data, x=x, y=self.y[:400])
        shutil.rmtree(folder)
        done = self.call(*run, "--steps", 17, "--optimizer", "sgd", "--lr", 1e30, data=data)
        self.check("weights are looked at before they are kept", done.returncode == 1
                   and step_of(folder) < 17, done.stderr)


def main():
    os.environ.update(GE_CACHE_DIR="off", GE_PROBE="fixed")
    with tempfile.TemporaryDirectory() as scratch:
        files = Files(pathlib.Path(scratch))
        for part in (files.overwriting, files.others, files.lock, files.damaged, files.csv,
                     files.targets, files.moved, files.fifos, files.nan):
            begin = time.monotonic()
            part()
            if "-v" in sys.argv:
                print(f"{part.__name__}: {time.monotonic() - begin:.1f} s")
    print(f"{files.passed} passed, {files.failed} failed, 0 skipped")
    return files.failed > 0


if __name__ == "__main__":
    sys.exit(main())
