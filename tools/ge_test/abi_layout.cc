#include "tools/ge_test/abi_layout.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <span>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "ge/base/replace_file.h"
#include "ge/base/sha256.h"
#include "ge/ge_plugin.h"
#include "ge/ge_plugin_op.h"
#include "ge/ge_plugin_pass.h"
#include "tools/ge_test/text/case.h"

namespace ge::test {
namespace {

struct Field {
  const char* name;
  const char* type;
  uint64_t offset, size, align;
};
struct Struct {
  const char* name;
  uint64_t size, align, wanted_fields;
  std::vector<Field> fields;
};
struct Number {
  const char* name;
  int64_t value;
};

// The table that tools/gen/abi_layout.py read from the header; the compiler fills in the numbers.
std::vector<Struct> AllStructs() {
  std::vector<Struct> out;
#define GE_ABI_VALUE(name)
#define GE_ABI_STRUCT(name, n) out.push_back({#name, sizeof(name), alignof(name), n, {}});
#define GE_ABI_FIELD(name, field, type)                             \
  out.back().fields.push_back({#field, type, offsetof(name, field), \
                               sizeof(std::declval<name&>().field), \
                               alignof(std::remove_cv_t<decltype(name::field)>)});
#include "abi_layout.inc"
#undef GE_ABI_VALUE
#undef GE_ABI_STRUCT
#undef GE_ABI_FIELD
  return out;
}

std::vector<Number> AllValues() {
  return {
#define GE_ABI_VALUE(name) {#name, static_cast<int64_t>(name)},
#define GE_ABI_STRUCT(name, n)
#define GE_ABI_FIELD(name, field, type)
#include "abi_layout.inc"
#undef GE_ABI_VALUE
#undef GE_ABI_STRUCT
#undef GE_ABI_FIELD
  };
}

uint64_t RoundUp(uint64_t n, uint64_t align) { return (n + align - 1) / align * align; }

// Each field begins where the one before ends, and the struct ends behind the last: so that no
// field of the header can be missing from the table.
std::string Gap(const Struct& s) {
  uint64_t end = 0;
  for (const Field& f : s.fields) {
    if (f.offset != RoundUp(end, f.align)) {
      return fmt::format("{}.{} is at {}, but the field before ends at {}", s.name, f.name,
                         f.offset, end);
    }
    end = f.offset + f.size;
  }
  if (s.size != RoundUp(end, s.align)) {
    return fmt::format("{} has {} bytes, but its last field ends at {}", s.name, s.size, end);
  }
  if (s.fields.size() == s.wanted_fields) return "";
  return fmt::format("{} has {} fields, the header {}", s.name, s.fields.size(), s.wanted_fields);
}

std::string Layout(const std::vector<Struct>& structs, const std::vector<Number>& values) {
  std::string out =
      "# Layout of sdk/include/ge/ge_plugin*.h. GE_HEADER_HASH is the first 8 bytes of this "
      "file's\n"
      "# SHA-256. Written by ge-test --abi-layout FILE --update; a change here is a change of the "
      "ABI.\n";
  out += fmt::format("abi {}.{} magic {:#x} pointer {}\n", GE_ABI_MAJOR, GE_ABI_MINOR,
                     GE_PLUGIN_MAGIC, sizeof(void*));
  for (const Number& v : values) out += fmt::format("value {} {}\n", v.name, v.value);
  for (const Struct& s : structs) {
    out += fmt::format("struct {} bytes {} align {}\n", s.name, s.size, s.align);
    for (const Field& f : s.fields) {
      out += fmt::format("  {} at {} bytes {}: {}\n", f.name, f.offset, f.size, f.type);
    }
  }
  return out;
}

uint64_t HashOf(const std::string& text) {
  const std::string hex = Sha256(std::as_bytes(std::span(text.data(), text.size())));
  return std::strtoull(hex.substr(0, 16).c_str(), nullptr, 16);
}

int Usage() {
  fmt::print(stderr,
             "usage: ge-test --abi-layout GOLDEN [--update]\n\n"
             "Compares the structs of the plugin headers with the golden file.\n"
             "  --update  writes the file anew, and says which GE_HEADER_HASH belongs to it\n\n"
             "example: ge-test --abi-layout tests/abi/layout.golden\n");
  return 2;
}

int Update(const std::string& path, const std::string& text) {
  if (const Status written = ReplaceFile(path, text, false); !written.ok()) {
    fmt::print(stderr, "ge-test: {}\n", written.message());
    return 2;
  }
  fmt::print(
      "{} is written; sdk/include/ge/ge_plugin.h now needs\n#define GE_HEADER_HASH {:#x}ull\n",
      path, HashOf(text));
  return 0;
}

class Report {
 public:
  void Check(bool good, const std::string& text) {
    ++(good ? passed_ : failed_);
    if (!good) fmt::print("FAILED  {}\n", text);
  }
  int End() const {
    fmt::print("{} passed, {} failed, 0 skipped\n", passed_, failed_);
    return failed_ == 0 ? 0 : 1;
  }

 private:
  int passed_ = 0, failed_ = 0;
};

}  // namespace

int RunAbiLayout(int argc, char** argv) {
  const bool update = argc == 4 && std::strcmp(argv[3], "--update") == 0;
  if (argc != 3 && !update) return Usage();
  const std::string path = argv[2];
  const std::vector<Struct> structs = AllStructs();
  const std::vector<Number> values = AllValues();
  const std::string found = Layout(structs, values);
  Report report;
  for (const Struct& s : structs) {
    const std::string gap = Gap(s);
    report.Check(gap.empty(), gap + "; tools/gen/abi_layout.py did not read the header well");
  }
  if (update) return report.End() == 0 ? Update(path, found) : 1;
  std::ifstream in(path, std::ios::binary);
  std::stringstream golden;
  golden << in.rdbuf();
  if (!in) {
    fmt::print(stderr, "ge-test: {} cannot be read; ge-test --abi-layout {} --update writes it\n",
               path, path);
    return 2;
  }
  report.Check(golden.str() == found,
               fmt::format("the structs are not as {} says (- file, + header):\n{}  If the change "
                           "is meant, run ge-test --abi-layout {} --update, set GE_HEADER_HASH as "
                           "it says, and rebuild every plugin.",
                           path, LineDiff(golden.str(), found), path));
  const uint64_t wanted = HashOf(golden.str());
  report.Check(GE_HEADER_HASH == wanted,
               fmt::format("GE_HEADER_HASH is {:#x}, the SHA-256 of {} begins with {:#x}; set it "
                           "in sdk/include/ge/ge_plugin.h and rebuild every plugin",
                           static_cast<uint64_t>(GE_HEADER_HASH), path, wanted));
  return report.End();
}

}  // namespace ge::test
