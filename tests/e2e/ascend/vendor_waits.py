#!/usr/bin/env python3
"""Waits that are dropped, on the simulated vendor of an engine, judged by an oracle.

Of random models each wait of a stream for an event is left out in turn, and each question or wait of the host, by the
simulator of devices. Each run writes a journal; journal_oracle.py says of it, without the simulator's clocks, whether
work races or a block was freed in flight. That is what the simulator has to report, in each order of the device's
work. Whole runs are right, and nothing is found in them.

The host's own loads and stores go through no call, so neither sees them: a run whose numbers are wrong while nothing
is found counts apart, and has to be one where the host learnt later than in the whole run that work on its memory was
over.

Example: tests/e2e/ascend/vendor_waits.py --engine ascend --models 4
"""
import argparse
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/e2e/engines"))
from journal_oracle import differs, judge  # noqa: E402  pylint: disable=wrong-import-position
from vendor_schedules import SIMULATORS, Checks, ended, numbers_of, saved  # noqa: E402  pylint: disable=wrong-import-position

QUESTIONS = ["event_query", "event_synchronize", "stream_query", "stream_synchronize"]
# The oracle must notice when it does not look at these lines or accesses.
BLIND = ["record", "wait", "told", "told event", "reads", "writes", "free"]
COUNTS = ["unsafe", "safe", "wrong numbers that no call shows", "refused by another rule"]


class Run:
    """One run of a model, and what both judges say."""

    def __init__(self, c, model, options):
        journal, reports = (c.folder / f"{name}-{id(self)}" for name in ("journal", "reports"))
        self.refused, self.wrong = ended(c, model, 1, f"{options};journal={journal};reports={reports}")
        self.text = journal.read_text() if journal.exists() else ""
        self.reports = reports.read_text() if reports.exists() else ""
        for path in (journal, reports):
            path.unlink(missing_ok=True)
        self.judged = judge(self.text)

    def unsafe(self):
        return any(oracle.unsafe() for oracle, _ in self.judged)

    def differs(self, blind=()):
        judged = judge(self.text, blind) if blind else self.judged
        found = "; ".join(filter(None, (differs(*both) for both in judged)))
        told = "race: " in self.reports or "in flight: " in self.reports
        if not found and not blind and told != any(its.unsafe() or its.ended for _, its in judged):
            return "the simulator's reports: " + (self.reports or "none")
        return found

    def learnt(self):
        return [when for oracle, _ in self.judged for when in oracle.learnt]

    def drops(self):
        return sum(oracle.drops for oracle, _ in self.judged)


def learnt_later(whole, run):
    """Whether the host learnt later than in the whole run that work on its memory was over, or never."""
    return any(b is not None and (a is None or a > b) for a, b in zip(run.learnt(), whole.learnt()))


class Tried:
    """Which of BLIND no run has shown yet."""

    def __init__(self):
        self.blind = set(BLIND)

    def see(self, run):
        for name in sorted(self.blind):
            if run.differs([name]):
                self.blind.discard(name)


def whole_run(c, model, order, tried):
    """The run without a drop, and how many waits there are: of streams, of the host."""
    counted, what = c.folder / f"calls-{model.folder.name}", f"model {model.folder.name}, {order}"
    run = Run(c, model, f"schedule={order};calls={counted}")
    c.check(run.text and not run.refused and not run.wrong, what, run.wrong or "refused, or no journal")
    c.check(not run.unsafe() and not run.reports, f"{what}: nothing is found", run.reports)
    c.check(not run.differs(), f"{what}: the oracle", run.differs())
    calls = numbers_of(counted) if counted.exists() else {}
    tried.see(run)
    return run, calls.get("stream_wait", 0), sum(calls.get(kind, 0) for kind in QUESTIONS)


def dropped(c, model, order, whole, option, tried):
    """A run without one wait: (which of COUNTS, "" where the run has no such wait; what is wrong with it)."""
    run = Run(c, model, f"schedule={order};{option}")
    wrong = run.differs()
    if not run.drops() or wrong:
        return "", wrong
    tried.see(run)
    if run.unsafe():
        return COUNTS[0], ""
    if not run.wrong and not run.refused:
        return COUNTS[1], ""
    if run.reports:
        return COUNTS[3], ""
    return COUNTS[2], "" if learnt_later(whole, run) else f"though the host learnt all in time: {run.wrong or 'refused'}"


def waits(c, kind, models, orders, tried):
    """Every wait of these models, in these orders."""
    counts, whole_runs = dict.fromkeys(COUNTS, 0), 0
    for model in models:
        for order in orders:
            whole, of_streams, of_host = whole_run(c, model, order, tried)
            options = [f"{kind}={k}" for k in range(1, 1 + (of_streams if kind == "drop_wait" else of_host))]
            ends = c.each(lambda o, m=model, s=order, w=whole: dropped(c, m, s, w, o, tried), options)
            for option, (end, wrong) in zip(options, ends):
                c.check(not wrong, f"model {model.folder.name}, {order}, {option}", wrong)
                if end:
                    counts[end] += 1
            whole_runs += 1
    c.check(counts["unsafe"] > 0 and counts["safe"] > 0, f"{kind}: some are needed, some are not", counts)
    print(f"{kind}: {whole_runs} whole runs of {len(models)} models in {len(orders)} orders, "
          f"{sum(counts.values())} with a drop: " + ", ".join(f"{n} {name}" for name, n in counts.items()), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--engine", choices=SIMULATORS, default="ascend")
    parser.add_argument("--models", type=int, default=100)
    parser.add_argument("--orders", default="lazy,adversarial,eager,seeded;seed=1,seeded;seed=2",
                        help="of the device's work, for waits of streams")
    parser.add_argument("--host-models", type=int, default=20, help="whose waits of the host are dropped")
    parser.add_argument("--host-orders", default="lazy", help="the same for those of the host")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        c = Checks(given.build.resolve(), pathlib.Path(folder), given.engine)
        models = saved(c, given.models + given.models // 3 + 2)[:given.models]
        c.check(len(models) == given.models, "models", len(models))
        tried = Tried()
        waits(c, "drop_wait", models, given.orders.split(","), tried)
        waits(c, "drop_told", models[:given.host_models], given.host_orders.split(","), tried)
        c.check(not tried.blind, "lines and accesses that the oracle does not need", tried.blind)
    print(f"{c.passed} passed, {c.failed} failed, {c.skipped} skipped")
    return 1 if c.failed else 0


if __name__ == "__main__":
    sys.exit(main())
