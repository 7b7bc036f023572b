// Which reader takes a path, and sources that several nodes share.
#include <fmt/format.h>

#include <algorithm>
#include <list>
#include <mutex>

#include "passes/data/sources/file.h"
#include "passes/data/sources/readers.h"

namespace ge::data {
namespace {

struct Kind {
  std::string_view ending;
  Reader open;
};
// The endings of names, and who reads such files.
constexpr Kind kKinds[] = {
    {".npy", OpenNpy},
};

std::string KnownEndings() {
  std::string out;
  for (const Kind& k : kKinds) out += fmt::format("{}{}", out.empty() ? "" : ", ", k.ending);
  return out;
}

// The sources opened last, for nodes of one pipeline and of sessions beside each other. A source
// whose files have changed is opened again.
class Shared {
 public:
  std::shared_ptr<const Source> Open(const std::string& path, const OpenOptions& options) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const FileState state = StateOf(path);
    const auto same = [&](const Item& i) { return i.path == path; };
    const auto at = std::find_if(items_.begin(), items_.end(), same);
    if (at != items_.end() && at->state == state) {
      items_.splice(items_.begin(), items_, at);
      return at->source;
    }
    if (at != items_.end()) items_.erase(at);
    auto source = OpenSource(path, options);
    items_.push_front({path, state, source});
    if (items_.size() > kMost) items_.pop_back();
    return source;
  }

 private:
  static constexpr size_t kMost = 8;
  struct Item {
    std::string path;
    FileState state;
    std::shared_ptr<const Source> source;
  };
  std::mutex mutex_;
  std::list<Item> items_;  // the one used last first
};

}  // namespace

std::shared_ptr<const Source> OpenSource(const std::string& path, const OpenOptions& options) {
  for (const Kind& k : kKinds) {
    if (path.ends_with(k.ending)) return k.open(path, options);
  }
  StateOf(path);  // a path that is not there is the likelier mistake
  throw Refusal{GE_INVALID_ARGUMENT,
                fmt::format("'{}' is of no known kind; wanted a name that ends with {}", path,
                            KnownEndings())};
}

std::shared_ptr<const Source> SharedSource(const std::string& path, const std::string& digest,
                                           const OpenOptions& options) {
  static Shared shared;
  auto source = shared.Open(path, options);
  if (digest.empty() || digest == source->digest()) return source;
  throw Refusal{
      GE_FAILED_PRECONDITION,
      fmt::format("'{}' has changed: its digest is {}, the pipeline was made for {}; make "
                  "the pipeline again, or bring the data back",
                  path, source->digest(), digest)};
}

}  // namespace ge::data
