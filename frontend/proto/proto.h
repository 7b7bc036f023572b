// Our own serialized form (ge/wire/graph.proto): bytes <-> Graph. It checks enough to build a Graph
// that is safe to walk and print (ids in range, known enum values, limits). It is not VERIFY, the
// judge of whether that graph is legal. The caller owns the results. Any thread may call; nothing
// is shared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "ge/base/status.h"
#include "ge/ir/graph.h"

namespace ge {

struct ReadOptions {
  // Keeps the bytes of ReadProto alive. When set, constants point into them (Const::data); when
  // null every payload is copied, since the caller may free the bytes at once.
  std::shared_ptr<const void> owner;
  bool mapped = false;  // the bytes are a mapped file: sets Const::mapped
  // Everything but the constants' payloads; protobuf itself cannot take 2 GiB.
  uint64_t max_skeleton_bytes = 512u << 20;
  // Nodes, values, constants and the like together. Each costs about 200 bytes of memory.
  uint64_t max_items = 16'000'000;
  int max_depth = 64;  // of nested types and dimension expressions
};

// DATA_CORRUPT: the bytes do not parse. INVALID_GRAPH: they parse, but an id or an enum value means
// nothing. LIMIT_EXCEEDED: a limit of `options`. UNSUPPORTED: a newer ir_version.
Result<Graph> ReadProto(std::span<const std::byte> bytes, const ReadOptions& options);

// INVALID_GRAPH when an id is out of range, INTERNAL when the result cannot be serialized.
Result<std::string> WriteProto(const Graph& graph);

// True when the bytes begin as a file of this format does.
bool LooksLikeProto(std::span<const std::byte> bytes);

}  // namespace ge
