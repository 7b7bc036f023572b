// Types, constants, states and symbols.
#include <set>

#include "ge/ir/walk.h"
#include "ge/verify/rules.h"

namespace ge::verify {
namespace {

constexpr int kMaxTypeDepth = 32;  // Types come from files; nobody nests containers deeper.

Status CheckDims(const Graph& g, const Type& t, const VerifyLimits& limits,
                 const std::string& what) {
  if (!t.ranked && !t.dims.empty()) {
    return Bad(what + " has dims but says that its rank is unknown");
  }
  if (static_cast<int64_t>(t.dims.size()) > limits.max_rank) {
    return Limit(what + " has rank " + std::to_string(t.dims.size()) + ", the limit is " +
                 std::to_string(limits.max_rank));
  }
  for (size_t i = 0; i < t.dims.size(); ++i) {
    const Dim& d = t.dims[i];
    if (d.expr > g.dims.expr_count()) {
      return Bad(what + " axis " + std::to_string(i) + " names dim expression " +
                 std::to_string(d.expr) + "; the graph has " + std::to_string(g.dims.expr_count()));
    }
    if (d.known() && d.value < 0) {
      return Bad(what + " has size " + std::to_string(d.value) + " on axis " + std::to_string(i) +
                 "; sizes are 0 or more, an unknown size is a symbol");
    }
  }
  return {};
}

int WantedElems(TypeKind kind) {  // -1 = any number
  switch (kind) {
    case TypeKind::kSequence:
    case TypeKind::kOptional:
    case TypeKind::kMap:
    case TypeKind::kSparse:
    case TypeKind::kZero:
      return 1;
    case TypeKind::kRagged:
      return 2;
    case TypeKind::kTuple:
    case TypeKind::kFunc:
      return -1;
    default:
      return 0;
  }
}

// One level of a type; elements are visited by the caller.
Status CheckLevel(const Graph& g, const Type& t, TypeSite site, const VerifyLimits& limits,
                  const std::string& what) {
  if (t.kind > TypeKind::kZero) {
    return Bad(what + " has unknown type kind " + std::to_string(static_cast<int>(t.kind)));
  }
  const auto dtype = static_cast<int32_t>(t.dtype);
  if (dtype < 0 || dtype >= kDTypeCount) {
    return Bad(what + " has unknown element type number " + std::to_string(dtype) +
               "; the known ones are 1 to " + std::to_string(kDTypeCount - 1));
  }
  const int wanted = WantedElems(t.kind);
  if (wanted >= 0 && static_cast<int>(t.elems.size()) != wanted) {
    return Bad(what + " has a type with " + std::to_string(t.elems.size()) +
               " element types where " + std::to_string(wanted) + " are wanted");
  }
  if (t.kind == TypeKind::kTuple && !t.field_names.empty() &&
      t.field_names.size() != t.elems.size()) {
    return Bad(what + " is a tuple of " + std::to_string(t.elems.size()) + " with " +
               std::to_string(t.field_names.size()) + " field names");
  }
  if (t.kind == TypeKind::kFunc) {
    if (t.params > t.elems.size()) {
      return Bad(what + " is a function of " + std::to_string(t.params) + " parameters with " +
                 std::to_string(t.elems.size()) + " types for them and its results");
    }
    for (const FunctionId fn : t.candidates) {
      if (fn != 0 && fn < g.functions.size()) continue;
      return Bad(what + " may be function " + std::to_string(fn) + ", which does not exist");
    }
    if (site == TypeSite::kBoundary) {
      return Bad(what + " is a function; one may not cross the boundary of an entry");
    }
  }
  if (t.kind == TypeKind::kPack) {
    if (t.fn == 0 || t.fn >= g.functions.size()) {
      return Bad(what + " is the Pack of function " + std::to_string(t.fn) +
                 ", which does not exist");
    }
    if (site == TypeSite::kBoundary) {
      return Bad(what + " has a Pack type; a Pack may not cross the boundary of an entry");
    }
  }
  if (t.kind == TypeKind::kZero && site != TypeSite::kDerived) {
    return Bad(what + " has a Zero type; only functions derived by differentiation may hold one");
  }
  GE_RETURN_IF_ERROR(CheckDims(g, t, limits, what));
  if (t.is_static() && IsKnown(t.dtype) && t.dtype != DType::kString && !ByteCount(t)) {
    return Limit(what + " of type " + TypeToString(t, g.dims) +
                 " is larger than 2^63 bytes; check its shape");
  }
  if (t.is_static() && !ElementCount(t)) {
    return Limit(what + " of type " + TypeToString(t, g.dims) + " has more than 2^63 elements");
  }
  return {};
}

Status CheckConst(const Graph& g, const Const& c, const std::string& what) {
  if (!c.type.is_tensor() || !c.type.is_static() || !IsKnown(c.type.dtype)) {
    return Bad(what + " has type " + TypeToString(c.type, g.dims) +
               "; a constant is a tensor of known element type and shape");
  }
  const int64_t count = *ElementCount(c.type);
  const int kinds = (c.data != nullptr) + !c.splat.empty() + !c.strings.empty();
  if (kinds > 1) return Bad(what + " has more than one payload (raw, splat, strings); keep one");
  if (c.type.dtype == DType::kString) {
    if (c.data || !c.splat.empty() || static_cast<int64_t>(c.strings.size()) != count) {
      return Bad(what + " of type " + TypeToString(c.type, g.dims) + " needs " +
                 std::to_string(count) + " strings, it holds " + std::to_string(c.strings.size()));
    }
    return {};
  }
  if (!c.strings.empty()) {
    return Bad(what + " of type " + TypeToString(c.type, g.dims) + " holds strings");
  }
  const auto wanted = static_cast<uint64_t>(*ByteCount(c.type));
  if (!c.splat.empty()) {
    const int bits = DTypeBits(c.type.dtype);
    const size_t element = bits < 8 ? 1 : static_cast<size_t>(bits) / 8;
    if (c.splat.size() == element) return {};
    return Bad(what + " repeats an element of " + std::to_string(c.splat.size()) + " bytes; " +
               std::string(DTypeName(c.type.dtype)) + " has " + std::to_string(element));
  }
  const bool pending = !c.data && !c.external.file.empty();
  if (pending ? c.external.length == wanted : c.bytes == wanted && (c.data || !wanted)) return {};
  const uint64_t found = pending ? c.external.length : c.data ? c.bytes : 0;
  return Bad(what + " of type " + TypeToString(c.type, g.dims) + " has " + std::to_string(count) +
             " elements (" + std::to_string(wanted) + " bytes) but its payload holds " +
             std::to_string(found) + " bytes; the data or the shape is wrong");
}

}  // namespace

Status CheckType(const Graph& graph, const Type& type, TypeSite site, const VerifyLimits& limits,
                 const std::string& what) {
  std::vector<std::pair<const Type*, int>> todo{{&type, 1}};
  while (!todo.empty()) {
    const auto [t, depth] = todo.back();
    todo.pop_back();
    GE_RETURN_IF_ERROR(CheckLevel(graph, *t, site, limits, what));
    if (depth >= kMaxTypeDepth && !t->elems.empty()) {
      return Limit(what + " has a type nested deeper than " + std::to_string(kMaxTypeDepth));
    }
    for (const Type& e : t->elems) todo.emplace_back(&e, depth + 1);
  }
  return {};
}

Status CheckConstants(const Graph& graph, const VerifyLimits& limits) {
  for (ConstId i = 1; i < graph.consts.size(); ++i) {
    const Const& c = graph.consts[i];
    const std::string what =
        c.name.empty() ? "constant " + std::to_string(i) : "constant '" + c.name + "'";
    GE_RETURN_IF_ERROR(CheckType(graph, c.type, TypeSite::kInside, limits, what));
    GE_RETURN_IF_ERROR(CheckConst(graph, c, what));
  }
  return {};
}

Status CheckStates(const Graph& graph, const VerifyLimits& limits) {
  std::set<std::string> names;
  for (StateId i = 1; i < graph.states.size(); ++i) {
    const State& s = graph.states[i];
    const std::string what = "state '" + s.name + "'";
    if (s.name.empty()) return Bad("state " + std::to_string(i) + " has no name; give it one");
    if (!names.insert(s.name).second) return Bad("two states are named '" + s.name + "'");
    GE_RETURN_IF_ERROR(CheckType(graph, s.type, TypeSite::kBoundary, limits, what));
    if (s.kind > State::Kind::kStep) {
      return Bad(what + " has unknown kind " + std::to_string(static_cast<int>(s.kind)));
    }
    if (s.init >= graph.consts.size() || s.init_fn >= graph.functions.size()) {
      return Bad(what + " starts from a constant or function that does not exist");
    }
    if (s.init && s.init_fn) return Bad(what + " has two initial values; keep one");
    if (s.init && !(graph.consts[s.init].type == s.type)) {
      return Bad(what + " of type " + TypeToString(s.type, graph.dims) + " starts from constant '" +
                 graph.consts[s.init].name + "' of type " +
                 TypeToString(graph.consts[s.init].type, graph.dims));
    }
    if (s.init_fn &&
        (!graph.fn(s.init_fn).params.empty() || graph.fn(s.init_fn).results.size() != 1)) {
      return Bad(what + " starts from function '" + graph.fn(s.init_fn).name +
                 "', which must take nothing and give one result");
    }
    if (s.master_of >= graph.states.size() || s.master_of == i) {
      return Bad(what + " is the master of state " + std::to_string(s.master_of) +
                 ", which does not exist or is itself");
    }
  }
  return {};
}

Status CheckSymbols(const Graph& graph) {
  for (SymbolId i = 1; i <= graph.dims.symbol_count(); ++i) {
    const Symbol& s = graph.dims.symbol(i);
    if (s.min > s.max || s.multiple_of < 1) {
      return Bad("dim '" + s.name + "' can have no value: its range is " + std::to_string(s.min) +
                 " to " + std::to_string(s.max) + ", a multiple of " +
                 std::to_string(s.multiple_of));
    }
  }
  return {};
}

}  // namespace ge::verify
