// CsvLog: the .csv of --log, a line for each step, written as soon as the step is done. A resumed
// run continues the file from the checkpoint's step. One thread.
#pragma once

#include <cstdint>
#include <string>

#include "ge/base/descriptor.h"
#include "ge/base/status.h"
#include "tools/ge/train/trained_net.h"

namespace ge::tool {

class CsvLog {
 public:
  // Before the work: tests that the file is writable and changes nothing in it. A device is
  // written; a FIFO needs a reader. IO_ERROR.
  static Result<CsvLog> Open(const std::string& path);
  // At the work's beginning, before the first line. Keeps rows up to this step; 0: none, as in a
  // new file. INVALID_ARGUMENT, with the line, if a file to continue is no such log.
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
