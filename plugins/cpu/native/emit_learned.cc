// Learned models of ai.onnx.ml as steps of a program.
#include "plugins/cpu/native/emit.h"
#include "plugins/cpu/native/forest.h"
#include "plugins/cpu/native/lines.h"
#include "plugins/cpu/native/row_norms.h"
#include "plugins/cpu/native/vectors.h"

namespace ge_engines::cpu::native {

// A step with places {scores, labels or the scores again, x, workspace}.
void NativeBuilder::AddLearned(const Unit& u, const std::string& label, std::unique_ptr<Work> work,
                               uint64_t floats, int threads) {
  out_.workspace =
      std::max(out_.workspace, floats * sizeof(float) * static_cast<uint64_t>(threads));
  const Place x = GetDense(u.in[0]).place;
  const Rep first = NewResult(u.out[0], Plain(u.out[0]));
  Rep scores = first;
  if (u.out.size() > 1) {
    scores = NewResult(u.out[1], Plain(u.out[1]));
    AddRep(u.out[1], scores);
  }
  AddRep(u.out[0], first);
  AddStep(label + " " + Sizes(u.dims), std::move(work),
          {scores.place, first.place, x, {workspace_, 0}});
}

void NativeBuilder::EmitSpec(const Unit& u, const ForestSpec& spec) {
  const int threads = ForestThreads(*spec.forest, machine_.threads);
  AddLearned(u, "trees", ForestLoop(spec.forest, threads), ForestFloats(*spec.forest), threads);
}

void NativeBuilder::EmitSpec(const Unit& u, const VectorSpec& spec) {
  const int threads = VectorThreads(*spec.machine, machine_.threads);
  AddLearned(u, "support vectors", VectorLoop(simd_, spec.machine, threads),
             VectorFloats(*spec.machine), threads);
}

void NativeBuilder::EmitSpec(const Unit& u, const LineSpec& spec) {
  AddLearned(u, "weighted sums", LineLoop(simd_, spec.lines), 0, 1);
}

void NativeBuilder::EmitSpec(const Unit& u, const RowNormSpec& spec) {
  AddPlain(u, "norms of rows", RowNormLoop(simd_, spec), {GetDense(u.in[0]).place});
}

void NativeBuilder::EmitSpec(const Unit& u, const RowSquareSpec& spec) {
  AddPlain(u, "squares of rows", RowSquareLoop(simd_, spec), {GetDense(u.in[0]).place});
}

}  // namespace ge_engines::cpu::native
