// Compiles one segment: units -> steps. Chooses every layout inside (convolutions state what they
// want, pointwise loops, pools and reductions follow what they get), reorders only where two
// disagree and at the border, packs constants, counts lifetimes. Used once, by one thread; throws
// std::runtime_error or dnnl::error, which the entry points catch.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plugins/cpu/onednn/loops.h"
#include "plugins/cpu/onednn/program.h"
#include "plugins/cpu/onednn/unit.h"

namespace ge_onednn {

class Builder {
 public:
  // host may be nullptr; it is told of constants that have been packed.
  Builder(const Vendor& vendor, const Simd& simd, const ge_host_api* host, const Parser& parser,
          const ge_segment& segment, Program* program);
  void Build(const std::vector<Unit>& units);
  // Node at fault when Build threw.
  uint32_t current_node() const { return node_; }

 private:
  // A value in one layout.
  struct Rep {
    Layout layout;
    Place place;
  };
  struct Arg {
    int id;
    Place place;
    Desc desc;
  };

  // ---- values (builder.cc)
  Rep Get(uint32_t v, const Layout& want);
  Rep GetDense(uint32_t v) { return Get(v, Layout::Dense(p_.dims(v))); }
  // The preferred existing one; constants are dense.
  Rep Main(uint32_t v);
  // Without a channel block; maybe strided.
  Rep Unblocked(uint32_t v);
  // As an operand of a tensor laid out as `target` (rank aligned, broadcast allowed).
  Rep Operand(uint32_t v, const Layout& target);
  const Rep* Find(uint32_t v, const Layout& want) const;
  Rep Convert(uint32_t v, const Rep& from, const Layout& want, const Place* to);
  void AddRep(uint32_t v, const Rep& rep);
  // A place for v: its output buffer if it leaves and is dense, else an internal.
  Rep NewResult(uint32_t v, const Layout& layout);
  Place NewInternal(uint32_t v, uint64_t bytes);
  // Puts a value that leaves into its output buffer, if it is not there.
  void Publish(uint32_t v);
  // x's place when nothing needs x after this unit, so that a result may overwrite it.
  bool Dead(const Place& place, const Unit& u) const;
  std::vector<uint32_t> Reads(const Unit& u) const;

  // ---- constants
  Place NewConstant(uint64_t bytes, uint32_t value);
  Rep Constant(uint32_t v, const Layout& want);
  Place PackWeights(uint32_t v, const Layout& src, const Desc& want);
  Place ConstantFloats(const std::vector<float>& data, uint32_t v);
  float* ConstantData(const Place& p);
  // Our copy is made: the host may drop the payload's pages.
  void Done(uint32_t v) const;

  // ---- steps
  void AddPrim(const std::string& label, const Prim& prim, std::vector<Arg> args);
  void AddLoop(const std::string& label, std::unique_ptr<Loop> loop, std::vector<Place> places);
  void Touch(const Place& p);

  // ---- by kind (emit_*.cc)
  void Emit(const Unit& u);
  void EmitConv(const Unit& u);
  void EmitUpscale(const Unit& u);
  void EmitMatMul(const Unit& u);
  void EmitFoldedMatMul(const Unit& u);
  void EmitBatchedMatMul(const Unit& u);
  void EmitPool(const Unit& u);
  void EmitPointwise(const Unit& u);
  void EmitReduce(const Unit& u);
  void EmitSoftmax(const Unit& u);
  void EmitLayerNorm(const Unit& u);
  void EmitConcat(const Unit& u);
  void EmitResize(const Unit& u);
  void EmitView(const Unit& u);
  void EmitTranspose(const Unit& u);
  void EmitSlice(const Unit& u);
  // posts[from..] on x; the result becomes a rep of v.
  void ApplyPosts(const Unit& u, size_t from, const Rep& x, const Layout& target);

  struct Fused {  // posts that a primitive takes itself
    std::vector<VendorPost> posts;
    std::vector<std::pair<int, Rep>> operands;  // index in posts, where it lies
    std::optional<Rep> sum;                     // the result overwrites this
    size_t taken = 0;                           // of the unit's posts
  };
  // As many posts as oneDNN has, operands laid out for a result of `target` (which matmul sees as
  // `seen`, a view with fewer axes).
  Fused Fuse(const Unit& u, const Layout& target, const Layout& seen, uint32_t storage_of_x,
             bool allow_binary);
  Place BiasOf(const Unit& u, int64_t n);

  const Vendor& vendor_;
  const Simd& simd_;
  const ge_host_api* host_;
  const Parser& p_;
  const ge_segment& segment_;
  Program& out_;
  std::vector<std::vector<Rep>> reps_;          // by value
  std::vector<uint32_t> uses_;                  // by value: units that still read it
  std::map<uint32_t, uint32_t> leaves_;         // value -> output position
  std::vector<std::vector<uint32_t>> lies_in_;  // by storage: values
  std::map<uint32_t, uint64_t> packed_;         // constant value -> bytes of our copies
  uint32_t workspace_ = 0;                      // storage
  uint32_t node_ = 0;
};

}  // namespace ge_onednn
