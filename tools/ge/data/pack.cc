// ge data pack: the rows of an epoch as records, F.gerec (passes/data/sources/gerec.h has the
// form).
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "ge/capsule/npy.h"
#include "ge/capsule/store/capsule_writer.h"
#include "tools/ge/data/data.h"
#include "tools/ge/data/entry_run.h"
#include "tools/ge/data/spilled.h"
#include "tools/ge/progress_line.h"

namespace ge::tool {
namespace {

constexpr uint64_t kRoom = 64 << 20;   // of blobs in one run
constexpr uint64_t kBlock = 64 << 10;  // bytes that have a sum

struct PackedColumn {
  std::string stem;
  DType dtype = DType::kUndefined;
  std::vector<int64_t> dims;
  std::unique_ptr<Spilled> bytes;
  // Of pictures and texts, whose `bytes` are the blobs, one behind the other.
  bool blobs = false;
  std::unique_ptr<Spilled> offsets, sums;  // i64, u64
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

// A member of words, whose own sum goes into `sums`.
Status WriteWords(const std::string& member, DType dtype, std::string_view words,
                  CapsuleWriter* writer, nlohmann::ordered_json* sums) {
  const auto count = static_cast<int64_t>(words.size() / 8);
  const std::string head = NpyHead(dtype, {&count, 1}, words.size());
  const std::string_view parts[] = {head, words};
  XXH3_state_t sum;
  XXH3_64bits_reset(&sum);
  for (const std::string_view part : parts) XXH3_64bits_update(&sum, part.data(), part.size());
  (*sums)[member] = fmt::format("{:016x}", XXH3_64bits_digest(&sum));
  return writer->Add(member, parts);
}

// Of each kBlock bytes of a head and what follows it.
std::vector<uint64_t> BlockSums(const std::string& head, std::string_view rest) {
  const size_t begin = std::min<size_t>(kBlock - head.size(), rest.size());
  const std::string first = head + std::string(rest.substr(0, begin));
  std::vector<uint64_t> out = {XXH3_64bits(first.data(), first.size())};
  for (size_t at = begin; at < rest.size(); at += kBlock) {
    out.push_back(XXH3_64bits(rest.data() + at, std::min<size_t>(kBlock, rest.size() - at)));
  }
  return out;
}

Status WriteColumn(const PackedColumn& c, CapsuleWriter* writer, nlohmann::ordered_json* sums) {
  GE_ASSIGN_OR_RETURN(const std::string_view bytes, c.bytes->Whole());
  if (c.blobs) {
    GE_ASSIGN_OR_RETURN(const std::string_view offsets, c.offsets->Whole());
    GE_ASSIGN_OR_RETURN(const std::string_view of_blobs, c.sums->Whole());
    GE_RETURN_IF_ERROR(writer->Add(c.stem + ".bin", bytes));
    GE_RETURN_IF_ERROR(WriteWords(c.stem + ".offset.npy", DType::kInt64, offsets, writer, sums));
    return WriteWords(c.stem + ".xxh3.npy", DType::kUint64, of_blobs, writer, sums);
  }
  const std::string head = NpyHead(c.dtype, c.dims, bytes.size());
  const std::string_view parts[] = {head, bytes};
  GE_RETURN_IF_ERROR(writer->Add(c.stem + ".npy", parts));
  const std::vector<uint64_t> blocks = BlockSums(head, bytes);
  const std::string_view words(reinterpret_cast<const char*>(blocks.data()), blocks.size() * 8);
  return WriteWords(c.stem + ".xxh3.npy", DType::kUint64, words, writer, sums);
}

// Takes the rows of a pipe, column by column: arrays from batches, pictures and texts by the entry
// that has them as they are.
class Packer {
 public:
  // `path`: of the output.
  Packer(Session* session, Batches* batches, std::vector<ColumnFacts> facts, std::string path)
      : batches_(batches),
        facts_(std::move(facts)),
        path_(std::move(path)),
        blobs_(session, "data_blobs") {}
  Result<std::vector<PackedColumn>> TakeAll(uint64_t rows, bool quiet);

 private:
  Status AddColumn(const TensorView& t);
  Status AddArray(const TensorView& t, PackedColumn* c);
  Status AddBlobs(const Batch& batch, const std::vector<size_t>& columns);
  Status AddSome(uint64_t first, uint64_t count, uint64_t width, const std::vector<size_t>& columns,
                 const Batch& batch, uint64_t row);

  Batches* batches_;
  std::vector<ColumnFacts> facts_;
  std::string path_;
  EntryRun blobs_;
  std::vector<PackedColumn> out_;
};

Status Packer::AddColumn(const TensorView& t) {
  PackedColumn c;
  c.stem = StemOf(batches_->names()[out_.size()], out_);
  c.dtype = t.dtype;
  c.dims = t.dims;
  c.dims[0] = 0;
  c.blobs = !facts_[out_.size()].kind.empty();
  GE_ASSIGN_OR_RETURN(c.bytes, Spilled::Create(path_));
  if (c.blobs) {
    GE_ASSIGN_OR_RETURN(c.offsets, Spilled::Create(path_));
    GE_ASSIGN_OR_RETURN(c.sums, Spilled::Create(path_));
    const int64_t first = 0;
    GE_RETURN_IF_ERROR(c.offsets->Append(&first, sizeof first));
  }
  out_.push_back(std::move(c));
  return {};
}

Status Packer::AddArray(const TensorView& t, PackedColumn* c) {
  c->dims[0] += t.dims[0];
  return c->bytes->Append(t.data, t.bytes);
}

// Rows whose longest blob has `width` bytes at most.
Status Packer::AddSome(uint64_t first, uint64_t count, uint64_t width,
                       const std::vector<size_t>& columns, const Batch& batch, uint64_t row) {
  std::vector<int64_t> positions;
  const TensorView at = PositionsOf(first, count, &positions);
  std::vector<std::byte> room(width);  // of which the size counts alone
  GE_RETURN_IF_ERROR(
      blobs_.Run({at, {DType::kUint8, {static_cast<int64_t>(width)}, room.data(), width}}));
  for (size_t i = 0; i < columns.size(); ++i) {
    PackedColumn& c = out_[columns[i]];
    const auto* sizes = static_cast<const int64_t*>(batch.columns[columns[i]].data) + row;
    const auto* from = static_cast<const char*>(blobs_.outputs()[i].data);
    for (uint64_t k = 0; k < count; ++k) {
      const auto size = static_cast<uint64_t>(sizes[k]);
      GE_RETURN_IF_ERROR(c.bytes->Append(from + k * width, size));
      const uint64_t end = c.bytes->bytes(), sum = XXH3_64bits(from + k * width, size);
      GE_RETURN_IF_ERROR(c.offsets->Append(&end, sizeof end));
      GE_RETURN_IF_ERROR(c.sums->Append(&sum, sizeof sum));
    }
  }
  return {};
}

// By as many rows a run as their longest blob lets fit, which is rounded up: few sizes are planned.
Status Packer::AddBlobs(const Batch& batch, const std::vector<size_t>& columns) {
  uint64_t width = 1;
  for (const size_t c : columns) {
    const auto* sizes = static_cast<const int64_t*>(batch.columns[c].data);
    for (uint64_t i = 0; i < batch.rows; ++i) {
      width = std::max(width, static_cast<uint64_t>(sizes[i]));
    }
  }
  width = std::bit_ceil(width);
  const uint64_t most = std::max<uint64_t>(1, kRoom / width);
  for (uint64_t row = 0; row < batch.rows; row += most) {
    GE_RETURN_IF_ERROR(AddSome(batch.position + row, std::min(most, batch.rows - row), width,
                               columns, batch, row));
  }
  return {};
}

Result<std::vector<PackedColumn>> Packer::TakeAll(uint64_t rows, bool quiet) {
  uint64_t done = 0;
  ProgressLine line(quiet);
  for (;;) {
    if (Signalled()) return Status(Code::kCancelled, "interrupted");
    GE_ASSIGN_OR_RETURN(const auto batch, batches_->Next());
    if (!batch) break;
    std::vector<size_t> blobs;
    for (size_t i = 0; i < batch->columns.size(); ++i) {
      const TensorView& t = batch->columns[i];
      if (i == out_.size()) GE_RETURN_IF_ERROR(AddColumn(t));
      if (out_[i].blobs) {
        blobs.push_back(i);
      } else {
        GE_RETURN_IF_ERROR(AddArray(t, &out_[i]));
      }
    }
    if (!blobs.empty()) GE_RETURN_IF_ERROR(AddBlobs(*batch, blobs));
    done += batch->rows;
    if (line.Due()) {
      line.Draw("rows ", static_cast<double>(done) / static_cast<double>(rows),
                fmt::format("{} of {}", done, rows));
    }
  }
  line.Clear();
  return std::move(out_);
}

Status WriteRecords(CapsuleWriter* writer, uint64_t rows, const std::vector<std::string>& names,
                    const std::vector<ColumnFacts>& facts,
                    const std::vector<PackedColumn>& columns) {
  nlohmann::ordered_json meta = {{"gerec", 1}, {"rows", rows}}, sums;
  for (size_t i = 0; i < columns.size(); ++i) {
    nlohmann::ordered_json column = {{"name", names[i]},
                                     {"kind", columns[i].blobs ? facts[i].kind : "array"},
                                     {"member", columns[i].stem}};
    if (!facts[i].classes.empty()) column["classes"] = nlohmann::json::parse(facts[i].classes);
    meta["columns"].push_back(column);
    GE_RETURN_IF_ERROR(WriteColumn(columns[i], writer, &sums));
  }
  meta["sums"] = sums;
  GE_RETURN_IF_ERROR(writer->Add("meta.json", meta.dump()));
  return writer->Finish();
}

Status PackPipe(const DataOptions& o) {
  DataOptions each = o;
  each.rows.batch = 1;  // an epoch of all rows
  each.pack = true;
  GE_ASSIGN_OR_RETURN(const SignalledSession session, OpenPipe(each));
  GE_ASSIGN_OR_RETURN(const PipeFacts facts, FactsOf(*session, o.rows.entry));
  GE_ASSIGN_OR_RETURN(const auto of_columns, ColumnFactsOf(*session, o.rows.entry));
  if (o.batches == 0 && facts.rows < 0) {
    return Status(Code::kInvalidArgument,
                  "the entry has no Order, which would say how many rows there are; say how many "
                  "batches to take by --batches");
  }
  BatchesOptions options = o.rows;
  options.limit = o.batches != 0 ? o.batches * o.rows.batch : static_cast<uint64_t>(facts.rows);
  GE_ASSIGN_OR_RETURN(const auto batches, Batches::Make(session.get(), options));
  const std::string& path = o.common.output_file;
  GE_ASSIGN_OR_RETURN(const auto writer, CapsuleWriter::Create(path));
  Packer packer(session.get(), batches.get(), of_columns, path);
  GE_ASSIGN_OR_RETURN(const auto columns, packer.TakeAll(options.limit, o.common.json));
  GE_RETURN_IF_ERROR(
      WriteRecords(writer.get(), options.limit, batches->names(), of_columns, columns));
  const uint64_t bytes = writer->bytes();
  if (o.common.json) {
    const nlohmann::ordered_json json = {
        {"written", o.common.output_file}, {"rows", options.limit}, {"bytes", bytes}};
    fmt::print("{}\n", json.dump());
  } else {
    fmt::print("written {}: {} rows, {:.1f} MB\n", o.common.output_file, options.limit,
               static_cast<double>(bytes) / 1e6);
  }
  return {};
}

}  // namespace

int DataPack(const DataOptions& o) {
  const Status status = PackPipe(o);
  return status.ok() ? 0 : Fail(status);
}

}  // namespace ge::tool
