#include "tools/ge/capsule/lockstep.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "tools/ge/capsule/bisection.h"
#include "tools/ge/capsule/own_errors.h"

namespace ge::tool {
namespace {

struct Step {
  size_t segment = 0;
  std::string engine;
  OwnError own;
  std::optional<Compared> whole;  // beside a run of the reference from the beginning
};

struct Steps {
  std::vector<Step> all;  // in the order of their making
  size_t unjudged = 0;
  std::vector<std::string> changed;  // segments whose engine makes something else now
};

// By member: what the reference makes of the run's own inputs, where it can run all of it.
std::map<std::string, Compared> FromTheBeginning(const Bisected& b, const Pieces& pieces) {
  std::map<std::string, Compared> out;
  const auto all = pieces.All();
  if (!all.ok()) return out;
  const auto found =
      RunTrial(b.r, {all->graph, "main", all->inputs, b.OnReference()}, b.options.seconds_a_trial);
  if (!found.ok()) return out;
  const double bound = b.BoundOf(all->graph);
  for (size_t i = 0; i < all->outputs.size() && i < found->size(); ++i) {
    out.emplace(all->outputs[i].member,
                CompareTensor(all->outputs[i], all->recorded[i], (*found)[i], bound));
  }
  return out;
}

// The outputs that the engine makes of the recorded inputs take the place of the recorded ones.
void TakeFromEngine(const Bisected& b, size_t segment, const TrialAnswer& made, Piece* piece,
                    Steps* steps) {
  bool changed = false;
  for (size_t i = 0; i < piece->recorded.size() && i < made.size(); ++i) {
    changed |=
        !WhyDifferent(piece->outputs[i], made[i], piece->recorded[i], b.BoundOf(piece->graph))
             .empty();
    piece->recorded[i] = made[i];
  }
  if (!changed) return;
  steps->changed.push_back(fmt::format("segment {} on {}", segment, piece->engine));
  piece->inner.clear();  // they belong to what it made then
}

Status JudgeSegment(const Bisected& b, size_t i, Piece piece, Steps* steps) {
  const auto made = RunTrial(b.r, {piece.graph, "main", piece.inputs, b.OnOwn(piece.engine)},
                             b.options.seconds_a_trial);
  if (made.ok()) TakeFromEngine(b, i, *made, &piece, steps);
  Options reference = b.OnReference();
  reference.seconds_a_trial = b.options.seconds_a_trial;
  auto errors = OwnErrorsOf(b.r, piece, reference, b.BoundOf(piece.graph), b.rounds());
  if (!errors.ok()) {
    b.Say(fmt::format("  segment {:<4} not judged: {}", i, errors.status().message()));
    ++steps->unjudged;
    return {};
  }
  for (OwnError& e : *errors) {
    // In the order of time; a segment of several nodes is told apart where one is wrong alone.
    if (!e.compared.within && e.ids.size() > 1) {
      const auto alone =
          WrongAlone(b.r, piece, e.ids, reference, b.OnOwn(piece.engine), b.BoundOf(piece.graph));
      if (alone.ok() && !alone->empty()) e.nodes = *alone;
    }
    steps->all.push_back({i, piece.engine, std::move(e), std::nullopt});
  }
  return {};
}

Result<Steps> JudgeAll(const Bisected& b) {
  Steps steps;
  GE_ASSIGN_OR_RETURN(const Pieces pieces, Pieces::Of(b.r));
  for (size_t i = 0; i < pieces.segments(); ++i) {
    auto piece = pieces.Segment(i);
    if (piece.status().code() == Code::kInvalidArgument) continue;  // a copy
    const bool missing = piece.status().code() == Code::kFailedPrecondition;
    if (missing || (piece.ok() && piece->ended)) {
      ++steps.unjudged;
      continue;
    }
    GE_RETURN_IF_ERROR(piece.status());
    GE_RETURN_IF_ERROR(JudgeSegment(b, i, *std::move(piece), &steps));
  }
  const auto whole = FromTheBeginning(b, pieces);
  for (Step& s : steps.all) {
    const auto found = whole.find(s.own.compared.tensor.member);
    if (found != whole.end()) s.whole = found->second;
  }
  return steps;
}

double RelativeOf(const Compared& c) { return c.difference.relative(); }

nlohmann::json StepJson(const Step& s) {
  const auto number = [](double d) {
    return std::isfinite(d) ? nlohmann::json(d) : nlohmann::json();
  };
  return {{"segment", s.segment},
          {"engine", s.engine},
          {"nodes", s.own.nodes},
          {"value", s.own.compared.tensor.name},
          {"own", number(RelativeOf(s.own.compared))},
          {"own_wrong", !s.own.compared.within},
          {"from_beginning", s.whole ? number(RelativeOf(*s.whole)) : nlohmann::json()},
          {"wrong", s.whole && !s.whole->within}};
}

void PrintJson(const std::string& capsule, const Steps& steps, const Step* first) {
  nlohmann::json j = {{"capsule", capsule},
                      {"values", steps.all.size()},
                      {"unjudged", steps.unjudged},
                      {"changed", steps.changed},
                      {"steps", nlohmann::json::array()}};
  for (const Step& s : steps.all) j["steps"].push_back(StepJson(s));
  if (first != nullptr) j["first"] = StepJson(*first);
  fmt::print("{}\n", j.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

void PrintText(const Bisected& b, const Steps& steps, const Step* first) {
  fmt::print("  {:<24} {:<10} {:>10} {:>15}  nodes\n", "value", "engine", "own", "from beginning");
  for (const Step& s : steps.all) {
    const bool inherited = s.whole && !s.whole->within;
    if (s.own.compared.within && !inherited) continue;
    fmt::print(
        "  {:<24} {:<10} {:>10.3g} {:>15}  {}\n", s.own.compared.tensor.name, s.engine,
        RelativeOf(s.own.compared), s.whole ? fmt::format("{:.3g}", RelativeOf(*s.whole)) : "?",
        s.own.compared.within ? "(inherited)" : fmt::format("{}", fmt::join(s.own.nodes, ", ")));
  }
  for (const std::string& c : steps.changed) {
    fmt::print("  {} makes something else of the recorded inputs now\n", c);
  }
  const std::string left =
      steps.unjudged ? fmt::format("; {} segments could not be judged", steps.unjudged) : "";
  if (first == nullptr) {
    fmt::print("none: {} values have no error of their own beside {}{}\n", steps.all.size(),
               b.options.against, left);
  } else {
    fmt::print("engine {}, nodes {}: {}{}\n", first->engine, fmt::join(first->own.nodes, ", "),
               TextOf(first->own.compared), left);
  }
}

}  // namespace

Status RunLockstep(const Recorded& r, const Options& options, int* code) {
  Bisected b{r, options, {}};
  GE_ASSIGN_OR_RETURN(b.inputs, RecordedInputs(r));
  GE_ASSIGN_OR_RETURN(const Steps steps, JudgeAll(b));
  const Step* first = nullptr;
  for (const Step& s : steps.all) {
    if (first == nullptr && !s.own.compared.within) first = &s;
  }
  options.json ? PrintJson(options.model, steps, first) : PrintText(b, steps, first);
  *code = first == nullptr ? 0 : 1;
  return {};
}

}  // namespace ge::tool
