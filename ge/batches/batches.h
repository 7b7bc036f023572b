// Batches: the rows of a data entry, batch by batch, made ahead of who takes them. The entry is a
// function of global positions, i64[n] -> columns [n, ...], so a batch made ahead is a cache: it is
// never saved, and a place to go on is a number. Rows are made by runs of a few rows each, by the
// threads that are free: some that sleep while enough is made, and the one that waits. One thread
// takes; any thread may release a batch.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "ge/base/aligned.h"
#include "ge/base/interrupt.h"
#include "ge/base/status.h"
#include "ge/session/session.h"

namespace ge {

struct BatchesOptions {
  std::string entry = "data";
  uint64_t batch = 64;  // rows, of all ranks together
  uint64_t ahead = 2;   // batches that are made before somebody wants them
  uint64_t ahead_bytes = uint64_t{1}
                         << 30;  // of all batches made ahead; fewer are made, at least one
  // Of one run; 0: what takes about a millisecond. `batch` where an entry looks across rows.
  uint64_t rows = 0;
  // Which slice of each batch: slices are rounded up, the last ones smaller or empty.
  uint64_t rank = 0, world = 1;
  uint64_t first = 0;  // position of the first row
  uint64_t limit = 0;  // rows in all, the last batch may be shorter; 0: no end
};

// The columns of one batch, this rank's rows. They stay as they are while somebody has it.
struct Batch {
  uint64_t position = 0;            // of the batch's first row, of all ranks
  uint64_t rows = 0;                // this rank's
  std::vector<TensorView> columns;  // by result of the entry; memory of the batch's own
  std::vector<AlignedBytes> memory;
};

class Batches {
 public:
  // INVALID_ARGUMENT: no such entry, not of that form, sizes that do not go together. UNSUPPORTED:
  // columns whose rows have no one shape. The entry is planned, and a few rows are made and
  // dropped.
  static Result<std::unique_ptr<Batches>> Make(Session* session, const BatchesOptions& options);
  ~Batches();
  Batches(const Batches&) = delete;
  Batches& operator=(const Batches&) = delete;

  // The next batch, or null at the end. After a failure the same batch is made again by the next
  // call. CANCELLED and DEADLINE_EXCEEDED as the calling thread's call says.
  Result<std::shared_ptr<const Batch>> Next();
  const std::vector<std::string>& names() const { return names_; }  // of the columns
  uint64_t rows_a_run() const { return rows_; }
  // Time that Next has waited for rows, and made some itself, of all calls.
  uint64_t waited_ns() const { return waited_ns_; }
  uint64_t slot_bytes();  // of all batches that there are
  // Runs that may be in flight at once: of the threads, and the one that waits.
  uint64_t runs_at_once() const { return threads_.size() + 1; }

 private:
  struct Work {
    uint64_t number = 0;
    std::shared_ptr<Batch> batch;
    uint64_t first = 0;  // position of this rank's first row
    uint64_t runs = 0, begun = 0, done = 0;
    Status failed;
  };
  Batches() = default;
  Status Prepare();
  Status ChooseRows();
  Status WantRowsAlone();  // that runs of few rows give what one of many gives
  Status RunRows(uint64_t first, uint64_t n, const std::vector<TensorView>& to, uint64_t row);
  Status RunPart(const Work& work, uint64_t part);
  std::shared_ptr<Batch> FreeBatch();
  bool MayOpen() const;  // there is one more to make
  void Open();
  Work* Claim(uint64_t* part, bool only_front);
  void Finish(Work* work, const Status& status);
  void Fill(const Interrupt* interrupt);  // of a thread
  void StartThreads(uint64_t batch_ns);
  uint64_t RowsOf(uint64_t number) const;  // of all ranks; 0: behind the end

  Session* session_ = nullptr;  // outlives it
  BatchesOptions options_;
  std::vector<std::string> names_;
  std::vector<TensorView> row_;   // dtype and dims of one row of each column; bytes of it
  uint64_t rows_ = 0, most_ = 0;  // of a run; this rank's of a whole batch
  bool alone_ = false;            // the entry has effects: nothing is made ahead
  uint64_t waited_ns_ = 0, taken_ = 0;
  uint64_t cheapest_ns_ = UINT64_MAX;  // of the batches that Next made alone

  std::mutex mutex_;
  std::condition_variable work_, done_;
  std::deque<Work> queue_;  // in order; the front is the next to be taken
  std::vector<std::shared_ptr<Batch>> batches_;
  uint64_t next_ = 0;  // number of the next batch to open
  bool stop_ = false;
  std::vector<std::unique_ptr<Interrupt>> interrupts_;
  std::vector<std::thread> threads_;
};

}  // namespace ge
