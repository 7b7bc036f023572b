// Our keys of Graph::meta: data kept by an importer beside the model's own metadata_props.
#pragma once

#include <string_view>

namespace ge {

// Fields of ONNX's ModelProto.
inline constexpr const char* kProducerVersionKey = "ge.model.producer_version";
inline constexpr const char* kModelDomainKey = "ge.model.domain";
inline constexpr const char* kModelDocKey = "ge.model.doc_string";
inline constexpr const char* kModelVersionKey = "ge.model.version";
// The opset of ai.onnx for which the model was written.
inline constexpr const char* kSourceOpsetKey = "ge.source_opset";
// With an output's name behind it: the rank declared by the model where sizes are not kept.
inline constexpr const char* kSourceRankKey = "ge.source_rank.";

// No key of a model's own may begin so.
inline bool IsOwnMeta(std::string_view key) {
  return key.starts_with("ge.model.") || key.starts_with("ge.source_");
}

}  // namespace ge
