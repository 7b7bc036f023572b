#include "timing.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <cstring>
#include <ctime>
#include <memory>
#include <vector>

#include "counted_memory.h"

namespace ge::conform {
namespace {

// Of this thread alone, or of the wall's clock.
double NowNs(bool own) {
  timespec t = {};
  clock_gettime(own ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

// The best of a few batches of calls, by this thread's time or the wall's; what one of them
// allocates. False where a call fails.
template <class Once>
bool TimeCalls(const Once& once, bool own, Timed* out) {
  constexpr int kBatches = 7;
  constexpr double kBatchNs = 1.5e6;
  for (int i = 0; i < 3; ++i) {
    if (once() != GE_OK) return false;
  }
  BeginWatch();
  const ge_rc watched = once();
  const Watched counted = EndWatch();
  if (watched != GE_OK) return false;
  out->own = counted.own;
  out->library = counted.others;
  double begin = NowNs(own);
  (void)once();
  const double first = std::max(1.0, NowNs(own) - begin);
  const int n = static_cast<int>(std::clamp(kBatchNs / first, 1.0, 20000.0));
  out->ns = 1e300;
  for (int batch = 0; batch < kBatches; ++batch) {
    begin = NowNs(own);
    for (int i = 0; i < n; ++i) (void)once();
    out->ns = std::min(out->ns, (NowNs(own) - begin) / n);
  }
  return true;
}

}  // namespace

bool Time(Rig& rig, const Sample& sample, const mock::Answer& answer, const mock::Exec& exec,
          const Values& values, Timed* out, std::string* why) {
  mock::Engine& e = rig.engine();
  mock::Launch launch(exec);
  for (uint32_t i = 0; i < exec.segment.in.size(); ++i) {
    const mock::Border& b = exec.segment.in[i];
    std::vector<unsigned char> bytes;
    if (!ToLayout(e, sample.graph, answer, b.value, b.layout, values.at(b.value), &bytes, why)) {
      return false;
    }
    launch.SetInput(i, std::move(bytes));
  }
  launch.Begin();
  const bool async = e.devices()[exec.segment.device].async();
  mock::Arena arena("the launch record");
  std::unique_ptr<mock::Stream> stream;
  std::unique_ptr<mock::Event> event;
  if (async) {
    event = std::make_unique<mock::Event>(e, exec.segment.device);
    stream = std::make_unique<mock::Stream>(e, exec.segment.device);
  }
  const ge_launch* record = launch.Record(stream.get(), &arena);
  uint64_t value = 0;
  const auto once = [&] {
    ge_rc rc = e.api().enqueue(exec.handle, record, nullptr);
    if (async && rc == GE_OK)
      rc = e.api().stream_signal(stream->get(), event->get(), ++value, nullptr);
    if (async && rc == GE_OK) rc = e.api().event_wait(event->get(), value, UINT64_MAX, nullptr);
    return rc;
  };
  mock::CallScope scope(rig.host(), "enqueue");
  const bool good = TimeCalls(once, !async, out);
  scope.Returned();
  if (!good) *why = "enqueue fails when it is repeated";
  return good;
}

namespace {

#if defined(__x86_64__)
// Ten sums at once: enough for two units of four cycles each. Answers operations.
__attribute__((target("avx512f"))) double Products512(int rounds, float* sink) {
  const __m512 x = _mm512_set1_ps(1.0001f);
  __m512 a = x, b = x, c = x, d = x, e = x, f = x, g = x, h = x, k = x, l = x;
  for (int i = 0; i < rounds; ++i) {
    a = _mm512_fmadd_ps(a, x, x);
    b = _mm512_fmadd_ps(b, x, x);
    c = _mm512_fmadd_ps(c, x, x);
    d = _mm512_fmadd_ps(d, x, x);
    e = _mm512_fmadd_ps(e, x, x);
    f = _mm512_fmadd_ps(f, x, x);
    g = _mm512_fmadd_ps(g, x, x);
    h = _mm512_fmadd_ps(h, x, x);
    k = _mm512_fmadd_ps(k, x, x);
    l = _mm512_fmadd_ps(l, x, x);
  }
  for (const __m512& s : {a, b, c, d, e, f, g, h, k, l}) *sink += _mm512_cvtss_f32(s);
  return 10.0 * 16 * 2 * rounds;
}
__attribute__((target("avx2,fma"))) double Products256(int rounds, float* sink) {
  const __m256 x = _mm256_set1_ps(1.0001f);
  __m256 a = x, b = x, c = x, d = x, e = x, f = x, g = x, h = x, k = x, l = x;
  for (int i = 0; i < rounds; ++i) {
    a = _mm256_fmadd_ps(a, x, x);
    b = _mm256_fmadd_ps(b, x, x);
    c = _mm256_fmadd_ps(c, x, x);
    d = _mm256_fmadd_ps(d, x, x);
    e = _mm256_fmadd_ps(e, x, x);
    f = _mm256_fmadd_ps(f, x, x);
    g = _mm256_fmadd_ps(g, x, x);
    h = _mm256_fmadd_ps(h, x, x);
    k = _mm256_fmadd_ps(k, x, x);
    l = _mm256_fmadd_ps(l, x, x);
  }
  for (const __m256& s : {a, b, c, d, e, f, g, h, k, l}) *sink += _mm256_cvtss_f32(s);
  return 10.0 * 8 * 2 * rounds;
}
#endif

double PeakFlops() {
  double best = 0;
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool wide = __builtin_cpu_supports("avx512f");
  if (!wide && !(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))) return 0;
  volatile float keep = 0;
  // Upper halves of registers that stay in use would slow down all code of other instruction sets.
  for (int i = 0; i < 25; ++i) {
    float sink = 0;
    const double begin = NowNs(true);
    const double work = wide ? Products512(20000, &sink) : Products256(20000, &sink);
    best = std::max(best, work / (NowNs(true) - begin));
    keep = keep + sink;
    asm volatile("vzeroupper" : : : "memory");
  }
#endif
  return best;
}

double CopySpeed(size_t bytes) {
  std::vector<char> a(bytes, 1), b(bytes, 2);
  const int n = static_cast<int>(std::max<size_t>(1, (8 << 20) / bytes));
  double best = 0;
  for (int i = 0; i < 7; ++i) {
    const double begin = NowNs(true);
    for (int k = 0; k < n; ++k) {
      std::memcpy(b.data(), a.data(), bytes);
      asm volatile("" : : "r"(b.data()) : "memory");
    }
    best = std::max(best, 2.0 * static_cast<double>(bytes) * n / (NowNs(true) - begin));
  }
  return best;
}

}  // namespace

mock::Facts MeasuredFacts() {
  mock::Facts f;
  f.flops_per_ns = PeakFlops();
  f.copy_bytes_per_ns[0] = CopySpeed(128 << 10);
  f.copy_bytes_per_ns[1] = CopySpeed(4 << 20);
  f.copy_bytes_per_ns[2] = CopySpeed(48 << 20);
  return f;
}

}  // namespace ge::conform
