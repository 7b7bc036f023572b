#include "plugins/cpu/kit/rounded.h"

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ge/ge_plugin.h"

namespace ge_engines::cpu {
namespace {

// Linux gives the state of tiles, 8 KiB a thread, to processes that ask (arch/x86, since 5.16).
constexpr long kRequestPermission = 0x1023, kTileData = 18;

bool ProcessorHasTiles() {
  uint32_t a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
  constexpr uint32_t kBf16 = 1u << 22, kTiles = 1u << 24;
  return (d & kBf16) != 0 && (d & kTiles) != 0;
}

Rounded ByTiles() {
  Rounded r = kRounded_avx512;
  r.product = kTileProduct;
  r.gain = 8;
  return r;
}

}  // namespace

bool HasTiles() {
  static const bool has =
      ProcessorHasTiles() && syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
  return has;
}

const Rounded* RoundedOf(uint32_t isa) {
  __builtin_cpu_init();
  if (isa < GE_ISA_AVX512 || __builtin_cpu_supports("avx512bf16") == 0) return nullptr;
  static const Rounded by_tiles = ByTiles();
  return HasTiles() ? &by_tiles : &kRounded_avx512;
}

}  // namespace ge_engines::cpu
