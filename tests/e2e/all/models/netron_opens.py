#!/usr/bin/env python3
"""Netron opens what `ge dump --format onnx` writes: its page is loaded in headless Chromium, shows no
dialog, and draws every node of the graph.

Netron's files are served from its Python package; the consent that it asks for is given by cookie.
Prints a line a model and, last, the counts. Needs the Debian package chromium.

Examples:
  tests/e2e/all/models/netron_opens.py                       # the small real models and a node test of each kind
  tests/e2e/all/models/netron_opens.py lenet vad
  tests/e2e/all/models/netron_opens.py --file some.onnx      # as it is, not exported
"""
import argparse
import functools
import http.server
import importlib.util
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.path.insert(0, str(ROOT / "tools" / "bench"))

import project_venv  # noqa: E402

project_venv.enter("pip", "netron", "onnx")

import onnx  # noqa: E402

import models  # noqa: E402
import node_tests  # noqa: E402

# Megabytes of weights say nothing about a drawing.
REAL = ["lenet", "mlp", "lstm", "magika", "tinychain", "ppocr_cls", "vad", "ddddocr"]
# Bodies, sequences, optionals, strings, maps, packed and small types.
NODES = ["test_if", "test_if_seq", "test_if_opt", "test_loop11", "test_loop16_seq_none", "test_scan9_sum",
         "test_sequence_map_add_1_sequence_1_tensor", "test_string_split_basic",
         "test_ai_onnx_ml_label_encoder_string_int", "test_cast_FLOAT_to_FLOAT8E4M3FN",
         "test_cast_FLOAT_to_INT4", "test_lstm_with_peepholes", "test_layer_normalization_2d_axis1"]
SECONDS = 120  # of one page
# Waits until the page has come to rest, tells what it shows and goes on to the page it is told.
WATCH = """
const watch = setInterval(async () => {
  const shown = document.body.getAttribute("class") || "";
  if (shown.includes("spinner") || shown === "") return;
  clearInterval(watch);
  const drawn = [...document.querySelectorAll("#canvas text")].map((text) => text.textContent);
  const message = document.getElementById("message-text");
  const answer = await fetch("/shown", {method: "POST", body: JSON.stringify(
    {page: window.location.search, shown, drawn, message: message ? message.innerText : ""})});
  const next = await answer.text();
  if (next) window.location.href = next;
}, 100);
"""


class Pages(http.server.SimpleHTTPRequestHandler):
    """Netron's own files with WATCH in its page, and /model/NAME from another folder."""

    def __init__(self, *args, netron, folder, seen, **kwargs):
        self.netron, self.folder, self.seen = netron, folder, seen
        super().__init__(*args, directory=str(netron), **kwargs)

    def translate_path(self, path):
        if path.startswith("/model/"):
            return str(self.folder / pathlib.Path(path.split("?")[0]).name)
        return super().translate_path(path)

    def do_GET(self):
        path = self.path.split("?")[0]
        if path == "/watch.js":
            return self.answer(WATCH, "text/javascript")
        if path != "/index.html":
            return super().do_GET()
        page = (self.netron / "index.html").read_text()
        # Without a date the page does not ask to be updated when it is half a year old.
        page = re.sub(r'<meta name="date"[^>]*>', "", page)
        return self.answer(page.replace("</head>", '<script src="watch.js"></script></head>'),
                           "text/html")

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.answer(self.seen(json.loads(body)) or "", "text/plain")

    def answer(self, text, kind):
        data = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Set-Cookie", "consent=1; Max-Age=86400")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format, *args):
        pass


def page_of(name):
    return f"/index.html?url=/model/{name}.onnx"


class Tour:
    """Takes one browser through pages, in order; `shown` is what each of them had to show."""

    def __init__(self, names):
        self.names, self.shown, self.news = names, {}, threading.Condition()

    def seen(self, found):
        """Called by the server; returns the next page."""
        with self.news:
            at = next((i for i, n in enumerate(self.names) if page_of(n).endswith(found["page"])), -1)
            if at >= 0:
                self.shown[self.names[at]] = found
            self.news.notify_all()
        return page_of(self.names[at + 1]) if at + 1 < len(self.names) else None

    def wait(self, name):
        """What the page showed, or None when it never came to rest."""
        with self.news:
            self.news.wait_for(lambda: name in self.shown, timeout=SECONDS)
            return self.shown.get(name)


def start(chromium, port, name, profile):
    # Time that a page waits in the background passes as it does in front.
    return subprocess.Popen([chromium, "--headless=new", "--disable-gpu", "--no-first-run",
                             "--no-sandbox", f"--user-data-dir={profile}",
                             "--disable-background-timer-throttling",
                             f"http://127.0.0.1:{port}{page_of(name)}"],
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def fault(found, wanted):
    """"" or what is wrong with a page that should show nodes of these types."""
    if found is None:
        return f"the page did not come to rest within {SECONDS} s"
    if found["shown"] != "default":
        return f"the page shows '{found['shown']}': {' '.join(found['message'].split())}"
    lacking = sorted(wanted - set(found["drawn"]))
    return f"no node {', '.join(lacking)} in the drawing" if lacking else ""


def operators(path):
    """Types of the main graph's nodes; Netron folds Constant into the node that reads it."""
    try:
        graph = onnx.load(path, load_external_data=False).graph
    except Exception:  # --file may be anything; the page will say
        return set()
    return {n.op_type for n in graph.node} - {"Constant"}


def exported(ge, source, to):
    subprocess.run([ge, "dump", source, "--format", "onnx", "-o", to], check=True,
                   stdout=subprocess.DEVNULL)


def sources(args):
    """(name, model file, whether it is exported first) of all that is asked for."""
    out = [(f.stem, f, False) for f in args.file]
    if args.file and not args.model:
        return out
    for name in args.model or REAL:
        out.append((name, models.ensure([name], say=lambda s: print(s, file=sys.stderr))[name], True))
    for name in [] if args.model else NODES:
        out.append((name, args.node_tests / name / "model.onnx", True))
    return out


def look(chromium, wanted, folder):
    """Shows {name: operators} one after another; returns how many pages have a fault."""
    netron = pathlib.Path(importlib.util.find_spec("netron").origin).parent
    names, failed = list(wanted), 0
    tour = Tour(names)
    handler = functools.partial(Pages, netron=netron, folder=folder, seen=tour.seen)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        browser = start(chromium, server.server_port, names[0], folder / "profile")
        try:
            for name in names:
                found = tour.wait(name)
                why = fault(found, wanted[name])
                failed += bool(why)
                print(f"{'FAILED' if why else 'passed'}  {name}{': ' + why if why else ''}",
                      flush=True)
                if found is None:  # it does not go on by itself
                    browser = restart(browser, chromium, server, names, name, folder)
        finally:
            stop(browser)
            server.shutdown()
    return failed


def stop(browser):
    browser.terminate()
    browser.wait()


def restart(browser, chromium, server, names, name, folder):
    stop(browser)
    rest = names[names.index(name) + 1:]
    return start(chromium, server.server_port, (rest or names)[0], folder / "profile")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="*", help=f"real models (default: {' '.join(REAL)})")
    parser.add_argument("--file", nargs="*", default=[], type=pathlib.Path, help="ONNX files")
    parser.add_argument("--node-tests", type=pathlib.Path, default=node_tests.DEFAULT_DIR)
    parser.add_argument("--ge", default=ROOT / "build" / "release" / "bin" / "ge")
    return parser.parse_args()


def main():
    args = parse_arguments()
    chromium = shutil.which("chromium")
    if not chromium:
        sys.exit("netron_opens.py: chromium is not installed; run: tools/setup/install.sh all")
    netron = pathlib.Path(importlib.util.find_spec("netron").origin).parent
    with tempfile.TemporaryDirectory(prefix="ge-netron.", ignore_cleanup_errors=True) as folder:
        wanted = {}
        for name, source, export in sources(args):
            to = pathlib.Path(folder) / f"{name}.onnx"
            exported(args.ge, source, to) if export else shutil.copy(source, to)
            wanted[name] = operators(to)
        failed = look(chromium, wanted, pathlib.Path(folder))
    print(f"{len(wanted) - failed} passed, {failed} failed, 0 skipped")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
