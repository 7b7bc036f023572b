// Files that others change while a session has them.
//
//   changing_files MODEL FILE OTHER ENGINES TRIALS SEED
//
// MODEL reads FILE, which is itself or beside it; OTHER has the same size and other weights. In
// each trial, a process of its own, FILE is cut short, cut and written anew, written to where it
// lies, or replaced by a new file of its name, at a random moment of load, first run and later
// runs, and of a reset of the states. Each call gives the result of the one weights or of the
// other, the same in all of a session, or fails with a message that names the file; no signal ends
// the process. Weights are all 1 in FILE and 2 in OTHER, and outputs are one number all over, which
// the model makes of them: output i is weight * (i + 1). Last line: N passed, N failed, N skipped.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "ge/ge.h"

namespace {

enum Way { kNothing, kCut, kCutAndWritten, kWritten, kReplaced, kWays };
const char* const kWayNames[] = {"left alone", "cut", "cut and written", "written to", "replaced"};

struct Trial {
  std::string model, file, name, engines;
  std::string before, after;  // contents
  Way way = kNothing;
  int64_t delay_us = 0;
  uint64_t cut = 0;  // to so many bytes
};

// How far the change is: a file that is opened in the midst of it may be half of the one and half
// of the other.
std::atomic<int> g_change{0};  // 1: it goes on, 2: it is done

bool WriteFile(const std::string& path, const std::string& bytes, int flags) {
  constexpr size_t kPart = 64 << 10;
  const int fd = open(path.c_str(), O_WRONLY | flags, 0644);
  if (fd < 0) return false;
  size_t at = 0;
  while (at < bytes.size()) {
    const ssize_t n = write(fd, bytes.data() + at, std::min(kPart, bytes.size() - at));
    if (n <= 0) break;
    at += static_cast<size_t>(n);
  }
  close(fd);
  return at == bytes.size();
}

bool ReplaceFile(const std::string& path, const std::string& bytes) {
  return WriteFile(path + ".new", bytes, O_CREAT | O_TRUNC) &&
         rename((path + ".new").c_str(), path.c_str()) == 0;
}

void Change(const Trial& t) {
  std::this_thread::sleep_for(std::chrono::microseconds(t.delay_us));
  g_change = 1;
  bool good = true;
  if (t.way == kCut) good = truncate(t.file.c_str(), static_cast<off_t>(t.cut)) == 0;
  if (t.way == kCutAndWritten) good = WriteFile(t.file, t.after, O_TRUNC);
  if (t.way == kWritten) good = WriteFile(t.file, t.after, 0);
  if (t.way == kReplaced) good = ReplaceFile(t.file, t.after);
  if (!good) std::abort();
  g_change = 2;
}

class Run {
 public:
  explicit Run(const Trial& trial) : t_(trial) { error_.size = sizeof error_; }

  // 0: as it should be.
  int All() {
    std::thread other([this] { Change(t_); });
    const int code = Judge();
    other.join();
    return code;
  }

 private:
  int Judge() {
    // One that is half written when it is opened is no model, whatever its name is.
    if (!Load()) return g_change != 0 ? 2 : Named("load");
    settled_ = g_change == 0;
    for (int left = 4; left > 0; left -= g_change == 2) {
      if (!Once()) return Named("run");
      if (!right_) return 1;
      if (left % 2 == 0 && ge_session_reset_states(s_, &error_) != GE_STATUS_OK) {
        return Named("reset");
      }
    }
    ge_session_destroy(s_);
    return 0;
  }

  bool Load() {
    ge_session_options o;
    ge_session_options_init(&o);
    o.engines = t_.engines.c_str();
    return ge_session_create(&o, &s_, &error_) == GE_STATUS_OK &&
           ge_session_load_file(s_, t_.model.c_str(), GE_FORMAT_AUTO, &error_) == GE_STATUS_OK;
  }

  // All inputs are ones.
  bool Once() {
    uint32_t n = 0, m = 0;
    ge_session_input_count(s_, nullptr, &n);
    ge_session_output_count(s_, nullptr, &m);
    std::vector<ge_tensor> in(n), out(m);
    std::vector<std::vector<char>> memory(n);
    for (uint32_t i = 0; i < n; ++i) {
      ge_tensor_info info = {};
      info.size = sizeof info;
      ge_session_input_info(s_, nullptr, i, &info);
      in[i].size = sizeof in[i];
      in[i].dtype = info.dtype;
      in[i].rank = info.rank;
      size_t count = 1;
      for (int d = 0; d < info.rank; ++d)
        count *= static_cast<size_t>(in[i].dims[d] = info.dims[d]);
      memory[i].resize(count * (info.dtype == 7 ? 8 : 4));
      for (size_t k = 0; k < count; ++k) {
        if (info.dtype == 7) reinterpret_cast<int64_t*>(memory[i].data())[k] = 1;
        if (info.dtype == 1) reinterpret_cast<float*>(memory[i].data())[k] = 1;
      }
      in[i].data = memory[i].data();
      in[i].bytes = memory[i].size();
    }
    for (ge_tensor& t : out) t.size = sizeof t;
    if (ge_session_run(s_, nullptr, in.data(), n, out.data(), m, &error_) != GE_STATUS_OK) {
      return false;
    }
    // One that was opened while it was half written may give anything until that is done.
    if (settled_ || g_change == 2) Look(out);
    for (ge_tensor& t : out) ge_tensor_release(&t);
    return true;
  }

  void Look(const std::vector<ge_tensor>& out) {
    for (size_t i = 0; i < out.size(); ++i) {
      const auto* v = static_cast<const float*>(out[i].data);
      for (size_t k = 0; k < out[i].bytes / sizeof(float); ++k) {
        const float weight = v[k] / static_cast<float>(i + 1);
        const bool known = std::abs(weight - 1) < 1e-3f || std::abs(weight - 2) < 1e-3f;
        if (known && (weight_ == 0 || std::abs(weight - weight_) < 1e-3f)) {
          weight_ = weight;
          continue;
        }
        fprintf(stderr, "output %zu has %g at %zu, of weights that were %g\n", i, v[k], k, weight_);
        right_ = false;
        return;
      }
    }
  }

  int Named(const char* what) {
    if (t_.way != kNothing && strstr(error_.message, t_.name.c_str()) != nullptr) {
      ge_session_destroy(s_);
      return 2;  // refused
    }
    fprintf(stderr, "%s: %s\n", what, error_.message);
    return 1;
  }

  const Trial& t_;
  ge_error error_ = {};
  ge_session* s_ = nullptr;
  bool settled_ = false;  // when the model was loaded nothing had changed
  bool right_ = true;
  float weight_ = 0;
};

std::string Content(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The trial's exit code, or minus its signal.
int InAProcess(const Trial& t) {
  if (!ReplaceFile(t.file, t.before)) return 1;
  const pid_t child = fork();
  if (child == 0) _exit(Run(t).All());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) return 1;
  Trial t;
  t.model = argv[1];
  t.file = argv[2];
  t.engines = argv[4];
  t.name = t.file.substr(t.file.rfind('/') + 1);
  t.before = Content(argv[2]);
  t.after = Content(argv[3]);
  if (t.before.size() != t.after.size() || t.before == t.after) return 1;
  const auto begin = std::chrono::steady_clock::now();
  if (InAProcess(t) != 0) {
    puts("FAILED: without any change\n0 passed, 1 failed, 0 skipped");
    return 1;
  }
  const double span_us =
      std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
  std::mt19937_64 random(strtoull(argv[6], nullptr, 10));
  const auto draw = [&](uint64_t n) {
    return std::uniform_int_distribution<uint64_t>(0, n)(random);
  };
  int good = 0, refused = 0;
  const int trials = atoi(argv[5]);
  for (int i = 0; i < trials; ++i) {
    t.way = static_cast<Way>(1 + draw(kWays - 2));
    t.delay_us = static_cast<int64_t>(draw(static_cast<uint64_t>(span_us)));
    t.cut = draw(t.before.size() - 1);
    const int code = InAProcess(t);
    good += code == 0 || code == 2;
    refused += code == 2;
    if (code == 0 || code == 2) continue;
    printf("FAILED: %s %s after %ld us (to %lu): %s %d\n", t.name.c_str(), kWayNames[t.way],
           static_cast<long>(t.delay_us), static_cast<unsigned long>(t.cut),
           code < 0 ? "signal" : "exit", std::abs(code));
  }
  if (!ReplaceFile(t.file, t.before)) return 1;  // as it was
  printf("%d of them were refused\n", refused);
  printf("%d passed, %d failed, 0 skipped\n", good, trials - good);
  return good == trials ? 0 : 1;
}
