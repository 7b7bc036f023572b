// ge bench: how many requests a second one session answers to several callers at once, and how long
// each waits.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <nlohmann/json.hpp>
#include <numeric>
#include <thread>

#include "ge/base/clock.h"
#include "ge/host/machine.h"
#include "tools/ge/command.h"

namespace ge::tool {
namespace {

struct Caller {
  std::vector<double> ms;  // of each request, in order
  Status status;
};

// Calls `once` until *stop.
template <typename Once>
void CallUntil(const std::atomic<bool>& stop, Caller* out, Once once) {
  while (!stop.load(std::memory_order_relaxed)) {
    const double start = NowMs();
    out->status = once();
    if (!out->status.ok()) return;
    out->ms.push_back(NowMs() - start);
  }
}

// Runs until *stop, with buffers of its own.
void Call(Session* session, const Options& o, const std::vector<Tensor>& inputs,
          const std::atomic<bool>& stop, Caller* out) {
  const auto plan = session->Latest(o.entry);
  if (!plan) {  // texts, or sizes that the data decide: planned piece by piece
    std::vector<Tensor> outputs(
        session->graph().fn((*session->FindEntry(o.entry))->fn).results.size());
    CallUntil(stop, out, [&] { return RunAnyValues(session, o.entry, inputs, false, &outputs); });
    return;
  }
  const std::vector<TensorView> views = Views(inputs);
  std::vector<TensorView> outputs;
  std::vector<AlignedBytes> memory;
  for (const Compiled::Port& port : plan->outputs) {
    memory.push_back(AllocateAligned(port.bytes, 64));
    outputs.push_back({port.dtype, port.dims, memory.back().get(), port.bytes});
  }
  CallUntil(stop, out, [&] { return session->Run(o.entry, views, outputs); });
}

double Quantile(std::vector<double> of, double q) {
  if (of.empty()) return 0;
  const auto at = static_cast<size_t>(q * static_cast<double>(of.size() - 1));
  std::nth_element(of.begin(), of.begin() + static_cast<int64_t>(at), of.end());
  return of[at];
}

Result<nlohmann::json> Measure(Session* session, const Options& o, uint32_t n,
                               const std::vector<Tensor>& inputs) {
  std::vector<Caller> callers(n);
  std::atomic<bool> stop{false};
  const double start = NowMs();
  {
    std::vector<std::jthread> threads;
    try {
      for (Caller& c : callers) {
        threads.emplace_back([&, caller = &c] { Call(session, o, inputs, stop, caller); });
      }
    } catch (const std::system_error& error) {
      stop = true;
      return Status(Code::kResourceExhausted,
                    fmt::format("no thread for caller {} of {}: {}; use fewer (--concurrency)",
                                threads.size() + 1, n, error.code().message()));
    }
    while (NowMs() - start < 1e3 * o.seconds && !Signalled()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    stop = true;
  }
  const double ms = NowMs() - start;
  std::vector<double> all;
  size_t least = SIZE_MAX;
  for (const Caller& c : callers) {
    GE_RETURN_IF_ERROR(c.status);
    all.insert(all.end(), c.ms.begin(), c.ms.end());
    least = std::min(least, c.ms.size());
  }
  return nlohmann::json{{"callers", n},
                        {"requests", all.size()},
                        {"requests_per_s", static_cast<double>(all.size()) / ms * 1e3},
                        {"median_ms", Quantile(all, 0.5)},
                        {"p99_ms", Quantile(all, 0.99)},
                        {"least_requests", least}};
}

Status BenchModel(const Options& o) {
  GE_ASSIGN_OR_RETURN(auto session, Open(o));
  GE_ASSIGN_OR_RETURN(const Entry* entry, session->FindEntry(o.entry));
  GE_ASSIGN_OR_RETURN(std::vector<Tensor> inputs, MakeInputs(*session, *entry, o));
  const Status compiled = session->Compile(o.entry, Views(inputs)).status();
  if (!compiled.ok()) {
    if (!session->RunsInPieces(o.entry)) return compiled;
    // The first run plans the pieces.
    std::vector<Tensor> outputs(session->graph().fn(entry->fn).results.size());
    GE_RETURN_IF_ERROR(RunAnyValues(session.get(), o.entry, inputs, false, &outputs));
  }
  nlohmann::json rows = nlohmann::json::array();
  if (!o.json) {
    fmt::print("{:>7} {:>14} {:>10} {:>10} {:>16}\n", "callers", "requests / s", "median ms",
               "p99 ms", "least of a caller");
  }
  for (uint32_t n : o.concurrency) {
    if (n == 0 || n > 1024) {
      return Status(Code::kInvalidArgument,
                    fmt::format("--concurrency is {}, wanted 1 to 1024", n));
    }
    GE_ASSIGN_OR_RETURN(nlohmann::json row, Measure(session.get(), o, n, inputs));
    if (!o.json) {
      fmt::print("{:>7} {:>14.1f} {:>10.3f} {:>10.3f} {:>16}\n", n,
                 row["requests_per_s"].get<double>(), row["median_ms"].get<double>(),
                 row["p99_ms"].get<double>(), row["least_requests"].get<uint64_t>());
    }
    rows.push_back(std::move(row));
  }
  if (o.json) {
    fmt::print("{}\n",
               nlohmann::json{{"threads", CurrentProcessFacts().threads}, {"rows", rows}}.dump());
  }
  return {};
}

}  // namespace

int Bench(const Options& options) {
  const Status status = BenchModel(options);
  return status.ok() ? 0 : Fail(status);
}

}  // namespace ge::tool
