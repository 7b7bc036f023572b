#include "plugins/cpu/openblas/vendor.h"

#include <dlfcn.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ge_engines::cpu::openblas {
namespace {

constexpr const char* kPackage = "libopenblas0-openmp";

// OpenMP builds first: they share libgomp's pool with everything else here. Debian keeps each build
// in a folder of its own, Fedora gives it another name.
constexpr const char* kInstalled[] = {
    "/usr/lib/x86_64-linux-gnu/openblas-openmp/libopenblas.so.0",
    "libopenblaso.so.0",
    "libopenblas.so.0",
};

// Where it is looked for, in order: beside the engine, where a wheel has it, then as installed.
const std::vector<std::string>& Libraries() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> paths;
    Dl_info self;
    if (dladdr(static_cast<const void*>(kInstalled), &self) != 0) {
      const std::string_view engine = self.dli_fname;
      const size_t slash = engine.rfind('/');
      if (slash != engine.npos) {
        std::string beside = std::string(engine.substr(0, slash)) + "/libopenblas.so.0";
        if (access(beside.c_str(), F_OK) == 0) paths.push_back(std::move(beside));
      }
    }
    paths.insert(paths.end(), std::begin(kInstalled), std::end(kInstalled));
    return paths;
  }();
  return all;
}

// Which of its kernels OpenBLAS takes when it may use `isa` and no more.
const char* CoreFor(uint32_t isa) {
  return isa >= GE_ISA_AVX512 ? "SkylakeX" : isa == GE_ISA_AVX2 ? "Haswell" : "Nehalem";
}

// What the kernels of a core need; names of OpenBLAS 0.3. Sandybridge and the Bulldozers lie
// between SSE 4.2 and AVX2, so they need the latter here.
uint32_t IsaOfCore(std::string_view core) {
  for (const char* name : {"SkylakeX", "Cooperlake", "SapphireRapids"}) {
    if (core == name) return GE_ISA_AVX512;
  }
  for (const char* name :
       {"Haswell", "Zen", "Excavator", "Steamroller", "Piledriver", "Bulldozer", "Sandybridge"}) {
    if (core == name) return GE_ISA_AVX2;
  }
  return GE_ISA_SSE42;
}

const char* NameOf(uint32_t isa) {
  return isa >= GE_ISA_AVX512 ? "AVX-512" : isa == GE_ISA_AVX2 ? "AVX2" : "SSE 4.2";
}

// Unless the user has set it or wants the environment left alone (GE_LIBRARY_ENV=keep).
bool MayChooseCore() {
  const char* wish = std::getenv("GE_LIBRARY_ENV");
  const bool keep = wish != nullptr && std::string_view(wish) == "keep";
  return !keep && std::getenv("OPENBLAS_CORETYPE") == nullptr;
}

// OPENBLAS_CORETYPE for the time in which the library is loaded.
class CoreScope {
 public:
  explicit CoreScope(uint32_t isa) : own_(MayChooseCore()) {
    if (own_) (void)setenv("OPENBLAS_CORETYPE", CoreFor(isa), 0);
  }
  ~CoreScope() {
    if (own_) (void)unsetenv("OPENBLAS_CORETYPE");
  }

 private:
  const bool own_;
};

// The processors that OpenBLAS sees.
int Processors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_CONF)));
}

}  // namespace

void Vendor::CheckRoom(int threads) {
  // One buffer for each processor when it is opened, or for each thread once it is told of more,
  // and one for each thread that computes. Where OpenBLAS cannot map one it tries for ever.
  constexpr size_t kBuffer = size_t{128} << 20;  // as 0.3.21 has them for x86-64
  constexpr size_t kLibrary = size_t{64} << 20;  // with libgfortran and libquadmath; it has 45 MB
  const auto buffers = static_cast<size_t>(std::max(Processors(), threads) + threads);
  const size_t bytes = buffers * kBuffer + kLibrary;
  // NORESERVE: the system may refuse as one, for want of memory, what it gives in pieces.
  void* room = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) {
    throw Refusal("OpenBLAS needs " + std::to_string(bytes >> 20) + " MB of address space with " +
                  std::to_string(threads) + (threads == 1 ? " thread" : " threads") +
                  ", and there is less left; raise the limit (ulimit -v), use fewer threads, or "
                  "leave openblas out of the engine list");
  }
  (void)munmap(room, bytes);
}

void Vendor::MapBuffers(int threads) const {
  auto* const alloc = reinterpret_cast<void* (*)(int)>(dlsym(library_, "blas_memory_alloc"));
  auto* const release = reinterpret_cast<void (*)(void*)>(dlsym(library_, "blas_memory_free"));
  if (alloc == nullptr || release == nullptr) return;  // a build that hides them maps them later
  std::vector<void*> buffers;
  for (int i = 0; i < threads; ++i) buffers.push_back(alloc(0));
  for (void* buffer : buffers) release(buffer);  // they stay mapped, for whoever asks next
}

bool Vendor::IsSure() {
  // Where a process has opened one already, that one's kernels stay.
  const char* first = Libraries().front().c_str();
  void* open = dlopen(first, RTLD_LAZY | RTLD_NOLOAD);
  if (open != nullptr) (void)dlclose(open);
  return open == nullptr && MayChooseCore() && access(first, R_OK) == 0;
}

void* Vendor::Symbol(const char* name) const {
  void* p = dlsym(library_, name);
  if (p == nullptr) {
    throw Refusal("'" + path_ + "' has no " + name + "; install OpenBLAS 0.3 (Debian: " + kPackage +
                  ")");
  }
  return p;
}

template <class T>
void Vendor::Find(const char* gemm, const char* gemv, Routines<T>* to) const {
  to->gemm = reinterpret_cast<decltype(to->gemm)>(Symbol(gemm));
  to->gemv = reinterpret_cast<decltype(to->gemv)>(Symbol(gemv));
}

Vendor::Vendor(const ge_host_api* host, const Machine& machine) {
  CheckRoom(machine.threads);
  std::string why;
  {
    CoreScope core(machine.isa);
    for (const std::string& path : Libraries()) {
      library_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
      path_ = path;
      if (library_ != nullptr) break;
      if (const char* text = dlerror()) why = text;
    }
  }
  if (library_ == nullptr) {
    throw Refusal("OpenBLAS is missing (" + why + "); install the package " + kPackage +
                  ", or leave openblas out of the engine list (GE_PLUGIN_DISABLE=openblas does so "
                  "for every command)");
  }
  Find("cblas_sgemm", "cblas_sgemv", &floats_);
  Find("cblas_dgemm", "cblas_dgemv", &doubles_);
  getrf = reinterpret_cast<decltype(getrf)>(Symbol("dgetrf_"));
  getri = reinterpret_cast<decltype(getri)>(Symbol("dgetri_"));
  const char* core = reinterpret_cast<char* (*)()>(Symbol("openblas_get_corename"))();
  isa_ = IsaOfCore(core);
  if (isa_ > machine.isa) {
    throw Refusal("OpenBLAS uses its " + std::string(core) + " kernels (" + NameOf(isa_) +
                  "), above the cap of " + NameOf(machine.isa) +
                  "; unset OPENBLAS_CORETYPE, and load no OpenBLAS before this engine");
  }
  set_threads = reinterpret_cast<void (*)(int)>(dlsym(library_, "omp_set_num_threads"));
  max_threads = reinterpret_cast<int (*)()>(dlsym(library_, "omp_get_max_threads"));
  // An OpenMP build asks OpenMP at each call; this is for the others.
  reinterpret_cast<void (*)(int)>(Symbol("openblas_set_num_threads"))(machine.threads);
  MapBuffers(machine.threads);
  constexpr int kOpenMp = 2;
  const int pool = reinterpret_cast<int (*)()>(Symbol("openblas_get_parallel"))();
  if (pool != kOpenMp && machine.threads > 1 && host != nullptr) {
    const std::string text = "openblas: '" + path_ +
                             "' is no OpenMP build: its threads compete with those of the other "
                             "engines; install the package " +
                             kPackage;
    host->log(host->host, 1, ge::plugin::Str(text));
  }
}

template <class T>
void Product2<T>::Run(const Vendor& blas, const T* a, const T* b, T* c) const {
  const Routines<T>& by = blas.routines<T>();
  if (m == 1) {
    // A row times B: stored [k][n] it is read as a transposed matrix.
    const int incx = trans_a ? lda : 1;
    by.gemv(kRowMajor, trans_b ? kNoTrans : kTrans, trans_b ? n : k, trans_b ? k : n, alpha, b, ldb,
            a, incx, beta, c, 1);
  } else if (n == 1) {
    const int incx = trans_b ? 1 : ldb;
    by.gemv(kRowMajor, trans_a ? kTrans : kNoTrans, trans_a ? k : m, trans_a ? m : k, alpha, a, lda,
            b, incx, beta, c, ldc);
  } else {
    by.gemm(kRowMajor, trans_a ? kTrans : kNoTrans, trans_b ? kTrans : kNoTrans, m, n, k, alpha, a,
            lda, b, ldb, beta, c, ldc);
  }
}

namespace {

// The strip of [0, n) that is the given one of `parts`, whole tiles of the kernels' widest.
struct Strip {
  int at, n;
  Strip(int part, int parts, int all) {
    constexpr int kTile = 16;
    const int each = ((all + parts - 1) / parts + kTile - 1) / kTile * kTile;
    at = std::min(part * each, all);
    n = std::min(each, all - at);
  }
};

}  // namespace

template <class T>
void Product2<T>::RunAlone(const Vendor& blas, const T* a, const T* b, T* c) const {
  const Alone alone(blas);
  Run(blas, a, b, c);
}

template <class T>
void Product2<T>::RunStrip(const Vendor& blas, int part, int parts, const T* a, const T* b,
                           T* c) const {
  const bool rows = m >= n;
  const Strip strip(part, parts, rows ? m : n);
  if (strip.n <= 0) return;
  Product2 mine = *this;
  const auto at = static_cast<ptrdiff_t>(strip.at);
  if (rows) {
    mine.m = strip.n;
    mine.RunAlone(blas, a + (trans_a ? at : at * lda), b, c + at * ldc);
  } else {
    mine.n = strip.n;
    mine.RunAlone(blas, a, b + (trans_b ? at * ldb : at), c + at);
  }
}

template struct Product2<float>;
template struct Product2<double>;

}  // namespace ge_engines::cpu::openblas
