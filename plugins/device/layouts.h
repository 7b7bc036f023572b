// Layouts of images in a device's memory, beside plain: which values have a choice, and in which
// layout a unit works. Query and compile answer by the same rules. Pure; one thread at a time.
//
// Padding. In blocks of channels the lanes behind the last channel hold anything, also NaN: a
// kernel reads none of them into an element of a result, and may write them or leave them.
// Conversions and packs write zeros there, and what leaves a segment in blocks has zeros there: the
// recorder sees to it.
#pragma once

#include <functional>

#include "plugins/units/parser.h"

namespace ge_engines::device {

class Engine;

// A value that is brought from one layout into another. `from` and `to` may be equal: then the
// padding alone changes.
struct Conversion {
  Dims dims;
  int32_t dtype = 0;
  int size = 4;  // bytes of an element
  LayoutTag from, to;
  Layout From() const { return from.On(dims, size); }
  Layout To() const { return to.On(dims, size); }
};

// Whether a value has a layout to choose: no constant, of 3 to 5 axes, several channels (axis 1) of
// several pixels, and of a type that the engine computes as float32.
bool IsImage(const Parser& parser, uint32_t value);
// Whether it is an image that the unit reads or makes in the layout in which it works: not weights,
// and of operands of post-ops those with the result's dims.
bool IsLaidOut(const Unit& unit, const Parser& parser, uint32_t value);

// Whether all that the unit reads and makes is laid out, but weights, a bias of each channel and
// what a norm does to one: it then needs no plain image of its dims beside those in a layout.
bool AllLaidOut(const Unit& unit, const Parser& parser);

using TagOfValue = std::function<LayoutTag(uint32_t value)>;
// The layout of the first of the unit's images that is not plain. `tag` says how they lie.
LayoutTag LayoutRead(const Unit& unit, const Parser& parser, const TagOfValue& tag);
// The layout in which the unit works: the one that it prefers, else that of its images if it keeps
// it, else plain.
LayoutTag LayoutOfWork(const Engine& engine, const Unit& unit, const Parser& parser,
                       const TagOfValue& tag);

}  // namespace ge_engines::device
