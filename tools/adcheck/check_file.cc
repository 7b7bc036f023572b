// ge-adcheck --model: the checks of one .gt file, at a random point: for programs that were kept.
#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "tools/adcheck/check.h"
#include "tools/adcheck/command.h"

namespace ge::adcheck {

int CheckFile(const Options& options) {
  std::ifstream file(options.file);
  std::stringstream text;
  text << file.rdbuf();
  const Result<Graph> graph = ParseAndInfer(text.str());
  if (!graph.ok()) {
    fmt::print(stderr, "ge-adcheck: '{}': {}\n", options.file, graph.status().message());
    return 2;
  }
  CheckSpec spec;
  spec.text = text.str();
  spec.order = options.order;
  std::mt19937_64 random(options.seed);
  std::uniform_real_distribution<double> number(-1.5, 1.5);
  const Function& f = graph->fn(graph->entries[0].fn);
  for (const ValueId p : f.params) {
    const Value& v = f.value(p);
    if (v.type.dtype != DType::kDouble || !v.type.is_static()) {
      fmt::print(stderr, "ge-adcheck: input '{}' of '{}' is no f64 of known sizes\n", v.name,
                 options.file);
      return 2;
    }
    Array a = Array::Of(v.type.static_dims());
    for (double& x : a.f) x = number(random);
    spec.inputs[v.name] = std::move(a);
    spec.wrt.push_back(v.name);
  }
  spec.of = f.value(f.results[0]).name;
  const CheckResult r = CheckModel(spec, options.model, random);
  fmt::print(
      "{}value {:.1e}  grad {:.1e}  jvp {:.1e}  adjoint {:.1e}  hvp {:.1e}  symmetry {:.1e}\n",
      r.oracle == Oracle::kDual ? "" : "by differences, since " + r.why_not_dual + ": ", r.value,
      r.grad, r.jvp, r.adjoint, r.hvp, r.symmetry);
  if (!r.failure.empty()) fmt::print("FAILED  {}\n", r.failure);
  return r.failure.empty() ? 0 : 1;
}

}  // namespace ge::adcheck
