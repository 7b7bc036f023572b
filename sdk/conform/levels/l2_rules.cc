// Level 2, for plugins that bring operators and passes: what infer says is what runs, a kernel
// keeps to its buffers and computes what the operator's parts do, a pass leaves the values of
// models alone. Engines have nothing to be judged by here.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>

#include "ge/ge_plugin_pass.h"
#include "sdk/conform/case.h"
#include "sdk/conform/levels/op_rules.h"
#include "sdk/conform/oracle.h"
#include "sdk/conform/random_graph.h"
#include "sdk/conform/runtime_library.h"
#include "sdk/conform/sample_graphs.h"
#include "sdk/conform/subject.h"

namespace ge::conform {
namespace {

// As for graphs of engines: wrong results are looked for, not wrong digits.
// A plugin's records of one kind, read by their stride; the host and complaints of a case.
struct Records {
  Records(Subject& s, uint32_t kind, const char* what) {
    std::string why;
    const ge_plugin_desc* given = s.Descriptor(host, &why);
    if (given == nullptr) {
      outcome = Fail(why);
      return;
    }
    desc = mock::ReadStruct(given);
    good = (desc.kinds & kind) != 0;
    if (!good) outcome = Unsupported(fmt::format("the plugin brings no {}", what));
  }
  template <class T>
  std::vector<T> All(const T* first, uint32_t n, uint32_t stride) const {
    std::vector<T> out;
    for (uint32_t i = 0; i < n && first != nullptr; ++i) {
      out.push_back(mock::ReadStruct(
          reinterpret_cast<const T*>(reinterpret_cast<const char*>(first) + uint64_t{i} * stride)));
    }
    return out;
  }
  std::vector<ge_op_def> ops() const { return All(desc.op, desc.n_op, desc.op_stride); }
  std::vector<ge_pass_def> passes() const { return All(desc.pass, desc.n_pass, desc.pass_stride); }
  // Empty, or the first thing that the plugin did against the contract.
  std::string Complaint() {
    const std::vector<std::string> all = host.TakeComplaints();
    return all.empty() ? "" : all[0];
  }
  mock::Host host;
  ge_plugin_desc desc = {};
  bool good = false;
  Outcome outcome;
};

std::string NameOf(const ge_op_def& op) {
  return fmt::format("{}.{}", plugin::View(op.domain), plugin::View(op.name));
}

bool HasStates(const ge_op_def& op) {
  const auto is_state = [](const ge_port& p) { return (p.flags & GE_PORT_STATE) != 0; };
  return std::any_of(op.input, op.input + op.n_input, is_state);
}

std::string TypesText(const OpSample& s) {
  std::string out;
  for (const Tensor& t : s.sample.inputs) out += (out.empty() ? "" : " x ") + TypeText(t);
  return out;
}

// Empty, or where two results are further apart than roundings of sums explain.
std::string Apart(const Tensor& a, const Tensor& b) {
  if (a.dtype != b.dtype || a.dims != b.dims) return TypeText(a) + " and " + TypeText(b);
  if (!IsFloat(a.dtype)) return a.bytes == b.bytes ? "" : "other bytes";
  double most = 1e-3;
  for (int64_t i = 0; i < a.count(); ++i) {
    if (std::isfinite(ElementOf(a, i))) most = std::max(most, std::fabs(ElementOf(a, i)));
  }
  for (int64_t i = 0; i < a.count(); ++i) {
    const double x = ElementOf(a, i), y = ElementOf(b, i);
    if (std::isnan(x) && std::isnan(y)) continue;
    if (x == y || std::fabs(x - y) <= 4096 * UnitOf(a.dtype) * most) continue;
    return fmt::format("element {} is {} and {}", IndexText(i, a.dims), x, y);
  }
  return "";
}

// What a case does with a sample that infer takes. Empty, or what is wrong; *run counts what was
// tried.
using Try = std::function<std::string(const ge_op_def&, const OpSample&, int* run)>;

Outcome ForEachSample(Subject& s, Records& r, const char* none, const Try& each) {
  int run = 0, refused = 0;
  std::string text;
  for (const ge_op_def& op : r.ops()) {
    if (HasStates(op)) continue;  // infer would be told of ports that models do not name
    for (OpSample& sample : SamplesOf(op, s.Seed(0))) {
      std::string why;
      const bool taken = Infer(op, r.host, &sample, &why);
      const std::string complaint = r.Complaint();
      if (!complaint.empty()) {
        return Fail(fmt::format("{} of {}: {}", NameOf(op), TypesText(sample), complaint));
      }
      if (!taken) {
        ++refused;
        text = why;
        continue;
      }
      const int before = run;
      why = each(op, sample, &run);
      if (why.empty()) why = r.Complaint();
      refused += why.empty() && run == before;
      if (!why.empty())
        return Fail(fmt::format("{} of {}: {}", NameOf(op), TypesText(sample), why));
    }
  }
  if (run == 0) return Unsupported(text.empty() ? none : "infer refuses all samples: " + text);
  return Pass(fmt::format("{} runs, {} samples refused", run, refused));
}

// ---- operators
// ------------------------------------------------------------------------------------

// A kernel may refuse numbers, with a text. False where it does; *why is what is wrong with it.
bool KernelTakes(Records& r, const ge_op_def& op, const OpSample& s, unsigned char garbage,
                 std::vector<Tensor>* out, std::string* why) {
  std::string text;
  if (RunKernel(op, r.host, s, garbage, out, &text)) return true;
  if (text.empty()) *why = "kernel: it fails and gives no reason";
  return false;
}

std::string TryKernel(Records& r, const ge_op_def& op, const OpSample& s, int* run) {
  std::vector<Tensor> first, again;
  std::string why;
  if (op.kernel == nullptr || !KernelTakes(r, op, s, 0xFF, &first, &why)) return why;
  if (!KernelTakes(r, op, s, 0x00, &again, &why)) {
    return why.empty() ? "kernel: refuses what it took before" : why;
  }
  ++*run;
  if ((op.flags & GE_OP_RANDOM) != 0) return "";
  for (size_t i = 0; i < first.size(); ++i) {
    if (first[i].bytes == again[i].bytes && first[i].dims == again[i].dims) continue;
    return fmt::format("kernel: output {} depends on what its place held before", i);
  }
  return "";
}

Outcome Kernels(Subject& s, int) {
  Records r(s, GE_KIND_OPS, "operators");
  if (!r.good) return r.outcome;
  return ForEachSample(s, r, "no operator of it has a kernel without states",
                       [&](const ge_op_def& op, const OpSample& sample, int* run) {
                         return TryKernel(r, op, sample, run);
                       });
}

// Empty, or how results differ from what infer says.
std::string TypeFault(const OpSample& sample, const std::vector<Tensor>& results) {
  const mock::Graph& g = sample.sample.graph;
  for (size_t i = 0; i < g.out.size(); ++i) {
    const mock::Type& said = g.values[g.out[i]].type;
    const Dims& found = results[i].dims;
    bool same =
        said.dtype == results[i].dtype && (!said.ranked || said.dims.size() == found.size());
    for (size_t d = 0; same && said.ranked && d < found.size(); ++d) {
      same = said.dims[d] < 0 || said.dims[d] == found[d];
    }
    if (same) continue;
    return fmt::format("infer says that output {} is {}[{}], a run gives {}", i,
                       ShortName(said.dtype), fmt::join(said.dims, ","), TypeText(results[i]));
  }
  return "";
}

// Whole models through ge.h: what comes out has the types that infer said, and a kernel's numbers
// where the host took the parts.
std::string TryModel(Subject& s, Records& r, const RuntimeLibrary& library, const ge_op_def& op,
                     const OpSample& sample, int* run) {
  const mock::Graph& g = sample.sample.graph;
  std::vector<Tensor> own;
  std::string why;
  if (op.kernel != nullptr && !KernelTakes(r, op, sample, 0xFF, &own, &why)) return why;
  RuntimeLibrary::Run one, two;
  const RuntimeLibrary::How how = {s.setup().ref, s.setup().plugin, ""};
  for (RuntimeLibrary::Run* out : {&one, &two}) {
    why = library.RunText(TextOf(g), how, sample.sample.inputs, g.out.size(), out);
    if (!why.empty()) return "infer takes it, but a model of it does not run: " + why;
  }
  ++*run;
  why = TypeFault(sample, one.outputs);
  if (!why.empty() || (op.flags & GE_OP_RANDOM) != 0) return why;
  for (size_t i = 0; i < g.out.size(); ++i) {
    if (one.outputs[i].bytes != two.outputs[i].bytes) {
      return fmt::format("output {} is another one when the model runs again", i);
    }
    why = i < own.size() ? Apart(own[i], one.outputs[i]) : "";
    if (!why.empty())
      return fmt::format("its kernel and a model disagree in output {}: {}", i, why);
  }
  return "";
}

Outcome ModelsOfOperators(Subject& s, int) {
  Records r(s, GE_KIND_OPS, "operators");
  if (!r.good) return r.outcome;
  RuntimeLibrary library;
  const std::string missing = library.Open(s.setup().library);
  if (!missing.empty()) return Unsupported(missing);
  return ForEachSample(s, r, "it brings no operator",
                       [&](const ge_op_def& op, const OpSample& sample, int* run) {
                         return TryModel(s, r, library, op, sample, run);
                       });
}

// A newer host: its structs are longer, and behind them nothing can be read.
Outcome NewerInfer(Subject& s, int grow) {
  Records r(s, GE_KIND_OPS, "operators");
  if (!r.good) return r.outcome;
  r.host.style.grow = static_cast<uint32_t>(grow);
  r.host.style.exact = true;
  return ForEachSample(s, r, "it brings no operator",
                       [&](const ge_op_def& op, const OpSample& sample, int* run) {
                         ++*run;
                         return TryKernel(r, op, sample, run);
                       });
}

// ---- passes
// ---------------------------------------------------------------------------------------

// Empty, or what a model with the plugin's passes gives that one without does not.
std::string TryPasses(Subject& s, const RuntimeLibrary& library, const Sample& sample,
                      const std::string& asked, bool* refused) {
  mock::Engine* ref = nullptr;
  std::string why;
  if ((ref = s.Ref(&why)) == nullptr) return why;
  Oracle oracle(*ref, sample, kLoose);
  if (!oracle.Prepare(&why)) return sample.name + ": " + why;
  RuntimeLibrary::Run run;
  const RuntimeLibrary::How how = {s.setup().ref, s.setup().plugin, asked};
  why = library.RunText(TextOf(sample.graph), how, sample.inputs, sample.graph.out.size(), &run);
  *refused = !why.empty() && !asked.empty();
  if (*refused) return "";  // who is asked may say that this model is none for him
  if (!why.empty()) return fmt::format("{}: {}", sample.name, why);
  for (size_t i = 0; i < sample.graph.out.size(); ++i) {
    why = oracle.Differs(sample.graph.out[i], run.outputs[i]);
    if (!why.empty()) {
      return fmt::format("{}: output {} is another one with its passes: {}", sample.name, i, why);
    }
  }
  return "";
}

// Passes that run by themselves, or those that are asked for as well.
Outcome PassesKeepValues(Subject& s, int ask) {
  Records r(s, GE_KIND_PASSES, "passes");
  if (!r.good) return r.outcome;
  std::string asked;
  for (const ge_pass_def& p : r.passes()) {
    if ((p.phases & GE_PHASE_ASKED) == 0) continue;
    asked += (asked.empty() ? "" : ",") + std::string(plugin::View(p.name));
  }
  if (ask != 0 && asked.empty()) return Unsupported("all its passes run by themselves");
  if (ask == 0) asked.clear();
  RuntimeLibrary library;
  const std::string missing = library.Open(s.setup().library);
  if (!missing.empty()) return Unsupported(missing);
  setenv("GE_CHECK_PASSES", "1", 1);  // failures, and values that change, are errors
  std::vector<Sample> samples;
  for (int shape = 0; shape < kShapes; ++shape)
    samples.push_back(SampleOf(static_cast<Shape>(shape)));
  for (int i = 0; i < 2 * kFlavours; ++i) {
    samples.push_back(
        RandomSample(static_cast<Flavour>(i % kFlavours), s.Seed(9000 + static_cast<uint64_t>(i))));
    samples.back().name = fmt::format("random-{}", i);
  }
  int run = 0, refused = 0;
  for (const Sample& sample : samples) {
    bool no = false;
    const std::string why = TryPasses(s, library, sample, asked, &no);
    if (!why.empty()) return Fail(why);
    no ? ++refused : ++run;
  }
  if (run == 0) return Unsupported("its passes refuse all these models");
  return Pass(fmt::format("{} models, {} refused", run, refused));
}

}  // namespace

std::vector<Case> RuleCases() {
  return {
      {2, "operators-kernels", Kernels},
      {2, "operators-newer-host", NewerInfer, 64},
      {2, "operators-models", ModelsOfOperators},
      {2, "passes-keep-values", PassesKeepValues, 0},
      {2, "passes-asked-for", PassesKeepValues, 1},
  };
}

}  // namespace ge::conform
