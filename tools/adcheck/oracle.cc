#include "tools/adcheck/oracle.h"

#include <fmt/format.h>

#include <cstring>

namespace ge::adcheck {
namespace {

double DirectionAt(const Arrays& directions, const std::string& name, size_t k) {
  const auto found = directions.find(name);
  return found == directions.end() ? 0 : found->second.f[k];
}

Thing ThingOf(const Array& x, const std::string& name, const Arrays& a, const Arrays& b) {
  Thing t = Thing::Make(static_cast<DType>(x.dtype), x.dims);
  const size_t size = t.count() ? t.data->size() / static_cast<size_t>(t.count()) : 0;
  for (size_t k = 0; k < x.i.size(); ++k) std::memcpy(t.data->data() + k * size, &x.i[k], size);
  for (size_t k = 0; k < x.f.size(); ++k) {
    const double along = DirectionAt(a, name, k);
    t.reals()[k] = {x.f[k], along, DirectionAt(b, name, k), 0, Size(along)};
  }
  return t;
}

}  // namespace

Result<std::unique_ptr<DualOracle>> DualOracle::Make(const std::string& text,
                                                     const std::string& entry) {
  GE_ASSIGN_OR_RETURN(Graph graph, ParseAndInfer(text));
  std::unique_ptr<DualOracle> made(new DualOracle(std::move(graph)));
  const Entry* e = made->graph_.FindEntry(entry);
  if (e == nullptr) {
    return Status(Code::kInvalidArgument, fmt::format("the model has no entry '{}'", entry));
  }
  made->fn_ = e->fn;
  made->interpreter_ = std::make_unique<Interpreter>(made->graph_);
  return made;
}

Result<std::vector<Real>> DualOracle::Run(const Arrays& inputs, const Arrays& left,
                                          const Arrays& right, const std::string& of) {
  const Function& f = graph_.fn(fn_);
  std::vector<Thing> args;
  for (const ValueId p : f.params) {
    const std::string& name = f.value(p).name;
    const auto found = inputs.find(name);
    if (found == inputs.end()) {
      return Status(Code::kInvalidArgument, fmt::format("input '{}' is not given", name));
    }
    args.push_back(ThingOf(found->second, name, left, right));
  }
  GE_ASSIGN_OR_RETURN(const std::vector<Thing> results, interpreter_->Run(fn_, args));
  for (size_t k = 0; k < results.size(); ++k) {
    if (f.value(f.results[k]).name != of && !of.empty()) continue;
    if (!Thing::IsReal(results[k].dtype)) return std::vector<Real>();
    return std::vector<Real>(results[k].reals(), results[k].reals() + results[k].count());
  }
  return Status(Code::kInvalidArgument, fmt::format("the model has no output '{}'", of));
}

}  // namespace ge::adcheck
