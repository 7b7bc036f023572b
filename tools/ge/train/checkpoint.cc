#include "tools/ge/train/checkpoint.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>

#include "ge/base/replace_file.h"
#include "tools/ge/train/digest.h"
#include "tools/ge/train/share_files.h"

namespace ge::tool {
namespace {

namespace fs = std::filesystem;

constexpr char kManifest[] = "checkpoint.json", kLock[] = "checkpoint.lock";
// Folders of the states, which are written in turn.
constexpr const char* kPlaces[] = {"states-a", "states-b"};
constexpr char kStates[] = "states.gepb";

std::string StatesIn(std::string_view place) { return fmt::format("{}/{}", place, kStates); }
std::string ShareIn(std::string_view place, int64_t rank) {
  return fmt::format("{}/rank-{}.gepb", place, rank);
}
std::string PieceIn(std::string_view place, int64_t rank) {
  return fmt::format("{}/rank-{}.json", place, rank);
}

// The folder that a manifest names, if it names files of ours.
std::optional<std::string> PlaceOf(const Manifest& m) {
  for (const char* place : kPlaces) {
    bool ours = true;
    for (size_t i = 0; i < m.files.size(); ++i) {
      ours = ours &&
             m.files[i].name ==
                 (m.shares.empty() ? StatesIn(place) : ShareIn(place, static_cast<int64_t>(i)));
    }
    if (ours) return place;
  }
  return std::nullopt;
}

// states.gepb, rank-N.gepb, rank-N.json.
bool IsOurs(const std::string& name) {
  const std::string_view head = "rank-";
  if (name == kStates) return true;
  const size_t dot = name.find('.');
  if (!name.starts_with(head) || dot == std::string::npos || dot == head.size()) return false;
  const std::string number = name.substr(head.size(), dot - head.size()), end = name.substr(dot);
  return number.find_first_not_of("0123456789") == std::string::npos &&
         (end == ".gepb" || end == ".json");
}

int SyncFolder(const std::string& folder) {
  const Descriptor fd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Some file systems have no such thing as to sync a folder.
  return fd.valid() && fsync(fd.get()) != 0 && errno != EINVAL && errno != EROFS ? errno : 0;
}

// Calls with the name of each regular file; those for which it says so go.
template <typename Goes>
void RemoveSome(const std::string& folder, Goes goes) {
  std::error_code error;
  fs::directory_iterator at(folder, error);
  for (; !error && at != fs::directory_iterator(); at.increment(error)) {
    std::error_code none;
    if (at->is_regular_file(none) && goes(at->path().filename().string())) {
      (void)unlink(at->path().c_str());
    }
  }
}

}  // namespace

// The file goes with the run, so that the folder holds what was asked for; who has opened it
// meanwhile holds the lock of a file that is none any more, and opens the next one.
Status Checkpoint::Lock() {
  const std::string path = PathOf(kLock);
  for (;;) {
    Descriptor fd(open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0666));
    struct stat opened, now;
    if (!fd.valid() || fstat(fd.get(), &opened) != 0) {
      return Status(Code::kIoError, fmt::format("cannot write '{}': {}", path, strerror(errno)));
    }
    if (!S_ISREG(opened.st_mode)) {
      return Status(Code::kIoError, fmt::format("'{}' is no regular file; remove it", path));
    }
    if (flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno == EINTR) continue;
      if (errno != EWOULDBLOCK) {
        return Status(Code::kIoError,
                      fmt::format("cannot lock '{}': {}; give a --checkpoint folder on a file "
                                  "system that has locks",
                                  path, strerror(errno)));
      }
      return Status(Code::kInvalidArgument,
                    fmt::format("another run keeps its checkpoint in '{}' just now; wait until it "
                                "ends, or give another folder",
                                folder_));
    }
    if (stat(path.c_str(), &now) != 0 || now.st_ino != opened.st_ino ||
        now.st_dev != opened.st_dev) {
      continue;
    }
    lock_ = std::move(fd);
    return {};
  }
}

Status Checkpoint::CheckPresent(IfPresent what) {
  const std::string path = PathOf(kManifest);
  struct stat info;
  present_ = stat(path.c_str(), &info) == 0;
  if (!present_ && errno != ENOENT) {
    return Status(Code::kIoError, fmt::format("cannot open '{}': {}", path, strerror(errno)));
  }
  if (!present_) return {};
  const Result<Manifest> manifest = ReadManifest(path);
  if (what == IfPresent::kRefuse) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("'{}' holds a checkpoint already{}; --resume goes on from it, --overwrite "
                    "begins anew in its place, another folder keeps both",
                    folder_, manifest.ok() ? fmt::format(", of step {}", manifest->at.step) : ""));
  }
  if (what == IfPresent::kResume) return manifest.status();
  // What is damaged names no file that could be removed; it is replaced all the same.
  if (!manifest.ok() && manifest.status().code() != Code::kDataCorrupt) return manifest.status();
  if (manifest.ok()) place_ = PlaceOf(*manifest).value_or("");
  return {};
}

// Of the first rank: what it is to write can be written.
Status Checkpoint::Prepare(IfPresent what) {
  std::error_code error;
  made_folder_ = fs::create_directories(folder_, error);
  if (error || !fs::is_directory(folder_, error)) {
    return Status(Code::kIoError,
                  fmt::format("cannot make the folder '{}' of --checkpoint: {}", folder_,
                              error ? error.message() : "there is a file of that name"));
  }
  GE_RETURN_IF_ERROR(Lock());
  GE_RETURN_IF_ERROR(CheckPresent(what));
  GE_RETURN_IF_ERROR(CheckReplaceable(PathOf(kManifest)));
  for (const char* place : kPlaces) {
    if (!fs::exists(PathOf(place), error)) continue;
    GE_RETURN_IF_ERROR(CheckReplaceable(PathOf(StatesIn(place))));
  }
  return {};
}

Result<std::unique_ptr<Checkpoint>> Checkpoint::Open(const std::string& folder, IfPresent what,
                                                     const Ranks& ranks) {
  std::unique_ptr<Checkpoint> c(new Checkpoint(folder, ranks));
  if (ranks.first()) {
    GE_RETURN_IF_ERROR(c->Prepare(what));
  } else {  // the first rank refuses for all
    GE_RETURN_IF_ERROR(c->CheckPresent(what == IfPresent::kRefuse ? IfPresent::kOverwrite : what));
  }
  return c;
}

Checkpoint::~Checkpoint() {
  if (lock_.valid()) (void)unlink(PathOf(kLock).c_str());
  if (made_folder_ && step_ == 0) (void)rmdir(folder_.c_str());  // not what holds anything
}

// Where one rank did not, all end; nobody waits for one that has ended.
Status Checkpoint::AllDid(const Status& mine, const char* what, TrainedNet* net) {
  if (!ranks_.many()) return mine;
  std::vector<double> failed(static_cast<size_t>(ranks_.count), 0);
  if (!mine.ok()) failed[static_cast<size_t>(ranks_.rank)] = 1;
  const auto sum = net->SumOfRanks(failed);
  if (!mine.ok()) return mine;
  GE_RETURN_IF_ERROR(sum.status());
  for (size_t r = 0; r < failed.size(); ++r) {
    if ((*sum)[r] == 0) continue;
    return Status(
        Code::kIoError,
        fmt::format("rank {} could not {} in '{}'; its own message says why", r, what, folder_));
  }
  return {};
}

Result<std::optional<Progress>> Checkpoint::RestoreMine(const RunFacts& run, TrainedNet* net) {
  if (!present_) return std::optional<Progress>();
  const std::string path = PathOf(kManifest);
  GE_ASSIGN_OR_RETURN(const Manifest m, ReadManifest(path));
  GE_RETURN_IF_ERROR(CompareRuns(m.run, run, folder_));
  const auto corrupt = [&](const std::string& text) {
    return Status(Code::kDataCorrupt, fmt::format("'{}' is no usable checkpoint: {}", path, text));
  };
  const auto place = PlaceOf(m);
  if (!place) {
    return corrupt(fmt::format("its states.file is '{:.100}', wanted {} or {}", m.files[0].name,
                               StatesIn(kPlaces[0]), StatesIn(kPlaces[1])));
  }
  if (m.shares.empty() && !net->in_shares()) {
    const StatesFile& f = m.files[0];
    uint64_t bytes = 0;
    GE_ASSIGN_OR_RETURN(const std::string digest, DigestOfFile(PathOf(f.name), &bytes));
    if (digest != f.digest || bytes != f.bytes) {
      return corrupt(
          fmt::format("the states in '{}' are not those of step {} that it was made with",
                      PathOf(f.name), m.at.step));
    }
    GE_RETURN_IF_ERROR(net->RestoreStates(PathOf(f.name)));
  } else {
    GE_RETURN_IF_ERROR(ReadShares(folder_, m, net));
  }
  GE_ASSIGN_OR_RETURN(const int64_t step, net->StepOfStates());
  if (step < 0 || static_cast<uint64_t>(step) != m.at.step) {
    return corrupt(fmt::format("it is of step {}, its states are of step {}", m.at.step, step));
  }
  place_ = *place;
  step_ = m.at.step;
  return std::optional(m.at);
}

Result<std::optional<Progress>> Checkpoint::Restore(const RunFacts& run, TrainedNet* net) {
  auto at = RestoreMine(run, net);
  GE_RETURN_IF_ERROR(AllDid(at.status(), "go on from the checkpoint", net));
  std::vector<double> steps(static_cast<size_t>(ranks_.count), 0);
  steps[static_cast<size_t>(ranks_.rank)] = static_cast<double>(step_);
  GE_ASSIGN_OR_RETURN(steps, net->SumOfRanks(steps));
  for (size_t r = 0; r < steps.size(); ++r) {
    if (steps[r] == static_cast<double>(step_)) continue;
    return Status(Code::kInvalidArgument,
                  fmt::format("the checkpoint in '{}' is of step {} to rank {}, and of step {} to "
                              "rank {}; give a folder that all ranks see",
                              folder_, step_, ranks_.rank, steps[r], r));
  }
  return at;
}

// This rank's file of states; of the first the manifest's beginning, too.
Status Checkpoint::SaveMine(const std::string& place, const Progress& at, TrainedNet* net,
                            Manifest* to) {
  if (!ranks_.first() && !net->in_shares()) return {};
  if (mkdir(PathOf(place).c_str(), 0777) != 0 && errno != EEXIST) {
    return Status(Code::kIoError,
                  fmt::format("cannot make '{}': {}", PathOf(place), strerror(errno)));
  }
  if (!ranks_.many()) RemoveSome(PathOf(place), IsUnfinishedFile);
  if (!net->in_shares()) {
    StatesFile& f = to->files.emplace_back();
    f.name = StatesIn(place);
    GE_RETURN_IF_ERROR(net->SaveStates(PathOf(f.name)));
    GE_ASSIGN_OR_RETURN(f.digest, DigestOfFile(PathOf(f.name), &f.bytes));
    return {};
  }
  GE_ASSIGN_OR_RETURN(SharePiece piece, WriteShares(folder_, ShareIn(place, ranks_.rank), net));
  piece.step = at.step;
  if (!ranks_.first()) {
    return ReplaceFile(PathOf(PieceIn(place, ranks_.rank)), PieceText(piece), true);
  }
  Join(std::move(piece), to);
  return {};
}

// Of the first rank, when all files are on the disk.
Status Checkpoint::Publish(const std::string& place, const Progress& at, bool shares, Manifest* m) {
  for (int64_t r = 1; shares && r < ranks_.count; ++r) {
    const std::string from = PathOf(PieceIn(place, r));
    GE_ASSIGN_OR_RETURN(SharePiece piece, ReadPiece(from));
    if (piece.step != at.step || piece.file.name != ShareIn(place, r)) {
      return Status(Code::kIoError, fmt::format("'{}' is of step {}, wanted {}: the folder is not "
                                                "one that all ranks see",
                                                from, piece.step, at.step));
    }
    Join(std::move(piece), m);
  }
  // Beside the states, where the next run finds what a killed one has left of it.
  const std::string made = PathOf(fmt::format("{}/{}", place, kManifest)), path = PathOf(kManifest);
  GE_RETURN_IF_ERROR(ReplaceFile(made, ManifestText(*m), true));
  int error = rename(made.c_str(), path.c_str()) == 0 ? 0 : errno;
  if (error == 0) error = SyncFolder(folder_);
  if (error != 0) {
    return Status(Code::kIoError, fmt::format("cannot write '{}': {}", path, strerror(error)));
  }
  RemoveOld(*m);
  return {};
}

// What the manifest does not name, and what was never finished. A folder that holds anything else
// stays.
void Checkpoint::RemoveOld(const Manifest& now) {
  for (const std::string place : kPlaces) {
    RemoveSome(PathOf(place), [&](const std::string& name) {
      const auto kept = [&](const StatesFile& f) { return f.name == place + "/" + name; };
      return IsUnfinishedFile(name) ||
             (IsOurs(name) && std::none_of(now.files.begin(), now.files.end(), kept));
    });
    if (place != PlaceOf(now)) (void)rmdir(PathOf(place).c_str());
  }
}

Status Checkpoint::Save(const RunFacts& run, const Progress& at, TrainedNet* net) {
  const std::string place = place_ == kPlaces[0] ? kPlaces[1] : kPlaces[0];
  Manifest m{at, {}, {}, run};
  GE_RETURN_IF_ERROR(AllDid(SaveMine(place, at, net, &m), "write its states", net));
  const Status done = ranks_.first() ? Publish(place, at, net->in_shares(), &m) : Status();
  GE_RETURN_IF_ERROR(AllDid(done, "write the checkpoint", net));
  place_ = place;
  step_ = at.step;
  present_ = true;
  return {};
}

std::string Checkpoint::Latest() const {
  if (step_ == 0) return fmt::format("there is no checkpoint in '{}' yet", folder_);
  return fmt::format("the last good checkpoint is of step {}, in '{}'", step_, folder_);
}

}  // namespace ge::tool
