#include "ge/run/state_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "ge/base/file_mapping.h"
#include "ge/base/interrupt.h"
#include "ge/base/mapping_faults.h"
#include "ge/ir/graph_files.h"
#include "ge/run/output_memory.h"
#include "ge/run/tensor_view.h"

namespace ge {

namespace {

// With 0 for sizes that are not known yet.
Type Empty(Type type) {
  for (Dim& d : type.dims) d = d.known() ? d : KnownDim(0);
  return type;
}

uint64_t BytesOf(const Type& type) { return static_cast<uint64_t>(ByteCount(type).value_or(0)); }

// Zeros, or what the graph says; nothing is said of a state that is as large as runs make it.
Status FirstValue(const Graph& graph, const State& state, void* to, uint64_t bytes) {
  std::memset(to, 0, bytes);
  if (!state.init) return {};
  ConstScratch scratch;
  const std::byte* data = ConstBytes(graph.consts[state.init], &scratch, UINT64_MAX);
  if (!data && bytes > 0) {
    return Status(Code::kResourceExhausted,
                  fmt::format("no memory for the first value of state '{}'", state.name));
  }
  std::memcpy(to, data, bytes);
  // Only a reset reads it again.
  if (graph.consts[state.init].mapped) DropMappedPages(data, bytes);
  return {};
}

Status CheckDeclared(const Graph& graph, const State& state, bool grows) {
  const bool sized = ByteCount(Empty(state.type)) && (grows || state.type.is_static());
  if (!sized || (grows && state.init != 0)) {
    return Status(Code::kUnsupported,
                  fmt::format("state '{}' has type {}; a state needs a fixed shape", state.name,
                              TypeToString(state.type, graph.dims)));
  }
  if (!state.init_fn) return {};
  return Status(Code::kUnsupported,
                fmt::format("state '{}' is initialised by a function; this version takes a "
                            "constant or zeros",
                            state.name));
}

}  // namespace

int64_t RowsAlong(const Type& type, size_t axis) {
  return BytesOf(type) == 0 || axis >= type.rank() ? 0 : type.dims[axis].value;
}

Status StateStore::CheckSized(const Graph& graph, uint64_t limit, const char* raise,
                              const std::vector<bool>& grows, SharedStates::Slots* slots) const {
  uint64_t total = 0;
  slots->assign(graph.states.size(), nullptr);
  for (size_t i = 1; i < graph.states.size(); ++i) {
    const State& state = graph.states[i];
    GE_RETURN_IF_ERROR(CheckDeclared(graph, state, i < grows.size() && grows[i]));
    auto slot = std::make_shared<Slot>();
    slot->type = Empty(state.type);
    slot->bytes = BytesOf(slot->type);
    slot->name = state.name;
    total = std::min(total + 2 * slot->bytes, uint64_t{1} << 62);
    if (total > limit) {
      return Status(Code::kLimitExceeded,
                    fmt::format("state '{}' of {} bytes and those before it take {}, each twice; "
                                "the limit is {}; make it smaller, or {}",
                                state.name, slot->bytes, total, limit, raise));
    }
    (*slots)[i] = std::move(slot);
  }
  return {};
}

Status StateStore::Init(const Graph& graph, uint64_t limit, const char* raise,
                        const std::vector<bool>& grows, std::vector<CountedRows> counted,
                        std::shared_ptr<SharedStates> shared) {
  SharedStates::Slots slots;
  GE_RETURN_IF_ERROR(CheckSized(graph, limit, raise, grows, &slots));
  std::vector<StateId> all;
  for (StateId i = 1; i < slots.size(); ++i) all.push_back(i);
  if (shared) {
    shared_ = std::move(shared);
    locks_ = shared_->locks();
    GE_RETURN_IF_ERROR(JoinShared(graph, slots));
  } else {
    for (const StateId i : all) {
      GE_RETURN_IF_ERROR(slots[i]->MakeAtHost());
      GE_RETURN_IF_ERROR(FirstValue(graph, graph.states[i], slots[i]->now.host(), slots[i]->bytes));
    }
    slots_ = std::move(slots);
  }
  all_ = std::move(all);
  counted_ = std::move(counted);
  return {};
}

Status StateStore::JoinShared(const Graph& graph, const SharedStates::Slots& wanted) {
  std::vector<SharedStates::Wanted> types;
  for (size_t i = 1; i < wanted.size(); ++i) types.push_back({wanted[i]->name, wanted[i]->type});
  // Others may use them as soon as they are there, whatever becomes of this load.
  const auto first = [&graph](std::span<const size_t> which, const SharedStates::Slots& made) {
    MappedFiles files;
    for (const size_t i : which) AddFileOf(graph.consts[graph.states[i + 1].init], &files);
    for (const size_t i : which) {
      GE_RETURN_IF_ERROR(
          FirstValue(graph, graph.states[i + 1], made[i]->now.host(), made[i]->bytes));
    }
    return files.Check();
  };
  SharedStates::Slots slots;
  slots.reserve(wanted.size());
  std::vector<bool> added;
  added.reserve(wanted.size());
  GE_ASSIGN_OR_RETURN(SharedStates::Slots joined, shared_->Join(types, first, &added));
  slots.push_back(nullptr);
  slots.insert(slots.end(), joined.begin(), joined.end());
  added.insert(added.begin(), false);
  slots_ = std::move(slots);
  added_ = std::move(added);
  return {};
}

void StateStore::Clear() noexcept {
  if (shared_) shared_->Part(slots_, added_);
  slots_.clear();
  all_.clear();
  counted_.clear();
  added_.clear();
  locks_ = &own_locks_;
  shared_.reset();
}

Status StateStore::Reset(const Graph& graph) {
  StateAccess access;
  GE_RETURN_IF_ERROR(Begin(&access, {}, all_));
  MappedFiles files;
  for (const State& s : graph.states) AddFileOf(graph.consts[s.init], &files);
  GE_RETURN_IF_ERROR(files.Check());
  const FaultScope faults(!files.empty());
  std::vector<StateMemory> here(slots_.size());  // all of it, before any state changes
  for (const StateId i : all_) {
    if (slots_[i]->now.host() != nullptr) continue;
    GE_ASSIGN_OR_RETURN(here[i], StateMemory::Make({}, slots_[i]->bytes, slots_[i]->name));
  }
  for (const StateId i : all_) {
    Slot& slot = *slots_[i];
    if (here[i]) {
      slot.now = std::move(here[i]);
      slot.Count();
    }
    GE_RETURN_IF_ERROR(FirstValue(graph, graph.states[i], slot.now.host(), slot.bytes));
    slot.lost = false;
  }
  ++edits_;
  const Status whole = files.Check();
  for (const StateId i : all_) slots_[i]->lost |= !whole.ok();
  return whole;
}

Status StateStore::Get(const State&, StateId id, TensorView* out) {
  StateAccess access;
  GE_RETURN_IF_ERROR(Begin(&access, std::span(&id, 1), {}));
  return slots_[id]->Get(out);
}

Status StateStore::CheckValue(const Slot& slot, const State& state, const DimTable& dims,
                              const TensorView& value) {
  const Type given = TensorType(value.dtype, value.dims);
  const auto bytes = ByteCount(given);
  const bool fits =
      FitsDeclared(given, state.type) && bytes && value.bytes == static_cast<uint64_t>(*bytes);
  if (fits && (value.bytes == 0 || value.data != nullptr)) return {};
  return Status(
      Code::kInvalidArgument,
      fmt::format("state '{}' is {} with {} bytes; the value has dtype {} and {} bytes", state.name,
                  TypeToString(state.type, dims), slot.bytes, DTypeName(value.dtype), value.bytes));
}

Status StateStore::CheckCounted(const std::function<Held(StateId)>& held) const {
  for (const CountedRows& c : counted_) {
    const Held counted = held(c.length);
    int64_t length = 0;
    if (counted.memory != nullptr) {
      GE_RETURN_IF_ERROR(counted.memory->CopyOut(&length, sizeof length));
    } else if (counted.bytes != nullptr) {
      std::memcpy(&length, counted.bytes, sizeof length);
    } else {
      continue;
    }
    const Type& type = *held(c.cache).type;
    const int64_t rows = RowsAlong(type, c.axis);
    if (length >= 0 && length <= rows) continue;
    const std::string &cache = slots_[c.cache]->name, &counter = slots_[c.length]->name;
    return Status(Code::kInvalidArgument,
                  fmt::format("state '{}' would say that {} rows of state '{}' are in use, which "
                              "would be {} with {} rows along axis {}; wanted 0 to {}: set '{}' "
                              "before '{}' to make them more, and behind it to make them fewer, "
                              "or reset the states",
                              counter, length, cache, TypeToString(type, DimTable()), rows, c.axis,
                              rows, cache, counter));
  }
  return {};
}

// Whether state `id` may have this value beside what the others hold.
Status StateStore::CheckCountedWith(StateId id, const TensorView& value) const {
  const Type given = TensorType(value.dtype, value.dims);
  for (const CountedRows& c : counted_) {
    if (id != c.cache && id != c.length) continue;
    return CheckCounted([&](StateId s) -> Held {
      if (s == id) return {&given, value.data};
      const Slot& slot = *slots_[s];
      return {&slot.type, nullptr, slot.Readable().ok() ? &slot.now : nullptr};
    });
  }
  return {};
}

Status StateStore::Donate(const State& state, StateId id, const DimTable& dims,
                          const TensorView& value, FreeState free) {
  StateMemory before, beside;  // their owners are told when nobody waits for us any more
  StateAccess access;
  GE_RETURN_IF_ERROR(Begin(&access, {}, With(id)));
  Slot& slot = *slots_[id];
  GE_RETURN_IF_ERROR(CheckValue(slot, state, dims, value));
  GE_RETURN_IF_ERROR(CheckCountedWith(id, value));
  if (value.data == nullptr || reinterpret_cast<uintptr_t>(value.data) % 64 != 0) {
    return Status(Code::kInvalidArgument,
                  fmt::format("memory given to state '{}' begins at no multiple of 64; "
                              "aligned_alloc(64, ...) gives such, or set the state, which copies",
                              state.name));
  }
  before = std::move(slot.now);
  beside = std::move(slot.next);
  slot.now = StateMemory(static_cast<std::byte*>(value.data), free);
  slot.bytes = value.bytes;
  slot.type = TensorType(value.dtype, value.dims);
  slot.lost = false;
  slot.Count();
  ++edits_;
  access.End();
  return {};
}

Status StateStore::Set(const State& state, StateId id, const DimTable& dims,
                       const TensorView& value) {
  StateAccess access;
  GE_RETURN_IF_ERROR(Begin(&access, {}, With(id)));
  Slot& slot = *slots_[id];
  GE_RETURN_IF_ERROR(CheckValue(slot, state, dims, value));
  GE_RETURN_IF_ERROR(CheckCountedWith(id, value));
  GE_RETURN_IF_ERROR(slot.Set(TensorType(value.dtype, value.dims), value.data));
  ++edits_;
  return {};
}

Status StateStore::Read(
    const std::function<Status(std::span<const Type>, std::span<const std::byte* const>)>& look) {
  StateAccess access;
  GE_RETURN_IF_ERROR(Begin(&access, all_, {}));
  std::vector<const std::byte*> values(slots_.size());
  std::vector<Type> types(slots_.size());
  std::vector<StateMemory> copies;
  copies.reserve(slots_.size());
  for (const StateId i : all_) {
    const Slot& slot = *slots_[i];
    GE_RETURN_IF_ERROR(slot.Readable());
    const std::byte* at = slot.now.host();
    if (!slot.now.at_host()) {
      GE_ASSIGN_OR_RETURN(StateMemory copy, StateMemory::Make({}, slot.bytes, slot.name));
      GE_RETURN_IF_ERROR(slot.Out(copy.host(), slot.bytes));
      at = copy.host();
      copies.push_back(std::move(copy));
    }
    values[i] = at;
    types[i] = slot.type;
  }
  return look(types, values);
}

Status StateStore::Write(std::span<const Const> values) {
  StateAccess access;
  GE_RETURN_IF_ERROR(Begin(&access, {}, all_));
  for (const StateId s : all_) {
    const Type &have = slots_[s]->type, &given = values[s].type;
    const auto bytes = ByteCount(given);
    const bool fits = have.dtype == given.dtype && have.rank() == given.rank() && bytes &&
                      values[s].bytes == static_cast<uint64_t>(*bytes) &&
                      (shared_ == nullptr || have == given);
    if (fits && (values[s].bytes == 0 || values[s].data != nullptr)) continue;
    const DimTable none;
    return Status(
        Code::kInvalidArgument,
        fmt::format("state '{}' is {}; its new value is {} with {} bytes", slots_[s]->name,
                    TypeToString(have, none), TypeToString(given, none), values[s].bytes));
  }
  GE_RETURN_IF_ERROR(CheckCounted([&](StateId s) {
    return Held{&values[s].type, values[s].data};
  }));
  std::vector<StateMemory> larger(slots_.size());  // or at the host
  for (const StateId s : all_) {
    if (values[s].bytes == slots_[s]->bytes && slots_[s]->now.host() != nullptr) continue;
    GE_ASSIGN_OR_RETURN(larger[s], StateMemory::Make({}, values[s].bytes, slots_[s]->name));
  }
  for (const StateId s : all_) {
    Slot& slot = *slots_[s];
    if (larger[s]) {
      slot.now = std::move(larger[s]);
      slot.next = {};
      slot.bytes = values[s].bytes;
      slot.Count();
    }
    GE_RETURN_IF_ERROR(slot.Set(values[s].type, values[s].data));
  }
  ++edits_;
  return {};
}

Type StateStore::TypeOf(StateId id) const {
  const InterruptScope whole(nullptr);  // it waits for copies and runs, and answers
  StateAccess access;
  static_cast<void>(Begin(&access, std::span(&id, 1), {}).ok());
  return slots_[id]->type;
}

Result<int64_t> StateStore::NumberOf(StateId id) const {
  StateAccess access;
  GE_RETURN_IF_ERROR(Begin(&access, std::span(&id, 1), {}));
  const Slot& slot = *slots_[id];
  GE_RETURN_IF_ERROR(slot.Readable());
  int64_t number = 0;
  GE_RETURN_IF_ERROR(slot.Out(&number, std::min<uint64_t>(sizeof number, slot.bytes)));
  return number;
}

Status StateStore::CheckEdits(uint64_t edits) const {
  if (edits_.load() == edits) return {};
  return Status(Code::kFailedPrecondition,
                "states were set while a run of them was prepared; run again");
}

Status StateStore::Resize(StateId id, const Type& type, size_t axis, int64_t rows, uint64_t edits) {
  StateAccess access;
  GE_RETURN_IF_ERROR(Begin(&access, {}, std::span(&id, 1)));
  GE_RETURN_IF_ERROR(CheckEdits(edits));
  Slot& slot = *slots_[id];
  Type alike = slot.type;
  if (axis < alike.rank() && axis < type.rank()) alike.dims[axis] = type.dims[axis];
  const bool keeps =
      alike == type && rows <= RowsAlong(slot.type, axis) && rows <= RowsAlong(type, axis);
  if (rows < 0 || (rows > 0 && !keeps)) {
    const DimTable none;
    return Status(Code::kFailedPrecondition,
                  fmt::format("state '{}' is {}, of which {} rows along axis {} were to stay in "
                              "{}: it was set meanwhile; run again, or reset the states",
                              slot.name, TypeToString(slot.type, none), rows, axis,
                              TypeToString(type, none)));
  }
  const uint64_t bytes = BytesOf(type);
  GE_ASSIGN_OR_RETURN(StateMemory memory, StateMemory::Make({}, bytes, slot.name));
  std::memset(memory.host(), 0, bytes);
  if (rows > 0) {
    GE_RETURN_IF_ERROR(slot.Readable());
    GE_RETURN_IF_ERROR(slot.MoveTo({}, &moves_));
    uint64_t outer = 1;
    for (size_t k = 0; k < axis; ++k) outer *= static_cast<uint64_t>(type.dims[k].value);
    const uint64_t from = slot.bytes / outer, to = bytes / outer;
    const auto room = static_cast<uint64_t>(slot.type.dims[axis].value);
    const uint64_t kept = from / room * static_cast<uint64_t>(rows);
    for (uint64_t o = 0; o < outer; ++o) {
      std::memcpy(memory.host() + o * to, slot.now.host() + o * from, kept);
    }
  }
  slot.now = std::move(memory);
  slot.next = {};
  slot.bytes = bytes;
  slot.type = type;
  slot.Count();
  return {};
}

Status StateStore::ClearBehind(StateId id, size_t axis, int64_t rows, uint64_t edits) {
  StateAccess access;
  GE_RETURN_IF_ERROR(Begin(&access, {}, std::span(&id, 1)));
  GE_RETURN_IF_ERROR(CheckEdits(edits));
  Slot& slot = *slots_[id];
  const int64_t room = RowsAlong(slot.type, axis);
  if (rows < 0 || rows >= room) return {};
  GE_RETURN_IF_ERROR(slot.Readable());
  GE_RETURN_IF_ERROR(slot.MoveTo({}, &moves_));
  uint64_t outer = 1;
  for (size_t k = 0; k < axis; ++k) outer *= static_cast<uint64_t>(slot.type.dims[k].value);
  const uint64_t block = slot.bytes / outer;
  const uint64_t kept = block / static_cast<uint64_t>(room) * static_cast<uint64_t>(rows);
  for (uint64_t o = 0; o < outer; ++o) {
    std::memset(slot.now.host() + o * block + kept, 0, block - kept);
  }
  return {};
}

Status StateStore::Same(const Slot& slot, std::span<const uint64_t> bytes, size_t i) const {
  if (i >= bytes.size() || bytes[i] == slot.bytes) return {};
  return Status(Code::kFailedPrecondition,
                fmt::format("state '{}' has {} bytes, the plan wants {}: it was set meanwhile; run "
                            "again",
                            slot.name, slot.bytes, bytes[i]));
}

bool StateStore::AtHome(std::span<const StateId> ids, std::span<const StateHome> homes) const {
  for (size_t i = 0; i < ids.size(); ++i) {
    const StateHome& now = slots_[ids[i]]->now.home();
    if (homes.empty() ? !now.at_host() : !(now == homes[i])) return false;
  }
  return true;
}

Status StateStore::BringHome(std::span<const StateId> ids, std::span<const StateHome> homes) {
  for (size_t i = 0; i < ids.size(); ++i) {
    Slot& slot = *slots_[ids[i]];
    GE_RETURN_IF_ERROR(slot.Readable());
    GE_RETURN_IF_ERROR(slot.MoveTo(homes.empty() ? StateHome() : homes[i], &moves_));
  }
  return {};
}

Status StateStore::Begin(std::span<const StateId> in, std::span<const StateId> out,
                         const std::vector<bool>& in_place, Access* access,
                         std::vector<const void*>* from, std::vector<void*>* to,
                         std::span<const uint64_t> in_bytes, std::span<const uint64_t> out_bytes,
                         std::span<const StateHome> in_home, std::span<const StateHome> out_home) {
  GE_RETURN_IF_ERROR(Begin(&access->held, in, out));
  if (!AtHome(in, in_home)) {  // who moves a state is alone with it
    access->held.End();
    access->all.assign(in.begin(), in.end());
    access->all.insert(access->all.end(), out.begin(), out.end());
    GE_RETURN_IF_ERROR(Begin(&access->held, {}, access->all));
    GE_RETURN_IF_ERROR(BringHome(in, in_home));
    access->held.Keep(in, out);
  }
  for (size_t i = 0; i < in.size(); ++i) {
    const Slot& slot = *slots_[in[i]];
    GE_RETURN_IF_ERROR(slot.Readable());
    GE_RETURN_IF_ERROR(Same(slot, in_bytes, i));
    from->push_back(slot.now.run_address());
  }
  for (size_t i = 0; i < out.size(); ++i) {
    Slot& slot = *slots_[out[i]];
    GE_RETURN_IF_ERROR(Same(slot, out_bytes, i));
    static const StateHome at_host;
    const StateHome& home = out_home.empty() ? at_host : out_home[i];
    const bool there = slot.next && slot.next.home() == home;
    if (!in_place[i] && !there) {
      slot.next = {};
      GE_ASSIGN_OR_RETURN(slot.next, StateMemory::Make(home, slot.bytes, slot.name));
      slot.Count();
    }
    const StateMemory& written = in_place[i] ? slot.now : slot.next;
    to->push_back(const_cast<void*>(written.run_address()));
  }
  return {};
}

void StateStore::Commit(std::span<const StateId> out, const std::vector<bool>& in_place) {
  for (size_t i = 0; i < out.size(); ++i) {
    Slot& slot = *slots_[out[i]];
    if (!in_place[i]) slot.now.swap(slot.next);
    slot.lost = false;
  }
}

void StateStore::Lose(std::span<const StateId> out, const std::vector<bool>& in_place) {
  for (size_t i = 0; i < out.size(); ++i) slots_[out[i]]->lost |= in_place[i];
}

void StateStore::Leave(std::span<const StateId> in, std::span<const StateId> out,
                       const std::vector<bool>& in_place, std::vector<StateMemory>* kept) {
  for (const StateId id : in) kept->push_back(slots_[id]->now.Share());
  for (size_t i = 0; i < out.size(); ++i) {
    Slot& slot = *slots_[out[i]];
    if (!in_place[i]) kept->push_back(std::move(slot.next));
    if (in_place[i] && slot.lost) kept->push_back(std::move(slot.now));  // it may be written yet
    slot.Count();
  }
}

uint64_t StateStore::bytes() const {
  uint64_t sum = 0;
  for (const StateId i : all_) sum += slots_[i]->held.load(std::memory_order_relaxed);
  return sum;
}

uint64_t StateStore::device_bytes() const {
  uint64_t sum = 0;
  for (const StateId i : all_) sum += slots_[i]->on_device.load(std::memory_order_relaxed);
  return sum;
}

}  // namespace ge
