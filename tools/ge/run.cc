// ge run: load, compile, run, time, write outputs.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "ge/base/clock.h"
#include "ge/host/machine.h"
#include "ge/run/tensor_view.h"
#include "tools/ge/accuracy.h"
#include "tools/ge/command.h"
#include "tools/ge/observe/run_look.h"
#include "tools/ge/output_files.h"
#include "tools/ge/own_memory.h"
#include "tools/ge/rank_run.h"

namespace ge::tool {
namespace {

struct Timing {
  double first_ms = 0;
  std::vector<double> ms;  // sorted
  double At(double quantile) const {
    if (ms.empty()) return first_ms;
    return ms[std::min(ms.size() - 1, static_cast<size_t>(quantile * (ms.size() - 1) + 0.5))];
  }
};

// Runs in all, those of the warm-up aside; `look` is told of the counted ones.
Status RunTimed(Session* session, const Options& o, const std::vector<Tensor>& inputs, bool numbers,
                RunLook* look, std::vector<Tensor>* outputs, Timing* timing) {
  const std::vector<TensorView> views = Views(inputs);
  const auto once = [&](double* ms, RunWatch* watch) -> Status {
    if (!numbers) {
      const bool whole = !o.output_dir.empty();
      return RunAnyValues(session, o.entry, inputs, whole, outputs, ms, watch);
    }
    std::vector<TensorView> out = Views(*outputs);
    double start = NowMs();
    GE_RETURN_IF_ERROR(watch != nullptr ? session->RunWatched(o.entry, views, out, watch)
                                        : session->Run(o.entry, views, out));
    *ms = NowMs() - start;
    for (size_t i = 0; i < out.size(); ++i) {
      if (!(*outputs)[i].memory) {
        (*outputs)[i].memory.reset(static_cast<std::byte*>(out[i].data));
      }
      (*outputs)[i].view = out[i];
    }
    return {};
  };
  const auto counted = [&](double* ms) -> Status {
    GE_ASSIGN_OR_RETURN(RunWatch * watch, look->NextRun(session));
    return look->RunEnded(once(ms, watch));
  };
  GE_RETURN_IF_ERROR(counted(&timing->first_ms));
  double ms = 0;
  for (uint32_t i = 0; i < o.warmup; ++i) GE_RETURN_IF_ERROR(once(&ms, nullptr));
  for (uint32_t i = 1; i < o.repeat; ++i) {
    GE_RETURN_IF_ERROR(counted(&ms));
    timing->ms.push_back(ms);
  }
  std::sort(timing->ms.begin(), timing->ms.end());
  return {};
}

std::string ShapeText(const std::vector<int64_t>& dims) {
  std::string out;
  for (int64_t d : dims) out += (out.empty() ? "" : "x") + std::to_string(d);
  return out.empty() ? "scalar" : out;
}

void PrintOutputs(const std::vector<Tensor>& outputs) {
  for (const Tensor& t : outputs) {
    std::string head;
    if (!t.kind.empty()) {
      fmt::print("  {:<24} {:<23} {:.60}{}\n", t.name, t.kind, t.text,
                 t.text.size() > 60 ? " ..." : "");
      continue;
    }
    if (t.view.dtype == DType::kFloat) {
      const auto* p = static_cast<const float*>(t.view.data);
      uint64_t n = t.view.bytes / 4;
      for (uint64_t i = 0; i < std::min<uint64_t>(n, 6); ++i) head += fmt::format(" {:.5g}", p[i]);
      if (n > 6) head += " ...";
    }
    fmt::print("  {:<24} {:<6} {:<16}{}\n", t.name, DTypeName(t.view.dtype), ShapeText(t.view.dims),
               head);
  }
}

void PrintSummary(const Options& o, const nlohmann::json& j, const std::vector<Tensor>& outputs) {
  fmt::print("{}\n", o.model);
  fmt::print("  load {:.1f} ms, compile {:.1f} ms, first run {:.3f} ms", j["load_ms"].get<double>(),
             j["compile_ms"].get<double>(), j["first_ms"].get<double>());
  if (o.repeat > 1) {
    fmt::print(", median {:.3f} ms, min {:.3f} ms, p99 {:.3f} ms of {} runs",
               j["median_ms"].get<double>(), j["min_ms"].get<double>(), j["p99_ms"].get<double>(),
               o.repeat - 1);
  }
  if (j["plans"].get<uint64_t>() != 1) {
    fmt::print("\n  planned in {} pieces, as shapes became known", j["plans"].get<uint64_t>());
  }
  fmt::print("\n  {} nodes in {} segments, {} transfers; ", j["nodes"].get<uint64_t>(),
             j["segments"].get<uint64_t>(), j["transfers"].get<uint64_t>());
  bool first = true;
  for (const auto& [name, n] : j["engines"].items()) {
    fmt::print("{}{} {}", first ? "" : ", ", name, n.get<uint64_t>());
    first = false;
  }
  fmt::print(
      "\n  memory: weights {:.1f} MB, arena {:.1f} MB (max live {:.1f}), packed {:.1f} MB, "
      "copied {:.1f} MB, peak {:.1f} MB of which {:.1f} before the model\noutputs\n",
      j["weight_bytes"].get<double>() / 1e6, j["arena_bytes"].get<double>() / 1e6,
      j["max_live_bytes"].get<double>() / 1e6, j["packed_bytes"].get<double>() / 1e6,
      j["copied_constant_bytes"].get<double>() / 1e6, j["peak_rss_mb"].get<double>(),
      j["base_rss_mb"].get<double>());
  PrintOutputs(outputs);
  if (o.precision != "f32") {
    fmt::print("precision {}: {}\n", o.precision, RoundedText(j["rounded_nodes"].get<uint64_t>()));
  }
  if (j.contains("accuracy")) PrintAccuracy(j["accuracy"]);
  if (!j.contains("files")) return;
  fmt::print("files\n");
  for (const auto& file : j["files"]) {
    fmt::print("  {:<24} {}\n", file["output"].get<std::string>(), file["path"].get<std::string>());
  }
}

Result<SignalledSession> CreateSession(const Options& o, RunLook* look, double* base_mb) {
  GE_ASSIGN_OR_RETURN(SessionOptions options, SessionOptionsOf(o));
  GE_RETURN_IF_ERROR(look->Begin(&options));
  GE_ASSIGN_OR_RETURN(auto session, Session::Create(std::move(options)));
  *base_mb = StatusMb("VmRSS");
  return SignalledSession(std::move(session));
}

std::vector<Tensor> NamedOutputs(const Function& f) {
  std::vector<Tensor> outputs;
  for (ValueId r : f.results) {
    outputs.emplace_back();
    outputs.back().name = f.value(r).name;
  }
  return outputs;
}

// The same runs in float32, and how far `outputs` are from theirs.
Result<nlohmann::json> AgainstFloat32(Options o, const std::vector<Tensor>& inputs,
                                      const std::vector<Tensor>& outputs) {
  o.precision = "f32";
  GE_ASSIGN_OR_RETURN(auto session, Open(o));
  GE_ASSIGN_OR_RETURN(const Entry* entry, session->FindEntry(o.entry));
  const Function& f = session->graph().fn(entry->fn);
  std::vector<Tensor> exact = NamedOutputs(f);
  Timing timing;
  RunLook plain(o, {});
  GE_RETURN_IF_ERROR(RunTimed(session.get(), o, inputs, AllNumbers(f), &plain, &exact, &timing));
  return AccuracyOf(outputs, exact);
}

void PrintTimes(const Session& session, const Compiled* compiled) {
  std::vector<StageTime> times = session.times();
  if (compiled != nullptr) {
    times.insert(times.end(), compiled->times.begin(), compiled->times.end());
  }
  for (const StageTime& t : times) {
    fmt::print(stderr, "  {:<32} {:>9.3f} ms{}\n", t.name, t.ms,
               t.edits ? fmt::format("  {} edits", t.edits) : "");
  }
}

// A run that a watch has stopped.
void PrintStopped(const Options& o, const WatchedHit& hit) {
  if (o.json) {
    const nlohmann::json j = {{"model", o.model}, {"watch", HitJson(hit, o.look.watch_file)}};
    fmt::print("{}\n", j.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  } else {
    PrintHit(hit, o.look.watch_file);
  }
}

Status CheckWishes(const Options& o) {
  if (!o.accuracy || o.precision != "f32") return {};
  return Status(Code::kInvalidArgument,
                "--accuracy compares with float32, which --precision f32 is; add --precision bf16");
}

Result<nlohmann::json> ReportOf(Session* session, const Options& o, const Timing& timing,
                                double base_mb) {
  GE_ASSIGN_OR_RETURN(const std::string report, session->ReportJson(o.entry));
  nlohmann::json j = nlohmann::json::parse(report);
  j["model"] = o.model;
  j["first_ms"] = timing.first_ms;
  j["median_ms"] = timing.At(0.5);
  j["min_ms"] = timing.At(0);
  j["p99_ms"] = timing.At(0.99);
  j["runs"] = timing.ms.size() + 1;
  j["peak_rss_mb"] = StatusMb("VmHWM");
  j["base_rss_mb"] = base_mb;
  j["precision"] = o.precision;
  return j;
}

Status RunModel(const Options& given, int* code) {
  GE_RETURN_IF_ERROR(CheckWishes(given));
  GE_ASSIGN_OR_RETURN(RankRun rank, RankRunOf(given));
  const Options& o = rank.options;
  OutputFolder folder;
  if (!o.output_dir.empty()) GE_RETURN_IF_ERROR(folder.Prepare(o.output_dir));
  double base_mb = 0;
  RunLook look(o, o.look);
  GE_ASSIGN_OR_RETURN(auto session, CreateSession(o, &look, &base_mb));
  const RunLook::OfSession until_then(&look);
  GE_RETURN_IF_ERROR(look.Stage("load model", [&] { return LoadModel(o, &session); }));
  GE_ASSIGN_OR_RETURN(const Entry* entry, session->FindEntry(o.entry));
  if (!rank.inputs) {
    GE_ASSIGN_OR_RETURN(rank.inputs, MakeInputs(*session, *entry, o));
  }
  const std::vector<Tensor>& inputs = *rank.inputs;
  GE_RETURN_IF_ERROR(CompareRanks(rank, session.get()));
  const auto compiled =
      look.Stage("plan", [&] { return session->Compile(o.entry, Views(inputs)); });
  if (compiled.ok()) {
    NoteMeasured(o, **compiled);
  } else if (!session->RunsInPieces(o.entry)) {
    return compiled.status();
  }
  const Function& f = session->graph().fn(entry->fn);
  std::vector<Tensor> outputs = NamedOutputs(f);
  Timing timing;
  const Status ran = RunTimed(session.get(), o, inputs, AllNumbers(f), &look, &outputs, &timing);
  if (look.stopped() != nullptr) {
    PrintStopped(o, look.stopped()->hit());
    *code = 1;
    return {};
  }
  GE_RETURN_IF_ERROR(ran);
  GE_RETURN_IF_ERROR(look.Finish());
  std::vector<std::string> files;
  if (!o.output_dir.empty()) GE_RETURN_IF_ERROR(WriteOutputs(o.output_dir, outputs, &files));
  GE_ASSIGN_OR_RETURN(nlohmann::json j, ReportOf(session.get(), o, timing, base_mb));
  if (rank.ranks.many()) j["mesh"] = o.mesh.mesh;
  for (size_t i = 0; i < files.size(); ++i) {
    j["files"].push_back({{"output", outputs[i].name}, {"path", files[i]}});
  }
  if (o.accuracy) {
    GE_ASSIGN_OR_RETURN(j["accuracy"], AgainstFloat32(o, inputs, outputs));
  }
  if (o.quiet) return {};
  if (look.profiled() && o.json) j["profile"] = ProfileJson(look.MakeProfile());
  if (o.json) {
    fmt::print("{}\n", j.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  } else if (look.profiled()) {
    PrintProfile(look.MakeProfile());
  } else {
    PrintSummary(o, j, outputs);
  }
  if (o.times) PrintTimes(*session, compiled.ok() ? compiled->get() : nullptr);
  return {};
}

}  // namespace

int Run(const Options& options) {
  int code = 0;
  const Status status = RunModel(options, &code);
  return status.ok() ? code : Fail(status);
}

}  // namespace ge::tool
