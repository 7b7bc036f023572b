#include "plugins/ascend/api/functions.h"

namespace ge_engines::ascend::acl {
namespace {

const struct {
  Fn fn;
  Unary Operators::*op;
} kUnary[] = {
    {Fn::kAbs, &Operators::Abs},
    {Fn::kAcos, &Operators::Acos},
    {Fn::kAcosh, &Operators::Acosh},
    {Fn::kAsin, &Operators::Asin},
    {Fn::kAsinh, &Operators::Asinh},
    {Fn::kAtan, &Operators::Atan},
    {Fn::kAtanh, &Operators::Atanh},
    {Fn::kCeil, &Operators::Ceil},
    {Fn::kCos, &Operators::Cos},
    {Fn::kCosh, &Operators::Cosh},
    {Fn::kErf, &Operators::Erf},
    {Fn::kExp, &Operators::Exp},
    {Fn::kFloor, &Operators::Floor},
    {Fn::kGelu, &Operators::Gelu},  // by erf
    {Fn::kHardSwish, &Operators::Hardswish},
    {Fn::kLog, &Operators::Log},
    {Fn::kReciprocal, &Operators::Reciprocal},
    {Fn::kRound, &Operators::Round},
    {Fn::kSigmoid, &Operators::Sigmoid},
    {Fn::kSign, &Operators::Sign},
    {Fn::kSin, &Operators::Sin},
    {Fn::kSinh, &Operators::Sinh},
    {Fn::kSqrt, &Operators::Sqrt},
    {Fn::kSwish, &Operators::Silu},
    {Fn::kTan, &Operators::Tan},
    {Fn::kTanh, &Operators::Tanh},
};

const struct {
  Fn fn;
  Binary Operators::*op;
  bool swapped;
} kBinary[] = {
    {Fn::kMul, &Operators::Mul, false},
    {Fn::kDiv, &Operators::Div, false},
    {Fn::kRDiv, &Operators::Div, true},
    {Fn::kMax, &Operators::Maximum, false},
    {Fn::kMin, &Operators::Minimum, false},
    {Fn::kPow, &Operators::PowTensorTensor, false},
    {Fn::kRPow, &Operators::PowTensorTensor, true},
    {Fn::kFmod, &Operators::FmodTensor, false},
    {Fn::kRFmod, &Operators::FmodTensor, true},
};

const struct {
  Relation relation;
  Binary Operators::*op;
} kRelations[] = {
    {Relation::kEqual, &Operators::EqTensor},
    {Relation::kLess, &Operators::LtTensor},
    {Relation::kGreater, &Operators::GtTensor},
    {Relation::kLessOrEqual, &Operators::LeTensor},
    {Relation::kGreaterOrEqual, &Operators::GeTensor},
    {Relation::kAnd, &Operators::LogicalAnd},
    {Relation::kOr, &Operators::LogicalOr},
    {Relation::kXor, &Operators::LogicalXor},
};

}  // namespace

const Unary* UnaryOf(Fn fn, const Operators& op) {
  for (const auto& known : kUnary) {
    if (known.fn == fn) return &(op.*known.op);
  }
  return nullptr;
}

const Binary* BinaryOf(Fn fn, const Operators& op, bool* swapped) {
  for (const auto& known : kBinary) {
    if (known.fn != fn) continue;
    *swapped = known.swapped;
    return &(op.*known.op);
  }
  return nullptr;
}

const Binary* RelationOf(Relation relation, const Operators& op) {
  for (const auto& known : kRelations) {
    if (known.relation == relation) return &(op.*known.op);
  }
  return nullptr;
}

}  // namespace ge_engines::ascend::acl
