// ge dump MODEL --values -o F.gecap: one run, recorded.
#include <fmt/format.h>

#include "ge/capsule/manifest.h"
#include "ge/ge.h"
#include "ge/host/machine.h"
#include "ge/session/recorder.h"
#include "tools/ge/command.h"

namespace ge::tool {

CapsuleManifest AboutThisProcess(const Options& o) {
  static const char* const kIsa[] = {"native", "sse4.2", "avx2", "avx512"};
  const ProcessFacts facts = CurrentProcessFacts();
  CapsuleManifest about;
  about.product = fmt::format("GraphEngine {}", ge_version());
  about.isa = facts.isa_cap < 4 ? kIsa[facts.isa_cap] : "native";
  about.threads = facts.threads;
  about.numerics = o.numerics;
  about.precision = o.precision;
  about.denormals = o.denormals;
  about.seed = o.seed;
  return about;
}

Status RecordModel(const Options& o) {
  if (o.output_file.empty()) {
    return Status(Code::kInvalidArgument,
                  "--values records a run into a file and none is named; add -o F.gecap");
  }
  if (!o.to.empty() || o.format != "text") {
    return Status(Code::kInvalidArgument,
                  "--values records every stage, and the file is a capsule; leave out --to and "
                  "--format");
  }
  RecordOptions options;
  options.path = o.output_file;
  options.seed = o.seed;
  GE_ASSIGN_OR_RETURN(options.values, RecordedValuesFromName(o.values));
  GE_ASSIGN_OR_RETURN(SessionOptions made, SessionOptionsOf(o));
  made.keep_edits = true;
  made.build.keep_graph = true;
  GE_ASSIGN_OR_RETURN(auto created, Session::Create(std::move(made)));
  SignalledSession session(std::move(created));
  GE_RETURN_IF_ERROR(LoadModel(o, &session));
  GE_ASSIGN_OR_RETURN(const Entry* entry, session->FindEntry(o.entry));
  GE_ASSIGN_OR_RETURN(const std::vector<Tensor> inputs, MakeInputs(*session, *entry, o));
  std::vector<FlowValue> values;
  for (const Tensor& t : inputs) values.push_back(FlowOf(t));
  RecordReport report;
  const Status run = RecordRun(session.get(), o.entry, values, options, &report);
  if (report.bytes == 0) return run.ok() ? report.written : run;
  fmt::print("{}: {} inputs, {} values, {}{} outputs, {:.1f} MB{}\n", o.output_file, inputs.size(),
             report.values,
             report.pieces > 0 ? fmt::format("{} executions of pieces, ", report.pieces) : "",
             session->graph().fn(entry->fn).results.size(), static_cast<double>(report.bytes) / 1e6,
             run.ok() ? "" : "; the run failed, and replay repeats that");
  if (report.left_out > 0) {
    fmt::print("  {} values lie in a device's memory and are not recorded\n", report.left_out);
  }
  GE_RETURN_IF_ERROR(run);
  return report.written;
}

}  // namespace ge::tool
