// What becomes of each kind of unit, a table a family. Pure; one thread records.
#pragma once

#include <span>

#include "plugins/ascend/calls.h"
#include "plugins/units/unit.h"

namespace ge_engines::ascend {

// What a unit does where its images lie in NC1HWC0.
enum class Blocks : uint8_t {
  kNever,  // it reads and makes plain ones
  kLikes,  // it works in it, and has plain ones brought there
  kKeeps,  // it works in the format that they have
};

struct AscendKind {
  const UnitKind* kind;
  // Adds the calls of a unit, or refuses it: also in a rehearsal. Null: plugins/device makes it.
  void (*record)(const Unit& unit, Calls* calls);
  // Whether all tensors of a unit must have one dtype, of floats; the engine looks at that.
  bool one_float = true;
  Blocks blocks = Blocks::kNever;
};

std::span<const AscendKind> PointwiseKinds();
std::span<const AscendKind> ProductKinds();
std::span<const AscendKind> WindowKinds();
std::span<const AscendKind> RowKinds();
std::span<const AscendKind> MoveKinds();
std::span<const AscendKind> IndexKinds();

// Whether the unit's image gets a frame, since no operator has its pads.
bool Framed(const Unit& unit);
// Adds a call of a function of two tensors.
void RecordBinary(Fn fn, const Operand& x, const Operand& z, const Operand& y, Calls* calls);
// Adds a unit's bias and post-ops, a call each, in place on its result; of these as many, from the
// front, are done. `from`: what the first one reads.
void RecordSteps(const Unit& unit, const Operand& from, Calls* calls, size_t biases = 0,
                 size_t post_ops = 0);

}  // namespace ge_engines::ascend
