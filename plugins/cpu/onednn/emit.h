// The kernels of the engine `onednn`: oneDNN's primitives for convolutions, products, pools and
// reorders. The base chooses layouts and lifetimes. Used once, by one thread; throws.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "plugins/cpu/kit/builder.h"
#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/onednn/vendor.h"
#include "plugins/units/conv/conv.h"
#include "plugins/units/conv/conv_grad.h"
#include "plugins/units/matmul/matmul.h"
#include "plugins/units/reduce/pool.h"

namespace ge_engines::cpu::onednn {

class PrimitiveKernel;

class OnednnBuilder final : public Builder {
 public:
  OnednnBuilder(const Vendor& vendor, const Machine& machine, const Simd& simd,
                const ge_host_api* host, const Parser& parser, const ge_segment& segment,
                Program* program);

 private:
  struct Arg {
    int id;
    BufferRef place;
    Desc desc;
  };

  void Start(const std::vector<Unit>& units) override;
  void EmitMain(const Unit& unit) override;
  void Finish() override;
  void AddConversion(const Rep& from, const Rep& to) override;
  Fill PackingOf(const Layout& want) const override;

  struct ConvPlan {
    Prim prim;                     // its layouts count
    const char* prefer = nullptr;  // as of Vendor::Conv
    bool told = false;             // by the program that this one is to be like
  };
  // nullopt: oneDNN has no primitive.
  std::optional<ConvPlan> PlanConv(const Unit& unit, const ConvSpec& spec);
  void EmitConv(const Unit& unit, const ConvSpec& conv_spec);
  std::optional<ConvPlan> PlanRounded(const Unit& unit, ConvSpec* spec);
  // value in a convolution's layout; bfloat16 if the elements of `want` have 2 bytes. An existing
  // bfloat16 copy in this layout serves all readers; else it is rounded once.
  Rep Image(uint32_t value, const Layout& want);
  void EmitConvGrad(const Unit& unit, const ConvGradSpec& spec);
  void EmitUpscale(const Unit& unit, const ConvSpec& conv_spec);
  void EmitMatMul(const Unit& unit, const ProductSpec& spec);
  void EmitFoldedMatMul(const Unit& unit, const ProductSpec& product_spec);
  void EmitBatchedMatMul(const Unit& unit);
  void EmitPool(const Unit& unit, const PoolSpec& pool);

  void AddPrim(const std::string& label, const Prim& prim, std::vector<Arg> args);
  // Packs the constant, in layout `src`, into oneDNN's layout.
  BufferRef PackWeights(uint32_t value, const Layout& src, const Desc& want);

  // Weights for a primitive; if plain, `given` is their layout. Constants are packed once, others
  // in each run.
  BufferRef WeightsAs(uint32_t value, const Layout& given, const Desc& want);
  BufferRef TapsAs(uint32_t value, const Dims& given, const Desc& want);
  BufferRef RepeatedBias(uint32_t value, int64_t out, int64_t taps);
  void AddReorder(const BufferRef& from, const Desc& is, const BufferRef& to, const Desc& want);

  struct Fused {  // post-ops inside a primitive
    std::vector<VendorPost> post_ops;
    std::vector<std::pair<int, Rep>> operands;  // index in post_ops, buffer
    std::optional<Rep> sum;                     // the result overwrites this
    size_t taken = 0;                           // of the unit's post-ops
  };
  // Fuses as many post-ops as oneDNN has. Operands lie as a result of `target` (matmul sees it as
  // `seen`, a view with fewer axes).
  Fused Fuse(const Unit& unit, const Layout& target, const Layout& seen, uint32_t storage_of_x,
             bool allow_binary);

  const Vendor& vendor_;
  const Machine& machine_;
  // Values that some unit of this segment reads unrounded, too.
  std::set<uint32_t> whole_;
  std::map<uint32_t, std::vector<Rep>> rounded_;  // values as bfloat16, where they are
  std::vector<PrimitiveKernel*> unmade_;          // of the program's kernels
};

// Weights that are no constants are in training. oneDNN 2.6.3's gradients want channels in blocks,
// its inference mostly channels last, and each change between the two costs two passes.
inline int TrainingBlock(const Simd& simd) {
  return simd.lanes >= 8 ? static_cast<int>(simd.lanes) : 0;
}

// Layouts of a convolution's images before and after it, chosen by oneDNN; nullopt if it has no
// primitive.
std::optional<std::pair<LayoutTag, LayoutTag>> LayoutTagsOfConv(const Vendor& vendor,
                                                                const ConvSpec& spec);

// The same of a gradient: the layouts of dY and of the result.
std::optional<std::pair<LayoutTag, LayoutTag>> LayoutTagsOfConvGrad(const Vendor& vendor,
                                                                    const ConvGradSpec& spec);

}  // namespace ge_engines::cpu::onednn
