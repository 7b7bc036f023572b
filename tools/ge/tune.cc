// ge tune: measures the machine and the engines on a sample of work, then, where models are named,
// the offers and plans of each; keeps what it finds for this machine. With --export it also writes
// what may ship as priors for processors like this one.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "ge/base/read_file.h"
#include "ge/host/cache_folder.h"
#include "ge/host/machine.h"
#include "ge/price/correct.h"
#include "ge/price/priors.h"
#include "tools/ge/command.h"
#include "tools/ge/output_files.h"

namespace ge::tool {
namespace {

constexpr uint64_t kMostExported = uint64_t{64} << 20;  // bytes of a file that is merged with

// Empty where there is none yet.
Result<std::string> Present(const std::filesystem::path& path) {
  std::error_code ec;
  if (!std::filesystem::exists(path, ec)) return std::string();
  return ReadRegularFile(path.string(), kMostExported);
}

// What is known of each device that shipped priors may be about, by its rows.
std::vector<PriorBook> BooksOf(const Session& session, const EngineList& engines) {
  std::vector<PriorBook> out;
  for (const auto& e : engines) {
    for (uint32_t d = 0; d < e->devices().size(); ++d) {
      const PriceBook book = BookOf(*e, d);
      auto rows = session.price_cache()->AsPriors(book);
      std::sort(rows.begin(), rows.end(), [](const PriorRow& a, const PriorRow& b) {
        return std::tie(a.signature, a.size) < std::tie(b.signature, b.size);
      });
      if (!rows.empty()) out.push_back({e->name(), book.device, std::move(rows)});
    }
  }
  return out;
}

Status Export(const Session& session, const EngineList& engines, const std::string& folder) {
  namespace fs = std::filesystem;
  const MachineRecord& m = HostMachine();
  const fs::path machines = fs::path(folder) / "machines.json";
  const fs::path priors = fs::path(folder) / PriorsFileName(m, BestIsa(m));
  GE_ASSIGN_OR_RETURN(const std::string had_machines, Present(machines));
  GE_ASSIGN_OR_RETURN(const std::string had_priors, Present(priors));
  const auto merged = [](const fs::path& path, Result<std::string> text) {
    if (text.ok() || text.status().code() != Code::kDataCorrupt) return text;
    return Result<std::string>(Status(
        Code::kDataCorrupt, fmt::format("'{}' cannot be added to: {}; remove it, or export into "
                                        "another folder",
                                        path.string(), text.status().message())));
  };
  GE_ASSIGN_OR_RETURN(const std::string new_machines,
                      merged(machines, WithShippedMachine(had_machines, m)));
  GE_ASSIGN_OR_RETURN(const std::string new_priors,
                      merged(priors, WithPriors(had_priors, m, BooksOf(session, engines))));
  GE_RETURN_IF_ERROR(WriteFile(machines.string(), new_machines));
  return WriteFile(priors.string(), new_priors);
}

double MedianFactor(std::vector<PriorRow> rows) {
  const auto mid = rows.begin() + static_cast<int64_t>(rows.size() / 2);
  std::nth_element(rows.begin(), mid, rows.end(),
                   [](const PriorRow& a, const PriorRow& b) { return a.log_error < b.log_error; });
  return std::exp(mid->log_error);
}

nlohmann::json Told(const Session& session, const EngineList& list, const MeasureReport& measured) {
  const MachineRecord& m = HostMachine();
  nlohmann::json engines = nlohmann::json::array();
  for (const PriorBook& book : BooksOf(session, list)) {
    engines.push_back({{"engine", book.engine},
                       {"device", book.device},
                       {"offers", book.rows.size()},
                       {"median_factor", MedianFactor(book.rows)}});
  }
  return {{"cpu", m.cpu},
          {"threads", m.threads},
          {"gflops", m.flops_per_ns[m.isa]},
          {"copy_gb_per_s", m.copy_bytes_per_ns[m.isa]},
          {"thread_gain", m.thread_gain},
          {"fork_ns", m.fork_ns},
          {"offers_measured", measured.measured},
          {"offers_left", measured.left},
          {"measure_ms", measured.ms},
          {"busy", measured.busy || m.doubtful},
          {"kept_in", CacheFolder()},
          {"engines", engines}};
}

void Print(const nlohmann::json& j) {
  fmt::print(
      "{}, {} threads: {:.0f} GF/s, copies {:.0f}, {:.0f} and {:.0f} GB/s (L2, L3, memory)\n",
      j["cpu"].get<std::string>(), j["threads"].get<uint32_t>(), j["gflops"].get<double>(),
      j["copy_gb_per_s"][0].get<double>(), j["copy_gb_per_s"][1].get<double>(),
      j["copy_gb_per_s"][2].get<double>());
  fmt::print("{:<12} {:<12} {:>6}  {}\n", "engine", "device", "offers", "time / what it asks");
  for (const auto& e : j["engines"]) {
    fmt::print("{:<12} {:<12} {:>6}  {:.2f}\n", e["engine"].get<std::string>(),
               e["device"].get<std::string>(), e["offers"].get<uint64_t>(),
               e["median_factor"].get<double>());
  }
  const auto folder = j["kept_in"].get<std::string>();
  fmt::print("timed {} offers in {:.0f} ms, {} left; {}\n", j["offers_measured"].get<uint64_t>(),
             j["measure_ms"].get<double>(), j["offers_left"].get<uint64_t>(),
             folder.empty() ? "nothing is kept, since GE_CACHE_DIR is off" : "kept in " + folder);
  if (j["busy"].get<bool>()) {
    fmt::print("the machine is busy: these prices are doubtful; tune again when it is quiet\n");
  }
}

// The model's offers are timed and its plans rehearsed, for inputs as --input says.
Status TuneModel(Options o, const std::string& model) {
  o.model = model;
  o.prices = "measure";
  GE_ASSIGN_OR_RETURN(auto session, Open(o));
  GE_ASSIGN_OR_RETURN(const Entry* entry, session->FindEntry(o.entry));
  GE_ASSIGN_OR_RETURN(std::vector<Tensor> inputs, MakeInputs(*session, *entry, o));
  GE_RETURN_IF_ERROR(session->PlanAhead(o.entry, Views(inputs)));
  if (const auto plan = session->Latest(o.entry)) {
    fmt::print(stderr, "{}: timed {} offers and {} plans\n", model, plan->measured.measured,
               plan->measured.plans);
  }
  return {};
}

Status TuneAll(const Options& o) {
  OutputFolder folder;
  if (!o.export_dir.empty()) GE_RETURN_IF_ERROR(folder.Prepare(o.export_dir + "/priors"));
  nlohmann::json told;
  {
    GE_ASSIGN_OR_RETURN(SessionOptions options, SessionOptionsOf(o));
    options.process.rates = ProcessFacts::Rates::kMeasured;
    GE_ASSIGN_OR_RETURN(auto created, Session::Create(std::move(options)));
    SignalledSession session(std::move(created));
    GE_ASSIGN_OR_RETURN(const MeasureReport measured, session->Tune(o.measure_budget_ms));
    GE_ASSIGN_OR_RETURN(const EngineList* engines, session->Engines());
    told = Told(*session, *engines, measured);
    if (!o.export_dir.empty() && told["busy"].get<bool>()) {
      return Status(Code::kFailedPrecondition,
                    "the machine is busy, so that nothing is exported; tune when it is quiet");
    }
    if (!o.export_dir.empty()) GE_RETURN_IF_ERROR(Export(*session, *engines, o.export_dir));
  }
  for (const std::string& model : o.models) GE_RETURN_IF_ERROR(TuneModel(o, model));
  if (o.json) {
    fmt::print("{}\n", told.dump());
  } else {
    Print(told);
  }
  return {};
}

}  // namespace

int Tune(const Options& options) {
  const Status status = TuneAll(options);
  return status.ok() ? 0 : Fail(status);
}

}  // namespace ge::tool
