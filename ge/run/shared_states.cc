#include "ge/run/shared_states.h"

#include <fmt/format.h>

#include <algorithm>

namespace ge {
namespace {

constexpr StateId kOne[] = {0};  // of a span of one slot

std::string Text(const Type& type) { return TypeToString(type, DimTable()); }

Status OtherType(const std::string& name, const Type& have, uint32_t users, const char* whose,
                 const Type& wanted) {
  return Status(Code::kInvalidArgument,
                fmt::format("shared state '{}' is {} and used by {} session{}; {} is {}: give it "
                            "another name, or other shared states",
                            name, Text(have), users, users == 1 ? "" : "s", whose, Text(wanted)));
}

}  // namespace

Result<std::shared_ptr<StateSlot>> SharedStates::Make(std::string_view name, const Type& type) {
  auto slot = std::make_shared<StateSlot>();
  slot->name = name;
  slot->type = type;
  slot->bytes = static_cast<uint64_t>(ByteCount(type).value_or(0));
  GE_RETURN_IF_ERROR(slot->MakeAtHost());
  return slot;
}

Result<std::shared_ptr<StateSlot>> SharedStates::Find(std::string_view name) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto it = named_.find(name);
  if (it != named_.end()) return it->second.slot;
  return Status(Code::kInvalidArgument,
                fmt::format("there is no shared state '{}'; there are {}", name, named_.size()));
}

Status SharedStates::Set(std::string_view name, const TensorView& value) {
  const Type given = TensorType(value.dtype, value.dims);
  const auto bytes = ByteCount(given);
  const bool whole = bytes && value.bytes == static_cast<uint64_t>(*bytes);
  if (name.empty() || !whole || (value.bytes != 0 && value.data == nullptr)) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("shared state '{}' was to become {} by {} bytes{}; wanted a name, a "
                    "tensor of numbers and all of its bytes",
                    name, Text(given), value.bytes, value.data == nullptr ? " at NULL" : ""));
  }
  std::shared_ptr<StateSlot> made;
  for (;;) {
    std::shared_ptr<StateSlot> there;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      const auto it = named_.find(name);
      const bool free = it == named_.end() || it->second.users == 0;
      if (it != named_.end()) there = it->second.slot;
      if (there && there->type != given) {
        if (!free) {
          return OtherType(there->name, there->type, it->second.users, "its new value", given);
        }
        if (made) it->second.slot = made;
        there.reset();
      } else if (!there && made) {
        named_.emplace(name, Named{made});
      }
      if (!there && made) return {};
    }
    if (!there) {
      GE_ASSIGN_OR_RETURN(made, Make(name, given));
      GE_RETURN_IF_ERROR(made->Set(given, value.data));
      continue;
    }
    StateAccess access;
    GE_RETURN_IF_ERROR(access.Begin(&locks_, std::span(&there, 1), {}, kOne));
    if (Has(*there)) return there->Set(given, value.data);
    made.reset();  // it was erased, or replaced, meanwhile
  }
}

bool SharedStates::Has(const StateSlot& slot) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto it = named_.find(slot.name);
  return it != named_.end() && it->second.slot.get() == &slot;
}

Status SharedStates::Get(std::string_view name, TensorView* out) {
  GE_ASSIGN_OR_RETURN(const std::shared_ptr<StateSlot> slot, Find(name));
  if (out->data == nullptr) return slot->Get(out);  // its type alone
  StateAccess access;
  GE_RETURN_IF_ERROR(access.Begin(&locks_, std::span(&slot, 1), kOne, {}));
  return slot->Get(out);
}

Status SharedStates::Erase(std::string_view name) {
  std::shared_ptr<StateSlot> gone;  // freed behind the lock
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto it = named_.find(name);
  if (it == named_.end()) {
    return Status(Code::kInvalidArgument,
                  fmt::format("there is no shared state '{}'; there are {}", name, named_.size()));
  }
  if (it->second.users != 0) {
    return Status(Code::kFailedPrecondition,
                  fmt::format("shared state '{}' is used by {} session{}; wanted none: destroy "
                              "them, and their prepared runs, first",
                              name, it->second.users, it->second.users == 1 ? "" : "s"));
  }
  gone = std::move(it->second.slot);
  named_.erase(it);
  return {};
}

std::vector<std::pair<std::string, Type>> SharedStates::List() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<std::pair<std::string, Type>> out;
  for (const auto& [name, n] : named_) out.emplace_back(name, n.slot->type);
  return out;
}

Result<std::vector<size_t>> SharedStates::Lacking(std::span<const Wanted> wanted,
                                                  const Slots& made) const {
  std::vector<size_t> lacking;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const auto it = named_.find(wanted[i].name);
    if (it == named_.end()) {
      if (!made[i]) lacking.push_back(i);
    } else if (it->second.slot->type != wanted[i].type) {
      return OtherType(wanted[i].name, it->second.slot->type, it->second.users,
                       "the model's state of that name", wanted[i].type);
    }
  }
  return lacking;
}

Result<SharedStates::Slots> SharedStates::Join(std::span<const Wanted> wanted, const First& first,
                                               std::vector<bool>* added) {
  Slots made(wanted.size()), out(wanted.size());
  added->assign(wanted.size(), false);
  std::map<std::string, Named, std::less<>> fresh;  // no memory is asked for once it begins
  for (;;) {
    std::vector<size_t> lacking;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      GE_ASSIGN_OR_RETURN(lacking, Lacking(wanted, made));
      if (lacking.empty()) {
        for (size_t i = 0; i < wanted.size(); ++i) (*added)[i] = named_.count(wanted[i].name) == 0;
        named_.merge(fresh);
        for (size_t i = 0; i < wanted.size(); ++i) {
          Named& n = named_.find(wanted[i].name)->second;
          ++n.users;
          out[i] = n.slot;
        }
        return out;
      }
    }
    for (const size_t i : lacking) {
      GE_ASSIGN_OR_RETURN(made[i], Make(wanted[i].name, wanted[i].type));
      fresh.emplace(wanted[i].name, Named{made[i]});
    }
    GE_RETURN_IF_ERROR(first(lacking, made));
  }
}

void SharedStates::Part(const Slots& slots, const std::vector<bool>& added) noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (size_t i = 0; i < slots.size(); ++i) {
    if (!slots[i]) continue;
    const auto it = named_.find(slots[i]->name);
    if (it == named_.end() || it->second.slot != slots[i]) continue;
    const bool unused = --it->second.users == 0 && i < added.size() && added[i];
    if (unused) named_.erase(it);
  }
}

}  // namespace ge
