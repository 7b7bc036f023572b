// Functions, states, entries.
#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "ge/base/interrupt.h"
#include "ge/engine/from_abi.h"
#include "ge/engine/pass/pass_edit.h"
#include "ge/engine/plugin/record.h"

namespace ge {
namespace {

constexpr uint32_t kMostParams = 1u << 16;
constexpr int32_t kMostRank = 64;
constexpr uint64_t kMostName = 128;

// Sizes that are given by a name alone become free sizes of the model.
std::vector<ge_dim> WithFreeSizes(const ge_dim* dims, int32_t rank, DimTable* table) {
  std::vector<ge_dim> out;
  if (dims != nullptr && rank > 0 && rank <= kMostRank) out.assign(dims, dims + rank);
  for (ge_dim& d : out) {
    if (d.value >= 0 || d.id != 0 || d.name.n == 0 || d.name.n > kMostName) continue;
    Symbol symbol;
    symbol.name = TextOf(d.name);
    d.id = table->OfSymbol(table->AddSymbol(symbol)).expr;
  }
  return out;
}

}  // namespace

void PassEdit::FillModelApi() {
  api_.function = [](void* h, const ge_function* given, uint32_t* fn) {
    *fn = 0;
    return Of(h).Edit({}, [&] { return Of(h).AddFunction(given, fn); });
  };
  api_.copy = [](void* h, uint32_t of, ge_str name, uint32_t* fn) {
    *fn = 0;
    return Of(h).Edit({}, [&] { return Of(h).CopyFunction(of, name, fn); });
  };
  api_.param = [](void* h, uint32_t fn, const ge_param* given, uint32_t* value) {
    *value = 0;
    return Of(h).Edit({.fn = fn}, [&] { return Of(h).AddParam(fn, given, value); });
  };
  api_.results = [](void* h, uint32_t fn, const uint32_t* values, const ge_str* names, uint32_t n) {
    return Of(h).Edit(AllOf(fn), [&] { return Of(h).SetResults(fn, values, names, n); });
  };
  api_.state = [](void* h, const ge_state* given, uint32_t* state) {
    *state = 0;
    return Of(h).Edit({}, [&] { return Of(h).AddState(given, state); });
  };
  api_.entry = [](void* h, ge_str name, uint32_t fn, uint32_t role) {
    return Of(h).Edit({}, [&] { return Of(h).AddEntry(name, fn, role); });
  };
  api_.price = [](void* h, uint32_t fn, const uint32_t* nodes, uint32_t n, double* ns) {
    *ns = 0;
    return Of(h).Ask([&] { return Of(h).Price(fn, nodes, n, ns); });
  };
  api_.rule = [](void* h, const ge_rule* rule) { return Of(h).AskRule(rule); };
  api_.work = [](void* h, uint32_t fn, uint32_t node, double* flops, double* bytes) {
    *flops = *bytes = 0;
    return Of(h).Ask([&] { return Of(h).WorkOfNode(fn, node, flops, bytes); });
  };
  if (const Interrupt* call = CurrentInterrupt()) api_.stop = call->word();
  api_.shard = [](void* h, uint32_t fn, uint32_t node, void* to,
                  ge_rc (*way)(void*, const ge_shard*)) {
    return Of(h).AskShard(fn, node, to, way);
  };
}

Status PassEdit::WantNew(FunctionId fn, const char* what) const {
  GE_RETURN_IF_ERROR(WantFunction(fn));
  if (fn >= first_new_) return {};
  return NotLegal(
      fmt::format("{} of function '{}' are changed, which was there before; only those of a "
                  "function that the same run has added can be",
                  what, graph().fn(fn).name));
}

Status PassEdit::WantDerive(const char* what) const {
  if (kind_ == PassKind::kDerive && context_.phase == kAtLoad) return {};
  return NotLegal(
      fmt::format("it {}, which only a pass of kind GE_PASS_DERIVE may, at load", what));
}

Status PassEdit::AddFunction(const ge_function* given, uint32_t* fn) {
  if (!given) return NotLegal("a function is given as NULL");
  GE_ASSIGN_OR_RETURN(const ge_function r, ReadRecord(given, "a function"));
  if (r.n_attr_param > kMostParams || (r.n_attr_param > 0 && !r.attr_param)) {
    return NotLegal(fmt::format("a function has {} attribute parameters", r.n_attr_param));
  }
  for (const uint32_t named : {r.derived_of, r.custom_jvp, r.custom_vjp}) {
    if (named) GE_RETURN_IF_ERROR(WantFunction(named));
  }
  const std::string name = TextOf(r.name);
  if (name.empty()) return NotLegal("a function has no name");
  if (undo_) GE_RETURN_IF_ERROR(WantNewName(name, TextOf(r.overload)));
  const FunctionId added = t_.AddFunction(name);
  Function& f = t_.mutable_graph()->fn(added);
  f.overload = TextOf(r.overload);
  for (uint32_t i = 0; i < r.n_attr_param; ++i) f.attr_params.push_back(TextOf(r.attr_param[i]));
  f.recursive = (r.flags & GE_FUNCTION_RECURSIVE) != 0;
  f.inlining = r.flags & GE_FUNCTION_INLINE_NEVER    ? Function::Inline::kNever
               : r.flags & GE_FUNCTION_INLINE_ALWAYS ? Function::Inline::kAlways
                                                     : Function::Inline::kAuto;
  f.derived.kind = TextOf(r.derived_kind);
  f.derived.of = r.derived_of;
  if (!f.derived.kind.empty()) f.derived.pass = t_.pass();
  f.custom_jvp = r.custom_jvp;
  f.custom_vjp = r.custom_vjp;
  Edited(added);
  *fn = added;
  return {};
}

Status PassEdit::CopyFunction(FunctionId of, ge_str name, uint32_t* fn) {
  GE_RETURN_IF_ERROR(WantFunction(of));
  const std::string text = TextOf(name);
  if (text.empty()) return NotLegal("a function has no name");
  if (undo_) GE_RETURN_IF_ERROR(WantNewName(text, graph().fn(of).overload));
  const FunctionId added = t_.CopyFunction(of, text);
  Edited(added);
  *fn = added;
  return {};
}

Status PassEdit::WantNewName(const std::string& name, const std::string& overload) const {
  for (const Function& f : graph().functions) {
    if (f.id == 0 || f.name != name || f.overload != overload) continue;
    return NotLegal(fmt::format("there is a function '{}' already; give it another name", name));
  }
  return {};
}

Result<Type> PassEdit::TypeOf(const ge_param& given) {
  if (given.dtype == 0) {
    GE_RETURN_IF_ERROR(WantValue(given.of_fn, given.of_value));
    return Type(graph().fn(given.of_fn).value(given.of_value).type);
  }
  const std::vector<ge_dim> dims = WithFreeSizes(given.dims, given.rank, &t_.dims());
  return TypeFromAbi(given.dtype, given.rank, given.dims ? dims.data() : nullptr, graph().dims);
}

Status PassEdit::AddParam(FunctionId fn, const ge_param* given, uint32_t* value) {
  GE_RETURN_IF_ERROR(WantNew(fn, "parameters"));
  if (!given) return NotLegal("a parameter is given as NULL");
  GE_ASSIGN_OR_RETURN(Type type, TypeOf(*given));
  Outdate(fn);
  if (undo_) {  // the transaction would have to know the whole function
    Function& f = t_.mutable_graph()->fn(fn);
    const ValueId added = AddValue(&f, std::move(type), TextOf(given->name));
    f.params.push_back(added);
    *value = added;
  } else {
    *value = t_.AddParam(fn, TextOf(given->name), std::move(type));
  }
  return {};
}

ge_rc PassEdit::AddPlaceholder(FunctionId fn, const ge_param& given, uint32_t* value) {
  *value = 0;
  return Edit({.fn = fn}, [&]() -> Status {
    GE_RETURN_IF_ERROR(WantFunction(fn));
    GE_ASSIGN_OR_RETURN(Type type, TypeOf(given));
    Outdate(fn);
    const ValueId added = AddValue(&t_.mutable_graph()->fn(fn), std::move(type));
    placeholders_.emplace(fn, added);
    *value = added;
    return {};
  });
}

Status PassEdit::WantPlaceholdersKept(FunctionId fn, const uint32_t* values, uint32_t n) {
  const Function& f = graph().fn(fn);
  for (uint32_t i = 0; i < f.results.size(); ++i) {
    const ValueId was = f.results[i];
    if (placeholders_.count({fn, was}) == 0) continue;
    // The number of one that was taken back is given again.
    if (f.value(was).constant || t_.IsParam(fn, was) || t_.Producer(fn, was)) continue;
    const Type& type = f.value(was).type;
    const Type* is = i < n ? &f.value(values[i]).type : nullptr;
    if (is && is->kind == type.kind && is->dtype == type.dtype &&
        (!is->ranked || !type.ranked || is->rank() == type.rank())) {
      continue;
    }
    return NotLegal(fmt::format(
        "result {} of function '{}' is {}, and its placeholder {}; wanted the same dtype and rank, "
        "which calls of the function go by",
        i, f.name, is ? TypeToString(*is, graph().dims) : "missing",
        TypeToString(type, graph().dims)));
  }
  return {};
}

Status PassEdit::WantNames(FunctionId fn, const uint32_t* values,
                           const std::vector<std::string>& names) {
  const Function& f = graph().fn(fn);
  std::map<ValueId, uint32_t> named;
  for (uint32_t i = 0; i < names.size(); ++i) {
    const auto [first, fresh] = named.emplace(values[i], i);
    if (!fresh && names[first->second] != names[i]) {
      return NotLegal(fmt::format(
          "results {} and {} of function '{}' are one value, named '{}' and '{}'; put an Identity "
          "between them",
          first->second, i, f.name, names[first->second], names[i]));
    }
    if (!t_.IsParam(fn, values[i]) || f.value(values[i]).name == names[i]) continue;
    return NotLegal(fmt::format(
        "result {} of function '{}' is its parameter '{}' and would rename it to '{}'; put an "
        "Identity between them",
        i, f.name, f.value(values[i]).name, names[i]));
  }
  return {};
}

Status PassEdit::SetResults(FunctionId fn, const uint32_t* values, const ge_str* names,
                            uint32_t n) {
  GE_RETURN_IF_ERROR(WantNew(fn, "results"));
  GE_RETURN_IF_ERROR(WantValues(fn, values, n, "results"));
  std::vector<std::string> texts;
  for (uint32_t i = 0; i < n; ++i) {
    GE_RETURN_IF_ERROR(WantValue(fn, values[i]));
    if (names) texts.push_back(TextOf(names[i]));
    // No name is the present one.
    if (names && undo_ && texts.back().empty()) texts.back() = graph().fn(fn).value(values[i]).name;
  }
  GE_RETURN_IF_ERROR(WantPlaceholdersKept(fn, values, n));
  if (undo_) GE_RETURN_IF_ERROR(WantNames(fn, values, texts));
  Edited(fn);
  t_.SetResults(fn, std::vector<ValueId>(values, values + n), std::move(texts));
  return {};
}

// A large part of the model's file stays there, and what is large and new may leave memory. A few
// bytes are copied: to read them in the file may take the 2 MiB around them into memory.
Result<Const> PassEdit::Content(const ge_type& of, const void* data, uint64_t bytes) const {
  constexpr uint64_t kLarge = 64 << 10;
  const auto at = reinterpret_cast<uintptr_t>(data);
  for (size_t i = bytes < kLarge ? SIZE_MAX : 1; i < graph().consts.size(); ++i) {
    const Const& file = graph().consts[i];
    const uint64_t first = at - reinterpret_cast<uintptr_t>(file.data);
    if (!file.mapped || first > file.bytes || bytes > file.bytes - first) continue;
    GE_ASSIGN_OR_RETURN(Type type, StaticTypeFromAbi(of));
    if (static_cast<uint64_t>(ByteCount(type).value_or(-1)) != bytes) break;
    Const part;
    part.type = std::move(type);
    part.owner = file.owner;
    part.data = file.data + first;
    part.bytes = bytes;
    part.mapped = true;
    return part;
  }
  GE_ASSIGN_OR_RETURN(Const c, ConstFromAbi(of, data, bytes));
  if (context_.done_reading) context_.done_reading(data, bytes);
  if (context_.put_away) context_.put_away(&c);
  return c;
}

Result<Const> PassEdit::FirstContent(const ge_state& given, const Type& type,
                                     const std::string& name) const {
  const auto bytes = ByteCount(type);
  if (!bytes) return NotLegal(fmt::format("state '{}' is larger than 2^63 bytes", name));
  if (given.data) return Content(given.type, given.data, given.data_bytes);
  Const c;
  c.type = type;
  const int bits = DTypeBits(type.dtype);
  if (bits % 8 == 0) {
    const auto* fill = static_cast<const std::byte*>(given.fill);
    c.splat.resize(static_cast<size_t>(bits) / 8);
    if (fill) std::copy_n(fill, c.splat.size(), c.splat.begin());
    return c;
  }
  if (given.fill) {
    return NotLegal(
        fmt::format("state '{}' repeats an element of {} bits; wanted 8 and more", name, bits));
  }
  const std::vector<std::byte> zeros(static_cast<size_t>(*bytes));
  return MakeConst(type, zeros.data(), zeros.size());
}

Status PassEdit::AddState(const ge_state* given, uint32_t* state) {
  if (!given) return NotLegal("a state is given as NULL");
  GE_RETURN_IF_ERROR(WantDerive("adds a state"));
  GE_ASSIGN_OR_RETURN(const ge_state r, ReadRecord(given, "a state"));
  State s;
  s.name = TextOf(r.name);
  GE_ASSIGN_OR_RETURN(s.type, StaticTypeFromAbi(r.type));
  if (r.kind > GE_STATE_STEP)
    return NotLegal(fmt::format("state '{}' is of kind {}", s.name, r.kind));
  s.kind = static_cast<State::Kind>(r.kind);
  s.trainable = (r.flags & GE_STATE_TRAINABLE) != 0;
  if (r.init_fn) {
    GE_RETURN_IF_ERROR(WantFunction(r.init_fn));
    s.init_fn = r.init_fn;
  } else {
    GE_ASSIGN_OR_RETURN(Const c, FirstContent(r, s.type, s.name));
    s.init = t_.mutable_graph()->AddConst(std::move(c));
  }
  *state = t_.AddState(std::move(s));
  return {};
}

Status PassEdit::AddEntry(ge_str name, FunctionId fn, uint32_t role) {
  GE_RETURN_IF_ERROR(WantDerive("adds an entry"));
  GE_RETURN_IF_ERROR(WantFunction(fn));
  if (role > GE_ROLE_DATA) return NotLegal(fmt::format("an entry has role {}", role));
  Entry e;
  e.name = TextOf(name);
  e.fn = fn;
  e.role = static_cast<Entry::Role>(role);
  if (graph().FindEntry(e.name)) {
    return NotLegal(fmt::format("there is an entry '{}' already", e.name));
  }
  t_.AddEntry(std::move(e));
  return {};
}

}  // namespace ge
