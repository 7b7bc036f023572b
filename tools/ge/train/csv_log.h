// The .csv of --log: a line for each step, in the file as soon as the step is done. A run that goes
// on takes the file up where the checkpoint was made. One thread.
#pragma once

#include <cstdint>
#include <string>

#include "ge/base/descriptor.h"
#include "ge/base/status.h"
#include "tools/ge/train/trained_net.h"

namespace ge::tool {

class CsvLog {
 public:
  // Before the work: that it can be written; nothing of what is there changes. A device is written;
  // a FIFO wants a reader. IO_ERROR.
  static Result<CsvLog> Open(const std::string& path);
  // At the work's beginning, before the first line. Rows up to this step stay in the file; 0: none,
  // as in a new one. INVALID_ARGUMENT, with the line, where it is to go on and is no such log.
  Status Begin(uint64_t step);
  Status Row(uint64_t step, const Metrics& metrics);

 private:
  Status Write(const std::string& line);
  Result<uint64_t> KeptBytes(uint64_t step) const;

  std::string path_;
  Descriptor fd_;
  bool own_ = false;  // an open file of this process, as /dev/stdout
};

}  // namespace ge::tool
