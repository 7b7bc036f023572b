// Builder compiles one segment: units -> steps. It chooses every layout inside (an engine's own
// kernels name theirs, loops take the layout of their inputs), converts only where two layouts
// disagree and at the border, packs constants, counts lifetimes. The base emits pointwise functions
// and copies; an engine derives from it and adds its own kernels. Used once, by one thread; throws
// std::exception, and the entry points catch it.
#pragma once

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "plugins/cpu/kit/conv_loop.h"
#include "plugins/cpu/kit/loops.h"
#include "plugins/cpu/kit/program.h"
#include "plugins/units/parser.h"

namespace ge_engines::cpu {

// Thrown by Build once ge_segment.stop is set.
struct Stopped : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A value in one layout.
struct Rep {
  Layout layout;
  BufferRef place;
};

class Builder {
 public:
  // host may be nullptr.
  Builder(const Simd& simd, const ge_host_api* host, const Parser& parser,
          const ge_segment& segment, Program* program);
  virtual ~Builder() = default;
  void Build(const std::vector<Unit>& units);
  // Builds a segment without nodes: it brings one value into another layout.
  void BuildConversion();
  // Node at fault when Build threw.
  uint32_t current_node() const { return node_; }

  const Parser& parser() const { return p_; }
  const Simd& simd() const { return simd_; }
  Program& program() const { return out_; }

 protected:
  // ---- what an engine changes
  // Emits a unit with more than pointwise functions. Throws if the engine has no kernel for it.
  virtual void EmitMain(const Unit& unit);
  // Whether the unit's steps call a library with parallel regions of its own (see float_mode.h).
  virtual bool CallsLibrary(const Unit&) const { return true; }
  // Called before the first step.
  virtual void Start(const std::vector<Unit>&) {}
  // Adds a step: it copies `from` into the layout of `to`, a value of the same dims.
  virtual void AddConversion(const Rep& from, const Rep& to);
  // Whether the segment is a conversion: of a value of any type.
  bool Converts() const { return segment_.n_taken == 1 && segment_.taken[0].n_node == 0; }
  // Called after the last step.
  virtual void Finish() {}
  // How to write a dense constant in the layout `want`, with the same dims.
  virtual Fill PackingOf(const Layout& want) const;

 public:
  // ---- values (builder.cc)
  std::vector<Rep> RepsOf(uint32_t value) const {
    const auto it = reps_.find(value);
    return it == reps_.end() ? std::vector<Rep>() : it->second;
  }
  // Whether `value` leaves the segment.
  bool Leaves(uint32_t value) const { return leaves_.count(value) > 0; }
  Rep Get(uint32_t value, const Layout& want);
  Layout Plain(uint32_t value) const { return Layout::Dense(p_.dims(value), p_.size(value)); }
  Rep GetDense(uint32_t value) { return Get(value, Plain(value)); }
  // The preferred existing rep of the value; constants are dense.
  Rep Main(uint32_t value);
  // Without a channel block; maybe strided.
  Rep Unblocked(uint32_t value);
  // As an operand of a tensor laid out as `target` (rank aligned, broadcast allowed).
  Rep Operand(uint32_t value, const Layout& target);
  const Rep* Find(uint32_t value, const Layout& want) const;
  Rep Convert(uint32_t value, const Rep& from, const Layout& want, const BufferRef* to);
  void AddRep(uint32_t value, const Rep& rep);
  // value's output buffer if it leaves the segment in this layout, else nullptr.
  const BufferRef* Leaf(uint32_t value, const Layout& layout) const;
  // A place for v: its output buffer, or an internal.
  Rep NewResult(uint32_t value, const Layout& layout);
  BufferRef NewInternal(uint32_t value, uint64_t bytes);
  BufferRef NewBuffer(const Storage& storage);
  // Copies an output of the segment into its output buffer, unless it is there.
  void Publish(uint32_t value);
  // Whether nothing needs x at `place` after this unit, so that a result may overwrite it.
  bool Dead(const BufferRef& place, const Unit& unit) const;
  // The unit's inputs, ascending, each once.
  static void ListReads(const Unit& unit, std::vector<uint32_t>* values);

  // ---- constants
  // A constant of the program; *data points at its bytes.
  BufferRef NewConstant(uint64_t bytes, uint32_t value, void** data);
  BufferRef TakeConstant(const AlignedBlock& block, uint64_t bytes, uint32_t value);
  Rep Constant(uint32_t value, const Layout& want);
  // The host's payload, maybe unaligned; the host keeps it while the exec lives. For kernels that
  // read little of it.
  Rep KeptConstant(uint32_t value);
  // A buffer filled by `fill` from the payloads of these constants. The key names everything else
  // that the bytes depend on, but dtypes and dims. `any_bytes` as in PackBook::Learn. Kernels
  // calculate with what it holds, and find nothing by it, unless `flags` say otherwise.
  BufferRef Pack(const Ids& values, const std::string& key, uint64_t bytes, Fill fill,
                 bool any_bytes = false, uint32_t flags = GE_PACK_ANY_BYTES);
  BufferRef ConstantFloats(const std::vector<float>& data);
  void ListConstants(const std::vector<Unit>& units);
  void ListMade();

  // ---- steps
  // Text for the label of a step; empty without a profile, since then nobody reads it.
  std::string Sizes(const Dims& dims) const { return out_.profile ? ToText(dims) : std::string(); }
  // What steps [first..] say of the unit that they run: its nodes and its results.
  void TellSteps(const Unit& unit, size_t first);
  void AddStep(const std::string& label, std::unique_ptr<Kernel> kernel,
               std::vector<BufferRef> places);
  void Touch(const BufferRef& ref);
  // The segment's workspace has so many bytes at the least.
  void NeedWorkspace(uint64_t bytes) { out_.workspace = std::max(out_.workspace, bytes); }
  BufferRef Workspace() const { return {workspace_, 0}; }

  // ---- pointwise functions and convolutions in pieces (post_ops.cc)
  void Emit(const Unit& unit);
  void EmitNothing(const Unit& unit);
  // The host's layout for `value`; ids may be nullptr. Throws if no LayoutTag describes it.
  Layout Border(uint32_t value, const uint32_t* ids, uint32_t at) const;
  void EmitPointwise(const Unit& unit);
  // Applies post-ops [from..] to x; the result becomes a rep of v.
  void ApplyPostOps(const Unit& unit, size_t from, const Rep& x, const Layout& target);

  // Adds biases and post-ops [from..] to a product in plain order at y.
  void FinishProduct(Unit unit, size_t from, const BufferRef& y);
  // The first UnaryPostOps(unit) post-ops.
  static std::vector<PointwiseOp> FirstPostOps(const Unit& unit);
  // A convolution of plain tensors by ConvLoop, then biases and post-ops; `rows` as in ConvLoop.
  void EmitIm2col(const Unit& unit, const std::string& label, MultiplyTile multiply,
                  const ConvShape& shape, const Im2colTiles& pieces, int threads,
                  const BufferRef& ref, bool rows);

  // The sum of a unit's biases, n elements, written `times` times, then zeros up to `room`.
  BufferRef BiasOf(const Unit& unit, int64_t n, int64_t room = 0, int64_t times = 1);

 protected:
  const Simd& simd_;
  const ge_host_api* host_;
  const Parser& p_;
  const ge_segment& segment_;
  Program& out_;
  // By value. Maps, since a graph of n nodes may have n segments: none may cost the whole graph.
  std::unordered_map<uint32_t, std::vector<Rep>> reps_;
  std::unordered_map<uint32_t, uint32_t> uses_;  // units that still read it
  std::map<uint32_t, Rep> leaves_;               // value -> output buffer and how it is wanted
  std::vector<Ids> lies_in_;                     // by storage: values
  // Constant values and bytes of our copies; a value may be there several times.
  std::vector<std::pair<uint32_t, uint64_t>> copied_;
  std::set<uint32_t> packed_;  // constant values that fill reads
  std::set<uint32_t> kept_;    // constant values that the host must keep
  struct Made {
    uint32_t value, step;
    Rep rep;
  };
  std::vector<Made> made_;  // results of units, for ge_step
  uint32_t workspace_ = 0;  // storage
  uint32_t node_ = 0;
};

}  // namespace ge_engines::cpu
