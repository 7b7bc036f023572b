#include "plugins/cpu/native/matmul/stft.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/price.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/price.h"
#include "plugins/units/matmul/stft.h"

namespace ge_engines::cpu::native {

namespace {

class Spectrum final : public Loop {
 public:
  Spectrum(const Simd& simd, const SpectrumPlan& p) : simd_(simd), plan_(p) {
    std::vector<double> circle(static_cast<size_t>(p.length));
    const double turn = 2 * M_PI / static_cast<double>(p.length);
    const auto at = [&](int64_t i) { return turn * static_cast<double>(i % p.length); };
    table_.reserve(p.table_floats());
    for (int64_t k = 0; k < p.length; ++k) {
      for (int64_t bin = 0; bin < p.bins; ++bin) {
        table_.push_back(static_cast<float>(std::cos(at(k * bin))));
        table_.push_back(static_cast<float>(-std::sin(at(k * bin))));
      }
    }
  }
  void Run(float* const* p) const override {
    const int64_t rows = plan_.batch * plan_.frames, each = SpectrumPlan::kRows;
    const int64_t wide = 2 * plan_.bins, length = plan_.length;
    ForJobs(plan_.threads, (rows + each - 1) / each, p[3], plan_.room_floats(),
            [&](int64_t job, float* room) {
              const int64_t first = job * each, m = std::min(each, rows - first);
              for (int64_t i = 0; i < m; ++i) {
                const int64_t image = (first + i) / plan_.frames;
                const int64_t start = (first + i) % plan_.frames * plan_.step;
                const float* from = p[1] + image * plan_.samples + start;
                float* to = room + i * length;
                if (plan_.window) {
                  simd_.binary(Fn::kMul, from, p[2], to, length);
                } else {
                  std::memcpy(to, from, static_cast<size_t>(length) * sizeof(float));
                }
              }
              simd_.thin_product(room, length, table_.data(), wide, p[0] + first * wide, wide, m,
                                 wide, length);
            });
  }

 private:
  const Simd& simd_;
  const SpectrumPlan plan_;
  std::vector<float> table_;
};

}  // namespace

std::unique_ptr<Loop> SpectrumLoop(const Simd& simd, const SpectrumPlan& plan) {
  return std::make_unique<Spectrum>(simd, plan);
}

namespace {

class StftKind final : public KindOf<SpectrumSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    const double n = static_cast<double>(Product(unit.dims));
    return WorkPrice(unit, parser, machine,
                     {n * static_cast<double>(SpecOf(unit).length) / ByIsa(machine, 40, 20, 7) /
                      machine.compute});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const SpectrumSpec& spec = SpecOf(u);
    SpectrumPlan plan;
    plan.batch = u.dims[0];
    plan.frames = u.dims[1];
    plan.bins = u.dims[2];
    plan.samples = b->parser().dims(u.in[0])[1];
    plan.step = spec.step;
    plan.length = spec.length;
    plan.window = u.in.size() > 1;
    plan.threads = plan.batch * plan.frames > SpectrumPlan::kRows ? b->machine().threads : 1;
    const uint64_t room = plan.room_floats() * sizeof(float) * static_cast<uint64_t>(plan.threads);
    b->NeedWorkspace(room);
    const BufferRef x = b->GetDense(u.in[0]).place;
    b->AddPlain(u, "spectrum", SpectrumLoop(b->simd(), plan),
                {x, plan.window ? b->GetDense(u.in[1]).place : x, b->Workspace()});
  }
};

const StftKind kStftKind;
}  // namespace

GE_NATIVE_KINDS(stft, &kStftKind)

}  // namespace ge_engines::cpu::native
