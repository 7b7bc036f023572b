// ModelPicture, FunctionPicture: a model and a function as shown to passes of plugins
// (ge_plugin_pass.h, rule 3): copies, so edits do not change them. One thread.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "ge/base/status.h"
#include "ge/engine/view.h"
#include "ge/ge_plugin_pass.h"

namespace ge {

class ModelPicture {
 public:
  // The graph owns the payloads of constants and keeps them while a pass runs.
  explicit ModelPicture(const Graph& graph);
  ModelPicture(const ModelPicture&) = delete;
  ModelPicture& operator=(const ModelPicture&) = delete;
  const ge_model* get() const { return &model_; }

 private:
  ge_str Keep(const std::string& text);
  void AddFunction(const Function& function);
  void AddState(const Graph& graph, const State& state);

  ge_model model_{};
  std::vector<ge_function> functions_;
  std::vector<ge_state> states_;
  std::vector<ge_entry> entries_;
  std::deque<std::string> texts_;  // deques: addresses stay
  std::deque<std::vector<ge_str>> lists_;
  std::deque<std::vector<ge_effect>> effects_;
  std::deque<std::vector<int64_t>> dims_;
};

class FunctionPicture {
 public:
  static Result<std::unique_ptr<FunctionPicture>> Make(const Graph& graph,
                                                       const Function& function);
  const ge_graph* get() const { return view_->get(); }

 private:
  Function function_;
  std::unique_ptr<GraphView> view_;  // into function_
};

// A value as it is now. The record points into this and the graph's value.
struct ValuePicture {
  ge_value record{};
  std::vector<int64_t> dims;
  std::vector<ge_dim> sizes;
  std::deque<std::string> names;
  std::string name;
  void Set(const Graph& graph, const Function& function, ValueId given);
};

}  // namespace ge
