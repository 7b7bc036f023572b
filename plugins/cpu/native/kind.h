// Kind: the answers of the engine `native` about one kind of unit, in the file of that kind beside
// its loops. The table of kinds is made of file names: of each plugins/cpu/native/FAMILY/KIND.cc
// with a plugins/units/FAMILY/KIND.h. Stateless; any thread.
#pragma once

#include <optional>
#include <span>
#include <utility>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/native/builder.h"

namespace ge_engines::cpu::native {

class Kind {
 public:
  virtual ~Kind() = default;
  virtual const UnitKind& unit() const = 0;
  // Whether there is work for a unit that parsed.
  virtual bool Takes(const Unit&, const Parser&, const Machine&, Why*) const { return true; }
  // Analytic. Pure.
  virtual Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const = 0;
  // The steps of a unit. Throws.
  virtual void Emit(const Unit& unit, NativeBuilder* builder) const = 0;

  // ---- layouts of images and rounding: as the functions of Engine
  virtual bool Rounds(const Unit&, const Parser&, const Machine&) const { return false; }
  virtual std::optional<std::pair<LayoutTag, LayoutTag>> PreferredLayouts(const Unit&,
                                                                          const Parser&,
                                                                          const Machine&) const {
    return std::nullopt;
  }
  virtual bool AnyLayout(const Unit&, const Parser&, const Machine&) const { return false; }
  virtual bool PlainOutput(const Unit&, const Parser&, const Machine&) const { return false; }
  virtual bool KeepsLayout(const Unit&) const { return true; }
};

// A kind whose units are told an S.
template <class S>
class KindOf : public Kind {
 public:
  const UnitKind& unit() const final { return S::kKind; }

 protected:
  static const S& SpecOf(const Unit& unit) { return unit.spec.get<S>(); }
};

// The kinds of the file plugins/cpu/native/FAMILY/stem.cc, at the end of it.
#define GE_NATIVE_KINDS(stem, ...)                         \
  std::span<const Kind* const> native_kinds_##stem() {     \
    static constexpr const Kind* kKinds[] = {__VA_ARGS__}; \
    return kKinds;                                         \
  }

// The units' kinds that have a Kind.
std::span<const UnitKind* const> KnownKinds();
// Of a unit that a parser made which knows these.
const Kind& KindOfUnit(const Unit& unit);

}  // namespace ge_engines::cpu::native
