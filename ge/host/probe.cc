#include "ge/host/probe.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "ge/base/repeat_timing.h"
#include "ge/base/sha256.h"
#include "ge/base/text/json_number.h"
#include "ge/base/text/json_text.h"
#include "ge/ge_plugin.h"
#include "ge/host/cache_folder.h"
#include "ge/host/host_load.h"
#include "ge/host/probe_kernels.h"
#include "ge/host/shipped.h"

namespace ge {
namespace {

constexpr uint32_t kProbeVersion = 1;

// Whatever else the machine does can only make a run longer.
template <typename Body>
double Shortest(double budget_ns, Body body) {
  return ShortestNs(&SteadyNs, budget_ns, body);
}

// Memory of the probe, given back at once: it would otherwise stand in the process's peak.
class Block {
 public:
  explicit Block(uint64_t bytes) : bytes_(bytes) {
    void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) return;
    (void)madvise(p, bytes, MADV_HUGEPAGE);
    data_ = static_cast<float*>(p);
    for (uint64_t i = 0; i < bytes / sizeof(float); i += 1024) data_[i] = 1.0f;
  }
  ~Block() {
    if (data_) munmap(data_, bytes_);
  }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  float* data() const { return data_; }

 private:
  uint64_t bytes_;
  float* data_ = nullptr;
};

// Of the cache of a level that one core reaches, as the kernel tells it ("32768K"); 0 where it does
// not.
uint64_t KernelCacheBytes(int level) {
  for (int i = 0; i < 8; ++i) {
    const std::string folder = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/", i);
    int its_level = 0;
    uint64_t kib = 0;
    if (!(std::ifstream(folder + "level") >> its_level)) break;
    if (its_level == level && std::ifstream(folder + "size") >> kib) return kib << 10;
  }
  return 0;
}

// The C library adds up what all cores of a processor have, those that a virtual machine lacks,
// too: 320 MiB where two cores share 32.
uint64_t CacheBytes(int level, int name, uint64_t fallback) {
  if (const uint64_t bytes = KernelCacheBytes(level)) return bytes;
  const long bytes = sysconf(name);
  return bytes > 0 ? static_cast<uint64_t>(bytes) : fallback;
}

// Clouds mask names: one "AMD EPYC" is of 2021, another of 2024. Family and model tell them apart.
std::string CpuModel() {
  std::ifstream in("/proc/cpuinfo");
  std::string line, name = "unknown", rest;
  while (std::getline(in, line) && !line.empty()) {  // of the first processor
    const size_t colon = line.find(": ");
    if (colon == std::string::npos) continue;
    const std::string value = line.substr(colon + 2, 200);
    if (line.rfind("model name", 0) == 0) {
      name = value;
    } else if (line.rfind("cpu family", 0) == 0) {
      rest += ", family " + value;
    } else if (line.rfind("model", 0) == 0) {
      rest += ", model " + value;
    }
  }
  return name + rest;
}

uint32_t IsaMask() {
  uint32_t mask = 1u << GE_ISA_SSE42;
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) mask |= 1u << GE_ISA_AVX2;
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) {
    mask |= 1u << GE_ISA_AVX512;
  }
#endif
  return mask;
}

// What one thread of a timed round does; the array is walked by parallel_for.
struct Share {
  const probe::Kernels* kernels;
  uint64_t rounds;
  const float* from;
  float* to;
  uint64_t floats;
  volatile float sink;
};

void DoPeak(void* ctx, uint64_t i) {
  Share& s = static_cast<Share*>(ctx)[i];
  s.sink = s.kernels->peak(s.rounds);
}
void DoCopy(void* ctx, uint64_t i) {
  Share& s = static_cast<Share*>(ctx)[i];
  s.kernels->copy(s.from, s.to, s.floats);
}
void DoNothing(void*, uint64_t) {}

constexpr uint64_t kPeakRounds = 20000;  // about 0.1 ms

double CopySpeed(const probe::Kernels& k, float* data, uint64_t bytes, double budget_ns) {
  const uint64_t half = bytes / 2 / 4096 * 4096, floats = half / sizeof(float);
  const double ns = Shortest(budget_ns, [&] { k.copy(data, data + floats, floats); });
  return 2.0 * static_cast<double>(half) / ns;
}

void ProbeOneThread(MachineRecord* m, float* data, uint64_t bytes) {
  volatile float sink = 0;
  // Both halves of a copy inside the cache, with room for what else lies there.
  const uint64_t l2 = m->cache_bytes[0] / 2;
  const uint64_t l3 = std::clamp<uint64_t>(m->cache_bytes[1] / 4, 4 * l2, bytes);
  for (uint32_t isa = GE_ISA_SSE42; isa <= m->isa; ++isa) {
    if (!(m->isa_mask >> isa & 1)) continue;
    const probe::Kernels k = probe::KernelsOf(isa);
    const double ns = Shortest(6e6, [&] { sink = k.peak(kPeakRounds); });
    m->flops_per_ns[isa] = k.flops_per_round * static_cast<double>(kPeakRounds) / ns;
    m->copy_bytes_per_ns[isa][0] = CopySpeed(k, data, l2, 3e6);
    m->copy_bytes_per_ns[isa][1] = CopySpeed(k, data, l3, 8e6);
    m->copy_bytes_per_ns[isa][2] = CopySpeed(k, data, bytes, 0);
  }
  (void)sink;
}

void ProbeAllThreads(MachineRecord* m, float* data, uint64_t bytes, ParallelForFn parallel_for) {
  if (m->threads < 2) return;
  const probe::Kernels k = probe::KernelsOf(m->isa);
  const uint64_t floats = bytes / (2 * m->threads) / 4096 * 4096 / sizeof(float);
  if (floats == 0) return;
  auto* shares = static_cast<Share*>(std::calloc(m->threads, sizeof(Share)));
  if (!shares) return;
  for (uint32_t t = 0; t < m->threads; ++t) {
    shares[t].kernels = &k;
    shares[t].rounds = kPeakRounds;
    shares[t].from = data + 2 * t * floats;
    shares[t].to = data + (2 * t + 1) * floats;
    shares[t].floats = floats;
  }
  const double n = m->threads;
  const double peak = Shortest(8e6, [&] { parallel_for(m->threads, &DoPeak, shares); });
  const double flops = n * k.flops_per_round * static_cast<double>(kPeakRounds) / peak;
  const double copy = Shortest(0, [&] { parallel_for(m->threads, &DoCopy, shares); });
  const double moved = 2.0 * n * static_cast<double>(floats) * sizeof(float) / copy;
  m->thread_gain[0] = std::clamp(flops / m->flops_per_ns[m->isa], 1.0, n);
  m->thread_gain[1] = std::clamp(moved / m->copy_bytes_per_ns[m->isa][2], 1.0, n);
  // Median, not shortest: what matters is what it usually costs to wake the others.
  const auto forks = RepeatTiming(&SteadyNs, 101, 3, 1e9, [&]() -> Result<double> {
    const double start = SteadyNs();
    parallel_for(m->threads, &DoNothing, nullptr);
    return SteadyNs() - start;
  });
  std::vector<double> ns = forks->ns;
  std::nth_element(ns.begin(), ns.begin() + static_cast<int64_t>(ns.size() / 2), ns.end());
  m->fork_ns = ns[ns.size() / 2];
  std::free(shares);
}

ge_rc EmptyEnqueue(ge_exec*, const ge_launch* l, ge_err*) { return l->n_in == 7 ? 1 : 0; }

void ProbeCall(MachineRecord* m) {
  constexpr int kCalls = 10000;
  ge_rc (*volatile target)(ge_exec*, const ge_launch*, ge_err*) = &EmptyEnqueue;
  ge_launch launch{};
  ge_err err{};
  ge_rc sum = 0;
  const double ns = Shortest(1e6, [&] {
    for (int i = 0; i < kCalls; ++i) sum |= target(nullptr, &launch, &err);
  });
  m->call_ns = ns / kCalls + sum;
}

bool Plausible(double x) { return std::isfinite(x) && x >= 1e-3 && x <= 1e7; }

bool IsWhole(const MachineRecord& m) {
  for (uint32_t isa = GE_ISA_SSE42; isa <= m.isa; ++isa) {
    if (!(m.isa_mask >> isa & 1)) continue;
    if (!Plausible(m.flops_per_ns[isa])) return false;
    for (double c : m.copy_bytes_per_ns[isa]) {
      if (!Plausible(c)) return false;
    }
  }
  return Plausible(m.thread_gain[0]) && Plausible(m.thread_gain[1]) && Plausible(m.call_ns) &&
         (m.threads < 2 || Plausible(m.fork_ns)) && m.cache_bytes[0] > 0 && m.cache_bytes[1] > 0;
}

std::string FileName(const MachineRecord& m) {
  const std::string key = fmt::format("{}|{}|{}|{}", m.cpu, m.isa_mask, m.isa, m.threads);
  return "machine-" + Sha256(std::as_bytes(std::span(key.data(), key.size()))).substr(0, 16) +
         ".json";
}

}  // namespace

MachineRecord IdentifyMachine(uint32_t isa_cap, uint32_t threads) {
  MachineRecord m;
  m.cpu = CpuModel();
  m.isa_mask = IsaMask();
  m.isa = GE_ISA_SSE42;
  for (uint32_t isa = GE_ISA_SSE42; isa <= GE_ISA_AVX512; ++isa) {
    const bool allowed = isa_cap == GE_ISA_NATIVE || isa <= isa_cap;
    if (allowed && (m.isa_mask >> isa & 1)) m.isa = isa;
  }
  m.threads = std::max(1u, threads);
  m.cache_bytes[0] = CacheBytes(2, _SC_LEVEL2_CACHE_SIZE, uint64_t{1} << 20);
  m.cache_bytes[1] = CacheBytes(3, _SC_LEVEL3_CACHE_SIZE, uint64_t{16} << 20);
  return m;
}

uint32_t BestIsa(const MachineRecord& record) {
  uint32_t best = GE_ISA_SSE42;
  for (uint32_t isa = best; isa <= GE_ISA_AVX512; ++isa) {
    if (record.isa_mask >> isa & 1) best = isa;
  }
  return best;
}

MachineRecord FixedMachine(uint32_t isa_cap, uint32_t threads) {
  MachineRecord m = IdentifyMachine(isa_cap, threads);
  m.fixed = true;
  // A quiet Xeon at 2.8 GHz with AVX-512, on which the engines' prices were fitted.
  constexpr double kPeak[4] = {0, 22, 97, 165};
  for (uint32_t isa = GE_ISA_SSE42; isa <= GE_ISA_AVX512; ++isa) {
    m.flops_per_ns[isa] = kPeak[isa];
    m.copy_bytes_per_ns[isa][0] = 85;
    m.copy_bytes_per_ns[isa][1] = 12;
    m.copy_bytes_per_ns[isa][2] = 10;
  }
  m.thread_gain[0] = m.threads > 1 ? 0.9 * m.threads : 1;
  m.thread_gain[1] = m.threads > 1 ? 1.3 : 1;
  m.call_ns = 2;
  m.fork_ns = m.threads > 1 ? 755 : 0;
  m.cache_bytes[0] = uint64_t{5} << 18;
  m.cache_bytes[1] = uint64_t{48} << 20;
  return m;
}

MachineRecord ProbeMachine(uint32_t isa_cap, uint32_t threads, ParallelForFn parallel_for) {
  MachineRecord m = IdentifyMachine(isa_cap, threads);
  // Twice the last-level cache, so that nothing of it stays; bounded, since it has to be touched.
  const uint64_t bytes =
      std::clamp<uint64_t>(2 * m.cache_bytes[1], uint64_t{32} << 20, uint64_t{128} << 20);
  Block block(bytes);
  if (!block.data()) return FixedMachine(isa_cap, threads);
  const LoadWatch watch;
  m.doubtful = IsBusyNow(m.threads, parallel_for);
  ProbeOneThread(&m, block.data(), bytes);
  ProbeAllThreads(&m, block.data(), bytes, parallel_for);
  ProbeCall(&m);
  m.doubtful |= watch.Busy() || IsBusyNow(m.threads, parallel_for);
  m.probed_now = true;
  return m;
}

namespace {

bool IsProbeFixed() {
  const char* wish = secure_getenv("GE_PROBE");
  return wish && std::strcmp(wish, "fixed") == 0;
}

}  // namespace

namespace {

bool FindShipped(const MachineRecord& key, MachineRecord* out) {
  const char* const name = "machines.json";
  const auto file = ReadShippedFile(name);
  if (!file) return false;
  const Status status = MachineFromShipped(*file, key, out);
  if (status.code() == Code::kDataCorrupt) WarnOfShipped(name, status.message());
  return status.ok();
}

}  // namespace

MachineRecord KnownMachine(uint32_t isa_cap, uint32_t threads) {
  if (IsProbeFixed()) return FixedMachine(isa_cap, threads);
  const MachineRecord key = IdentifyMachine(isa_cap, threads);
  MachineRecord kept, shipped;
  const auto text = ReadCacheFile(FileName(key));
  const Status read = text ? MachineFromText(*text, key, &kept) : Status();
  if (read.code() == Code::kDataCorrupt) PutAsideCacheFile(FileName(key), *text, read.message());
  const bool known = text && read.ok();
  if (known && !kept.doubtful) return kept;
  if (FindShipped(key, &shipped)) return shipped;
  return known ? kept : FixedMachine(isa_cap, threads);
}

MachineRecord ShippedMachine(uint32_t isa_cap, uint32_t threads) {
  if (IsProbeFixed()) return FixedMachine(isa_cap, threads);
  MachineRecord shipped;
  const bool known = FindShipped(IdentifyMachine(isa_cap, threads), &shipped);
  return known ? shipped : FixedMachine(isa_cap, threads);
}

MachineRecord MeasuredMachine(uint32_t isa_cap, uint32_t threads, ParallelForFn parallel_for) {
  if (IsProbeFixed()) return FixedMachine(isa_cap, threads);
  const MachineRecord m = ProbeMachine(isa_cap, threads, parallel_for);
  if (!m.fixed) {
    (void)UpdateCacheFile(FileName(m), [&](const std::string&) { return MachineToText(m); });
  }
  return m;
}

namespace {

constexpr const char* kWrongKind = "it is damaged: a field is missing or of another kind";
constexpr const char* kOutOfRange = "it is damaged: a rate in it is out of range";

// The name of a processor need not be UTF-8.
std::string Printed(const nlohmann::json& j) {
  return j.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

nlohmann::json MachineJson(const MachineRecord& m) {
  return {{"probe", kProbeVersion},       {"cpu", m.cpu},
          {"isa_mask", m.isa_mask},       {"isa", m.isa},
          {"threads", m.threads},         {"flops_per_ns", m.flops_per_ns},
          {"copy", m.copy_bytes_per_ns},  {"thread_gain", m.thread_gain},
          {"call_ns", m.call_ns},         {"fork_ns", m.fork_ns},
          {"cache_bytes", m.cache_bytes}, {"doubtful", m.doubtful}};
}

// The rates of a record; its identity stays as it is. Throws what the JSON library throws.
void ReadRates(const nlohmann::json& j, MachineRecord* m) {
  for (int i = 0; i < 4; ++i) {
    m->flops_per_ns[i] = j.at("flops_per_ns").at(i).get<double>();
    for (int k = 0; k < 3; ++k) {
      m->copy_bytes_per_ns[i][k] = j.at("copy").at(i).at(k).get<double>();
    }
  }
  for (int i = 0; i < 2; ++i) m->thread_gain[i] = j.at("thread_gain").at(i).get<double>();
  m->call_ns = j.at("call_ns").get<double>();
  m->fork_ns = j.at("fork_ns").get<double>();
}

// How unlike a shipped record is: another vendor counts more than another generation (its best
// instruction set tells), and that more than any difference of threads.
double Unlike(const nlohmann::json& j, const MachineRecord& host) {
  const double threads = j.at("threads").get<double>();
  const double apart = std::abs(std::log2(threads) - std::log2(static_cast<double>(host.threads)));
  const bool same_isa = j.value("isa_mask", nlohmann::json()) == host.isa_mask;
  return apart + (j.at("vendor") == CpuVendor() ? 0 : 100) + (same_isa ? 0 : 20);
}

// For more threads than anybody has measured: they add as much as they usually do.
void GrowThreads(uint32_t measured, MachineRecord* m) {
  if (m->threads == measured) return;
  m->thread_gain[0] = m->threads > 1 ? 0.9 * m->threads : 1;
  if (m->threads == 1) {
    m->thread_gain[1] = 1;
    m->fork_ns = 0;
  }
  if (m->threads > 1 && m->fork_ns <= 0) m->fork_ns = FixedMachine(m->isa, 2).fork_ns;
}

}  // namespace

Result<std::string> WithShippedMachine(const std::string& present, const MachineRecord& record) {
  nlohmann::json all = nlohmann::json::array(), mine = MachineJson(record);
  mine["vendor"] = CpuVendor();
  bool replaced = false;
  if (!present.empty()) {
    GE_ASSIGN_OR_RETURN(const nlohmann::json there, ParseJson(present));
    try {
      for (const nlohmann::json& j : ListOf(there)) {
        const bool same = j.at("vendor").get<std::string>() == CpuVendor() &&
                          WholeNumber<uint32_t>(j.at("isa")) == record.isa &&
                          WholeNumber<uint32_t>(j.at("isa_mask")) == record.isa_mask &&
                          WholeNumber<uint32_t>(j.at("threads")) == record.threads;
        all.push_back(same ? mine : j);
        replaced |= same;
      }
    } catch (const nlohmann::json::exception&) {
      return Status(Code::kDataCorrupt, kWrongKind);
    }
  }
  if (!replaced) all.push_back(mine);
  return Printed(all);
}

Status MachineFromShipped(const std::string& text, const MachineRecord& host, MachineRecord* out) {
  GE_ASSIGN_OR_RETURN(const nlohmann::json all, ParseJson(text));
  try {
    const nlohmann::json* nearest = nullptr;
    for (const nlohmann::json& j : ListOf(all)) {
      if (WholeNumber<uint32_t>(j.at("probe")) != kProbeVersion ||
          WholeNumber<uint32_t>(j.at("isa")) != host.isa) {
        continue;
      }
      if (!nearest || Unlike(j, host) < Unlike(*nearest, host)) nearest = &j;
    }
    if (!nearest) {
      return Status(Code::kFailedPrecondition, "it is about other instruction sets");
    }
    MachineRecord m = host;
    ReadRates(*nearest, &m);
    GrowThreads(WholeNumber<uint32_t>(nearest->at("threads")), &m);
    if (!IsWhole(m)) return Status(Code::kDataCorrupt, kOutOfRange);
    m.shipped = true;
    *out = m;
    return {};
  } catch (const nlohmann::json::exception&) {
    return Status(Code::kDataCorrupt, kWrongKind);
  }
}

std::string MachineToText(const MachineRecord& record) { return Printed(MachineJson(record)); }

Status MachineFromText(const std::string& text, const MachineRecord& key, MachineRecord* out) {
  GE_ASSIGN_OR_RETURN(const nlohmann::json j, ParseJson(text));
  try {
    MachineRecord m = key;
    if (WholeNumber<uint32_t>(j.at("probe")) != kProbeVersion ||
        j.at("cpu").get<std::string>() != key.cpu ||
        WholeNumber<uint32_t>(j.at("isa_mask")) != key.isa_mask ||
        WholeNumber<uint32_t>(j.at("isa")) != key.isa ||
        WholeNumber<uint32_t>(j.at("threads")) != key.threads) {
      return Status(Code::kFailedPrecondition, "it is about another machine");
    }
    ReadRates(j, &m);
    m.doubtful = j.value("doubtful", false);
    if (!IsWhole(m)) return Status(Code::kDataCorrupt, kOutOfRange);
    *out = m;
    return {};
  } catch (const nlohmann::json::exception&) {  // its text may quote the file's bytes
    return Status(Code::kDataCorrupt, kWrongKind);
  }
}

}  // namespace ge
