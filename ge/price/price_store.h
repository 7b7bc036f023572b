// PriceStore: the file of this machine's prices among processes that read it, append to it and sort
// it. Readers take no lock and keep what they opened. A writer appends records under the lock of
// the file, which it holds for one write. Who finds the tail long sorts the file beside its runs: a
// new one takes the path, with what was appended meanwhile. A process may be killed at any time;
// then some rows are not kept, and none counts twice. Without a cache folder nothing is kept.
// Thread-safe but for the destructor.
#pragma once

#include <memory>
#include <string>
#include <thread>

#include "ge/host/probe.h"
#include "ge/price/price_file.h"
#include "ge/price/prior_fit.h"

namespace ge {

class PriceStore {
 public:
  // Rows kept; the oldest go first. At most 16 MiB of records; most have about 250 bytes.
  static constexpr size_t kMostRows = 20'000;
  // A longer tail is sorted in. It is read at each start: 100 KiB take about 0.3 ms.
  static constexpr uint64_t kLongTail = uint64_t{96} << 10;

  // `machine` gives cpu, isa and threads.
  explicit PriceStore(const MachineRecord& machine);
  // Waits for SortBeside, some ten milliseconds at most.
  ~PriceStore();
  PriceStore(const PriceStore&) = delete;
  PriceStore& operator=(const PriceStore&) = delete;

  // The file as it is now; null where there is none that can be used. A damaged one is put aside,
  // and made anew of the records in it.
  std::unique_ptr<PriceFile> Open();
  // Whether the records stand in the file now. Nothing but what is told of at level 2 stops it.
  bool Append(const std::string& records);
  // Sorts the file, with more records, whole ones. False where another process is at it for longer
  // than `wait_ms`, or it cannot be written; then these are not in it. `priors`: to keep what rows
  // are beyond them.
  bool Sort(PriorFit priors, const std::string& more = "", double wait_ms = 0);
  // The same on a thread of its own, once; failure is no error.
  void SortBeside(const PriorFit& priors);

  // The path of the file without a folder, with another ending for files of releases before.
  std::string Name(const char* ending = ".rows") const;

 private:
  enum class Appended { kDone, kNot, kCut };  // kCut: the file, so that the tail would not be found
  Appended TryAppend(const std::string& path, const std::string& records);

  const MachineRecord machine_;
  std::thread sorter_;
};

}  // namespace ge
