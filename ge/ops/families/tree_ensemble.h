// Shared by the rules of the tree ensembles of ai.onnx.ml: checks that the lists of nodes and of
// votes agree. The engine that builds the trees checks their links. Any thread.
#pragma once

#include "ge/ops/families/feature_rows.h"

namespace ge {

// The lists nodes_* of TreeEnsembleRegressor and TreeEnsembleClassifier, and those of the votes:
// `votes` is "target" or "class", and each vote is for one of `choices`.
Status WantTreeLists(InferContext& context, const std::string& votes, int64_t choices);
// Attributes of both: those of the nodes and of the votes.
std::vector<AttrDef> TreeListAttrs(const std::string& votes);

}  // namespace ge
