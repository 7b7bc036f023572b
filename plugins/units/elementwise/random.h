// Random numbers: RandomNormal, RandomUniform, those like a tensor, Bernoulli. Pure; any thread.
#pragma once

#include "plugins/units/philox.h"
#include "plugins/units/unit.h"

namespace ge_engines {

struct RandomSpec {  // in: of Bernoulli its probabilities, else nothing that is read
  enum class Of : uint8_t { kUniform, kNormal, kBernoulli } of = Of::kUniform;
  double at = 0, width = 1;  // results are at + width * draw
  PhiloxKey key;
  static const UnitKind kKind;
};

}  // namespace ge_engines
