// ge data pack: the rows of an epoch as records, F.gerec (passes/data/sources/gerec.h has the
// form).
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "ge/capsule/npy.h"
#include "ge/capsule/store/capsule_writer.h"
#include "tools/ge/data/data.h"
#include "tools/ge/progress_line.h"

namespace ge::tool {
namespace {

constexpr uint64_t kMostPacked = uint64_t{16} << 30;  // of all columns, which are kept in memory
constexpr uint64_t kBlock = 64 << 10;                 // bytes that have a sum

struct PackedColumn {
  std::string stem;
  DType dtype = DType::kUndefined;
  std::vector<int64_t> dims;
  std::string bytes;
};

// Characters of member names alone, each stem once.
std::string StemOf(const std::string& name, const std::vector<PackedColumn>& others) {
  std::string stem;
  for (const char c : name) {
    const bool legal = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '_' || c == '-';
    stem += legal ? c : '_';
  }
  if (stem.empty()) stem = "column";
  const auto taken = [&](const std::string& s) {
    return std::any_of(others.begin(), others.end(),
                       [&](const PackedColumn& c) { return c.stem == s; });
  };
  std::string out = stem;
  for (int i = 2; taken(out); ++i) out = fmt::format("{}-{}", stem, i);
  return out;
}

std::string_view TextOf(const std::vector<uint64_t>& sums) {
  return {reinterpret_cast<const char*>(sums.data()), sums.size() * sizeof(uint64_t)};
}

// The column's members; the sum of the second one goes into `sums`.
Status WriteColumn(const PackedColumn& c, CapsuleWriter* writer, nlohmann::ordered_json* sums) {
  const std::string head = NpyHead(c.dtype, c.dims, c.bytes.size());
  const std::string_view parts[] = {head, c.bytes};
  GE_RETURN_IF_ERROR(writer->Add(c.stem + ".npy", parts));
  const std::string whole = head + c.bytes;
  std::vector<uint64_t> blocks;
  for (uint64_t at = 0; at < whole.size(); at += kBlock) {
    blocks.push_back(XXH3_64bits(whole.data() + at, std::min<uint64_t>(kBlock, whole.size() - at)));
  }
  const int64_t count = static_cast<int64_t>(blocks.size());
  const std::string sum_head = NpyHead(DType::kUint64, {&count, 1}, blocks.size() * 8);
  const std::string member = c.stem + ".xxh3.npy", content = sum_head + std::string(TextOf(blocks));
  (*sums)[member] = fmt::format("{:016x}", XXH3_64bits(content.data(), content.size()));
  return writer->Add(member, content);
}

Result<std::vector<PackedColumn>> TakeAll(Batches* batches, uint64_t rows, bool quiet) {
  std::vector<PackedColumn> out;
  uint64_t bytes = 0, done = 0;
  ProgressLine line(quiet);
  for (;;) {
    if (Signalled()) return Status(Code::kCancelled, "interrupted");
    GE_ASSIGN_OR_RETURN(const auto batch, batches->Next());
    if (!batch) break;
    for (size_t i = 0; i < batch->columns.size(); ++i) {
      const TensorView& t = batch->columns[i];
      if (i == out.size()) {
        out.push_back({StemOf(batches->names()[i], out), t.dtype, t.dims, {}});
        out.back().dims[0] = 0;
      }
      bytes += t.bytes;
      if (bytes > kMostPacked) {
        return Status(Code::kLimitExceeded,
                      fmt::format("the columns take more than {} GB, which ge data pack keeps in "
                                  "memory; pack parts of the rows by --first and --batches, "
                                  "a-{{00..07}}.gerec is one table",
                                  kMostPacked >> 30));
      }
      out[i].dims[0] += t.dims[0];
      out[i].bytes.append(static_cast<const char*>(t.data), t.bytes);
    }
    done += batch->rows;
    if (line.Due()) {
      line.Draw("rows ", static_cast<double>(done) / static_cast<double>(rows),
                fmt::format("{} of {}", done, rows));
    }
  }
  line.Clear();
  return out;
}

Status PackPipe(const DataOptions& o) {
  DataOptions each = o;
  each.rows.batch = 1;  // an epoch of all rows
  GE_ASSIGN_OR_RETURN(const SignalledSession session, OpenPipe(each));
  GE_ASSIGN_OR_RETURN(const PipeFacts facts, FactsOf(*session, o.rows.entry));
  if (o.batches == 0 && facts.rows < 0) {
    return Status(Code::kInvalidArgument,
                  "the entry has no Order, which would say how many rows there are; say how many "
                  "batches to take by --batches");
  }
  BatchesOptions options = o.rows;
  options.limit = o.batches != 0 ? o.batches * o.rows.batch : static_cast<uint64_t>(facts.rows);
  GE_ASSIGN_OR_RETURN(const auto batches, Batches::Make(session.get(), options));
  GE_ASSIGN_OR_RETURN(const auto columns, TakeAll(batches.get(), options.limit, o.common.json));
  GE_ASSIGN_OR_RETURN(const auto writer, CapsuleWriter::Create(o.common.output_file));
  nlohmann::ordered_json meta = {{"gerec", 1}, {"rows", options.limit}}, sums;
  for (size_t i = 0; i < columns.size(); ++i) {
    meta["columns"].push_back(
        {{"name", batches->names()[i]}, {"kind", "array"}, {"member", columns[i].stem}});
    GE_RETURN_IF_ERROR(WriteColumn(columns[i], writer.get(), &sums));
  }
  meta["sums"] = sums;
  GE_RETURN_IF_ERROR(writer->Add("meta.json", meta.dump()));
  GE_RETURN_IF_ERROR(writer->Finish());
  if (o.common.json) {
    const nlohmann::ordered_json json = {
        {"written", o.common.output_file}, {"rows", options.limit}, {"bytes", writer->bytes()}};
    fmt::print("{}\n", json.dump());
  } else {
    fmt::print("written {}: {} rows, {:.1f} MB\n", o.common.output_file, options.limit,
               static_cast<double>(writer->bytes()) / 1e6);
  }
  return {};
}

}  // namespace

int DataPack(const DataOptions& o) {
  const Status status = PackPipe(o);
  return status.ok() ? 0 : Fail(status);
}

}  // namespace ge::tool
