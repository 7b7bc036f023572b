#include "passes/grad/train/training_mode.h"

#include <map>

#include "passes/grad/rule.h"

namespace ge::grad {
namespace {

// Nodes that are put ahead of one that is there.
class Ahead {
 public:
  Ahead(Fn& fn, uint32_t node) : fn_(fn), node_(node) {}
  Val Op(std::string_view op, const std::vector<Val>& in, const Attrs& attrs = {}) {
    return fn_.Node("", op, in, attrs, 1, nullptr, node_)[0];
  }
  Val Word(uint64_t v) {
    ge_type t{};
    t.dtype = GE_U64;
    t.bits = 64;
    return fn_.Constant(t, &v, sizeof v);
  }
  Val Cast(Val v, int32_t dtype) { return Op("Cast", {v}, Attrs().Int("to", dtype)); }

 private:
  Fn& fn_;
  uint32_t node_;
};

// What stands for a value by now: a picture shows what was there before the edits.
class Moved {
 public:
  explicit Moved(Fn& fn) : fn_(fn) {}
  Val Now(uint32_t value) const {
    for (auto at = to_.find(value); at != to_.end(); at = to_.find(value)) value = at->second;
    return fn_.At(value);
  }
  // Whoever reads `from` reads `to`; absent values do not count.
  void Put(uint32_t from, Val to) {
    if (from == 0) return;
    fn_.edit()->replace_uses(fn_.edit()->host, fn_.id(), from, to.id);
    to_[from] = to.id;
  }

 private:
  Fn& fn_;
  std::map<uint32_t, uint32_t> to_;
};

// The finalizer of splitmix64, but for its last step, which leaves the upper bits alone.
constexpr uint64_t kGolden = 0x9e3779b97f4a7c15, kFirst = 0xbf58476d1ce4e5b9,
                   kSecond = 0x94d049bb133111eb;

Val Mixed(Ahead& at, Val z) {
  const auto shifted = [&](Val v, uint64_t bits) {
    return at.Op("BitShift", {v, at.Word(bits)}, Attrs().Text("direction", "RIGHT"));
  };
  z = at.Op("Mul", {at.Op("BitwiseXor", {z, shifted(z, 30)}), at.Word(kFirst)});
  return at.Op("Mul", {at.Op("BitwiseXor", {z, shifted(z, 27)}), at.Word(kSecond)});
}

// 24 random bits for each element of x, as numbers from 0 to below 1.
Val Uniform(Fn& fn, Ahead& at, Val x, uint64_t site, Val done) {
  const Val step = at.Op("Mul", {at.Cast(done, GE_U64), at.Word(kGolden)});
  const Val key = Mixed(at, at.Op("Add", {step, at.Word(site * kSecond)}));
  const Val n = at.Op("Size", {x});
  const Val place = at.Op("Range", {fn.Scalar(GE_I64, 0), n, fn.Scalar(GE_I64, 1)});
  const Val spread = at.Op("Mul", {at.Cast(place, GE_U64), at.Word(kGolden)});
  const Val z = Mixed(at, at.Op("Add", {spread, key}));
  const Val bits = at.Op("BitShift", {z, at.Word(40)}, Attrs().Text("direction", "RIGHT"));
  const Val flat =
      at.Op("Mul", {at.Cast(bits, GE_F32), fn.Scalar(GE_F32, 1.0 / (uint64_t{1} << 24))});
  return at.Op("Reshape", {flat, at.Op("Shape", {x})}, Attrs().Int("allowzero", 1));
}

Val Kept(Fn& fn, const ge_node& n, Val x, Val u, Moved* moved) {
  Ahead at(fn, n.id);
  const int32_t dtype = fn.TypeOf(x).dtype;
  const Val ratio =
      n.n_in > 1 && n.in[1] != 0 ? at.Cast(fn.At(n.in[1]), GE_F32) : fn.Scalar(GE_F32, 0.5);
  const Val keep = at.Op("GreaterOrEqual", {u, ratio});
  const Val scale =
      at.Op("Div", {fn.Scalar(GE_F32, 1), at.Op("Sub", {fn.Scalar(GE_F32, 1), ratio})});
  const Val mask = at.Op("Where", {keep, scale, fn.Scalar(GE_F32, 0)});
  if (n.n_out > 1) moved->Put(n.out[1], keep);
  return at.Op("Mul", {x, at.Cast(mask, dtype)});
}

// The weight, of those that are running statistics, that the value is read from; null where it is
// none.
const Weight* StatisticOf(uint32_t value, const std::vector<Weight>& weights,
                          const std::vector<Val>& reads) {
  for (size_t w = 0; w < weights.size(); ++w) {
    if (!weights[w].trained() && reads[w].id == value) return &weights[w];
  }
  return nullptr;
}

bool IsBatchNorm(const ge_node& n) {
  return plugin::IsOp(n, "BatchNormalization") && n.n_in > batch_norm::kVariance;
}

// The node again, ahead of itself, with other statistics; what it gave is read from the new one.
std::vector<Val> PutBatchNorm(Fn& fn, const ge_node& n, Val mean, Val variance, bool training,
                              Moved* moved) {
  const ge_edit* e = fn.edit();
  Attrs attrs;
  for (uint32_t k = 0; k < n.n_attr; ++k) {
    if (plugin::View(n.attr[k].name) != "training_mode") attrs.Add(n.attr[k]);
  }
  attrs.Int("training_mode", training ? 1 : 0);
  std::vector<Val> made =
      fn.Node("", "BatchNormalization",
              {moved->Now(n.in[0]), moved->Now(n.in[1]), moved->Now(n.in[2]), mean, variance},
              attrs, training ? 3 : 1, nullptr, n.id);
  if (!training) {
    made.push_back(mean);
    made.push_back(variance);
  }
  for (uint32_t k = 0; k < n.n_out; ++k) moved->Put(n.out[k], made[k]);
  e->erase(e->host, fn.id(), n.id);
  return made;
}

bool IsInTraining(const ge_node& n) {
  const ge_attr* mode = ge_find_attr(&n, "training_mode");
  return mode != nullptr && mode->i != 0;
}

}  // namespace

void NormalizeByBatch(Fn& fn, const std::vector<Weight>& weights, const std::vector<Val>& reads) {
  const ge_graph* g = fn.Picture();
  // What statistics are by now: a norm that is applied twice moves them twice.
  std::map<const Weight*, Val> now;
  Moved moved(fn);
  for (uint32_t i = 0; i < g->n_node; ++i) {
    const ge_node& n = *GE_NODE(g, i);
    if (!IsBatchNorm(n)) continue;
    const Weight* of[] = {StatisticOf(n.in[batch_norm::kMean], weights, reads),
                          StatisticOf(n.in[batch_norm::kVariance], weights, reads)};
    Val from[] = {moved.Now(n.in[batch_norm::kMean]), moved.Now(n.in[batch_norm::kVariance])};
    // A node whose statistics are both frozen goes on with them.
    if (of[0] == nullptr && of[1] == nullptr) {
      if (IsInTraining(n)) PutBatchNorm(fn, n, from[0], from[1], false, &moved);
      continue;
    }
    for (int k = 0; k < 2; ++k) {
      if (of[k] != nullptr && now.count(of[k]) != 0) from[k] = now[of[k]];
    }
    const std::vector<Val> made = PutBatchNorm(fn, n, from[0], from[1], true, &moved);
    for (size_t k = 0; k < 2; ++k) {
      if (of[k] != nullptr) now[of[k]] = made[k + 1];
    }
  }
  for (const Weight& w : weights) {
    if (now.count(&w) != 0) AssignState(fn, w.state, now[&w]);
  }
}

void ForInference(Fn& fn) {
  const ge_graph* g = fn.Picture();
  const ge_edit* e = fn.edit();
  Moved moved(fn);
  for (uint32_t i = 0; i < g->n_node; ++i) {
    const ge_node& n = *GE_NODE(g, i);
    if (IsBatchNorm(n) && IsInTraining(n)) {
      PutBatchNorm(fn, n, moved.Now(n.in[batch_norm::kMean]),
                   moved.Now(n.in[batch_norm::kVariance]), false, &moved);
    }
    if (!plugin::IsOp(n, "Dropout") || n.n_in < 1 || n.in[0] == 0) continue;
    Ahead at(fn, n.id);
    const Val x = moved.Now(n.in[0]);
    moved.Put(n.out[0], x);
    if (n.n_out > 1 && n.out[1] != 0) {
      moved.Put(n.out[1], at.Op("Expand", {fn.Scalar(GE_BOOL, 1), at.Op("Shape", {x})}));
    }
    e->erase(e->host, fn.id(), n.id);
  }
}

void DropAtRandom(Fn& fn, int64_t seed, Val done) {
  const ge_graph* g = fn.Picture();
  const ge_edit* e = fn.edit();
  Moved moved(fn);
  uint64_t site = static_cast<uint64_t>(seed) << 20;
  for (uint32_t i = 0; i < g->n_node; ++i) {
    const ge_node& n = *GE_NODE(g, i);
    if (!plugin::IsOp(n, "Dropout") || n.n_in < 1 || n.in[0] == 0) continue;
    Ahead at(fn, n.id);
    const Val x = moved.Now(n.in[0]), u = Uniform(fn, at, x, ++site, done);
    moved.Put(n.out[0], Kept(fn, n, x, u, &moved));
    e->erase(e->host, fn.id(), n.id);
  }
}

}  // namespace ge::grad
