// FlowValue: a value that steps of a run hand to each other where one plan cannot hold the whole
// run: a tensor, strings, a sequence, a map, an optional. Copies share bytes; shared bytes are not
// written. One thread at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "ge/base/status.h"
#include "ge/ir/type.h"

namespace ge {

// Memory of one tensor, aligned to 64 bytes.
class FlowBlock {
 public:
  // Null when there is no memory.
  static std::shared_ptr<FlowBlock> Make(uint64_t bytes);
  ~FlowBlock();
  FlowBlock(const FlowBlock&) = delete;
  FlowBlock& operator=(const FlowBlock&) = delete;
  std::byte* data() const { return data_; }
  uint64_t bytes() const { return bytes_; }

 private:
  explicit FlowBlock(uint64_t bytes) : bytes_(bytes) {}
  std::byte* data_ = nullptr;
  uint64_t bytes_;
};

// Sizes of a tensor's axes, held in place: values are handed around without allocating.
class FlowDims {
 public:
  static constexpr size_t kMost = 32;  // more than INFER lets any value have
  FlowDims() = default;
  FlowDims(const std::vector<int64_t>& dims)  // NOLINT: they are the same thing
      : FlowDims(dims.begin(), dims.end()) {}
  FlowDims(std::initializer_list<int64_t> dims) : FlowDims(dims.begin(), dims.end()) {}
  template <typename It>
  FlowDims(It begin, It end) {
    for (; begin != end && rank_ < kMost; ++begin) at_[rank_++] = *begin;
  }
  FlowDims(const FlowDims& dims) { *this = dims; }
  FlowDims& operator=(const FlowDims& dims) {
    if (this == &dims) return *this;
    rank_ = dims.rank_;
    std::copy(dims.begin(), dims.end(), at_);
    return *this;
  }
  size_t size() const { return rank_; }
  bool empty() const { return rank_ == 0; }
  void Erase(size_t axis) {
    std::copy(at_ + axis + 1, at_ + rank_, at_ + axis);
    --rank_;
  }
  int64_t& operator[](size_t i) { return at_[i]; }
  int64_t operator[](size_t i) const { return at_[i]; }
  int64_t* begin() { return at_; }
  int64_t* end() { return at_ + rank_; }
  const int64_t* begin() const { return at_; }
  const int64_t* end() const { return at_ + rank_; }
  std::vector<int64_t> vector() const { return {begin(), end()}; }
  // Product over the axes [from, to).
  int64_t Product(size_t from, size_t to) const;
  friend bool operator==(const FlowDims& left, const FlowDims& right) {
    return std::equal(left.begin(), left.end(), right.begin(), right.end());
  }

 private:
  size_t rank_ = 0;
  int64_t at_[kMost];
};

struct FlowValue {
  // kNone: an omitted input or output, or an empty optional.
  enum class Kind : uint8_t { kNone, kTensor, kSequence, kMap, kFunction };
  Kind kind = Kind::kNone;
  DType dtype = DType::kUndefined;  // of a tensor, of a sequence's elements, of a map's keys
  FlowDims dims;                    // of a tensor
  const std::byte* data = nullptr;  // plain row-major; null for strings
  uint64_t bytes = 0;
  std::shared_ptr<const void> owner;  // keeps `data`; null where the caller of the run does
  std::shared_ptr<const std::vector<std::string>> strings;
  // Of a sequence; of a map two vectors of one length, keys (int64 or strings) and values; of a
  // function its first arguments.
  std::shared_ptr<const std::vector<FlowValue>> elements;
  FunctionId fn = 0;  // of a function

  bool is_tensor() const { return kind == Kind::kTensor; }
  int64_t count() const { return dims.Product(0, dims.size()); }  // elements of a tensor
};

// Blocks to use again once no value holds them, by one run and then by the next: shapes run before
// allocate nothing. Serves one run at a time.
class FlowPool {
 public:
  // Frees blocks unused by the last kRunsKept runs.
  void EndRun();
  // Bytes that its blocks may take together.
  void SetLimit(uint64_t bytes) { limit_ = bytes; }
  // RESOURCE_EXHAUSTED with the size asked for, LIMIT_EXCEEDED where the run's values would take
  // more than the limit.
  Result<std::shared_ptr<FlowBlock>> Get(uint64_t bytes);
  // LIMIT_EXCEEDED where `bytes` more, of strings or sequences outside the pool's blocks, would be
  // too many.
  Status Room(uint64_t bytes);
  // Texts and elements of sequences count while anybody holds them.
  Status NewStrings(const FlowDims& dims, std::vector<std::string> strings, FlowValue* out);
  Status NewSequence(DType dtype, std::vector<FlowValue> elements, FlowValue* out);
  // A tensor to be written: *data is where.
  Status NewTensor(DType dtype, const FlowDims& dims, FlowValue* out, std::byte** data);

 private:
  struct Slot {
    std::shared_ptr<FlowBlock> block;
    int unused = 0;  // runs in a row
  };
  static constexpr int kRunsKept = 4;  // runs of two sizes in turns find their blocks
  // The size of a new block for so many bytes.
  uint64_t WithHeadroom(uint64_t bytes) const;
  // Bytes alive, idle blocks included.
  uint64_t Held();
  // Frees blocks unused for more than so many runs; -1: all that nobody uses now.
  void Drop(int runs);
  struct Counted {
    std::weak_ptr<const void> what;
    uint64_t bytes = 0;
  };
  uint64_t limit_ = UINT64_MAX, slot_bytes_ = 0;
  std::vector<Counted> counted_;  // that are no blocks
  std::vector<Slot> slots_;
};

// Memory taken by texts.
uint64_t BytesOf(const std::vector<std::string>& strings);
FlowValue SequenceOf(DType dtype, std::vector<FlowValue> elements);
// No key occurs twice; `keys` and `values` have as many elements.
FlowValue MapOf(FlowValue keys, FlowValue values);
FlowValue StringsOf(const FlowDims& dims, std::vector<std::string> strings);
// Elements of an integer or bool tensor, as int64.
std::vector<int64_t> IntsOf(const FlowValue& value);
// The only element of a tensor of int64, int32 or bool; INVALID_ARGUMENT with `what` otherwise.
Result<int64_t> OnlyInt(const FlowValue& value, std::string_view what);
// "f32[2,3]", "seq of 4".
std::string Describe(const FlowValue& value);

}  // namespace ge
