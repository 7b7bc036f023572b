// ge-overhead: what the host itself costs. Runs a chain of one-node segments that alternate between
// two engines that do nothing, through ge.h as an application would, and prints one JSON object:
// ns per segment (median and least over the runs) and allocations per run of the whole process, of
// plain and of prepared runs. With one segment they are what a call costs.
//
//   ge-overhead ENGINES [SEGMENTS] [RUNS]
//
// overhead.py gives it its arguments. It replaces malloc, so no sanitizer build has it.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "ge/ge.h"

extern "C" {
extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);
}

namespace {

std::atomic<uint64_t> allocations{0};

void Count() { allocations.fetch_add(1, std::memory_order_relaxed); }

}  // namespace

// operator new ends in malloc.
extern "C" {
void* malloc(size_t n) { return Count(), __libc_malloc(n); }
void* calloc(size_t n, size_t m) { return Count(), __libc_calloc(n, m); }
void* realloc(void* p, size_t n) { return Count(), __libc_realloc(p, n); }
void* aligned_alloc(size_t a, size_t n) { return Count(), __libc_memalign(a, n); }
void* memalign(size_t a, size_t n) { return Count(), __libc_memalign(a, n); }
int posix_memalign(void** out, size_t a, size_t n) {
  Count();
  *out = __libc_memalign(a, n);
  return *out ? 0 : 12;
}
}

namespace {

std::string Chain(int n) {
  std::string text = "ge 1\nopset \"\" 28\nfn main(x: f32[4]) -> (t" + std::to_string(n) + ") {\n";
  for (int i = 1; i <= n; ++i) {
    const std::string from = i == 1 ? "x" : "t" + std::to_string(i - 1);
    text += "  t" + std::to_string(i) + (i % 2 ? " = Neg(" : " = Sin(") + from + ")\n";
  }
  return text + "}\nentry infer \"main\" = main\n";
}

int Fail(const ge_error& e) {
  std::fprintf(stderr, "ge-overhead: %s\n", e.message);
  return 3;
}

struct Measured {
  std::vector<double> ns;  // of single runs, sorted; empty after a failure
  double allocations = 0;  // of a run
};

template <typename Run>
Measured Measure(int runs, Run run) {
  constexpr int kWarm = 10, kCounted = 100;
  Measured out;
  for (int i = 0; i < kWarm; ++i) {
    if (run() != GE_STATUS_OK) return {};
  }
  const uint64_t before = allocations.load();
  for (int i = 0; i < kCounted; ++i) {
    if (run() != GE_STATUS_OK) return {};
  }
  out.allocations = static_cast<double>(allocations.load() - before) / kCounted;
  out.ns.resize(static_cast<size_t>(runs));
  for (double& t : out.ns) {
    const auto start = std::chrono::steady_clock::now();
    if (run() != GE_STATUS_OK) return {};
    t = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
  }
  std::sort(out.ns.begin(), out.ns.end());
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  const int n = argc > 2 ? std::atoi(argv[2]) : 1000, runs = argc > 3 ? std::atoi(argv[3]) : 2000;
  if (argc < 2 || argc > 4 || n < 1 || runs < 1) {
    return std::fprintf(stderr, "usage: ge-overhead ENGINES [SEGMENTS] [RUNS]\n"), 2;
  }
  ge_error error{};
  error.size = sizeof error;
  ge_session_options options;
  ge_session_options_init(&options);
  options.engines = argv[1];
  options.threads = 1;
  ge_session* s = nullptr;
  if (ge_session_create(&options, &s, &error)) return Fail(error);
  const std::string text = Chain(n);
  if (ge_session_load_bytes(s, text.data(), text.size(), GE_FORMAT_TEXT, &error)) {
    return Fail(error);
  }
  float x[4] = {1, 2, 3, 4}, y[4] = {};
  ge_tensor in{}, out{};
  in.size = out.size = sizeof in;
  in.dtype = 1;
  in.rank = 1;
  in.dims[0] = 4;
  in.data = x;
  in.bytes = sizeof x;
  out.data = y;
  out.bytes = sizeof y;
  const Measured plain =
      Measure(runs, [&] { return ge_session_run(s, nullptr, &in, 1, &out, 1, &error); });
  ge_prepared* p = nullptr;
  if (plain.ns.empty() || ge_prepared_create(s, nullptr, &in, 1, &out, 1, &p, &error)) {
    return Fail(error);
  }
  const Measured prepared = Measure(runs, [&] { return ge_prepared_run(p, nullptr, &error); });
  if (prepared.ns.empty()) return Fail(error);
  ge_prepared_destroy(p);
  char* report = nullptr;
  if (ge_session_report(s, nullptr, &report, &error)) return Fail(error);
  const std::vector<double>&ns = plain.ns, &pns = prepared.ns;
  std::printf(
      "{\"segments\": %d, \"runs\": %d, \"ns_per_segment\": %.2f, \"min_ns_per_segment\": %.2f, "
      "\"p99_ns_per_segment\": %.2f, \"allocations_per_run\": %.2f, "
      "\"prepared_ns_per_segment\": %.2f, \"prepared_min_ns_per_segment\": %.2f, "
      "\"prepared_allocations_per_run\": %.2f, \"report\": %s}\n",
      n, runs, ns[ns.size() / 2] / n, ns[0] / n, ns[ns.size() * 99 / 100] / n, plain.allocations,
      pns[pns.size() / 2] / n, pns[0] / n, prepared.allocations, report);
  ge_text_release(report);
  ge_session_destroy(s);
  return 0;
}
