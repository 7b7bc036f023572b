// ge_omp_adopt: a vendor's library whose calls of OpenMP the loader gave to the application's
// libgomp gets ours, by writing the slots through which it calls.
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <mutex>
#include <vector>

#include "plugins/cpu/omp/calls.h"
#include "plugins/cpu/omp/ge_omp.h"

namespace ge_omp {
namespace {

const link_map* MapOf(const void* address) {
  Dl_info info;
  void* map = nullptr;
  return dladdr1(address, &info, &map, RTLD_DL_LINKMAP) != 0 ? static_cast<link_map*>(map)
                                                             : nullptr;
}

// Whether the loader took it up after the other: then with it, or later.
bool CameAfter(const link_map* library, const link_map* engine) {
  const link_map* at = engine;
  while (at != nullptr && at != library) at = at->l_next;
  return at == library && library != engine;
}

struct Slot {
  void** at;
  void* ours;
};

// What a library's dynamic section says of its calls.
struct Dynamic {
  explicit Dynamic(const link_map& map) {
    for (const ElfW(Dyn)* d = map.l_ld; d->d_tag != DT_NULL; ++d) {
      if (d->d_tag == DT_SYMTAB) symbols = reinterpret_cast<const ElfW(Sym)*>(d->d_un.d_ptr);
      if (d->d_tag == DT_STRTAB) names = reinterpret_cast<const char*>(d->d_un.d_ptr);
      if (d->d_tag == DT_JMPREL) table[0] = reinterpret_cast<const ElfW(Rela)*>(d->d_un.d_ptr);
      if (d->d_tag == DT_PLTRELSZ) bytes[0] = d->d_un.d_val;
      if (d->d_tag == DT_RELA) table[1] = reinterpret_cast<const ElfW(Rela)*>(d->d_un.d_ptr);
      if (d->d_tag == DT_RELASZ) bytes[1] = d->d_un.d_val;
    }
  }
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  const ElfW(Rela) * table[2] = {};
  size_t bytes[2] = {};
};

// Of OpenMP's calls; those that are ours already are not listed.
std::vector<Slot> SlotsOf(const link_map& map) {
  std::vector<Slot> slots;
  const Dynamic dynamic(map);
  if (dynamic.symbols == nullptr || dynamic.names == nullptr) return slots;
  for (int k = 0; k < 2; ++k) {
    const ElfW(Rela)* const end = dynamic.table[k] + dynamic.bytes[k] / sizeof(ElfW(Rela));
    for (const ElfW(Rela)* r = dynamic.table[k]; r != end; ++r) {
      const auto type = ELF64_R_TYPE(r->r_info);
      if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) continue;
      const char* name = dynamic.names + dynamic.symbols[ELF64_R_SYM(r->r_info)].st_name;
      for (const OmpCall& call : Calls()) {
        if (std::strcmp(name, call.name) != 0) continue;
        auto* at = reinterpret_cast<void**>(map.l_addr + r->r_offset);
        Dl_info now, ours;
        const bool is_ours = dladdr(*at, &now) != 0 && dladdr(call.ours, &ours) != 0 &&
                             now.dli_fbase == ours.dli_fbase;
        if (!is_ours) slots.push_back({at, call.ours});
      }
    }
  }
  return slots;
}

// The pages that the loader makes read-only once it has bound a library.
struct Sealed {
  uintptr_t base = 0, begin = 0, end = 0;
};

int FindSealed(dl_phdr_info* info, size_t, void* to) {
  auto* sealed = static_cast<Sealed*>(to);
  if (info->dlpi_addr != sealed->base) return 0;
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& p = info->dlpi_phdr[i];
    if (p.p_type != PT_GNU_RELRO) continue;
    sealed->begin = (sealed->base + p.p_vaddr) / page * page;
    sealed->end = (sealed->base + p.p_vaddr + p.p_memsz) / page * page;
  }
  return 1;
}

bool Protect(const Sealed& sealed, int how) {
  if (sealed.begin == sealed.end) return true;
  return mprotect(reinterpret_cast<void*>(sealed.begin), sealed.end - sealed.begin, how) == 0;
}

}  // namespace
}  // namespace ge_omp

int ge_omp_adopt(const void* library, const void* engine) {
  using namespace ge_omp;
  static std::mutex one;  // pages that one caller seals are not another's to write
  const std::lock_guard<std::mutex> lock(one);
  const link_map* const map = MapOf(library);
  const link_map* const by = MapOf(engine);
  if (map == nullptr || by == nullptr) return 0;
  const std::vector<Slot> slots = SlotsOf(*map);
  if (slots.empty()) return 1;
  if (!CameAfter(map, by)) return 0;
  // All of them or none: a region of one runtime asks no other which thread it is.
  Sealed sealed{map->l_addr};
  dl_iterate_phdr(&FindSealed, &sealed);
  if (!Protect(sealed, PROT_READ | PROT_WRITE)) return 0;
  for (const Slot& slot : slots) *slot.at = slot.ours;
  Protect(sealed, PROT_READ);
  return 1;
}
