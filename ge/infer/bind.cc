// BIND: static shapes for the entry's inputs, and what follows from them.
#include <map>
#include <set>

#include "ge/base/checked.h"
#include "ge/infer/infer.h"

namespace ge {
namespace {

std::string ShapeText(const std::vector<int64_t>& shape) {
  std::string out = "[";
  for (size_t i = 0; i < shape.size(); ++i) out += (i ? "," : "") + std::to_string(shape[i]);
  return out + "]";
}

class Binder {
 public:
  Binder(Graph* g, const Entry& e, const std::map<SymbolId, int64_t>& sizes, bool in_part)
      : g_(*g), entry_(e), in_part_(in_part), values_(sizes) {
    for (const auto& [symbol, size] : sizes) bound_[symbol] = {size, "the session"};
  }

  Status Run(const std::vector<std::vector<int64_t>>& shapes) {
    GE_RETURN_IF_ERROR(CheckShapes(shapes));
    GE_RETURN_IF_ERROR(Substitute());
    return GiveShapes(shapes);
  }

  Status RunInPlace(const std::vector<std::vector<int64_t>>& shapes) {
    GE_RETURN_IF_ERROR(CheckShapes(shapes));
    Function& f = g_.fn(entry_.fn);
    for (const Node& n : f.nodes) {
      for (ValueId v : n.outputs) {
        if (v) ForgetType(&f.values[v].type);
      }
    }
    return GiveShapes(shapes);
  }

 private:
  Status CheckShapes(const std::vector<std::vector<int64_t>>& shapes) {
    const Function& f = g_.fn(entry_.fn);
    if (shapes.size() != f.params.size()) {
      return Refuse("entry '" + entry_.name + "' has " + std::to_string(f.params.size()) +
                    " inputs, " + std::to_string(shapes.size()) + " shapes were given");
    }
    for (size_t i = 0; i < shapes.size(); ++i) GE_RETURN_IF_ERROR(CheckRank(i, shapes[i]));
    for (size_t i = 0; i < shapes.size(); ++i) GE_RETURN_IF_ERROR(Collect(i, shapes[i]));
    for (size_t i = 0; i < shapes.size(); ++i) GE_RETURN_IF_ERROR(CheckExpressions(i, shapes[i]));
    return {};
  }

  Status GiveShapes(const std::vector<std::vector<int64_t>>& shapes) {
    Function& bound = g_.fn(entry_.fn);
    for (size_t i = 0; i < shapes.size(); ++i) {
      Type& t = bound.value(bound.params[i]).type;
      if (t.is_tensor()) GE_RETURN_IF_ERROR(GiveShape(i, shapes[i], &t));
    }
    return {};
  }

  static void ForgetType(Type* type) {
    if (!type->is_tensor()) {
      *type = Type{};
      return;
    }
    type->ranked = false;
    type->dims.clear();
  }

  struct Bound {
    int64_t value;
    std::string where;  // "input 'x' axis 0"
  };

  static Status Refuse(std::string message) {
    return Status(Code::kInvalidArgument, std::move(message));
  }
  const Value& Param(size_t i) const {
    const Function& f = g_.fn(entry_.fn);
    return f.value(f.params[i]);
  }
  std::string Found(size_t i, const std::vector<int64_t>& shape) const {
    return "input '" + Param(i).name + "' was given shape " + ShapeText(shape) + ", wanted " +
           TypeToString(Param(i).type, g_.dims);
  }

  bool IsOpen(int64_t size) const { return in_part_ && size == kOpenSize; }

  Status GiveShape(size_t i, const std::vector<int64_t>& shape, Type* type) const {
    Type bound = TensorType(type->dtype, shape);
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      if (!IsOpen(shape[axis])) continue;
      if (!type->ranked) return Refuse(Found(i, shape) + ": an open size wants a declared rank");
      bound.dims[axis] = type->dims[axis];
    }
    *type = std::move(bound);
    return {};
  }

  Status CheckRank(size_t i, const std::vector<int64_t>& shape) const {
    const Type& t = Param(i).type;
    if (!t.is_tensor()) return {};
    bool open = false;
    for (int64_t d : shape) {
      open |= IsOpen(d);
      if (d < 0 && !IsOpen(d)) return Refuse(Found(i, shape) + ": sizes are 0 or more");
    }
    const auto bytes = open ? std::nullopt : ByteCount(TensorType(t.dtype, shape));
    const bool sized = t.dtype != DType::kString && !open;
    if (sized && !bytes) {
      return Status(Code::kLimitExceeded, Found(i, shape) + ": larger than 2^63 bytes");
    }
    if (t.ranked && shape.size() != t.dims.size()) {
      return Refuse(Found(i, shape) + ": the rank is " + std::to_string(shape.size()) +
                    " instead of " + std::to_string(t.dims.size()));
    }
    return {};
  }

  Status Collect(size_t i, const std::vector<int64_t>& shape) {
    const Type& t = Param(i).type;
    if (!t.is_tensor() || !t.ranked) return {};
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      const Dim d = t.dims[axis];
      if (IsOpen(shape[axis])) continue;
      if (d.known()) {
        if (d.value == shape[axis]) continue;
        return Refuse(Found(i, shape) + ": axis " + std::to_string(axis) + " is fixed");
      }
      GE_RETURN_IF_ERROR(
          BindDim(d, shape[axis], "input '" + Param(i).name + "' axis " + std::to_string(axis)));
    }
    return {};
  }

  // A symbol, or k * symbol + c, determines the symbol.
  Status BindDim(Dim d, int64_t size, const std::string& where) {
    const DimTable::Expr& e = g_.dims.expr(d.expr);
    if (e.op == DimOp::kSymbol) return BindSymbol(e.symbol, size, where);
    if (e.op != DimOp::kSum || e.terms.size() != 1) return {};
    const DimTable::Expr& atom = g_.dims.expr(e.terms[0].atom);
    const auto rest = CheckedSub(size, e.constant);
    const int64_t k = e.terms[0].coefficient;
    if (atom.op != DimOp::kSymbol || !rest || (k == -1 && *rest == INT64_MIN)) return {};
    if (*rest % k != 0) {
      return Refuse(where + " has size " + std::to_string(size) + ", which is no value of " +
                    g_.dims.ToString(d));
    }
    return BindSymbol(atom.symbol, *rest / k, where);
  }

  Status BindSymbol(SymbolId id, int64_t value, const std::string& where) {
    const Symbol& s = g_.dims.symbol(id);
    const std::string what = "dim '" + s.name + "' would be " + std::to_string(value);
    if (value < s.min || value > s.max) {
      return Refuse(where + ": " + what + ", wanted " + std::to_string(s.min) + " to " +
                    (s.max == INT64_MAX ? std::string("any size") : std::to_string(s.max)));
    }
    if (value % s.multiple_of != 0) {
      return Refuse(where + ": " + what + ", wanted a multiple of " +
                    std::to_string(s.multiple_of));
    }
    auto [it, fresh] = bound_.emplace(id, Bound{value, where});
    values_[id] = it->second.value;
    if (fresh || it->second.value == value) return {};
    return Refuse("dim '" + s.name + "' is " + std::to_string(it->second.value) + " by " +
                  it->second.where + " but " + std::to_string(value) + " by " + where +
                  "; give both the same size");
  }

  Status CheckExpressions(size_t i, const std::vector<int64_t>& shape) {
    const Type& t = Param(i).type;
    if (!t.is_tensor() || !t.ranked) return {};
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      if (IsOpen(shape[axis])) continue;
      const auto wanted = g_.dims.Evaluate(t.dims[axis], values_);
      if (!wanted || *wanted == shape[axis]) continue;
      return Refuse(Found(i, shape) + ": axis " + std::to_string(axis) + " must be " +
                    std::to_string(*wanted) + " by the sizes of the other inputs");
    }
    return {};
  }

  std::set<FunctionId> Reachable() const {
    std::set<FunctionId> seen{entry_.fn};
    std::vector<FunctionId> todo{entry_.fn};
    while (!todo.empty()) {
      const FunctionId fn = todo.back();
      todo.pop_back();
      for (const Node& n : g_.fn(fn).nodes) {
        for (const Callee& c : n.callees) {
          if (c.fn && c.fn < g_.functions.size() && seen.insert(c.fn).second) todo.push_back(c.fn);
        }
      }
    }
    return seen;
  }

  Status SubstituteType(Type* type) {
    std::vector<Type*> todo{type};
    while (!todo.empty()) {
      Type* t = todo.back();
      todo.pop_back();
      for (Dim& d : t->dims) {
        if (d.known()) continue;
        const auto next = g_.dims.Substitute(d, values_);
        if (!next || (next->known() && next->value < 0)) {
          return Refuse("the given shapes leave no size for " + g_.dims.ToString(d));
        }
        d = *next;
      }
      for (Type& e : t->elems) todo.push_back(&e);
    }
    return {};
  }

  // In every function that the entry reaches. Inferred types of computed values are dropped: they
  // are made anew and more precisely.
  Status Substitute() {
    for (State& s : g_.states) GE_RETURN_IF_ERROR(SubstituteType(&s.type));
    for (FunctionId fn : Reachable()) {
      Function& f = g_.fn(fn);
      std::vector<bool> keep(f.values.size(), false);
      if (fn == entry_.fn) {
        for (ValueId v : f.params) keep[v] = true;
      }
      for (const Node& n : f.nodes) {
        if (n.effects.empty()) continue;
        for (ValueId v : n.outputs) keep[v] = true;  // A state's type is declared, not inferred.
      }
      for (ValueId v = 1; v < f.values.size(); ++v) {
        Value& x = f.values[v];
        x.ints.reset();
        if (x.constant) continue;
        if (keep[v]) {
          GE_RETURN_IF_ERROR(SubstituteType(&x.type));
        } else {
          x.type = x.type.is_tensor() ? UnrankedTensor(x.type.dtype) : Type{};
        }
      }
      for (Node& n : f.nodes) {
        for (Attr& a : n.attrs) {
          if (auto* t = std::get_if<Type>(&a.value)) GE_RETURN_IF_ERROR(SubstituteType(t));
          if (auto* d = std::get_if<Dim>(&a.value)) {
            const auto next = g_.dims.Substitute(*d, values_);
            if (!next) return Refuse("the given shapes leave no size for " + g_.dims.ToString(*d));
            *d = *next;
          }
        }
      }
    }
    return {};
  }

  Graph& g_;
  const Entry& entry_;
  const bool in_part_;
  std::map<SymbolId, Bound> bound_;
  std::map<SymbolId, int64_t> values_;
};

Status BindEntry(Graph* graph, const std::string& entry,
                 const std::vector<std::vector<int64_t>>& input_shapes,
                 const std::map<SymbolId, int64_t>& sizes, bool in_part) {
  const Entry* e = graph->FindEntry(entry);
  if (!e) {
    std::string names;
    for (const Entry& x : graph->entries) names += (names.empty() ? "" : ", ") + x.name;
    return Status(Code::kInvalidArgument,
                  "there is no entry '" + entry + "'; the graph has " + names);
  }
  GE_RETURN_IF_ERROR(Binder(graph, *e, sizes, in_part).Run(input_shapes));
  return Infer(graph);
}

}  // namespace

Status Bind(Graph* graph, const std::string& entry,
            const std::vector<std::vector<int64_t>>& input_shapes,
            const std::map<SymbolId, int64_t>& sizes) {
  return BindEntry(graph, entry, input_shapes, sizes, false);
}

Status BindInPlace(Graph* graph, const Entry& entry,
                   const std::vector<std::vector<int64_t>>& input_shapes) {
  GE_RETURN_IF_ERROR(Binder(graph, entry, {}, false).RunInPlace(input_shapes));
  return InferAgain(graph);
}

Status BindInPart(Graph* graph, const std::string& entry,
                  const std::vector<std::vector<int64_t>>& input_shapes) {
  return BindEntry(graph, entry, input_shapes, {}, true);
}

}  // namespace ge
