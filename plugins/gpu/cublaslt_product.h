// CublasLtProduct: one product of matrices by cuBLASLt on one device: its descriptors and the
// algorithm that the library's heuristics put first. Made at compile; a launch hands over
// addresses alone, allocates nothing and may be captured. Any thread may queue it.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "plugins/device/program.h"
#include "plugins/gpu/cublaslt_library.h"

namespace ge_engines::gpu {

// In the library's terms: matrices lie column by column. D = activation(alpha A B + C + bias); D
// has `rows` x `columns`, and so has C. Batches follow each other without gaps.
struct CublasLtShape {
  cublaslt::DataType type = cublaslt::kF32;    // of A and B
  cublaslt::DataType result = cublaslt::kF32;  // of C, D and the bias: the same, or float32
  bool tf32 = false;                           // float32 may be rounded to TF32
  int64_t rows = 1, columns = 1, depth = 1, batch = 1;
  bool trans_a = false, trans_b = false;      // A lies as depth x rows, B as columns x depth
  bool a_repeats = false, b_repeats = false;  // one matrix for all of the batch
  float alpha = 1;
  bool adds = false, biased = false;  // there is a C, a bias of `rows` elements
  cublaslt::Epilogue activation = cublaslt::kEpilogueDefault;  // or one of kEpilogueRelu, ...Gelu
};

class CublasLtProduct {
 public:
  // nullptr where the library does not make it; *why says so. `most_workspace`: bytes.
  static std::unique_ptr<CublasLtProduct> Make(const CublasLtLibrary& library, int device,
                                               const CublasLtShape& shape, uint64_t most_workspace,
                                               std::string* why);
  uint64_t workspace() const { return workspace_; }
  // `at`: D, A, B, then C and the bias where it has them, then the workspace where that has bytes.
  Result Queue(cuda::Stream stream, std::span<const device::Buffer> at) const;

 private:
  CublasLtProduct(const CublasLtLibrary& library, int device, const CublasLtShape& shape)
      : library_(library), device_(device), shape_(shape) {}
  cublaslt::Status Describe(const void* bias, cublaslt::MatmulDesc* desc) const;
  cublaslt::Status Lay(cublaslt::DataType type, int64_t rows, int64_t columns, bool repeats,
                       cublaslt::MatrixLayout* layout) const;
  cublaslt::Status LayAll();
  cublaslt::Status Choose(cublaslt::Handle handle, uint64_t most_workspace);

  const CublasLtLibrary& library_;
  const int device_;
  const CublasLtShape shape_;
  // The library reads them, though it takes pointers to what may change.
  mutable cublaslt::MatrixLayout a_, b_, d_;
  cublaslt::MatmulAlgo algo_;
  uint64_t workspace_ = 0;
};

}  // namespace ge_engines::gpu
