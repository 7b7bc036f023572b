#include "ge/price/signature.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <iterator>
#include <unordered_map>

#include "ge/ops/defaults.h"

namespace ge {
namespace {

// Integer constants up to this many elements are part of the signature by value: axes, shapes,
// slices and pads decide what a node does.
constexpr int64_t kMaxNamedInts = 8;

// Names are made for every offer at every shape: format strings would take a tenth of a compile.
template <typename Integer>
void AddNumber(Integer x, std::string* out, int base = 10) {
  char text[24];
  out->append(text, std::to_chars(text, text + sizeof text, x, base).ptr);
}

uint64_t Fnv(const void* data, uint64_t bytes) {
  uint64_t hash = 1469598103934665603u;
  const auto* p = static_cast<const unsigned char*>(data);
  for (uint64_t i = 0; i < bytes; ++i) hash = (hash ^ p[i]) * 1099511628211u;
  return hash;
}

// Convolutions of groups are other kernels than those of all channels, mostly depth-wise ones.
bool IsGrouped(const Node& node) {
  for (const Attr& a : node.attrs) {
    const auto* group = std::get_if<int64_t>(&a.value);
    if (a.name == "group" && group && *group > 1) return true;
  }
  return false;
}

class Namer {
 public:
  Namer(const Graph& graph, const Function& f, const std::vector<PlanLayout>& layouts)
      : graph_(graph), f_(f), layouts_(layouts) {}

  OfferName Name(const std::vector<uint32_t>& nodes,
                 const std::vector<std::pair<ValueId, LayoutId>>& value_layouts) {
    for (uint32_t n : nodes) AddNode(f_.nodes[n]);
    for (auto [v, l] : value_layouts) {
      if (l != 0) AddLayout(v, layouts_[l]);
    }
    out_.size = std::log2(bytes_ + 1);
    return std::move(out_);
  }

 private:
  void AddNode(const Node& node) {
    if (!out_.family.empty()) out_.family += '+', out_.signature += '+';
    const std::string op = node.domain.empty() ? node.op : node.domain + "." + node.op;
    out_.family += op, out_.signature += op;
    if (IsGrouped(node)) out_.family += "/grouped";
    AddAttrs(node);
    out_.signature += '(';
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (i) out_.signature += ',';
      if (node.inputs[i]) AddInput(node.inputs[i]);
    }
    out_.signature += ')';
    for (ValueId v : node.outputs) {
      if (!v) {
        out_.signature += '_';
        continue;
      }
      Number(v);
      out_.signature += DTypeName(f_.values[v].type.dtype);
      AddShape(f_.values[v].type);
    }
  }

  void AddInput(ValueId v) {
    const size_t before = seen_.size(), number = Number(v);
    if (number < before) {
      out_.signature += 't';
      AddNumber(number, &out_.signature);
      return;
    }
    const Value& value = f_.values[v];
    if (value.constant) out_.signature += "c:";
    out_.signature += DTypeName(value.type.dtype);
    if (value.constant) AddSmallInts(graph_.consts[value.constant]);
    AddShape(value.type);
  }

  void AddSmallInts(const Const& c) {
    const bool is_int = c.type.dtype == DType::kInt64 || c.type.dtype == DType::kInt32;
    const auto count = ElementCount(c.type);
    if (!is_int || !count || *count > kMaxNamedInts) return;
    ConstScratch scratch;
    const std::byte* data = ConstBytes(c, &scratch);
    if (!data) return;
    const size_t width = c.type.dtype == DType::kInt64 ? 8 : 4;
    out_.signature += '{';
    for (int64_t i = 0; i < *count; ++i) {
      int64_t x = 0;
      int32_t narrow = 0;
      std::memcpy(width == 8 ? static_cast<void*>(&x) : &narrow, data + i * width, width);
      if (i) out_.signature += ',';
      AddNumber(width == 8 ? x : narrow, &out_.signature);
    }
    out_.signature += '}';
  }

  void AddShape(const Type& type) {
    if (!out_.shape.empty()) out_.shape += ' ';
    for (size_t i = 0; i < type.dims.size(); ++i) {
      if (i) out_.shape += 'x';
      AddNumber(type.dims[i].known() ? type.dims[i].value : -1, &out_.shape);
    }
    if (type.dims.empty()) out_.shape += type.ranked ? "." : "?";
    bytes_ += static_cast<double>(ByteCount(type).value_or(0));
  }

  void AddAttrs(const Node& node) {
    // Defaults say nothing that the operator's name does not, and would make long names.
    std::vector<const Attr*> sorted = StatedAttrs(node);
    std::sort(sorted.begin(), sorted.end(),
              [](const Attr* a, const Attr* b) { return a->name < b->name; });
    std::string* out = &out_.signature;
    for (const Attr* a : sorted) {
      *out += '[', *out += a->name, *out += '=';
      if (auto* i = std::get_if<int64_t>(&a->value)) {
        AddNumber(*i, out);
      } else if (auto* d = std::get_if<double>(&a->value)) {
        fmt::format_to(std::back_inserter(*out), "{}", *d);
      } else if (auto* s = std::get_if<std::string>(&a->value)) {
        AddNumber(Fnv(s->data(), s->size()), out, 16);
      } else if (auto* is = std::get_if<std::vector<int64_t>>(&a->value)) {
        for (int64_t x : *is) AddNumber(x, out), *out += ',';
      } else if (auto* ds = std::get_if<std::vector<double>>(&a->value)) {
        for (double x : *ds) fmt::format_to(std::back_inserter(*out), "{},", x);
      } else {
        *out += '#';
        AddNumber(a->value.index(), out);
      }
      *out += ']';
    }
  }

  void AddLayout(ValueId v, const PlanLayout& l) {
    std::string* out = &out_.signature;
    const size_t number = Find(v);
    *out += '@';
    if (number == seen_.size()) {
      *out += '?';
    } else {
      *out += 't';
      AddNumber(number, out);
    }
    *out += ':';
    AddNumber(static_cast<int>(l.kind), out);
    for (uint32_t p : l.perm) *out += ",p", AddNumber(p, out);
    for (size_t i = 0; i < l.block_axis.size(); ++i) {
      *out += ",b";
      AddNumber(l.block_axis[i], out);
      *out += ':';
      AddNumber(l.block_size[i], out);
    }
    if (!l.tag.empty()) *out += ',', AddNumber(Fnv(l.tag.data(), l.tag.size()), out, 16);
  }

  // Of a value within the name, in the order in which they are met.
  size_t Number(ValueId v) {
    const size_t number = Find(v);
    if (number < seen_.size()) return number;
    seen_.push_back(v);
    if (seen_.size() > kFew) {
      for (size_t i = numbers_.size(); i < seen_.size(); ++i) numbers_.emplace(seen_[i], i);
    }
    return number;
  }

  // As many as there are for a value that was not met. Most offers have few, and need no table; a
  // pattern may have a hundred thousand.
  size_t Find(ValueId v) const {
    if (seen_.size() <= kFew) {
      return static_cast<size_t>(std::find(seen_.begin(), seen_.end(), v) - seen_.begin());
    }
    const auto it = numbers_.find(v);
    return it == numbers_.end() ? seen_.size() : it->second;
  }

  static constexpr size_t kFew = 32;

  const Graph& graph_;
  const Function& f_;
  const std::vector<PlanLayout>& layouts_;
  std::vector<ValueId> seen_;
  std::unordered_map<ValueId, size_t> numbers_;  // of `seen_`, where they are more than kFew
  OfferName out_;
  double bytes_ = 0;
};

}  // namespace

OfferName NameOffer(const Graph& graph, const Function& function,
                    const std::vector<uint32_t>& nodes,
                    const std::vector<std::pair<ValueId, LayoutId>>& value_layouts,
                    const std::vector<PlanLayout>& layouts, bool rounds) {
  OfferName name = Namer(graph, function, layouts).Name(nodes, value_layouts);
  if (rounds) name.family.insert(0, "rounded "), name.signature.insert(0, "rounded ");
  return name;
}

}  // namespace ge
