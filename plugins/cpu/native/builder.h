// What the kinds of the engine `native` write steps with. Layouts and lifetimes are the base's
// affair. Names no kind. Used once, by one thread; throws.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "plugins/cpu/kit/builder.h"
#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/simd/kernels.h"
#include "plugins/cpu/native/tile_post_ops.h"

namespace ge_engines::cpu::native {

// A loop that is one function of the addresses of its buffers. It cannot fail and keeps nothing;
// any number of threads may run it.
template <class F>
std::unique_ptr<Loop> LoopOf(F run) {
  class FunctionLoop final : public Loop {
   public:
    explicit FunctionLoop(F run) : run_(std::move(run)) {}
    void Run(float* const* p) const override { run_(p); }

   private:
    F run_;
  };
  return std::make_unique<FunctionLoop>(std::move(run));
}

class NativeBuilder final : public Builder {
 public:
  NativeBuilder(const Machine& machine, const Simd& simd, const ge_host_api* host,
                const Parser& parser, const ge_segment& segment, Program* program)
      : Builder(simd, host, parser, segment, program), machine_(machine) {}

  const Machine& machine() const { return machine_; }

  // ---- steps: places {result, reads...}
  // The result is plain.
  void AddPlain(const Unit& unit, const std::string& label, std::unique_ptr<Kernel> kernel,
                std::vector<BufferRef> reads);
  // The result lies so.
  void AddInLayout(const Unit& unit, const std::string& label, const Layout& layout,
                   std::unique_ptr<Kernel> kernel, std::vector<BufferRef> reads);
  // A step that takes the first `taken` posts along, and the others behind it.
  void AddTiled(const Unit& unit, size_t taken, const Layout& target, const std::string& label,
                std::unique_ptr<Loop> loop, std::vector<BufferRef> reads);
  // Posts that a tile can take along, until the first that it cannot; their operands' places are
  // added.
  std::vector<TilePostOp> PostOpsOfTiles(const Unit& unit, const Layout& target,
                                         std::vector<BufferRef>* places);

  // ---- values
  // The order of in[0], for a result of the unit's dims: channels last or plain.
  Layout LayoutOfInput(const Unit& unit);
  // A matrix operand, dense; *transposed when its two last axes lie the other way around.
  Rep Matrix(uint32_t value, bool transpose, bool may_transpose, bool* transposed);
  // [n][rows][columns] of a constant as [n][columns][rows].
  BufferRef Transposed(uint32_t value, int64_t n, int64_t rows, int64_t columns);
  // value where it lies if channels of a pixel are neighbours there, else channels last.
  Rep Channels(uint32_t value);
  // value with its channels as lanes: as it lies, or channels last.
  Rep Lanes(uint32_t value);

 private:
  void EmitMain(const Unit& unit) override;
  bool CallsLibrary(const Unit&) const override { return false; }
  void AddConversion(const Rep& from, const Rep& to) override;

  const Machine& machine_;
};

}  // namespace ge_engines::cpu::native
