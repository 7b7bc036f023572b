#include "ge/ops/families/tree_ensemble.h"

#include <fmt/format.h>

#include <algorithm>

#include "ge/ops/work.h"

namespace ge {
namespace {

// A tensor attribute must have that element type and, unless it is negative, that many elements.
Status WantTreeTensor(InferContext& c, std::string_view name, DTypeSet types, int64_t wanted) {
  const Const* k = TensorAttr(c, name);
  const auto count = k ? ElementCount(k->type) : std::nullopt;
  const bool fits = k != nullptr && (types & Bit(k->type.dtype)) != 0 && count &&
                    (wanted < 0 || *count == wanted);
  if (fits) return {};
  return Bad(c.node(), fmt::format("attribute '{}' is {}, wanted {} with {}", name,
                                   k ? TypeToString(k->type, c.dims()) : "no tensor",
                                   types == Bit(DType::kUint8) ? "a tensor of u8" : "floats",
                                   wanted < 0 ? "any size" : fmt::format("{} elements", wanted)));
}

Status WantTreeEnum(const Node& n, std::string_view name, int64_t most) {
  const int64_t found = AttrInt(n, name);
  if (found >= 0 && found <= most) return {};
  return Bad(n, fmt::format("attribute '{}' is {}, wanted 0 to {}", name, found, most));
}

Status InferTreeEnsemble(InferContext& c) {
  const Node& n = c.node();
  constexpr DTypeSet kReal = kFloats;
  const size_t nodes = ListLength(n, "nodes_featureids"), leaves = ListLength(n, "leaf_targetids");
  for (const char* list :
       {"nodes_falsenodeids", "nodes_truenodeids", "nodes_falseleafs", "nodes_trueleafs"}) {
    GE_RETURN_IF_ERROR(WantLength(n, list, nodes, "one for each entry of nodes_featureids"));
  }
  if (ListLength(n, "nodes_missing_value_tracks_true") > 0) {
    GE_RETURN_IF_ERROR(WantLength(n, "nodes_missing_value_tracks_true", nodes,
                                  "one for each entry of nodes_featureids"));
  }
  const auto count = static_cast<int64_t>(nodes);
  GE_RETURN_IF_ERROR(WantTreeTensor(c, "nodes_modes", Bit(DType::kUint8), count));
  GE_RETURN_IF_ERROR(WantTreeTensor(c, "nodes_splits", kReal, count));
  GE_RETURN_IF_ERROR(WantTreeTensor(c, "leaf_weights", kReal, static_cast<int64_t>(leaves)));
  if (HasAttr(n, "membership_values")) {
    GE_RETURN_IF_ERROR(WantTreeTensor(c, "membership_values", kReal, -1));
  }
  GE_RETURN_IF_ERROR(WantTreeEnum(n, "aggregate_function", 3));
  GE_RETURN_IF_ERROR(WantTreeEnum(n, "post_transform", 4));
  int64_t greatest = 0;
  for (const int64_t t : AttrInts(n, "leaf_targetids")) {
    if (t < 0)
      return Bad(n, fmt::format("attribute 'leaf_targetids' holds {}, wanted 0 or more", t));
    greatest = std::max(greatest, t);
  }
  const int64_t targets = AttrInt(n, "n_targets", greatest + 1);
  if (targets <= greatest || targets > kMostColumnsAsked) {
    return Bad(n, fmt::format("attribute 'n_targets' is {}, wanted more than {}, the greatest of "
                              "leaf_targetids, and at most {}",
                              targets, greatest, kMostColumnsAsked));
  }
  GE_ASSIGN_OR_RETURN(const Dim rows, RowsOfFeatures(c));
  return SetTensor(c, 0, c.input_type(0).dtype, {rows, KnownDim(targets)});
}

OpDef TreeEnsembleRecord() {
  constexpr DTypeSet kReal = Bit(DType::kFloat) | Bit(DType::kDouble) | Bit(DType::kFloat16);
  OpDef op{"ai.onnx.ml", "TreeEnsemble", 5, {{"X", kReal, "T"}}, {{"Y", kReal, "T"}}, {}};
  op.attrs = {{"aggregate_function", AttrKind::kInt, 1},
              {"leaf_targetids", AttrKind::kInts, true},
              {"leaf_weights", AttrKind::kTensor, true},
              {"membership_values", AttrKind::kTensor},
              {"n_targets", AttrKind::kInt},
              {"nodes_falseleafs", AttrKind::kInts, true},
              {"nodes_falsenodeids", AttrKind::kInts, true},
              {"nodes_featureids", AttrKind::kInts, true},
              {"nodes_hitrates", AttrKind::kTensor},
              {"nodes_missing_value_tracks_true", AttrKind::kInts},
              {"nodes_modes", AttrKind::kTensor, true},
              {"nodes_splits", AttrKind::kTensor, true},
              {"nodes_trueleafs", AttrKind::kInts, true},
              {"nodes_truenodeids", AttrKind::kInts, true},
              {"post_transform", AttrKind::kInt, 0},
              {"tree_roots", AttrKind::kInts, true}};
  op.infer = InferTreeEnsemble;
  op.work = PerOutput<1000>;
  return op;
}

}  // namespace

// Decision trees, inner nodes and leaves apart; leaves vote for targets with weights.
GE_OP(onnx_ml_tree_ensemble) = TreeEnsembleRecord();

}  // namespace ge
