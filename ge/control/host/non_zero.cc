#include <fmt/format.h>

#include <cstring>
#include <limits>

#include "ge/control/host_op.h"
#include "ge/ops/op.h"

namespace ge {
namespace {

// Elements as words: both zeros of floating types are zero, which only the word's highest bit tells
// apart. An element of 16 bytes is two words.
template <typename Word, uint64_t kWords>
class Elements {
 public:
  explicit Elements(const FlowValue& x) : from_(x.data), count_(x.count()) {
    if (IsFloat(x.dtype)) mask_ = static_cast<Word>(mask_ >> 1);
  }
  int64_t CountNonZero() const {
    int64_t found = 0;
    for (int64_t i = 0; i < count_; ++i) found += IsNonZero(i);
    return found;
  }
  // Indices of the elements that are not zero, a row for each axis.
  void Find(const FlowDims& dims, int64_t found, int64_t* y) const {
    const auto rank = static_cast<int64_t>(dims.size());
    for (int64_t i = 0, k = 0; k < found; ++i) {
      if (!IsNonZero(i)) continue;
      int64_t rest = i;
      for (int64_t d = rank - 1; d > 0; --d) {
        const int64_t size = dims[static_cast<size_t>(d)];
        y[d * found + k] = rest % size;
        rest /= size;
      }
      if (rank > 0) y[k] = rest;
      ++k;
    }
  }

 private:
  bool IsNonZero(int64_t i) const {
    Word any = 0;
    for (uint64_t w = 0; w < kWords; ++w) {
      Word word;
      std::memcpy(&word, from_ + (static_cast<uint64_t>(i) * kWords + w) * sizeof(Word),
                  sizeof(Word));
      any = static_cast<Word>(any | (word & mask_));
    }
    return any != 0;
  }

  const std::byte* from_;
  const int64_t count_;
  Word mask_ = std::numeric_limits<Word>::max();
};

template <typename Word, uint64_t kWords = 1>
Status FindNonZero(HostCall& c, const FlowValue& x) {
  const Elements<Word, kWords> elements(x);
  const int64_t found = elements.CountNonZero();
  std::byte* to = nullptr;
  const auto rank = static_cast<int64_t>(x.dims.size());
  GE_RETURN_IF_ERROR(c.pool->NewTensor(DType::kInt64, {rank, found}, &c.outputs[0], &to));
  elements.Find(x.dims, found, reinterpret_cast<int64_t*>(to));
  return {};
}

// The zero of texts is the empty one.
Status FindTexts(HostCall& c) {
  const FlowValue& x = c.in(0);
  FlowValue some;
  std::byte* to = nullptr;
  GE_RETURN_IF_ERROR(c.pool->NewTensor(DType::kBool, x.dims, &some, &to));
  for (const std::string& text : *x.strings) *to++ = static_cast<std::byte>(text.empty() ? 0 : 1);
  return FindNonZero<uint8_t>(c, some);
}

Status RunNonZero(HostCall& c) {
  const FlowValue& x = c.in(0);
  if (x.strings) return FindTexts(c);
  const auto each = static_cast<uint64_t>(DTypeBits(x.dtype) / 8);
  switch (each) {
    case 1:
      return FindNonZero<uint8_t>(c, x);
    case 2:
      return FindNonZero<uint16_t>(c, x);
    case 4:
      return FindNonZero<uint32_t>(c, x);
    case 8:
      return FindNonZero<uint64_t>(c, x);
    case 16:
      return FindNonZero<uint64_t, 2>(c, x);
    default:
      return Status(Code::kUnsupported, fmt::format("NonZero of {} is not run", Describe(x)));
  }
}

}  // namespace

GE_HOST_OP(non_zero) = {"", "NonZero", RunNonZero};

}  // namespace ge
