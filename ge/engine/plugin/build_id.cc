#include "ge/engine/plugin/build_id.h"

#include <elf.h>
#include <link.h>

#include <cstdint>
#include <cstring>

namespace ge {
namespace {

struct Search {
  uintptr_t address;
  std::string id;
};

uint64_t Padded(uint64_t bytes) { return (bytes + 3) / 4 * 4; }

// The notes of one segment, which the loader has mapped and checked.
std::string IdInNotes(const char* p, uint64_t bytes) {
  while (bytes >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, p, sizeof note);
    const uint64_t name = Padded(note.n_namesz), desc = Padded(note.n_descsz);
    const uint64_t whole = sizeof note + name + desc;
    if (whole > bytes) return "";
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof ELF_NOTE_GNU &&
        std::memcmp(p + sizeof note, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0) {
      const auto* id = reinterpret_cast<const unsigned char*>(p + sizeof note + name);
      std::string hex;
      for (uint32_t i = 0; i < note.n_descsz; ++i) {
        constexpr char kDigits[] = "0123456789abcdef";
        hex += kDigits[id[i] >> 4];
        hex += kDigits[id[i] & 15];
      }
      return hex;
    }
    p += whole;
    bytes -= whole;
  }
  return "";
}

int Visit(dl_phdr_info* info, size_t, void* data) {
  auto* search = static_cast<Search*>(data);
  bool holds = false;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& h = info->dlpi_phdr[i];
    const uintptr_t begin = info->dlpi_addr + h.p_vaddr;
    holds |= h.p_type == PT_LOAD && search->address >= begin && search->address < begin + h.p_memsz;
  }
  if (!holds) return 0;
  for (int i = 0; i < info->dlpi_phnum && search->id.empty(); ++i) {
    const ElfW(Phdr)& h = info->dlpi_phdr[i];
    if (h.p_type != PT_NOTE) continue;
    search->id = IdInNotes(reinterpret_cast<const char*>(info->dlpi_addr + h.p_vaddr), h.p_memsz);
  }
  return 1;
}

}  // namespace

std::string BuildIdAt(const void* address) {
  Search search{reinterpret_cast<uintptr_t>(address), ""};
  dl_iterate_phdr(Visit, &search);
  return search.id;
}

}  // namespace ge
