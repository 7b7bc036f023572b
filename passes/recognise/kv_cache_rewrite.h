// KvCacheRewrite: builds a decoder anew around caches of a fixed capacity. It goes over the nodes
// once, beside two copies of the function. In the first it types every value depending on the past,
// with the past's length as a symbol P and S new rows; so it knows which axes hold the past (P
// rows) or all (P + S), and the row counts in small integer tensors. In the second it writes the
// new nodes, where such an axis has the capacity's size and its first P or P + S places hold the
// model's content: the others hold anything, but finite numbers in the caches. A node has a rule,
// or only inputs without such axes, or is refused; and every new value must get just the shape of
// the first copy. Used once, by one thread; owns nothing.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ge/base/status.h"
#include "ge/stage/pass.h"
#include "passes/recognise/kv_cache_pairs.h"

namespace ge {

class KvCacheRewrite {
 public:
  using InferNode = Status (*)(Graph*, FunctionId, size_t);
  // `rows`: the number of new rows, a guess that the walk proves or refuses.
  KvCacheRewrite(Graph* graph, FunctionId fn, std::vector<KvPair> pairs, Dim rows, InferNode infer)
      : g_(*graph), fn_(fn), pairs_(std::move(pairs)), infer_(infer), rows_(rows) {}
  // UNSUPPORTED at a node without a rule. The graph's functions are then as they were.
  Status Run();
  size_t steps() const { return steps_; }  // nodes rewritten, or left as they are

 private:
  enum class Rows : uint8_t { kFixed, kPast, kAll };        // of an axis
  enum class Rest : uint8_t { kAnything, kFinite, kZero };  // content of places beyond the rows
  using Rule = Status (KvCacheRewrite::*)(const Node&);
  struct Cut {  // of an axis, by a Slice
    int64_t axis = 0, step = 1;
    Dim start, end, length;
    bool moves = false;  // with the past's length
  };

  // kv_cache_rewrite.cc: the walk
  Status Begin();
  Dim Named(const std::string& name, const std::string& origin, int64_t least);
  Status TypePasts();
  Status TypeMasks();
  Status WriteCaches();
  Status Step(uint32_t index);
  Status TypeOutputs(uint32_t index);
  Status Apply(const Node& node);
  Status CheckOutputs(const Node& node);
  Status Finish();
  Status DropPairs();
  void Withdraw();

  const Function& old() const { return g_.fn(old_); }
  Function& now() { return g_.fn(new_); }
  const Type& TypeOf(ValueId value) const { return old().value(value).type; }
  // The content of a small integer tensor, from INFER or a constant.
  std::optional<std::vector<Dim>> IntsOf(ValueId value) const;
  bool CountsPast(Dim dim);
  std::optional<Rows> RowsOf(Dim dim);
  bool Ragged(ValueId value);
  Rest RestOf(ValueId value) const;
  Dim Now(Dim dim) { return *RowsOf(dim) == Rows::kFixed ? dim : room_; }
  Status Refuse(const Node& node, const std::string& why) const;

  // kv_cache_values.cc: new nodes. After the first failure they do nothing and answer 0.
  ValueId Make(std::string op, std::vector<ValueId> inputs, std::vector<Attr> attrs = {},
               ValueId into = 0, std::string domain = {});
  ValueId Ints(const std::vector<int64_t>& values);
  ValueId Scalar(ValueId one) { return Make("Squeeze", {one, Ints({0})}); }
  // i64[1]: the size, with the length for P.
  ValueId Size(Dim dim);
  ValueId SizeOf(const DimTable::Expr& expr);
  ValueId SizeOfSymbol(SymbolId symbol);
  ValueId Shape(const std::vector<Dim>& dims);
  // 0, 1, ... as many as there are; i64[n].
  ValueId Count(Dim n);
  // bool[room], and that with `behind` axes of one behind it: marks places with rows.
  ValueId Valid(Rows rows, size_t behind);
  ValueId Number(DType dtype, double value);
  // `given` with `value` where there are no rows along the axis.
  ValueId Masked(ValueId given, ValueId typed_as, size_t axis, double value);
  // The value in the new function with the content of `value`.
  ValueId In(ValueId value);
  ValueId Known(ValueId value, const std::vector<Dim>& ints);

  // kv_cache_rules.cc
  static const std::map<std::string_view, Rule>& Rules();
  Status Keep(const Node& node);  // as it is
  Status KeepWith(const Node& node, std::vector<ValueId> inputs);
  Status Moved(const Node& node);  // one input's elements elsewhere
  Status WithShape(const Node& node);
  Status CheckReshape(const Node& node);
  Status MatMul(const Node& node);
  Status Softmax(const Node& node);
  Status Reduce(const Node& node);
  Status CumSum(const Node& node);
  Status Concat(const Node& node);
  Status Append(const Node& node, size_t axis);
  Status Range(const Node& node);
  Status Gather(const Node& node);
  Status Slice(const Node& node);
  Result<std::vector<Cut>> CutsOf(const Node& node);
  Status Bound(const Node& node, Dim at, Dim size, Dim* out);
  ValueId Picked(ValueId x, const Cut& cut);

  Graph& g_;
  const FunctionId fn_;
  const std::vector<KvPair> pairs_;
  const InferNode infer_;
  const Dim rows_;
  FunctionId old_ = 0, new_ = 0;
  SymbolId past_symbol_ = 0;
  Dim past_, all_, room_;
  std::vector<bool> changed_;        // by value of the old function
  std::set<ValueId> known_;          // changed ones of known content, made when read
  std::map<ValueId, ValueId> made_;  // of those
  std::map<ValueId, Rest> rest_;
  std::vector<StateId> states_;  // by pair
  StateId length_state_ = 0;
  size_t first_states_ = 0;
  ValueId length_ = 0, total_ = 0;  // i64[]: before and after the run
  std::map<std::pair<int64_t, uint32_t>, ValueId> sizes_;
  std::map<std::pair<int, size_t>, ValueId> valid_;
  std::string origin_;  // the node being rewritten
  size_t steps_ = 0;
  Status failure_;
};

}  // namespace ge
