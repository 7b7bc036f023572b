#include "tools/ge/train/csv_log.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>

#include "ge/base/read_file.h"
#include "ge/base/replace_file.h"

namespace ge::tool {
namespace {

constexpr std::string_view kHead = "step,loss,correct,rate\n";
constexpr size_t kMostLine = 256;  // bytes; a row of ours has at most 100

// The step of a row "12,0.5,3,0.01\n"; 0 = it is none.
uint64_t StepOf(std::string_view line) {
  uint64_t step = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), step);
  int commas = 0;
  for (const char c : line) commas += c == ',';
  return error == std::errc() && *end == ',' && commas == 3 ? step : 0;
}

// Lines of a file, from its beginning, which a buffer of fixed size reads.
class Lines {
 public:
  explicit Lines(int fd) : fd_(fd) {}
  // False at the end, and where a line is too long or the file cannot be read: `bad` then. The
  // last line may be without its '\n'.
  bool Next(std::string_view* line, bool* bad) {
    for (size_t seen = 0;;) {
      const size_t at = buffer_.find('\n', begin_ + seen);
      if (at != buffer_.npos) return Take(at + 1 - begin_, line);
      seen = buffer_.size() - begin_;
      *bad = seen > kMostLine;
      if (*bad) return false;
      buffer_.erase(0, begin_);
      begin_ = 0;
      char part[1 << 14];
      const ssize_t got = read(fd_, part, sizeof part);
      if (got < 0 && errno == EINTR) continue;
      *bad = got < 0;
      if (got < 0 || (got == 0 && buffer_.empty())) return false;
      if (got == 0) return Take(buffer_.size(), line);
      buffer_.append(part, static_cast<size_t>(got));
    }
  }

 private:
  bool Take(size_t n, std::string_view* line) {
    *line = std::string_view(buffer_).substr(begin_, n);
    begin_ += n;
    return true;
  }

  int fd_;
  std::string buffer_;
  size_t begin_ = 0;
};

}  // namespace

Result<CsvLog> CsvLog::Open(const std::string& path) {
  CsvLog log;
  log.path_ = path;
  struct stat info;
  if (stat(path.c_str(), &info) == 0) {
    GE_ASSIGN_OR_RETURN(log.fd_, OpenForLines(path, &log.own_));
  } else {
    GE_RETURN_IF_ERROR(CheckReplaceable(path));
  }
  return log;
}

// How much of the file is the head and rows up to the step.
Result<uint64_t> CsvLog::KeptBytes(uint64_t step) const {
  GE_ASSIGN_OR_RETURN(const RegularFile file, OpenRegularFile(path_));
  Lines lines(file.fd.get());
  std::string_view line;
  bool bad = false;
  uint64_t kept = 0, number = 0;
  while (lines.Next(&line, &bad)) {
    ++number;
    const uint64_t at = StepOf(line);
    if (line.back() != '\n' && number > 1) return kept;  // of a row that was not finished
    if (number == 1 ? line != kHead : at == 0) {
      bad = true;
      break;
    }
    if (at > step) return kept;
    kept += line.size();
  }
  if (!bad) return kept;
  return Status(Code::kInvalidArgument,
                fmt::format("'{}' is no log of ge train that could go on: line {} is none of its "
                            "rows; give --log csv: another file",
                            path_, std::max<uint64_t>(number, 1)));
}

Status CsvLog::Begin(uint64_t step) {
  if (!fd_.valid()) {
    GE_ASSIGN_OR_RETURN(fd_, OpenForLines(path_, &own_));
  }
  const auto failed = [&](int error) {
    return Status(Code::kIoError, fmt::format("cannot write '{}': {}", path_, strerror(error)));
  };
  struct stat info;
  if (fstat(fd_.get(), &info) != 0) return failed(errno);
  // What is no regular file has no rows to go on behind, and what lies in stdout is not ours.
  if (!S_ISREG(info.st_mode) || own_) return Write(std::string(kHead));
  uint64_t kept = 0;
  if (step > 0 && info.st_size > 0) {
    GE_ASSIGN_OR_RETURN(kept, KeptBytes(step));
  }
  if (ftruncate(fd_.get(), static_cast<off_t>(kept)) != 0) return failed(errno);
  if (lseek(fd_.get(), 0, SEEK_END) < 0) return failed(errno);
  return kept > 0 ? Status() : Write(std::string(kHead));
}

Status CsvLog::Row(uint64_t step, const Metrics& metrics) {
  return Write(fmt::format("{},{},{},{}\n", step, metrics.loss, metrics.correct, metrics.rate));
}

Status CsvLog::Write(const std::string& line) {
  const int error = WriteBytes(fd_.get(), line);
  if (error == 0) return {};
  return Status(Code::kIoError, fmt::format("cannot write '{}': {}", path_, strerror(error)));
}

}  // namespace ge::tool
