#include "ge/run/output_memory.h"

#include <fmt/format.h>

#include "ge/base/aligned.h"
#include "ge/run/tensor_view.h"

namespace ge {

namespace {

constexpr uint64_t kMostSpare = uint64_t{256} << 20;  // of outputs beyond it no more is taken

}  // namespace

OutputMemory::~OutputMemory() {
  for (const Made& m : made_) {
    m.out->data = m.data;
    m.out->bytes = m.bytes;
    m.out->owned = m.owned;
  }
}

Status OutputMemory::Reserve(std::string_view what, std::string_view name, uint64_t bytes,
                             TensorView* out) {
  if (out->data != nullptr && out->bytes >= bytes) {
    out->bytes = bytes;
    return {};
  }
  if (out->data != nullptr && !out->owned) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{} '{}' has {} bytes, its shape [{}] needs at least {}", what, name,
                              out->bytes, fmt::join(out->dims, ","), bytes));
  }
  // What was too small once grows on, as the rows of a decoder's past: by half, so that it does not
  // move for each of them.
  const bool grows = out->data != nullptr && out->bytes > 0 && bytes < kMostSpare;
  AlignedBytes memory = AllocateAligned(grows ? bytes + bytes / 2 : bytes, 64);
  if (!memory && grows) memory = AllocateAligned(bytes, 64);
  if (!memory) {
    return Status(Code::kResourceExhausted,
                  fmt::format("no memory for {} '{}' of {} bytes", what, name, bytes));
  }
  made_.push_back({out, std::move(memory), out->data, out->bytes, out->owned});
  out->data = made_.back().memory.get();
  out->bytes = bytes;
  out->owned = true;
  return {};
}

void OutputMemory::Leave(std::vector<AlignedBytes>* memory) {
  for (Made& m : made_) {
    memory->push_back(std::move(m.memory));
    m.out->data = m.data;
    m.out->bytes = m.bytes;
    m.out->owned = m.owned;
  }
  made_.clear();
}

void OutputMemory::Commit() {
  for (Made& m : made_) {
    FreeAligned()(m.data);
    (void)m.memory.release();
  }
  made_.clear();
}

Status CheckOverlap(const std::vector<Extent>& extents) {
  const auto begin = [](const Extent& e) { return static_cast<const char*>(e.data); };
  for (size_t i = 0; i < extents.size(); ++i) {
    const Extent& a = extents[i];
    if (!a.output || a.bytes == 0) continue;
    for (size_t j = 0; j < extents.size(); ++j) {
      const Extent& b = extents[j];
      if (i == j || (b.output && j < i)) continue;
      if (begin(a) < begin(b) + b.bytes && begin(b) < begin(a) + a.bytes) {
        return Status(Code::kInvalidArgument,
                      fmt::format("the buffers of output '{}' and {} '{}' overlap; give each its "
                                  "own memory",
                                  a.name, b.output ? "output" : "input", b.name));
      }
    }
  }
  return {};
}

}  // namespace ge
