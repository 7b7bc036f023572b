#include "ge/session/part_bound.h"

#include <algorithm>

#include "ge/base/interrupt.h"
#include "ge/compile/classes/shape_class.h"
#include "ge/control/cut.h"
#include "ge/infer/infer.h"

namespace ge {

bool PartBound::Fits(const Shapes& sizes, const Shapes& shapes) {
  Shapes opened = sizes;
  return Open(&opened, shapes) && opened == sizes;
}

bool PartBound::Open(Shapes* sizes, const Shapes& shapes) {
  if (sizes->size() != shapes.size()) return false;
  for (size_t i = 0; i < shapes.size(); ++i) {
    std::vector<int64_t>& known = (*sizes)[i];
    if (known.size() != shapes[i].size()) return false;
    for (size_t axis = 0; axis < known.size(); ++axis) {
      if (known[axis] != shapes[i][axis]) known[axis] = kOpenSize;
    }
  }
  return true;
}

Result<const Graph*> PartBound::For(const Graph& model, const Entry& entry, const Shapes& shapes,
                                    const Fold& fold) {
  const auto [it, first] = parts_.try_emplace(entry.fn);
  Part& part = it->second;
  if (first) {
    // Nothing is open yet: the first signature may be the only one.
    part.sizes = shapes;
    part.useless = true;
    return &model;
  }
  if (!Fits(part.sizes, shapes)) {
    if (!Open(&part.sizes, shapes)) return &model;
    GE_RETURN_IF_ERROR(Make(model, entry, fold, &part));
  }
  return part.useless ? &model : &part.graph;
}

Status PartBound::Make(const Graph& model, const Entry& entry, const Fold& fold, Part* part) {
  part->graph = {};
  part->useless = true;
  part->program.reset();
  part->refused = 0;
  const auto bound = [](int64_t size) { return size != kOpenSize; };
  const bool any = std::any_of(part->sizes.begin(), part->sizes.end(), [&](const auto& dims) {
    return std::any_of(dims.begin(), dims.end(), bound);
  });
  if (!any) return {};
  Graph graph = model;
  const Entry own = entry;
  graph.entries = {own};
  ForgetOthers(&graph, own.fn);
  Status status = BindInPart(&graph, own.name, part->sizes);
  if (status.ok()) status = fold(&graph);
  GE_RETURN_IF_ERROR(CheckInterrupt());
  if (!status.ok()) return {};
  ForgetOthers(&graph, own.fn);  // branches that are not taken at any size
  part->graph = std::move(graph);
  part->useless = false;
  ++made_;
  return {};
}

PartBound::Part* PartBound::PartOf(const Entry& entry) {
  const auto part = parts_.find(entry.fn);
  return part == parts_.end() || part->second.useless ? nullptr : &part->second;
}

Result<bool> PartBound::Bind(const Entry& entry, const Shapes& shapes, const Fold& fold,
                             ReshapeInputs* reshape) {
  Part* part = PartOf(entry);
  if (part == nullptr || !part->program) return false;
  return part->program->Bind(&part->graph, entry, shapes, fold, reshape);
}

void PartBound::TakeBack(const Entry& entry, ReshapeInputs reshape) {
  Part* part = PartOf(entry);
  if (part == nullptr || !part->program) return;
  part->program->TakeBack(std::move(reshape));
  if (!part->program->usable()) part->program.reset();
}

void PartBound::Learn(const Entry& entry, ReshapeInputs reshape) {
  Part* part = PartOf(entry);
  if (part == nullptr || !reshape.is_back() || part->refused == kMostRefused) return;
  auto made = ShapeProgram::Make(part->graph, entry.fn, std::move(reshape),
                                 /*of_data=*/false);
  if (!made) ++part->refused;
  // Where the passes did more at one signature, the program of another still serves.
  if (made) part->program = std::move(made);
}

bool PartBound::IsNew(const Graph& bound, FunctionId fn) {
  constexpr size_t kMost = 4096;
  const auto& nodes = bound.fn(fn).nodes;
  const bool bodies =
      std::any_of(nodes.begin(), nodes.end(), [](const Node& n) { return !n.callees.empty(); });
  if (bodies) return true;
  if (structures_.size() >= kMost) structures_.clear();
  return structures_.insert(ShapeClasses::KeyOf(bound, fn)).second;
}

void NumberValues(Function* function) {
  std::vector<ValueId> renamed(function->values.size(), 0);
  std::vector<Value> values(1);
  values.reserve(function->values.size());
  if (!function->values.empty()) values[0] = std::move(function->values[0]);
  const auto number = [&](std::vector<ValueId>* list) {
    for (ValueId& v : *list) {
      if (v == 0) continue;
      if (renamed[v] == 0) {
        renamed[v] = static_cast<ValueId>(values.size());
        values.push_back(std::move(function->values[v]));
      }
      v = renamed[v];
    }
  };
  number(&function->params);
  for (Node& n : function->nodes) {
    number(&n.inputs);
    number(&n.outputs);
  }
  number(&function->results);
  function->values = std::move(values);
}

}  // namespace ge
