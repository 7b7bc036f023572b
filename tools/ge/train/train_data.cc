#include "tools/ge/train/train_data.h"

#include <fmt/format.h>

#include <algorithm>

namespace ge::tool {
namespace {

constexpr char kTestEntry[] = "data_test";

// What pictures of any size become: the form of the net's first input that is one of pictures.
void PutForm(const NetInputs& inputs, DataOptions* to) {
  for (const RowType& x : inputs.x) {
    const std::vector<int64_t>& d = x.dims;
    const auto channels = [](int64_t n) { return n == 1 || n == 3; };
    constexpr int64_t kMostSide = 1 << 15;  // of a picture; a longer axis is one of something else
    if (std::any_of(d.begin(), d.end(), [](int64_t n) { return n > kMostSide; })) continue;
    if (d.size() == 2 && to->pictures.empty()) to->pictures = fmt::format("1x{}x{}", d[0], d[1]);
    if (d.size() != 3 || (!channels(d[0]) && !channels(d[2]))) continue;
    to->channels_last = !channels(d[0]);
    to->pictures = to->channels_last ? fmt::format("{}x{}x{}", d[2], d[0], d[1])
                                     : fmt::format("{}x{}x{}", d[0], d[1], d[2]);
    return;
  }
}

// The session of a pipe is apart from the net's: its passes, pins and limits are not the net's.
DataOptions PipeOptions(const TrainOptions& o, const NetInputs& inputs) {
  DataOptions out;
  out.pipe = o.data;
  out.test = o.no_test ? "" : o.test_data;
  out.own_test = !o.no_test && o.test_data.empty();
  out.shuffle = !o.keep_order;
  out.common.engines = o.common.engines;
  out.common.plugins = o.common.plugins;
  out.common.threads = o.common.threads;
  out.common.isa = o.common.isa;
  out.common.prices = o.common.prices;
  out.common.seed = o.common.seed;
  out.common.verbose = o.common.verbose;
  out.rows.batch = o.batch;
  PutForm(inputs, &out);
  return out;
}

Result<std::vector<RowType>> ColumnsOf(const Session& session, const std::string& name) {
  GE_ASSIGN_OR_RETURN(const Entry* entry, session.FindEntry(name));
  const Function& f = session.graph().fn(entry->fn);
  std::vector<RowType> out;
  for (const ValueId v : f.results) {
    const Type& t = f.value(v).type;
    RowType row{f.value(v).name, t.dtype, {}};
    for (size_t i = 1; i < t.dims.size(); ++i) {
      if (!t.dims[i].known()) {
        return Status(Code::kInvalidArgument,
                      fmt::format("column '{}' of entry '{}' has rows of no one shape, which ge "
                                  "train wants",
                                  row.name, name));
      }
      row.dims.push_back(t.dims[i].value);
    }
    out.push_back(std::move(row));
  }
  return out;
}

Status CheckLayout(const NetInputs& inputs) {
  if (!inputs.channels_last) return {};
  for (const RowType& x : inputs.x) {
    if (x.dims.size() > 2) return {};
  }
  return Status(Code::kInvalidArgument,
                "--layout nhwc is of pictures, and no input of the net has channels, rows and "
                "columns; leave it out");
}

bool HasEntry(const Session& session, const char* name) {
  return session.graph().FindEntry(name) != nullptr;
}

Result<PipeFacts> OrderedFacts(const Session& session, const std::string& entry,
                               const std::string& pipe) {
  GE_ASSIGN_OR_RETURN(PipeFacts facts, FactsOf(session, entry));
  if (facts.rows >= 0 && facts.epoch_rows > 0) return facts;
  return Status(Code::kInvalidArgument,
                fmt::format("the entry '{}' of '{}' has no Order, which would say how many rows an "
                            "epoch has",
                            entry, pipe));
}

}  // namespace

Status TrainData::FindTest(const TrainOptions& o, const NetInputs& inputs) {
  if (o.no_test || !HasEntry(*session_, kTestEntry)) return {};
  GE_ASSIGN_OR_RETURN(const auto columns, ColumnsOf(*session_, kTestEntry));
  GE_ASSIGN_OR_RETURN(
      const PipeFacts facts,
      OrderedFacts(*session_, kTestEntry, o.test_data.empty() ? o.data : o.test_data));
  test_rows_ = static_cast<uint64_t>(facts.epoch_rows);
  GE_ASSIGN_OR_RETURN(
      test_columns_,
      NetColumns::Make(inputs, columns, facts.source.empty() ? o.test_data : facts.source));
  return {};
}

Result<std::unique_ptr<TrainData>> TrainData::Open(const TrainOptions& o, const NetInputs& inputs) {
  GE_RETURN_IF_ERROR(CheckLayout(inputs));
  GE_ASSIGN_OR_RETURN(SignalledSession session, OpenPipe(PipeOptions(o, inputs)));
  std::unique_ptr<TrainData> out(new TrainData(std::move(session)));
  out->options_.batch = o.batch;
  out->ranks_ = o.ranks;
  if (o.data_limit != 0) out->options_.ahead_bytes = o.data_limit;
  GE_ASSIGN_OR_RETURN(const auto columns, ColumnsOf(*out->session_, out->options_.entry));
  GE_ASSIGN_OR_RETURN(out->facts_, OrderedFacts(*out->session_, out->options_.entry, o.data));
  GE_ASSIGN_OR_RETURN(out->columns_, NetColumns::Make(inputs, columns, o.data));
  GE_RETURN_IF_ERROR(out->FindTest(o, inputs));
  return out;
}

Status TrainData::Begin(uint64_t position) {
  BatchesOptions options = options_;
  options.first = position;
  options.rank = static_cast<uint64_t>(ranks_.share);
  options.world = static_cast<uint64_t>(ranks_.shares);
  GE_ASSIGN_OR_RETURN(batches_, Batches::Make(session_.get(), options));
  return {};
}

Result<std::unique_ptr<Batches>> TrainData::TestBatches() {
  BatchesOptions options = options_;
  options.entry = kTestEntry;
  options.limit = test_rows_;
  options.batch = std::min(options.batch, test_rows_);
  options.rows = test_run_;
  GE_ASSIGN_OR_RETURN(auto batches, Batches::Make(session_.get(), options));
  test_run_ = batches->rows_a_run();
  return batches;
}

}  // namespace ge::tool
