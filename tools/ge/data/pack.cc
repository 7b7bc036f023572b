// ge data pack: the rows of an epoch as records, F.gerec (passes/data/sources/gerec.h has the
// form).
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <nlohmann/json.hpp>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "ge/capsule/npy.h"
#include "ge/capsule/store/capsule_writer.h"
#include "tools/ge/data/data.h"
#include "tools/ge/data/entry_run.h"
#include "tools/ge/progress_line.h"

namespace ge::tool {
namespace {

constexpr uint64_t kMostPacked = uint64_t{16} << 30;  // of all columns, which are kept in memory
constexpr uint64_t kRoom = 64 << 20;                  // of blobs in one run
constexpr uint64_t kBlock = 64 << 10;                 // bytes that have a sum

struct PackedColumn {
  std::string stem;
  DType dtype = DType::kUndefined;
  std::vector<int64_t> dims;
  std::string bytes;
  // Of pictures and texts, whose `bytes` are the blobs, one behind the other.
  bool blobs = false;
  std::vector<int64_t> offsets = {0};
  std::vector<uint64_t> sums;
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

template <class T>
std::string_view TextOf(const std::vector<T>& words) {
  return {reinterpret_cast<const char*>(words.data()), words.size() * sizeof(T)};
}

// A member of words, whose own sum goes into `sums`.
template <class T>
Status WriteWords(const std::string& member, DType dtype, const std::vector<T>& words,
                  CapsuleWriter* writer, nlohmann::ordered_json* sums) {
  const int64_t count = static_cast<int64_t>(words.size());
  const std::string content =
      NpyHead(dtype, {&count, 1}, words.size() * sizeof(T)) + std::string(TextOf(words));
  (*sums)[member] = fmt::format("{:016x}", XXH3_64bits(content.data(), content.size()));
  return writer->Add(member, content);
}

Status WriteColumn(const PackedColumn& c, CapsuleWriter* writer, nlohmann::ordered_json* sums) {
  if (c.blobs) {
    GE_RETURN_IF_ERROR(writer->Add(c.stem + ".bin", c.bytes));
    GE_RETURN_IF_ERROR(WriteWords(c.stem + ".offset.npy", DType::kInt64, c.offsets, writer, sums));
    return WriteWords(c.stem + ".xxh3.npy", DType::kUint64, c.sums, writer, sums);
  }
  const std::string head = NpyHead(c.dtype, c.dims, c.bytes.size());
  const std::string_view parts[] = {head, c.bytes};
  GE_RETURN_IF_ERROR(writer->Add(c.stem + ".npy", parts));
  const std::string whole = head + c.bytes;
  std::vector<uint64_t> blocks;
  for (uint64_t at = 0; at < whole.size(); at += kBlock) {
    blocks.push_back(XXH3_64bits(whole.data() + at, std::min<uint64_t>(kBlock, whole.size() - at)));
  }
  return WriteWords(c.stem + ".xxh3.npy", DType::kUint64, blocks, writer, sums);
}

// Takes the rows of a pipe into memory: arrays from batches, pictures and texts by the entry that
// has them as they are.
class Packer {
 public:
  Packer(Session* session, Batches* batches, std::vector<ColumnFacts> facts)
      : batches_(batches), facts_(std::move(facts)), blobs_(session, "data_blobs") {}
  Result<std::vector<PackedColumn>> TakeAll(uint64_t rows, bool quiet);

 private:
  Status Grow(uint64_t bytes);
  Status AddArray(const TensorView& t, PackedColumn* c);
  Status AddBlobs(const Batch& batch, const std::vector<size_t>& columns);
  Status AddSome(uint64_t first, uint64_t count, uint64_t width, const std::vector<size_t>& columns,
                 const Batch& batch, uint64_t row);

  Batches* batches_;
  std::vector<ColumnFacts> facts_;
  EntryRun blobs_;
  std::vector<PackedColumn> out_;
  uint64_t bytes_ = 0;
};

Status Packer::Grow(uint64_t bytes) {
  bytes_ += bytes;
  if (bytes_ <= kMostPacked) return {};
  return Status(Code::kLimitExceeded,
                fmt::format("the columns take more than {} GB, which ge data pack keeps in memory; "
                            "pack parts of the rows by --first and --batches, a-{{00..07}}.gerec "
                            "is one table",
                            kMostPacked >> 30));
}

Status Packer::AddArray(const TensorView& t, PackedColumn* c) {
  GE_RETURN_IF_ERROR(Grow(t.bytes));
  c->dims[0] += t.dims[0];
  c->bytes.append(static_cast<const char*>(t.data), t.bytes);
  return {};
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
      GE_RETURN_IF_ERROR(Grow(size));
      c.bytes.append(from + k * width, size);
      c.offsets.push_back(static_cast<int64_t>(c.bytes.size()));
      c.sums.push_back(XXH3_64bits(from + k * width, size));
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
      if (i == out_.size()) {
        out_.emplace_back();
        out_.back().stem = StemOf(batches_->names()[i], out_);
        out_.back().dtype = t.dtype;
        out_.back().dims = t.dims;
        out_.back().dims[0] = 0;
        out_.back().blobs = !facts_[i].kind.empty();
      }
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

Status WriteRecords(const std::string& path, uint64_t rows, const std::vector<std::string>& names,
                    const std::vector<ColumnFacts>& facts, const std::vector<PackedColumn>& columns,
                    uint64_t* bytes) {
  GE_ASSIGN_OR_RETURN(const auto writer, CapsuleWriter::Create(path));
  nlohmann::ordered_json meta = {{"gerec", 1}, {"rows", rows}}, sums;
  for (size_t i = 0; i < columns.size(); ++i) {
    nlohmann::ordered_json column = {{"name", names[i]},
                                     {"kind", columns[i].blobs ? facts[i].kind : "array"},
                                     {"member", columns[i].stem}};
    if (!facts[i].classes.empty()) column["classes"] = nlohmann::json::parse(facts[i].classes);
    meta["columns"].push_back(column);
    GE_RETURN_IF_ERROR(WriteColumn(columns[i], writer.get(), &sums));
  }
  meta["sums"] = sums;
  GE_RETURN_IF_ERROR(writer->Add("meta.json", meta.dump()));
  GE_RETURN_IF_ERROR(writer->Finish());
  *bytes = writer->bytes();
  return {};
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
  Packer packer(session.get(), batches.get(), of_columns);
  GE_ASSIGN_OR_RETURN(const auto columns, packer.TakeAll(options.limit, o.common.json));
  uint64_t bytes = 0;
  GE_RETURN_IF_ERROR(WriteRecords(o.common.output_file, options.limit, batches->names(), of_columns,
                                  columns, &bytes));
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
