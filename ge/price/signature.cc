#include "ge/price/signature.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <iterator>
#include <optional>
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

// Of a convolution of any kind, with static weights.
struct Convolution {
  const Type* image;
  const Type* weights;
  bool forward = true, transposed = false, grouped = false;
};

std::optional<Convolution> ConvolutionOf(const Function& f, const Node& node) {
  if (node.inputs.size() < 2 || node.outputs.empty()) return std::nullopt;
  const bool ours = node.domain == "ge";
  const bool plain = node.domain.empty() && (node.op == "Conv" || node.op == "ConvTranspose");
  const bool by_image = ours && node.op == "ConvGradInput";
  const bool by_weight = ours && node.op == "ConvGradWeight";
  if (!plain && !by_image && !by_weight) return std::nullopt;
  const ValueId image = by_image ? node.outputs[0] : node.inputs[0];
  const ValueId weights = by_weight ? node.outputs[0] : node.inputs[1];
  if (!image || !weights) return std::nullopt;
  Convolution c{&f.values[image].type, &f.values[weights].type};
  c.forward = node.op == "Conv";
  c.transposed = node.op == "ConvTranspose";
  c.grouped = IsGrouped(node);
  if (!c.weights->is_static() || c.weights->rank() < 3) return std::nullopt;
  return c;
}

// Whether a Transpose moves whole rows, which is copying, and not single elements.
bool KeepsRows(const Node& node) {
  if (node.op != "Transpose") return false;
  for (const Attr& a : node.attrs) {
    const auto* perm = std::get_if<std::vector<int64_t>>(&a.value);
    if (a.name == "perm" && perm && !perm->empty()) {
      return perm->back() + 1 == static_cast<int64_t>(perm->size());
    }
  }
  return false;
}

// First layers have as many channels as a picture, and lanes of kernels that block them idle.
constexpr int64_t kFewChannels = 4;
// Taps along an axis from which on a kernel may be one of those that span the image.
constexpr int64_t kWide = 5;

// Kernels as large as half of the image, as the gradients of weights have when they come in parts:
// few places, each a long sum.
bool IsWhole(const Type& image, const Type& weights) {
  if (!image.is_static() || image.rank() != weights.rank()) return false;
  bool wide = false;
  for (size_t i = 2; i < weights.dims.size(); ++i) {
    if (2 * weights.dims[i].value < image.dims[i].value) return false;
    wide = wide || weights.dims[i].value >= kWide;
  }
  return wide;
}

}  // namespace

class OfferNames::Namer {
 public:
  Namer(const Graph& graph, const Function& f, const std::vector<uint32_t>& nodes, bool rounds)
      : graph_(graph), f_(f) {
    for (uint32_t n : nodes) AddNode(f_.nodes[n]);
    out_.size = std::log2(bytes_ + 1);
    if (rounds) {
      out_.family.insert(0, "rounded ");
      out_.signature.insert(0, "rounded ");
    }
  }

  // In the order of the offer, all but plain ones.
  OfferName With(const std::vector<std::pair<ValueId, LayoutId>>& value_layouts,
                 const std::vector<PlanLayout>& layouts) const {
    OfferName name = out_;
    for (auto [v, l] : value_layouts) AddLayout(v, layouts[l], &name.signature);
    return name;
  }

 private:
  void AddNode(const Node& node) {
    if (!out_.family.empty()) {
      out_.family += '+';
      out_.signature += '+';
    }
    const std::string op = node.domain.empty() ? node.op : node.domain + "." + node.op;
    out_.family += op;
    out_.signature += op;
    const std::optional<Convolution> conv = ConvolutionOf(f_, node);
    if (conv) {
      AddKernel(*conv);
    } else if (IsGrouped(node)) {
      out_.family += "/grouped";
    } else if (KeepsRows(node)) {
      out_.family += "/rows";
    }
    AddAttrs(node, conv.has_value());
    out_.signature += '(';
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (i) out_.signature += ',';
      // The shape of a gradient is that of a result.
      if (node.inputs[i]) AddInput(node.inputs[i], conv && i == 2 && node.domain == "ge");
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

  // Convolutions are told apart by their kernels, whether an exporter states kernel_shape or not.
  void AddKernel(const Convolution& c) {
    std::string mark;
    const bool whole = c.forward && !c.grouped && IsWhole(*c.image, *c.weights);
    if (c.grouped) {
      mark = "/grouped";
    } else if (whole) {
      mark = "/whole";
    } else if (c.weights->dims[1].value <= kFewChannels && !c.transposed) {
      mark = "/few";
    }
    out_.family += mark;
    if (!c.grouped) out_.signature += mark;  // else the attribute says it
    if (whole) return;
    out_.signature += "[kernel_shape=";
    for (size_t i = 2; i < c.weights->dims.size(); ++i) {
      AddNumber(c.weights->dims[i].value, &out_.signature);
      out_.signature += ',';
    }
    out_.signature += ']';
  }

  void AddInput(ValueId v, bool is_shape) {
    const size_t before = seen_.size(), number = Number(v);
    if (number < before) {
      out_.signature += 't';
      AddNumber(number, &out_.signature);
      return;
    }
    const Value& value = f_.values[v];
    if (value.constant) out_.signature += "c:";
    out_.signature += DTypeName(value.type.dtype);
    if (value.constant && !is_shape) AddSmallInts(graph_.consts[value.constant]);
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

  void AddAttrs(const Node& node, bool is_conv) {
    // Defaults say nothing that the operator's name does not, and would make long names.
    std::vector<const Attr*> sorted = StatedAttrs(node);
    std::sort(sorted.begin(), sorted.end(),
              [](const Attr* a, const Attr* b) { return a->name < b->name; });
    std::string* out = &out_.signature;
    for (const Attr* a : sorted) {
      if (is_conv && a->name == "kernel_shape") continue;
      *out += '[';
      *out += a->name;
      *out += '=';
      if (auto* i = std::get_if<int64_t>(&a->value)) {
        AddNumber(*i, out);
      } else if (auto* d = std::get_if<double>(&a->value)) {
        fmt::format_to(std::back_inserter(*out), "{}", *d);
      } else if (auto* s = std::get_if<std::string>(&a->value)) {
        AddNumber(Fnv(s->data(), s->size()), out, 16);
      } else if (auto* is = std::get_if<std::vector<int64_t>>(&a->value)) {
        for (int64_t x : *is) {
          AddNumber(x, out);
          *out += ',';
        }
      } else if (auto* ds = std::get_if<std::vector<double>>(&a->value)) {
        for (double x : *ds) fmt::format_to(std::back_inserter(*out), "{},", x);
      } else {
        *out += '#';
        AddNumber(a->value.index(), out);
      }
      *out += ']';
    }
  }

  void AddLayout(ValueId v, const PlanLayout& l, std::string* out) const {
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
    for (uint32_t p : l.perm) {
      *out += ",p";
      AddNumber(p, out);
    }
    for (size_t i = 0; i < l.block_axis.size(); ++i) {
      *out += ",b";
      AddNumber(l.block_axis[i], out);
      *out += ':';
      AddNumber(l.block_size[i], out);
    }
    if (!l.tag.empty()) {
      *out += ',';
      AddNumber(Fnv(l.tag.data(), l.tag.size()), out, 16);
    }
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
  std::vector<ValueId> seen_;
  std::unordered_map<ValueId, size_t> numbers_;  // of `seen_`, where they are more than kFew
  OfferName out_;
  double bytes_ = 0;
};

OfferNames::OfferNames(const Graph& graph, const Function& function,
                       const std::vector<uint32_t>& nodes, bool rounds)
    : namer_(std::make_unique<Namer>(graph, function, nodes, rounds)) {}
OfferNames::~OfferNames() = default;

const OfferName& OfferNames::With(const std::vector<std::pair<ValueId, LayoutId>>& value_layouts,
                                  const std::vector<PlanLayout>& layouts) {
  std::vector<std::pair<ValueId, LayoutId>> other;
  for (const auto& each : value_layouts) {
    if (each.second != 0) other.push_back(each);
  }
  auto [it, fresh] = with_.try_emplace(std::move(other));
  if (fresh) it->second = namer_->With(it->first, layouts);
  return it->second;
}

OfferName NameOffer(const Graph& graph, const Function& function,
                    const std::vector<uint32_t>& nodes,
                    const std::vector<std::pair<ValueId, LayoutId>>& value_layouts,
                    const std::vector<PlanLayout>& layouts, bool rounds) {
  return OfferNames(graph, function, nodes, rounds).With(value_layouts, layouts);
}

}  // namespace ge
