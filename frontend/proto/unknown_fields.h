// Unknown fields of a lite message: bytes without a name in this version's .proto. protobuf's lite
// runtime keeps them but gives proto3 messages no accessor, so this header reaches the base class's
// own record of them; nothing else in the project touches protobuf's internals.
#pragma once

#include <google/protobuf/generated_message_util.h>
#include <google/protobuf/message_lite.h>

#include <string>

namespace ge::proto {

struct UnknownFieldAccess : google::protobuf::MessageLite {
  static constexpr auto Metadata() { return &UnknownFieldAccess::_internal_metadata_; }
};

inline std::string UnknownFields(const google::protobuf::MessageLite& message) {
  const auto& metadata = message.*UnknownFieldAccess::Metadata();
  if (!metadata.have_unknown_fields()) return {};
  return metadata.unknown_fields<std::string>(google::protobuf::internal::GetEmptyString);
}

inline void SetUnknownFields(const std::string& bytes, google::protobuf::MessageLite* message) {
  if (bytes.empty()) return;
  *(message->*UnknownFieldAccess::Metadata()).mutable_unknown_fields<std::string>() = bytes;
}

}  // namespace ge::proto
