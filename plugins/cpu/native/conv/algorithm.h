// ConvAlgorithm: one of the ways in which `native` convolves. Those of algorithms.def are tried in
// its order; the first that takes a convolution has it. One is a file: its loops, and behind them
// what is asked here. Stateless; any thread.
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
  // Constants: weights and bias are.
  virtual bool Takes(const ConvSpec& spec, bool constants, const Machine& machine) const = 0;
  // Whether its buffers fit this unit, or why not.
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

// The first of the list that takes it; the last takes all.
const ConvAlgorithm& AlgorithmOf(const ConvSpec& spec, bool constants, const Machine& machine);

}  // namespace ge_engines::cpu::native
