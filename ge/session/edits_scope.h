// EditsScope: the list that gets the graphs after passes of this thread's load or compile. Passes
// run on the thread that asks for them.
#pragma once

#include <string>
#include <vector>

#include "ge/compile/compiled/compiled.h"

namespace ge {

class EditsScope {
 public:
  // Null: nobody wants them. Within another scope the inner list gets them.
  explicit EditsScope(std::vector<EditedGraph>* to) : before_(to_) { to_ = to; }
  ~EditsScope() { to_ = before_; }
  EditsScope(const EditsScope&) = delete;
  EditsScope& operator=(const EditsScope&) = delete;
  // As Runner::Options::edited is called.
  static void Take(const std::string& pass, const Graph& graph) {
    if (to_ != nullptr) to_->push_back({pass, graph});
  }

 private:
  inline static thread_local std::vector<EditedGraph>* to_ = nullptr;
  std::vector<EditedGraph>* const before_;
};

}  // namespace ge
