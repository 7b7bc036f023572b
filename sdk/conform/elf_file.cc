#include "elf_file.h"

#include <elf.h>
#include <fmt/format.h>

#include <cstring>
#include <fstream>
#include <iterator>

namespace ge::conform {
namespace {

class Reader {
 public:
  explicit Reader(std::vector<char> bytes) : bytes_(std::move(bytes)) {}
  // False where the file ends before.
  template <class T>
  bool At(uint64_t offset, T* out) const {
    if (offset > bytes_.size() || sizeof(T) > bytes_.size() - offset) return false;
    std::memcpy(out, bytes_.data() + offset, sizeof(T));
    return true;
  }
  std::string Text(uint64_t offset) const {
    if (offset >= bytes_.size()) return "";
    return std::string(bytes_.data() + offset,
                       strnlen(bytes_.data() + offset, bytes_.size() - offset));
  }

 private:
  const std::vector<char> bytes_;
};

bool ReadSymbols(const Reader& r, const Elf64_Shdr& table, const Elf64_Shdr& names, ElfFile* out) {
  if (table.sh_entsize < sizeof(Elf64_Sym)) return false;
  for (uint64_t i = 1; i < table.sh_size / table.sh_entsize; ++i) {
    Elf64_Sym s;
    if (!r.At(table.sh_offset + i * table.sh_entsize, &s)) return false;
    const int bind = ELF64_ST_BIND(s.st_info);
    if (bind == STB_LOCAL) continue;
    out->symbols.push_back({r.Text(names.sh_offset + s.st_name), s.st_shndx != SHN_UNDEF,
                            bind == STB_WEAK, ELF64_ST_TYPE(s.st_info) == STT_TLS});
  }
  return true;
}

bool ReadDynamic(const Reader& r, const Elf64_Shdr& table, const Elf64_Shdr& names, ElfFile* out) {
  for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= table.sh_size; at += sizeof(Elf64_Dyn)) {
    Elf64_Dyn d;
    if (!r.At(table.sh_offset + at, &d)) return false;
    if (d.d_tag == DT_NULL) break;
    if (d.d_tag == DT_NEEDED) out->needed.push_back(r.Text(names.sh_offset + d.d_un.d_val));
    if (d.d_tag == DT_SONAME) out->soname = r.Text(names.sh_offset + d.d_un.d_val);
    if (d.d_tag == DT_TEXTREL) out->text_relocations = true;
    if (d.d_tag == DT_FLAGS) {
      out->static_tls |= (d.d_un.d_val & DF_STATIC_TLS) != 0;
      out->text_relocations |= (d.d_un.d_val & DF_TEXTREL) != 0;
    }
  }
  return true;
}

}  // namespace

std::string ReadElf(const std::string& path, ElfFile* out) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return fmt::format("'{}' cannot be read", path);
  const Reader r(std::vector<char>(std::istreambuf_iterator<char>(in), {}));
  Elf64_Ehdr h;
  if (!r.At(0, &h) || std::memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 ||
      h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_type != ET_DYN) {
    return "it is no 64-bit shared object";
  }
  for (uint16_t i = 0; i < h.e_phnum; ++i) {
    Elf64_Phdr p;
    if (!r.At(h.e_phoff + uint64_t{i} * h.e_phentsize, &p))
      return "its program headers are cut off";
    if (p.p_type == PT_TLS) out->thread_local_bytes = p.p_memsz;
    if (p.p_type == PT_GNU_STACK) out->executable_stack = (p.p_flags & PF_X) != 0;
  }
  std::vector<Elf64_Shdr> sections(h.e_shnum);
  for (uint16_t i = 0; i < h.e_shnum; ++i) {
    if (!r.At(h.e_shoff + uint64_t{i} * h.e_shentsize, &sections[i])) {
      return "its section headers are cut off";
    }
  }
  bool seen = false;
  for (const Elf64_Shdr& s : sections) {
    if (s.sh_type != SHT_DYNSYM && s.sh_type != SHT_DYNAMIC) continue;
    if (s.sh_link >= sections.size()) return "a section names another that is not there";
    const Elf64_Shdr& names = sections[s.sh_link];
    const bool ok =
        s.sh_type == SHT_DYNSYM ? ReadSymbols(r, s, names, out) : ReadDynamic(r, s, names, out);
    if (!ok) return "its dynamic tables are cut off";
    seen |= s.sh_type == SHT_DYNSYM;
  }
  return seen ? "" : "it has no dynamic symbols, or its section headers were stripped";
}

}  // namespace ge::conform
