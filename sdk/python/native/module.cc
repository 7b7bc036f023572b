// The module graphengine._native: what it has, and the types that its stubs tell.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdio>

#include "custom.h"
#include "door.h"
#include "dtype.h"
#include "eager.h"
#include "graph_builder.h"
#include "programs.h"
#include "raise.h"
#include "session.h"
#include "states.h"
#include "tensor.h"
#include "trace.h"
#include "without_gil.h"

namespace nb = nanobind;
using graphengine::Batches;
using graphengine::Port;
using graphengine::Prepared;
using graphengine::Run;
using graphengine::Runtime;
using graphengine::Session;

namespace {

nb::object ShapeOf(const Port& port) {
  if (port.rank < 0) return nb::none();
  nb::list out;
  for (int32_t i = 0; i < port.rank; ++i) {
    if (port.dims[i] < 0) {
      out.append(nb::none());
    } else {
      out.append(port.dims[i]);
    }
  }
  return nb::tuple(out);
}

nb::object Words(const Port& port, const std::vector<std::string>& names) {
  if (port.rank < 0) return nb::none();
  nb::list out;
  for (const std::string& name : names) {
    out.append(name.empty() ? nb::object(nb::none()) : graphengine::Text(name));
  }
  return nb::tuple(out);
}

const char* TypeOf(const Port& port) { return port.element ? port.element->name : "unknown"; }

const char* KindOf(const Port& port) {
  constexpr const char* kWords[] = {"unknown", "tensor", "texts", "sequence", "map"};
  return port.kind >= 0 && port.kind <= GE_ANY_MAP ? kWords[port.kind] : kWords[0];
}

void AddTensorInfo(nb::module_& m) {
  nb::class_<Port>(m, "TensorInfo", "An input, an output or a state of a model.")
      .def_prop_ro(
          "name", [](const Port& p) { return graphengine::Text(p.name); },
          nb::sig("def name(self) -> str"))
      .def_prop_ro("dtype", TypeOf,
                   "The word of numpy or ml_dtypes for the element type; \"string\" for texts.")
      .def_prop_ro("kind", KindOf, "\"tensor\", \"texts\", \"sequence\", \"map\", \"unknown\".")
      .def_ro("optional", &Port::optional, "Whether it may be None.")
      .def_prop_ro("shape", ShapeOf, nb::sig("def shape(self) -> tuple[int | None, ...] | None"),
                   "None for an axis that the caller decides; None where the rank is not known")
      .def_prop_ro(
          "dim_names", [](const Port& p) { return Words(p, p.dim_names); },
          nb::sig("def dim_names(self) -> tuple[str | None, ...] | None"),
          "Words for axes that the caller decides, None for the others; sizes of one name agree.")
      .def_prop_ro(
          "model_dims", [](const Port& p) { return Words(p, p.model_dims); },
          nb::sig("def model_dims(self) -> tuple[str | None, ...] | None"),
          "As dim_names, but None where the model itself has no word.")
      .def_prop_ro(
          "denotations", [](const Port& p) { return Words(p, p.denotations); },
          nb::sig("def denotations(self) -> tuple[str | None, ...] | None"),
          "ONNX's denotations of the axes, \"DATA_BATCH\"; None where there is none.")
      .def_prop_ro(
          "type", [](const Port& p) { return graphengine::Text(p.type); },
          nb::sig("def type(self) -> str"), "In ONNX's words: \"seq(map(string,tensor(float)))\".")
      .def(
          "__repr__",
          [](const Port& p) {
            return graphengine::Text("TensorInfo(" + p.name + ": " + TypeOf(p) + " " + p.Shape() +
                                     ")");
          },
          nb::sig("def __repr__(self) -> str"));
}

void AddRuntime(nb::module_& m) {
  nb::class_<Runtime>(m, "Runtime",
                      "What sessions share; while one lives, engines stay open between sessions.")
      .def(
          "__init__", [](Runtime* self, const nb::kwargs& words) { new (self) Runtime(words); },
          nb::sig("def __init__(self, *, threads: int = 0, isa: str | None = None, "
                  "resident_bytes: int = 0) -> None"))
      .def_prop_ro("engine_count", &Runtime::EngineCount, "Engines that are open in it.");
}

nb::object Await(nb::handle run) {
  return nb::module_::import_("graphengine._waiting").attr("finish")(run).attr("__await__")();
}

void AddRun(nb::module_& m) {
  nb::class_<Run>(m, "Run", "A run that goes on by itself; `await` gives its outputs, too.")
      .def("done", &Run::Done, "Whether it has ended, well or not.")
      .def("wait", &Run::Wait, nb::arg("timeout") = nb::none(),
           "Waits at most `timeout` seconds; whether it has ended.")
      .def("result", &Run::Result, nb::arg("timeout") = nb::none(),
           nb::sig("def result(self, timeout: float | None = None) -> dict[str, typing.Any]"),
           "Its outputs, or its Error; TimeoutError when it still goes on after `timeout` seconds.")
      .def("cancel", &Run::Cancel, "Asks it to end, with Error CANCELLED unless it has.")
      .def(
          "__await__", [](nb::handle self) { return Await(self); },
          nb::sig("def __await__(self) -> typing.Generator[typing.Any, None, "
                  "dict[str, typing.Any]]"));
}

void AddPrepared(nb::module_& m) {
  nb::class_<Prepared>(m, "Prepared",
                       "A run whose plan and arrays are known. One thread at a time.")
      .def("run", &Prepared::Run, nb::sig("def run(self) -> dict[str, typing.Any]"),
           "Runs on what the arrays of the inputs hold now; the outputs are the same arrays each "
           "time.")
      .def("set_input", &Prepared::SetInput, nb::arg("name"), nb::arg("array"),
           nb::sig("def set_input(self, name: str, array: typing.Any) -> None"),
           "Binds another array of the same type and shape.");
}

void AddBatches(nb::module_& m) {
  nb::class_<Batches>(m, "Batches",
                      "The batches of a data entry, one after the other. One thread at a time.")
      .def(
          "__iter__", [](nb::handle self) { return nb::borrow(self); },
          nb::sig("def __iter__(self) -> Batches"))
      .def("__next__", &Batches::Next, nb::sig("def __next__(self) -> dict[str, typing.Any]"),
           "Arrays by column. They stay as they are while somebody has them.");
}

constexpr const char* kSessionText =
    "One loaded model, by a path or by its bytes.\n\n"
    "engines: \"onednn,ref\" or a list, None for all; plugins: \"acme_ops,./mine.so\" or a list, "
    "of\n"
    "operators and passes; passes: \"train:loss=mse;lr=0.1\" or a list, what runs where it is "
    "asked\n"
    "for, with options; threads: of the process, 0 for its cores;\n"
    "isa: \"sse4.2\", \"avx2\", \"avx512\"; prices: \"cached\", \"analytic\", \"measure\", "
    "\"shipped\"; "
    "denormals:\n"
    "\"flush\", \"keep\"; numerics: \"fast\", \"exact\"; precision: \"f32\", \"bf16\", what "
    "products may\n"
    "round what they read to; memory_limit: bytes a run may take; time_limit: seconds of each "
    "load,\n"
    "compile and run; kv_cache: rows of a decoder's past that is kept in "
    "states;\n"
    "pins: \"Conv=onednn\" or a list, what one engine alone may take; policy: \"cost\", "
    "\"priority\";\n"
    "data_roots: folders that links of external data may lead into; initializer_inputs: names of "
    "`defaults`\n"
    "that become inputs; strict_dims: inputs that show dims of one name at two sizes are refused.";

constexpr const char* kRunText =
    "Runs and gives the outputs by name.\n\n"
    "feed: arrays by name, a sequence by position, or the only input. Dense arrays of numpy and\n"
    "objects with __dlpack__ on the CPU are read where they lie; others, and lists, are copied.\n"
    "out: dense arrays by name that are written; the rest is the engine's memory, which the array\n"
    "owns. outputs: \"numpy\", or \"dlpack\" for objects that any framework's from_dlpack takes.";

constexpr const char* kMakeSignature =
    "def __init__(self, model: str | bytes | os.PathLike[str], *, format: str | None = None, "
    "engines: str | typing.Sequence[str] | None = None, "
    "plugins: str | typing.Sequence[str] | None = None, "
    "passes: str | typing.Sequence[str] | None = None, threads: int = 0, isa: str | None = None, "
    "max_streams: int = 0, plan_cache_bytes: int = 0, prices: str | None = None, "
    "replan: bool = False, measure_budget_ms: int = 0, "
    "skip_passes: str | typing.Sequence[str] | None = None, denormals: str | None = None, "
    "numerics: str | None = None, memory_limit: int = 0, time_limit: float = 0, "
    "kv_cache: int = 0, runtime: Runtime | None = None, "
    "pins: str | typing.Sequence[str] | None = None, policy: str | None = None, "
    "precision: str | None = None, data_roots: str | typing.Sequence[str] | None = None, "
    "initializer_inputs: str | typing.Sequence[str] | None = None, "
    "strict_dims: bool = False) -> None";

#define GE_RUN_ARGUMENTS                                                                      \
  "(self, feed: typing.Mapping[str, typing.Any] | typing.Sequence[typing.Any] | typing.Any, " \
  "out: typing.Mapping[str, typing.Any] | None = None, *, entry: str | None = None, "         \
  "outputs: str = 'numpy') -> "

void AddRunning(nb::class_<Session>& c) {
  c.def("run", &Session::Run, nb::arg("feed").none(), nb::arg("out") = nb::none(), nb::kw_only(),
        nb::arg("entry") = nb::none(), nb::arg("outputs") = "numpy",
        nb::sig("def run" GE_RUN_ARGUMENTS "dict[str, typing.Any]"), kRunText)
      .def("run_tensors", &Session::RunTensors, nb::arg("inputs"),
           nb::sig("def run_tensors(self, inputs: typing.Sequence[Tensor]) -> tuple[Tensor, ...]"),
           "The first entry on Tensors by position.")
      .def("run_async", &Session::RunAsync, nb::arg("feed").none(), nb::arg("out") = nb::none(),
           nb::kw_only(), nb::arg("entry") = nb::none(), nb::arg("outputs") = "numpy",
           nb::sig("def run_async" GE_RUN_ARGUMENTS "Run"),
           "Starts a run, as `run`, and returns; arrays may not change until it is done.")
      .def("prepare", &Session::Prepare, nb::arg("feed").none(), nb::arg("out") = nb::none(),
           nb::kw_only(), nb::arg("entry") = nb::none(), nb::arg("outputs") = "numpy",
           nb::sig("def prepare" GE_RUN_ARGUMENTS "Prepared"),
           "As `run`, for runs on the same arrays to come; they are read where they lie, but what "
           "had to be copied is copied once.")
      .def("batches", &Session::Batches, nb::arg("entry") = nb::none(), nb::arg("words"),
           nb::sig("def batches(self, entry: str | None = None, **words: int) -> Batches"),
           "The rows of a data entry (\"data\") batch by batch, made ahead: batch=64, ahead=2, "
           "ahead_bytes,\nrows, rank=0, world=1, first=0, limit=0, as in ge_batches_options.")
      .def("compile", &Session::Compile, nb::arg("shapes"), nb::arg("entry") = nb::none(),
           nb::sig("def compile(self, shapes: typing.Mapping[str, typing.Any], "
                   "entry: str | None = None) -> None"),
           "Plans for these shapes, tuples or arrays by name, so that the first run is fast.")
      .def("cancel", &Session::Cancel, "Ends what goes on in the session now, in any thread.")
      .def("set_time_limit", &Session::SetTimeLimit, nb::arg("seconds"),
           "Of each later compile and run; 0 for none.")
      .def("close", &Session::Close, "Gives the model back; runs that go on end first.");
}

void AddStates(nb::class_<Session>& c) {
  c.def("defaults", &Session::Defaults,
        "Initializers that are inputs too; initializer_inputs of Session overrides them.");
  c.def("states", &Session::States, "What is kept between runs.")
      .def("get_state", &Session::GetState, nb::arg("name"),
           nb::sig("def get_state(self, name: str) -> typing.Any"), "A copy of what it holds.")
      .def("set_state", &Session::SetState, nb::arg("name"), nb::arg("value"),
           nb::sig("def set_state(self, name: str, value: typing.Any) -> None"))
      .def("reset_states", &Session::ResetStates, "All states get their first values again.")
      .def("save_states", &Session::SaveStates, nb::arg("path"),
           nb::sig("def save_states(self, path: str | os.PathLike[str]) -> None"),
           "All states into one file, which is replaced whole.")
      .def("save_compiled", &Session::SaveCompiled, nb::arg("path"),
           nb::sig("def save_compiled(self, path: str | os.PathLike[str]) -> None"),
           "The model and its plans so far, as a file whose sessions begin to run at once.")
      .def("restore_states", &Session::RestoreStates, nb::arg("path"),
           nb::sig("def restore_states(self, path: str | os.PathLike[str]) -> None"),
           "All states from such a file, or none.");
}

void AddSession(nb::module_& m) {
  nb::class_<Session> c(m, "Session", kSessionText);
  c.def(
      "__init__",
      [](Session* self, const nb::args& model, const nb::kwargs& words) {
        new (self) Session(model, words);
      },
      nb::sig(kMakeSignature));
  c.def_prop_ro("entries", &Session::entries,
                "Names of the model's entries, the first is default.");
  c.def("inputs", &Session::Inputs, nb::arg("entry") = nb::none(), "In the model's order.");
  c.def("outputs", &Session::Outputs, nb::arg("entry") = nb::none(), "In the model's order.");
  c.def("metadata", &Session::Metadata, nb::arg("key"),
        nb::sig("def metadata(self, key: str) -> str | None"),
        "The model's own; None for no such.");
  c.def("model_info", &Session::ModelInfo, nb::sig("def model_info(self) -> dict[str, typing.Any]"),
        "What the model says of itself: name, producer, producer_version, domain, description,\n"
        "graph_description, version (None for none), metadata, a dict of its own.");
  c.def("dump", &Session::Dump, nb::arg("stage"), nb::arg("entry") = nb::none(),
        nb::sig("def dump(self, stage: str, entry: str | None = None) -> str"),
        "The graph or plan after a stage, load to memory, in text form.");
  c.def("observe_runs", &Session::Observe, nb::arg("record").none(), nb::arg("values").none(),
        nb::arg("every"), nb::arg("first"),
        nb::sig("def observe_runs(self, record: str | os.PathLike[str] | None, "
                "values: str | None, every: int, first: int) -> None"),
        "Records the runs from now on; None for no longer. `observe` is handier.");
  c.def("report_text", &Session::Report, nb::arg("entry") = nb::none(),
        nb::sig("def report_text(self, entry: str | None = None) -> str"),
        "One JSON object: load_ms, compile_ms, nodes, engines ...");
  c.def("explain_text", &Session::Explain, nb::arg("entry") = nb::none(),
        nb::sig("def explain_text(self, entry: str | None = None) -> str"),
        "One JSON object: who runs each node of the latest plan, at what price, and why.");
  AddRunning(c);
  AddStates(c);
}

// Lines of the process's log up to `level` go to stderr; none: as the process began.
void SetLogLevel(std::optional<uint32_t> level) {
  const auto print = [](void*, uint32_t, const char* text) {
    std::fprintf(stderr, "graphengine: %s\n", text);
  };
  ge_error error = graphengine::NoError();
  ge_status status;
  {
    graphengine::WithoutGil release;  // another thread may be telling a line
    status = level ? ge_set_log(print, nullptr, *level, &error)
                   : ge_set_log(nullptr, nullptr, 0, &error);
  }
  graphengine::Check(status, error);
}

}  // namespace

NB_MODULE(_native, m) {
  m.doc() = "ge.h for Python; use the package graphengine.";
  // Sessions that a program's globals hold when it ends are no leak.
  nb::set_leak_warnings(false);
  m.def(
      "version", [] { return ge_version(); }, "Of libgraphengine.so.");
  m.def(
      "element_types",
      [] {
        nb::dict out;
        for (int32_t i = 1; const graphengine::Element* e = graphengine::ElementOf(i); ++i) {
          out[e->name] = i;
        }
        return out;
      },
      nb::sig("def element_types() -> dict[str, int]"),
      "ONNX's numbers of element types, by the words of numpy and ml_dtypes.");
  m.def("set_log_level", SetLogLevel, nb::arg("level").none(),
        "Lines up to `level` (0 errors, 1 warnings ... 4 traces) go to stderr; None: as at first.");
  AddTensorInfo(m);
  AddRuntime(m);
  AddRun(m);
  AddPrepared(m);
  AddBatches(m);
  AddSession(m);
  graphengine::AddDType(m);
  graphengine::AddTensor(m);
  graphengine::AddTrace(m);
  graphengine::AddEager(m);
  graphengine::AddGraphBuilder(m);
  graphengine::AddStates(m);
  graphengine::AddCustom(m);
  graphengine::AddDoor(m);
  graphengine::AddPrograms(m);
}
