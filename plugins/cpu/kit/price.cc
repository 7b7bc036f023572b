#include "plugins/cpu/kit/price.h"

#include <algorithm>

#include "plugins/cpu/kit/loop_parts.h"

namespace ge_engines::cpu {
namespace {

// ns an element on one thread at 2.8 GHz, rows of 2,048 floats.
double FnNs(Fn fn, const Machine& m) {
  switch (fn) {
    case Fn::kGelu:
      return ByIsa(m, 0.37, 0.46, 1.4);
    case Fn::kGeluTanh:
      return ByIsa(m, 0.65, 1.5, 4.3);
    case Fn::kErf:
    case Fn::kTanh:
    case Fn::kSigmoid:
    case Fn::kSwish:
    case Fn::kExp:
    case Fn::kSin:
      return ByIsa(m, 0.42, 1, 3);
    case Fn::kAtan:
    case Fn::kAsin:
    case Fn::kAcos:
    case Fn::kTan:
      return ByIsa(m, 0.5, 1.2, 3.5);
    case Fn::kSinh:
    case Fn::kCosh:
      return ByIsa(m, 0.7, 1.8, 5);
    case Fn::kAsinh:
    case Fn::kAcosh:
    case Fn::kAtanh:
      return ByIsa(m, 1.2, 2.5, 7);
    case Fn::kPow:
    case Fn::kRPow:
      return ByIsa(m, 2, 4, 9);
    case Fn::kFmod:
    case Fn::kRFmod:
    case Fn::kMod:
    case Fn::kRMod:
      return ByIsa(m, 1, 1.5, 3);
    case Fn::kDiv:
    case Fn::kRDiv:
    case Fn::kReciprocal:
    case Fn::kSqrt:
      return ByIsa(m, 0.21, 0.21, 0.25);
    default:
      return ByIsa(m, 0.08, 0.1, 0.18);
  }
}

}  // namespace

double ByIsa(const Machine& machine, double avx512, double avx2, double base) {
  return machine.isa >= GE_ISA_AVX512 ? avx512 : machine.isa == GE_ISA_AVX2 ? avx2 : base;
}

double Workers(const Machine& machine, double elements) {
  return machine.threads > 1 && elements > double{kParallel} ? 0.9 * machine.threads : 1;
}

double ForkNs(const Machine& machine, double elements) {
  return machine.threads > 1 && elements > double{kParallel} ? kForkNs : 0;
}

uint64_t PackedBound(const Dims& dims, size_t first) {
  uint64_t floats = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    const auto d = static_cast<uint64_t>(dims[i]);
    floats *= i == first || i == first + 1 ? (d + 63) / 64 * 64 : d;
  }
  return 4 * floats + 256;  // and what a second pack is aligned to
}

double StreamNs(const Machine& machine, double bytes) {
  const double ns = bytes < 768e3 ? bytes / (45 * machine.stream[0])
                    : bytes < 6e6 ? bytes / (22 * machine.stream[1])
                                  : bytes / (12 * machine.stream[2]);
  return ns / (Workers(machine, bytes / 4) > 1 ? 1.3 : 1);
}

double BytesOf(const Parser& parser, uint32_t value) {
  return value == 0 ? 0 : static_cast<double>(Product(parser.dims(value))) * parser.size(value);
}

double PostOpsNs(const Unit& unit, const Machine& machine, double n, size_t from, size_t end) {
  // A post waits for the one before it: on a few numbers that takes as long as two and a half
  // vectors in a row do. 1,000 Sin and Neg on 4 floats: 14 ns each on AVX-512.
  const double least = 2.5 * ByIsa(machine, 16, 8, 4);
  double ns = 0;
  for (size_t k = from; k < std::min(end, unit.post_ops.size()); ++k) {
    ns += 4 + std::max(n, least) * FnNs(unit.post_ops[k].fn, machine) / machine.compute;
  }
  return ns;
}

double PostOpBytes(const Unit& unit, const Parser& parser) {
  double bytes = 0;
  for (const PostOp& q : unit.post_ops) bytes += BytesOf(parser, q.operand);
  return bytes;
}

double FinishNs(const Unit& unit, const Parser& parser, const Machine& machine, Finish how) {
  const double n = static_cast<double>(Product(unit.dims));
  double bias = unit.bias.empty() ? 0 : n * ByIsa(machine, 0.08, 0.1, 0.18) / machine.compute,
         ns = 0;
  size_t done = 0;
  if (how != Finish::kPasses) {
    done = UnaryPostOps(unit);
    ns = PostOpsNs(unit, machine, n, 0, done) + (how == Finish::kInSums ? 0 : bias);
    bias = 0;
  }
  if (bias == 0 && done == unit.post_ops.size()) return ns;
  const double bytes = PostOpBytes(unit, parser) + 2 * BytesOf(parser, unit.out[0]);
  return ns + kLoopNs +
         std::max(bias + PostOpsNs(unit, machine, n, done), StreamNs(machine, bytes));
}

}  // namespace ge_engines::cpu
