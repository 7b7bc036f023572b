#include "plugins/gpu/sim/cublaslt/matmul.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "plugins/gpu/kernels/number.h"

namespace ge_engines::gpu::sim {
namespace {

using cublaslt::Status;
using device::sim::Range;

constexpr uintptr_t kAlign = 256;  // of addresses, where no preference says less

bool Aligned(const void* address) {
  return address != nullptr && reinterpret_cast<uintptr_t>(address) % kAlign == 0;
}

bool Overlap(const Range& x, const Range& y) {
  const auto begin = [](const Range& r) { return reinterpret_cast<uintptr_t>(r.data); };
  return begin(x) < begin(y) + y.bytes && begin(y) < begin(x) + x.bytes;
}

Number NumberOf(int32_t type) {
  return type == cublaslt::kF32   ? Number::kF32
         : type == cublaslt::kF16 ? Number::kF16
                                  : Number::kBf16;
}

// To the ten digits behind the point that TF32 has, to nearest.
float Tf32(float x) {
  const auto bits = BitsAs<uint32_t>(x);
  if ((bits & 0x7f800000u) == 0x7f800000u) return x;
  return BitsAs<float>((bits + 0x1000u) & 0xffffe000u);
}

int64_t BytesOf(int32_t type) { return type == cublaslt::kF32 ? 4 : 2; }

Status CheckLayout(const Layout* layout, int32_t batch) {
  if (layout == nullptr || layout->rows == 0 || layout->columns == 0) {
    return cublaslt::kInvalidValue;
  }
  if (layout->lead < static_cast<int64_t>(layout->rows) || layout->batch != batch || batch < 1 ||
      layout->stride < 0) {
    return cublaslt::kInvalidValue;
  }
  return cublaslt::kSuccess;
}

bool IsEpilogue(uint32_t epilogue) {
  const uint32_t activation = epilogue & ~uint32_t{cublaslt::kEpilogueBias};
  return epilogue == cublaslt::kEpilogueDefault || epilogue == cublaslt::kEpilogueBias ||
         activation == cublaslt::kEpilogueRelu || activation == cublaslt::kEpilogueGelu;
}

}  // namespace

Status Matmul::Read(cublaslt::MatmulDesc* desc, cublaslt::MatrixLayout* a,
                    cublaslt::MatrixLayout* b, cublaslt::MatrixLayout* c,
                    cublaslt::MatrixLayout* d) {
  const Desc* given = As<Desc>(desc);
  const Layout *la = As<Layout>(a), *lb = As<Layout>(b), *lc = As<Layout>(c), *ld = As<Layout>(d);
  if (given == nullptr || ld == nullptr) return cublaslt::kInvalidValue;
  for (const Layout* one : {la, lb, lc, ld}) {
    const Status s = CheckLayout(one, ld->batch);
    if (s != cublaslt::kSuccess) return s;
  }
  desc_ = *given;
  a_ = *la;
  b_ = *lb;
  c_ = *lc;
  d_ = *ld;
  if (!Supported()) return cublaslt::kNotSupported;
  for (const int32_t operation : {desc_.trans_a, desc_.trans_b}) {
    if (operation != cublaslt::kPlain && operation != cublaslt::kTransposed) {
      return cublaslt::kInvalidValue;
    }
  }
  if (!IsEpilogue(desc_.epilogue)) return cublaslt::kInvalidValue;
  const auto rows = static_cast<int64_t>(d_.rows), columns = static_cast<int64_t>(d_.columns);
  const auto a_rows = static_cast<int64_t>(desc_.trans_a ? a_.columns : a_.rows);
  const auto b_columns = static_cast<int64_t>(desc_.trans_b ? b_.rows : b_.columns);
  rows_ = rows;
  columns_ = columns;
  depth_ = static_cast<int64_t>(desc_.trans_a ? a_.rows : a_.columns);
  const auto b_depth = static_cast<int64_t>(desc_.trans_b ? b_.columns : b_.rows);
  const bool dense = d_.batch == 1 || d_.stride >= (columns - 1) * d_.lead + rows;
  const bool fits = a_rows == rows && b_columns == columns && b_depth == depth_ &&
                    c_.rows == d_.rows && c_.columns == d_.columns;
  return fits && dense ? cublaslt::kSuccess : cublaslt::kInvalidValue;
}

// Matrices of one type; C and D may be of float32 all the same.
bool Matmul::Supported() const {
  const int32_t type = a_.type;
  const bool known = type == cublaslt::kF32 || type == cublaslt::kF16 || type == cublaslt::kBf16;
  const bool fast = desc_.compute == cublaslt::kComputeFastTf32;
  return known && b_.type == type && c_.type == d_.type &&
         (d_.type == type || d_.type == cublaslt::kF32) &&
         (desc_.compute == cublaslt::kComputeF32 || (fast && type == cublaslt::kF32)) &&
         desc_.scale == cublaslt::kF32;
}

uint64_t Matmul::Key() const {
  uint64_t key = 1469598103934665603u;
  const auto add = [&](uint64_t value) { key = (key ^ value) * 1099511628211u; };
  for (const Layout* l : {&a_, &b_, &c_, &d_}) {
    add(static_cast<uint64_t>(l->type));
    add(static_cast<uint64_t>(l->batch));
    add(l->rows);
    add(l->columns);
    add(static_cast<uint64_t>(l->lead));
    add(static_cast<uint64_t>(l->stride));
  }
  add(static_cast<uint64_t>(desc_.compute));
  add(static_cast<uint64_t>(2 * desc_.trans_a + desc_.trans_b));
  add(desc_.epilogue);
  return key;
}

Algo Matmul::Choose(const Preference& preference) const {
  // Deep products of few results are cut along the depth: the parts lie in the workspace.
  constexpr int64_t kDeep = 512, kFew = 4096, kParts = 4;
  Algo algo = {Algo::kMark, Key(), 0, 1};
  const int64_t results = rows_ * columns_ * d_.batch;
  const auto bytes = static_cast<uint64_t>(kParts * results) * sizeof(float);
  if (depth_ >= kDeep && results <= kFew && bytes <= preference.workspace &&
      (preference.schemes & cublaslt::kReductionComputeType) != 0) {
    algo.workspace = bytes;
    algo.parts = kParts;
  }
  return algo;
}

Status Matmul::Bind(const MatmulPlaces& at, const Algo& algo, float alpha, float beta) {
  if (algo.product != Key()) return cublaslt::kInvalidValue;
  at_ = at;
  algo_ = algo;
  alpha_ = alpha;
  beta_ = beta;
  if (!Aligned(at.a) || !Aligned(at.b) || !Aligned(at.d) || (beta != 0 && !Aligned(at.c))) {
    return cublaslt::kInvalidValue;
  }
  if ((desc_.epilogue & cublaslt::kEpilogueBias) != 0 && !Aligned(desc_.bias)) {
    return cublaslt::kInvalidValue;
  }
  if (algo.workspace > 0 && (!Aligned(at.workspace) || at.workspace_bytes < algo.workspace)) {
    return cublaslt::kInvalidValue;
  }
  // The result may take the place of C, and of nothing else that the call touches.
  const Range d = RangeOf(d_, at.d);
  std::vector<Range> others = {RangeOf(a_, at.a), RangeOf(b_, at.b)};
  if ((desc_.epilogue & cublaslt::kEpilogueBias) != 0) others.push_back(Bias());
  if (algo.workspace > 0) others.push_back({at.workspace, algo.workspace});
  if (beta != 0 && (at.c != at.d || c_.lead != d_.lead || c_.stride != d_.stride)) {
    others.push_back(RangeOf(c_, at.c));
  }
  for (const Range& other : others) {
    if (Overlap(d, other)) return cublaslt::kInvalidValue;
  }
  return cublaslt::kSuccess;
}

Range Matmul::RangeOf(const Layout& layout, const void* at) const {
  const int64_t elements = (layout.batch - 1) * layout.stride +
                           static_cast<int64_t>(layout.columns - 1) * layout.lead +
                           static_cast<int64_t>(layout.rows);
  return {at, static_cast<size_t>(elements * BytesOf(layout.type))};
}

Range Matmul::Bias() const { return {desc_.bias, static_cast<size_t>(rows_ * BytesOf(d_.type))}; }

std::vector<Range> Matmul::Reads() const {
  std::vector<Range> reads = {RangeOf(a_, at_.a), RangeOf(b_, at_.b)};
  if (beta_ != 0) reads.push_back(RangeOf(c_, at_.c));
  if ((desc_.epilogue & cublaslt::kEpilogueBias) != 0) reads.push_back(Bias());
  return reads;
}

std::vector<Range> Matmul::Writes() const {
  std::vector<Range> writes = {RangeOf(d_, at_.d)};
  if (algo_.workspace > 0) writes.push_back({at_.workspace, algo_.workspace});
  return writes;
}

// ---- the loops ---------------------------------------------------------------------------------

// sums[column][row], of a part of the depth, in sums of a piece each, so that deep products keep
// their digits.
void Matmul::RunOne(int64_t batch, int64_t part, float* sums) const {
  constexpr int64_t kPiece = 64;
  const int64_t first = depth_ * part / algo_.parts, end = depth_ * (part + 1) / algo_.parts;
  const Number of = NumberOf(a_.type);
  const bool round = desc_.compute == cublaslt::kComputeFastTf32;
  const auto read = [&](const void* x, const Layout& l, int64_t row, int64_t column) {
    const float v = FloatAt(x, of, batch * l.stride + column * l.lead + row);
    return round ? Tf32(v) : v;
  };
  const auto n = static_cast<size_t>(rows_);
  std::vector<float> left(static_cast<size_t>(end - first) * n);  // [depth][row]
  for (int64_t k = first; k < end; ++k) {
    for (int64_t i = 0; i < rows_; ++i) {
      left[static_cast<size_t>((k - first) * rows_ + i)] =
          desc_.trans_a ? read(at_.a, a_, k, i) : read(at_.a, a_, i, k);
    }
  }
  std::vector<float> piece(n);
  for (int64_t j = 0; j < columns_; ++j) {
    float* total = sums + j * rows_;
    std::fill_n(total, n, 0.0f);
    for (int64_t k = first; k < end; k += kPiece) {
      std::fill(piece.begin(), piece.end(), 0.0f);
      for (int64_t p = k; p < std::min(end, k + kPiece); ++p) {
        const float b = desc_.trans_b ? read(at_.b, b_, j, p) : read(at_.b, b_, p, j);
        const float* a = left.data() + (p - first) * rows_;
        for (size_t i = 0; i < n; ++i) piece[i] += a[i] * b;
      }
      for (size_t i = 0; i < n; ++i) total[i] += piece[i];
    }
  }
}

void Matmul::Finish(int64_t batch, const float* sums) const {
  const Number of = NumberOf(d_.type);
  for (int64_t j = 0; j < columns_; ++j) {
    for (int64_t i = 0; i < rows_; ++i) {
      const int64_t c = batch * c_.stride + j * c_.lead + i;
      float v = alpha_ * sums[j * rows_ + i];
      if (beta_ != 0) v += beta_ * FloatAt(at_.c, of, c);
      if ((desc_.epilogue & cublaslt::kEpilogueBias) != 0) v += FloatAt(desc_.bias, of, i);
      if ((desc_.epilogue & cublaslt::kEpilogueRelu) != 0 && v < 0) v = 0;
      if ((desc_.epilogue & cublaslt::kEpilogueGelu) != 0) {
        v = v * (1 + std::tanh(0.7978845608f * (v + 0.044715f * v * v * v))) / 2;
      }
      StoreFloat(at_.d, of, batch * d_.stride + j * d_.lead + i, v);
    }
  }
}

void Matmul::Run() const {
  const auto results = static_cast<size_t>(rows_ * columns_);
  std::vector<float> own(algo_.workspace > 0 ? 0 : results);
  for (int64_t batch = 0; batch < d_.batch; ++batch) {
    const auto part_of = [&](int64_t part) {
      if (algo_.workspace == 0) return own.data();
      return static_cast<float*>(at_.workspace) +
             static_cast<size_t>(batch * algo_.parts + part) * results;
    };
    for (int64_t part = 0; part < algo_.parts; ++part) RunOne(batch, part, part_of(part));
    float* sums = part_of(0);
    for (int64_t part = 1; part < algo_.parts; ++part) {
      for (size_t i = 0; i < results; ++i) sums[i] += part_of(part)[i];
    }
    Finish(batch, sums);
  }
}

}  // namespace ge_engines::gpu::sim
