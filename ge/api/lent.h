// Lent: keeps memory that is an application's own, and gives it back when nobody has it any more.
#pragma once

namespace ge::capi {

struct Lent {
  Lent(void (*to)(void* context), void* with) : release(to), context(with) {}
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;
  ~Lent() {
    if (armed) release(context);
  }
  void (*const release)(void* context);
  void* const context;
  bool armed = false;  // the call that took it has succeeded
};

}  // namespace ge::capi
