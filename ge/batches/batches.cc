#include "ge/batches/batches.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>

#include "ge/base/checked.h"
#include "ge/base/clock.h"
#include "ge/base/log.h"
#include "ge/host/machine.h"

namespace ge {
namespace {

constexpr uint64_t kRunNs = 1'000'000;  // of one run: threads share a batch, and calls cost little
constexpr uint64_t kWakeNs = 100'000;   // of a sleeping thread, on virtual machines
constexpr uint64_t kMostRows = 1u << 24;  // of a batch
constexpr uint64_t kProbeRows = 4, kColdBatches = 4;

Status Bad(std::string text) { return Status(Code::kInvalidArgument, std::move(text)); }

// Where a rank's slice of so many rows begins. Sizes are rounded up, the last ones are smaller or
// empty.
uint64_t FirstOf(const BatchesOptions& o, uint64_t rows, uint64_t rank) {
  return std::min(rows, (rows + o.world - 1) / o.world * rank);
}

Status CheckOptions(const BatchesOptions& o) {
  if (o.world == 0 || o.rank >= o.world) {
    return Bad(
        fmt::format("rank is {} of world {}; wanted a rank below the world", o.rank, o.world));
  }
  if (o.batch == 0 || o.batch > kMostRows || FirstOf(o, o.batch, o.world - 1) == o.batch) {
    return Bad(fmt::format("batch is {} with world {}; wanted 1 to {} rows, some for each rank",
                           o.batch, o.world, kMostRows));
  }
  if (o.rows > o.batch) {
    return Bad(fmt::format("rows of a run are {}, a batch has {}", o.rows, o.batch));
  }
  constexpr uint64_t kMost = uint64_t{1} << 62;
  if (o.first > kMost || o.limit > kMost) {
    return Bad(fmt::format("first is {} and limit {}; wanted at most 2^62", o.first, o.limit));
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Batches>> Batches::Make(Session* session, const BatchesOptions& options) {
  GE_RETURN_IF_ERROR(CheckOptions(options));
  std::unique_ptr<Batches> out(new Batches);
  out->session_ = session;
  out->options_ = options;
  out->most_ = (options.batch + options.world - 1) / options.world;
  GE_RETURN_IF_ERROR(out->Prepare());
  return out;
}

// Finds what the columns are, by a run of few rows.
Status Batches::Prepare() {
  GE_ASSIGN_OR_RETURN(const Entry* entry, session_->FindEntry(options_.entry));
  const Function& f = session_->graph().fn(entry->fn);
  const auto position = [&] {
    if (f.params.size() != 1) return false;
    const Type& t = f.value(f.params[0]).type;
    return t.kind == TypeKind::kTensor && t.dtype == DType::kInt64 && t.ranked &&
           t.dims.size() == 1 && !t.dims[0].known();
  };
  if (!position()) {
    return Bad(
        fmt::format("entry '{}' is no data entry: wanted one input, i64[n], the positions of "
                    "rows",
                    entry->name));
  }
  alone_ = !f.effects.empty();
  if (alone_) options_.ahead = 0;
  for (const ValueId v : f.results) names_.push_back(f.value(v).name);
  const uint64_t n = alone_ ? most_ : std::min(kProbeRows, most_);
  const std::vector<int64_t> positions(n, static_cast<int64_t>(options_.first));
  const TensorView in{
      DType::kInt64, {static_cast<int64_t>(n)}, const_cast<int64_t*>(positions.data()), n * 8};
  GE_ASSIGN_OR_RETURN(const auto compiled, session_->Compile(options_.entry, std::span(&in, 1)));
  uint64_t bytes = 0;
  for (const Compiled::Port& port : compiled->outputs) {
    if (port.dims.empty() || port.dims[0] != static_cast<int64_t>(n)) {
      return Status(
          Code::kUnsupported,
          fmt::format("column '{}' of entry '{}' is {}[{}] for {} rows; wanted rows along "
                      "the first axis",
                      port.name, entry->name, DTypeName(port.dtype), fmt::join(port.dims, ","), n));
    }
    TensorView row{port.dtype, {port.dims.begin() + 1, port.dims.end()}, nullptr, port.bytes / n};
    bytes += row.bytes * most_;
    row_.push_back(std::move(row));
  }
  const uint64_t fit = options_.ahead_bytes / std::max<uint64_t>(bytes, 1);
  options_.ahead = std::min(options_.ahead, std::max<uint64_t>(fit, 1));
  return ChooseRows();
}

Status Batches::ChooseRows() {
  rows_ = alone_ ? most_ : std::min(options_.rows, most_);
  if (rows_ > 0) return {};
  uint64_t n = std::min(kProbeRows, most_), least = 0;
  {
    const auto scratch = FreeBatch();
    if (!scratch) return Status(Code::kResourceExhausted, "no memory for a batch");
    // A run has a price of its own, which rows must be worth.
    for (;; n = std::min(kProbeRows * n, most_)) {
      least = UINT64_MAX;
      for (int i = 0; i < 2; ++i) {  // the first one plans and touches memory
        const uint64_t begin = NowNs();
        GE_RETURN_IF_ERROR(RunRows(options_.first, n, scratch->columns, 0));
        least = std::min(least, NowNs() - begin);
      }
      if (n == most_ || kProbeRows * least > kRunNs) break;
    }
  }
  rows_ = std::clamp<uint64_t>(kRunNs * n / std::max<uint64_t>(least, 1), 1, most_);
  const uint64_t runs = (most_ + rows_ - 1) / rows_;
  rows_ = (most_ + runs - 1) / runs;  // about equal ones
  return runs > 1 ? WantRowsAlone() : Status();
}

Status Batches::WantRowsAlone() {
  const uint64_t n = std::min(rows_, most_ / 2);
  const auto whole = FreeBatch(), parts = FreeBatch();
  if (!whole || !parts) return Status(Code::kResourceExhausted, "no memory for two batches");
  GE_RETURN_IF_ERROR(RunRows(options_.first, 2 * n, whole->columns, 0));
  GE_RETURN_IF_ERROR(RunRows(options_.first, n, parts->columns, 0));
  GE_RETURN_IF_ERROR(RunRows(options_.first + n, n, parts->columns, n));
  for (size_t i = 0; i < row_.size(); ++i) {
    if (std::memcmp(whole->columns[i].data, parts->columns[i].data, 2 * n * row_[i].bytes) == 0) {
      continue;
    }
    LogLine(1, fmt::format("entry '{}' looks across rows (column '{}' is another for {} rows than "
                           "for {}): each batch is made by one run",
                           options_.entry, names_[i], 2 * n, n));
    rows_ = most_;
    break;
  }
  return {};
}

// Rows [first, first + n) into rows from `row` on.
Status Batches::RunRows(uint64_t first, uint64_t n, const std::vector<TensorView>& to,
                        uint64_t row) {
  std::vector<int64_t> positions(n);
  for (uint64_t i = 0; i < n; ++i) positions[i] = static_cast<int64_t>(first + i);
  const std::vector<TensorView> in = {
      {DType::kInt64, {static_cast<int64_t>(n)}, positions.data(), n * 8}};
  std::vector<TensorView> out;
  for (size_t i = 0; i < to.size(); ++i) {
    TensorView t = to[i];
    t.dims[0] = static_cast<int64_t>(n);
    t.data = static_cast<std::byte*>(to[i].data) + row * row_[i].bytes;
    t.bytes = n * row_[i].bytes;
    out.push_back(std::move(t));
  }
  return session_->Run(options_.entry, in, out);
}

Status Batches::RunPart(const Work& work, uint64_t part) {
  const uint64_t row = part * rows_;
  const uint64_t n = std::min(rows_, work.batch->rows - row);
  return RunRows(work.first + row, n, work.batch->columns, row);
}

uint64_t Batches::RowsOf(uint64_t number) const {
  const uint64_t begin = number * options_.batch;
  if (options_.limit == 0) return options_.batch;
  return begin >= options_.limit ? 0 : std::min(options_.batch, options_.limit - begin);
}

// One that nobody has, or a new one; null without memory.
std::shared_ptr<Batch> Batches::FreeBatch() {
  for (const auto& b : batches_) {
    if (b.use_count() != 1) continue;
    std::atomic_thread_fence(std::memory_order_acquire);  // behind its last reader
    return b;
  }
  auto made = std::make_shared<Batch>();
  for (const TensorView& row : row_) {
    TensorView t = row;
    t.dims.insert(t.dims.begin(), static_cast<int64_t>(most_));
    t.bytes = row.bytes * most_;
    made->memory.push_back(AllocateAligned(std::max<uint64_t>(t.bytes, 1), 64));
    if (!made->memory.back()) return nullptr;
    t.data = made->memory.back().get();
    made->columns.push_back(std::move(t));
  }
  batches_.push_back(made);
  return made;
}

uint64_t Batches::slot_bytes() {
  const std::lock_guard<std::mutex> lock(mutex_);
  uint64_t each = 0;
  for (const TensorView& row : row_) each += row.bytes * most_;
  return each * batches_.size();
}

bool Batches::MayOpen() const { return RowsOf(next_) > 0; }

void Batches::Open() {
  Work work;
  work.number = next_;
  work.batch = FreeBatch();
  const uint64_t begin = options_.first + next_ * options_.batch, all = RowsOf(next_);
  ++next_;
  if (!work.batch) {
    work.failed = Status(Code::kResourceExhausted, "no memory for a batch");
    work.batch = std::make_shared<Batch>();
    queue_.push_back(std::move(work));
    return;
  }
  Batch& b = *work.batch;
  const uint64_t from = FirstOf(options_, all, options_.rank);
  b.position = begin;
  b.rows = FirstOf(options_, all, options_.rank + 1) - from;
  for (size_t i = 0; i < b.columns.size(); ++i) {
    b.columns[i].dims[0] = static_cast<int64_t>(b.rows);
    b.columns[i].bytes = b.rows * row_[i].bytes;
  }
  work.first = begin + from;
  work.runs = (b.rows + rows_ - 1) / rows_;
  queue_.push_back(std::move(work));
}

// A run that nobody makes yet, of the oldest batch that has one.
Batches::Work* Batches::Claim(uint64_t* part, bool only_front) {
  for (Work& w : queue_) {
    if (w.failed.ok() && w.begun < w.runs) {
      *part = w.begun++;
      return &w;
    }
    if (only_front) return nullptr;
  }
  return nullptr;
}

void Batches::Finish(Work* work, const Status& status) {
  ++work->done;
  if (!status.ok() && work->failed.ok()) work->failed = status;
  const bool ended = work->failed.ok() ? work->done == work->runs : work->done == work->begun;
  if (ended) done_.notify_all();
}

void Batches::Fill(const Interrupt* interrupt) {
  const InterruptScope scope(interrupt);
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    uint64_t part = 0;
    Work* work = nullptr;
    work_.wait(lock, [&] {
      if (stop_) return true;
      work = Claim(&part, false);
      if (work == nullptr && queue_.size() < options_.ahead && MayOpen()) {
        Open();
        work = Claim(&part, false);
      }
      return work != nullptr;
    });
    if (stop_) return;
    lock.unlock();
    const Status status = RunPart(*work, part);
    lock.lock();
    Finish(work, status);
  }
}

// Once it is known what a batch costs: where that is less than to wake a thread, nobody is woken.
// The first ones touch memory and files for the first time.
void Batches::StartThreads(uint64_t batch_ns) {
  if (options_.ahead == 0 || !threads_.empty()) return;
  cheapest_ns_ = std::min(cheapest_ns_, batch_ns);
  if (cheapest_ns_ < (taken_ < kColdBatches ? 10 * kWakeNs : kWakeNs)) return;
  const uint32_t n = std::max(1u, CurrentProcessFacts().threads);
  for (uint32_t i = 0; i < n; ++i) {
    interrupts_.push_back(std::make_unique<Interrupt>());
    threads_.emplace_back([this, at = interrupts_.back().get()] { Fill(at); });
  }
}

Result<std::shared_ptr<const Batch>> Batches::Next() {
  const uint64_t begin = NowNs();
  std::unique_lock<std::mutex> lock(mutex_);
  if (queue_.empty()) {
    if (!MayOpen()) return std::shared_ptr<const Batch>();
    Open();
  }
  Work& front = queue_.front();
  while (front.failed.ok() ? front.done < front.runs : front.done < front.begun) {
    uint64_t part = 0;
    if (Claim(&part, true) != nullptr) {
      lock.unlock();
      const Status status = RunPart(front, part);
      lock.lock();
      Finish(&front, status);
    } else {
      done_.wait_for(lock, std::chrono::milliseconds(10));
    }
    if (Interrupted() && front.failed.ok()) return CheckInterrupt();
  }
  waited_ns_ += NowNs() - begin;
  if (!front.failed.ok()) {
    Status failed = std::move(front.failed);
    next_ = front.number;  // it and those behind it are made again
    const auto idle = [](const Work& w) { return w.begun == w.done; };
    done_.wait(lock, [&] {
      for (Work& w : queue_) w.failed = w.failed.ok() ? failed : w.failed;
      return std::all_of(queue_.begin(), queue_.end(), idle);
    });
    queue_.clear();
    return failed;
  }
  std::shared_ptr<const Batch> out = std::move(front.batch);
  queue_.pop_front();
  ++taken_;
  StartThreads(NowNs() - begin);
  lock.unlock();
  work_.notify_all();
  return out;
}

Batches::~Batches() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
    for (const auto& i : interrupts_) i->Cancel();
  }
  work_.notify_all();
  for (std::thread& t : threads_) t.join();
}

}  // namespace ge
