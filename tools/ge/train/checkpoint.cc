#include "tools/ge/train/checkpoint.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "ge/base/replace_file.h"
#include "tools/ge/train/digest.h"

namespace ge::tool {
namespace {

namespace fs = std::filesystem;

constexpr char kManifest[] = "checkpoint.json", kLock[] = "checkpoint.lock";
// Folders of the states, which are written in turn.
constexpr const char* kPlaces[] = {"states-a", "states-b"};
constexpr char kStates[] = "states.gepb";

std::string StatesIn(const char* place) { return fmt::format("{}/{}", place, kStates); }

int SyncFolder(const std::string& folder) {
  const Descriptor fd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Some file systems have no such thing as to sync a folder.
  return fd.valid() && fsync(fd.get()) != 0 && errno != EINVAL && errno != EROFS ? errno : 0;
}

// What processes that were killed have begun there.
void RemoveUnfinished(const std::string& folder) {
  std::error_code error;
  fs::directory_iterator at(folder, error);
  for (; !error && at != fs::directory_iterator(); at.increment(error)) {
    std::error_code none;
    if (IsUnfinishedFile(at->path().filename().string()) && at->is_regular_file(none)) {
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
  if (manifest.ok()) states_ = manifest->states;
  return {};
}

Result<std::unique_ptr<Checkpoint>> Checkpoint::Open(const std::string& folder, IfPresent what) {
  std::error_code error;
  std::unique_ptr<Checkpoint> c(new Checkpoint(folder));
  c->made_folder_ = fs::create_directories(folder, error);
  if (error || !fs::is_directory(folder, error)) {
    return Status(Code::kIoError,
                  fmt::format("cannot make the folder '{}' of --checkpoint: {}", folder,
                              error ? error.message() : "there is a file of that name"));
  }
  GE_RETURN_IF_ERROR(c->Lock());
  GE_RETURN_IF_ERROR(c->CheckPresent(what));
  GE_RETURN_IF_ERROR(CheckReplaceable(c->PathOf(kManifest)));
  for (const char* place : kPlaces) {
    if (!fs::exists(c->PathOf(place), error)) continue;
    GE_RETURN_IF_ERROR(CheckReplaceable(c->PathOf(StatesIn(place))));
  }
  return c;
}

Result<std::unique_ptr<Checkpoint>> Checkpoint::OpenToRead(const std::string& folder) {
  std::unique_ptr<Checkpoint> c(new Checkpoint(folder));
  GE_RETURN_IF_ERROR(c->CheckPresent(IfPresent::kResume));
  return c;
}

Checkpoint::~Checkpoint() {
  if (lock_.valid()) (void)unlink(PathOf(kLock).c_str());
  if (made_folder_ && step_ == 0) (void)rmdir(folder_.c_str());  // not what holds anything
}

Result<std::optional<Progress>> Checkpoint::Restore(const RunFacts& run, TrainedNet* net) {
  if (!present_) return std::optional<Progress>();
  const std::string path = PathOf(kManifest);
  GE_ASSIGN_OR_RETURN(const Manifest m, ReadManifest(path));
  GE_RETURN_IF_ERROR(CompareRuns(m.run, run, folder_));
  const auto corrupt = [&](const std::string& text) {
    return Status(Code::kDataCorrupt, fmt::format("'{}' is no usable checkpoint: {}", path, text));
  };
  if (m.states != StatesIn(kPlaces[0]) && m.states != StatesIn(kPlaces[1])) {
    return corrupt(fmt::format("its states.file is '{:.100}', wanted {} or {}", m.states,
                               StatesIn(kPlaces[0]), StatesIn(kPlaces[1])));
  }
  uint64_t bytes = 0;
  GE_ASSIGN_OR_RETURN(const std::string digest, DigestOfFile(PathOf(m.states), &bytes));
  if (digest != m.states_digest || bytes != m.states_bytes) {
    return corrupt(fmt::format("the states in '{}' are not those of step {} that it was made with",
                               PathOf(m.states), m.at.step));
  }
  GE_RETURN_IF_ERROR(net->RestoreStates(PathOf(m.states)));
  GE_ASSIGN_OR_RETURN(const int64_t step, net->StepOfStates());
  if (step < 0 || static_cast<uint64_t>(step) != m.at.step) {
    return corrupt(fmt::format("it is of step {}, its states are of step {}", m.at.step, step));
  }
  states_ = m.states;
  step_ = m.at.step;
  return std::optional(m.at);
}

Status Checkpoint::Save(const RunFacts& run, const Progress& at, TrainedNet* net) {
  const char* place = states_ == StatesIn(kPlaces[0]) ? kPlaces[1] : kPlaces[0];
  Manifest m{at, StatesIn(place), "", 0, run};
  if (mkdir(PathOf(place).c_str(), 0777) != 0 && errno != EEXIST) {
    return Status(Code::kIoError,
                  fmt::format("cannot make '{}': {}", PathOf(place), strerror(errno)));
  }
  RemoveUnfinished(PathOf(place));
  GE_RETURN_IF_ERROR(net->SaveStates(PathOf(m.states)));
  GE_ASSIGN_OR_RETURN(m.states_digest, DigestOfFile(PathOf(m.states), &m.states_bytes));
  // Beside the states, where the next run finds what a killed one has left of it.
  const std::string made = PathOf(fmt::format("{}/{}", place, kManifest)), path = PathOf(kManifest);
  GE_RETURN_IF_ERROR(ReplaceFile(made, ManifestText(m), true));
  int error = rename(made.c_str(), path.c_str()) == 0 ? 0 : errno;
  if (error == 0) error = SyncFolder(folder_);
  if (error != 0) {
    return Status(Code::kIoError, fmt::format("cannot write '{}': {}", path, strerror(error)));
  }
  // What the manifest named before. A folder that holds anything else stays.
  const std::string before = states_;
  states_ = m.states;
  step_ = at.step;
  present_ = true;
  for (const char* other : kPlaces) {
    if (before != StatesIn(other) || other == place) continue;
    (void)unlink(PathOf(before).c_str());
    (void)rmdir(PathOf(other).c_str());
  }
  return {};
}

std::string Checkpoint::Latest() const {
  if (step_ == 0) return fmt::format("there is no checkpoint in '{}' yet", folder_);
  return fmt::format("the last good checkpoint is of step {}, in '{}'", step_, folder_);
}

}  // namespace ge::tool
