// OpenBLAS, opened at run time: its routines for the engine and the facts about the library. It is
// never closed. Construct it in one thread; any thread may call the routines.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include "plugins/cpu/kit/engine.h"

namespace ge_engines::cpu::openblas {

// CBLAS's constants: the runtime package lacks its header.
inline constexpr int kRowMajor = 101, kNoTrans = 111, kTrans = 112;
// The routines of float (s) or double (d).
template <class T>
struct Routines {
  void (*gemm)(int order, int trans_a, int trans_b, int m, int n, int k, T alpha, const T* a,
               int lda, const T* b, int ldb, T beta, T* c, int ldc) = nullptr;
  void (*gemv)(int order, int trans, int m, int n, T alpha, const T* a, int lda, const T* x,
               int incx, T beta, T* y, int incy) = nullptr;
};

class Vendor {
 public:
  // Whether the library is there and will take the kernels of the machine's instruction set, judged
  // without opening it (3 to 4 ms): no setting says otherwise.
  static bool IsSure();
  // Throws Refusal if the address space has no room for the library's buffers: without them it
  // never returns. Opens nothing.
  static void CheckRoom(int threads);
  // Calls CheckRoom; also throws Refusal if the library is missing, lacks a routine, or would use
  // instructions above the machine's. Warns through host (may be nullptr) if the library brings its
  // own thread pool.
  Vendor(const ge_host_api* host, const Machine& machine);

  template <class T>
  const Routines<T>& routines() const {
    if constexpr (std::is_same_v<T, double>) {
      return doubles_;
    } else {
      return floats_;
    }
  }
  // LAPACK's, of double, in its own order: columns behind each other.
  void (*getrf)(const int* m, const int* n, double* a, const int* lda, int* pivots,
                int* info) = nullptr;
  void (*getri)(const int* n, double* a, const int* lda, const int* pivots, double* work,
                const int* lwork, int* info) = nullptr;
  uint32_t isa() const { return isa_; }  // GE_ISA_* of its kernels
  // OpenMP of the library itself; null if it links none.
  void (*set_threads)(int) = nullptr;
  int (*max_threads)() = nullptr;

 private:
  void* Symbol(const char* name) const;
  template <class T>
  void Find(const char* gemm, const char* gemv, Routines<T>* to) const;
  // Maps the buffers of so many computing threads, while there is room for them.
  void MapBuffers(int threads) const;

  void* library_ = nullptr;
  std::string path_;
  uint32_t isa_ = 0;
  Routines<float> floats_;
  Routines<double> doubles_;
};

// OpenBLAS on the calling thread alone while this lives: its OpenMP is not the one of the host's
// threads, and knows of no region that they are in.
class Alone {
 public:
  explicit Alone(const Vendor& blas)
      : blas_(blas), old_(blas.max_threads != nullptr ? blas.max_threads() : 1) {
    if (old_ != 1) blas_.set_threads(1);
  }
  ~Alone() {
    if (old_ != 1) blas_.set_threads(old_);
  }
  Alone(const Alone&) = delete;
  Alone& operator=(const Alone&) = delete;

 private:
  const Vendor& blas_;
  int old_;
};

// A product of row-major matrices, C[m][n] = alpha * op(A) * op(B) + beta * C; vectors go to gemv.
template <class T>
struct Product2 {
  bool trans_a = false, trans_b = false;  // A is stored [k][m], B is stored [n][k]
  int m = 0, n = 0, k = 0;
  int lda = 0, ldb = 0, ldc = 0;  // elements from one stored row to the next
  T alpha = 1, beta = 0;
  // Runs on OpenBLAS's own threads.
  void Run(const Vendor& blas, const T* a, const T* b, T* c) const;
  // Runs on the calling thread alone.
  void RunAlone(const Vendor& blas, const T* a, const T* b, T* c) const;
  // Runs one of `parts` strips along C's longer side, on the calling thread alone.
  void RunStrip(const Vendor& blas, int part, int parts, const T* a, const T* b, T* c) const;
};
extern template struct Product2<float>;
extern template struct Product2<double>;

}  // namespace ge_engines::cpu::openblas
