#include "ge/ops/op.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "ge/base/text/edit_distance.h"

namespace ge {

#define GE_OP_ENTRY(stem) extern const OpDef ge_op_##stem;
#include "op_table.inc"
#undef GE_OP_ENTRY

namespace {

constexpr const OpDef* kTable[] = {
#define GE_OP_ENTRY(stem) &ge_op_##stem,
#include "op_table.inc"
#undef GE_OP_ENTRY
};

const char* KindName(AttrKind kind) {
  switch (kind) {
    case AttrKind::kInt:
      return "int";
    case AttrKind::kFloat:
      return "float";
    case AttrKind::kString:
      return "string";
    case AttrKind::kTensor:
      return "tensor";
    case AttrKind::kInts:
      return "list of ints";
    case AttrKind::kFloats:
      return "list of floats";
    case AttrKind::kStrings:
      return "list of strings";
    case AttrKind::kFn:
      return "function";
    case AttrKind::kType:
      return "type";
  }
  return "?";
}

const char* PayloadName(const Attr::Payload& p) {
  struct Namer {
    const char* operator()(int64_t) { return "int"; }
    const char* operator()(double) { return "float"; }
    const char* operator()(const std::string&) { return "string"; }
    const char* operator()(const Type&) { return "type"; }
    const char* operator()(const Dim&) { return "dim"; }
    const char* operator()(const ConstRef&) { return "tensor"; }
    const char* operator()(const FunctionRef&) { return "function"; }
    const char* operator()(const std::vector<int64_t>&) { return "list of ints"; }
    const char* operator()(const std::vector<double>&) { return "list of floats"; }
    const char* operator()(const std::vector<std::string>&) { return "list of strings"; }
    const char* operator()(const std::vector<Type>&) { return "list of types"; }
    const char* operator()(const AttrRef&) { return "parameter of the function"; }
  };
  return std::visit(Namer{}, p);
}

bool IsEmptyList(const Attr::Payload& p) {
  if (auto* v = std::get_if<std::vector<int64_t>>(&p)) return v->empty();
  if (auto* v = std::get_if<std::vector<double>>(&p)) return v->empty();
  if (auto* v = std::get_if<std::vector<std::string>>(&p)) return v->empty();
  return false;
}

bool KindFits(AttrKind kind, const Attr::Payload& p) {
  if (std::holds_alternative<AttrRef>(p)) return true;  // checked where the function is called
  switch (kind) {
    case AttrKind::kInt:
      return std::holds_alternative<int64_t>(p);
    case AttrKind::kFloat:
      return std::holds_alternative<double>(p);
    case AttrKind::kString:
      return std::holds_alternative<std::string>(p);
    case AttrKind::kTensor:
      return std::holds_alternative<ConstRef>(p);
    case AttrKind::kFn:
      return std::holds_alternative<FunctionRef>(p);
    case AttrKind::kType:
      return std::holds_alternative<Type>(p);
    // An empty list does not say of what.
    case AttrKind::kInts:
      return std::holds_alternative<std::vector<int64_t>>(p) || IsEmptyList(p);
    case AttrKind::kFloats:
      return std::holds_alternative<std::vector<double>>(p) || IsEmptyList(p);
    case AttrKind::kStrings:
      return std::holds_alternative<std::vector<std::string>>(p) || IsEmptyList(p);
  }
  return false;
}

Status CheckPorts(const OpDef& op, bool inputs, const std::vector<Port>& ports,
                  const std::vector<ValueId>& values) {
  const char* what = inputs ? "input" : "output";
  size_t need = 0;
  bool variadic = false;
  for (size_t i = 0; i < ports.size(); ++i) {
    variadic = ports[i].arity == Arity::kVariadic;
    if (ports[i].arity == Arity::kOne) need = i + 1;
    if (variadic && ports[i].min_count > 0) need = i + ports[i].min_count;
  }
  if (values.size() < need || (!variadic && values.size() > ports.size())) {
    std::string names;
    for (const Port& p : ports) names += fmt::format("{}{}", names.empty() ? "" : ", ", p.name);
    const std::string wanted = variadic               ? fmt::format("at least {}", need)
                               : need == ports.size() ? fmt::format("{}", need)
                                                      : fmt::format("{} to {}", need, ports.size());
    return Status(Code::kInvalidGraph, fmt::format("{}: found {} {}s, wanted {} ({})", FullName(op),
                                                   values.size(), what, wanted, names));
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const Port& p = ports[std::min(i, ports.size() - 1)];
    // An output of a variadic port may be unused; a captured or carried value may be absent.
    const bool needed =
        p.arity == Arity::kOne || (p.arity == Arity::kVariadic && inputs && p.dtypes != kAnyType);
    if (values[i] == 0 && needed) {
      return Status(Code::kInvalidGraph,
                    fmt::format("{}: {} {} ('{}') is absent, wanted a value: it is not optional",
                                FullName(op), what, i, p.name));
    }
  }
  return {};
}

Status CheckAttr(const OpDef& op, const Node& node, size_t index) {
  const Attr& a = node.attrs[index];
  const AttrDef* def = FindAttrDef(op, a.name);
  if (def == nullptr) {
    std::string known;
    for (const AttrDef& d : op.attrs) {
      known += fmt::format("{}{}", known.empty() ? "" : ", ", d.name);
    }
    return Status(
        Code::kInvalidGraph,
        fmt::format(
            "{}: unknown attribute '{:.64}', wanted one of ({}); remove it{}", FullName(op), a.name,
            known,
            *op.domain ? "" : fmt::format(" or convert the model to opset {}", kCanonicalOpset)));
  }
  for (size_t j = 0; j < index; ++j) {
    if (node.attrs[j].name == a.name) {
      return Status(Code::kInvalidGraph, fmt::format("{}: attribute '{}' is given twice, wanted "
                                                     "once: remove one of them",
                                                     FullName(op), a.name));
    }
  }
  if (!KindFits(def->kind, a.value)) {
    return Status(Code::kInvalidGraph,
                  fmt::format("{}: attribute '{}' is of kind {}, wanted {}", FullName(op), a.name,
                              PayloadName(a.value), KindName(def->kind)));
  }
  return {};
}

std::string SetName(DTypeSet set) {
  std::string names;
  for (int t = 1; t < kDTypeCount; ++t) {
    if (!(set & Bit(static_cast<DType>(t)))) continue;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", DTypeName(static_cast<DType>(t)));
  }
  return names;
}

}  // namespace

std::span<const OpDef* const> AllOps() { return kTable; }

std::string FullName(std::string_view domain, std::string_view name) {
  return domain.empty() ? std::string(name) : fmt::format("{}.{}", domain, name);
}

const OpDef* FindOp(std::string_view domain, std::string_view name) {
  if (domain == "ai.onnx") domain = {};
  // Every node of a graph is looked up several times: std::unordered_map takes three times as long.
  constexpr size_t kSlots = 1024;
  static_assert(std::size(kTable) < kSlots / 2);
  struct Slot {
    std::string_view domain, name;
    const OpDef* op = nullptr;
  };
  const auto slot_of = [](std::string_view text) {  // by its length, first and last characters
    uint64_t first = 0, last = 0;
    if (text.size() >= sizeof first) {
      std::memcpy(&first, text.data(), sizeof first);
      std::memcpy(&last, text.data() + text.size() - sizeof last, sizeof last);
    } else {
      for (const char ch : text) first = first << 8 | static_cast<unsigned char>(ch);
    }
    const uint64_t sum = (first * 0x9e3779b97f4a7c15 ^ last) * 0xff51afd7ed558ccd + text.size();
    return (sum ^ sum >> 29) % kSlots;
  };
  static const Slot* index = [&] {
    auto* slots = new Slot[kSlots];
    for (const OpDef* op : kTable) {
      size_t i = slot_of(op->name);
      while (slots[i].op != nullptr) i = (i + 1) % kSlots;
      slots[i] = {op->domain, op->name, op};
    }
    return slots;
  }();
  for (size_t i = slot_of(name); index[i].op != nullptr; i = (i + 1) % kSlots) {
    if (index[i].name == name && index[i].domain == domain) return index[i].op;
  }
  return nullptr;
}

std::vector<std::string> NearestOps(std::string_view domain, std::string_view name) {
  std::vector<std::pair<size_t, std::string>> found;
  const size_t limit = std::max<size_t>(2, name.size() / 3);
  for (const OpDef* op : kTable) {
    const size_t distance = 2 * EditDistance(name, op->name) + (domain == op->domain ? 0 : 1);
    if (distance <= 2 * limit + 1) found.emplace_back(distance, FullName(*op));
  }
  std::sort(found.begin(), found.end());
  if (found.size() > 3) found.resize(3);
  std::vector<std::string> names;
  for (auto& f : found) names.push_back(std::move(f.second));
  return names;
}

Status CheckAttrsAgainstOp(const Node& node, const OpDef& op) {
  const auto check = [&]() -> Status {
    // Each attribute is looked at against those before it; a list longer than the record has a
    // duplicate or an unknown one within its first entries, so this ends early.
    for (size_t i = 0; i < node.attrs.size(); ++i) {
      GE_RETURN_IF_ERROR(CheckAttr(op, node, i));
    }
    for (const AttrDef& d : op.attrs) {
      if (d.required && node.attr(d.name) == nullptr) {
        return Status(Code::kInvalidGraph,
                      fmt::format("{}: attribute '{}' is missing, wanted a value of kind {}",
                                  FullName(op), d.name, KindName(d.kind)));
      }
      if (d.default_value && node.attr(d.name) == nullptr) {
        return Status(Code::kInternal,
                      fmt::format("{}: attribute '{}' lacks its default: whoever made the node did "
                                  "not call FillDefaults",
                                  FullName(op), d.name));
      }
    }
    return {};
  };
  Status s = check();
  return s.ok() ? s : std::move(s).AtNode(NodeLabel(node));
}

Status CheckNodeAgainstOp(const Node& node, const OpDef& op) {
  const auto ports = [&]() -> Status {
    GE_RETURN_IF_ERROR(CheckPorts(op, true, op.inputs, node.inputs));
    return CheckPorts(op, false, op.outputs, node.outputs);
  };
  if (Status s = ports(); !s.ok()) return std::move(s).AtNode(NodeLabel(node));
  GE_RETURN_IF_ERROR(CheckAttrsAgainstOp(node, op));
  if (!op.has_effects || !node.effects.empty()) return {};
  return Status(Code::kInvalidGraph,
                fmt::format("{}: no effect is named, wanted the state that it uses", FullName(op)))
      .AtNode(NodeLabel(node));
}

Status CheckInputTypes(InferContext& context, const OpDef& op) {
  struct Bound {
    std::string_view variable;
    DType dtype;
    size_t input;
  };
  thread_local std::vector<Bound> all;  // a few at most; its memory stays
  all.clear();
  for (size_t i = 0; i < context.input_count(); ++i) {
    if (!context.has_input(i) || op.inputs.empty()) continue;
    const Port& p = op.inputs[std::min(i, op.inputs.size() - 1)];
    if (p.dtypes == kAnyType) continue;
    const Type& t = context.input_type(i);
    if (!t.is_tensor()) {
      return Status(Code::kInvalidGraph,
                    fmt::format("{}: input {} ('{}') is {}, wanted a tensor", FullName(op), i,
                                p.name, TypeToString(t, context.dims())));
    }
    if (!IsKnown(t.dtype) || !(p.dtypes & Bit(t.dtype))) {
      return Status(Code::kInvalidGraph,
                    fmt::format("{}: input {} ('{}') has dtype {}, wanted one of {}; insert a Cast",
                                FullName(op), i, p.name, DTypeName(t.dtype), SetName(p.dtypes)));
    }
    if (*p.type_var == '\0') continue;
    const auto bound = std::find_if(all.begin(), all.end(),
                                    [&](const Bound& b) { return b.variable == p.type_var; });
    if (bound == all.end()) {
      all.push_back({p.type_var, t.dtype, i});
    } else if (bound->dtype != t.dtype) {
      return Status(
          Code::kInvalidGraph,
          fmt::format("{}: input {} ('{}') has dtype {}, wanted {} as input {} has; insert a Cast",
                      FullName(op), i, p.name, DTypeName(t.dtype), DTypeName(bound->dtype),
                      bound->input));
    }
  }
  return {};
}

const AttrDef* FindAttrDef(const OpDef& op, std::string_view name) {
  for (const AttrDef& d : op.attrs) {
    if (name == d.name) return &d;
  }
  return nullptr;
}

namespace {

// The node's attribute, or its default, of type T; nullptr when there is neither.
template <class T>
const T* ReadAttr(const Node& n, std::string_view name) {
  const Attr* a = n.attr(name);
  if (const T* v = a ? std::get_if<T>(&a->value) : nullptr) return v;
  const OpDef* op = FindOp(n.domain, n.op);
  const AttrDef* d = op ? FindAttrDef(*op, name) : nullptr;
  return d && d->default_value ? std::get_if<T>(&*d->default_value) : nullptr;
}

}  // namespace

int64_t AttrInt(const Node& n, std::string_view name) {
  const auto* v = ReadAttr<int64_t>(n, name);
  return v ? *v : 0;
}

double AttrFloat(const Node& n, std::string_view name) {
  const auto* v = ReadAttr<double>(n, name);
  return v ? *v : 0;
}

std::string_view AttrString(const Node& n, std::string_view name) {
  const auto* v = ReadAttr<std::string>(n, name);
  return v ? std::string_view(*v) : std::string_view();
}

const std::vector<int64_t>& AttrInts(const Node& n, std::string_view name) {
  static const std::vector<int64_t> kNone;
  const auto* v = ReadAttr<std::vector<int64_t>>(n, name);
  return v ? *v : kNone;
}

int64_t AttrInt(const Node& n, std::string_view name, int64_t absent) {
  const Attr* a = n.attr(name);
  const auto* v = a ? std::get_if<int64_t>(&a->value) : nullptr;
  return v ? *v : absent;
}

double AttrFloat(const Node& n, std::string_view name, double absent) {
  const Attr* a = n.attr(name);
  const auto* v = a ? std::get_if<double>(&a->value) : nullptr;
  return v ? *v : absent;
}

std::string_view AttrString(const Node& n, std::string_view name, std::string_view absent) {
  const Attr* a = n.attr(name);
  const auto* v = a ? std::get_if<std::string>(&a->value) : nullptr;
  return v ? std::string_view(*v) : absent;
}

bool HasAttr(const Node& n, std::string_view name) { return n.attr(name) != nullptr; }

}  // namespace ge
