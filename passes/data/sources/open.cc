// Which reader takes a path, and sources that several nodes share.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <list>
#include <mutex>
#include <utility>

#include "passes/data/sources/file.h"
#include "passes/data/sources/gerec.h"
#include "passes/data/sources/readers.h"

namespace ge::data {
namespace {

struct Kind {
  std::string_view ending;
  Reader open;
  bool parts = false;  // such a file may have a training and a test part
};
// The endings of names, and who reads such files.
constexpr Kind kKinds[] = {
    {".npy", OpenNpy},     {".npz", OpenNpz, true}, {".bin", OpenCifar}, {".idx", OpenIdx},
    {"-ubyte", OpenIdx},   {"-ubyte.gz", OpenIdx},  {".csv", OpenCsv},   {".tsv", OpenTsv},
    {".jsonl", OpenJsonl}, {".txt", OpenLines},     {".tar", OpenTar},   {".gerec", OpenGerec},
};
constexpr Kind kFolder = {"/", OpenFolder, true};

std::string KnownEndings() {
  std::string out;
  for (const Kind& k : kKinds) out += fmt::format("{}{}", out.empty() ? "" : ", ", k.ending);
  return out;
}

const Kind& KindOf(const std::string& path) {
  if (IsFolder(path)) return kFolder;
  for (const Kind& k : kKinds) {
    if (path.ends_with(k.ending)) return k;
  }
  StateOf(path);  // a path that is not there is the likelier mistake
  throw Refusal{
      GE_INVALID_ARGUMENT,
      fmt::format("'{}' is of no known kind; wanted a folder, or a name that ends with {}", path,
                  KnownEndings())};
}

// UTF-8 of RFC 3629 without control characters: names of columns are printed and become names of
// values.
bool IsPlainText(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const auto c = static_cast<uint8_t>(text[i++]);
    if (c < 0x20 || c == 0x7f || (c >= 0x80 && c < 0xc2) || c > 0xf4) return false;
    const int more = c < 0x80 ? 0 : c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
    for (int k = 0; k < more; ++k) {
      if (i == text.size()) return false;
      const auto n = static_cast<uint8_t>(text[i++]);
      // Overlong forms, surrogates, and what is beyond U+10FFFF.
      const uint8_t least = k > 0 ? 0x80 : c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80;
      const uint8_t most = k > 0 ? 0xbf : c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;
      if (n < least || n > most) return false;
    }
  }
  return !text.empty();
}

constexpr size_t kLongestName = 1000;

void WantNames(const Source& source) {
  for (const Column& c : source.columns()) {
    if (c.name.size() <= kLongestName && IsPlainText(c.name)) continue;
    throw Refusal{
        GE_DATA_LOSS,
        fmt::format("'{}': the column '{}' has a name of {} bytes, wanted 1 to {} of UTF-8 "
                    "without control characters",
                    source.path(), Shown(c.name), c.name.size(), kLongestName)};
  }
}

// What has bytes has no more rows than those; of nothing a small file may claim any number.
void WantBytes(const Source& source) {
  const auto& all = source.columns();
  const bool some = std::any_of(all.begin(), all.end(), [](const Column& c) {
    return c.kind != Column::Kind::kArray || c.row_bytes() > 0;
  });
  if (some || source.rows() == 0) return;
  throw Refusal{GE_INVALID_ARGUMENT,
                fmt::format("'{}' has {} rows of nothing: no column has a number in a row; wanted "
                            "axes of sizes above 0",
                            source.path(), source.rows())};
}

// A data set of a Debian package, by the package's name.
constexpr std::string_view kFashion = "fashion-mnist",
                           kFashionFolder = "/usr/share/datasets/fashion-mnist";

std::string PathOf(const std::string& name) {
  if (name != kFashion) return name;
  std::string folder(kFashionFolder);
  if (IsFolder(folder)) return folder;
  throw Refusal{GE_NOT_FOUND,
                fmt::format("there is no '{}'; apt-get install dataset-fashion-mnist", folder)};
}

constexpr int64_t kMostFiles = 100'000;

// a-{00..07}.tar -> a-00.tar ... a-07.tar; a path without such a range alone.
std::vector<std::string> Expand(const std::string& path) {
  const size_t open = path.find('{'), dots = path.find("..", open), close = path.find('}', dots);
  if (open == std::string::npos || dots == std::string::npos || close == std::string::npos) {
    return {path};
  }
  const auto number = [&](size_t at, size_t end, int64_t* n) {
    const auto r = std::from_chars(path.data() + at, path.data() + end, *n);
    return r.ec == std::errc() && r.ptr == path.data() + end && *n >= 0;
  };
  int64_t first = 0, last = 0;
  if (!number(open + 1, dots, &first) || !number(dots + 2, close, &last)) return {path};
  if (last < first || last - first >= kMostFiles) {
    throw Refusal{GE_INVALID_ARGUMENT,
                  fmt::format("'{}' names files {} to {}; wanted 1 to {} of them", path, first,
                              last, kMostFiles)};
  }
  std::vector<std::string> out;
  for (int64_t i = first; i <= last; ++i) {
    out.push_back(fmt::format("{}{:0{}}{}", path.substr(0, open), i, dots - open - 1,
                              path.substr(close + 1)));
  }
  return out;
}

// PATH#test -> PATH and its part.
std::string CutPart(const std::string& path, OpenOptions* options) {
  for (const auto& [ending, part] :
       {std::pair<std::string_view, Part>{"#test", Part::kTest}, {"#train", Part::kTrain}}) {
    if (!path.ends_with(ending)) continue;
    options->part = part;
    return path.substr(0, path.size() - ending.size());
  }
  return path;
}

// The sources opened last, for nodes of one pipeline and of sessions beside each other. A source
// whose files have changed is opened again.
class Shared {
 public:
  std::shared_ptr<const Source> Open(const std::string& path, const std::string& digest,
                                     const OpenOptions& options) {
    std::unique_lock<std::timed_mutex> lock(mutex_, std::defer_lock);
    while (!lock.try_lock_for(std::chrono::milliseconds(20))) CheckStop(options);
    const auto same = [&](const Item& i) { return i.path == path; };
    const auto at = std::find_if(items_.begin(), items_.end(), same);
    const bool known = at != items_.end() && digest == at->source->digest();
    if (at != items_.end() && (IsAsItWas(*at->source) || (known && StillHas(*at->source)))) {
      items_.splice(items_.begin(), items_, at);
      return at->source;
    }
    if (at != items_.end()) items_.erase(at);
    auto source = OpenSource(path, options);
    items_.push_front({path, source});
    if (items_.size() > kMost) items_.pop_back();
    return source;
  }

 private:
  static constexpr size_t kMost = 8;
  struct Item {
    std::string path;
    std::shared_ptr<const Source> source;
  };
  static bool IsAsItWas(const Source& source) {
    return std::all_of(source.watched().begin(), source.watched().end(), [](const Watched& w) {
      if (IsFolder(w.path)) return FolderState(w.path) == w.state;
      return IsFile(w.path) && StateOf(w.path) == w.state;
    });
  }
  // Files that were removed or replaced: they are mapped, and so the source has them as they were.
  static bool StillHas(const Source& source) {
    return std::all_of(source.watched().begin(), source.watched().end(), [](const Watched& w) {
      if (IsFolder(w.path)) return FolderState(w.path) == w.state;
      if (!IsFile(w.path)) return true;
      const FileState now = StateOf(w.path);
      return now == w.state || now.device != w.state.device || now.inode != w.state.inode;
    });
  }
  std::timed_mutex mutex_;  // held while a source is opened, so that it is opened once
  std::list<Item> items_;   // the one used last first
};

}  // namespace

void RefusePart(const std::string& path, Part part, std::string_view has) {
  throw NoSuchPart{{GE_NOT_FOUND, fmt::format("'{}' has no {} part; it has {}", path,
                                              part == Part::kTest ? "test" : "training", has)}};
}

std::shared_ptr<const Source> OpenSource(const std::string& path, const OpenOptions& options) {
  OpenOptions own = options;
  const std::string file = PathOf(CutPart(path, &own));
  const auto files = Expand(file);
  std::shared_ptr<Source> source;
  if (files.size() > 1 || files[0] != file) {
    source = OpenConcat(files, own);
  } else {
    const Kind& kind = KindOf(file);
    if (own.part != Part::kAny && !kind.parts) {
      RefusePart(file, own.part, "rows without parts; name the file of the other part");
    }
    source = kind.open(file, own);
  }
  source->SetPath(path);
  WantNames(*source);
  WantBytes(*source);
  return source;
}

std::shared_ptr<const Source> SharedSource(const std::string& path, const std::string& digest,
                                           const OpenOptions& options) {
  static Shared shared;
  auto source = shared.Open(path, digest, options);
  if (digest.empty() || digest == source->digest()) return source;
  throw Refusal{
      GE_FAILED_PRECONDITION,
      fmt::format("'{}' has changed: its digest is {}, the pipeline was made for {}; make "
                  "the pipeline again, or bring the data back",
                  path, source->digest(), digest)};
}

}  // namespace ge::data
