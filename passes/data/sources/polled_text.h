// PolledText: the bytes of a text for a parser that takes iterators, which may be at it for seconds
// without a call back: looks at the caller's stop every 64 KiB. One thread.
#pragma once

#include <cstddef>
#include <iterator>

#include "passes/data/sources/source.h"

namespace ge::data {

class PolledText {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  PolledText(const char* at, const OpenOptions& options) : at_(at), options_(&options) {}
  reference operator*() const { return *at_; }
  PolledText& operator++() {
    constexpr uintptr_t kEvery = 64 << 10;  // bytes: a millisecond of a parser
    if (reinterpret_cast<uintptr_t>(++at_) % kEvery == 0) CheckStop(*options_);
    return *this;
  }
  PolledText operator++(int) {
    const PolledText before = *this;
    ++*this;
    return before;
  }
  bool operator==(const PolledText& other) const { return at_ == other.at_; }

 private:
  const char* at_;
  const OpenOptions* options_;
};

}  // namespace ge::data
