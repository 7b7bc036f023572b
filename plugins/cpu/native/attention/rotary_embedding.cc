// RotaryEmbedding of float32.
#include "plugins/units/attention/rotary_embedding.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/price.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/price.h"

namespace ge_engines::cpu::native {

namespace {

// Buffers: result, x, cosines, sines, ids. The result may be x.
class RotaryRows final : public Kernel {
 public:
  explicit RotaryRows(const RotarySpec& spec) : s_(spec) {}

  ge_rc Do(const Call& call) const override {
    const auto* ids = s_.ids ? reinterpret_cast<const int64_t*>(call.p[4]) : nullptr;
    const int64_t tokens = s_.batch * s_.steps;
    for (int64_t t = 0; ids != nullptr && t < tokens; ++t) {
      if (ids[t] >= 0 && ids[t] < s_.positions) continue;
      const std::string text = "position_ids[" + std::to_string(t) + "] is " +
                               std::to_string(ids[t]) + ", [0, " + std::to_string(s_.positions) +
                               ") is wanted";
      return ge::plugin::Fail(call.err, GE_INVALID_ARGUMENT, call.node, text.c_str());
    }
    ForRange(tokens * s_.heads * s_.size > kParallel, s_.batch * s_.heads * s_.steps,
             [&](int64_t i) {
               const int64_t step = i % s_.steps, head = i / s_.steps % s_.heads,
                             batch = i / s_.steps / s_.heads;
               const int64_t token = batch * s_.steps + step;
               const int64_t row = (ids != nullptr ? ids[token] : token) * s_.half;
               const int64_t at = batch * s_.batch_at + head * s_.head_at + step * s_.step_at;
               Turn(call.p[1] + at, call.p[2] + row, call.p[3] + row, call.p[0] + at);
             });
    return GE_OK;
  }

 private:
  void Turn(const float* x, const float* cosine, const float* sine, float* y) const {
    const int64_t half = s_.half;
    if (s_.interleaved) {
#pragma GCC ivdep
      for (int64_t k = 0; k < half; ++k) {
        const float a = x[2 * k], b = x[2 * k + 1];
        y[2 * k] = cosine[k] * a - sine[k] * b;
        y[2 * k + 1] = sine[k] * a + cosine[k] * b;
      }
    } else {
#pragma GCC ivdep
      for (int64_t k = 0; k < half; ++k) {
        const float a = x[k], b = x[half + k];
        y[k] = cosine[k] * a - sine[k] * b;
        y[half + k] = sine[k] * a + cosine[k] * b;
      }
    }
    if (2 * half < s_.size && x != y) {
      std::memcpy(y + 2 * half, x + 2 * half, static_cast<size_t>(s_.size - 2 * half) * sizeof *y);
    }
  }

  RotarySpec s_;
};

class RotaryEmbeddingKind final : public KindOf<RotarySpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    const RotarySpec& s = SpecOf(unit);
    const auto n = static_cast<double>(Product(unit.dims));
    const auto rows = static_cast<double>(s.batch * s.heads * s.steps);
    const double read = static_cast<double>(s.batch * s.steps * s.half) * 2 * sizeof(float);
    return WorkPrice(unit, parser, machine, {n * 0.16 + rows * 6, 2 * n * sizeof(float) + read});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    std::vector<BufferRef> places;
    for (const uint32_t v : u.in) places.push_back(b->GetDense(v).place);
    b->AddPlain(u, "rotary embedding", std::make_unique<RotaryRows>(SpecOf(u)), places);
  }
};

const RotaryEmbeddingKind kRotaryEmbeddingKind;
}  // namespace

GE_NATIVE_KINDS(rotary_embedding, &kRotaryEmbeddingKind)

}  // namespace ge_engines::cpu::native
