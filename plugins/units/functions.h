// Functions of one and two numbers, reductions and forms of weights, named by units. Plain values.
#pragma once

#include <compare>
#include <cstdint>

namespace ge_engines {

// Unary functions with up to two parameters a, b; binary ones come after kFirstBinary.
enum class Fn : int {
  kLinear,       // a * x + b; b = -0.0 adds nothing, 0 would take the sign of -0.0
  kRelu,         // x < 0 ? a * x : x
  kClip,         // min(max(x, a), b)
  kSigmoid,      //
  kTanh,         //
  kHardSigmoid,  // clamp(a * x + b, 0, 1)
  kHardSwish,    // x * clamp(a * x + b, 0, 1)
  kSwish,        // x * sigmoid(x)
  kGelu,         // x * (1 + erf(x / sqrt 2)) / 2
  kGeluTanh,     // x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))) / 2
  kErf,
  kExp,
  kSqrt,
  kAbs,
  kReciprocal,
  kSquare,
  kCube,
  kSin,
  kCos,
  kLog,
  kFloor,
  kCeil,
  kRound,     // to even
  kSign,      // NaN stays NaN
  kElu,       // x < 0 ? a * (exp(x) - 1) : x
  kSoftplus,  // log(1 + exp(x))
  kShrink,    // x < -a ? x + b : x > a ? x - b : 0
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kSinh,
  kCosh,
  kAsinh,
  kAcosh,
  kAtanh,
  kFirstBinary,
  kAdd = kFirstBinary,
  kSub,
  kMul,
  kDiv,
  kMax,
  kMin,
  kRSub,   // y - x
  kRDiv,   // y / x
  kGate,   // y > 0 ? x : 0
  kRGate,  // x > 0 ? y : 0
  kPow,    // x to the power y
  kRPow,
  kFmod,  // x - y * (x / y rounded to zero)
  kRFmod,
  kMod,  // x - y * (x / y rounded down)
  kRMod,
  kAnd,  // these of integers alone
  kOr,
  kXor,
  kShiftLeft,  // by too many or negative places: 0, or -1 of a negative x to the right
  kShiftRight,
};
enum class Reduce : int { kSum, kMean, kMax, kMin };  // an extreme of NaN and others is NaN

// Reductions that are neither plain sums nor extremes of float32, and those of integers.
enum class FoldOp { kMax, kMin, kSum, kMean, kProd, kL1, kL2, kLogSum, kSumSquare };

// What becomes of an element and an update: numbers wrap, and NaN wins over what is compared.
enum class Update : uint8_t { kReplace, kAdd, kMul, kMax, kMin };

// Steps of optimizers.
enum class StepRule : uint8_t { kMomentum, kAdam, kRmsProp, kAdagrad, kLion, kLars, kLamb };

enum class Cell { kRnn, kGru, kLstm };
// An activation of a recurrent cell, with ONNX's name and its parameters.
struct CellFn {
  enum Kind {
    kRelu,
    kTanh,
    kSigmoid,
    kAffine,
    kLeakyRelu,
    kThresholdedRelu,
    kScaledTanh,
    kHardSigmoid,
    kElu,
    kSoftsign,
    kSoftplus
  } kind = kSigmoid;
  float a = 0, b = 0;
  auto operator<=>(const CellFn&) const = default;
};

// Weights of a few bits.
struct NBitsForm {
  int bits = 4;        // 2, 4 or 8
  int64_t block = 32;  // rows with one scale, a multiple of the weights in 32 bits
  int zero_bytes = 0;  // of a zero point: 1, an integer; 4, a float; 0: half the range
};

// Comparisons, and functions of bools; kNot has one operand.
enum class Relation : int32_t {
  kEqual,
  kLess,
  kGreater,
  kLessOrEqual,
  kGreaterOrEqual,
  kAnd,
  kOr,
  kXor,
  kNot
};

}  // namespace ge_engines
