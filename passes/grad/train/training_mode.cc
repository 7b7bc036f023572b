#include "passes/grad/train/training_mode.h"

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
    t.dtype = GE_U64, t.bits = 64;
    return fn_.Constant(t, &v, sizeof v);
  }
  Val Cast(Val v, int32_t dtype) { return Op("Cast", {v}, Attrs().Int("to", dtype)); }

 private:
  Fn& fn_;
  uint32_t node_;
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

Val Kept(Fn& fn, const ge_node& n, Val u) {
  Ahead at(fn, n.id);
  const Val x = fn.At(n.in[0]);
  const int32_t dtype = fn.TypeOf(x).dtype;
  const Val ratio =
      n.n_in > 1 && n.in[1] != 0 ? at.Cast(fn.At(n.in[1]), GE_F32) : fn.Scalar(GE_F32, 0.5);
  const Val keep = at.Op("GreaterOrEqual", {u, ratio});
  const Val scale =
      at.Op("Div", {fn.Scalar(GE_F32, 1), at.Op("Sub", {fn.Scalar(GE_F32, 1), ratio})});
  const Val mask = at.Op("Where", {keep, scale, fn.Scalar(GE_F32, 0)});
  const ge_edit* e = fn.edit();
  if (n.n_out > 1 && n.out[1] != 0) e->replace_uses(e->host, fn.id(), n.out[1], keep.id);
  return at.Op("Mul", {x, at.Cast(mask, dtype)});
}

// A node whose statistics are both frozen goes on with them.
bool KeepsStatistics(const ge_node& n, const std::vector<Weight>& weights,
                     const std::vector<Val>& reads) {
  for (size_t w = 0; w < weights.size(); ++w) {
    if (!weights[w].trained && (reads[w].id == n.in[3] || reads[w].id == n.in[4])) return true;
  }
  return false;
}

}  // namespace

void NormalizeByBatch(Fn& fn, const std::vector<Weight>& weights, const std::vector<Val>& reads) {
  const ge_graph* g = fn.Picture();
  const ge_edit* e = fn.edit();
  for (uint32_t i = 0; i < g->n_node; ++i) {
    const ge_node& n = *GE_NODE(g, i);
    if (!plugin::IsOp(n, "BatchNormalization") || n.n_in < 5) continue;
    if (!KeepsStatistics(n, weights, reads)) continue;
    std::vector<Val> in;
    for (uint32_t k = 0; k < n.n_in; ++k) in.push_back(fn.At(n.in[k]));
    Attrs attrs;
    for (uint32_t k = 0; k < n.n_attr; ++k) {
      if (plugin::View(n.attr[k].name) != "training_mode") attrs.Add(n.attr[k]);
    }
    attrs.Int("training_mode", 1);
    const std::vector<Val> made = fn.Node("", "BatchNormalization", in, attrs, 3, nullptr, n.id);
    for (uint32_t k = 0; k < n.n_out; ++k) {
      if (n.out[k] != 0) e->replace_uses(e->host, fn.id(), n.out[k], made[k].id);
    }
    e->erase(e->host, fn.id(), n.id);
    for (size_t w = 0; w < weights.size(); ++w) {
      if (weights[w].trained) continue;
      for (uint32_t k = 3; k < 5; ++k) {
        if (reads[w].id == n.in[k]) AssignState(fn, weights[w].state, made[k - 2]);
      }
    }
  }
}

void DropAtRandom(Fn& fn, int64_t seed, Val done) {
  const ge_graph* g = fn.Picture();
  const ge_edit* e = fn.edit();
  uint64_t site = static_cast<uint64_t>(seed) << 20;
  for (uint32_t i = 0; i < g->n_node; ++i) {
    const ge_node& n = *GE_NODE(g, i);
    if (!plugin::IsOp(n, "Dropout") || n.n_in < 1 || n.in[0] == 0) continue;
    Ahead at(fn, n.id);
    const Val u = Uniform(fn, at, fn.At(n.in[0]), ++site, done);
    e->replace_uses(e->host, fn.id(), n.out[0], Kept(fn, n, u).id);
    e->erase(e->host, fn.id(), n.id);
  }
}

}  // namespace ge::grad
