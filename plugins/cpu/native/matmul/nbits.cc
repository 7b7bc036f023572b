#include "plugins/cpu/native/matmul/nbits.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace ge_engines::cpu::native {
namespace {

// Weight i of bytes with the low bits first.
uint32_t Int8At(const uint8_t* bytes, int64_t i, int bits) {
  const int64_t at = i * bits;
  return bytes[at / 8] >> (at % 8) & ((1u << bits) - 1);
}

// The weights of a word in reverse: the first moves from the lowest to the highest bits.
uint32_t FirstOnTop(uint32_t word, int bits) {
  if (bits <= 2) word = (word & 0x33333333u) << 2 | (word >> 2 & 0x33333333u);
  if (bits <= 4) word = (word & 0x0f0f0f0fu) << 4 | (word >> 4 & 0x0f0f0f0fu);
  return __builtin_bswap32(word);
}

// Half of the weights' range in each position of a word.
uint32_t HalfInAll(int bits) {
  return bits == 2 ? 0xaaaaaaaau : bits == 4 ? 0x88888888u : 0x80808080u;
}

// A panel's part of the operands: `some` columns of n from j on.
class PanelOfCodes {
 public:
  PanelOfCodes(const PanelPlan& plan, const void* const* from, int64_t j)
      : p_(plan),
        form_(*plan.coded),
        blocks_(CeilDiv(plan.k, form_.block)),
        j_(j),
        some_(std::min(plan.columns, plan.n - j)),
        codes_(static_cast<const uint8_t*>(from[0])),
        scales_(static_cast<const float*>(from[1])),
        zeros_(form_.zero_bytes > 0 ? from[2] : nullptr),
        flip_(form_.zero_bytes == 0 ? HalfInAll(form_.bits) : 0) {}

  void Write(uint8_t* to) const {
    for (int64_t b = 0; b < blocks_; ++b) {
      to = WriteHead(b, to);
      const int64_t per_word = 32 / form_.bits;
      const int64_t rows = std::min(form_.block, p_.k - b * form_.block);
      for (int64_t i = 0; i < rows; i += per_word) to = WriteWords(b, i, to);
    }
  }

 private:
  // What columns that fill the panel up are times is zero.
  uint8_t* WriteHead(int64_t block, uint8_t* to) const {
    std::vector<float> scales(static_cast<size_t>(p_.columns)), zeros(scales);
    std::vector<uint8_t> zero_codes(scales.size());
    const int64_t zero_row = CeilDiv(blocks_ * form_.bits, 8);
    for (int64_t c = 0; c < some_; ++c) {
      const auto at = static_cast<size_t>(c);
      const int64_t from = (j_ + c) * blocks_ + block;
      scales[at] = scales_[from];
      if (form_.zero_bytes == 4) zeros[at] = static_cast<const float*>(zeros_)[from];
      if (form_.zero_bytes == 1) {
        const auto* row = static_cast<const uint8_t*>(zeros_) + (j_ + c) * zero_row;
        zero_codes[at] = static_cast<uint8_t>(Int8At(row, block, form_.bits));
      }
    }
    const auto put = [&to](const auto& all) {
      const size_t bytes = all.size() * sizeof(all[0]);
      std::memcpy(to, all.data(), bytes);
      to += bytes;
    };
    put(scales);
    if (form_.zero_bytes == 4) put(zeros);
    if (form_.zero_bytes == 1) put(zero_codes);
    return to;
  }

  // Rows i, i + 1, ... of a block, as many as a word holds. Without zero points the zero point is
  // half of the range: the difference has a sign.
  uint8_t* WriteWords(int64_t block, int64_t i, uint8_t* to) const {
    const int64_t bytes = form_.block * form_.bits / 8;
    for (int64_t c = 0; c < p_.columns; ++c, to += sizeof(uint32_t)) {
      const int64_t row = j_ + std::min(c, some_ - 1);
      uint32_t word = 0;
      std::memcpy(&word, codes_ + (row * blocks_ + block) * bytes + i * form_.bits / 8,
                  sizeof word);
      word = FirstOnTop(word, form_.bits) ^ flip_;
      std::memcpy(to, &word, sizeof word);
    }
    return to;
  }

  const PanelPlan& p_;
  const NBitsForm& form_;
  const int64_t blocks_, j_, some_;
  const uint8_t* codes_;
  const float* scales_;
  const void* zeros_;
  const uint32_t flip_;
};

}  // namespace

void PackNBits(const PanelPlan& plan, const void* const* from, void* to) {
  auto* const bytes = static_cast<uint8_t*>(to);
  const int64_t panel = plan.panel * static_cast<int64_t>(sizeof(float));
  for (int64_t p = 0; p < plan.panels; ++p) {
    uint8_t* const at = bytes + p * panel;
    const int64_t used = plan.code_bytes(plan.k);
    PanelOfCodes(plan, from, p * plan.columns).Write(at);
    std::memset(at + used, 0, static_cast<size_t>(panel - used));
  }
}

std::string NBitsKey(const PanelPlan& plan) {
  const NBitsForm& form = *plan.coded;
  return "nbit " + ToText({form.bits, form.block, form.zero_bytes, plan.n, plan.k, plan.columns});
}

}  // namespace ge_engines::cpu::native
