// The cells of RNN, GRU and LSTM on rows of sums.
#include <cmath>
#include <cstdint>

#include "plugins/cpu/kit/simd/kernels.h"
#include "plugins/cpu/native/recurrent/recurrent.h"
#include "plugins/units/recurrent/recurrent.h"

namespace ge_engines::cpu::native {
namespace {

void Apply(const Simd& simd, const CellFn& f, float* x, int64_t n) {
  switch (f.kind) {
    case CellFn::kRelu:
      return simd.unary(Fn::kRelu, 0, 0, x, x, n);
    case CellFn::kTanh:
      return simd.unary(Fn::kTanh, 0, 0, x, x, n);
    case CellFn::kSigmoid:
      return simd.unary(Fn::kSigmoid, 0, 0, x, x, n);
    case CellFn::kAffine:
      return simd.unary(Fn::kLinear, f.a, f.b, x, x, n);
    case CellFn::kLeakyRelu:
      return simd.unary(Fn::kRelu, f.a, 0, x, x, n);
    case CellFn::kThresholdedRelu:
      for (int64_t i = 0; i < n; ++i) x[i] = x[i] >= f.a ? x[i] : 0;
      return;
    case CellFn::kScaledTanh:
      simd.unary(Fn::kLinear, f.b, 0, x, x, n);
      simd.unary(Fn::kTanh, 0, 0, x, x, n);
      return simd.unary(Fn::kLinear, f.a, 0, x, x, n);
    case CellFn::kHardSigmoid:
      return simd.unary(Fn::kHardSigmoid, f.a, f.b, x, x, n);
    case CellFn::kElu:
      return simd.unary(Fn::kElu, f.a, 0, x, x, n);
    case CellFn::kSoftsign:
      for (int64_t i = 0; i < n; ++i) x[i] /= 1 + std::fabs(x[i]);
      return;
    case CellFn::kSoftplus:
      return simd.unary(Fn::kSoftplus, 0, 0, x, x, n);
  }
}

void Act(const Simd& simd, const RecurrentSpec& s, const CellFn& f, float* x, int64_t n) {
  if (s.clip > 0) simd.unary(Fn::kClip, -s.clip, s.clip, x, x, n);
  Apply(simd, f, x, n);
}

bool Usual(const RecurrentSpec& s, const CellRows& q) {
  return s.clip <= 0 && !s.input_forget && q.peepholes == nullptr &&
         q.fn[0].kind == CellFn::kSigmoid && q.fn[1].kind == CellFn::kTanh &&
         (s.cell == Cell::kGru || q.fn[2].kind == CellFn::kTanh);
}

// z: i, o, f, c with all sums; h is scratch until it is made.
void LstmRow(const Simd& simd, const RecurrentSpec& s, const CellRows& q, float* z, float* c,
             float* h) {
  const int64_t n = s.hidden;
  float *i = z, *o = z + n, *f = z + 2 * n, *g = z + 3 * n;
  const auto see = [&](int64_t which, float* gate) {
    if (q.peepholes == nullptr) return;
    simd.binary(Fn::kMul, q.peepholes + which * n, c, h, n);
    simd.binary(Fn::kAdd, gate, h, gate, n);
  };
  see(0, i);
  Act(simd, s, q.fn[0], i, n);
  if (s.input_forget) {
    simd.unary(Fn::kLinear, -1, 1, i, f, n);
  } else {
    see(2, f);
    Act(simd, s, q.fn[0], f, n);
  }
  Act(simd, s, q.fn[1], g, n);
  simd.binary(Fn::kMul, f, c, c, n);
  simd.binary(Fn::kMul, i, g, g, n);
  simd.binary(Fn::kAdd, c, g, c, n);
  see(1, o);
  Act(simd, s, q.fn[0], o, n);
  simd.unary(Fn::kLinear, 1, 0, c, h, n);
  Apply(simd, q.fn[2], h, n);  // not clipped
  simd.binary(Fn::kMul, o, h, h, n);
}

// h = (1 - keep) * fresh + keep * h
void Blend(const Simd& simd, const float* keep, const float* fresh, float* h, int64_t n) {
  simd.binary(Fn::kSub, h, fresh, h, n);
  simd.binary(Fn::kMul, keep, h, h, n);
  simd.binary(Fn::kAdd, fresh, h, h, n);
}

}  // namespace

void RnnCells(const Simd& simd, const RecurrentSpec& spec, const CellRows& rows, int64_t n) {
  simd.binary(Fn::kAdd, rows.x, rows.z, rows.h, n * spec.hidden);
  Act(simd, spec, rows.fn[0], rows.h, n * spec.hidden);
}

void LstmCells(const Simd& simd, const RecurrentSpec& spec, const CellRows& rows, int64_t n) {
  const int64_t gates = spec.gates();
  const bool usual = Usual(spec, rows);
  for (int64_t r = 0; r < n; ++r) {
    const float* x = rows.x + r * gates;
    float *z = rows.z + r * gates, *c = rows.c + r * spec.hidden, *h = rows.h + r * spec.hidden;
    if (usual) {
      simd.lstm_cell(x, z, c, h, spec.hidden);
      continue;
    }
    simd.binary(Fn::kAdd, x, z, z, gates);
    LstmRow(simd, spec, rows, z, c, h);
  }
}

void GruCells(const Simd& simd, const RecurrentSpec& spec, const CellRows& rows, int64_t n) {
  const int64_t gates = spec.gates(), width = spec.hidden;
  const bool usual = Usual(spec, rows);
  for (int64_t r = 0; r < n; ++r) {
    const float* x = rows.x + r * gates;
    float *z = rows.z + r * gates, *h = rows.h + r * width, *fresh = z + 2 * width;
    if (usual) {
      simd.gru_cell(x, z, h, width);
      continue;
    }
    simd.binary(Fn::kAdd, x, z, z, 2 * width);
    Act(simd, spec, rows.fn[0], z, 2 * width);
    simd.binary(Fn::kMul, z + width, fresh, fresh, width);
    simd.binary(Fn::kAdd, x + 2 * width, fresh, fresh, width);
    Act(simd, spec, rows.fn[1], fresh, width);
    Blend(simd, z, fresh, h, width);
  }
}

void GruGates(const Simd& simd, const RecurrentSpec& spec, const CellRows& rows, int64_t n) {
  const int64_t width = spec.hidden;
  for (int64_t r = 0; r < n; ++r) {
    float* z = rows.z + r * 2 * width;
    simd.binary(Fn::kAdd, rows.x + r * spec.gates(), z, z, 2 * width);
    Act(simd, spec, rows.fn[0], z, 2 * width);
    simd.binary(Fn::kMul, z + width, rows.h + r * width, rows.left + r * width, width);
  }
}

void GruState(const Simd& simd, const RecurrentSpec& spec, const CellRows& rows,
              const float* product, int64_t n) {
  const int64_t width = spec.hidden;
  for (int64_t r = 0; r < n; ++r) {
    float* fresh = rows.left + r * width;
    simd.binary(Fn::kAdd, rows.x + r * spec.gates() + 2 * width, product + r * width, fresh, width);
    Act(simd, spec, rows.fn[1], fresh, width);
    Blend(simd, rows.z + r * 2 * width, fresh, rows.h + r * width, width);
  }
}

}  // namespace ge_engines::cpu::native
