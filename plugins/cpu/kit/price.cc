#include "plugins/cpu/kit/price.h"

#include <algorithm>

#include "plugins/cpu/kit/loop_parts.h"

namespace ge_cpu {
namespace {

constexpr double kApartNs = 0.3;  // an element whose neighbours in memory change

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

// ns an element of x beside its bytes, one thread.
double MainNs(const Unit& u, const Machine& m) {
  if (Is<ReduceSpec>(u)) return ByIsa(m, 0.2, 0.2, 0.3);
  if (Is<LayerNormSpec>(u)) return ByIsa(m, 0.28, 0.29, 0.56);
  const auto* softmax = As<SoftmaxSpec>(u);
  if (softmax == nullptr) return 0;
  const bool last = softmax->axis + 1 == static_cast<int>(u.dims.size());
  return last ? ByIsa(m, 0.52, 1.25, 3.3) : ByIsa(m, 0.7, 1.5, 3.6);
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

double StreamNs(const Machine& m, double bytes) {
  const double ns = bytes < 768e3 ? bytes / (45 * m.stream[0])
                    : bytes < 6e6 ? bytes / (22 * m.stream[1])
                                  : bytes / (12 * m.stream[2]);
  return ns / (Workers(m, bytes / 4) > 1 ? 1.3 : 1);
}

double BytesOf(const Parser& p, uint32_t v) {
  return v == 0 ? 0 : static_cast<double>(Product(p.dims(v))) * p.size(v);
}

double PostsNs(const Unit& u, const Machine& m, double n, size_t from, size_t end) {
  // A post waits for the one before it: on a few numbers that takes as long as two and a half
  // vectors in a row do. 1,000 Sin and Neg on 4 floats: 14 ns each on AVX-512.
  const double least = 2.5 * ByIsa(m, 16, 8, 4);
  double ns = 0;
  for (size_t k = from; k < std::min(end, u.posts.size()); ++k) {
    ns += 4 + std::max(n, least) * FnNs(u.posts[k].fn, m) / m.compute;
  }
  return ns;
}

double PostBytes(const Unit& u, const Parser& p) {
  double bytes = 0;
  for (const Post& q : u.posts) bytes += BytesOf(p, q.operand);
  return bytes;
}

double FinishNs(const Unit& u, const Parser& p, const Machine& m, Finish how) {
  const double n = static_cast<double>(Product(u.dims));
  double bias = u.bias.empty() ? 0 : n * ByIsa(m, 0.08, 0.1, 0.18) / m.compute, ns = 0;
  size_t done = 0;
  if (how != Finish::kPasses) {
    done = UnaryPosts(u);
    ns = PostsNs(u, m, n, 0, done) + (how == Finish::kInSums ? 0 : bias);
    bias = 0;
  }
  if (bias == 0 && done == u.posts.size()) return ns;
  const double bytes = PostBytes(u, p) + 2 * BytesOf(p, u.out[0]);
  return ns + kLoopNs + std::max(bias + PostsNs(u, m, n, done), StreamNs(m, bytes));
}

Price LoopPriceOf(const Unit& u, const Parser& p, const Machine& m) {
  Price out;
  const double n = static_cast<double>(Product(u.dims));
  const double x = static_cast<double>(Product(p.dims(u.in[0])));
  if (Is<ViewSpec, TransposeSpec, SliceSpec>(u)) {
    // A view inside a segment, a copy at its border.
    out.work_ns = 1;
    out.border_ns = kLoopNs + 2 * StreamNs(m, BytesOf(p, u.out[0]));
    const auto* t = As<TransposeSpec>(u);
    const bool apart = t != nullptr && !t->perm.empty() &&
                       t->perm.back() + 1 != static_cast<int64_t>(t->perm.size());
    if (apart) out.border_ns += n * kApartNs / m.compute;
    return out;
  }
  double bytes = PostBytes(u, p);
  for (uint32_t v : u.in) bytes += BytesOf(p, v);
  for (uint32_t v : u.out) bytes += BytesOf(p, v);
  const double work = x * MainNs(u, m) / m.compute + PostsNs(u, m, n);
  const double most = std::max(n, x);
  out.work_ns = kLoopNs + ForkNs(m, most) + std::max(work / Workers(m, most), StreamNs(m, bytes));
  out.workspace = static_cast<uint64_t>(BytesOf(p, u.out[0]));
  return out;
}

}  // namespace ge_cpu
