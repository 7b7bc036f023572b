#include "tools/shardcheck/train_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "passes/parallel/mesh.h"
#include "tools/shardcheck/boxes.h"

namespace ge::shardcheck {
namespace {

using adcheck::Model;
using nlohmann::json;
using parallel::Part;

constexpr int32_t kI64 = 7, kF64 = 11;
constexpr double kBound = 1e-10;
// Of what is nothing but for rounding: sums of some hundred numbers of about one.
constexpr double kRounding = 1e-14;

double Nudged(double v, std::mt19937_64& random) {
  constexpr double kBit = 0x1p-51;
  return v * (1 + kBit * (static_cast<double>(random() % 5) - 2));
}

// What a step is given, whole.
Arrays InputsOf(const RankProgram& p, int step, uint64_t nudge) {
  std::mt19937_64 random(p.seed + 7919 * static_cast<uint64_t>(step));
  std::mt19937_64 other(nudge * 31 + static_cast<uint64_t>(step));
  std::uniform_real_distribution<double> real(-1, 1);
  Arrays inputs;
  for (const NetInput& in : p.Given()) {
    Array a;
    a.dtype = in.below > 0 ? kI64 : kF64;
    a.dims = in.dims;
    for (int64_t i = CountOf(in.dims); i > 0; --i) {
      if (in.below > 0) {
        a.i.push_back(static_cast<int64_t>(random() % static_cast<uint64_t>(in.below)));
      } else {
        a.f.push_back(real(random));
        if (nudge != 0) a.f.back() = Nudged(a.f.back(), other);
      }
    }
    inputs[in.name] = std::move(a);
  }
  return inputs;
}

Status NudgeStates(Model* model, uint64_t nudge) {
  std::mt19937_64 random(nudge);
  GE_ASSIGN_OR_RETURN(Arrays states, model->States());
  for (auto& [name, a] : states) {
    for (double& v : a.f) v = Nudged(v, random);
    GE_RETURN_IF_ERROR(model->SetState(name, a));
  }
  return {};
}

Array Cut(const Array& whole, const std::vector<Part>& box) {
  Array cut;
  cut.dtype = whole.dtype;
  for (const Part& part : box) cut.dims.push_back(part.size);
  ForEachOfBox(box, whole.dims, [&](size_t at, size_t) {
    if (whole.is_float()) cut.f.push_back(whole.f[at]);
    if (!whole.is_float()) cut.i.push_back(whole.i[at]);
  });
  return cut;
}

struct Box {
  Dims dims;
  std::vector<Part> parts;
};

Box BoxOf(const json& told) {
  Box box{told.at("dims").get<Dims>(), {}};
  for (const json& part : told.at("box")) box.parts.push_back({part.at(0), part.at(1)});
  return box;
}

bool SameBits(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }

// Tensors of ranks, put together.
class Together {
 public:
  // Empty, or what is wrong.
  std::string Put(const std::string& name, const Array& held, const Box& box, int64_t rank) {
    Array& whole = whole_[name];
    std::vector<bool>& there = there_[name];
    const auto count = static_cast<size_t>(CountOf(box.dims));
    if (there.empty()) {
      whole.dtype = held.dtype;
      whole.dims = box.dims;
      whole.f.resize(held.is_float() ? count : 0);
      whole.i.resize(held.is_float() ? 0 : count);
      there.resize(count);
    }
    bool same = true;
    ForEachOfBox(box.parts, box.dims, [&](size_t at, size_t k) {
      if (held.is_float()) {
        same = same && (!there[at] || SameBits(whole.f[at], held.f[k]));
        whole.f[at] = held.f[k];
      } else {
        same = same && (!there[at] || whole.i[at] == held.i[k]);
        whole.i[at] = held.i[k];
      }
      there[at] = true;
    });
    return same ? ""
                : fmt::format("rank {} holds other bits of '{}' than a rank before it", rank, name);
  }
  std::string Missing() const {
    for (const auto& [name, there] : there_) {
      if (std::count(there.begin(), there.end(), false) != 0) {
        return fmt::format("no rank holds all of '{}'", name);
      }
    }
    return {};
  }
  const Arrays& whole() const { return whole_; }

 private:
  Arrays whole_;
  std::map<std::string, std::vector<bool>> there_;
};

std::string PluginOf(const RankProgram& p, const TrainOptions& options) {
  return p.plugin.empty() ? "" : "," + options.samples + p.plugin + ".so";
}

// "data*model" and "-" of "data*model,-".
std::vector<std::string> AxesByDim(const std::string& dims) {
  std::vector<std::string> by(1);
  for (const char c : dims) {
    if (c == ',') by.emplace_back();
    if (c != ',') by.back() += c;
  }
  return by;
}

// Calls with each rank in a thread of its own: ranks wait for each other. Answers the failure that
// came first: the others follow from it.
Status OnAll(int64_t ranks, const std::function<Status(int64_t)>& what) {
  Status first;
  std::mutex mutex;
  std::vector<std::thread> threads;
  for (int64_t r = 0; r < ranks; ++r) {
    threads.emplace_back([&, r] {
      const Status ended = what(r);
      const std::unique_lock lock(mutex);
      if (ended.ok() || !first.ok()) return;
      first = Status(ended.code(), fmt::format("rank {}: {}", r, ended.message()));
    });
  }
  for (std::thread& t : threads) t.join();
  return first;
}

class Ranks {
 public:
  Ranks(const RankProgram& p, const TrainOptions& options)
      : p_(p), options_(options), rank_(static_cast<size_t>(p.ranks())) {}
  Result<Trained> Train(Moves* moves);

 private:
  struct Rank {
    std::unique_ptr<Model> model;
    json told;  // the metadata `parallel`
    std::vector<Arrays> steps;
    Arrays eval;
  };
  Status Load(int64_t r);
  Status Run(int64_t r);
  Status Same(const Arrays& first, const Arrays& other, int64_t r, const char* of) const;
  Status WantPins() const;
  Status Count(Moves* moves) const;

  const RankProgram& p_;
  const TrainOptions& options_;
  std::vector<Rank> rank_;
};

Status Ranks::Load(int64_t r) {
  adcheck::ModelOptions o;
  o.engines = options_.rank_engines;
  o.plugin = "grad,parallel" + PluginOf(p_, options_);
  o.threads = 1;
  Rank& rank = rank_[static_cast<size_t>(r)];
  GE_ASSIGN_OR_RETURN(rank.model, Model::Load(p_.Text(), p_.Train() + "," + p_.Parallel(r), o));
  rank.told = json::parse(rank.model->Metadata("parallel"), nullptr, false);
  if (rank.told.is_discarded()) return Status(Code::kInternal, "there is no metadata 'parallel'");
  return {};
}

// A rank that fails leaves, so that the others end, too.
Status Ranks::Run(int64_t r) {
  Rank& rank = rank_[static_cast<size_t>(r)];
  const auto steps = [&]() -> Status {
    for (int s = 0; s < p_.steps; ++s) {
      Arrays mine;
      for (const auto& [name, whole] : InputsOf(p_, s, 0)) {
        if (!rank.told.at("inputs").contains(name)) continue;
        mine[name] = Cut(whole, BoxOf(rank.told.at("inputs").at(name)).parts);
      }
      GE_ASSIGN_OR_RETURN(Arrays made, rank.model->Run("train_step", mine));
      rank.steps.push_back(std::move(made));
    }
    GE_ASSIGN_OR_RETURN(rank.eval, rank.model->Run("eval", InputsOf(p_, p_.steps, 0)));
    return {};
  };
  Status ended = steps();
  if (!ended.ok()) rank.model.reset();
  return ended;
}

Status Ranks::Same(const Arrays& first, const Arrays& other, int64_t r, const char* of) const {
  for (const auto& [name, a] : first) {
    const auto found = other.find(name);
    const bool same = found != other.end() && found->second.i == a.i &&
                      std::equal(a.f.begin(), a.f.end(), found->second.f.begin(),
                                 found->second.f.end(), SameBits);
    if (!same) {
      return Status(Code::kInternal,
                    fmt::format("rank {} has other bits of '{}' of {} than rank 0", r, name, of));
    }
  }
  return {};
}

// A pinned state lies as the pin says: each rank has the share of a dim that its axes give. One
// that the pin leaves whole may be split where states lie in shares.
Status Ranks::WantPins() const {
  for (const ProgramPin& pin : p_.pins) {
    const std::vector<std::string> by = AxesByDim(pin.dims);
    for (int64_t r = 0; r < p_.ranks(); ++r) {
      const json& states = rank_[static_cast<size_t>(r)].told.at("states");
      if (!states.contains(pin.name)) continue;
      const Box box = BoxOf(states.at(pin.name));
      for (size_t d = 0; d < by.size(); ++d) {
        if (by[d] == "-" && !p_.states.empty()) continue;
        int64_t share = 0, shares = 1, rest = p_.ranks();
        for (size_t a = 0; a < p_.axes.size(); ++a) {
          rest /= p_.sizes[a];
          if (("*" + by[d] + "*").find("*" + p_.axes[a] + "*") == std::string::npos) continue;
          share = share * p_.sizes[a] + r / rest % p_.sizes[a];
          shares *= p_.sizes[a];
        }
        if (parallel::ShareOf(box.dims[d], shares, share) == box.parts[d]) continue;
        return Status(Code::kInternal,
                      fmt::format("rank {}: dim {} of '{}' does not lie as it is pinned by '{}'", r,
                                  d, pin.name, pin.dims));
      }
    }
  }
  return {};
}

// The collectives of the first rank's step.
Status Ranks::Count(Moves* moves) const {
  GE_ASSIGN_OR_RETURN(const std::string text, rank_[0].model->Text());
  const std::string entry = "entry train_step \"train_step\" = ";
  const size_t at = text.find(entry);
  if (at == text.npos) return Status(Code::kInternal, "there is no entry 'train_step'");
  const std::string name = text.substr(at + entry.size(), text.find('\n', at) - at - entry.size());
  const size_t begin = text.find("\nfn " + name + "("), end = text.find("\n}", begin);
  if (begin == text.npos) return Status(Code::kInternal, "there is no function " + name);
  for (const char* kind : {"AllReduce", "AllGather", "ReduceScatter", "AllToAll"}) {
    const std::string call = fmt::format("comm.{}(", kind);
    for (size_t i = text.find(call, begin); i < end; i = text.find(call, i + 1)) {
      ++moves->collectives[kind];
    }
  }
  for (const auto& [state, told] : rank_[0].told.at("states").items()) {
    const Box box = BoxOf(told);
    for (size_t d = 0; d < box.dims.size(); ++d) {
      if (box.parts[d].size == box.dims[d]) continue;
      ++moves->states_in_boxes;
      break;
    }
  }
  return {};
}

Result<Trained> Ranks::Train(Moves* moves) {
  GE_RETURN_IF_ERROR(OnAll(p_.ranks(), [&](int64_t r) { return Load(r); }));
  GE_RETURN_IF_ERROR(WantPins());
  if (moves != nullptr) GE_RETURN_IF_ERROR(Count(moves));
  GE_RETURN_IF_ERROR(OnAll(p_.ranks(), [&](int64_t r) { return Run(r); }));
  Together states;
  for (int64_t r = 0; r < p_.ranks(); ++r) {
    const Rank& rank = rank_[static_cast<size_t>(r)];
    for (int s = 0; s < p_.steps; ++s) {
      const auto at = static_cast<size_t>(s);
      GE_RETURN_IF_ERROR(Same(rank_[0].steps[at], rank.steps[at], r, "a step"));
    }
    GE_RETURN_IF_ERROR(Same(rank_[0].eval, rank.eval, r, "eval"));
    GE_ASSIGN_OR_RETURN(const Arrays mine, rank.model->States());
    for (const auto& [name, a] : mine) {
      const std::string wrong = states.Put(name, a, BoxOf(rank.told.at("states").at(name)), r);
      if (!wrong.empty()) return Status(Code::kInternal, wrong);
    }
  }
  const std::string missing = states.Missing();
  if (!missing.empty()) return Status(Code::kInternal, missing);
  return Trained{rank_[0].steps, rank_[0].eval, states.whole()};
}

double Difference(const Arrays& wanted, const Arrays& got, const std::string& of,
                  std::string* where) {
  double most = 0;
  for (const auto& [name, want] : wanted) {
    const auto found = got.find(name);
    const bool there = found != got.end() && found->second.dims == want.dims &&
                       found->second.i == want.i && found->second.f.size() == want.f.size();
    double scale = 0, apart = 0;
    for (size_t k = 0; there && k < want.f.size(); ++k) {
      scale = std::max(scale, std::fabs(want.f[k]));
      apart = std::max(apart, std::fabs(want.f[k] - found->second.f[k]));
    }
    const double share = there ? apart / (kBound * scale + kRounding) : HUGE_VAL;
    if (share <= most) continue;
    most = share;
    *where = there ? fmt::format("'{}' of {} is {:.2e} away, of {:.2e}", name, of, apart, scale)
                   : fmt::format("'{}' of {} differs", name, of);
  }
  return most;
}

}  // namespace

Result<Trained> TrainWhole(const RankProgram& p, const TrainOptions& options, uint64_t nudge) {
  adcheck::ModelOptions o;
  o.engines = options.whole_engines;
  o.plugin = "grad" + PluginOf(p, options);
  o.threads = 1;
  GE_ASSIGN_OR_RETURN(const auto model, Model::Load(p.Text(), p.Train(), o));
  if (nudge != 0) GE_RETURN_IF_ERROR(NudgeStates(model.get(), nudge));
  Trained t;
  for (int s = 0; s < p.steps; ++s) {
    GE_ASSIGN_OR_RETURN(Arrays made, model->Run("train_step", InputsOf(p, s, nudge)));
    t.steps.push_back(std::move(made));
  }
  GE_ASSIGN_OR_RETURN(t.eval, model->Run("eval", InputsOf(p, p.steps, nudge)));
  GE_ASSIGN_OR_RETURN(t.states, model->States());
  return t;
}

Result<Trained> TrainRanks(const RankProgram& p, const TrainOptions& options, Moves* moves) {
  return Ranks(p, options).Train(moves);
}

double Difference(const Trained& wanted, const Trained& got, std::string* where) {
  double most = 0;
  const auto take = [&](const Arrays& a, const Arrays& b, const std::string& of) {
    std::string at;
    const double share = Difference(a, b, of, &at);
    if (share <= most) return;
    most = share;
    *where = at;
  };
  for (size_t s = 0; s < wanted.steps.size(); ++s) {
    take(wanted.steps[s], got.steps[s], fmt::format("step {}", s + 1));
  }
  take(wanted.eval, got.eval, "eval");
  take(wanted.states, got.states, "the states");
  return most;
}

bool IsFinite(const Trained& t) {
  const auto finite = [](const Arrays& arrays) {
    for (const auto& [name, a] : arrays) {
      for (const double v : a.f) {
        if (!std::isfinite(v) || std::fabs(v) > 1e6) return false;
      }
    }
    return true;
  };
  return finite(t.states) && finite(t.eval) && std::all_of(t.steps.begin(), t.steps.end(), finite);
}

}  // namespace ge::shardcheck
