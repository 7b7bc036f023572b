// ge data verify: reads each row of each column, so that what its sums do not fit is named.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "tools/ge/data/data.h"
#include "tools/ge/data/entry_run.h"
#include "tools/ge/progress_line.h"

namespace ge::tool {
namespace {

constexpr uint64_t kSome = 256;        // rows a run
constexpr size_t kMostFaults = 1'000;  // that are told

struct Verified {
  uint64_t rows = 0;
  std::vector<std::string> columns;
  std::vector<std::string> faults;  // each once, in the order of columns and rows
};

// "... : '/a.gerec', column 'x', rows 0 to 7: ..." from its file on.
std::string Shortened(const Status& status) {
  const std::string& text = status.message();
  const size_t at = text.find("'");
  const size_t file = text.find("): ");
  return file != std::string::npos ? text.substr(file + 3) : text.substr(std::min(at, text.size()));
}

class Verifier {
 public:
  Verifier(Session* session, bool quiet, Verified* out)
      : run_(session, "data"), line_(quiet), out_(out) {}
  // One column, by runs of some rows; those of a run that fails are read in halves.
  Status Column(size_t number) {
    for (uint64_t first = 0; first < out_->rows; first += kSome) {
      if (Signalled()) return Status(Code::kCancelled, "interrupted");
      GE_RETURN_IF_ERROR(Rows(first, std::min(kSome, out_->rows - first)));
      if (out_->faults.size() >= kMostFaults) break;
      if (line_.Due()) {
        const double done = static_cast<double>(number) +
                            static_cast<double>(first) / static_cast<double>(out_->rows);
        line_.Draw("rows ", done / static_cast<double>(out_->columns.size()),
                   fmt::format("{} of '{}'", first, out_->columns[number]));
      }
    }
    line_.Clear();
    return {};
  }

 private:
  Status Rows(uint64_t first, uint64_t count) {
    Status status = run_.RunRows(first, count);
    if (status.ok() || out_->faults.size() >= kMostFaults) return {};
    if (status.code() != Code::kDataCorrupt) return status;
    if (count > 1) {
      GE_RETURN_IF_ERROR(Rows(first, count / 2));
      return Rows(first + count / 2, count - count / 2);
    }
    std::string text = Shortened(status);
    if (told_.insert(text).second) out_->faults.push_back(std::move(text));
    return {};
  }

  EntryRun run_;
  ProgressLine line_;
  Verified* out_;
  std::set<std::string> told_;
};

Result<SignalledSession> OpenAsItIs(const DataOptions& o, const std::string& column) {
  DataOptions each = o;
  each.rows.batch = 1;
  each.pack = true;
  if (!column.empty()) {
    const bool doubled = column.find('\'') != std::string::npos;
    each.pipe += fmt::format(" | select {0}{1}{0}", doubled ? '"' : '\'', column);
  }
  return OpenPipe(each);
}

Status VerifyRows(const DataOptions& o, Verified* out) {
  {
    GE_ASSIGN_OR_RETURN(const SignalledSession session, OpenAsItIs(o, ""));
    GE_ASSIGN_OR_RETURN(const PipeFacts facts, FactsOf(*session, o.rows.entry));
    GE_ASSIGN_OR_RETURN(const Entry* entry, session->FindEntry(o.rows.entry));
    const Function& f = session->graph().fn(entry->fn);
    for (const ValueId v : f.results) out->columns.push_back(f.value(v).name);
    out->rows = static_cast<uint64_t>(std::max<int64_t>(0, facts.rows));
  }
  for (size_t i = 0; i < out->columns.size(); ++i) {
    GE_ASSIGN_OR_RETURN(const SignalledSession session, OpenAsItIs(o, out->columns[i]));
    GE_RETURN_IF_ERROR(Verifier(session.get(), o.common.json, out).Column(i));
  }
  return {};
}

void Print(const DataOptions& o, const Verified& v) {
  if (o.common.json) {
    const nlohmann::ordered_json json = {
        {"file", o.pipe}, {"rows", v.rows}, {"columns", v.columns}, {"faults", v.faults}};
    fmt::print("{}\n", json.dump());
    return;
  }
  for (const std::string& fault : v.faults) fmt::print("{}\n", fault);
  fmt::print("{}: {} rows in {} columns, {}\n", o.pipe, v.rows, v.columns.size(),
             v.faults.empty()
                 ? "none damaged"
                 : fmt::format("{}{} faults", v.faults.size() < kMostFaults ? "" : "at least ",
                               v.faults.size()));
}

}  // namespace

int DataVerify(const DataOptions& o) {
  Verified verified;
  const Status status = VerifyRows(o, &verified);
  if (!status.ok()) return Fail(status);
  Print(o, verified);
  return verified.faults.empty() ? 0 : 1;
}

}  // namespace ge::tool
