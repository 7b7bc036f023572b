// Draw: the mesh, how a net is trained, and pins.
#include <fmt/format.h>

#include <algorithm>

#include "passes/parallel/mesh.h"
#include "tools/shardcheck/draw.h"

namespace ge::shardcheck {
namespace {

bool AllHaveSome(int64_t n, int64_t shares) {
  return parallel::ShareOf(n, shares, shares - 1).size > 0;
}

}  // namespace

// Of four ranks as a rule, and samples over one axis as a rule.
void Drawer::Mesh() {
  const int64_t kind = Draw(100);
  p_.sizes = kind < 35 ? Dims{4} : kind < 75 ? Dims{2, 2} : kind < 88 ? Dims{2} : Dims{3};
  p_.axes = {"data", "model"};
  if (Chance(30)) std::swap(p_.axes[0], p_.axes[1]);
  if (p_.sizes.size() == 2 && Chance(8)) p_.axes = {"model", "rows"};
  p_.axes.resize(p_.sizes.size());
  int64_t shares = 1;
  for (size_t a = 0; a < p_.axes.size(); ++a) {
    if (p_.axes[a] == "data") shares = p_.sizes[a];
  }
  do {
    p_.batch = Draw(2, 13);
  } while (!AllHaveSome(p_.batch, shares));
  if (Chance(35))
    p_.states = p_.axes[static_cast<size_t>(Draw(static_cast<int64_t>(p_.axes.size())))];
}

void Drawer::Options() {
  const std::string optimizer =
      OneOf<const char*>({"sgd", "sgd", "sgd", "adam", "adam", "adamw", "adamw", "lamb", "lars",
                          "rmsprop", "adagrad", "lion"});
  p_.options = {"optimizer=" + optimizer, "lr=0.03"};
  const bool adapts = optimizer != "sgd" && optimizer != "lars" && optimizer != "lion";
  // What divides by the size of a gradient would make a number of one that is nothing but rounding.
  if (adapts) p_.options.push_back("eps=0.01");
  if (optimizer == "sgd" || optimizer == "lars" || optimizer == "rmsprop") {
    const bool moves = Chance(60);
    if (moves) p_.options.push_back("momentum=0.9");
    if (moves && optimizer != "rmsprop" && Chance(40)) p_.options.push_back("nesterov=1");
  }
  if (Chance(40) || optimizer == "lamb" || optimizer == "lars") {
    p_.options.push_back("weight-decay=0.02");
  }
  if (Chance(25)) p_.options.push_back("clip=0.5");
  if (Chance(20)) p_.options.push_back("accumulate=2");
  if (Chance(15)) p_.options.push_back("ema=0.9");
  if (Chance(10)) p_.options.push_back("schedule=cosine;steps=8;warmup=1");
  if (Chance(8)) p_.options.push_back(Chance(50) ? "loss-scale=16" : "loss-scale=dynamic");
  if (Chance(10)) p_.options.push_back(Chance(50) ? "remat=all" : "remat=dots");
  p_.steps = static_cast<int>(Draw(2, 3));
}

// Each axis splits a dim at random or none; in the order of the mesh where two split one.
ProgramPin Drawer::PinOf(const NetValue& v) {
  std::vector<std::vector<size_t>> by(v.dims.size());
  for (size_t a = 0; a < p_.axes.size(); ++a) {
    if (Chance(70)) by[static_cast<size_t>(Draw(static_cast<int64_t>(by.size())))].push_back(a);
  }
  ProgramPin pin{v.name, "", true};
  for (size_t d = 0; d < by.size(); ++d) {
    std::string one;
    int64_t shares = 1;
    for (const size_t a : by[d]) {
      one += (one.empty() ? "" : "*") + p_.axes[a];
      shares *= p_.sizes[a];
    }
    pin.dims += (d == 0 ? "" : ",") + (one.empty() ? "-" : one);
    pin.legal = pin.legal && AllHaveSome(v.dims[d], shares);
  }
  return pin;
}

// Of states, constants, settings and values, those that the loss reads.
void Drawer::Pins() {
  const std::set<std::string> live = p_.Live();
  std::vector<NetValue> held, made;
  for (const NetConstant& c : p_.constants) {
    if (live.count(c.name) == 0 || c.dims.empty()) continue;
    if (c.name[0] != 's' || Chance(5)) held.push_back({c.name, c.dims});
  }
  for (const NetNode& n : p_.nodes) {
    if (n.op == "Shape") continue;  // a step has its numbers, and not the node
    for (const NetValue& v : n.out) {
      if (live.count(v.name) != 0 && !v.dims.empty()) made.push_back(v);
    }
  }
  for (int64_t n = Draw(0, 4); n > 0; --n) {
    const std::vector<NetValue>& from = Chance(55) && !held.empty() ? held : made;
    if (from.empty()) continue;
    ProgramPin pin;
    for (int tries = 0; tries < 5; ++tries) {  // mostly ones that can be
      pin = PinOf(from[static_cast<size_t>(Draw(static_cast<int64_t>(from.size())))]);
      if (pin.legal) break;
    }
    const bool twice = std::any_of(p_.pins.begin(), p_.pins.end(),
                                   [&](const ProgramPin& other) { return other.name == pin.name; });
    if (!twice) p_.pins.push_back(std::move(pin));
  }
}

}  // namespace ge::shardcheck
