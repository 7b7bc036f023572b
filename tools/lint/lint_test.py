#!/usr/bin/env python3
"""Tests the linter: each rule finds its fault in a tiny bad tree and nothing in a good one.

Example:
  python3 tools/lint/lint_test.py
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import lint  # noqa: E402
import map_doc  # noqa: E402
import source_text  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROOMS = (ROOT / "rooms.txt").read_text()
LAYOUT = "BasedOnStyle: Google\nColumnLimit: 100\n"
NOTE = "// What it is.\n"
# Spelled in two parts, so that the linter does not find them here.
MACHINE = "/" + "home/someone/model"
LONG_BODY = "  x();\n" * 61

GOOD = {
    "ge/base/status.h": NOTE + "#pragma once\nint Code();\n",
    "ge/base/status.cc": '#include "ge/base/status.h"\n\nint Code() { return 0; }\n',
    "ge/ir/graph.h": NOTE + '#pragma once\n#include "ge/base/status.h"\n',
    "ge/ir/graph_test.cc": '#include "ge/session/session.h"\n\nint main() { throw 1; }\n',
    "ge/session/session.h": NOTE + '#pragma once\n#include "ge/place/place.h"\n',
    "ge/place/place.h": NOTE + '#pragma once\n#include "ge/engine/engine.h"\n',
    "ge/engine/engine.h": NOTE + '#pragma once\n#include "ge/ge_plugin.h"\n',
    "ge/run/run.h": NOTE + '#pragma once\n#include "ge/ge_plugin.h"\n',
    "sdk/include/ge/ge_plugin.h": NOTE + "#pragma once\n",
    "sdk/include/ge/ge.h": NOTE + "#pragma once\n",
    "sdk/samples/minimal/minimal.c": '#include "ge/ge_plugin.h"\n#include "own.h"\n',
    "sdk/samples/minimal/own.h": NOTE + "#pragma once\n",
    "plugins/cpu/onednn/engine.cc":
        '#include "ge/ge_plugin.h"\n#include "plugins/cpu/kit/unit.h"\n'
        '#include "plugins/cpu/onednn/pack.h"\n',
    "plugins/cpu/kit/unit.h": NOTE,
    "plugins/cpu/onednn/pack.h": NOTE + '#pragma once\n#include "dnnl.hpp"\n',
    # Words in comments, strings and names are no calls.
    "ge/base/text.cc": '// abort() and throw\nconst char* kText = "exit(1); throw";\n'
                       "void F(Run& run) { run.exit(); }\nint brand(int);\n"
                       "int G() { return brand(1); }\n",
    # Declarations, arguments, initial values and what is returned are no statements joined by commas.
    "ge/base/list.cc": "int F() {\n  int a = 1, b[2] = {1, 2};\n  std::map<int, int> m, n;\n"
                       "  for (int i = 0, k = 1; i < 2; ++i, ++k) G(a, [&] { return H(), a; });\n"
                       "  return G(a, b), 1;\n}\nA::A() : a_(1), b_{1, 2} { G(1, 2); }\n",
    # The letters of mathematics may stay, and so may one letter among many words.
    "ge/base/words.h": NOTE + "#pragma once\nint F(int x, int y, int n, int i, int k);\n"
                       "int G(int first, int second, int third, int fourth, int fifth, int sixth, int seventh, int z);\n",
    # Parts of words are no vendors' names, and engines may say theirs.
    "plugins/device/sim/words.cc": "// The oracle of a ship ascends, in ascending order; a cup, damda, whip.\nint circuitOf, cup;\n",
    "plugins/cpu/onednn/names.cc": "// As CUDA has it.\n",
    "README.md": "see ops/work/conv and https://example.org/home/page\n[a](docs/a.md#b) `[c](d)`\n",
    "docs/README.md": "[a](a.md) [map](map.md) [up](../README.md) [x](https://example.org)\n",
    "docs/a.md": "```\n[no](link)\n```\n",
}

# A tree with its smallest samples.
SAMPLES = {"sdk/samples/CMakeLists.txt": "", **dict.fromkeys(lint.SAMPLE_LINES, "int x;\n")}

# Rule -> bad trees, each of which that rule must find and no other.
BAD = {
    "rooms": [
        {"ge/base/a.h": NOTE + '#include "ge/ir/graph.h"\n', "ge/ir/graph.h": NOTE},
        {"ge/infer/a.cc": '#include "ge/memory/b.h"\n', "ge/memory/b.h": NOTE},
        {"ge/run/a.cc": '#include "ge/engine/b.h"\n', "ge/engine/b.h": NOTE},
        {"ge/run/a.cc": '#include "ge/ge.h"\n', "sdk/include/ge/ge.h": NOTE},
        {"ge/memory/a.cc": '#include "ge/engine/b.h"\n', "ge/engine/b.h": NOTE},
        {"ge/plan/check/a.cc": '#include "ge/ops/b.h"\n', "ge/ops/b.h": NOTE},
        {"ge/plan/a.cc": '#include "ge/plan/check/b.h"\n', "ge/plan/check/b.h": NOTE},
        {"plugins/ref/a.cc": '#include "ge/base/b.h"\n', "ge/base/b.h": NOTE},
        {"plugins/ref/a.cc": '#include "plugins/cpu/native/b.h"\n',
         "plugins/cpu/native/b.h": NOTE},
        {"plugins/cpu/onednn/a.cc": '#include "plugins/cpu/native/b.h"\n',
         "plugins/cpu/native/b.h": NOTE},
        {"passes/fold/a.cc": '#include "ge/engine/b.h"\n', "ge/engine/b.h": NOTE},
        {"frontend/onnx/a.cc": '#include "ge/engine/b.h"\n', "ge/engine/b.h": NOTE},
        {"sdk/include/ge/a.h": NOTE + '#include "ge/base/b.h"\n', "ge/base/b.h": NOTE},
        {"examples/ocr/a.cc": '#include "ge/session/b.h"\n', "ge/session/b.h": NOTE},
        {"streams/a.cc": '#include "ge/memory/b.h"\n', "ge/memory/b.h": NOTE},
        {"ge/ir/a.cc": '#include "b.h"\n', "ge/ir/b.h": NOTE},
        {"ge/ir/a.cc": '#include "ge/ir/absent.h"\n'},
        {"ge/unheard/a.cc": '#include "ge/ir/b.h"\n', "ge/ir/b.h": NOTE},
        {"plugins/cpu/native/conv/a.cc": '#include "plugins/cpu/native/onnx_ml/b.h"\n',
         "plugins/cpu/native/onnx_ml/b.h": NOTE},
        {"plugins/cpu/native/conv/a.cc": '#include "plugins/units/matmul/b.h"\n',
         "plugins/units/matmul/b.h": NOTE},
        {"plugins/units/a.cc": '#include "plugins/cpu/kit/b.h"\n', "plugins/cpu/kit/b.h": NOTE},
        {"passes/quantize/a.cc": "int x;\n"},
        {"rooms.txt": ROOMS + "ge/base | ge_base | yes | - | Once more.\n"},
        {"rooms.txt": ROOMS + "ge/new | ge_new | yes | ge/newer | It looks down.\n"},
        {"rooms.txt": ROOMS + "ge/new | ge_new | no | - | It gives no reason.\n"},
    ],
    "folder-files": [{f"ge/place/a{i}.cc": "int x;\n" for i in range(41)},
                     {f"tests/e2e/all/a{i}.sh": "true\n" for i in range(41)}],
    "map": [{"docs/map.md": "# Map\n"}, {"docs/moved.txt": "ge/a.cc -> ge/ir/a.cc\n"},
            {"docs/moved.txt": "ge/a.cc ge/ir/a.cc\n"}],
    "file-lines": [{"ge/ir/a.cc": "int x;\n" * 1001}, {"tools/gen/a.py": "x = 1\n" * 1001}],
    "function-lines": [
        {"ge/ir/a.cc": "void F(int a) {\n" + LONG_BODY + "}\n"},
        {"ge/ir/a.cc": "namespace ge {\nclass A {\n public:\n  A() : a_(1) {\n" +
                       LONG_BODY.replace("  x", "    x") +
                       "  }\n  int a_;\n};\n}  // namespace ge\n"},
        {"tools/gen/a.py": "def f():\n" + "    x = 1\n" * 61},
    ],
    "sample-lines": [
        {**SAMPLES, "sdk/samples/minimal/minimal.c": "int x;\n" * 121},
        {**SAMPLES, "sdk/samples/op/op.c": "int x;\n" * 41},
        {**SAMPLES, "sdk/samples/op/op.c": "#define F(x) x\n"},
        {path: text for path, text in SAMPLES.items() if path != "sdk/samples/minimal/minimal.c"},
    ],
    "banned-calls": [{"ge/ir/a.cc": f"void F() {{ {call}; }}\n"} for call in (
        "abort()", "std::exit(1)", "assert(1)", "rand()", "strcpy(a, b)", "sprintf(a, b)",
        "gets(a)", "system(a)", "std::cout << 1", "throw 1", "std::terminate()", "printf(a)")] + [
        {"plugins/ref/a.cc": "void F() { abort(); }\n"}],
    "static-registries": [
        {"ge/ops/a.cc": "static bool registered = Register(1);\n"},
        {"ge/ops/a.cc": "REGISTER_OP(Conv)\n"},
        {"ge/ops/a.cc": "static ge::Registrar conv(1);\n"},
        {"plugins/ref/a.c": "__attribute__((constructor)) static void F(void) {}\n"},
    ],
    "file-names": [{"ge/ir/graph_util.h": NOTE}, {"tools/gen/helpers.py": ""},
                   {"ge/ir/Graph.cc": ""}, {"docs/common.md": ""}],
    "header-comments": [{"ge/ir/a.h": "#pragma once\n"}],
    "machine-paths": [{"docs/a.md": f"run it on {MACHINE}\n"},
                      {"ge/ir/a.cc": f'const char* kPath = "{MACHINE}";\n'}],
    "generated-files": [{"ge/wire/graph.pb.o": ""}, {"build/release/a.txt": ""},
                        {"ge/ops/a.cc": "// Generated by gen.py. DO NOT EDIT.\n"},
                        {"tests/a.so": ""}],
    "large-files": [{"examples/model.onnx": "x" * (1 << 20) + "x"}],
    "formatting": [{"ge/ir/a.cc": "int  F( ){return 0;}\n"}],
    "comma-statements": [{"ge/ir/a.cc": f"void F() {{\n  {body}\n}}\n"} for body in (
        "a = 1, b = 2;\n  return;", "if (a) f(), g();", "auto f = [&] { ++a, ++b; };", "*out = a, *count = 1;\n  f();",
        "for (int i = 0; i < 3; ++i) a += i, b += i;", "switch (a) {\n    case 1:\n      f(), g();\n  }")],
    "header-using": [{"ge/ir/a.h": NOTE + "#pragma once\nnamespace ge {\nusing namespace std;\n}\n"}],
    "parameter-letters": [{"ge/ir/a.h": NOTE + "#pragma once\n" + "void F(int rank, Graph* g, int n);\n" * 9},
                          {"ge/ir/a.h": NOTE + "template <typename T>\nT F(const std::vector<T>& v) {\n  return v[0];\n}\n"}],
    "old-names": [{"ge/ir/a.cc": "FlowPlace* place;\n"}, {"ge/ir/graph_loan.h": NOTE}, {"ge/ir/pass_graph.h": NOTE}],
    "vendor-names": [{"plugins/device/sim/a.cc": f"{text}\n"} for text in (
        "// As CUDA has it.", "// Nvidia's.", "int x = cuInit;", "int cudaMalloc;", "int aclrtMalloc;", "int aclInit;",
        "// Ascend has none.", "int x_hip_y;", "int hipMalloc;", "// rocm", "// AMD's", "int MakeCudaStream;")] + [
        {"plugins/device/sim/ascend.cc": "int x;\n"}],
    "first-page": [{"README.md": "x" * 9001}, {"README.md": "| a |\n" * 17}],
    "links": [{"docs/a.md": "see [b](b.md)\n"}, {"README.md": "\n![b](docs/b.svg)\n"}],
    "index": [{"docs/README.md": "[a](a.md) [map](map.md)\n", "docs/a.md": "", "docs/decisions/0001-b.md": ""}],
    "folder-readmes": [{"CONTRIBUTING.md": "", "ge/README.md": "", "ge/ir/a.h": NOTE},
                       {"CONTRIBUTING.md": "", "ge/README.md": "`ir/a.h` `ir/b.h`\n",
                        "ge/ir/README.md": "`a.h`\n", "ge/ir/a.h": NOTE},
                       {"CONTRIBUTING.md": "", "examples/README.md": "",
                        "examples/ocr/README.md": "x\n" * 31, "examples/ocr/a.c": ""}],
}


def with_tables(files):
    """The files, and what stands in every tree: the layout, rooms.txt and the map that is made of it."""
    tables = {".clang-format": LAYOUT, "rooms.txt": ROOMS, "docs/moved.txt": "", **files}
    try:
        units = {f: text for f, text in tables.items() if f.startswith(map_doc.UNITS)}
        page = map_doc.page(tables["rooms.txt"], tables["docs/moved.txt"], units)
    except ValueError:
        page = ""
    return {"docs/map.md": page, **tables}


def faults_by_rule(files):
    """{rule: faults} over a tree that holds `files`; rules without faults are left out."""
    with tempfile.TemporaryDirectory() as root:
        for path, text in with_tables(files).items():
            (pathlib.Path(root) / path).parent.mkdir(parents=True, exist_ok=True)
            (pathlib.Path(root) / path).write_text(text)
        tree = lint.Tree(root)
        # An archive's tree leaves out the build; git's answer may not.
        tree.files = sorted({*tree.files, *with_tables(files)})
        tree.known = set(tree.files)
        found = {name: list(rule(tree)) for name, rule in lint.RULES.items()}
    return {name: faults for name, faults in found.items() if faults}


class Rules(unittest.TestCase):
    def test_a_good_tree_has_no_fault(self):
        self.assertEqual(faults_by_rule(GOOD), {})

    def test_every_rule_has_a_bad_tree(self):
        self.assertEqual(set(BAD), set(lint.RULES))


def add_case(rule, number, files):
    def case(self):
        found = faults_by_rule(files)
        self.assertEqual(list(found), [rule], found)
        self.assertEqual(len(found[rule]), 1, found)
    setattr(Rules, f"test_{rule.replace('-', '_')}_{number}", case)


for bad_rule, trees in BAD.items():
    for index, bad_files in enumerate(trees):
        add_case(bad_rule, index, bad_files)


class Folders(unittest.TestCase):
    def test_a_folder_is_one_line(self):
        files = {**GOOD, "ge/newroom/a.cc": '#include "ge/ir/graph.h"\n'}
        self.assertEqual(list(faults_by_rule(files)), ["rooms"])
        line = "ge/newroom | ge_newroom | yes | ge/base ge/ir | It is new.\n"
        self.assertEqual(faults_by_rule({**files, "rooms.txt": ROOMS + line}), {})
        self.assertIn("ge/newroom holds sources and stands in no line", self.configured(ROOMS).stderr)
        done = self.configured(ROOMS + line)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("ge_newroom: a.cc", done.stderr)

    def configured(self, table):
        """What CMake says of a copy with the folder ge/newroom and this table."""
        with tempfile.TemporaryDirectory() as root:
            root = pathlib.Path(root)
            (root / "ge/newroom").mkdir(parents=True)
            for name in ("a.cc", "a_test.cc", "a_testing.h"):
                (root / "ge/newroom" / name).write_text("int x;\n")
            (root / "rooms.txt").write_text(table)
            shutil.copy(ROOT / "rooms.cmake", root)
            (root / "say.cmake").write_text(
                "include(${CMAKE_CURRENT_LIST_DIR}/rooms.cmake)\n"
                "foreach(target ${ROOMS_TARGETS})\n  ge_room_sources(found ${target})\n"
                "  list(TRANSFORM found REPLACE \".*/\" \"\")\n  message(\"${target}: ${found}\")\nendforeach()\n")
            return subprocess.run(["cmake", "-P", str(root / "say.cmake")], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True)


class Functions(unittest.TestCase):
    def names(self, code):
        return [(name, lines) for name, _, lines in source_text.functions(code)]

    def test_lambdas_belong_to_the_function_around_them(self):
        code = "int F() {\n  auto g = [](int a) {\n    return a;\n  };\n  return g(1);\n}\n"
        self.assertEqual(self.names(code), [("F", 6)])

    def test_braces_in_literals_and_numbers_with_quotes_are_no_braces(self):
        code = "int F() {\n  G(\"{\", '{', R\"(\n{{)\");\n  return 1'000;\n}\nint H() {}\n"
        self.assertEqual(self.names(code), [("F", 5), ("H", 1)])

    def test_one_branch_of_an_if_counts(self):
        code = "int F() {\n#if A\n  if (a) {\n#else\n  if (b) {\n#endif\n  }\n}\nint H() {}\n"
        self.assertEqual(self.names(code), [("F", 8), ("H", 1)])

    def test_tables_and_types_are_no_functions(self):
        code = ("struct A {\n  int a{1};\n};\nconst int kT[] = {\n  G(1),\n  H(2)};\n"
                "enum class E { kA };\n")
        self.assertEqual(self.names(code), [])

    def test_operators_and_trailing_types_are_functions(self):
        code = "bool operator==(A a, A b) { return 1; }\nauto F(int a) -> std::vector<int> { }\n"
        self.assertEqual(self.names(code), [("operator==", 1), ("F", 1)])


def main():
    suite = unittest.TestSuite(unittest.defaultTestLoader.loadTestsFromTestCase(c)
                               for c in (Rules, Folders, Functions))
    result = unittest.TextTestRunner(verbosity=0).run(suite)
    bad = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - bad - len(result.skipped)} passed, {bad} failed, "
          f"{len(result.skipped)} skipped", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
