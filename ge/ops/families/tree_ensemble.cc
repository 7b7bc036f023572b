#include "ge/ops/families/tree_ensemble.h"

#include <fmt/format.h>

#include <algorithm>

namespace ge {
namespace {

constexpr const char* kAsNodes = "one for each entry of nodes_nodeids";

Status WantTreeModes(const Node& n) {
  static constexpr std::string_view kKnown[] = {
      "BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ", "LEAF"};
  const Attr* a = n.attr("nodes_modes");
  const auto* modes = a ? std::get_if<std::vector<std::string>>(&a->value) : nullptr;
  for (size_t i = 0; modes != nullptr && i < modes->size(); ++i) {
    if (std::find(std::begin(kKnown), std::end(kKnown), (*modes)[i]) != std::end(kKnown)) continue;
    return Bad(n, fmt::format("attribute 'nodes_modes' holds '{:.64}' at {}, wanted BRANCH_LEQ, "
                              "BRANCH_LT, BRANCH_GTE, BRANCH_GT, BRANCH_EQ, BRANCH_NEQ or LEAF",
                              (*modes)[i], i));
  }
  return {};
}

// The list or its _as_tensor form.
Status WantWeightCount(InferContext& c, const std::string& name, size_t wanted, const char* as) {
  GE_ASSIGN_OR_RETURN(const size_t found, WeightCount(c, name));
  if (found == wanted) return {};
  return Bad(c.node(),
             fmt::format("attribute '{}' has {} entries, wanted {}: {}", name, found, wanted, as));
}

}  // namespace

Status WantTreeLists(InferContext& context, const std::string& votes, int64_t choices) {
  const Node& n = context.node();
  const size_t nodes = ListLength(n, "nodes_nodeids");
  if (nodes == 0) return Bad(n, "attribute 'nodes_nodeids' has no entries, wanted at least 1 node");
  for (const char* list : {"nodes_treeids", "nodes_featureids", "nodes_falsenodeids",
                           "nodes_truenodeids", "nodes_modes"}) {
    GE_RETURN_IF_ERROR(WantLength(n, list, nodes, kAsNodes));
  }
  GE_RETURN_IF_ERROR(WantWeightCount(context, "nodes_values", nodes, kAsNodes));
  if (ListLength(n, "nodes_missing_value_tracks_true") > 0) {
    GE_RETURN_IF_ERROR(WantLength(n, "nodes_missing_value_tracks_true", nodes, kAsNodes));
  }
  GE_RETURN_IF_ERROR(WantTreeModes(n));
  const size_t count = ListLength(n, votes + "_ids");
  const std::string as = fmt::format("one for each entry of {}_ids", votes);
  GE_RETURN_IF_ERROR(WantLength(n, votes + "_treeids", count, as));
  GE_RETURN_IF_ERROR(WantLength(n, votes + "_nodeids", count, as));
  GE_RETURN_IF_ERROR(WantWeightCount(context, votes + "_weights", count, as.c_str()));
  for (const int64_t id : AttrInts(n, votes + "_ids")) {
    if (id >= 0 && id < choices) continue;
    return Bad(n,
               fmt::format("attribute '{}_ids' holds {}, wanted 0 to {}", votes, id, choices - 1));
  }
  return {};
}

std::vector<AttrDef> TreeListAttrs(const std::string& votes) {
  std::vector<AttrDef> attrs = {{"base_values", AttrKind::kFloats},
                                {"base_values_as_tensor", AttrKind::kTensor},
                                {"nodes_falsenodeids", AttrKind::kInts},
                                {"nodes_featureids", AttrKind::kInts},
                                {"nodes_hitrates", AttrKind::kFloats},
                                {"nodes_hitrates_as_tensor", AttrKind::kTensor},
                                {"nodes_missing_value_tracks_true", AttrKind::kInts},
                                {"nodes_modes", AttrKind::kStrings},
                                {"nodes_nodeids", AttrKind::kInts},
                                {"nodes_treeids", AttrKind::kInts},
                                {"nodes_truenodeids", AttrKind::kInts},
                                {"nodes_values", AttrKind::kFloats},
                                {"nodes_values_as_tensor", AttrKind::kTensor},
                                {"post_transform", AttrKind::kString, "NONE"}};
  const bool classes = votes == "class";
  attrs.push_back({classes ? "class_ids" : "target_ids", AttrKind::kInts});
  attrs.push_back({classes ? "class_nodeids" : "target_nodeids", AttrKind::kInts});
  attrs.push_back({classes ? "class_treeids" : "target_treeids", AttrKind::kInts});
  attrs.push_back({classes ? "class_weights" : "target_weights", AttrKind::kFloats});
  attrs.push_back(
      {classes ? "class_weights_as_tensor" : "target_weights_as_tensor", AttrKind::kTensor});
  return attrs;
}

}  // namespace ge
