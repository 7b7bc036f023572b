// Load, compile, run and the saving of states and prices while one call about a file fails.
//
//   failing_files FOLDER MODEL ENGINES [ENTRY]
//
// FOLDER holds the model, the cache (cache/, named by GE_CACHE_DIR) and temporary files (TMPDIR).
// Takes the place of open, read, write, mmap and their like for calls from the host library, the
// engines and libstdc++ about what lies in FOLDER. A first process lists them; then each fails
// once, in each way that it can, in a process of its own: with a cache and without one. It must not
// crash; what is refused is refused with words; whatever succeeds gives the right result;
// afterwards this session and a new one work, no descriptor is left open and nothing half written
// lies about. Last line: N passed, N failed, N skipped.
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdarg.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "ge/ge.h"

namespace {

namespace fs = std::filesystem;

enum Op { kOpen, kRead, kWrite, kMap, kTruncate, kStat, kRename, kSync, kLock, kOps };
const char* const kOpNames[] = {"open",  "read",   "write", "mmap", "ftruncate",
                                "fstat", "rename", "fsync", "flock"};
constexpr int kShort = -1;  // half of the bytes
const std::vector<int> kFaults[kOps] = {{EMFILE, EIO, EINTR, ENOSPC},
                                        {EIO, EINTR, kShort},
                                        {ENOSPC, EIO, EINTR, kShort},
                                        {ENOMEM, EIO},
                                        {ENOSPC, EIO, EINTR},
                                        {EIO},
                                        {ENOSPC, EIO},
                                        {EIO, ENOSPC},
                                        {EIO, EINTR}};
constexpr int kMostCalls = 4000;

struct Listed {  // shared by the processes
  int count;
  unsigned char op[kMostCalls];
};
Listed* g_listed;
std::string g_folder;
int g_at = -1, g_fault = 0;  // which call fails, and how; -1 = none
bool g_on = false, g_failed = false;
struct Range {
  uintptr_t begin, end;
};
std::vector<Range> g_ours;

int AddRanges(dl_phdr_info* info, size_t, void*) {
  static const char* const kOurs[] = {"libgraphengine", "/graphengine/", "libstdc++"};
  for (const char* name : kOurs) {
    if (!strstr(info->dlpi_name, name)) continue;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const auto& h = info->dlpi_phdr[i];
      if (h.p_type != PT_LOAD || !(h.p_flags & PF_X)) continue;
      const uintptr_t at = info->dlpi_addr + h.p_vaddr;
      g_ours.push_back({at, at + h.p_memsz});
    }
  }
  return 0;
}
bool IsOurs(const void* caller) {
  const auto at = reinterpret_cast<uintptr_t>(caller);
  return std::any_of(g_ours.begin(), g_ours.end(),
                     [&](const Range& r) { return at >= r.begin && at < r.end; });
}
bool InFolder(const char* path) { return strncmp(path, g_folder.c_str(), g_folder.size()) == 0; }
bool InFolder(int fd) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t n = readlink(link, path, sizeof path - 1);
  return n > 0 && (path[n] = '\0', InFolder(path));
}

// 0 = goes through. Sets errno.
template <typename Where>
int Fault(Op op, Where where, const void* caller) {
  if (!g_on || !IsOurs(caller) || !InFolder(where)) return 0;
  const int index = g_listed->count;
  if (index < kMostCalls) g_listed->op[g_listed->count++] = static_cast<unsigned char>(op);
  if (index != g_at) return 0;
  g_failed = true;
  if (g_fault > 0) errno = g_fault;
  return g_fault;
}
template <typename F>
F Real(const char* name) {
  return reinterpret_cast<F>(dlsym(RTLD_NEXT, name));
}
size_t Half(size_t n) { return n > 1 ? n / 2 : n; }

}  // namespace

#define CALLER __builtin_return_address(0)
extern "C" {
int open(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = va_arg(list, mode_t);  // garbage where there is none, which nobody reads
  va_end(list);
  static const auto real = Real<int (*)(const char*, int, ...)>("open");
  return Fault(kOpen, path, CALLER) ? -1 : real(path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = va_arg(list, mode_t);
  va_end(list);
  static const auto real = Real<int (*)(const char*, int, ...)>("open64");
  return Fault(kOpen, path, CALLER) ? -1 : real(path, flags, mode);
}
int openat(int dir, const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = va_arg(list, mode_t);
  va_end(list);
  static const auto real = Real<int (*)(int, const char*, int, ...)>("openat");
  const int fault = dir >= 0 ? Fault(kOpen, dir, CALLER) : Fault(kOpen, path, CALLER);
  return fault ? -1 : real(dir, path, flags, mode);
}
FILE* fopen(const char* path, const char* mode) {
  static const auto real = Real<FILE* (*)(const char*, const char*)>("fopen");
  return Fault(kOpen, path, CALLER) ? nullptr : real(path, mode);
}
FILE* fopen64(const char* path, const char* mode) {
  static const auto real = Real<FILE* (*)(const char*, const char*)>("fopen64");
  return Fault(kOpen, path, CALLER) ? nullptr : real(path, mode);
}
ssize_t read(int fd, void* data, size_t n) {
  static const auto real = Real<ssize_t (*)(int, void*, size_t)>("read");
  const int fault = Fault(kRead, fd, CALLER);
  return fault > 0 ? -1 : real(fd, data, fault ? Half(n) : n);
}
ssize_t pread(int fd, void* data, size_t n, off_t at) {
  static const auto real = Real<ssize_t (*)(int, void*, size_t, off_t)>("pread");
  const int fault = Fault(kRead, fd, CALLER);
  return fault > 0 ? -1 : real(fd, data, fault ? Half(n) : n, at);
}
size_t fread(void* data, size_t size, size_t n, FILE* f) {
  static const auto real = Real<size_t (*)(void*, size_t, size_t, FILE*)>("fread");
  const int fault = Fault(kRead, fileno(f), CALLER);
  return fault > 0 ? 0 : real(data, size, n, f);
}
ssize_t write(int fd, const void* data, size_t n) {
  static const auto real = Real<ssize_t (*)(int, const void*, size_t)>("write");
  const int fault = Fault(kWrite, fd, CALLER);
  return fault > 0 ? -1 : real(fd, data, fault ? Half(n) : n);
}
ssize_t pwrite(int fd, const void* data, size_t n, off_t at) {
  static const auto real = Real<ssize_t (*)(int, const void*, size_t, off_t)>("pwrite");
  const int fault = Fault(kWrite, fd, CALLER);
  return fault > 0 ? -1 : real(fd, data, fault ? Half(n) : n, at);
}
ssize_t writev(int fd, const iovec* parts, int n) {
  static const auto real = Real<ssize_t (*)(int, const iovec*, int)>("writev");
  return Fault(kWrite, fd, CALLER) > 0 ? -1 : real(fd, parts, n);
}
size_t fwrite(const void* data, size_t size, size_t n, FILE* f) {
  static const auto real = Real<size_t (*)(const void*, size_t, size_t, FILE*)>("fwrite");
  const int fault = Fault(kWrite, fileno(f), CALLER);
  return fault > 0 ? 0 : real(data, size, fault ? Half(n) : n, f);  // a full disk looks so, too
}
int fflush(FILE* f) {
  static const auto real = Real<int (*)(FILE*)>("fflush");
  return f && Fault(kSync, fileno(f), CALLER) ? EOF : real(f);
}
int fclose(FILE* f) {  // closes even where what was buffered could not be written
  static const auto real = Real<int (*)(FILE*)>("fclose");
  const int fault = Fault(kSync, fileno(f), CALLER);
  const int closed = real(f);
  if (fault) errno = fault;
  return fault ? EOF : closed;
}
void* mmap(void* at, size_t n, int prot, int flags, int fd, off_t offset) {
  static const auto real = Real<void* (*)(void*, size_t, int, int, int, off_t)>("mmap");
  if (fd >= 0 && Fault(kMap, fd, CALLER)) return MAP_FAILED;
  return real(at, n, prot, flags, fd, offset);
}
int ftruncate(int fd, off_t n) noexcept {
  static const auto real = Real<int (*)(int, off_t)>("ftruncate");
  return Fault(kTruncate, fd, CALLER) ? -1 : real(fd, n);
}
int fstat(int fd, struct stat* out) noexcept {
  static const auto real = Real<int (*)(int, struct stat*)>("fstat");
  return Fault(kStat, fd, CALLER) ? -1 : real(fd, out);
}
int rename(const char* from, const char* to) noexcept {
  static const auto real = Real<int (*)(const char*, const char*)>("rename");
  return Fault(kRename, to, CALLER) ? -1 : real(from, to);
}
int fsync(int fd) {
  static const auto real = Real<int (*)(int)>("fsync");
  return Fault(kSync, fd, CALLER) ? -1 : real(fd);
}
int flock(int fd, int how) noexcept {
  static const auto real = Real<int (*)(int, int)>("flock");
  return Fault(kLock, fd, CALLER) ? -1 : real(fd, how);
}
}

namespace {

constexpr int kMostTensors = 4;
const char *g_model, *g_entry;
ge_session_options g_options;

enum Step { kLoad, kCompile, kRun, kSave, kRestore, kSteps };
const char* const kStepNames[] = {"load", "compile", "run", "save", "restore"};

struct Feeds {
  ge_tensor in[kMostTensors] = {}, out[kMostTensors] = {};
  uint32_t n_in = 0, n_out = 0;
};

// Inputs of element size 4 or 8 with unknown dims 1; each byte the same small number.
void MakeFeeds(ge_session* s, Feeds* feeds) {
  ge_session_input_count(s, g_entry, &feeds->n_in);
  ge_session_output_count(s, g_entry, &feeds->n_out);
  for (uint32_t i = 0; i < feeds->n_in && i < kMostTensors; ++i) {
    ge_tensor_info info{};
    info.size = sizeof info;
    ge_session_input_info(s, g_entry, i, &info);
    ge_tensor& t = feeds->in[i];
    t.size = sizeof t;
    t.dtype = info.dtype;
    t.rank = info.rank;
    t.bytes = info.dtype == 7 || info.dtype == 11 ? 8 : 4;
    for (int d = 0; d < info.rank; ++d) {
      t.dims[d] = info.dims[d] < 0 ? 1 : info.dims[d];
      t.bytes *= static_cast<uint64_t>(t.dims[d]);
    }
    t.data = memset(malloc(t.bytes), 0x3d, t.bytes);  // 0.046 as f32
  }
  for (ge_tensor& t : feeds->out) t.size = sizeof t;
}

ge_status Call(ge_session* s, int step, Feeds* feeds, ge_error* error) {
  error->message[0] = 0;
  const std::string states = g_folder + "states";
  switch (step) {
    case kLoad: {
      const ge_status status = ge_session_load_file(s, g_model, GE_FORMAT_AUTO, error);
      if (!status && !feeds->n_out) MakeFeeds(s, feeds);
      return status;
    }
    case kCompile:
      return ge_session_compile(s, g_entry, feeds->in, feeds->n_in, error);
    case kRun:
      for (ge_tensor& t : feeds->out) {
        ge_tensor_release(&t);
        t.data = nullptr;
        t.flags = 0;
      }
      return ge_session_run(s, g_entry, feeds->in, feeds->n_in, feeds->out, feeds->n_out, error);
    case kSave:
      return ge_session_save_states(s, states.c_str(), error);
    default:
      return ge_session_restore_states(s, states.c_str(), error);
  }
}

int Bad(const std::string& what, const char* step, const ge_error& error) {
  printf("  %s in %s: %s\n", what.c_str(), step, error.message);
  return 1;
}

int OpenDescriptors() {
  int n = 0;
  for ([[maybe_unused]] const auto& e : fs::directory_iterator("/proc/self/fd")) ++n;
  return n;
}

// FNV-1a of output 0.
std::vector<float> g_expected;  // empty = not known yet

// The same numbers but for rounding: prices that are or are not read from the cache may plan
// another engine, and a small operator of another engine may round otherwise.
bool IsExpected(const ge_tensor& t) {
  const auto* y = static_cast<const float*>(t.data);
  const std::vector<float> found(y, y + t.bytes / sizeof(float));
  if (g_expected.empty()) g_expected = found;
  return std::equal(
      found.begin(), found.end(), g_expected.begin(), g_expected.end(),
      [](float a, float b) { return std::fabs(a - b) <= 1e-5f * (1 + std::fabs(b)); });
}

// All steps of a session, from `step` on; 1 = not as it should be. `refused`: the step that was
// refused, kSteps where none was.
int Steps(ge_session* s, int step, Feeds* feeds, int* refused) {
  ge_error error{};
  error.size = sizeof error;
  *refused = kSteps;
  for (; step < kSteps; ++step) {
    if (const ge_status status = Call(s, step, feeds, &error)) {
      if (!error.message[0]) return Bad("refused without words", kStepNames[step], error);
      if (status == GE_STATUS_INTERNAL) return Bad("an error of ours", kStepNames[step], error);
      if (*refused == kSteps) *refused = step;
      if (step == kLoad) return 0;
      continue;
    }
    if (step != kRun) continue;
    if (!IsExpected(feeds->out[0])) return Bad("another result", kStepNames[step], error);
  }
  return 0;
}

// In a process of its own.
int Try(int at, int fault) {
  ge_error error{};
  error.size = sizeof error;
  Feeds feeds;
  const int open_before = OpenDescriptors();
  g_listed->count = 0;
  g_at = at;
  g_fault = fault;
  ge_session* s = nullptr;
  g_on = true;
  const ge_status status = ge_session_create(&g_options, &s, &error);
  if (status) return Bad("no session", "create", error);  // no cache is none to it
  int refused = kSteps, again = kSteps;
  if (Steps(s, kLoad, &feeds, &refused)) return 1;
  if (at < 0 && refused != kSteps) return Bad("refused", kStepNames[refused], error);
  if (fault == kShort && g_failed && refused == kLoad) {
    return Bad("a short answer is refused", "load", error);
  }
  g_at = -1;
  if (Steps(s, refused == kLoad ? kLoad : kCompile, &feeds, &again)) return 1;
  if (again != kSteps) return Bad("not usable afterwards", kStepNames[again], error);
  g_at = at;
  ge_session_destroy(s);  // saves prices
  g_on = false;
  if (ge_session_create(&g_options, &s, &error)) return Bad("no new session", "create", error);
  if (Steps(s, kLoad, &feeds, &again)) return 1;
  if (again != kSteps) return Bad("a new session is refused", kStepNames[again], error);
  ge_session_destroy(s);
  if (OpenDescriptors() > open_before) return Bad("a descriptor is left open", "the end", error);
  for (const auto& e : fs::recursive_directory_iterator(g_folder)) {
    if (e.path().extension() == ".part") return Bad("left behind", e.path().c_str(), error);
  }
  return 0;
}

int TryApart(int at, int fault, bool with_cache) {
  fs::remove_all(g_folder + "cache");
  fs::remove_all(g_folder + "states");
  if (with_cache) fs::copy(g_folder + "kept", g_folder + "cache", fs::copy_options::recursive);
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    const int code = Try(at, fault);
    fflush(stdout);
    _exit(code);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) printf("  signal %d\n", WTERMSIG(status));
  return WIFSIGNALED(status) || WEXITSTATUS(status) != 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return fprintf(stderr, "usage: failing_files FOLDER MODEL ENGINES [ENTRY]\n"), 2;
  g_folder = std::string(argv[1]) + "/";
  g_model = argv[2];
  g_entry = argc > 4 ? argv[4] : nullptr;
  ge_session_options_init(&g_options);
  g_options.engines = argv[3];
  g_options.threads = 1;
  g_options.prices = GE_PRICES_CACHED;
  g_listed = static_cast<Listed*>(
      mmap(nullptr, sizeof(Listed), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  dl_iterate_phdr(AddRanges, nullptr);
  int passed = 0, failed = 0;
  for (const bool with_cache : {false, true}) {
    if (TryApart(-1, 0, with_cache)) return puts("0 passed, 1 failed, 0 skipped"), 1;
    if (!with_cache) fs::copy(g_folder + "cache", g_folder + "kept", fs::copy_options::recursive);
    const Listed listed = *g_listed;
    int by_op[kOps] = {};
    for (int i = 0; i < listed.count; ++i) ++by_op[listed.op[i]];
    printf("  %s a cache:", with_cache ? "with" : "without");
    for (int op = 0; op < kOps; ++op) printf(" %s %d", kOpNames[op], by_op[op]);
    printf("\n");
    for (int i = 0; i < listed.count; ++i) {
      for (const int fault : kFaults[listed.op[i]]) {
        const int bad = TryApart(i, fault, with_cache);
        ++(bad ? failed : passed);
        if (bad) {
          printf("FAILED call %d, %s: %s\n", i, kOpNames[listed.op[i]],
                 fault == kShort ? "half" : strerror(fault));
        }
      }
    }
  }
  printf("%d passed, %d failed, 0 skipped\n", passed, failed);
  return failed != 0;
}
