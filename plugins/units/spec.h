// Spec: a unit's operator and attributes, as a plain value of one of the families' types. It lies
// in the unit itself: planning a new shape makes thousands of specs.
#pragma once

#include <cstddef>
#include <new>
#include <utility>

#include "plugins/units/kind.h"

namespace ge_engines {

// All outputs are empty: the unit reads and writes nothing, whichever operator it is.
struct NothingSpec {
  static const UnitKind kKind;
};

class Spec {
 public:
  Spec() : Spec(NothingSpec()) {}
  template <class S>
  requires requires { S::kKind; }
  Spec(S spec) : type_(&kTypeOf<S>) {  // NOLINT: implicit, as a value of that kind
    static_assert(sizeof(S) <= kRoom && alignof(S) <= kAlign);
    new (room_) S(std::move(spec));
  }
  Spec(const Spec& other) : type_(other.type_) { type_->copy(other.room_, room_); }
  Spec(Spec&& other) noexcept : type_(other.type_) { type_->move(other.room_, room_); }
  Spec& operator=(Spec other) noexcept {
    type_->destroy(room_);
    type_ = other.type_;
    type_->move(other.room_, room_);
    return *this;
  }
  ~Spec() { type_->destroy(room_); }

  template <class S>
  S& emplace() {
    *this = Spec(S());
    return get<S>();
  }
  const UnitKind& kind() const { return *type_->kind; }
  template <class S>
  bool holds() const {
    return type_ == &kTypeOf<S>;
  }
  // The spec as an S. The unit must be of that kind.
  template <class S>
  const S& get() const {
    return *std::launder(reinterpret_cast<const S*>(room_));
  }
  template <class S>
  S& get() {
    return *std::launder(reinterpret_cast<S*>(room_));
  }

 private:
  static constexpr size_t kRoom = 432, kAlign = alignof(void*);  // bytes; the largest is a conv's
  struct Type {
    const UnitKind* kind;
    void (*copy)(const void* from, void* to);
    void (*move)(void* from, void* to);
    void (*destroy)(void* at);
  };
  template <class S>
  static constexpr Type kTypeOf = {
      &S::kKind, [](const void* from, void* to) { new (to) S(*static_cast<const S*>(from)); },
      [](void* from, void* to) { new (to) S(std::move(*static_cast<S*>(from))); },
      [](void* at) { static_cast<S*>(at)->~S(); }};

  const Type* type_;
  alignas(kAlign) unsigned char room_[kRoom];
};

}  // namespace ge_engines
