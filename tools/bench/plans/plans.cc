// ge-bench: times several plans of one model against the session's own plan, interleaved, in one
// process: the same engines, ISA, threads and inputs for all. market.py makes its questions and
// judges its answers; this program only measures.
//
//   ge-bench MODEL --plans PLANS.json [the model flags of ge run] > RESULT.json
//
// PLANS.json: [{"name", "policy": "cost"|"priority", "order": [ENGINE...], "pins": ["NODE=ENGINE"],
// "fuse": bool}, ...]. With --moves N as many more, each of which pins one node of the session's
// own plan to its runner-up: half of them the nodes with the highest price, the others drawn by
// --seed. For each plan: "kind" (of PLANS.json, or "move") and either "same_as" (an earlier plan,
// or "plan", places every node alike), or "error", or "ns" and "base_ns": pairs of times of one run
// of it and of the session's plan, taken in turns, each the mean of "inner" runs in a row.
#include <fmt/format.h>
#include <time.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "ge/base/aligned.h"
#include "ge/base/clock.h"
#include "ge/base/read_file.h"
#include "ge/base/text/json_text.h"
#include "ge/place/placed.h"
#include "ge/run/tensor_view.h"
#include "tools/ge/price_flags.h"

namespace ge::tool {
namespace {

struct BenchOptions {
  std::string plans;
  uint32_t rounds = 30, few_rounds = 3;
  uint32_t moves = 0;
  double sample_ms = 2, hopeless = 2;
  std::string clock = "wall";
};

// Of the calling thread alone: on a busy machine it tells more than the wall's, for runs on one
// thread.
double ThreadMs() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) / 1e6;
}

// A finished plan with buffers of its own.
struct Runner {
  std::shared_ptr<Compiled> compiled;
  std::vector<Tensor> outputs;
};

Result<Runner> MakeRunner(std::shared_ptr<Compiled> c) {
  Runner r{std::move(c), {}};
  for (const Compiled::Port& port : r.compiled->outputs) {
    Tensor t;
    t.name = port.name;
    t.memory = AllocateAligned(port.bytes, 64);
    if (!t.memory) return Status(Code::kResourceExhausted, "no memory for output " + port.name);
    t.view = {port.dtype, port.dims, t.memory.get(), port.bytes};
    r.outputs.push_back(std::move(t));
  }
  return r;
}

nlohmann::json Describe(const Compiled& c) {
  std::map<std::string, uint64_t> engines;
  size_t segments = 0;
  for (const PlanSegment& s : c.plan.functions[0].segments) {
    segments += s.conversion < 0;
    for (const PlanOffer& o : s.offers) {
      engines[c.plan.engines[c.plan.devices[s.device].engine].name] += o.nodes.size();
    }
  }
  return {{"predicted_ns", c.plan.predicted_ns},
          {"method", c.plan.place_method},
          {"segments", segments},
          {"engines", engines}};
}

// Greatest difference of a float output, as a part of its largest magnitude.
double Error(const Runner& a, const Runner& b) {
  double worst = 0;
  for (size_t i = 0; i < a.outputs.size(); ++i) {
    if (a.outputs[i].view.dtype != DType::kFloat) continue;
    const auto* x = static_cast<const float*>(a.outputs[i].view.data);
    const auto* y = static_cast<const float*>(b.outputs[i].view.data);
    double largest = 0, difference = 0;
    for (uint64_t k = 0; k < a.outputs[i].view.bytes / 4; ++k) {
      largest = std::max(largest, std::fabs(double{x[k]}));
      difference = std::max(difference, std::fabs(double{x[k]} - double{y[k]}));
    }
    worst = std::max(worst, largest > 0 ? difference / largest : difference);
  }
  return worst;
}

// Without a policy, what no pin says stays as in the session's plan.
Result<PlaceOptions> ReadPlan(const nlohmann::json& j, const Compiled& compiled) {
  const Plan& base = compiled.plan;
  PlaceOptions p;
  if (j.contains("policy")) {
    GE_ASSIGN_OR_RETURN(p.policy, PlacePolicyFromName(j.value("policy", "cost")));
    p.order = j.value("order", std::vector<std::string>());
    p.fuse = j.value("fuse", true);
  } else if (j.contains("move")) {
    const NodeId node = j["move"][0].get<NodeId>();
    p.pins = PinsOfMove(base, {&node, 1}, j["move"][1].get<std::string>());
    p.expanded = compiled.expanded;
  } else {
    p.pins = PinsOfMove(base, {}, "");
    p.expanded = compiled.expanded;
  }
  for (const std::string& text : j.value("pins", std::vector<std::string>())) {
    GE_ASSIGN_OR_RETURN(PlacePin pin, ParsePin(text));
    Repin(pin, &p.pins);
  }
  return p;
}

class Bench {
 public:
  Bench(const BenchOptions& bench, const Options& options, Session* session)
      : bench_(bench), options_(options), session_(session) {}

  Status Start() {
    GE_ASSIGN_OR_RETURN(const Entry* entry, session_->FindEntry(options_.entry));
    GE_ASSIGN_OR_RETURN(inputs_, MakeInputs(*session_, *entry, options_));
    views_ = Views(inputs_);
    GE_ASSIGN_OR_RETURN(auto c, session_->Compile(options_.entry, views_));
    GE_ASSIGN_OR_RETURN(base_, MakeRunner(std::move(c)));
    known_[PlacementDigest(base_.compiled->plan)] = "plan";
    GE_RETURN_IF_ERROR(RunFor(&base_, 1).status());
    GE_ASSIGN_OR_RETURN(base_ns_, RunFor(&base_, 1));
    inner_ = static_cast<uint32_t>(
        std::clamp(std::ceil(bench_.sample_ms * 1e6 / std::max(base_ns_, 1.0)), 1.0, 2000.0));
    return {};
  }

  nlohmann::json Base() const {
    nlohmann::json j = Describe(*base_.compiled);
    j["ns"] = base_ns_;
    const auto& report = base_.compiled->plan.reports();
    j["nodes"] = report.size();
    j["unexplained"] = nlohmann::json::array();
    for (const NodeReport& r : report) {
      if (r.chosen < 0) j["unexplained"].push_back(r.label);
    }
    j["measured_offers"] = base_.compiled->measured.measured;
    j["rehearsed_plans"] = base_.compiled->measured.plans;
    return j;
  }

  // Plans that pin one node of the session's to its runner-up.
  std::vector<nlohmann::json> Moves() const {
    const Plan& plan = base_.compiled->plan;
    std::vector<const NodeReport*> able;
    for (const NodeReport& r : plan.reports()) {
      if (r.chosen >= 0 && r.runner_up >= 0) able.push_back(&r);
    }
    auto price = [](const NodeReport* r) {
      return r->bids[static_cast<size_t>(r->chosen)].price_ns;
    };
    std::stable_sort(able.begin(), able.end(),
                     [&](auto* a, auto* b) { return price(a) > price(b); });
    const size_t most = std::min<size_t>(bench_.moves, able.size());
    std::shuffle(
        able.begin() + static_cast<std::ptrdiff_t>(std::min<size_t>(most, bench_.moves / 2)),
        able.end(), std::mt19937(static_cast<uint32_t>(options_.seed)));
    std::vector<nlohmann::json> moves;
    for (size_t i = 0; i < most; ++i) {
      const Bid& bid = able[i]->bids[static_cast<size_t>(able[i]->runner_up)];
      const std::string& device = plan.devices[bid.device].name;
      moves.push_back({{"name", able[i]->label + " -> " + device},
                       {"kind", "move"},
                       {"move", {able[i]->node, device}}});
    }
    return moves;
  }

  // One plan's answer; a plan that cannot be made is an answer too.
  nlohmann::json Try(const nlohmann::json& plan) {
    nlohmann::json j = {{"name", plan.value("name", "?")}, {"kind", plan.value("kind", "")}};
    Status status = Measure(plan, &j);
    if (!status.ok()) j["error"] = status.ToString();
    return j;
  }

 private:
  // ns of one run, the mean of `inner`.
  Result<double> RunFor(Runner* r, uint32_t inner) {
    std::vector<TensorView> out = Views(r->outputs);
    double (*const now)() = bench_.clock == "cpu" ? ThreadMs : NowMs;
    const double start = now();
    for (uint32_t i = 0; i < inner; ++i) {
      GE_RETURN_IF_ERROR(session_->RunApart(r->compiled.get(), views_, out));
    }
    return (now() - start) * 1e6 / inner;
  }

  Status Measure(const nlohmann::json& plan, nlohmann::json* j) {
    BuildOptions build = session_->build_options();
    GE_ASSIGN_OR_RETURN(build.place, ReadPlan(plan, *base_.compiled));
    const StageId last = build.stop_after;
    build.stop_after = StageId::kPlace;
    GE_ASSIGN_OR_RETURN(auto placed, session_->CompileApart(options_.entry, views_, build));
    j->update(Describe(*placed));
    auto [it, fresh] = known_.emplace(PlacementDigest(placed->plan), plan.value("name", "?"));
    placed.reset();
    if (!fresh) {
      (*j)["same_as"] = it->second;
      return {};
    }
    build.stop_after = last;
    GE_ASSIGN_OR_RETURN(auto c, session_->CompileApart(options_.entry, views_, build));
    GE_ASSIGN_OR_RETURN(Runner other, MakeRunner(std::move(c)));
    GE_RETURN_IF_ERROR(RunFor(&other, 1).status());
    (*j)["error_of_outputs"] = Error(base_, other);
    return Race(&other, j);
  }

  Status Race(Runner* other, nlohmann::json* j) {
    GE_ASSIGN_OR_RETURN(const double once, RunFor(other, 1));
    // Nobody needs thirty runs to see which of two is slower by far.
    const bool hopeless = once > base_ns_ * bench_.hopeless;
    std::vector<double> ns, base;
    for (uint32_t i = 0; i < bench_.rounds; ++i) {
      double t[2] = {0, 0};
      for (uint32_t k : {i % 2, 1 - i % 2}) {
        GE_ASSIGN_OR_RETURN(t[k], RunFor(k ? other : &base_, hopeless && k ? 1 : inner_));
      }
      base.push_back(t[0]);
      ns.push_back(t[1]);
      const bool clear = std::all_of(ns.begin(), ns.end(), [&](double x) {
        return x > bench_.hopeless * *std::max_element(base.begin(), base.end());
      });
      if (hopeless && clear && i + 1 >= bench_.few_rounds) break;
    }
    (*j)["ns"] = ns;
    (*j)["base_ns"] = base;
    (*j)["inner"] = inner_;
    return {};
  }

  const BenchOptions& bench_;
  const Options& options_;
  Session* session_;
  std::vector<Tensor> inputs_;
  std::vector<TensorView> views_;
  Runner base_;
  double base_ns_ = 0;
  uint32_t inner_ = 1;
  std::map<std::string, std::string> known_;  // digest -> name
};

Status RunBench(const BenchOptions& bench, const Options& o) {
  GE_ASSIGN_OR_RETURN(const std::string text, ReadRegularFile(bench.plans, uint64_t{64} << 20));
  const auto read = ParseJson(text);
  if (!read.ok() || !read->is_array()) {
    return Status(Code::kInvalidArgument,
                  fmt::format("'{}' is no JSON list of plans: {}; see --help", bench.plans,
                              read.ok() ? "it is something else" : read.status().message()));
  }
  nlohmann::json plans = *read;
  GE_ASSIGN_OR_RETURN(auto session, Open(o));
  Bench b(bench, o, session.get());
  GE_RETURN_IF_ERROR(b.Start());
  nlohmann::json answers = nlohmann::json::array();
  for (const nlohmann::json& move : b.Moves()) plans.push_back(move);
  for (const nlohmann::json& plan : plans) answers.push_back(b.Try(plan));
  GE_ASSIGN_OR_RETURN(std::string report, session->ReportJson(o.entry));
  nlohmann::json all = {{"model", o.model},
                        {"base", b.Base()},
                        {"plans", answers},
                        {"report", nlohmann::json::parse(report)}};
  fmt::print("{}\n", all.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  return {};
}

}  // namespace
}  // namespace ge::tool

int main(int argc, char** argv) {
  CLI::App app("Times plans of one model against the session's own plan, interleaved");
  ge::tool::Options o;
  ge::tool::BenchOptions bench;
  app.add_option("MODEL", o.model)->required();
  app.add_option("--plans", bench.plans, "JSON list of plans: name, policy, order, pins, fuse")
      ->required();
  app.add_option("--rounds", bench.rounds, "pairs of samples a plan (default 30)");
  app.add_option("--sample-ms", bench.sample_ms, "least time of one sample (default 2)");
  app.add_option("--clock", bench.clock, "wall (default), or cpu: of the thread that runs")
      ->check(CLI::IsMember({"wall", "cpu"}));
  app.add_option("--input", o.inputs, "as in ge run")->take_all();
  app.add_option("--engines", o.engines, "as in ge run");
  app.add_option("--threads", o.threads, "as in ge run");
  app.add_option("--isa", o.isa, "as in ge run");
  app.add_option("--seed", o.seed, "as in ge run");
  ge::tool::AddPriceFlags(&app, &o);
  app.add_option("--moves", bench.moves,
                 "also this many plans that pin a node of the session's to its runner-up");
  app.footer(
      "\nExample:\n  echo '[{\"name\": \"ref first\", \"policy\": \"priority\", \"order\": "
      "[\"ref\"]}]' > plans.json\n  ge-bench lenet.onnx --plans plans.json --threads 1\n");
  CLI11_PARSE(app, argc, argv);
  const ge::Status status = ge::tool::RunBench(bench, o);
  return status.ok() ? 0 : ge::tool::Fail(status);
}
