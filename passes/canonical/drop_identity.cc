#include "passes/canonical/drop_identity.h"

#include <algorithm>
#include <set>

#include "passes/recognise/pattern.h"

namespace ge {
namespace {

// Of these the result holds the elements of input 0 in their order, once where the shape is the
// same.
const std::set<std::string_view> kShapers = {"Expand",  "Flatten", "Reshape",
                                             "Squeeze", "Tile",    "Unsqueeze"};

bool KeepsOrder(const Node& n) {
  const std::vector<int64_t> perm = AttrInts(n, "perm");
  for (size_t i = 0; i < perm.size(); ++i) {
    if (perm[i] != static_cast<int64_t>(i)) return false;
  }
  return !perm.empty();
}

// Slices of the whole, since the shape stays, that go forward on every axis.
bool GoesForward(const Node& n, const Pattern& p) {
  if (n.inputs.size() < 5 || !n.inputs[4]) return true;
  const auto steps = p.Integers(n.inputs[4]);
  return steps && std::all_of(steps->begin(), steps->end(), [](int64_t s) { return s == 1; });
}

bool HandsOn(const Function& f, const Node& n, const Pattern& p) {
  if (!n.id || !n.domain.empty() || !n.effects.empty() || n.outputs.size() != 1) return false;
  if (n.inputs.empty() || !n.inputs[0] || !n.outputs[0]) return false;
  if (n.op == "Identity") return n.inputs.size() == 1;
  const Type &x = f.value(n.inputs[0]).type, &y = f.value(n.outputs[0]).type;
  if (!x.is_tensor() || !y.is_tensor() || x.dtype != y.dtype || x.dtype == DType::kUndefined) {
    return false;
  }
  if (n.op == "Cast" || n.op == "CastLike") return true;
  if (n.op == "Concat") return n.inputs.size() == 1;
  if (n.op == "Transpose") return KeepsOrder(n);
  if (!x.ranked || !y.ranked || x.dims != y.dims) return false;
  return kShapers.count(n.op) > 0 || (n.op == "Slice" && GoesForward(n, p));
}

}  // namespace

Status DropIdentity::Run(Transaction& transaction, const PassContext&) {
  for (FunctionId fn = 1; fn < transaction.graph().functions.size(); ++fn) {
    const size_t count = transaction.graph().fn(fn).nodes.size();
    for (size_t i = 0; i < count; ++i) {
      const Node& n = transaction.graph().fn(fn).nodes[i];
      if (!HandsOn(transaction.graph().fn(fn), n, Pattern(&transaction, fn))) continue;
      if (!transaction.CanReplace(fn, n.outputs[0], n.inputs[0])) continue;
      const Node* producer = transaction.Producer(fn, n.inputs[0]);
      if (producer) transaction.AddOrigin(fn, producer->id, n);
      transaction.ReplaceUses(fn, n.outputs[0], n.inputs[0]);
      transaction.Erase(fn, n.id);
    }
  }
  return {};
}

}  // namespace ge
