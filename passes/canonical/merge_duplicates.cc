#include "passes/canonical/merge_duplicates.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "passes/purity.h"

namespace ge {
namespace {

constexpr uint64_t kMaxComparedBytes = 1024;  // Larger constants are equal only when they are one.

// Text that is equal exactly for nodes that compute the same.
class Key {
 public:
  void Number(uint64_t v) { text_.append(reinterpret_cast<const char*>(&v), sizeof v); }
  void Text(std::string_view s) {
    Number(s.size());
    text_ += s;
  }
  void Real(double d) {
    uint64_t bits;
    std::memcpy(&bits, &d, sizeof bits);
    Number(bits);
  }
  std::string Take() { return std::move(text_); }

 private:
  std::string text_;
};

class Merger {
 public:
  Merger(Transaction& t, FunctionId fn) : t_(t), fn_(fn) {}

  void Run() {
    const size_t count = F().nodes.size();
    alone_.Reserve(count);
    for (size_t i = 0; i < count; ++i) {
      const Node& n = F().nodes[i];
      if (!n.id || n.outputs.empty()) continue;
      // Hardly a node has one that it is to be compared with.
      size_t& alike = alone_.At(LikenessOf(n), i);
      if (alike == i || !IsPure(t_.graph(), n)) continue;
      if (alike != kTold && !IsPure(t_.graph(), F().nodes[alike])) {
        alike = i;  // as if that one were not there
        continue;
      }
      if (alike != kTold) {
        seen_.emplace(KeyOf(F().nodes[alike]), alike);
        alike = kTold;
      }
      auto [it, fresh] = seen_.emplace(KeyOf(n), i);
      if (!fresh) Merge(F().nodes[it->second], n);
    }
  }

 private:
  static constexpr size_t kTold = SIZE_MAX;

  // From a likeness to a node index, or kTold. In one block: there is one for each node of a graph.
  class Likenesses {
   public:
    // Room for so many.
    void Reserve(size_t count) { slots_.assign(std::bit_ceil(2 * count + 1), {0, kNone}); }
    // What is kept for it, or `otherwise`, which is kept from now on.
    size_t& At(size_t likeness, size_t otherwise) {
      const size_t last = slots_.size() - 1;
      size_t i = likeness & last;
      while (slots_[i].second != kNone && slots_[i].first != likeness) i = (i + 1) & last;
      if (slots_[i].second == kNone) slots_[i] = {likeness, otherwise};
      return slots_[i].second;
    }

   private:
    static constexpr size_t kNone = SIZE_MAX - 1;
    std::vector<std::pair<size_t, size_t>> slots_;
  };

  const Function& F() const { return t_.graph().fn(fn_); }

  // Equal for nodes that compute the same, and for few others: the operator and which values it
  // reads that are no small constants.
  size_t LikenessOf(const Node& n) const {
    size_t sum = n.op.size();
    const auto add = [&sum](size_t x) {
      sum = (sum ^ x) * 0x9e3779b97f4a7c15;
      sum ^= sum >> 32;
    };
    for (const char c : n.op) sum = 31 * sum + static_cast<unsigned char>(c);
    add(n.outputs.size());
    for (const ValueId v : n.inputs) add(v != 0 && IsCompared(v) ? SIZE_MAX : v);
    return sum;
  }

  // Whether it counts by its content.
  bool IsCompared(ValueId v) const {
    const ConstId id = F().value(v).constant;
    if (!id) return false;
    const auto bytes = ByteCount(t_.graph().consts[id].type);
    return bytes && static_cast<uint64_t>(*bytes) <= kMaxComparedBytes;
  }

  // Small constants of equal type and content count as one value.
  ValueId Same(ValueId v) {
    if (!IsCompared(v)) return v;
    const Const& c = t_.graph().consts[F().value(v).constant];
    const auto bytes = ByteCount(c.type);
    ConstScratch scratch;
    const std::byte* data = ConstBytes(c, &scratch);
    if (!data && *bytes) return v;
    Key key;
    key.Text(TypeToString(c.type, t_.graph().dims));
    key.Text({reinterpret_cast<const char*>(data), static_cast<size_t>(*bytes)});
    return constants_.emplace(key.Take(), v).first->second;
  }

  void AddPayload(const Attr::Payload& p, Key* key) {
    const DimTable& dims = t_.graph().dims;
    key->Number(p.index());
    if (auto* i = std::get_if<int64_t>(&p)) {
      key->Number(static_cast<uint64_t>(*i));
    } else if (auto* d = std::get_if<double>(&p)) {
      key->Real(*d);
    } else if (auto* s = std::get_if<std::string>(&p)) {
      key->Text(*s);
    } else if (auto* type = std::get_if<Type>(&p)) {
      key->Text(TypeToString(*type, dims));
    } else if (auto* dim = std::get_if<Dim>(&p)) {
      key->Number(dim->expr);
      key->Number(static_cast<uint64_t>(dim->value));
    } else if (auto* c = std::get_if<ConstRef>(&p)) {
      key->Number(c->id);
    } else if (auto* f = std::get_if<FunctionRef>(&p)) {
      key->Number(f->id);
    } else if (auto* r = std::get_if<AttrRef>(&p)) {
      key->Text(r->param);
    } else {
      AddList(p, key);
    }
  }

  void AddList(const Attr::Payload& p, Key* key) {
    if (auto* ints = std::get_if<std::vector<int64_t>>(&p)) {
      for (int64_t i : *ints) key->Number(static_cast<uint64_t>(i));
    } else if (auto* reals = std::get_if<std::vector<double>>(&p)) {
      for (double d : *reals) key->Real(d);
    } else if (auto* texts = std::get_if<std::vector<std::string>>(&p)) {
      for (const std::string& s : *texts) key->Text(s);
    } else if (auto* types = std::get_if<std::vector<Type>>(&p)) {
      for (const Type& x : *types) key->Text(TypeToString(x, t_.graph().dims));
    }
  }

  std::string KeyOf(const Node& n) {
    Key key;
    key.Text(n.domain);
    key.Text(n.op);
    key.Text(n.hints.no_cse_group);
    key.Text(n.hints.engine_pin);
    key.Number(n.inputs.size());
    for (ValueId v : n.inputs) key.Number(v ? Same(v) : 0);
    key.Number(n.outputs.size());
    for (ValueId v : n.outputs) key.Number(v != 0);
    std::vector<const Attr*> attrs;
    for (const Attr& a : n.attrs) attrs.push_back(&a);
    std::sort(attrs.begin(), attrs.end(),
              [](const Attr* a, const Attr* b) { return a->name < b->name; });
    for (const Attr* a : attrs) {
      Key payload;
      AddPayload(a->value, &payload);
      key.Text(a->name);
      key.Text(payload.Take());
    }
    return key.Take();
  }

  void Merge(const Node& kept, const Node& twin) {
    for (size_t s = 0; s < twin.outputs.size(); ++s) {
      const ValueId from = twin.outputs[s], to = kept.outputs[s];
      if (from && !t_.CanReplace(fn_, from, to)) return;
    }
    t_.AddOrigin(fn_, kept.id, twin);
    for (size_t s = 0; s < twin.outputs.size(); ++s) {
      if (twin.outputs[s]) t_.ReplaceUses(fn_, twin.outputs[s], kept.outputs[s]);
    }
    t_.Erase(fn_, twin.id);
  }

  Transaction& t_;
  const FunctionId fn_;
  Likenesses alone_;
  std::unordered_map<std::string, size_t> seen_;        // key -> node index
  std::unordered_map<std::string, ValueId> constants_;  // content -> the first such constant
};

}  // namespace

Status MergeDuplicates::Run(Transaction& transaction, const PassContext&) {
  for (FunctionId fn = 1; fn < transaction.graph().functions.size(); ++fn)
    Merger(transaction, fn).Run();
  return {};
}

}  // namespace ge
