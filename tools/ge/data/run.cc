// ge data run: takes batches, counts them, and writes or digests their columns.
#include <fmt/format.h>
#include <sha2.h>
#include <sys/types.h>

#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "tools/ge/data/data.h"
#include "tools/ge/output_files.h"
#include "tools/ge/own_memory.h"
#include "tools/ge/progress_line.h"
#include "tools/ge/tables.h"

namespace ge::tool {
namespace {

constexpr uint64_t kMostOutput = uint64_t{16} << 30;  // bytes that --output keeps in memory

double Seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// SHA-256 of what columns hold, in the order of rows: of each column, then of all those. It does
// not depend on how rows were put into batches.
class ColumnDigest {
 public:
  explicit ColumnDigest(size_t columns) : states_(columns) {
    for (SHA2_CTX& s : states_) SHA256Init(&s);
  }
  void Add(const Batch& batch) {
    for (size_t i = 0; i < states_.size(); ++i) {
      SHA256Update(&states_[i], static_cast<const uint8_t*>(batch.columns[i].data),
                   batch.columns[i].bytes);
    }
  }
  std::string Hex() {
    SHA2_CTX all;
    SHA256Init(&all);
    uint8_t digest[SHA256_DIGEST_LENGTH];
    for (SHA2_CTX& s : states_) {
      SHA256Final(digest, &s);
      SHA256Update(&all, digest, sizeof digest);
    }
    SHA256Final(digest, &all);
    std::string out;
    for (const uint8_t b : digest) out += fmt::format("{:02x}", b);
    return out;
  }

 private:
  std::vector<SHA2_CTX> states_;
};

// What --output writes: all rows of each column.
class Kept {
 public:
  Status Add(const Batch& batch) {
    columns_.resize(batch.columns.size());
    for (size_t i = 0; i < batch.columns.size(); ++i) {
      const TensorView& t = batch.columns[i];
      Column& c = columns_[i];
      if (bytes_ + t.bytes > kMostOutput) {
        return Status(Code::kLimitExceeded,
                      fmt::format("--output keeps the rows in memory, {} GB at most; take fewer "
                                  "batches by --batches",
                                  kMostOutput >> 30));
      }
      bytes_ += t.bytes;
      c.dtype = t.dtype;
      c.dims = t.dims;
      c.rows += t.dims[0];
      const auto* from = static_cast<const std::byte*>(t.data);
      c.bytes.insert(c.bytes.end(), from, from + t.bytes);
    }
    return {};
  }
  Status Write(const std::vector<std::string>& names, const std::string& folder,
               std::vector<std::string>* paths) {
    std::vector<Tensor> out;
    for (size_t i = 0; i < columns_.size(); ++i) {
      Tensor t;
      t.name = names[i];
      t.view = {columns_[i].dtype, columns_[i].dims, columns_[i].bytes.data(),
                columns_[i].bytes.size()};
      t.view.dims[0] = columns_[i].rows;
      out.push_back(std::move(t));
    }
    return WriteOutputs(folder, out, paths);
  }

 private:
  struct Column {
    DType dtype = DType::kUndefined;
    std::vector<int64_t> dims;
    int64_t rows = 0;
    std::vector<std::byte> bytes;
  };
  std::vector<Column> columns_;
  uint64_t bytes_ = 0;
};

struct Memory {
  double base_mb = 0;  // resident before the first batch was made
  uint64_t slots = 0, scratch = 0;
};

struct Taken {
  uint64_t batches = 0, rows = 0;
  double seconds = 0;
  uint64_t plans = 0, late_plans = 0;  // of the entry; those made behind the first batch
  std::string digest;
  std::vector<TensorView> columns;  // of the last batch
  std::vector<std::string> files;
};

Result<uint64_t> BatchesWanted(const DataOptions& o, const PipeFacts& facts) {
  if (o.batches != 0) return o.batches;
  if (facts.epoch_rows > 0) {
    const auto rows = static_cast<uint64_t>(facts.epoch_rows);
    return (rows + o.rows.batch - 1) / o.rows.batch;
  }
  return Status(Code::kInvalidArgument,
                "the entry has no Order, which would say how many rows an epoch has; say how many "
                "batches to take by --batches");
}

// Plans that were made for the entry so far.
Result<uint64_t> PlansOf(Session* session, const std::string& entry) {
  GE_ASSIGN_OR_RETURN(const std::string report, session->ReportJson(entry));
  return nlohmann::json::parse(report).at("compiles").get<uint64_t>();
}

Result<Taken> Take(const DataOptions& o, Session* session, Batches* batches, uint64_t wanted) {
  Taken out;
  ColumnDigest digest(batches->names().size());
  Kept kept;
  OutputFolder folder;
  if (!o.common.output_dir.empty()) GE_RETURN_IF_ERROR(folder.Prepare(o.common.output_dir));
  ProgressLine line(o.common.json);
  const double begin = Seconds();
  while (out.batches < wanted) {
    if (Signalled()) return Status(Code::kCancelled, "interrupted");
    GE_ASSIGN_OR_RETURN(const auto batch, batches->Next());
    if (!batch) break;
    if (++out.batches == 1) {
      GE_ASSIGN_OR_RETURN(out.plans, PlansOf(session, o.rows.entry));
    }
    out.rows += batch->rows;
    if (o.digest) digest.Add(*batch);
    if (!o.common.output_dir.empty()) GE_RETURN_IF_ERROR(kept.Add(*batch));
    out.columns = batch->columns;
    if (line.Due()) {
      line.Draw("batches ", static_cast<double>(out.batches) / static_cast<double>(wanted),
                fmt::format("{} of {}", out.batches, wanted));
    }
  }
  out.seconds = Seconds() - begin;
  line.Clear();
  if (out.batches > 0) {
    GE_ASSIGN_OR_RETURN(const uint64_t plans, PlansOf(session, o.rows.entry));
    out.late_plans = plans - std::exchange(out.plans, plans);
  }
  if (o.digest) out.digest = digest.Hex();
  if (!o.common.output_dir.empty() && out.batches > 0) {
    GE_RETURN_IF_ERROR(kept.Write(batches->names(), o.common.output_dir, &out.files));
  }
  return out;
}

// Scratch is what engines plan for a run, of all runs that may be in flight; codecs have more.
Result<Memory> MemoryOf(Session* session, const std::string& entry, double base_mb,
                        Batches* batches) {
  GE_ASSIGN_OR_RETURN(const std::string report, session->ReportJson(entry));
  const auto arena = nlohmann::json::parse(report).value("arena_bytes", uint64_t{0});
  return Memory{base_mb, batches->slot_bytes(), arena * batches->runs_at_once()};
}

void Print(const DataOptions& o, const Batches& batches, const Taken& t, const Memory& m) {
  const double rate = t.seconds > 0 ? static_cast<double>(t.rows) / t.seconds : 0;
  if (o.common.json) {
    nlohmann::ordered_json json = {{"batches", t.batches},
                                   {"rows", t.rows},
                                   {"seconds", t.seconds},
                                   {"rows_per_s", rate},
                                   {"rows_a_run", batches.rows_a_run()},
                                   {"plans", t.plans},
                                   {"plans_late", t.late_plans},
                                   {"waited_ms", static_cast<double>(batches.waited_ns()) / 1e6},
                                   {"slot_bytes", m.slots},
                                   {"scratch_bytes", m.scratch},
                                   {"peak_rss_mb", StatusMb("VmHWM")},
                                   {"base_rss_mb", m.base_mb}};
    if (o.digest) json["digest"] = t.digest;
    for (size_t i = 0; i < t.columns.size(); ++i) {
      json["columns"].push_back({{"name", batches.names()[i]},
                                 {"dtype", DTypeName(t.columns[i].dtype)},
                                 {"dims", t.columns[i].dims}});
    }
    if (!t.files.empty()) json["files"] = t.files;
    fmt::print("{}\n", json.dump());
    return;
  }
  fmt::print("{} batches, {} rows in {:.3f} s: {:.0f} rows/s, runs of {} rows\n", t.batches, t.rows,
             t.seconds, rate, batches.rows_a_run());
  std::vector<Row> rows;
  for (size_t i = 0; i < t.columns.size(); ++i) {
    rows.push_back({{batches.names()[i], std::string(DTypeName(t.columns[i].dtype)),
                     fmt::format("{}", fmt::join(t.columns[i].dims, "x"))}});
  }
  if (!rows.empty()) PrintTable({"column", "dtype", "a batch"}, rows, {false, false, false});
  if (o.digest) fmt::print("digest {}\n", t.digest);
  for (const std::string& f : t.files) fmt::print("written {}\n", f);
}

Status RunPipe(const DataOptions& o) {
  GE_ASSIGN_OR_RETURN(SignalledSession session, OpenPipe(o));
  GE_ASSIGN_OR_RETURN(const PipeFacts facts, FactsOf(*session, o.rows.entry));
  GE_ASSIGN_OR_RETURN(const uint64_t wanted, BatchesWanted(o, facts));
  BatchesOptions options = o.rows;
  if (o.batches == 0) options.limit = static_cast<uint64_t>(facts.epoch_rows);
  const double base_mb = StatusMb("VmRSS");
  GE_ASSIGN_OR_RETURN(const auto batches, Batches::Make(session.get(), options));
  GE_ASSIGN_OR_RETURN(const Taken taken, Take(o, session.get(), batches.get(), wanted));
  GE_ASSIGN_OR_RETURN(const Memory memory,
                      MemoryOf(session.get(), options.entry, base_mb, batches.get()));
  Print(o, *batches, taken, memory);
  return {};
}

}  // namespace

int DataRun(const DataOptions& o) {
  const Status status = RunPipe(o);
  return status.ok() ? 0 : Fail(status);
}

}  // namespace ge::tool
