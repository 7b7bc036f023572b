// ge.h: batches of a data entry.
#include "ge/batches/batches.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "ge/api/capi.h"

using ge::Code;
using ge::Status;

struct ge_batches {
  std::shared_ptr<ge::Session> session;
  std::unique_ptr<ge::Batches> batches;
  std::atomic<bool> used{false};
};
struct ge_batch {
  std::shared_ptr<const ge::Batch> batch;
  std::vector<ge_tensor> columns;
};

namespace ge::capi {
namespace {

constexpr uint32_t kFirstBatchesOptions = sizeof(ge_batches_options);

Result<BatchesOptions> ReadBatchesOptions(const ge_batches_options* given) {
  ge_batches_options o;
  ge_batches_options_init(&o);
  if (given != nullptr) {
    if (given->size < kFirstBatchesOptions) {
      return TooShort("ge_batches_options", given->size, kFirstBatchesOptions);
    }
    std::memcpy(&o, given, std::min<size_t>(given->size, sizeof o));
  }
  BatchesOptions out;
  if (o.entry != nullptr) out.entry = o.entry;
  if (o.batch != 0) out.batch = o.batch;
  if (o.ahead_bytes != 0) out.ahead_bytes = o.ahead_bytes;
  out.ahead = o.ahead;
  out.rows = o.rows;
  out.rank = o.rank;
  out.world = std::max<uint64_t>(o.world, 1);
  out.first = o.first;
  out.limit = o.limit;
  return out;
}

Result<std::unique_ptr<ge_batch>> Lend(std::shared_ptr<const Batch> batch) {
  auto out = std::make_unique<ge_batch>();
  for (size_t i = 0; i < batch->columns.size(); ++i) {
    GE_RETURN_IF_ERROR(CheckRank(static_cast<uint32_t>(i), batch->columns[i]));
    ge_tensor t{};
    t.size = sizeof t;
    WriteOutput(batch->columns[i], &t);
    out->columns.push_back(t);
  }
  out->batch = std::move(batch);
  return out;
}

// Of one thread at a time.
class Taking {
 public:
  explicit Taking(ge_batches* b) : b_(b), mine_(!b->used.exchange(true)) {}
  ~Taking() {
    if (mine_) b_->used.store(false);
  }
  Taking(const Taking&) = delete;
  Taking& operator=(const Taking&) = delete;
  bool ok() const { return mine_; }

 private:
  ge_batches* const b_;
  const bool mine_;
};

Status NextBatch(ge_batches* batches, const ge_run_options* options, ge_batch** out) {
  LimitedCall::Limits limits;
  if (options != nullptr) {
    GE_ASSIGN_OR_RETURN(limits, LimitedCall::Read(options));
  }
  const LimitedCall call(batches->session.get(), limits);
  GE_RETURN_IF_ERROR(CheckInterrupt());
  GE_ASSIGN_OR_RETURN(auto batch, batches->batches->Next());
  if (!batch) return {};
  GE_ASSIGN_OR_RETURN(auto lent, Lend(std::move(batch)));
  *out = lent.release();
  return {};
}

}  // namespace
}  // namespace ge::capi

using namespace ge::capi;  // NOLINT: this file is the C face of it

extern "C" {

void ge_batches_options_init(ge_batches_options* options) {
  if (!options) return;
  *options = {};
  options->size = sizeof *options;
  options->ahead = 2;
}

ge_status ge_batches_create(ge_session* session, const ge_batches_options* options,
                            ge_batches** out, ge_error* error) {
  if (out) *out = nullptr;
  return Guard(error, [&]() -> Status {
    if (!out) return Null("out");
    GE_RETURN_IF_ERROR(GetLoaded(session).status());
    GE_ASSIGN_OR_RETURN(const ge::BatchesOptions wanted, ReadBatchesOptions(options));
    auto made = std::make_unique<ge_batches>();
    made->session = session->session;
    GE_ASSIGN_OR_RETURN(made->batches, ge::Batches::Make(made->session.get(), wanted));
    *out = made.release();
    return {};
  });
}

ge_status ge_batches_next(ge_batches* batches, const ge_run_options* options, ge_batch** out,
                          ge_error* error) {
  if (out) *out = nullptr;
  return Guard(error, [&]() -> Status {
    if (!batches) return Null("batches");
    if (!out) return Null("out");
    const Taking mine(batches);
    if (!mine.ok()) {
      return Status(Code::kFailedPrecondition,
                    "the batches are taken by another thread now; take them by one at a time");
    }
    return NextBatch(batches, options, out);
  });
}

void ge_batches_destroy(ge_batches* batches) { delete batches; }

ge_status ge_batch_columns(const ge_batch* batch, const ge_tensor** out, uint32_t* n_out) {
  return Guard(nullptr, [&]() -> Status {
    if (!batch || !out || !n_out) return Null("batch, out or n_out");
    *out = batch->columns.data();
    *n_out = static_cast<uint32_t>(batch->columns.size());
    return {};
  });
}

uint64_t ge_batch_position(const ge_batch* batch) { return batch ? batch->batch->position : 0; }

void ge_batch_release(ge_batch* batch) { delete batch; }

}  // extern "C"
