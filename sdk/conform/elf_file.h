// Dynamic symbols, needed libraries and flags of a shared object, read from the file before it is
// loaded. 64-bit ELF of this machine alone. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ge::conform {

struct ElfSymbol {
  std::string name;
  bool defined = false, weak = false, thread_local_data = false;
};
struct ElfFile {
  std::vector<ElfSymbol> symbols;   // global and weak ones of the dynamic table
  std::vector<std::string> needed;  // libraries, as the file names them
  std::string soname;
  uint64_t thread_local_bytes = 0;  // of PT_TLS
  bool static_tls = false;          // DF_STATIC_TLS: cannot always be loaded late
  bool text_relocations = false, executable_stack = false;
};

// "", or why the file cannot be read as ELF.
std::string ReadElf(const std::string& path, ElfFile* out);

}  // namespace ge::conform
