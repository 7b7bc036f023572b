// Lines of text: column text, a row a line, without its end.
#include <cstring>

#include "passes/data/sources/readers.h"

namespace ge::data {
namespace {

class LineSource final : public Source {
 public:
  LineSource(const std::string& path, const OpenOptions& options) : file_(MappedData::Open(path)) {
    path_ = path;
    Watch(path, file_->state());
    columns_.push_back({.name = "text", .kind = Column::Kind::kText});
    const auto* text = reinterpret_cast<const char*>(file_->bytes().data());
    const uint64_t bytes = file_->bytes().size();
    for (uint64_t at = 0; at < bytes;) {
      if (ends_.size() % 4096 == 0) CheckStop(options);
      const void* end = std::memchr(text + at, '\n', bytes - at);
      at = end == nullptr ? bytes : static_cast<uint64_t>(static_cast<const char*>(end) - text) + 1;
      ends_.push_back(at);
    }
    rows_ = static_cast<int64_t>(ends_.size());
    Digest digest(options.stop);
    digest.Content(file_->bytes());
    digest_ = digest.Hex();
  }

  void Read(size_t, std::span<const int64_t>, std::byte*) const override {
    throw Refusal{GE_INTERNAL, "a text is no array"};
  }
  Blob ReadBlob(size_t, int64_t row) const override {
    file_->Check();
    const auto i = static_cast<size_t>(row);
    const uint64_t from = i == 0 ? 0 : ends_[i - 1];
    auto line = file_->bytes().subspan(from, ends_[i] - from);
    if (!line.empty() && line.back() == std::byte{'\n'}) line = line.first(line.size() - 1);
    if (!line.empty() && line.back() == std::byte{'\r'}) line = line.first(line.size() - 1);
    return {.bytes = line, .held = {}};
  }

 private:
  std::shared_ptr<const MappedData> file_;
  std::vector<uint64_t> ends_;  // by row, behind the line's end
};

}  // namespace

std::shared_ptr<Source> OpenLines(const std::string& path, const OpenOptions& options) {
  return std::make_shared<LineSource>(path, options);
}

}  // namespace ge::data
