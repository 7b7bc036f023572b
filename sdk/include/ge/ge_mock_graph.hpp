// ge_mock_graph.hpp: small graphs for tests of plugins, and the mock host's ge_graph views of them.
// The test states types: nothing is inferred. Header only, C++17; part of ge_mock_host.hpp,
// included by tests. Threads: an object is one thread's at a time.
#ifndef GE_MOCK_GRAPH_HPP_
#define GE_MOCK_GRAPH_HPP_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ge/ge_mock_memory.hpp"
#include "ge/ge_plugin.h"
#include "ge/ge_plugin.hpp"

namespace ge::mock {

using Dims = std::vector<int64_t>;

struct Type {
  int32_t dtype = GE_F32;
  Dims dims;  // -1 = unknown
  bool ranked = true;
};
inline int64_t CountOf(const Dims& dims) {
  int64_t n = 1;
  for (int64_t d : dims) n *= d;
  return n;
}
inline uint64_t BytesOf(int32_t dtype, const Dims& dims) {
  return (static_cast<uint64_t>(CountOf(dims)) * plugin::ElementBits(dtype) + 7) / 8;
}
inline bool IsStatic(const Type& type) {
  return type.ranked &&
         std::all_of(type.dims.begin(), type.dims.end(), [](int64_t d) { return d >= 0; });
}

struct Tensor {  // dense, row-major
  int32_t dtype = GE_F32;
  Dims dims;
  std::vector<unsigned char> bytes;

  Tensor() = default;
  Tensor(int32_t type, Dims d) : dtype(type), dims(std::move(d)), bytes(BytesOf(type, dims)) {}
  template <class T>
  static Tensor Of(int32_t type, Dims dims, const std::vector<T>& values) {
    Tensor t(type, std::move(dims));
    std::memcpy(t.bytes.data(), values.data(), std::min(t.bytes.size(), values.size() * sizeof(T)));
    return t;
  }
  int64_t count() const { return CountOf(dims); }
  template <class T>
  T* as() {
    return reinterpret_cast<T*>(bytes.data());
  }
  template <class T>
  const T* as() const {
    return reinterpret_cast<const T*>(bytes.data());
  }
};

struct Attr {
  std::string name;
  uint32_t kind = GE_ATTR_INT;
  int64_t i = 0;
  double f = 0;
  std::string s;
  std::vector<int64_t> ints;
  std::vector<double> floats;
  std::vector<std::string> strings;

  static Attr Int(std::string name, int64_t value) {
    Attr a;
    a.name = std::move(name);
    a.kind = GE_ATTR_INT;
    a.i = value;
    return a;
  }
  static Attr Float(std::string name, double value) {
    Attr a;
    a.name = std::move(name);
    a.kind = GE_ATTR_FLOAT;
    a.f = value;
    return a;
  }
  static Attr String(std::string name, std::string text) {
    Attr a;
    a.name = std::move(name);
    a.kind = GE_ATTR_STRING;
    a.s = std::move(text);
    return a;
  }
  static Attr Ints(std::string name, std::vector<int64_t> values) {
    Attr a;
    a.name = std::move(name);
    a.kind = GE_ATTR_INTS;
    a.ints = std::move(values);
    return a;
  }
};

inline constexpr uint32_t kOpset = 28;  // ONNX's, whose meaning nodes have

struct Node {
  std::string domain, op, name;
  uint32_t version = kOpset;
  std::vector<uint32_t> in, out;  // value indices; in: 0 = omitted
  std::vector<Attr> attrs;
  uint32_t n_body = 0;
};
struct Value {
  Type type;
  std::shared_ptr<const Tensor> constant;
  uint32_t flags = 0;
  std::string name;
};

// A function under construction; nodes are added in topological order.
struct Graph {
  std::vector<Node> nodes;
  std::vector<Value> values = {Value()};  // [0] is the absent value
  std::vector<uint32_t> in, out;

  uint32_t Add(Type type, std::string name = "") {
    Value v;
    v.type = std::move(type);
    v.name = name.empty() ? "v" + std::to_string(values.size()) : std::move(name);
    values.push_back(std::move(v));
    return static_cast<uint32_t>(values.size() - 1);
  }
  uint32_t Input(int32_t dtype, Dims dims) {
    const uint32_t v = Add({dtype, std::move(dims), true});
    values[v].flags |= GE_VALUE_INPUT;
    in.push_back(v);
    return v;
  }
  uint32_t Constant(Tensor tensor) {
    const uint32_t v = Add({tensor.dtype, tensor.dims, true});
    values[v].flags |= GE_VALUE_CONSTANT;
    values[v].constant = std::make_shared<const Tensor>(std::move(tensor));
    return v;
  }
  // Its results, by position.
  std::vector<uint32_t> Op(std::string op, std::vector<uint32_t> inputs,
                           const std::vector<Type>& types, std::vector<Attr> attrs = {},
                           std::string domain = "") {
    Node n;
    n.domain = std::move(domain);
    n.op = std::move(op);
    n.in = std::move(inputs);
    n.attrs = std::move(attrs);
    n.name = n.op + "_" + std::to_string(nodes.size());
    for (const Type& t : types) n.out.push_back(Add(t));
    nodes.push_back(std::move(n));
    return nodes.back().out;
  }
  uint32_t Op1(std::string op, std::vector<uint32_t> inputs, Type type,
               std::vector<Attr> attrs = {}) {
    return Op(std::move(op), std::move(inputs), {std::move(type)}, std::move(attrs))[0];
  }
  void Output(uint32_t value) {
    values[value].flags |= GE_VALUE_OUTPUT;
    out.push_back(value);
  }
  // Node index, or UINT32_MAX.
  uint32_t ProducerOf(uint32_t value) const {
    for (uint32_t i = 0; i < nodes.size(); ++i) {
      for (uint32_t o : nodes[i].out) {
        if (o == value) return i;
      }
    }
    return UINT32_MAX;
  }
};

// The payloads of a graph's constants, each with pages of its own and ending with them as far as
// the alignment permits: reading behind its end faults.
class Constants {
 public:
  // align[v]: of value v's payload, and no more than that; 0, or no such place: its element's.
  Constants(const Graph& graph, const std::vector<uint32_t>& align)
      : pages_(graph.values.size()), data_(graph.values.size()) {
    for (size_t v = 0; v < graph.values.size(); ++v) {
      const Tensor* t = graph.values[v].constant.get();
      if (t == nullptr) continue;
      const size_t own = std::max<size_t>(1, plugin::ElementBits(t->dtype) / 8);
      const size_t a = v < align.size() && align[v] != 0 ? align[v] : own;
      pages_[v] = Pages(t->bytes.size() + 3 * a, "a constant's payload");
      const auto end = reinterpret_cast<uintptr_t>(pages_[v].data()) + pages_[v].size();
      uintptr_t at = (end - t->bytes.size()) / a * a;
      if (at % (2 * a) == 0) at -= a;
      data_[v] = reinterpret_cast<unsigned char*>(at);
      if (!t->bytes.empty()) std::memcpy(data_[v], t->bytes.data(), t->bytes.size());
      pages_[v].MakeReadOnly();
    }
  }
  const unsigned char* at(uint32_t value) const { return data_[value]; }
  void Retire(uint32_t value) { pages_[value].Retire(); }

 private:
  std::vector<Pages> pages_;
  std::vector<unsigned char*> data_;
};

// A graph as a plugin sees it, read-only; unreachable once this is destroyed. Rules of operators
// see all sizes as ge_dim, too: `sized`.
class View {
 public:
  View(const Graph& graph, const Style& style, std::shared_ptr<const Constants> constants,
       const char* what, bool sized = false)
      : arena_(what, style.exact), constants_(std::move(constants)), sized_(sized) {
    std::vector<ge_value> values;
    for (uint32_t v = 0; v < graph.values.size(); ++v) values.push_back(ValueOf(graph, v));
    std::vector<ge_node> nodes;
    for (uint32_t i = 0; i < graph.nodes.size(); ++i) nodes.push_back(NodeOf(graph, i));
    ge_graph view = {};
    view.n_node = static_cast<uint32_t>(nodes.size());
    view.n_value = static_cast<uint32_t>(values.size());
    view.node = arena_.Records(style, nodes.data(), nodes.size(), GE_TAG_NODE, &view.node_stride);
    view.value =
        arena_.Records(style, values.data(), values.size(), GE_TAG_VALUE, &view.value_stride);
    view.in = arena_.Copy(graph.in);
    view.n_in = static_cast<uint32_t>(graph.in.size());
    view.out = arena_.Copy(graph.out);
    view.n_out = static_cast<uint32_t>(graph.out.size());
    graph_ = arena_.Struct(style, view, GE_TAG_GRAPH);
    arena_.MakeReadOnly();
  }
  const ge_graph* get() const { return graph_; }

 private:
  ge_type TypeOf(const Type& type) {
    ge_type out = {};
    out.dtype = type.dtype;
    out.rank = type.ranked ? static_cast<int32_t>(type.dims.size()) : -1;
    out.dims = arena_.Copy(type.dims);
    out.bits = plugin::ElementBits(type.dtype);
    return out;
  }
  // Unknown ones may be anything, and no two are known to be equal.
  const ge_dim* SizesOf(const Dims& dims, uint32_t value) {
    std::vector<ge_dim> out(dims.size());
    for (size_t d = 0; d < dims.size(); ++d) {
      out[d].value = dims[d];
      out[d].min = std::max<int64_t>(0, dims[d]);
      out[d].max = dims[d] < 0 ? INT64_MAX : dims[d];
      out[d].id = dims[d] < 0 ? value * 16 + static_cast<uint32_t>(d) : 0;
    }
    return arena_.Copy(out);
  }
  ge_value ValueOf(const Graph& graph, uint32_t value) {
    const Value& from = graph.values[value];
    ge_value out = {};
    out.type = TypeOf(from.type);
    out.flags = from.flags;
    out.producer = value == 0 ? UINT32_MAX : graph.ProducerOf(value);
    std::vector<uint32_t> users;
    for (uint32_t i = 0; value != 0 && i < graph.nodes.size(); ++i) {
      for (uint32_t x : graph.nodes[i].in) {
        if (x == value) users.push_back(i);
      }
    }
    out.user = arena_.Copy(users);
    out.n_user = static_cast<uint32_t>(users.size());
    out.id = value;
    out.name = arena_.Text(from.name);
    if (from.type.ranked && (sized_ || !IsStatic(from.type)))
      out.dim = SizesOf(from.type.dims, value);
    if (from.constant != nullptr && constants_ != nullptr) {
      out.data = constants_->at(value);
      out.data_bytes = from.constant->bytes.size();
    }
    return out;
  }
  ge_node NodeOf(const Graph& graph, uint32_t i) {
    const Node& from = graph.nodes[i];
    ge_node out = {};
    out.domain = arena_.Text(from.domain);
    out.op = arena_.Text(from.op);
    out.name = arena_.Text(from.name);
    out.version = from.version;
    out.id = i + 1;
    out.n_body = from.n_body;
    out.in = arena_.Copy(from.in);
    out.n_in = static_cast<uint32_t>(from.in.size());
    out.out = arena_.Copy(from.out);
    out.n_out = static_cast<uint32_t>(from.out.size());
    std::vector<ge_attr> attrs;
    for (const Attr& a : from.attrs) attrs.push_back(AttrOf(a));
    out.attr = arena_.Copy(attrs);
    out.n_attr = static_cast<uint32_t>(attrs.size());
    return out;
  }
  ge_attr AttrOf(const Attr& from) {
    ge_attr out = {};
    out.name = arena_.Text(from.name);
    out.kind = from.kind;
    out.i = from.i;
    out.f = from.f;
    if (from.kind == GE_ATTR_STRING) out.s = arena_.Text(from.s);
    if (from.kind == GE_ATTR_INTS) {
      out.ints = arena_.Copy(from.ints);
      out.n = static_cast<uint32_t>(from.ints.size());
    }
    if (from.kind == GE_ATTR_FLOATS) {
      out.floats = arena_.Copy(from.floats);
      out.n = static_cast<uint32_t>(from.floats.size());
    }
    if (from.kind == GE_ATTR_STRINGS) {
      std::vector<ge_str> strings;
      for (const std::string& s : from.strings) strings.push_back(arena_.Text(s));
      out.strings = arena_.Copy(strings);
      out.n = static_cast<uint32_t>(strings.size());
    }
    return out;
  }

  Arena arena_;
  std::shared_ptr<const Constants> constants_;
  bool sized_;
  const ge_graph* graph_ = nullptr;
};

// ---- layouts
// --------------------------------------------------------------------------------------

struct Layout {
  uint32_t kind = GE_LAYOUT_STRIDED;
  std::vector<uint32_t> perm, block_axis, block_size;
  std::string tag;
  uint64_t opaque_bytes = 0;
  bool operator==(const Layout& layout) const {
    return kind == layout.kind && perm == layout.perm && block_axis == layout.block_axis &&
           block_size == layout.block_size && tag == layout.tag &&
           opaque_bytes == layout.opaque_bytes;
  }
};

// Whether the mock host can lay out tensors of these dims so, without a vendor's secret.
inline bool IsOpen(const Layout& layout, size_t rank) {
  if (layout.kind > GE_LAYOUT_BLOCKED || layout.perm.size() != rank) return false;
  for (uint32_t axis : layout.perm) {
    if (axis >= rank) return false;
  }
  for (size_t k = 0; k < layout.block_axis.size(); ++k) {
    if (layout.block_axis[k] >= rank || layout.block_size[k] == 0) return false;
  }
  return layout.block_axis.size() == layout.block_size.size();
}
// Elements with padding.
inline int64_t CountIn(const Layout& layout, const Dims& dims) {
  int64_t n = 1;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    int64_t block = 1;
    for (size_t k = 0; k < layout.block_axis.size(); ++k) {
      if (layout.block_axis[k] == axis) block *= layout.block_size[k];
    }
    n *= (dims[axis] + block - 1) / block * block;
  }
  return n;
}
// The place of an element: outer dims in order of perm, then the blocks.
inline int64_t PlaceIn(const Layout& layout, const Dims& dims, Dims index) {
  Dims size = dims, inner(layout.block_axis.size());
  for (size_t k = layout.block_axis.size(); k-- > 0;) {
    const uint32_t axis = layout.block_axis[k];
    inner[k] = index[axis] % layout.block_size[k];
    index[axis] /= layout.block_size[k];
    size[axis] = (size[axis] + layout.block_size[k] - 1) / layout.block_size[k];
  }
  int64_t at = 0;
  for (uint32_t axis : layout.perm) at = at * size[axis] + index[axis];
  for (size_t k = 0; k < inner.size(); ++k) at = at * layout.block_size[k] + inner[k];
  return at;
}
// Row-major bytes into those of an open layout, or back; padding gets the byte `pad`.
inline std::vector<unsigned char> Relayout(const Layout& layout, int32_t dtype, const Dims& dims,
                                           const std::vector<unsigned char>& from, bool to_plain,
                                           unsigned char pad) {
  const size_t element = plugin::ElementBits(dtype) / 8;
  const int64_t plain = CountOf(dims), laid = CountIn(layout, dims);
  std::vector<unsigned char> out(static_cast<size_t>(to_plain ? plain : laid) * element, pad);
  Dims index(dims.size(), 0);
  for (int64_t i = 0; i < plain; ++i) {
    const auto there = static_cast<size_t>(PlaceIn(layout, dims, index)) * element;
    const auto here = static_cast<size_t>(i) * element;
    if (to_plain ? there + element <= from.size() : here + element <= from.size()) {
      std::memcpy(&out[to_plain ? here : there], &from[to_plain ? there : here], element);
    }
    for (size_t d = dims.size(); d-- > 0 && ++index[d] == dims[d];) index[d] = 0;
  }
  return out;
}

}  // namespace ge::mock
#endif  // GE_MOCK_GRAPH_HPP_
