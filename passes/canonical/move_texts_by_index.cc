#include "passes/canonical/move_texts_by_index.h"

#include <algorithm>
#include <map>

#include "ge/ops/op.h"
#include "passes/purity.h"

namespace ge {
namespace {

// What an operator does with the elements of a tensor.
enum class Moves : uint8_t {
  kNothing,  // it looks at them, or this pass does not know it
  kThem,     // each element of a result is one of an input's
  kOrZero,   // the same, or a zero, which is the empty text
  kShape,    // a result has all elements of the input in their order
  kSizes,    // it asks for the shape of the input alone
};

struct Mover {
  std::string_view domain, op;
  Moves moves;
};
constexpr Mover kMovers[] = {
    {"", "CenterCropPad", Moves::kOrZero},
    {"", "Compress", Moves::kThem},
    {"", "DepthToSpace", Moves::kThem},
    {"", "Expand", Moves::kThem},
    {"", "Flatten", Moves::kShape},
    {"", "GatherElements", Moves::kThem},
    {"", "GatherND", Moves::kThem},
    {"", "GridSample", Moves::kOrZero},
    {"", "OneHot", Moves::kThem},
    {"", "Pad", Moves::kOrZero},
    {"", "RandomNormalLike", Moves::kSizes},
    {"", "RandomUniformLike", Moves::kSizes},
    {"", "Resize", Moves::kThem},
    {"", "ReverseSequence", Moves::kThem},
    {"", "ScatterElements", Moves::kThem},
    {"", "ScatterND", Moves::kThem},
    {"", "Slice", Moves::kThem},
    {"", "SpaceToDepth", Moves::kThem},
    {"", "Split", Moves::kThem},
    {"", "Squeeze", Moves::kShape},
    {"", "TensorScatter", Moves::kThem},
    {"", "Tile", Moves::kThem},
    {"", "Transpose", Moves::kThem},
    {"", "Trilu", Moves::kOrZero},
    {"", "Unsqueeze", Moves::kShape},
    {"", "Where", Moves::kThem},
    {"com.microsoft", "GatherND", Moves::kThem},
};

// As this node's attributes have it.
Moves MovesOf(const Node& n) {
  const auto mover = std::find_if(std::begin(kMovers), std::end(kMovers), [&](const Mover& m) {
    return m.op == n.op && m.domain == n.domain;
  });
  if (mover == std::end(kMovers)) return Moves::kNothing;
  const bool scatters = n.op == "ScatterElements" || n.op == "ScatterND";
  if (scatters && AttrString(n, "reduction") != "none") return Moves::kNothing;
  const bool samples = n.op == "Resize" || n.op == "GridSample";
  if (samples && AttrString(n, "mode") != "nearest") return Moves::kNothing;
  // Beyond its edges it gives a number of its own.
  const bool crops = AttrString(n, "coordinate_transformation_mode") == "tf_crop_and_resize";
  if (n.op == "Resize" && crops) return Moves::kNothing;
  return mover->moves;
}

bool IsText(const Function& f, ValueId v) {
  return v != 0 && f.value(v).type.is_tensor() && f.value(v).type.dtype == DType::kString;
}

Type WithDType(Type type, DType dtype) {
  type.dtype = dtype;
  return type;
}

Const IntConst(const std::vector<int64_t>& dims, int64_t value) {
  return MakeConst(TensorType(DType::kInt64, dims), &value, sizeof value);
}

// One node's texts: all that it reads stand behind each other in a table.
class TextMover {
 public:
  // `node`: a copy, since edits move nodes.
  TextMover(Transaction* transaction, FunctionId fn, Node node)
      : t_(*transaction), fn_(fn), node_(std::move(node)) {}

  void Run(Moves moves) {
    next_ = t_.AddConst(fn_, IntConst({}, moves == Moves::kOrZero ? 1 : 0));
    if (moves == Moves::kOrZero) AddEmptyText();
    std::vector<ValueId> inputs = node_.inputs;
    for (ValueId& v : inputs) {
      if (IsText(F(), v)) v = NumbersOf(v);
    }
    if (moves == Moves::kSizes) return t_.SetInput(fn_, node_.id, 0, inputs[0]);
    std::vector<Type> types;
    for (const ValueId v : node_.outputs) {
      const Type& type = F().value(v).type;
      types.push_back(IsText(F(), v) ? WithDType(type, DType::kInt64) : type);
    }
    const std::vector<ValueId> moved =
        t_.AddNode(fn_, node_.id, node_.domain, node_.op, inputs, node_.attrs, types, {&node_});
    for (size_t i = 0; i < moved.size(); ++i) {
      const ValueId out = node_.outputs[i];
      if (out == 0) continue;
      t_.ReplaceUses(fn_, out, IsText(F(), out) ? TextsOf(moved[i], out, moves) : moved[i]);
    }
    t_.Erase(fn_, node_.id);
  }

 private:
  const Function& F() const { return t_.graph().fn(fn_); }

  ValueId Add(const char* op, std::vector<ValueId> inputs, Type type,
              std::vector<Attr> attrs = {}) {
    return t_.AddNode(fn_, node_.id, "", op, std::move(inputs), std::move(attrs), {std::move(type)},
                      {&node_})[0];
  }

  ValueId Reshaped(ValueId v, ValueId shape, Type type) {
    return Add("Reshape", {v, shape}, std::move(type), {Attr{"allowzero", int64_t{1}}});
  }

  void AddEmptyText() {
    Const none;
    none.type = TensorType(DType::kString, std::vector<int64_t>{1});
    none.strings = {""};
    table_.push_back(t_.AddConst(fn_, std::move(none)));
  }

  // Of texts that are not in the table yet, which get the next places of it.
  ValueId NumbersOf(ValueId texts) {
    const auto known = numbers_.find(texts);
    if (known != numbers_.end()) return known->second;
    const Type type = F().value(texts).type;
    const Type scalar = TensorType(DType::kInt64, std::vector<int64_t>{});
    const Type list = UnrankedTensor(DType::kInt64);
    const ValueId count = Add("Size", {texts}, scalar);
    const ValueId end = Add("Add", {next_, count}, scalar);
    const ValueId one = t_.AddConst(fn_, IntConst({}, 1));
    const ValueId range = Add("Range", {next_, end, one}, list);
    const ValueId shape = Add("Shape", {texts}, list);
    next_ = end;
    const bool flat = type.ranked && type.rank() == 1;
    const ValueId all = flat ? 0 : t_.AddConst(fn_, IntConst({1}, -1));
    table_.push_back(flat ? texts : Reshaped(texts, all, UnrankedTensor(DType::kString)));
    return numbers_[texts] = Reshaped(range, shape, WithDType(type, DType::kInt64));
  }

  // What takes the place of the text output `out`, whose numbers are `numbers`.
  ValueId TextsOf(ValueId numbers, ValueId out, Moves moves) {
    const Type type = F().value(out).type;
    if (moves == Moves::kShape) {  // the texts themselves need not be copied
      return Reshaped(node_.inputs[0], Add("Shape", {numbers}, UnrankedTensor(DType::kInt64)),
                      type);
    }
    if (table_.size() > 1) {
      table_ = {Add("Concat", table_, UnrankedTensor(DType::kString), {Attr{"axis", int64_t{0}}})};
    }
    return Add("Gather", {table_[0], numbers}, type, {Attr{"axis", int64_t{0}}});
  }

  Transaction& t_;
  const FunctionId fn_;
  const Node node_;
  ValueId next_ = 0;                    // a scalar: the place behind the last one
  std::vector<ValueId> table_;          // parts of the table, each of one axis
  std::map<ValueId, ValueId> numbers_;  // by texts
};

}  // namespace

Status MoveTextsByIndex::Run(Transaction& transaction, const PassContext&) {
  const Graph& g = transaction.graph();
  for (FunctionId fn = 1; fn < g.functions.size(); ++fn) {
    const size_t count = g.fn(fn).nodes.size();
    for (size_t i = 0; i < count; ++i) {
      const Node& n = g.fn(fn).nodes[i];
      const auto text = [&](ValueId v) { return IsText(g.fn(fn), v); };
      if (!n.id || std::none_of(n.inputs.begin(), n.inputs.end(), text)) continue;
      const Moves moves = MovesOf(n);
      const bool makes = std::any_of(n.outputs.begin(), n.outputs.end(), text);
      const bool sizes = moves == Moves::kSizes;
      if (moves == Moves::kNothing || makes == sizes || (!sizes && !IsPure(g, n))) continue;
      TextMover(&transaction, fn, n).Run(moves);
    }
  }
  return {};
}

}  // namespace ge
