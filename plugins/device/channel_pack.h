// Packs of numbers for each channel of a BatchNormalization, worked out from its node's constants
// as at the parse, so that no graph's dims or numbers lie in a program. One thread records.
#pragma once

#include "plugins/device/recorder.h"

namespace ge_engines::device {

enum class ChannelNumber : uint8_t { kScale, kShift, kZero, kOne };

// A float32 for each channel of the unit's BatchNormalization number `norm`, counted from 0.
Ref ChannelPack(const Unit& unit, size_t norm, ChannelNumber which, Recorder* recorder);

}  // namespace ge_engines::device
