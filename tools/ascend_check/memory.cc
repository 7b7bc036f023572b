// Blocks, copies and fills.
#include <algorithm>

#include "tools/ascend_check/desk.h"

namespace ascend_check {
namespace {

using Bytes = std::vector<unsigned char>;

Bytes Pattern(size_t n, unsigned seed = 0) {
  Bytes bytes(n);
  for (size_t i = 0; i < n; ++i) bytes[i] = static_cast<unsigned char>(i * 131 + i / 251 + seed);
  return bytes;
}
void NeedSame(const Bytes& found, const Bytes& wanted) {
  const auto [at, other] = std::mismatch(found.begin(), found.end(), wanted.begin());
  Case::Need(at == found.end(), "byte " + std::to_string(at - found.begin()) + " of " +
                                    std::to_string(found.size()) + " is another");
}
unsigned char* At(void* block, size_t offset) {
  return static_cast<unsigned char*>(block) + offset;
}

// ---- blocks ------------------------------------------------------------------------------------

void Aligned(Case& at) {
  Place p(at);
  for (const size_t bytes : {1, 31, 33, 512, 513, 4097, 1 << 20}) {
    const auto where = reinterpret_cast<uintptr_t>(p.Block(bytes));
    Case::Need(where % 512 == 0, "a block of " + std::to_string(bytes + 32) + " bytes begins " +
                                     std::to_string(where % 512) + " behind a multiple of 512");
  }
}
void ManyBlocks(Case& at) {
  Place p(at);
  std::vector<void*> blocks;
  for (size_t k = 0; k < 300; ++k) {
    blocks.push_back(p.Block(97 * k + 1));
    p.Up(blocks.back(), Pattern(97 * k + 1, static_cast<unsigned>(k)).data(), 97 * k + 1);
  }
  for (size_t k = 0; k < 300; ++k) {
    NeedSame(p.Down(blocks[k], 97 * k + 1), Pattern(97 * k + 1, static_cast<unsigned>(k)));
    at.Ok(p.f.aclrtFree(blocks[k]), "aclrtFree");
  }
}
void NoBytes(Case& at) {
  Place p(at);
  void* made = nullptr;
  at.Refused(p.f.aclrtMalloc(&made, 0, acl::kHugeFirst), "aclrtMalloc of 0 bytes");
}
void TooMany(Case& at) {
  Place p(at);
  size_t left = 0, all = 0;
  at.Ok(p.f.aclrtGetMemInfo(acl::kHbm, &left, &all), "aclrtGetMemInfo");
  void* made = nullptr;
  at.Refused(p.f.aclrtMalloc(&made, 2 * all, acl::kHugeFirst), "aclrtMalloc of twice the memory",
             acl::kOutOfMemory);
}
void Info(Case& at) {
  Place p(at);
  size_t left = 0, all = 0;
  at.Ok(p.f.aclrtGetMemInfo(acl::kHbm, &left, &all), "aclrtGetMemInfo");
  at.Tell(std::to_string(left) + " of " + std::to_string(all) + " bytes are free");
  Case::Need(all > 0 && left <= all,
             "of " + std::to_string(all) + " bytes " + std::to_string(left) + " are free");
}
void InfoFalls(Case& at) {
  Place p(at);
  size_t before = 0, behind = 0, all = 0;
  at.Ok(p.f.aclrtGetMemInfo(acl::kHbm, &before, &all), "aclrtGetMemInfo");
  (void)p.Block(size_t{64} << 20);
  at.Ok(p.f.aclrtGetMemInfo(acl::kHbm, &behind, &all), "aclrtGetMemInfo");
  Case::Need(behind < before, "a block of 64 MiB leaves as much free as before");
}
void PinnedMemory(Case& at) {
  Place p(at);
  auto* block = static_cast<unsigned char*>(p.Pinned(100000));
  const Bytes bytes = Pattern(100000);
  std::copy(bytes.begin(), bytes.end(), block);
  NeedSame(Bytes(block, block + 100000), bytes);
  at.Ok(p.f.aclrtFreeHost(block), "aclrtFreeHost");
}
void FreeBehindWait(Case& at) {
  Place p(at);
  for (int k = 0; k < 20; ++k) {
    void* block = p.Block(1 << 20);
    at.Ok(p.f.aclrtMemsetAsync(block, 1 << 20, k, 1 << 20, p.stream), "aclrtMemsetAsync");
    p.Wait();
    at.Ok(p.f.aclrtFree(block), "aclrtFree");
  }
}
void FreeTwice(Case& at) {
  Place p(at);
  void* block = p.Block(64);
  at.Ok(p.f.aclrtFree(block), "aclrtFree");
  at.Refused(p.f.aclrtFree(block), "a second aclrtFree");
}
void FreeInside(Case& at) {
  Place p(at);
  at.Refused(p.f.aclrtFree(At(p.Block(4096), 512)), "aclrtFree of an address inside a block");
}
void FreeOther(Case& at) {
  Place p(at);
  at.Refused(p.f.aclrtFree(p.Pinned(4096)), "aclrtFree of page-locked memory of the host");
}

// ---- copies ------------------------------------------------------------------------------------

void ThereAndBack(Case& at) {
  Place p(at);
  void* block = p.Block(100003);
  p.Up(block, Pattern(100003).data(), 100003);
  NeedSame(p.Down(block, 100003), Pattern(100003));
}
void OnDevice(Case& at) {
  Place p(at);
  void *a = p.Block(100003), *b = p.Block(100003);
  p.Up(a, Pattern(100003).data(), 100003);
  at.Ok(p.f.aclrtMemcpy(b, 100003, a, 100003, acl::kDeviceToDevice), "aclrtMemcpy on the device");
  at.Ok(p.f.aclrtSynchronizeDevice(), "aclrtSynchronizeDevice");
  NeedSame(p.Down(b, 100003), Pattern(100003));
}
void OnHost(Case& at) {
  Place p(at);
  const Bytes from = Pattern(1001);
  Bytes to(1001);
  at.Ok(p.f.aclrtMemcpy(to.data(), 1001, from.data(), 1001, acl::kHostToHost),
        "aclrtMemcpy on the host");
  NeedSame(to, from);
}
void OddCopies(Case& at) {
  Place p(at);
  Bytes image = Pattern(4096);
  void* block = p.Block(4096);
  p.Up(block, image.data(), 4096);
  for (size_t k = 1; k < 70; k += 3) {
    const Bytes some = Pattern(k, static_cast<unsigned>(k));
    p.Up(At(block, 40 * k + k % 7), some.data(), k);
    std::copy(some.begin(), some.end(), image.begin() + static_cast<int64_t>(40 * k + k % 7));
    NeedSame(p.Down(At(block, 40 * k + k % 7), k), some);
  }
  NeedSame(p.Down(block, 4096), image);
}
void LargeCopies(Case& at) {
  Place p(at);
  const Bytes bytes = Pattern((size_t{24} << 20) + 5);
  void* block = p.Block(bytes.size());
  p.Up(block, bytes.data(), bytes.size());
  NeedSame(p.Down(block, bytes.size()), bytes);
}
void OnStream(Case& at) {
  Place p(at);
  const size_t n = 50021;
  const Bytes bytes = Pattern(n);
  auto *from = static_cast<unsigned char*>(p.Pinned(n)),
       *to = static_cast<unsigned char*>(p.Pinned(n));
  void *a = p.Block(n), *b = p.Block(n);
  std::copy(bytes.begin(), bytes.end(), from);
  std::fill_n(to, n, 0);
  const auto copy = [&](void* t, const void* f, acl::CopyKind kind) {
    at.Ok(p.f.aclrtMemcpyAsync(t, n, f, n, kind, p.stream),
          "aclrtMemcpyAsync of kind " + std::to_string(kind));
  };
  copy(a, from, acl::kHostToDevice);
  copy(b, a, acl::kDeviceToDevice);
  copy(to, b, acl::kDeviceToHost);
  p.Wait();
  NeedSame(Bytes(to, to + n), bytes);
}
void RoomOf(Case& at, bool async) {
  Place p(at);
  void *a = p.Block(64), *b = p.Block(64);
  p.Up(b, Pattern(64).data(), 64);
  const auto s = async ? p.f.aclrtMemcpyAsync(a, 32, b, 64, acl::kDeviceToDevice, p.stream)
                       : p.f.aclrtMemcpy(a, 32, b, 64, acl::kDeviceToDevice);
  at.Refused(s, "a copy of 64 bytes into room for 32");
}
void Room(Case& at) { RoomOf(at, false); }
void RoomOnStream(Case& at) { RoomOf(at, true); }
void RoomOfFill(Case& at) {
  Place p(at);
  at.Refused(p.f.aclrtMemset(p.Block(64), 32, 1, 64), "a fill of 64 bytes in room for 32");
}
void WrongKind(Case& at) {
  Place p(at);
  Bytes host(64);
  at.Refused(p.f.aclrtMemcpy(host.data(), 64, host.data(), 64, acl::kDeviceToDevice),
             "a copy of the host's memory of kind device to device");
}

// ---- fills -------------------------------------------------------------------------------------

void FillOf(Case& at, bool async) {
  Place p(at);
  Bytes image = Pattern(1000);
  void* block = p.Block(1000);
  for (const auto& [offset, bytes, value] :
       {std::tuple{0, 1000, 0}, {17, 301, 255}, {512, 1, 128}, {999, 1, 7}}) {
    const auto n = static_cast<size_t>(bytes);
    unsigned char* where = At(block, static_cast<size_t>(offset));
    at.Ok(async ? p.f.aclrtMemsetAsync(where, n, value, n, p.stream)
                : p.f.aclrtMemset(where, n, value, n),
          "a fill of " + std::to_string(bytes) + " bytes");
    std::fill_n(image.begin() + offset, bytes, static_cast<unsigned char>(value));
  }
  if (async) p.Wait();
  NeedSame(p.Down(block, 1000), image);
}
void FillNow(Case& at) { FillOf(at, false); }
void FillOnStream(Case& at) { FillOf(at, true); }

}  // namespace

std::vector<Check> MemoryChecks() {
  return {
      {"block-aligned", "rule:align-512", "Blocks begin at multiples of 512 bytes.", Aligned},
      {"block-many", "rule:plus-32", "Three hundred blocks of odd sizes keep their own bytes.",
       ManyBlocks},
      {"block-empty", "rule:no-zero-malloc", "A block of 0 bytes is refused.", NoBytes},
      {"block-too-large", "rule:no-zero-malloc", "A block larger than the memory answers 207001.",
       TooMany},
      {"memory-info", "rule:plus-32", "Free memory is at most all of it.", Info},
      {"memory-info-falls", "rule:plus-32", "A block of 64 MiB leaves less.", InfoFalls},
      {"pinned", "rule:async-pinned", "Page-locked memory is the host's to write.", PinnedMemory},
      {"free-behind-wait", "rule:workspace",
       "A block is freed once its stream has been waited for.", FreeBehindWait},
      {"free-twice", "rule:late-errors", "A second free is refused.", FreeTwice},
      {"free-inside", "rule:late-errors", "An address inside a block is not freed.", FreeInside},
      {"free-kind", "rule:late-errors", "aclrtFree refuses page-locked memory.", FreeOther},
      {"copy-there-and-back", "rule:dest-max", "Bytes come back as they went.", ThereAndBack},
      {"copy-device", "rule:dest-max", "Bytes are copied on the device.", OnDevice},
      {"copy-host", "rule:dest-max", "Bytes are copied on the host.", OnHost},
      {"copy-odd", "rule:dest-max", "Copies of odd sizes at odd places touch nothing else.",
       OddCopies},
      {"copy-large", "rule:dest-max", "A copy of 24 MiB is exact.", LargeCopies},
      {"copy-stream", "rule:async-pinned", "Copies of three kinds on a stream run in its order.",
       OnStream},
      {"copy-room", "rule:dest-max", "A copy beyond its room is refused.", Room},
      {"copy-room-stream", "rule:dest-max", "The same on a stream.", RoomOnStream},
      {"copy-kind", "rule:dest-max", "A kind that is not where the addresses lie is refused.",
       WrongKind},
      {"fill", "rule:dest-max", "Fills of odd sizes are exact.", FillNow},
      {"fill-stream", "rule:dest-max", "The same on a stream.", FillOnStream},
      {"fill-room", "rule:dest-max", "A fill beyond its room is refused.", RoomOfFill},
  };
}

}  // namespace ascend_check
