// Attention: ONNX's operator, and the MatMul, scaling and masks, Softmax and MatMul (with views
// between) of exporters. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plugins/units/unit.h"

namespace ge_engines {

// One change of the scores before their softmax.
struct ScoreStep {
  enum Kind { kUnary, kBinary, kWhere } kind = kUnary;
  Fn fn = Fn::kLinear;
  float a = 0, b = 0;    // of kUnary; a: what a score becomes by kWhere
  bool keep = true;      // kWhere: scores stay where the condition is true, else where it is not
  size_t operand = 0;    // position in Unit::in
  Dims view, step;       // the axes of scores but keys, and the operand's elements along each
  int64_t key_step = 1;  // along keys: 1 or 0
};
// Elements from one batch, head and row to the next; a row's are neighbours.
struct HeadSteps {
  int64_t batch = 0, head = 0, row = 0;
};
// Attention; in: q, k, v, operands of the steps, then lengths or 0. Batches and heads of `rows`
// queries; `share` query heads read one head of keys.
struct AttendSpec {
  int64_t batch = 1, heads = 1, share = 1, rows = 0, keys = 0, size = 0, v_size = 0;
  HeadSteps q, k, v, y;
  bool transposed = true;   // keys are rows of k, else columns, k.row elements long
  bool of_product = false;  // k is the right operand of a product and lies as that is found
  std::vector<ScoreStep> steps;
  bool sees_none = false;  // rows that see no key become zeros, else NaN
  // Row i stands at key past + i; with lengths the last row stands at the last key. It sees
  // `before` keys before its own and `after` behind it; -1: all.
  int64_t before = -1, after = -1;
  bool windowed() const { return before >= 0 || after >= 0; }
  int64_t past = 0;  // keys that came before those of k and v, which are `fresh`
  int64_t fresh = 0;
  bool lengths = false;  // how many keys each batch has, int64
  // Positions in Unit::in of the keys and values of the past, and of the lengths; 0: none.
  size_t past_k = 0, past_v = 0, lengths_in = 0;
  static const UnitKind kKind;
};

}  // namespace ge_engines
