// ge-test --onnx-node DIR: ONNX's own node tests, those whose operators are all known here.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "frontend/onnx/import.h"
#include "ge/ops/op.h"
#include "ge/wire/onnx.pb.h"
#include "tools/ge_test/tensor.h"

namespace ge::test {
namespace {

namespace fs = std::filesystem;
namespace wire = ::graphengine::onnx_wire;

// The bound that ONNX's own backend test uses.
constexpr Tolerance kTolerance{1e-5, 1e-3, 0};

Result<std::string> ReadFile(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  if (!in) return Status(Code::kIoError, fmt::format("'{}' cannot be read", path.string()));
  return text.str();
}

std::span<const std::byte> BytesOf(const std::string& s) {
  return std::as_bytes(std::span(s.data(), s.size()));
}

// A TensorProto in a file of its own, read by the importer as the value of a Constant node.
Result<HostTensor> ReadTensor(const fs::path& path) {
  GE_ASSIGN_OR_RETURN(std::string bytes, ReadFile(path));
  wire::Model model;
  model.set_ir_version(13);
  model.add_opset_import()->set_version(kCanonicalOpset);
  model.mutable_graph()->set_name("data");
  wire::Node* node = model.mutable_graph()->add_node();
  node->set_op_type("Constant");
  node->add_output("data");
  wire::Attribute* attr = node->add_attribute();
  attr->set_name("value");
  attr->set_type(4);
  if (!attr->mutable_t()->ParseFromString(bytes)) {
    return Status(Code::kDataCorrupt, fmt::format("'{}' is no TensorProto", path.string()));
  }
  attr->mutable_t()->clear_name();
  model.mutable_graph()->add_output()->set_name("data");
  const std::string whole = model.SerializeAsString();
  GE_ASSIGN_OR_RETURN(Graph graph, ImportOnnxBytes(BytesOf(whole), nullptr, {}));
  if (graph.consts.size() != 2) {
    return Status(Code::kInternal, fmt::format("'{}' was not read as one tensor", path.string()));
  }
  return FromConst(graph.consts[1]);
}

class NodeTests {
 public:
  explicit NodeTests(const SweepOptions& options) : options_(options) {}

  int Run() {
    std::error_code error;
    std::vector<fs::path> folders;
    for (fs::directory_iterator it(options_.path, error), end; !error && it != end;
         it.increment(error)) {
      if (fs::exists(it->path() / "model.onnx")) folders.push_back(it->path());
    }
    if (folders.empty()) {
      fmt::print(stderr, "ge-test: '{}' has no node tests; ./test says how they are generated\n",
                 options_.path);
      return 2;
    }
    std::sort(folders.begin(), folders.end());
    for (const fs::path& folder : folders) {
      const std::string name = folder.filename().string();
      if (name.find(options_.filter) == std::string::npos) continue;
      One(folder, name);
    }
    Report();
    return failed_ == 0 ? 0 : 1;
  }

 private:
  void Fail(const std::string& name, const std::string& why) {
    ++failed_;
    fmt::print("FAILED  {}: {}\n", name, why);
  }
  void Skip(const std::string& name, const std::string& why) { skips_[why].push_back(name); }

  void One(const fs::path& folder, const std::string& name) {
    auto bytes = ReadFile(folder / "model.onnx");
    wire::Model model;
    if (!bytes.ok() || !model.ParseFromString(*bytes)) return Fail(name, "no model can be read");
    if (!InScope(model.graph())) {
      ++out_of_scope_;
      return;
    }
    const std::string why = WhySkip(name, model);
    if (!why.empty()) return Skip(name, why);
    auto graph = ImportOnnxBytes(BytesOf(*bytes), nullptr, {});
    if (!graph.ok()) return Fail(name, graph.status().ToString());
    int sets = 0;
    for (; fs::exists(folder / fmt::format("test_data_set_{}", sets)); ++sets) {
      const std::string failure = DataSet(*graph, folder / fmt::format("test_data_set_{}", sets));
      if (!failure.empty()) return Fail(name, failure);
    }
    if (sets == 0) return Fail(name, "has no test_data_set_0");
    ++passed_;
    if (options_.verbose) fmt::print("passed  {}\n", name);
  }

  bool InScope(const wire::Graph& graph) const {
    bool known = graph.node_size() > 0, wanted = options_.op.empty();
    for (const wire::Node& node : graph.node()) {
      const bool ours = node.domain().empty() || node.domain() == "ai.onnx";
      known = known && ours && FindOp("", node.op_type()) != nullptr;
      wanted = wanted || node.op_type() == options_.op;
    }
    return known && wanted;
  }

  static std::string WhySkip(const std::string& name, const wire::Model& model) {
    static const std::set<std::string> kRandom = {
        "test_training_dropout", "test_training_dropout_default", "test_training_dropout_mask",
        "test_training_dropout_default_mask"};
    if (kRandom.count(name) != 0 || name.starts_with("test_bernoulli")) {
      return "needs the random numbers of NumPy's generator";
    }
    for (const auto* list : {&model.graph().input(), &model.graph().output()}) {
      for (const wire::ValueInfo& info : *list) {
        if (info.type().value_case() != wire::Type::kTensorType) {
          return "sequences and optionals are not run yet";
        }
        if (info.type().tensor_type().elem_type() == static_cast<int>(DType::kString)) {
          return "strings are not run yet";
        }
      }
    }
    return "";
  }

  // "" when every output is as wanted.
  std::string DataSet(const Graph& graph, const fs::path& folder) {
    const Function& f = graph.fn(graph.entries[0].fn);
    std::vector<HostTensor> inputs;
    for (size_t i = 0; i < f.params.size(); ++i) {
      auto t = ReadTensor(folder / fmt::format("input_{}.pb", i));
      if (!t.ok()) return t.status().ToString();
      inputs.push_back(*std::move(t));
    }
    std::vector<const HostTensor*> in;
    for (const HostTensor& t : inputs) in.push_back(&t);
    auto run = RunGraph(graph, options_.engines, std::nullopt, in);
    if (!run.ok()) return run.status().ToString();
    size_t stored = 0;
    while (fs::exists(folder / fmt::format("output_{}.pb", stored))) ++stored;
    if (stored == 0 || stored != run->outputs.size()) {
      return fmt::format("has {} outputs, the test stores {}", run->outputs.size(), stored);
    }
    for (size_t i = 0; i < run->outputs.size(); ++i) {
      auto wanted = ReadTensor(folder / fmt::format("output_{}.pb", i));
      if (!wanted.ok()) return wanted.status().ToString();
      const std::string difference = Differs(run->outputs[i], *wanted, kTolerance);
      if (!difference.empty()) return fmt::format("output '{}': {}", run->names[i], difference);
    }
    return "";
  }

  void Report() const {
    size_t skipped = 0;
    for (const auto& [why, names] : skips_) {
      skipped += names.size();
      fmt::print("skipped {:4}: {}\n", names.size(), why);
      if (!options_.verbose) continue;
      for (const std::string& name : names) fmt::print("          {}\n", name);
    }
    fmt::print("not counted: {} tests of operators that are not among the {} known here\n",
               out_of_scope_, AllOps().size());
    fmt::print("{} passed, {} failed, {} skipped\n", passed_, failed_, skipped);
  }

  const SweepOptions& options_;
  int passed_ = 0, failed_ = 0, out_of_scope_ = 0;
  std::map<std::string, std::vector<std::string>> skips_;
};

}  // namespace

int RunOnnxNodeTests(const SweepOptions& options) { return NodeTests(options).Run(); }

}  // namespace ge::test
