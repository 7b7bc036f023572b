// The only door to oneDNN: primitives by our own Layout, for 2.x and 3.x of its API. It keeps no
// state but the library's process-wide ones, plans nothing and owns no tensors. Functions may throw
// dnnl::error (the plugin's entry points catch). Any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "oneapi/dnnl/dnnl.hpp"
#include "plugins/units/conv/conv.h"
#include "plugins/units/conv/conv_grad.h"
#include "plugins/units/parser.h"
#include "plugins/units/reduce/pool.h"

namespace ge_engines::cpu::onednn {

using Desc = dnnl::memory::desc;

// After a primitive's sum: an activation, an operand (broadcast or of the result's layout), or the
// destination's old content.
struct VendorPost {
  enum Kind { kUnary, kBinary, kSum } kind = kUnary;
  Fn fn = Fn::kLinear;
  float a = 0, b = 0;
  Layout operand;  // kBinary
};
// Whether oneDNN has the function as a post-op with our meaning and accuracy.
bool VendorHas(Fn fn);
// Whether oneDNN's function propagates NaN. Its Relu and the like are x86's `max` and `min`; they
// return the other operand.
bool VendorKeepsNan(Fn fn);
// Whether `before` has this oneDNN function with other parameters. oneDNN 2.6.3 then computes both
// with the first one's parameters: Clip to [-8, 8] and Clip to [-3, 3] leave 8.
bool VendorRepeats(const std::vector<VendorPost>& before, const VendorPost& next);

struct Prim {
  dnnl::primitive_desc_base desc;  // dnnl::primitive(desc.get()) generates the kernel; any thread
  std::string impl;
  Layout src, dst;  // what was chosen
  Desc src_desc, weights_desc, bias_desc, dst_desc, scratch_desc;
  std::vector<Desc> post_desc;  // by post-op; zero desc where there is no operand
  uint64_t scratch = 0;         // bytes
};

struct MatMulSpec {  // dst = src x weights (+ bias); batch dims first
  Layout src, weights, dst;
  bool bias = false;        // of the last axis
  bool any_weights = true;  // the weights are packed at compile
};

class Vendor {
 public:
  // Caps the instruction set (GE_ISA_*); must come before any other use in the process to count.
  static void CapIsa(uint32_t isa_cap);
  static const char* Version();

  Vendor() : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {}
  const dnnl::engine& engine() const { return engine_; }

  // nullopt: oneDNN has no primitive. plan: take its layouts; nullptr = oneDNN's choice. prefer:
  // name of a kernel to take instead of oneDNN's first, or nullptr; if it cannot run, the first
  // stays.
  std::optional<Prim> Conv(const ConvSpec& spec, const Prim* plan,
                           const std::vector<VendorPost>& post_ops,
                           const char* prefer = nullptr) const;
  // The gradient of the image or of the weights: src is x, dst is dY, weights the third.
  std::optional<Prim> ConvGrad(const ConvGradSpec& spec) const;
  std::optional<Prim> Pool(const PoolSpec& spec, const Layout& src) const;
  std::optional<Prim> MatMul(const MatMulSpec& spec, const std::vector<VendorPost>& post_ops) const;
  std::optional<Prim> Reorder(const Layout& src, const Layout& dst) const;
  std::optional<Prim> Reorder(const Desc& src, const Desc& dst) const;

  // Runs a reorder now: packs a constant, and rounds it where `dst` says bfloat16.
  void Pack(const Desc& src, const void* from, const Desc& dst, void* to) const;

  // Elements of 2 bytes are bfloat16.
  static Desc ToDesc(const Layout& layout);
  // Equal for descs of the same bytes.
  static std::string KeyOf(const Desc& desc);
  // The Layout of a desc; nullopt if Layout cannot describe it.
  static std::optional<Layout> ToLayout(const Desc& desc, const Dims& dims);

 private:
  dnnl::primitive_attr Attr(const std::vector<VendorPost>& post_ops,
                            std::vector<Desc>* descs) const;
  dnnl::engine engine_;
  dnnl::stream stream_;
};

}  // namespace ge_engines::cpu::onednn
