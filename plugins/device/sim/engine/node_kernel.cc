#include "plugins/device/sim/engine/node_kernel.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

#include "plugins/units/copy_layout.h"

namespace ge_engines::device::sim {
namespace {

// Memory for the time of one run.
class Scratch {
 public:
  char* Take(uint64_t bytes) {
    constexpr size_t kAlign = 64;
    blocks_.emplace_back(bytes + kAlign);
    const auto at = reinterpret_cast<uintptr_t>(blocks_.back().data());
    return reinterpret_cast<char*>((at + kAlign - 1) / kAlign * kAlign);
  }

 private:
  std::vector<std::vector<char>> blocks_;
};

bool Overlap(const Buffer& x, const Buffer& y) {
  const auto *a = static_cast<const char*>(x.data), *b = static_cast<const char*>(y.data);
  return a < b + y.bytes && b < a + x.bytes;
}

// NaNs where a layout has padding: as bytes 0xFF, whatever the type of float.
void PoisonPadding(const Layout& layout, void* data) {
  if (!layout.padded()) return;
  std::vector<char> poisoned(layout.bytes(), '\xFF');
  CopyElements(layout, data, layout, poisoned.data());
  std::memcpy(data, poisoned.data(), poisoned.size());
}

class HostWork final : public device::Kernel {
 public:
  HostWork(std::function<bool(std::span<const Buffer>)> run, std::string name, int64_t cost_ns)
      : name_(std::move(name)) {
    auto kernel = std::make_shared<HostKernel>();
    kernel->cost_ns = cost_ns;
    kernel->run = [run = std::move(run)](std::span<const Buffer> at) {
      try {
        return run(at);
      } catch (const std::exception&) {  // no memory
        return false;
      }
    };
    kernel_ = std::move(kernel);
  }
  Result Queue(const device::Call& call) const override {
    KernelLaunch launch;
    launch.function = &kernel_;
    launch.name = name_.c_str();
    launch.buffers = call.at;
    return call.driver.Launch(call.device, call.stream, launch);
  }

 private:
  std::string name_;
  HostKernelPtr kernel_;
};

}  // namespace

class NodeSteps::NodeCall final : public ref::Call {
 public:
  NodeCall(const NodeSteps& steps, const Node& node, const std::vector<char*>& at, char* workspace)
      : steps_(steps), node_(node), at_(at), workspace_(workspace) {}
  uint32_t n_in() const override { return static_cast<uint32_t>(node_.in.size()); }
  uint32_t n_out() const override { return static_cast<uint32_t>(node_.out.size()); }
  bool has_in(uint32_t i) const override { return i < n_in() && node_.in[i] != kNone; }
  bool has_out(uint32_t i) const override { return i < n_out() && node_.out[i] != kNone; }
  ref::Tensor in(uint32_t i) const override { return At(node_.in[i]); }
  ref::Tensor out(uint32_t i) const override { return At(node_.out[i]); }
  void* workspace() const override { return workspace_; }
  ge_rc Fail(ge_rc rc, const char*, ...) const override { return rc; }  // a device says nothing

 private:
  ref::Tensor At(uint32_t v) const {
    ref::Tensor t;
    static_cast<ref::TensorType&>(t) = steps_.values_[v].type;
    t.data = at_[v];
    return t;
  }
  const NodeSteps& steps_;
  const Node& node_;
  const std::vector<char*>& at_;
  char* workspace_;
};

uint32_t NodeSteps::ValueOf(const Parser& parser, uint32_t value) {
  for (uint32_t i = 0; i < values_.size(); ++i) {
    if (values_[i].value == value) return i;
  }
  const ge_type& type = parser.value(value).type;
  Value v;
  v.value = value;
  v.type.dtype = type.dtype;
  v.type.rank = type.rank;
  v.dims = std::make_unique<int64_t[]>(static_cast<size_t>(type.rank));
  std::copy_n(type.dims, type.rank, v.dims.get());
  v.type.dims = v.dims.get();
  gp::ElementCount(type, &v.type.count);
  gp::TensorBytes(type, &v.type.bytes);
  values_.push_back(std::move(v));
  return static_cast<uint32_t>(values_.size() - 1);
}

bool NodeSteps::AddNode(const Parser& parser, uint32_t index, Why* why) {
  const ge_node& n = parser.node(index);
  ref::NodeView view;
  ref::Why said;
  Node node;
  const ref::Kernel* kernel = ref::FindKernel(n);
  if (kernel == nullptr) return why->Say(GE_WHY_OP, "ref has no kernel");
  if (ref::NodeView::Open(parser.graph(), index, &view, &said)) {
    node.prepared = kernel->prepare(view, &said);
  }
  if (node.prepared == nullptr) return why->Say(said.code, said.text);
  for (uint32_t i = 0; i < n.n_in; ++i) {
    node.in.push_back(n.in[i] == 0 ? kNone : ValueOf(parser, n.in[i]));
    if (n.in[i] == 0) continue;
    Value& v = values_[node.in[i]];
    const bool made = std::any_of(nodes_.begin(), nodes_.end(), [&](const Node& before) {
      return std::count(before.out.begin(), before.out.end(), node.in[i]) > 0;
    });
    if (made || v.buffer != kNone) continue;
    v.buffer = static_cast<uint32_t>(reads_.size());
    reads_.push_back(n.in[i]);
  }
  for (uint32_t i = 0; i < n.n_out; ++i) {
    node.out.push_back(n.out[i] == 0 ? kNone : ValueOf(parser, n.out[i]));
  }
  nodes_.push_back(std::move(node));
  return true;
}

std::shared_ptr<NodeSteps> NodeSteps::Of(const Unit& unit, const Parser& parser, Why* why) {
  auto steps = std::make_shared<NodeSteps>();
  for (const uint32_t n : unit.nodes) {
    if (!steps->AddNode(parser, n, why)) return nullptr;
  }
  for (const uint32_t v : unit.out) {
    if (v == 0) continue;
    steps->values_[steps->ValueOf(parser, v)].result = static_cast<uint32_t>(steps->writes_.size());
    steps->writes_.push_back(v);
  }
  return steps;
}

void NodeSteps::LieIn(uint32_t value, const Layout& layout) {
  if (layout.dense()) return;
  for (Value& v : values_) {
    if (v.value == value) v.layout = layout;
  }
}

bool NodeSteps::Run(std::span<const Buffer> at) const {
  Scratch scratch;
  std::vector<char*> place(values_.size());
  std::vector<size_t> late;  // results that lie where something is read, or not plain
  const std::span<const Buffer> read = at.first(reads_.size());
  const auto place_of = [&](const Value& v) {
    return static_cast<char*>(at[reads_.size() + v.result].data);
  };
  for (size_t i = 0; i < values_.size(); ++i) {
    const Value& v = values_[i];
    if (v.buffer != kNone) {
      place[i] = static_cast<char*>(at[v.buffer].data);
      if (!v.layout) continue;
      char* const plain = scratch.Take(v.type.bytes);
      CopyLayout(*v.layout, place[i], v.plain(), plain);
      place[i] = plain;
      continue;
    }
    const Buffer* to = v.result != kNone ? &at[reads_.size() + v.result] : nullptr;
    const bool shared =
        to != nullptr &&
        std::any_of(read.begin(), read.end(), [&](const Buffer& r) { return Overlap(r, *to); });
    const bool later = to != nullptr && (shared || v.layout);
    place[i] = to != nullptr && !later ? place_of(v) : scratch.Take(v.type.bytes);
    if (later) late.push_back(i);
  }
  for (const Node& node : nodes_) {
    const NodeCall call(*this, node, place, scratch.Take(node.prepared->workspace));
    if (node.prepared->Run(call) != GE_OK) return false;
  }
  for (const size_t i : late) {
    const Value& v = values_[i];
    if (v.layout) {
      CopyElements(v.plain(), place[i], *v.layout, place_of(v));
      PoisonPadding(*v.layout, place_of(v));
    } else {
      std::memcpy(place_of(v), place[i], v.type.bytes);
    }
  }
  return true;
}

void RecordNodes(const Unit& unit, int64_t cost_ns, Recorder* recorder) {
  Why why;
  const Parser& parser = recorder->parser();
  const std::shared_ptr<NodeSteps> steps = NodeSteps::Of(unit, parser, &why);
  if (steps == nullptr) throw std::runtime_error(why.text);
  const LayoutTag work = recorder->LayoutOf(unit);
  const auto tag_of = [&](uint32_t v) {
    const LayoutTag tag = IsLaidOut(unit, parser, v) ? work : LayoutTag();
    steps->LieIn(v, tag.On(parser.dims(v), parser.size(v)));
    return tag;
  };
  std::vector<Use> uses;
  for (const uint32_t v : steps->reads()) uses.push_back(Reads(recorder->Read(v, tag_of(v))));
  for (const uint32_t v : steps->writes()) uses.push_back(Writes(recorder->Write(v, tag_of(v))));
  std::string name;
  for (const uint32_t n : unit.nodes) {
    name += (name.empty() ? "" : "+") + std::string(gp::View(parser.node(n).op));
  }
  const auto run = [steps](std::span<const Buffer> at) { return steps->Run(at); };
  recorder->Add(std::make_unique<HostWork>(run, std::move(name), cost_ns), std::move(uses));
}

void RecordLayout(const Conversion& conversion, const Ref& from, const Ref& to, int64_t cost_ns,
                  Recorder* recorder) {
  const auto run = [x = conversion.From(), y = conversion.To()](std::span<const Buffer> at) {
    CopyLayout(x, at[1].data, y, at[0].data);
    return true;
  };
  recorder->Add(std::make_unique<HostWork>(run, "layout", cost_ns), {Writes(to), Reads(from)});
}

}  // namespace ge_engines::device::sim
