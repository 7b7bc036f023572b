#include "ge/engine/pass/edit_undo.h"

#include <exception>
#include <utility>
#include <vector>

namespace ge {
namespace {

template <typename T>
void ShrinkTo(size_t size, std::vector<T>* list) {
  if (size < list->size()) list->erase(list->begin() + static_cast<ptrdiff_t>(size), list->end());
}

}  // namespace

// To commit takes memory. Who ends a transaction in the middle of a call takes back what the call
// has done, whatever stands there.
void TransactionPlace::End() noexcept {
  try {
    transaction_.~Transaction();
  } catch (const std::exception&) {  // its parts are gone all the same
  }
}

void EditUndo::Begin(const Touched& touched) {
  const DimCounts counts = Counts();
  if (!dims_ || !(counts == dim_counts_)) {
    dims_ = graph_.dims;
    dim_counts_ = counts;
  }
  std::optional<Function> function;
  std::optional<Graph> model;
  const FunctionId fn = touched.fn < graph_.functions.size() ? touched.fn : 0;
  if (touched.part == Touched::Part::kFunction && fn) function = graph_.fn(fn);
  if (touched.part == Touched::Part::kModel) model = graph_;
  function_ = std::move(function);  // nothing can fail any more
  model_ = std::move(model);
  fn_ = fn;
  const Function& f = graph_.fn(fn);
  sizes_ = {graph_.functions.size(), graph_.consts.size(), graph_.states.size(),
            graph_.entries.size(),   f.values.size(),      f.params.size(),
            f.nodes.size(),          f.effects.size(),     f.next_node_id};
  new_name_ = new_opset_ = nullptr;
  counter_ = nullptr;
}

void EditUndo::End() noexcept {
  function_.reset();
  model_.reset();
}

void EditUndo::Shrink() noexcept {
  ShrinkTo(sizes_.functions, &graph_.functions);
  ShrinkTo(sizes_.consts, &graph_.consts);
  ShrinkTo(sizes_.states, &graph_.states);
  ShrinkTo(sizes_.entries, &graph_.entries);
  if (new_opset_) graph_.opsets.erase(graph_.opsets.find(*new_opset_));
  if (dims_ && !(Counts() == dim_counts_)) {
    graph_.dims = *std::move(dims_);
    dims_.reset();
  }
  if (fn_ == 0) return;
  Function& f = graph_.fn(fn_);
  ShrinkTo(sizes_.values, &f.values);
  ShrinkTo(sizes_.params, &f.params);
  ShrinkTo(sizes_.nodes, &f.nodes);
  ShrinkTo(sizes_.effects, &f.effects);
  f.next_node_id = sizes_.next_node;
}

void EditUndo::Undo() noexcept {
  UndoNames();
  place_.Renew();
  if (model_) {
    graph_ = *std::move(model_);
  } else {
    if (function_) graph_.fn(fn_) = *std::move(function_);
    Shrink();
  }
  End();
}

void EditUndo::UndoNames() noexcept {
  if (counter_) *counter_ = counted_;
  if (new_name_) names_.erase(names_.find(*new_name_));
  counter_ = nullptr;
  new_name_ = nullptr;
}

void EditUndo::AddOpset(const std::string& domain, int64_t version) {
  const auto [it, fresh] = graph_.opsets.emplace(domain, version);
  if (fresh) new_opset_ = &it->first;
}

std::string EditUndo::NameOf(const std::string& name) {
  const auto [it, fresh] = names_.try_emplace(name, 1);
  if (fresh) {
    new_name_ = &it->first;
    return name;
  }
  counter_ = &it->second;
  counted_ = it->second;
  std::string numbered;
  do {
    numbered = name + " #" + std::to_string(++*counter_);
  } while (names_.count(numbered) != 0);
  new_name_ = &names_.emplace(numbered, 1).first->first;
  return numbered;
}

}  // namespace ge
