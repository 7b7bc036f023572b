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

Status Save(const Options& o, Session* session, const std::vector<PlanToSave>& plans) {
  SaveReport report;
  GE_RETURN_IF_ERROR(SaveCompiledFile(session, plans, o.output_file, &report));
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

// Pieces are planned as their sizes become known, so the model runs, once for each signature.
Status CompilePieces(const Options& o) {
  GE_ASSIGN_OR_RETURN(SessionOptions options, SessionOptionsOf(o));
  options.build.keep_graph = true;
  GE_ASSIGN_OR_RETURN(auto created, Session::Create(std::move(options)));
  SignalledSession session(std::move(created));
  GE_RETURN_IF_ERROR(LoadModel(o, &session));
  GE_ASSIGN_OR_RETURN(const Entry* entry, session->FindEntry(o.entry));
  for (const auto& inputs : SignaturesOf(o.inputs)) {
    Options one = o;
    one.inputs = inputs;
    GE_ASSIGN_OR_RETURN(const std::vector<Tensor> made, MakeInputs(*session, *entry, one));
    (void)session->Compile(o.entry, Views(made));  // it tells that the entry runs in pieces
    std::vector<FlowValue> values, results;
    for (const Tensor& t : made) values.push_back(FlowOf(t));
    GE_RETURN_IF_ERROR(session->RunValues(o.entry, values, &results));
  }
  return Save(o, session.get(), session->PiecesToSave());
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
    if (!compiled.ok() && session->RunsInPieces(o.entry)) return CompilePieces(o);
    GE_RETURN_IF_ERROR(compiled.status());
    plans.push_back({entry->name, *std::move(compiled)});
  }
  return Save(o, session.get(), plans);
}

}  // namespace

int Compile(const Options& options) {
  const Status status = CompileModel(options);
  return status.ok() ? 0 : Fail(status);
}

}  // namespace ge::tool
