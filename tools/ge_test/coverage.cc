// ge-test --coverage: what share of each model's time is left to ref, the engine of plain loops,
// operator by operator. Times are those that the plan's prices add up to; a pattern of nodes counts
// once, under the operator of its first node. A model whose control flow or sizes the data decide
// is run once, and is the sum of the pieces that were planned.
#include "tools/ge_test/coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "ge/compile/explain/plan_explain.h"
#include "tools/ge/command.h"

namespace ge::test {
namespace {

namespace fs = std::filesystem;

struct CoverageOptions {
  std::vector<std::string> paths;
  double bound = 2;  // percent of a model
  tool::Options model;
};

struct Shares {
  std::map<std::string, double> on_ref;  // ns by operator
  double ref_ns = 0, total_ns = 0;

  // Of what `ge explain --json` says of a plan.
  void Add(const nlohmann::json& plan) {
    std::set<uint64_t> seen;
    for (const nlohmann::json& node : plan.at("nodes")) {
      const nlohmann::json& chosen = node.at("chosen");
      if (chosen.is_null() || !seen.insert(node.at("offer").get<uint64_t>()).second) continue;
      const double ns = chosen.at("price_ns").get<double>();
      total_ns += ns;
      if (!chosen.at("device").get<std::string>().starts_with("ref/")) continue;
      on_ref[node.at("op").get<std::string>()] += ns;
      ref_ns += ns;
    }
  }
};

Result<Shares> SharesOf(const tool::Options& o) {
  Shares shares;
  GE_ASSIGN_OR_RETURN(auto session, tool::Open(o));
  GE_ASSIGN_OR_RETURN(const Entry* entry, session->FindEntry(o.entry));
  GE_ASSIGN_OR_RETURN(const auto inputs, tool::MakeInputs(*session, *entry, o));
  auto compiled = session->Compile(o.entry, tool::Views(inputs));
  if (compiled.ok()) {
    shares.Add(ExplainPlan(**compiled));
    return shares;
  }
  if (!session->RunsInPieces(o.entry)) return compiled.status();
  std::vector<tool::Tensor> outputs(session->graph().fn(entry->fn).results.size());
  GE_RETURN_IF_ERROR(tool::RunAnyValues(session.get(), o.entry, inputs, false, &outputs));
  for (const auto& piece : session->Pieces()) shares.Add(ExplainPlan(*piece));
  return shares;
}

// False where an operator is beyond the bound.
bool Print(const std::string& model, const Shares& shares, double bound) {
  const double total = std::max(shares.total_ns, 1.0);
  fmt::print("{}: {:.1f} % of {:.3f} ms on ref\n", fs::path(model).stem().string(),
             100 * shares.ref_ns / total, shares.total_ns / 1e6);
  std::vector<std::pair<std::string, double>> rows(shares.on_ref.begin(), shares.on_ref.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  bool within = true;
  for (const auto& [op, ns] : rows) {
    const double share = 100 * ns / total;
    fmt::print("  {:<32} {:6.2f} %{}\n", op, share,
               share > bound ? fmt::format("  beyond {:g} %", bound) : "");
    within = within && share <= bound;
  }
  return within;
}

// Files as they are; of folders the .onnx files inside, in order of their names.
std::vector<std::string> ModelsIn(const std::vector<std::string>& paths) {
  std::vector<std::string> models;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      models.push_back(path);
      continue;
    }
    std::vector<std::string> found;
    for (fs::recursive_directory_iterator it(path, error), end; !error && it != end;
         it.increment(error)) {
      if (it->path().extension() == ".onnx") found.push_back(it->path().string());
    }
    std::sort(found.begin(), found.end());
    models.insert(models.end(), found.begin(), found.end());
  }
  return models;
}

bool Parse(int argc, char** argv, CoverageOptions* o) {
  for (int i = 2; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg.rfind("--", 0) != 0) {
      o->paths.push_back(arg);
      continue;
    }
    if (i + 1 == argc) return false;
    const std::string word = argv[++i];
    if (arg == "--input") {
      o->model.inputs.push_back(word);
    } else if (arg == "--engines") {
      o->model.engines = word;
    } else if (arg == "--prices") {
      o->model.prices = word;
    } else if (arg == "--bound") {
      const char* end = word.data() + word.size();
      const auto parsed = std::from_chars(word.data(), end, o->bound);
      if (parsed.ec != std::errc() || parsed.ptr != end) return false;
    } else {
      return false;
    }
  }
  return !o->paths.empty();
}

}  // namespace

int RunCoverage(int argc, char** argv) {
  CoverageOptions o;
  o.model.prices = "analytic";
  if (!Parse(argc, argv, &o)) {
    fmt::print(stderr,
               "ge-test: --coverage wants models or folders of them, and takes --input, --engines, "
               "--prices and --bound, each with a word; `ge-test --help` shows them\n");
    return 2;
  }
  const std::vector<std::string> models = ModelsIn(o.paths);
  if (models.empty()) {
    fmt::print(stderr, "ge-test: no .onnx file in {}; name a model or a folder of them\n",
               fmt::join(o.paths, " "));
    return 2;
  }
  int code = 0;
  for (const std::string& model : models) {
    o.model.model = model;
    const Result<Shares> shares = SharesOf(o.model);
    if (!shares.ok()) {
      fmt::print(stderr, "{}: {}\n", model, shares.status().ToString());
      code = 2;
    } else if (!Print(model, *shares, o.bound)) {
      code = std::max(code, 1);
    }
  }
  return code;
}

}  // namespace ge::test
