#include "passes/canonical/transpose_images.h"

#include "passes/recognise/pattern.h"

namespace ge {
namespace {

using Dims = std::vector<int64_t>;

bool SwapsRows(const Node* n) { return n && AttrInts(*n, "perm") == Dims{0, 2, 1}; }

// The shape of a value, empty where it is not known or has not so many axes.
Dims ShapeOf(const Pattern& p, ValueId v, size_t rank) {
  const Type& type = p.TypeOf(v);
  return type.is_static() && type.rank() == rank ? type.static_dims() : Dims();
}

// Two nodes in the place of the pattern's: `first` of x with that shape, then `second`.
struct Step {
  const char* op;
  Dims shape;  // of the result; of a Reshape also what it is given
  Dims perm;
};
void Replace(Transaction& t, FunctionId fn, Pattern* p, ValueId x, ValueId out, const Step& first,
             const Step& second) {
  const Node* last = t.Producer(fn, out);
  ValueId v = x;
  for (const Step* step : {&first, &second}) {
    std::vector<ValueId> inputs = {v};
    std::vector<Attr> attrs;
    if (step->perm.empty()) {
      const Type wanted = TensorType(DType::kInt64, Dims{static_cast<int64_t>(step->shape.size())});
      inputs.push_back(t.AddConst(
          fn, MakeConst(wanted, step->shape.data(), step->shape.size() * sizeof(int64_t))));
      attrs.push_back({"allowzero", int64_t{1}});  // a size of none is meant as such
    } else {
      attrs.push_back({"perm", step->perm});
    }
    if (step == &second) return p->Replace(out, step->op, std::move(inputs), std::move(attrs));
    v = t.AddNode(fn, last->id, "", step->op, std::move(inputs), std::move(attrs),
                  {TensorType(p->TypeOf(x).dtype, step->shape)}, {last})[0];
    last = t.Producer(fn, out);
  }
}

// Transpose, then Reshape to [N,C,H,W].
void RowsToImage(Transaction& t, FunctionId fn, ValueId out) {
  Pattern p(&t, fn);
  const Node* reshape = p.Made(out, "Reshape");
  const Node* transpose = reshape ? p.Made(reshape->inputs[0], "Transpose") : nullptr;
  if (!SwapsRows(transpose)) return;
  const ValueId x = transpose->inputs[0];
  const Dims rows = ShapeOf(p, x, 3), image = ShapeOf(p, out, 4);
  if (rows.empty() || image.empty() || rows[0] != image[0] || rows[2] != image[1]) return;
  p.Take(reshape->inputs[0]);
  p.Take(out);
  if (!p.Closed(out)) return;
  Replace(t, fn, &p, x, out, {"Reshape", {image[0], image[2], image[3], image[1]}, {}},
          {"Transpose", image, {0, 3, 1, 2}});
}

// Reshape from [N,C,H,W], then Transpose.
void ImageToRows(Transaction& t, FunctionId fn, ValueId out) {
  Pattern p(&t, fn);
  const Node* transpose = p.Made(out, "Transpose");
  const Node* reshape = SwapsRows(transpose) ? p.Made(transpose->inputs[0], "Reshape") : nullptr;
  if (!reshape) return;
  const ValueId x = reshape->inputs[0];
  const Dims image = ShapeOf(p, x, 4), rows = ShapeOf(p, out, 3);
  if (rows.empty() || image.empty() || rows[0] != image[0] || rows[2] != image[1]) return;
  p.Take(transpose->inputs[0]);
  p.Take(out);
  if (!p.Closed(out)) return;
  Replace(t, fn, &p, x, out, {"Transpose", {image[0], image[2], image[3], image[1]}, {0, 2, 3, 1}},
          {"Reshape", rows, {}});
}

}  // namespace

Status TransposeImages::Run(Transaction& transaction, const PassContext&) {
  for (FunctionId fn = 1; fn < transaction.graph().functions.size(); ++fn) {
    const size_t count = transaction.graph().fn(fn).nodes.size();
    for (size_t i = 0; i < count; ++i) {
      const Node& n = transaction.graph().fn(fn).nodes[i];
      if (!n.id || n.outputs.size() != 1 || !n.outputs[0]) continue;
      const ValueId out = n.outputs[0];
      if (n.op == "Reshape") {
        RowsToImage(transaction, fn, out);
      } else if (n.op == "Transpose") {
        ImageToRows(transaction, fn, out);
      }
    }
  }
  return {};
}

}  // namespace ge
