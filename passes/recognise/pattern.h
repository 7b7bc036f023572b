// Pattern: a set of nodes that a recognising pass has found, grown node by node, and its
// replacement by one named operator. It decides nothing by itself: the passes say what they look
// for. Used by one thread, for one match; edits of the graph make it stale.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ge/ops/edit.h"

namespace ge {

class Pattern {
 public:
  Pattern(Transaction* t, FunctionId fn) : t_(*t), fn_(fn) {}

  const Type& TypeOf(ValueId v) const;
  // The number that a one-element constant of a float type holds.
  std::optional<double> Number(ValueId v) const;
  // The elements of a constant i64 or i32 tensor.
  std::optional<std::vector<int64_t>> Integers(ValueId v) const;
  // The pure ONNX node with one output that makes `v`, and only if it is `op`; else null.
  const Node* Made(ValueId v, std::string_view op);
  const Node* Made(ValueId v);
  // The output of the one node that reads `v`, once; 0 when there is not exactly one, or when `v`
  // is a result.
  ValueId OnlyReader(ValueId v);
  // The other input of a node of two inputs; 0 when `v` is not one of them.
  static ValueId Other(const Node& n, ValueId v);

  // The node that makes `v` belongs to the pattern.
  void Take(ValueId v);
  // Does nothing outside read a value between the pattern's nodes? `out` is the one that it gives.
  bool Closed(ValueId out);
  // Puts one node in the place of all; the caller has checked Closed(out).
  void Replace(ValueId out, std::string op, std::vector<ValueId> inputs, std::vector<Attr> attrs);

  const std::vector<ValueId>& taken() const { return taken_; }

 private:
  Transaction& t_;
  FunctionId fn_;
  std::vector<ValueId> taken_;
};

}  // namespace ge
