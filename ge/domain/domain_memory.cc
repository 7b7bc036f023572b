#include "ge/domain/domain_memory.h"

#include <algorithm>

namespace ge {

DomainMemory::DomainMemory(Of of, Failed failed)
    : of_(std::move(of)),
      failed_(std::move(failed)),
      account_(DomainAccount::Of(of_.id)),
      copies_({of_.api, of_.engine, of_.device, of_.async, of_.limit_ns, of_.keep_engine}) {
  account_->Join(this, of_.limit);
}

DomainMemory::~DomainMemory() {
  account_->Leave(this);
  DropFree();
}

ge_rc DomainMemory::Call(const Block& wanted, Block* block, ge_err* err) {
  *block = wanted;
  err->h = GE_HDR(ge_err, GE_TAG_ERR);
  err->node = UINT32_MAX;
  return of_.api->mem_alloc(of_.engine, of_.device, of_.domain, wanted.bytes, wanted.align,
                            &block->mem, &block->address, err);
}

Result<DomainMemory::Block> DomainMemory::Make(HeldAs as, uint64_t bytes, uint64_t align,
                                               const std::string& name) {
  Block wanted;
  wanted.bytes = std::max<uint64_t>(bytes, 1);
  wanted.align = std::max({align, of_.align, uint64_t{64}});
  const bool packs_go = as != HeldAs::kPack;
  wanted.number = account_->Add(as, wanted.bytes, name);
  for (const bool packs : {false, true}) {
    if (wanted.number != 0 || (packs && !packs_go)) break;
    account_->FreeUnused(wanted.bytes, packs);
    wanted.number = account_->Add(as, wanted.bytes, name);
  }
  if (wanted.number == 0) return account_->Refusal(of_.name, wanted.bytes, name);
  Block block;
  ge_err err{};
  ge_rc rc = Call(wanted, &block, &err);
  if (rc == GE_OUT_OF_MEMORY && err.scope < GE_SCOPE_DEVICE) {
    account_->FreeUnused(UINT64_MAX, packs_go);  // it has less than it says, or says nothing
    err = {};
    rc = Call(wanted, &block, &err);
  }
  if (rc == GE_OK) return block;
  account_->Drop(wanted.number);
  const Status why = failed_("mem_alloc", rc, err);
  return Status(why.code(), "no memory for " + name + ": " + why.message());
}

void DomainMemory::Free(const Block& block) {
  if (block.mem == nullptr) return;
  of_.api->mem_free(of_.engine, block.mem);
  account_->Drop(block.number);
}

Result<std::shared_ptr<const DomainMemory::Block>> DomainMemory::MakeShared(
    HeldAs as, uint64_t bytes, uint64_t align, const std::string& name) {
  const std::shared_ptr<Block> block(new Block, [this](Block* made) {
    Free(*made);
    delete made;
  });
  GE_ASSIGN_OR_RETURN(*block, Make(as, bytes, align, name));
  return std::shared_ptr<const Block>(block);
}

Status DomainMemory::Copy(const char* what, const ge_buf& from, const ge_buf& to,
                          std::shared_ptr<const void> used, const Interrupt* call) {
  ge_err err{};
  err.h = GE_HDR(ge_err, GE_TAG_ERR);
  err.node = UINT32_MAX;
  const ge_rc rc = copies_.Copy(from, to, std::move(used), call, &err);
  if (rc == GE_OK) return {};
  if (rc == GE_CANCELLED && call != nullptr && call->stopped()) return call->Check();
  return failed_(what, rc, err);
}

bool DomainMemory::TakeFree(uint64_t bytes, uint64_t align, uint64_t last, Block* block) {
  const std::lock_guard<std::mutex> lock(mutex_);
  auto best = free_.end();
  for (auto it = free_.begin(); it != free_.end(); ++it) {
    if (it->bytes < bytes || it->align < align) continue;
    if (best == free_.end() || it->number == last ||
        (best->number != last && it->bytes <= best->bytes)) {
      best = it;
    }
  }
  const bool found = best != free_.end();
  if (!found) {
    if (free_.empty()) {
      free_.reserve(++made_);
      return false;
    }
    // All of them are too small: the largest goes, and the new one takes its place.
    best = std::max_element(free_.begin(), free_.end(),
                            [](const Block& a, const Block& b) { return a.bytes < b.bytes; });
  }
  *block = *best;
  free_.erase(best);
  return found;
}

Result<DomainMemory::Lease> DomainMemory::Take(uint64_t bytes, uint64_t align, uint64_t last,
                                               const Named& name) {
  align = std::max({align, of_.align, uint64_t{64}});
  Block block;
  if (TakeFree(bytes, align, last, &block)) return Lease(this, block);
  Free(block);
  Result<Block> made = Make(HeldAs::kArena, bytes, align, name.text(name.what));
  if (made.ok()) return Lease(this, *made);
  const std::lock_guard<std::mutex> lock(mutex_);
  --made_;
  return made.status();
}

void DomainMemory::Give(const Block& block) noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  free_.push_back(block);  // there is room: TakeFree
}

void DomainMemory::DropFree() {
  std::vector<Block> free;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    free.assign(free_.begin(), free_.end());
    free_.clear();
    made_ -= free.size();
  }
  for (const Block& block : free) Free(block);
}

}  // namespace ge
