// A model that is loaded as something else than its file says: the reference, which runs it without
// any pass, has other values than the runtime from which --expect comes.
#include <fmt/format.h>

#include <set>

#include "ge/capsule/graph_members.h"
#include "tools/ge/capsule/bisection.h"
#include "tools/ge/capsule/compared.h"
#include "tools/ge/capsule/npz.h"
#include "tools/ge/capsule/own_errors.h"

namespace ge::tool {
namespace {

struct Expected {
  ValueId value;
  const NpzArray* array;
};

// Values of the function that nodes make and that the file has, in the order of their making.
std::vector<Expected> NamedValues(const Function& f, const Npz& file) {
  std::vector<Expected> out;
  std::set<std::string> seen;
  for (const Node& n : f.nodes) {
    for (const ValueId v : n.outputs) {
      if (v == 0 || f.value(v).name.empty()) continue;
      const auto found = file.arrays.find(f.value(v).name);
      if (found == file.arrays.end() || !seen.insert(f.value(v).name).second) continue;
      out.push_back({v, &found->second});
    }
  }
  return out;
}

CapsuleTensor TensorOf(const std::string& name, const NpzArray& a) {
  CapsuleTensor t;
  t.name = name;
  t.dtype = a.dtype;
  t.dims = a.dims;
  return t;
}

}  // namespace

Result<MaybeVerdict> FaultyModel(Bisected* b) {
  if (b->options.expect.empty()) return MaybeVerdict();
  GE_ASSIGN_OR_RETURN(const Npz file, ReadNpz(b->options.expect));
  GE_ASSIGN_OR_RETURN(const CapsuleGraph* loaded, GraphOf(b->r.manifest, "load"));
  GE_ASSIGN_OR_RETURN(Graph graph, ReadGraphMember(b->r.capsule, loaded->member));
  const Entry* entry = graph.FindEntry(b->r.manifest.entry);
  if (entry == nullptr) {
    return Status(Code::kDataCorrupt, "the loaded graph lacks the recorded entry");
  }
  const double bound = b->BoundOf(graph);
  const std::vector<Expected> values = NamedValues(graph.fn(entry->fn), file);
  if (values.empty()) {
    return Status(Code::kInvalidArgument,
                  fmt::format("file '{:.256}': the model has no value of any of its {} names",
                              b->options.expect, file.arrays.size()));
  }
  Trial trial{graph, b->r.manifest.entry, b->inputs, b->OnReference(), true};
  auto& results = trial.graph.fn(entry->fn).results;
  results.clear();
  for (const Expected& e : values) results.push_back(e.value);
  GE_ASSIGN_OR_RETURN(const TrialAnswer found, RunTrial(b->r, trial, b->options.seconds_a_trial));
  const Function& f = graph.fn(entry->fn);
  std::vector<ValueId> right;
  for (size_t i = 0; i < values.size() && i < found.size(); ++i) {
    const std::string& name = f.value(values[i].value).name;
    const std::string why =
        WhyDifferent(TensorOf(name, *values[i].array), found[i], values[i].array->data, bound);
    if (why.empty()) {
      right.push_back(values[i].value);
      continue;
    }
    b->Say(fmt::format("  as loaded, on {}: {}", b->options.against, why));
    Verdict v = MadeVerdict("model", fmt::format("as loaded, on {}: {}", b->options.against, why));
    for (const NodeId id : NodesBehind(f, values[i].value, right)) {
      for (const Node& n : f.nodes) {
        if (n.id == id) v.nodes.push_back(NodeLabel(n));
      }
    }
    return MaybeVerdict(std::move(v));
  }
  b->Say(fmt::format("  as loaded, on {}: {} expected values are right", b->options.against,
                     right.size()));
  return MaybeVerdict();
}

}  // namespace ge::tool
