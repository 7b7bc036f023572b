// Batches: a Python iterator over the batches of a data entry. With the GIL held; one thread at a
// time, others are refused.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <vector>

#include "call.h"
#include "ge/ge.h"

namespace graphengine {

class Batches {
 public:
  // `words`: the fields of ge_batches_options. Throws graphengine.Error.
  Batches(std::shared_ptr<Handle> session, std::shared_ptr<const EntryPorts> entry,
          const nanobind::kwargs& words);
  Batches(const Batches&) = delete;
  Batches& operator=(const Batches&) = delete;
  ~Batches();

  // Arrays by column; their memory is written again once all of them are gone. Throws
  // StopIteration at the end.
  nanobind::object Next();

 private:
  std::shared_ptr<Handle> session_;
  std::vector<std::string> names_;
  ge_batches* batches_ = nullptr;
};

}  // namespace graphengine
