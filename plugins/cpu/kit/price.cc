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

double ByIsa(const Machine& m, double avx512, double avx2, double base) {
  return m.isa >= GE_ISA_AVX512 ? avx512 : m.isa == GE_ISA_AVX2 ? avx2 : base;
}

double Workers(const Machine& m, double elements) {
  return m.threads > 1 && elements > double{kParallel} ? 0.9 * m.threads : 1;
}

double ForkNs(const Machine& m, double elements) {
  return m.threads > 1 && elements > double{kParallel} ? kForkNs : 0;
}

uint64_t PackedBound(const Dims& dims, size_t first) {
  uint64_t floats = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    const auto d = static_cast<uint64_t>(dims[i]);
    floats *= i == first || i == first + 1 ? (d + 63) / 64 * 64 : d;
  }
  return 4 * floats + 256;  // and what a second pack is aligned to
}

double StreamNs(const Machine& m, double bytes) {
  const double ns = bytes < 768e3 ? bytes / (45 * m.stream[0])
                    : bytes < 6e6 ? bytes / (22 * m.stream[1])
                                  : bytes / (12 * m.stream[2]);
  return ns / (Workers(m, bytes / 4) > 1 ? 1.3 : 1);
}

double BytesOf(const Parser& p, uint32_t v) {
  return v == 0 ? 0 : static_cast<double>(Product(p.dims(v))) * p.size(v);
}

double PostOpsNs(const Unit& u, const Machine& m, double n, size_t from, size_t end) {
  // A post waits for the one before it: on a few numbers that takes as long as two and a half
  // vectors in a row do. 1,000 Sin and Neg on 4 floats: 14 ns each on AVX-512.
  const double least = 2.5 * ByIsa(m, 16, 8, 4);
  double ns = 0;
  for (size_t k = from; k < std::min(end, u.post_ops.size()); ++k) {
    ns += 4 + std::max(n, least) * FnNs(u.post_ops[k].fn, m) / m.compute;
  }
  return ns;
}

double PostOpBytes(const Unit& u, const Parser& p) {
  double bytes = 0;
  for (const PostOp& q : u.post_ops) bytes += BytesOf(p, q.operand);
  return bytes;
}

double FinishNs(const Unit& u, const Parser& p, const Machine& m, Finish how) {
  const double n = static_cast<double>(Product(u.dims));
  double bias = u.bias.empty() ? 0 : n * ByIsa(m, 0.08, 0.1, 0.18) / m.compute, ns = 0;
  size_t done = 0;
  if (how != Finish::kPasses) {
    done = UnaryPostOps(u);
    ns = PostOpsNs(u, m, n, 0, done) + (how == Finish::kInSums ? 0 : bias);
    bias = 0;
  }
  if (bias == 0 && done == u.post_ops.size()) return ns;
  const double bytes = PostOpBytes(u, p) + 2 * BytesOf(p, u.out[0]);
  return ns + kLoopNs + std::max(bias + PostOpsNs(u, m, n, done), StreamNs(m, bytes));
}

}  // namespace ge_engines::cpu
