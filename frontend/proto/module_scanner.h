// Cuts the bytes of a wire.Module into a small skeleton for protobuf and the constants' payloads.
// These stay in place (protobuf would copy each of them). It checks framing only, never meaning.
// Pure; any thread may call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ge/base/status.h"

namespace ge::proto {

struct ConstPiece {
  std::string skeleton;  // a wire.Const without its `inline` field
  bool has_payload = false;
  std::span<const std::byte> payload;  // into the scanned bytes
};

struct ModulePieces {
  std::string skeleton;  // a wire.Module without its `consts` field
  std::vector<ConstPiece> consts;
};

// DATA_CORRUPT naming the byte offset; LIMIT_EXCEEDED past `max_skeleton_bytes` or `max_consts`.
Result<ModulePieces> ScanModule(std::span<const std::byte> bytes, uint64_t max_skeleton_bytes,
                                uint64_t max_consts);

}  // namespace ge::proto
