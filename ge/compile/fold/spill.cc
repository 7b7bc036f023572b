#include "ge/compile/fold/spill.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "ge/base/file_mapping.h"

namespace ge {
namespace {

// Below it a constant is not worth a place in the file.
constexpr uint64_t kMinBytes = 64 << 10;
constexpr uint64_t kAlign = 4096;  // so that dropping one constant's pages leaves its neighbours'

int OpenUnlinked() {
  const char* folder = secure_getenv("TMPDIR");
  return open(folder && *folder ? folder : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

bool WriteAll(int fd, const std::byte* data, uint64_t bytes, uint64_t at) {
  while (bytes > 0) {
    ssize_t n = pwrite(fd, data, bytes, static_cast<off_t>(at));
    if (n <= 0) return false;
    data += n;
    bytes -= static_cast<uint64_t>(n);
    at += static_cast<uint64_t>(n);
  }
  return true;
}

bool IsLarge(const Const& c) {
  return !c.mapped && c.data != nullptr && c.owner != nullptr && c.bytes >= kMinBytes;
}

// All into one file.
void Spill(const std::vector<Const*>& large) {
  uint64_t bytes = 0;
  for (const Const* c : large) bytes += (c->bytes + kAlign - 1) / kAlign * kAlign;
  if (large.empty()) return;
  // Without a temporary file the weights simply stay on the heap: nothing is lost but memory.
  int fd = OpenUnlinked();
  if (fd < 0) return;
  std::shared_ptr<const FileMapping> mapping;
  if (ftruncate(fd, static_cast<off_t>(bytes)) == 0) {
    void* data = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0);
    if (data != MAP_FAILED) mapping = std::make_shared<const FileMapping>(data, bytes);
  }
  uint64_t at = 0;
  for (Const* c : large) {
    if (!mapping || !WriteAll(fd, c->data, c->bytes, at)) break;
    c->data = mapping->data() + at;
    c->owner = mapping;
    c->mapped = true;
    at += (c->bytes + kAlign - 1) / kAlign * kAlign;
  }
  close(fd);
}

}  // namespace

void SpillConstants(Graph* graph, const Graph& original) {
  std::vector<Const*> large;
  for (size_t i = 1; i < graph->consts.size(); ++i) {
    Const& c = graph->consts[i];
    bool original_too = i < original.consts.size() && original.consts[i].data == c.data;
    if (!original_too && IsLarge(c)) large.push_back(&c);
  }
  Spill(large);
}

void SpillConstant(Const* constant) {
  if (IsLarge(*constant)) Spill({constant});
}

}  // namespace ge
