#include "tools/shardcheck/shrink.h"

#include <algorithm>
#include <vector>

namespace ge::shardcheck {
namespace {

using Programs = std::vector<RankProgram>;

void Rename(RankProgram* p, const std::string& from, const std::string& to) {
  for (NetNode& n : p->nodes) std::replace(n.in.begin(), n.in.end(), from, to);
  for (NetTerm& t : p->terms) {
    if (t.value.name == from) t.value.name = to;
  }
}

// Values of these dims ahead of node n, the earliest first.
std::vector<std::string> Before(const RankProgram& p, size_t n, const Dims& dims) {
  std::vector<std::string> names;
  for (const NetInput& in : p.inputs) {
    if (in.below == 0 && in.dims == dims) names.push_back(in.name);
  }
  for (size_t i = 0; i < n; ++i) {
    for (const NetValue& v : p.nodes[i].out) {
      if (v.dims == dims) names.push_back(v.name);
    }
  }
  for (const NetConstant& c : p.constants) {
    if (c.dtype == "f64" && c.dims == dims) names.push_back(c.name);
  }
  return names;
}

void WithoutNodes(const RankProgram& p, Programs* less) {
  const std::set<std::string> live = p.Live();
  constexpr size_t kChoices = 3;
  for (size_t n = p.nodes.size(); n-- > 0;) {
    const NetValue& v = p.nodes[n].out[0];
    if (live.count(v.name) == 0) continue;
    const std::vector<std::string> names = Before(p, n, v.dims);
    for (size_t i = 0; i < std::min(kChoices, names.size()); ++i) {
      less->push_back(p);
      Rename(&less->back(), v.name, names[i]);
    }
  }
}

// Pins of what the loss no longer reads are refused.
void DropDeadPins(RankProgram* p) {
  const std::set<std::string> live = p->Live();
  std::set<std::string> there = live;
  for (const NetNode& n : p->nodes) {
    const bool read = std::any_of(n.out.begin(), n.out.end(),
                                  [&](const NetValue& v) { return live.count(v.name) != 0; });
    for (const NetValue& v : n.out) {
      if (read) there.insert(v.name);
    }
  }
  std::erase_if(p->pins, [&](const ProgramPin& pin) { return there.count(pin.name) == 0; });
}

Programs Smaller(const RankProgram& p) {
  Programs less;
  for (size_t i = 0; i < p.pins.size(); ++i) {
    less.push_back(p);
    less.back().pins.erase(less.back().pins.begin() + static_cast<std::ptrdiff_t>(i));
  }
  if (!p.states.empty()) less.emplace_back(p).states.clear();
  for (size_t i = p.options.size(); i-- > 0;) {
    less.push_back(p);
    less.back().options.erase(less.back().options.begin() + static_cast<std::ptrdiff_t>(i));
  }
  if (p.steps > 1) less.emplace_back(p).steps = 1;
  if (p.symbolic) less.emplace_back(p).symbolic = false;
  for (size_t a = 0; a < p.axes.size(); ++a) {
    if (p.sizes[a] > 2) less.emplace_back(p).sizes[a] = 2;
    const auto named = [&](const ProgramPin& pin) {
      return pin.dims.find(p.axes[a]) != std::string::npos;
    };
    if (p.axes.size() < 2 || p.states == p.axes[a]) continue;
    if (std::any_of(p.pins.begin(), p.pins.end(), named)) continue;
    less.push_back(p);
    less.back().axes.erase(less.back().axes.begin() + static_cast<std::ptrdiff_t>(a));
    less.back().sizes.erase(less.back().sizes.begin() + static_cast<std::ptrdiff_t>(a));
  }
  for (size_t i = 0; i < p.terms.size(); ++i) {
    if (p.terms.size() < 2) break;
    less.push_back(p);
    less.back().terms.erase(less.back().terms.begin() + static_cast<std::ptrdiff_t>(i));
  }
  // The loss of an earlier value.
  for (const NetNode& n : p.nodes) {
    if (p.loss == "none" && !n.out[0].dims.empty()) {
      less.push_back(p);
      less.back().terms = {{n.out[0], p.terms[0].form}};
    }
  }
  WithoutNodes(p, &less);
  return less;
}

}  // namespace

RankProgram Shrink(RankProgram program, const std::function<bool(const RankProgram&)>& fails) {
  int tries = 0;
  for (bool again = true; again;) {
    again = false;
    for (RankProgram& less : Smaller(program)) {
      DropDeadPins(&less);
      if (less.Text().size() >= program.Text().size() && less.pins.size() == program.pins.size() &&
          less.options.size() == program.options.size() && less.states == program.states &&
          less.steps == program.steps && less.sizes == program.sizes &&
          less.symbolic == program.symbolic) {
        continue;
      }
      if (++tries > kMostTries) return program;
      if (!fails(less)) continue;
      program = std::move(less);
      again = true;
      break;
    }
  }
  return program;
}

}  // namespace ge::shardcheck
