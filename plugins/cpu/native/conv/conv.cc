// Conv and ConvTranspose: the first algorithm that takes one computes it.
#include "plugins/units/conv/conv.h"

#include <optional>
#include <utility>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/conv/algorithm.h"
#include "plugins/cpu/native/kind.h"

namespace ge_engines::cpu::native {

namespace {

// Weights and bias that are read as they come keep most algorithms out.
bool AreConstants(const Unit& u, const Parser& p) { return p.constant(u.in[1]) && u.in.size() < 3; }

class ConvKind final : public KindOf<ConvSpec> {
 public:
  bool Takes(const Unit& u, const Parser& p, const Machine& m, Why* why) const override {
    return Algorithm(u, p, m).Fits(u, SpecOf(u), p, m, why);
  }
  bool Rounds(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    return Algorithm(unit, parser, machine).Rounds(machine);
  }
  std::optional<std::pair<LayoutTag, LayoutTag>> PreferredLayouts(const Unit& u, const Parser& p,
                                                                  const Machine& m) const override {
    return Algorithm(u, p, m).PreferredLayouts(SpecOf(u));
  }
  bool AnyLayout(const Unit& u, const Parser& p, const Machine& m) const override {
    return Algorithm(u, p, m).AnyLayout(m);
  }
  bool PlainOutput(const Unit& u, const Parser& p, const Machine& m) const override {
    return Algorithm(u, p, m).PlainOutput();
  }
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    return Algorithm(unit, parser, machine).PriceOf(unit, SpecOf(unit), parser, machine);
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    Algorithm(u, b->parser(), b->machine()).Emit(u, SpecOf(u), b);
  }

 private:
  static const ConvAlgorithm& Algorithm(const Unit& u, const Parser& p, const Machine& m) {
    return AlgorithmOf(SpecOf(u), AreConstants(u, p), m);
  }
};

const ConvKind kConvKind;
}  // namespace

GE_NATIVE_KINDS(conv, &kConvKind)

}  // namespace ge_engines::cpu::native
