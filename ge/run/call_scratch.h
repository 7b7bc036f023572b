// CallScratch: memory that each thread keeps for its calls of one kind, so that later ones allocate
// nothing. A call from within another one of the thread, as an operator's kernel may make, has its
// own. One thread.
#pragma once

#include <memory>

namespace ge {

template <typename T>
class CallScratch {
 public:
  CallScratch() {
    if (!OfThread().used) {
      value_ = &OfThread().value;
      OfThread().used = true;
    } else {
      own_ = std::make_unique<T>();
      value_ = own_.get();
    }
  }
  ~CallScratch() {
    if (own_ == nullptr) OfThread().used = false;
  }
  CallScratch(const CallScratch&) = delete;
  CallScratch& operator=(const CallScratch&) = delete;
  T& operator*() const { return *value_; }
  T* operator->() const { return value_; }

 private:
  struct Kept {
    T value;
    bool used = false;
  };
  static Kept& OfThread() {
    thread_local Kept kept;
    return kept;
  }
  std::unique_ptr<T> own_;
  T* value_;
};

}  // namespace ge
