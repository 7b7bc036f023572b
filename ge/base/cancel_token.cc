#include "ge/base/cancel_token.h"

namespace ge {

void CancelToken::Cancel() {
  std::lock_guard<std::mutex> lock(mutex_);
  cancelled_ = true;
  for (Use* use = first_; use != nullptr; use = use->after_) use->interrupt_->Cancel();
}

void CancelToken::Reset() {
  std::lock_guard<std::mutex> lock(mutex_);
  cancelled_ = false;
}

CancelToken::Use::Use(CancelToken* token, Interrupt* interrupt)
    : token_(token), interrupt_(interrupt) {
  if (token_ == nullptr) return;
  std::lock_guard<std::mutex> lock(token_->mutex_);
  after_ = token_->first_;
  if (after_ != nullptr) after_->before_ = this;
  token_->first_ = this;
  if (token_->cancelled_) interrupt_->Cancel();
}

CancelToken::Use::~Use() {
  if (token_ == nullptr) return;
  std::lock_guard<std::mutex> lock(token_->mutex_);
  (before_ != nullptr ? before_->after_ : token_->first_) = after_;
  if (after_ != nullptr) after_->before_ = before_;
}

}  // namespace ge
