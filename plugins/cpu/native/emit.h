// The works of the engine `native`: our loops. Layouts and lifetimes are the base's affair. Used
// once, by one thread; throws.
#pragma once

#include <algorithm>
#include <optional>

#include "plugins/cpu/kit/conv_pieces.h"
#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/native/loops.h"
#include "plugins/cpu/native/winograd.h"

namespace ge_engines::cpu::native {

struct CodeConvPlan;
struct PanelPlan;

// Rows of one product, all folded, and how many products: what a MatMul or a convolution of one
// pixel is to the thin kernels.
struct Fold {
  int64_t batch = 1, m = 1, n = 1, k = 1;
};

class NativeBuilder final : public Builder {
 public:
  NativeBuilder(const Machine& machine, const Simd& simd, const ge_host_api* host,
                const Parser& parser, const ge_segment& segment, Program* program)
      : Builder(simd, host, parser, segment, program), machine_(machine) {}

 private:
  void EmitMain(const Unit& u) override;
  bool CallsLibrary(const Unit&) const override { return false; }
  void AddConversion(const Rep& from, const Rep& to) override;

  void EmitSpec(const Unit& u, const ConvSpec& c);
  void EmitSpec(const Unit& u, const ProductSpec& s);
  void EmitSpec(const Unit& u, const PoolSpec& spec);
  // emit_grad.cc
  void EmitSpec(const Unit& u, const ConvGradSpec& g);
  void EmitSpec(const Unit& u, const MomentsSpec&);
  void EmitSpec(const Unit& u, const BatchNormGradSpec& spec);
  void EmitSpec(const Unit& u, const PoolGradSpec& spec);
  void EmitSpec(const Unit& u, const StepSpec& spec);
  void EmitSpec(const Unit& u, const AddRowsSpec& spec);
  void EmitSpec(const Unit& u, const ResampleSpec& spec);
  void EmitSpec(const Unit& u, const GatherSpec& spec);
  void EmitSpec(const Unit& u, const AppendSpec& spec);
  void EmitSpec(const Unit& u, const CastSpec&);
  // emit_moves.cc. Copies: only 4-byte elements lie in other orders, and none the other way around.
  void EmitMove(const Unit& u, const ConcatSpec& spec);
  void EmitMove(const Unit& u, const ExpandSpec&);
  void EmitMove(const Unit& u, const TransposeSpec& spec);
  void EmitMove(const Unit& u, const SliceSpec& spec);
  void EmitSpec(const Unit& u, const MoveSpec& spec);
  void EmitSpec(const Unit& u, const FillSpec& spec);
  void EmitSpec(const Unit& u, const NothingSpec&) { EmitNothing(u); }
  void EmitSpec(const Unit& u, const TriangleSpec& spec);
  void EmitSpec(const Unit& u, const RelationSpec& spec);
  // emit_index.cc
  void EmitSpec(const Unit& u, const IndexSpec& spec);
  void EmitSpec(const Unit& u, const CumSumSpec& spec);
  void EmitSpec(const Unit& u, const ArgSpec& spec);
  void EmitSpec(const Unit& u, const TopKSpec& spec);
  void EmitSpec(const Unit& u, const FillPadSpec& spec);
  void EmitSpec(const Unit& u, const TileSpec&);
  void EmitSpec(const Unit& u, const WeighSpec& spec);
  void EmitSpec(const Unit& u, const GridSpec& spec);
  void EmitSpec(const Unit& u, const CodePoolSpec& spec);
  void EmitSpec(const Unit& u, const PReluSpec&);
  void EmitSpec(const Unit& u, const InstanceNormSpec& spec);
  void EmitSpec(const Unit& u, const SpectrumSpec& spec);
  void EmitSpec(const Unit& u, const WhereSpec&);
  void EmitSpec(const Unit& u, const RoiAlignSpec& spec);
  void EmitSpec(const Unit& u, const IntegerSpec& spec);
  void EmitSpec(const Unit& u, const RecurrentSpec& s);
  // Works on 8-bit codes: emit_quantized.cc.
  void EmitSpec(const Unit& u, const IntegerConvSpec& spec);
  void EmitSpec(const Unit& u, const IntegerProductSpec& spec);
  void EmitSpec(const Unit& u, const NBitsSpec& spec);
  // emit_learned.cc
  void EmitSpec(const Unit& u, const ForestSpec& spec);
  void EmitSpec(const Unit& u, const VectorSpec& spec);
  void EmitSpec(const Unit& u, const LineSpec& spec);
  void EmitSpec(const Unit& u, const RowNormSpec& spec);
  void EmitSpec(const Unit& u, const RowSquareSpec& spec);
  void AddLearned(const Unit& u, const std::string& label, std::unique_ptr<Work> work,
                  uint64_t floats, int threads);
  // emit_attend.cc
  void EmitSpec(const Unit& u, const AttendSpec& spec);
  Place HeadsOf(uint32_t v, bool may_turn, HeadSteps* steps, bool* turned);
  bool RowsBeforeHeads(const Unit& u) const;
  std::vector<Place> ProductHeads(const Unit& u, AttendSpec* s);
  Place Joined(const Unit& u, const AttendSpec& s, size_t k, HeadSteps* steps, int64_t size);
  void EmitSpec(const Unit& u, const QuantizeSpec& spec);
  void EmitSpec(const Unit& u, const DequantizeSpec& spec);
  void EmitSpec(const Unit& u, const CodePairSpec& spec);
  void EmitSpec(const Unit& u, CodeConstantSpec spec);
  void EmitSpec(const Unit& u, const CodeMapSpec& spec);
  void EmitSpec(const Unit& u, const CodeMeanSpec& spec);
  void EmitSpec(const Unit& u, const CodeConcatSpec& spec);
  // How the codes that it reads lie, for a result of its dims: channels last or plain.
  Layout CodeLayout(const Unit& u);
  // A step with places {result, ...}; the result lies so.
  void AddCodes(const Unit& u, const std::string& label, const Layout& layout,
                std::unique_ptr<Work> work, std::vector<Place> reads);
  // Loops and views: emit_loops.cc.
  void EmitSpec(const Unit& u, const ReduceSpec& spec);
  void EmitSpec(const Unit& u, const SoftmaxSpec& spec);
  void EmitSpec(const Unit& u, const LayerNormSpec& spec);
  void EmitSpec(const Unit& u, const ConcatSpec& spec);
  void EmitSpec(const Unit& u, const ResizeSpec& spec);
  void EmitSpec(const Unit& u, const ViewSpec&);
  void EmitSpec(const Unit& u, const TransposeSpec& spec);
  void EmitSpec(const Unit& u, const SliceSpec& spec);
  void EmitSpec(const Unit& u, const ExpandSpec&);
  void EmitSpec(const Unit& u, const PointwiseSpec&) { EmitPointwise(u); }

  void EmitPixel(const Unit& u);
  void EmitChannelsLast(const Unit& u, const ConvSpec& c);
  void EmitChannelGroups(const Unit& u, const ConvSpec& c);
  void EmitChannelSums(const Unit& u, const ConvSpec& c);
  // v with its channels as lanes: as it lies, or channels last.
  Rep Lanes(uint32_t v);
  // Whether a convolution goes by Winograd: its weights may be none for that.
  bool UsesWinograd(const Unit& u, const ConvSpec& c) const;
  WinogradPlan WinogradPlanOf(const Unit& u, const ConvSpec& c) const;
  void EmitWinograd(const Unit& u, const ConvSpec& c);
  void EmitPieced(const Unit& u, const ConvSpec& c);
  void EmitDirect(const Unit& u, const ConvSpec& c);
  // v where it lies if channels of a pixel are neighbours there, else channels last.
  Rep Channels(uint32_t v);
  // Posts that a tile can take along, until the first that it cannot; their operands' places are
  // added.
  std::vector<TilePost> PostsOfTiles(const Unit& u, const Layout& target,
                                     std::vector<Place>* places);
  // A step that takes the first posts along and the others behind it; places behind the result.
  void AddTiled(const Unit& u, size_t taken, const Layout& target, const std::string& label,
                std::unique_ptr<Loop> loop, std::vector<Place> reads);
  // With constant weights, [n][k] where `turned`.
  void EmitPanels(const Unit& u, const Fold& f, const Place& x, bool turned);
  // The same of weights that are packed.
  void AddPanels(const Unit& u, const PanelPlan& plan, const Place& x, const Place& weights);
  // The product, then the unit's posts; places are those of the product behind its result.
  void AddProduct(const Unit& u, const ThinProduct& t, std::vector<Place> reads);
  template <class Plan>
  Place PackCodes(const Unit& u, const Plan& plan);
  // x and the result lie as said.
  void AddQuantized(const Unit& u, const std::string& label, const Place& x, const Layout& y,
                    Place weights, uint64_t scratch, std::unique_ptr<Work> work);
  bool EmitInOrder(const Unit& u, const std::string& label, std::unique_ptr<Work> work);
  void EmitByFours(const Unit& u, CodeConvPlan plan, const Layout& x, const Layout& y);
  bool IsSettled(const Unit& u) const;

  // A matrix operand, dense; *turned when its two last axes lie the other way around.
  Rep Matrix(uint32_t v, bool turn, bool may_turn, bool* turned);
  // [n][rows][columns] of a constant as [n][columns][rows].
  Place Turned(uint32_t v, int64_t n, int64_t rows, int64_t columns);
  // A step with places {result, x, ...}; the result is plain.
  void AddPlain(const Unit& u, const std::string& label, std::unique_ptr<Work> work,
                std::vector<Place> reads);

  const Machine& machine_;
};

// Whether a product or convolution of codes is one of code_conv.h on this machine: of symmetric
// weights.
bool MultipliesByFours(const Unit& u, const Parser& p, const Machine& m);

// A convolution whose one window covers all of a picture: a product of the batch's rows.
bool IsPixel(const ConvSpec& c);

// How a convolution is computed. All but kDirect want weights and biases that are constants.
enum class ConvWay {
  kPixel,
  kWinograd,
  kChannelsLast,
  kChannelGroups,
  kChannelSums,
  kDirect,
  kPieces
};
ConvWay WayOf(const ConvSpec& c, bool constants, const Machine& m);
// Whether a direct one leaves its result with channels last: many of them, of several lines.
bool LeavesChannelsLast(const ConvSpec& c);

// The gradient of a convolution's image as a convolution of dY, by the filters turned around;
// nullopt where windows step over elements.
std::optional<ConvSpec> TurnedConv(const ConvGradSpec& g);

// A convolution by products of pieces: how, and in what pieces.
struct ConvInPieces {
  ConvInPieces(const ConvSpec& c, int threads);
  ConvShape shape;
  Pieces pieces;
};

Fold FoldOf(const Unit& u, const Parser& p);
// Whether a matrix that lies turned round is read so: each number of the product is then a sum over
// the lanes of a vector, which of more rows costs more than turning it first. 12 x [128, 64] x
// [64, 128], one thread of a Zen 4: 610 us read so, 231 turned (AVX2: 312 and 283).
inline bool ReadsTurned(const Fold& f) { return f.m <= std::max<int64_t>(8, f.k / 4); }

// A product with weights that stay codes.
PanelPlan NBitsPlan(const Unit& u, const NBitsSpec& spec, const Machine& m);
// Whether a slice takes elements in falling order.
bool GoesBack(const SliceSpec& s);

// Whether a product's weights are packed into panels.
bool InPanels(const Unit& u, const Fold& f, const Parser& p);
// Whether a unit is such a product on this machine, and its inputs are rounded.
bool RoundsInputs(const Unit& u, const Parser& p, const Machine& m);

}  // namespace ge_engines::cpu::native
