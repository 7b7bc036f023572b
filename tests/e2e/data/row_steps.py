#!/usr/bin/env python3
"""Steps that look at all rows, against numpy: where and standardise; columns joined by select; test
data get the classes and the deviations of the training data. The last line counts checks."""
import sys

import data_run
import numpy as np
import table_sources


class RowSteps(data_run.DataRun):
    def table(self):
        r = np.random.default_rng(1)
        self.width = r.integers(0, 500, 300)
        self.label = r.integers(0, 20, 300)
        self.x = r.standard_normal(300).astype("f4") * 3 + 7
        self.kind = [["cat", "dog", "eel"][i % 3] for i in range(300)]
        rows = [["width", "label", "x", "kind"], *zip(self.width, self.label, self.x, self.kind)]
        self.write("t.csv", table_sources.csv_text(rows))

    def where(self):
        w, n, x, kind = self.width, self.label, self.x, np.array(self.kind)
        for text, kept in [
                ("width >= 256 && label < 10", (w >= 256) & (n < 10)), ("width==label", w == n),
                ("!(width > 9) || label != 3 && x <= 7.5", ~(w > 9) | (n != 3) & (x <= 7.5)),
                ("(width > 100 || label > 3) && x < 8e0", ((w > 100) | (n > 3)) & (x < 8)),
                ("kind == dog", kind == "dog"), ("eel != kind && 100 < width", (kind != "eel") & (w > 100)),
                ("!!(width >= 0)", w >= 0)]:
            self.gives(text, f"t.csv | where '{text}' | select width label",
                       {"width": w[kept], "label": n[kept]})
        self.gives("twice", "t.csv | where 'width > 100' | where 'label > 5' | select x",
                   {"x": x[(w > 100) & (n > 5)]})
        for text, wanted in [
                ("width >", "found its end"), ("width", "found '' where a comparison is wanted"),
                ("width > 3 4", "found '4' at its end"), ("(width > 3", "a bracket without its end"),
                ("depth > 3", "found 'depth'; the columns of one number are width, label, x, kind"),
                ("kind == cow", "'cow', which is no class of column 'kind'"),
                ("kind < cat", "found 'cat'; the columns"), ("label == cat", "found 'cat'; the columns"),
                ("(" * 70 + "width > 3" + ")" * 70, "brackets deeper than 64"),
                ("width > 1000", "wanted a condition that a row fulfils; none does")]:
            self.refused(f"t.csv | where '{text}'", wanted)
        self.refused("t.csv | where width > 3", "the condition in quotes")

    def standardise(self):
        def standard(v, of=None):
            of = np.asarray(v if of is None else of, "f8")
            deviation = of.std(0)
            return ((v - of.mean(0)) / np.where(deviation > 0, deviation, 1)).astype("f4")

        def near(name, pipe, wanted, **more):
            got = self.rows(pipe, range(len(next(iter(wanted.values())))), **more)
            for column, w in wanted.items():
                g = (got or {}).get(column)
                self.check(f"{name}: {column}", g is not None and g.dtype == w.dtype
                           and g.shape == w.shape and np.allclose(g, w, rtol=1e-6, atol=1e-6), g)

        near("floats", "t.csv | standardise | select x", {"x": standard(self.x)})
        got = self.rows("t.csv | standardise | select width", range(300))
        self.check("whole numbers stay", np.array_equal(got["width"], self.width))
        near("by name", "t.csv | standardise width x | select width x",
             {"width": standard(self.width), "x": standard(self.x)})
        kept = self.width > 250
        near("of kept rows", "t.csv | where 'width > 250' | standardise | select x",
             {"x": standard(self.x[kept])})
        r = np.random.default_rng(2)
        m = r.standard_normal((50, 3, 2)).astype("f4")
        m[:, 1, 1] = 4
        np.save(self.here / "m.npy", m)
        np.save(self.here / "other.npy", m[:7] * 2)
        near("by element", "m.npy | standardise", {"x": standard(m)})
        near("test data by the training data's", "m.npy | standardise",
             {"x": standard(m[:7] * 2, of=m)}, entry="data_test", options=";batch=1;test=other.npy")
        m[3, 0, 0] = np.nan
        np.save(self.here / "m.npy", m)
        self.refused("m.npy | standardise", "column 'x' is nan in row 3 of 'm.npy', wanted a number")
        both = np.stack([standard(self.width), standard(self.x)], 1)
        near("of columns that select joined", "t.csv | select z=[width,x] label | standardise",
             {"z": both})
        near("of a column that is also joined", "t.csv | select z=[x,width] y=[x] | standardise y",
             {"z": np.stack([self.x, self.width], 1).astype("f4"), "y": standard(self.x)[:, None]})
        self.refused("t.csv | standardise kind",
                     "a column of numbers that no step but select has changed, not 'kind'")
        self.refused("t.csv | standardise x | standardise x",
                     "a column of numbers that no step but select has changed, not 'x'")
        self.refused("t.csv | select label | standardise", "a column of floats that no step but select")

    def joined(self):
        both = np.stack([self.width.astype("f4"), self.x], 1)
        self.gives("numbers and floats", "t.csv | select x=[width,x]", {"x": both})
        whole = np.stack([self.width, self.label], 1)
        self.gives("whole numbers", "t.csv | select x=[width,label] label",
                   {"x": whole, "label": self.label})

    def classes(self):
        self.write("train.csv", "k\nb\nc\na\n")
        self.write("test.csv", "k\nc\nc\nb\n")
        test = {"entry": "data_test", "options": ";batch=1;test=test.csv"}
        self.gives("the training data's numbers", "train.csv", {"k": np.array([2, 2, 1])}, **test)
        self.write("test.csv", "k\nd\nb\n")
        self.refused("train.csv", "column 'k' of 'test.csv' has the class 'd', which the training data "
                     "have not; leave its rows out by where", **test)


def main():
    run = RowSteps()
    for part in (run.table, run.where, run.standardise, run.joined, run.classes):
        part()
    run.small()
    return run.close()


if __name__ == "__main__":
    sys.exit(main())
