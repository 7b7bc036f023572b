#include "plugins/units/parser.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include "plugins/units/half.h"

namespace ge_engines {

// Of operators that the tables name: ONNX's as they are, the others with their domain in front.
enum class Domain { kOnnx, kOurs, kMicrosoft, kLearned };

namespace {

constexpr std::string_view kOurPrefix = "ge.", kMicrosoftPrefix = "com.microsoft.",
                           kLearnedPrefix = "ai.onnx.ml.";

std::optional<Domain> DomainOf(std::string_view domain) {
  if (domain.empty() || domain == "ai.onnx") return Domain::kOnnx;
  if (domain == "ge") return Domain::kOurs;
  if (domain == "com.microsoft") return Domain::kMicrosoft;
  if (domain == "ai.onnx.ml") return Domain::kLearned;
  return std::nullopt;
}

uint32_t HashOf(std::string_view name) {
  uint32_t hash = 5381;
  for (const char ch : name) hash = hash * 33 ^ static_cast<unsigned char>(ch);
  return hash ^ hash >> 11;
}

}  // namespace

// An engine's operators by name: every node of a graph is looked up several
// times.
class OperatorIndex {
 public:
  // An index for each table, made once: the tables are constants of the program.
  static const OperatorIndex& Of(std::span<const UnitKind* const> kinds) {
    static std::mutex mutex;
    static auto* indices = new std::map<const UnitKind* const*, OperatorIndex>;
    const std::lock_guard<std::mutex> lock(mutex);
    return indices->try_emplace(kinds.data(), kinds).first->second;
  }

  explicit OperatorIndex(std::span<const UnitKind* const> kinds) {
    size_t rows = 0;
    for (const UnitKind* kind : kinds) rows += kind->operators.size();
    while (slots_.size() < 2 * rows) slots_.resize(2 * slots_.size());
    for (const bool first : {true, false}) {
      for (const UnitKind* kind : kinds) {
        for (const Operator& row : kind->operators) {
          if (row.first == first) Add(row);
        }
      }
    }
  }

  bool widens() const { return widens_; }

  // The row of float64, or the first of the others; nullptr where nobody knows it.
  const Operator* Find(Domain domain, std::string_view op, bool doubles) const {
    for (size_t i = HashOf(op) % slots_.size(); slots_[i].entry != nullptr;
         i = (i + 1) % slots_.size()) {
      const Slot& s = slots_[i];
      if (s.domain == domain && s.doubles == doubles && s.name == op) return s.entry;
    }
    return nullptr;
  }

 private:
  struct Slot {
    std::string_view name;
    Domain domain = Domain::kOnnx;
    bool doubles = false;
    const Operator* entry = nullptr;
  };

  // The first of a name stays.
  void Add(const Operator& entry) {
    std::string_view name = entry.op;
    Domain domain = Domain::kOnnx;
    for (const auto& [prefix, of] :
         {std::pair(kOurPrefix, Domain::kOurs), std::pair(kMicrosoftPrefix, Domain::kMicrosoft),
          std::pair(kLearnedPrefix, Domain::kLearned)}) {
      if (name.substr(0, prefix.size()) != prefix) continue;
      domain = of;
      name.remove_prefix(prefix.size());
    }
    const bool doubles = entry.types == Types::kDouble || entry.types == Types::kDoubleInputs;
    if (Find(domain, name, doubles) != nullptr) return;
    size_t i = HashOf(name) % slots_.size();
    while (slots_[i].entry != nullptr) i = (i + 1) % slots_.size();
    slots_[i] = {name, domain, doubles, &entry};
    widens_ = widens_ || entry.widen != nullptr;
  }

  bool widens_ = false;
  std::vector<Slot> slots_ = std::vector<Slot>(64);  // a power of two, at most half full
};

Parser::Parser(const ge_graph& graph, std::span<const UnitKind* const> kinds, bool halves)
    : g_(graph), operators_(OperatorIndex::Of(kinds)), halves_(halves) {}

Dims Parser::dims(uint32_t given) const {
  const auto d = gp::Dims(value(given).type);
  return Dims(d.begin(), d.end());
}

bool Parser::Scalar(uint32_t given, float* out) const {
  int64_t n = 0;
  if (!constant(given) || !IsReal(dtype(given))) return false;
  if (!gp::ElementCount(value(given).type, &n) || n != 1) return false;
  *out = ElementAsFloat(value(given).data, dtype(given), 0);
  return true;
}

bool Parser::Double(uint32_t given, double* out) const {
  int64_t n = 0;
  if (!constant(given) || value(given).type.dtype != GE_F64) return false;
  if (!gp::ElementCount(value(given).type, &n) || n != 1) return false;
  std::memcpy(out, value(given).data, sizeof(double));
  return true;
}

bool Parser::Integers(uint32_t given, Dims* out) const {
  int64_t n = 0;
  if (!constant(given) || !gp::ElementCount(value(given).type, &n)) return false;
  const auto* p = static_cast<const char*>(value(given).data);
  out->clear();
  for (int64_t i = 0; i < n; ++i) {
    if (value(given).type.dtype == GE_I64) {
      int64_t x;
      std::memcpy(&x, p + i * 8, 8);
      out->push_back(x);
    } else if (value(given).type.dtype == GE_I32) {
      int32_t x;
      std::memcpy(&x, p + i * 4, 4);
      out->push_back(x);
    } else {
      return false;
    }
  }
  return true;
}

std::vector<float> Parser::Floats(uint32_t given) const {
  std::vector<float> f(static_cast<size_t>(Product(dims(given))));
  for (size_t i = 0; i < f.size(); ++i) f[i] = ElementAsFloat(value(given).data, dtype(given), i);
  return f;
}

// Of a tensor: known, non-zero size, and a dtype that the operator's kernels have. Integer
// constants behind the data are read by the rules that expect them.
bool Parser::CheckValue(uint32_t given, const char* side, uint32_t slot, bool index,
                        bool may_be_empty, const Operator& entry, Why* why) const {
  const bool output = *side == 'o';
  const ge_type& t = value(given).type;
  const auto name = [&] { return side + (" " + std::to_string(slot)); };
  int64_t count = 0;
  if (t.rank < 0 || !gp::ElementCount(t, &count)) {
    return why->Say(GE_WHY_DYNAMIC, name() + " has no static shape");
  }
  if (t.sharding != 0) return why->Say(GE_WHY_LAYOUT, name() + " is sharded");
  if (index && constant(given) && (t.dtype == GE_I64 || t.dtype == GE_I32)) return true;
  const uint32_t bits = gp::ElementBits(t.dtype);
  Types types = index ? Types::kFloat : entry.types;
  if (types == Types::kDoubleInputs) types = output ? Types::kAny : Types::kDouble;
  const bool number = t.dtype == GE_I32 || t.dtype == GE_I64 || t.dtype == GE_BOOL;
  const bool half = t.dtype == GE_F16 || t.dtype == GE_BF16;
  const bool code = t.dtype == GE_I32 || t.dtype == GE_I8 || t.dtype == GE_U8;
  const bool fits = types == Types::kFloat       ? IsReal(t.dtype)
                    : types == Types::kNumber    ? number || IsReal(t.dtype)
                    : types == Types::kCast      ? number || t.dtype == GE_F32 || half
                    : types == Types::kQuantized ? code || t.dtype == GE_F32
                    : types == Types::kDouble    ? t.dtype == GE_F64
                    : types == Types::kWord ? bits == 8 || bits == 16 || bits == 32 || bits == 64
                                            : bits >= 8;
  if (!fits) {
    const char* wanted = types == Types::kFloat    ? "float32"
                         : types == Types::kNumber ? "float32, int32, int64 and bool"
                         : types == Types::kCast
                             ? "float32, float16, bfloat16, int32, int64 and bool"
                         : types == Types::kQuantized ? "float32, int32, int8 and uint8"
                         : types == Types::kDouble    ? "float64"
                         : types == Types::kWord      ? "elements of 1, 2, 4 or 8 bytes"
                                                      : "elements of whole bytes";
    return why->Say(GE_WHY_DTYPE, name() + " is " + gp::DTypeName(t.dtype) + ", only " + wanted);
  }
  if (t.rank > kMaxRank) {
    return why->Say(GE_WHY_SHAPE, name() + " has rank " + std::to_string(t.rank) + ", at most " +
                                      std::to_string(kMaxRank));
  }
  // Empty tensors are not worth a kernel.
  const bool absent = may_be_empty || (index && constant(given) && entry.empty_constants);
  if (count == 0 && !absent) return why->Say(GE_WHY_SHAPE, name() + " has no elements");
  if (count > std::numeric_limits<int32_t>::max()) {
    return why->Say(GE_WHY_SHAPE, name() + " has more than 2^31 elements");
  }
  return true;
}

bool Parser::Checks(uint32_t node, const Operator& entry, Why* why) const {
  const ge_node& n = this->node(node);
  for (uint32_t i = 0; i < n.n_in; ++i) {
    const bool index = entry.data != 0 && i >= entry.data;
    if (n.in[i] != 0 && !CheckValue(n.in[i], "input", i, index, entry.empty_inputs, entry, why)) {
      return false;
    }
  }
  for (uint32_t i = 0; i < n.n_out; ++i) {
    if (n.out[i] != 0 && !CheckValue(n.out[i], "output", i, false, false, entry, why)) {
      return false;
    }
  }
  return true;
}

bool Parser::MakesNothing(const ge_node& n) const {
  bool any = false;
  for (uint32_t k = 0; k < n.n_out; ++k) {
    if (n.out[k] == 0) continue;
    const ge_type& t = value(n.out[k]).type;
    int64_t count = 0;
    const bool plain = t.rank >= 0 && t.rank <= kMaxRank && t.sharding == 0 &&
                       gp::ElementBits(t.dtype) >= 8 && gp::ElementCount(t, &count);
    if (!plain || count != 0) return false;
    any = true;
  }
  return any;
}

bool Parser::OneReal(const Unit& unit, Why* why) const {
  const int32_t made = dtype(unit.out[0]);
  const auto has = [&](uint32_t v) { return v == 0 || dtype(v) == made; };
  bool one = std::all_of(unit.post_ops.begin(), unit.post_ops.end(),
                         [&](const PostOp& q) { return has(q.operand); });
  for (const Ids* values : {&unit.in, &unit.out, &unit.bias}) {
    one = one && std::all_of(values->begin(), values->end(), has);
  }
  if (!IsReal(made)) return why->Say(GE_WHY_DTYPE, "only floats");
  return one || why->Say(GE_WHY_DTYPE, "its tensors have several dtypes");
}

bool Parser::OnlyFloats(const Unit& unit, Why* why) const {
  for (const Ids* list : {&unit.in, &unit.out}) {
    for (uint32_t v : *list) {
      if (v == 0 || dtype(v) == GE_F32) continue;
      return why->Say(GE_WHY_DTYPE,
                      std::string("a tensor is ") + gp::DTypeName(dtype(v)) + ", only float32");
    }
  }
  return true;
}

const Operator* Parser::EntryOf(const ge_node& n) const {
  const std::string_view domain = gp::View(n.domain);
  const std::optional<Domain> known = DomainOf(domain);
  if (!known) return nullptr;
  if (n.n_in > 0 && n.in[0] != 0 && dtype(n.in[0]) == GE_F64) {
    if (const Operator* own = operators_.Find(*known, gp::View(n.op), true)) return own;
  }
  return operators_.Find(*known, gp::View(n.op), false);
}

bool Parser::Group(uint32_t i, Unit* unit) const {
  const Operator* e = EntryOf(node(i));
  return e != nullptr && e->group != nullptr && e->group(*this, i, unit);
}

bool Parser::widens() const { return operators_.widens(); }

bool Parser::Widen(const Matcher& matcher, uint32_t node, Unit* u) const {
  const Operator* e = EntryOf(this->node(node));
  return e != nullptr && e->widen != nullptr && e->widen(matcher, node, u);
}

bool Parser::Parse(uint32_t i, Unit* u, Why* why) const {
  const ge_node& n = node(i);
  const Operator* e = EntryOf(n);
  if (e == nullptr) return why->Say(GE_WHY_OP, "no kernel for this operator");
  if (n.n_body != 0) return why->Say(GE_WHY_OP, "nodes with bodies are not taken");
  const bool reads = n.n_in > 0 && n.in[0] != 0;
  if ((!reads && !e->no_inputs) || n.n_out == 0 || (n.out[0] == 0 && !e->skips_first)) {
    return why->Say(GE_WHY_OP, "first input or output is missing");
  }
  u->root = i;
  u->nodes = {i};
  if (MakesNothing(n)) {
    u->spec.emplace<NothingSpec>();
    for (uint32_t k = 0; k < n.n_out; ++k) {
      if (n.out[k] != 0) u->out.push_back(n.out[k]);
    }
    u->dims = dims(u->out[0]);
    return true;
  }
  if (!Checks(i, *e, why)) return false;
  u->out = {n.out[0]};
  if (reads) u->in = {n.in[0]};
  if (n.out[0] != 0) u->dims = dims(n.out[0]);
  return e->parse(*this, i, u, why);
}

bool Broadcasts(const Dims& x, const Dims& y) {
  if (x.size() > y.size()) return false;
  for (size_t k = 0; k < x.size(); ++k) {
    if (x[k] != 1 && x[k] != y[k + y.size() - x.size()]) return false;
  }
  return true;
}

bool AxisOf(const ge_node& n, size_t rank, int64_t named, int* axis, Why* why) {
  if (named < 0) named += static_cast<int64_t>(rank);
  if (named < 0 || named >= static_cast<int64_t>(rank)) {
    return why->Say(GE_WHY_ATTRIBUTE, std::string(gp::View(n.op)) + "'s axis is out of range");
  }
  *axis = static_cast<int>(named);
  return true;
}

bool IsNumber(int32_t dtype) { return dtype == GE_F32 || dtype == GE_I32 || dtype == GE_I64; }

}  // namespace ge_engines
