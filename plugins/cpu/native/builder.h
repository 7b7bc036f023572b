// NativeBuilder: the kinds of the engine `native` write their steps with it. Its base chooses
// layouts and lifetimes. It names no kind. Used once, by one thread; throws.
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

// A loop from a function of its buffers' addresses. It cannot fail and keeps nothing; any number of
// threads may run it.
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
  // Adds a step with a plain result.
  void AddPlain(const Unit& unit, const std::string& label, std::unique_ptr<Kernel> kernel,
                std::vector<BufferRef> reads);
  // Adds a step with a result in this layout.
  void AddInLayout(const Unit& unit, const std::string& label, const Layout& layout,
                   std::unique_ptr<Kernel> kernel, std::vector<BufferRef> reads);
  // Adds a step with the first `taken` post-ops inside; the other post-ops follow it.
  void AddTiled(const Unit& unit, size_t taken, const Layout& target, const std::string& label,
                std::unique_ptr<Loop> loop, std::vector<BufferRef> reads);
  // The unit's post-ops for tiles, up to the first that a tile cannot apply; adds the buffers of
  // their operands to *places.
  std::vector<TilePostOp> PostOpsOfTiles(const Unit& unit, const Layout& target,
                                         std::vector<BufferRef>* places);

  // ---- values
  // Layout for a result of the unit's dims in the order of in[0]: channels last or plain.
  Layout LayoutOfInput(const Unit& unit);
  // A dense matrix operand; *transposed if its last two axes are swapped.
  Rep Matrix(uint32_t value, bool transpose, bool may_transpose, bool* transposed);
  // A constant [n][rows][columns] transposed to [n][columns][rows].
  BufferRef Transposed(uint32_t value, int64_t n, int64_t rows, int64_t columns);
  // The value unchanged if a pixel's channels are neighbours, else channels last.
  Rep Channels(uint32_t value);
  // The value with channels as lanes: unchanged, or channels last.
  Rep Lanes(uint32_t value);

 private:
  void EmitMain(const Unit& unit) override;
  bool CallsLibrary(const Unit&) const override { return false; }
  void AddConversion(const Rep& from, const Rep& to) override;

  const Machine& machine_;
};

}  // namespace ge_engines::cpu::native
