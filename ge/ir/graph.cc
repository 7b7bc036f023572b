#include "ge/ir/graph.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "ge/base/aligned.h"

namespace ge {

Node::Node() = default;
Node::Node(const Node&) = default;
Node::Node(Node&&) noexcept = default;
Node& Node::operator=(const Node&) = default;
Node& Node::operator=(Node&&) noexcept = default;
Node::~Node() = default;

Function::Function() = default;
Function::Function(const Function&) = default;
Function::Function(Function&&) noexcept = default;
Function& Function::operator=(const Function&) = default;
Function& Function::operator=(Function&&) noexcept = default;
Function::~Function() = default;

Const::Const() = default;
Const::Const(const Const&) = default;
Const::Const(Const&&) noexcept = default;
Const& Const::operator=(const Const&) = default;
Const& Const::operator=(Const&&) noexcept = default;
Const::~Const() = default;

Graph::Graph(const Graph&) = default;
Graph::Graph(Graph&&) noexcept = default;
Graph& Graph::operator=(const Graph&) = default;
Graph& Graph::operator=(Graph&&) noexcept = default;
Graph::~Graph() = default;

const Attr* Node::attr(std::string_view attr_name) const {
  for (const Attr& a : attrs) {
    if (a.name == attr_name) return &a;
  }
  return nullptr;
}

Graph::Graph() : functions(1), consts(1), states(1), locs(1) { functions[0].values.resize(1); }

Function& Graph::AddFunction(std::string fn_name) {
  Function& f = functions.emplace_back();
  f.id = static_cast<FunctionId>(functions.size() - 1);
  f.name = std::move(fn_name);
  f.values.resize(1);
  return f;
}

const Entry* Graph::FindEntry(std::string_view entry_name) const {
  for (const Entry& e : entries) {
    if (e.name == entry_name) return &e;
  }
  return nullptr;
}

ConstId Graph::AddConst(Const constant) {
  consts.push_back(std::move(constant));
  return static_cast<ConstId>(consts.size() - 1);
}

std::string NodeLabel(const Node& node) {
  if (!node.name.empty()) return node.name;
  for (const Origin& o : node.origin) {
    for (const std::string& name : o.from_nodes) {
      if (!name.empty()) return name;
    }
  }
  return node.op + "#" + std::to_string(node.id);
}

ValueId AddValue(Function* function, Type type, std::string name) {
  if (function->values.empty()) function->values.resize(1);
  Value& v = function->values.emplace_back();
  v.type = std::move(type);
  v.name = std::move(name);
  return static_cast<ValueId>(function->values.size() - 1);
}

ValueId AddConstValue(Graph* graph, Function* function, Const constant) {
  const ValueId v = AddValue(function, constant.type, constant.name);
  function->values[v].constant = graph->AddConst(std::move(constant));
  return v;
}

Const MakeConst(Type type, const void* bytes, uint64_t size, std::string name) {
  Const c;
  c.name = std::move(name);
  c.type = std::move(type);
  c.bytes = size;
  // Large ones on a line of their own, so that kernels may read them where they lie.
  constexpr uint64_t kLarge = 4096;
  std::shared_ptr<std::byte> copy;
  if (size >= kLarge) copy = AllocateShared(size);
  // One byte at least, so that an empty tensor still has an address.
  if (!copy) copy.reset(new std::byte[size ? size : 1], std::default_delete<std::byte[]>());
  if (size) std::memcpy(copy.get(), bytes, size);
  c.data = copy.get();
  c.owner = std::move(copy);
  return c;
}

std::shared_ptr<const SplatBytes> SplatBytes::Make(const Type& type,
                                                   const std::vector<std::byte>& element) {
  constexpr size_t kAlign = 64;
  const auto total = ByteCount(type);
  if (!total || element.empty()) return nullptr;
  auto made = std::make_shared<SplatBytes>();
  made->bytes_ = static_cast<uint64_t>(*total);
  // Zeros need no writing: large blocks come fresh, and their pages cost nothing until then.
  made->block_ = std::calloc(static_cast<size_t>(made->bytes_) + kAlign, 1);
  if (!made->block_) return nullptr;
  const auto address = reinterpret_cast<uintptr_t>(made->block_);
  auto* to = static_cast<std::byte*>(made->block_) + (kAlign - address % kAlign) % kAlign;
  made->data_ = to;
  const bool zero =
      std::all_of(element.begin(), element.end(), [](std::byte b) { return b == std::byte{0}; });
  if (zero) return made;
  const auto n = static_cast<size_t>(made->bytes_);
  const int bits = DTypeBits(type.dtype);
  if (bits < 8) {  // The element lies in the low bits; every slot repeats it.
    uint64_t pattern = 0;
    const uint64_t one = std::to_integer<uint64_t>(element[0]) & ((1u << bits) - 1);
    for (int slot = 0; slot < 8; ++slot) pattern |= one << (slot * bits);
    // Eight elements are `bits` bytes.
    for (size_t at = 0; at < n; ++at) {
      to[at] = static_cast<std::byte>(pattern >> (at % static_cast<size_t>(bits) * 8));
    }
    return made;
  }
  for (size_t at = 0; at + element.size() <= n; at += element.size()) {
    std::memcpy(to + at, element.data(), element.size());
  }
  return made;
}

SplatBytes::~SplatBytes() { std::free(block_); }

const std::byte* ConstBytes(const Const& constant, ConstScratch* scratch, uint64_t most) {
  if (constant.data || constant.splat.empty()) return constant.data;
  if (constant.expanded) return constant.expanded->data();
  const auto total = ByteCount(constant.type);
  if (!total || static_cast<uint64_t>(*total) > most) return nullptr;
  *scratch = SplatBytes::Make(constant.type, constant.splat);
  return *scratch ? (*scratch)->data() : nullptr;
}

}  // namespace ge
