// ge compile MODEL -o F.gecap: plans and packs, made ahead for runs that begin at once.
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "ge/session/compiled_file.h"
#include "tools/ge/command.h"

namespace ge::tool {
namespace {

// The signatures that --input asks for: the k-th has the k-th specification of each name, or its
// last.
std::vector<std::vector<std::string>> SignaturesOf(const std::vector<std::string>& inputs) {
  std::map<std::string, std::vector<std::string>> by_name;
  size_t most = 1;
  for (const std::string& input : inputs) {
    auto& of = by_name[input.substr(0, input.find('='))];
    of.push_back(input);
    most = std::max(most, of.size());
  }
  std::vector<std::vector<std::string>> out(most);
  for (const auto& [name, of] : by_name) {
    for (size_t k = 0; k < most; ++k) out[k].push_back(of[std::min(k, of.size() - 1)]);
  }
  return out;
}

Status CompileModel(const Options& o) {
  GE_ASSIGN_OR_RETURN(auto session, Open(o));
  GE_ASSIGN_OR_RETURN(const Entry* entry, session->FindEntry(o.entry));
  std::vector<PlanToSave> plans;
  for (const auto& inputs : SignaturesOf(o.inputs)) {
    Options one = o;
    one.inputs = inputs;
    GE_ASSIGN_OR_RETURN(const std::vector<Tensor> made, MakeInputs(*session, *entry, one));
    auto compiled = session->CompileToSave(o.entry, Views(made));
    if (!compiled.ok() && session->RunsInPieces(o.entry)) {
      return Status(Code::kUnsupported,
                    fmt::format("entry '{}' runs in pieces, planned as sizes become known; such an "
                                "entry cannot be compiled ahead yet",
                                entry->name));
    }
    GE_RETURN_IF_ERROR(compiled.status());
    plans.push_back({entry->name, *std::move(compiled)});
  }
  SaveReport report;
  GE_RETURN_IF_ERROR(SaveCompiledFile(session.get(), plans, o.output_file, &report));
  if (o.json) {
    fmt::print("{}\n", nlohmann::json({{"file", o.output_file},
                                       {"plans", report.plans},
                                       {"packs", report.packs},
                                       {"pack_bytes", report.pack_bytes},
                                       {"bytes", report.bytes}})
                           .dump());
    return {};
  }
  fmt::print("{}: {} plans, {} packs of {:.1f} MB, {:.1f} MB in all\n", o.output_file, report.plans,
             report.packs, static_cast<double>(report.pack_bytes) / 1e6,
             static_cast<double>(report.bytes) / 1e6);
  return {};
}

}  // namespace

int Compile(const Options& options) {
  const Status status = CompileModel(options);
  return status.ok() ? 0 : Fail(status);
}

}  // namespace ge::tool
