// ge data dump: the pipeline's graph or plan as text, after a stage.
#include <fmt/format.h>

#include "ge/stage/runner.h"
#include "tools/ge/data/data.h"

namespace ge::tool {
namespace {

Status DumpPipe(const DataOptions& o) {
  GE_ASSIGN_OR_RETURN(const StageId stage,
                      StageFromName(o.common.to.empty() ? "rewrite" : o.common.to));
  GE_ASSIGN_OR_RETURN(const SignalledSession session, OpenPipe(o));
  std::vector<int64_t> positions(o.rows.rows != 0 ? o.rows.rows : o.rows.batch);
  const TensorView in{DType::kInt64,
                      {static_cast<int64_t>(positions.size())},
                      positions.data(),
                      positions.size() * 8};
  if (stage > StageId::kRewrite) {
    GE_RETURN_IF_ERROR(session->Compile(o.rows.entry, std::span(&in, 1)).status());
  }
  GE_ASSIGN_OR_RETURN(const std::string text,
                      session->DumpText(o.rows.entry, stage, std::span(&in, 1)));
  fmt::print("{}", text);
  return {};
}

}  // namespace

int DataDump(const DataOptions& o) {
  const Status status = DumpPipe(o);
  return status.ok() ? 0 : Fail(status);
}

}  // namespace ge::tool
