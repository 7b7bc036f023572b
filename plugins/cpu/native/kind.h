// Kind: the answers of the engine `native` about one kind of unit, in that kind's file beside its
// loops. CMake makes the table of kinds of file names: each plugins/cpu/native/FAMILY/KIND.cc with
// a plugins/units/FAMILY/KIND.h. Stateless; any thread.
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
  // Whether `native` has a kernel for a parsed unit.
  virtual bool Takes(const Unit&, const Parser&, const Machine&, Why*) const { return true; }
  // The analytic price. Pure.
  virtual Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const = 0;
  // Adds the unit's steps. Throws.
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

// A kind with a spec of type S.
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

// The kinds of units with a Kind.
std::span<const UnitKind* const> KnownKinds();
// The Kind of a unit; its parser knows only KnownKinds().
const Kind& KindOfUnit(const Unit& unit);

}  // namespace ge_engines::cpu::native
