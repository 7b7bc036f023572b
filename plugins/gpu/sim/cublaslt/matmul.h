// A product of matrices as the simulated cuBLASLt reads it out of descriptors: what is wrong with
// it, which bytes it touches, and its loops. Plain values; any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "plugins/device/sim/simulator.h"
#include "plugins/gpu/vendor/cublaslt.h"

namespace ge_engines::gpu::sim {

// ---- what descriptors hold. `mark` tells one from memory that nobody initialized.
struct Layout {
  static constexpr uint64_t kMark = 0x6765206c61796f75;
  uint64_t mark;
  int32_t type, batch;
  uint64_t rows, columns;
  int64_t lead, stride;  // elements from column to column, from matrix to matrix
};
struct Desc {
  static constexpr uint64_t kMark = 0x6765206465736372;
  uint64_t mark;
  int32_t compute, scale, trans_a, trans_b;
  uint32_t epilogue;
  const void* bias;
};
struct Preference {
  static constexpr uint64_t kMark = 0x6765207072656665;
  uint64_t mark, workspace;
  uint32_t schemes;
};
struct Algo {
  static constexpr uint64_t kMark = 0x676520616c676f72;
  uint64_t mark;
  uint64_t product;  // Matmul::Key of the one that it was chosen for
  uint64_t workspace;
  int64_t parts;  // of the depth, which are summed apart
};

// A descriptor of the library's as one of these; nullptr where it is none.
template <class T, class Opaque>
T* As(Opaque* opaque) {
  static_assert(sizeof(T) <= sizeof(Opaque) && alignof(T) <= alignof(uint64_t));
  auto* given = reinterpret_cast<T*>(opaque);
  return given != nullptr && given->mark == T::kMark ? given : nullptr;
}

// What a call hands over beside descriptors.
struct MatmulPlaces {
  const void *a, *b, *c;
  void* d;
  void* workspace;
  size_t workspace_bytes;
};

class Matmul {
 public:
  // From descriptors of the library's. What is no product is no kSuccess.
  cublaslt::Status Read(cublaslt::MatmulDesc* desc, cublaslt::MatrixLayout* a,
                        cublaslt::MatrixLayout* b, cublaslt::MatrixLayout* c,
                        cublaslt::MatrixLayout* d);
  // Of everything that an algorithm depends on.
  uint64_t Key() const;
  Algo Choose(const Preference& preference) const;
  cublaslt::Status Bind(const MatmulPlaces& at, const Algo& algo, float alpha, float beta);
  std::vector<device::sim::Range> Reads() const;
  std::vector<device::sim::Range> Writes() const;
  void Run() const;

 private:
  bool Supported() const;
  device::sim::Range RangeOf(const Layout& layout, const void* at) const;
  device::sim::Range Bias() const;
  void RunOne(int64_t batch, int64_t part, float* sums) const;
  void Finish(int64_t batch, const float* sums) const;

  Desc desc_ = {};
  Layout a_ = {}, b_ = {}, c_ = {}, d_ = {};
  int64_t rows_ = 0, columns_ = 0, depth_ = 0;
  MatmulPlaces at_ = {};
  Algo algo_ = {};
  float alpha_ = 1, beta_ = 0;
};

}  // namespace ge_engines::gpu::sim
