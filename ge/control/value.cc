#include "ge/control/value.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "ge/base/checked.h"

namespace ge {

std::shared_ptr<FlowBlock> FlowBlock::Make(uint64_t bytes) {
  const uint64_t size = (std::max<uint64_t>(bytes, 1) + 63) / 64 * 64;
  if (size < bytes) return nullptr;
  std::shared_ptr<FlowBlock> block(new FlowBlock(size));  // first: there may be no room for it
  block->data_ = static_cast<std::byte*>(std::aligned_alloc(64, size));
  return block->data_ == nullptr ? nullptr : block;
}

FlowBlock::~FlowBlock() { std::free(data_); }

int64_t FlowDims::Product(size_t from, size_t to) const {
  int64_t n = 1;
  for (size_t i = from; i < to; ++i) n *= at_[i];
  return n;
}

Result<std::shared_ptr<FlowBlock>> FlowPool::Get(uint64_t bytes) {
  Slot* best = nullptr;
  for (Slot& s : slots_) {
    // Only the pool has it. A block of more than twice the size would be wasted.
    const bool fits =
        s.block.use_count() == 1 && s.block->bytes() >= bytes && s.block->bytes() / 2 <= bytes + 64;
    if (fits && (best == nullptr || s.block->bytes() < best->block->bytes())) best = &s;
  }
  if (best == nullptr) {
    const uint64_t roomy = WithHeadroom(bytes);
    GE_RETURN_IF_ERROR(Room(bytes));
    auto made = FlowBlock::Make(roomy);
    if (!made) {
      return Status(Code::kResourceExhausted,
                    fmt::format("no memory for a tensor of {} bytes", bytes));
    }
    slot_bytes_ += made->bytes();
    slots_.push_back({std::move(made), -1});
    return slots_.back().block;
  }
  // Who held it last may have been another thread, whose reads end before our writes.
  std::atomic_thread_fence(std::memory_order_acquire);
  best->unused = -1;  // EndRun counts this run
  return best->block;
}

// A block waits that was large enough a moment ago: the tensor grows, as a loop does that appends
// to its own result, and would want another block at each trip.
uint64_t FlowPool::WithHeadroom(uint64_t bytes) const {
  constexpr uint64_t kLarge = 1 << 20;  // smaller ones cost little to make
  // Of the limit: what is not used there may be what a later tensor lacks.
  if (bytes < kLarge || slot_bytes_ > limit_ / 4 || bytes > limit_ / 8) return bytes;
  const auto outgrown = [&](const Slot& s) {
    return s.block.use_count() == 1 && s.block->bytes() < bytes && s.block->bytes() >= bytes / 2;
  };
  return std::any_of(slots_.begin(), slots_.end(), outgrown) ? bytes + bytes / 2 : bytes;
}

uint64_t FlowPool::Held() {
  std::erase_if(counted_, [](const Counted& c) { return c.what.expired(); });
  uint64_t sum = slot_bytes_;
  for (const Counted& c : counted_) sum += c.bytes;
  return sum;
}

void FlowPool::Drop(int runs) {
  std::erase_if(slots_, [&](const Slot& s) {
    const bool gone = s.unused > runs || (runs < 0 && s.block.use_count() == 1);
    if (gone) slot_bytes_ -= s.block->bytes();
    return gone;
  });
}

Status FlowPool::Room(uint64_t bytes) {
  const auto fits = [&] {
    const uint64_t held = Held();
    return held <= limit_ && bytes <= limit_ - held;
  };
  if (fits()) return {};
  Drop(-1);
  if (fits()) return {};
  return Status(Code::kLimitExceeded,
                fmt::format("the values of this run take {} bytes, {} more are beyond the limit of "
                            "{}; use smaller inputs or raise the limit (ge: --memory-limit, ge.h: "
                            "memory_limit_bytes)",
                            Held(), bytes, limit_));
}

void FlowPool::EndRun() {
  for (Slot& s : slots_) ++s.unused;
  Drop(kRunsKept);
}

Status FlowPool::NewStrings(const FlowDims& dims, std::vector<std::string> strings,
                            FlowValue* out) {
  const uint64_t bytes = BytesOf(strings);
  GE_RETURN_IF_ERROR(Room(bytes));
  *out = StringsOf(dims, std::move(strings));
  counted_.push_back({out->strings, bytes});
  return {};
}

Status FlowPool::NewSequence(DType dtype, std::vector<FlowValue> elements, FlowValue* out) {
  const uint64_t bytes = elements.capacity() * sizeof(FlowValue);
  GE_RETURN_IF_ERROR(Room(bytes));
  *out = SequenceOf(dtype, std::move(elements));
  counted_.push_back({out->elements, bytes});
  return {};
}

Status FlowPool::NewTensor(DType dtype, const FlowDims& dims, FlowValue* out, std::byte** data) {
  const auto count = CheckedProduct(std::span(dims.begin(), dims.end()));
  const auto bytes = count ? DTypeBytes(dtype, *count) : std::nullopt;
  if (!bytes) {
    return Status(Code::kLimitExceeded,
                  fmt::format("a tensor of {}[{}] has more bytes than 63 bits count",
                              DTypeName(dtype), fmt::join(dims, ",")));
  }
  GE_ASSIGN_OR_RETURN(auto block, Get(static_cast<uint64_t>(*bytes)));
  out->kind = FlowValue::Kind::kTensor;
  out->dtype = dtype;
  out->dims = dims;
  out->bytes = static_cast<uint64_t>(*bytes);
  out->data = block->data();
  out->strings = nullptr;
  out->elements = nullptr;
  *data = block->data();
  out->owner = std::move(block);
  return {};
}

uint64_t BytesOf(const std::vector<std::string>& strings) {
  uint64_t bytes = strings.capacity() * sizeof(std::string);
  // Short ones lie in the record.
  for (const std::string& s : strings) bytes += s.size() < sizeof(std::string) / 2 ? 0 : s.size();
  return bytes;
}

FlowValue SequenceOf(DType dtype, std::vector<FlowValue> elements) {
  FlowValue v;
  v.kind = FlowValue::Kind::kSequence;
  v.dtype = dtype;
  v.elements = std::make_shared<const std::vector<FlowValue>>(std::move(elements));
  return v;
}

FlowValue MapOf(FlowValue keys, FlowValue values) {
  FlowValue v;
  v.kind = FlowValue::Kind::kMap;
  v.dtype = keys.dtype;
  v.elements = std::make_shared<const std::vector<FlowValue>>(
      std::vector<FlowValue>{std::move(keys), std::move(values)});
  return v;
}

FlowValue StringsOf(const FlowDims& dims, std::vector<std::string> strings) {
  FlowValue v;
  v.kind = FlowValue::Kind::kTensor;
  v.dtype = DType::kString;
  v.dims = dims;
  v.strings = std::make_shared<const std::vector<std::string>>(std::move(strings));
  return v;
}

namespace {

template <typename T>
int64_t At(const FlowValue& v, int64_t i) {
  T x;
  std::memcpy(&x, v.data + static_cast<uint64_t>(i) * sizeof(T), sizeof(T));
  return static_cast<int64_t>(x);
}

int64_t IntAt(const FlowValue& v, int64_t i) {
  switch (v.dtype) {
    case DType::kInt64:
    case DType::kUint64:
      return At<int64_t>(v, i);
    case DType::kInt32:
      return At<int32_t>(v, i);
    case DType::kUint32:
      return At<uint32_t>(v, i);
    case DType::kInt16:
      return At<int16_t>(v, i);
    case DType::kUint16:
      return At<uint16_t>(v, i);
    case DType::kInt8:
      return At<int8_t>(v, i);
    default:
      return At<uint8_t>(v, i);
  }
}

}  // namespace

std::vector<int64_t> IntsOf(const FlowValue& value) {
  std::vector<int64_t> out(static_cast<size_t>(value.count()));
  for (size_t i = 0; i < out.size(); ++i) out[i] = IntAt(value, static_cast<int64_t>(i));
  return out;
}

Result<int64_t> OnlyInt(const FlowValue& value, std::string_view what) {
  const bool whole = IsInteger(value.dtype) || value.dtype == DType::kBool;
  if (!value.is_tensor() || !whole || DTypeBits(value.dtype) < 8 || value.count() != 1) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{} is {}, wanted one integer or bool", what, Describe(value)));
  }
  return IntAt(value, 0);
}

std::string Describe(const FlowValue& value) {
  switch (value.kind) {
    case FlowValue::Kind::kNone:
      return "nothing";
    case FlowValue::Kind::kTensor:
      return fmt::format("{}[{}]", DTypeName(value.dtype), fmt::join(value.dims, ","));
    case FlowValue::Kind::kFunction:
      return fmt::format("a function that was given {} values", value.elements->size());
    case FlowValue::Kind::kMap:
      return fmt::format("a map of {} entries", (*value.elements)[0].count());
    default:
      return fmt::format("a sequence of {}", value.elements->size());
  }
}

}  // namespace ge
