// Pattern: a set of nodes found by a recognising pass, grown node by node, and its replacement by
// one named operator. It decides nothing by itself: the passes define their patterns. Used by one
// thread, for one match; edits of the graph make it stale.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ge/ops/edit.h"

namespace ge {

class Pattern {
 public:
  Pattern(Transaction* transaction, FunctionId fn) : t_(*transaction), fn_(fn) {}

  const Type& TypeOf(ValueId value) const;
  // The number in a one-element constant of a float type.
  std::optional<double> Number(ValueId value) const;
  // The elements of a constant i64 or i32 tensor.
  std::optional<std::vector<int64_t>> Integers(ValueId value) const;
  // The pure ONNX node with one output that makes `value`, and only if it is `op`; else null.
  const Node* Made(ValueId value, std::string_view op);
  const Node* Made(ValueId value);
  // The output of the one node that reads `value`, once; 0 when there is not exactly one, or when
  // `value` is a result.
  ValueId OnlyReader(ValueId value);
  // The other input of a node of two inputs; 0 when `value` is not one of them.
  static ValueId Other(const Node& n, ValueId value);

  // Adds the node that makes `value` to the pattern.
  void Take(ValueId value);
  // Whether nothing outside reads a value between the pattern's nodes. `out` is its output.
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
