// Reports: what they say, and how findings become them.
#include <utility>

#include "plugins/device/sim/state.h"

namespace ge_engines::device::sim {
namespace {

constexpr size_t kMostReports = 1000;  // a broken program has as many as it has runs

}  // namespace

std::string Report::text() const {
  std::string line = FaultName(fault);
  line += ": ";
  if (!first.empty()) line += first + " and ";
  line += second;
  if (!block.empty())
    line += ", bytes [" + std::to_string(begin) + ", " + std::to_string(end) + ") of " + block;
  if (!missing.empty()) line += "; " + missing;
  return line;
}

std::string Simulator::State::Here() const { return "(call " + std::to_string(calls) + ")"; }

void Simulator::State::Add(Report report) {
  if (journal) Note("found " + report.text());
  if (reports.size() < kMostReports) reports.push_back(std::move(report));
}

Code Simulator::State::Reject(Fault fault, std::string second, std::string missing) {
  Report report;
  report.fault = fault;
  report.second = std::move(second);
  report.missing = std::move(missing);
  Add(std::move(report));
  return Code::kInvalid;
}

Code Simulator::State::Unknown(const char* what, uint64_t id, bool destroying) {
  const bool made = id != 0 && id < next_id;
  const std::string name = std::string(what) + " " + std::to_string(id) + " " + Here();
  if (stale.count(id) != 0) return Reject(Fault::kUseOfDestroyed, name, "its device was reset");
  return Reject(destroying && made ? Fault::kDoubleDestroy : Fault::kUseOfDestroyed, name,
                made ? "it was destroyed before" : "no such " + std::string(what) + " was made");
}

void Simulator::State::AddConflicts(Fault fault, const Conflicts& conflicts,
                                    const std::string& second, const std::string& block,
                                    const StreamState* stream) {
  for (const Conflict& one : conflicts) {
    Report report;
    report.fault = fault;
    report.first = one.earlier->text(one.earlier_writes);
    report.second = second;
    report.block = block;
    report.begin = one.begin;
    report.end = one.end;
    const std::string behind =
        "stream " + std::to_string(one.earlier->stream) + " behind '" + one.earlier->name + "'";
    if (stream == nullptr)
      report.missing = "the host must wait first for " + behind;
    else if (stream->id == one.earlier->stream)  // branches of one graph
      report.missing = "no wait inside the graph orders them";
    else
      report.missing =
          "stream " + std::to_string(stream->id) + " must wait for an event recorded on " + behind;
    if (stream != nullptr && !stream->void_wait.empty()) report.missing += "; " + stream->void_wait;
    Add(std::move(report));
  }
}

}  // namespace ge_engines::device::sim
