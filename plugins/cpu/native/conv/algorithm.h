// ConvAlgorithm: one convolution algorithm of `native`. AlgorithmOf tries those of algorithms.def
// in order; the first that takes a convolution gets it. One algorithm is one file: its loops, then
// its answers to the questions here. Stateless; any thread.
#pragma once

#include <optional>
#include <utility>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/units/conv/conv.h"

namespace ge_engines::cpu::native {

class ConvAlgorithm {
 public:
  virtual ~ConvAlgorithm() = default;
  // constants: whether weights and bias are constants.
  virtual bool Takes(const ConvSpec& spec, bool constants, const Machine& machine) const = 0;
  // Whether its buffers fit this unit; if not, *why says so.
  virtual bool Fits(const Unit&, const ConvSpec&, const Parser&, const Machine&, Why*) const {
    return true;
  }
  virtual Price PriceOf(const Unit& unit, const ConvSpec& spec, const Parser& parser,
                        const Machine& machine) const = 0;
  virtual void Emit(const Unit& unit, const ConvSpec& spec, NativeBuilder* builder) const = 0;

  // ---- as the functions of Engine
  virtual bool Rounds(const Machine&) const { return false; }
  virtual std::optional<std::pair<LayoutTag, LayoutTag>> PreferredLayouts(const ConvSpec&) const {
    return std::nullopt;
  }
  virtual bool AnyLayout(const Machine&) const { return false; }
  virtual bool PlainOutput() const { return false; }
};

// The first algorithm of the list that takes the convolution; the last takes all.
const ConvAlgorithm& AlgorithmOf(const ConvSpec& spec, bool constants, const Machine& machine);

}  // namespace ge_engines::cpu::native
