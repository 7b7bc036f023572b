#include "ge/engine/resident/residents.h"

#include <fmt/format.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "ge/base/aligned.h"
#include "ge/base/file_mapping.h"
#include "ge/base/log.h"
#include "ge/engine/plugin/record.h"
#include "ge/engine/resident/pack_hash.h"
#include "ge/engine/resident/resident_memory.h"
#include "ge/host/machine.h"

namespace ge {
namespace {

constexpr uint64_t kMaxPackBytes = uint64_t{1} << 40;
constexpr uint32_t kMaxPacks = 1'000'000, kMaxPackValues = 64;
constexpr size_t kMaxPackKey = 1 << 16;

std::atomic<uint64_t> g_residents{0}, g_bytes{0}, g_present{0}, g_at_host{0}, g_fills{0},
    g_places{0}, g_mapped{0};

std::string DigestOf(const void* data, uint64_t bytes) {
  const XXH128_hash_t h = XXH3_128bits(data, bytes);
  return fmt::format("{:016x}{:016x}", h.high64, h.low64);
}

bool SamePayloads(const std::vector<PackSource>& a, const std::vector<PackSource>& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].bytes != b[i].bytes) return false;
    if (a[i].data == b[i].data || FindInFile(a[i].data, a[i].bytes)) continue;
    if (std::memcmp(a[i].data, b[i].data, a[i].bytes) != 0) return false;
  }
  return true;
}

Status WantSane(const Engine& engine, const ge_pack& pack, size_t sources) {
  const bool align_ok = (pack.align & (pack.align - 1)) == 0 && pack.align <= (1u << 21);
  if (pack.bytes > 0 && pack.bytes <= kMaxPackBytes && align_ok && pack.n_value == sources &&
      sources > 0 && sources <= kMaxPackValues && pack.key.n <= kMaxPackKey &&
      (pack.key.p != nullptr || pack.key.n == 0)) {
    return {};
  }
  return Status(
      Code::kPluginError,
      fmt::format("engine '{}' asks for a pack of {} bytes, align {}, of {} values, with a key of "
                  "{} bytes; wanted 1 to {} bytes, a power of two up to 2 MiB, 1 to {} values and "
                  "at most {} bytes of key",
                  engine.name(), pack.bytes, pack.align, pack.n_value, pack.key.n, kMaxPackBytes,
                  kMaxPackValues, kMaxPackKey));
}

ge_buf BufOf(const PackSource& s) {
  ge_buf b{};
  b.ptr = const_cast<void*>(s.data);
  b.bytes = s.bytes;
  b.dims = s.dims.data();
  b.rank = static_cast<int32_t>(s.dims.size());
  b.dtype = static_cast<int32_t>(s.dtype);
  return b;
}

}  // namespace

Result<PackSource> PackSourceOf(const Graph& graph, const Value& value) {
  if (!value.constant || !value.type.is_static()) {
    return Status(Code::kInternal, fmt::format("'{}' is no constant to pack", value.name));
  }
  const Const& c = graph.consts[value.constant];
  PackSource s{c.data, c.bytes, c.owner, c.type.dtype, c.type.static_dims()};
  if (c.splat.empty()) return s;
  ConstScratch scratch;
  s.data = ConstBytes(c, &scratch, UINT64_MAX);
  s.bytes = static_cast<uint64_t>(ByteCount(c.type).value_or(0));
  s.owner = scratch ? std::shared_ptr<const void>(scratch) : c.expanded;
  if (s.data) return s;
  return Status(Code::kResourceExhausted,
                fmt::format("no memory for constant '{}' of {} bytes", c.name, s.bytes));
}

// ---- one ---------------------------------------------------------------------------------------

Resident::~Resident() {
  Release();
  g_residents.fetch_sub(1, std::memory_order_relaxed);
  g_bytes.fetch_sub(bytes_, std::memory_order_relaxed);
}

void Resident::Release() {
  const bool at_host = own_ == nullptr;
  own_.reset();  // a copy that was given up may keep it
  block_.reset();
  buf_ = {};
  const bool mapped = mapped_.exchange(false, std::memory_order_relaxed);
  if (present_.exchange(false, std::memory_order_relaxed) && !mapped) {
    g_present.fetch_sub(bytes_, std::memory_order_relaxed);
    if (at_host) g_at_host.fetch_sub(bytes_, std::memory_order_relaxed);
  }
}

void Resident::GiveUp() {
  std::lock_guard<std::mutex> lock(mutex_);
  Release();
  done_ = false;
}

Status Resident::Allocate() {
  Release();  // of a write that failed
  buf_.bytes = bytes_;
  if (memory() == nullptr) {
    block_ = AllocateResident(bytes_, align_);
    buf_.ptr = block_.get();
    if (block_) return Present();
    return Status(Code::kResourceExhausted,
                  fmt::format("no memory for {} bytes of packed constants", bytes_));
  }
  GE_ASSIGN_OR_RETURN(own_, memory()->MakeShared(HeldAs::kPack, bytes_, align_, Title()));
  buf_.ptr = own_->address;
  buf_.mem = own_->mem;
  buf_.domain = 1;
  return Present();
}

Status Resident::Present() {
  present_.store(true, std::memory_order_relaxed);
  g_present.fetch_add(bytes_, std::memory_order_relaxed);
  if (own_ == nullptr) g_at_host.fetch_add(bytes_, std::memory_order_relaxed);
  return {};
}

std::string Resident::Title() const { return fmt::format("the pack of constant '{}'", constant_); }

std::string Resident::Name() const {
  std::string text = fmt::format("{},{};{}", bytes_, align_, key_);
  for (const PackSource& s : sources_) {
    text += fmt::format(";{}[{}]", static_cast<int>(s.dtype), fmt::join(s.dims, ","));
  }
  return DigestOf(text.data(), text.size());
}

void Resident::Offer(const SavedPack& saved) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (done_ || !any_bytes_ || saved.data.size() != bytes_ || Name() != saved.name) return;
  if (reinterpret_cast<uintptr_t>(saved.data.data()) % align_ == 0) saved_ = saved;
}

// False where the file has other bytes than were saved, or the device has memory of its own.
bool Resident::TakeSaved() {
  if (saved_.data.empty() || memory() != nullptr) return false;
  if (PackHash(saved_.data) != saved_.hash) {
    LogOnce(1, fmt::format("{}: a pack of {} bytes was changed or damaged; it is made anew",
                           saved_.file, bytes_));
    saved_ = {};
    return false;
  }
  Release();
  buf_.bytes = bytes_;
  buf_.ptr = const_cast<std::byte*>(saved_.data.data());  // nobody writes it: ge_launch.pack
  mapped_.store(true, std::memory_order_relaxed);
  present_.store(true, std::memory_order_relaxed);
  g_mapped.fetch_add(1, std::memory_order_relaxed);
  return true;
}

// In host memory first where the device has its own.
Status Resident::Write(const Interrupt* call) {
  if (TakeSaved()) return {};
  if (memory() != nullptr && engine_->IsLost(device_)) {
    return Status(Code::kDeviceLost,
                  fmt::format("{} is not filled: device '{}' is lost", Title(), memory()->name()));
  }
  GE_RETURN_IF_ERROR(Allocate());
  ge_pack pack{};
  pack.h = GE_HDR(ge_pack, GE_TAG_PACK);
  pack.n_value = static_cast<uint32_t>(sources_.size());
  pack.key = {key_.data(), key_.size()};
  pack.bytes = bytes_;
  pack.align = align_;
  std::vector<ge_buf> from;
  for (const PackSource& s : sources_) from.push_back(BufOf(s));
  ge_buf to{};
  to.ptr = buf_.ptr;
  to.bytes = bytes_;
  AlignedBytes staging;
  if (own_ != nullptr) {
    staging = AllocateAligned(bytes_, std::max<uint64_t>(align_, 64));
    if (!staging) return Status(Code::kResourceExhausted, "no memory to pack constants in");
    to.ptr = staging.get();
  }
  ge_err err = EmptyError();
  const ge_rc rc = CallPlugin(CallText(*engine_, "fill"), &err, [&] {
    return engine_->api().fill(engine_->handle(), &pack, from.data(), &to, &err);
  });
  // What was made of other bytes is nobody's: a file's state is a part of the name of what is
  // shared.
  for (const PackSource& s : sources_) {
    const FileMapping* file = MappingOf(s.data, s.bytes);
    if (file != nullptr) GE_RETURN_IF_ERROR(file->Check());
  }
  if (rc != GE_OK) return FromEngine(*engine_, device_, "fill", rc, err);
  g_fills.fetch_add(1, std::memory_order_relaxed);
  for (const PackSource& s : sources_) DropMappedPages(s.data, s.bytes);
  return own_ == nullptr ? Status() : ToDevice(std::move(staging), call);
}

Status Resident::ToDevice(AlignedBytes staging, const Interrupt* call) {
  struct Ends {
    AlignedBytes staging;
    std::shared_ptr<const DomainMemory::Block> block;
  };
  ge_buf from{};
  from.ptr = staging.get();
  from.bytes = bytes_;
  auto used = std::make_shared<Ends>(Ends{std::move(staging), own_});
  return memory()->Copy("copy of a pack", from, buf_, std::move(used), call);
}

Status Resident::Fill(bool* wrote, const Interrupt* call) {
  std::lock_guard<std::mutex> lock(mutex_);
  *wrote = !done_;
  if (!done_) status_ = Write(call);
  *wrote = *wrote && !mapped();
  // For want of memory now, or since its call ended: another one may have them.
  switch (status_.code()) {
    case Code::kResourceExhausted:
    case Code::kLimitExceeded:
    case Code::kCancelled:
    case Code::kDeadlineExceeded:
      done_ = false;
      break;
    default:
      done_ = true;
  }
  return status_;
}

// The payloads are alive as long as this is, so that their places tell them.
bool Resident::Is(const std::shared_ptr<Engine>& engine, uint32_t device, const ge_pack& pack,
                  const std::vector<PackSource>& sources) const {
  const auto same = [](const PackSource& a, const PackSource& b) {
    return a.owner != nullptr && a.data == b.data && a.bytes == b.bytes && a.owner == b.owner &&
           a.dtype == b.dtype && a.dims == b.dims;
  };
  return engine_ == engine && device_ == device && bytes_ == pack.bytes &&
         align_ == std::max<uint64_t>(pack.align, 64) &&
         key_ == std::string_view(pack.key.p, pack.key.n) &&
         std::equal(sources_.begin(), sources_.end(), sources.begin(), sources.end(), same);
}

// ---- all ---------------------------------------------------------------------------------------

ResidentStore& ResidentStore::OfProcess() {
  static ResidentStore* store = new ResidentStore;  // never freed: plans may live until exit
  return *store;
}

// Under mutex_. Of a mapped file its place in it, else what it holds.
std::string ResidentStore::IdentityOf(const PackSource& s) {
  std::string id = fmt::format("{}[{}]", static_cast<int>(s.dtype), fmt::join(s.dims, ","));
  if (const auto at = FindInFile(s.data, s.bytes)) {
    return id + fmt::format("f{},{},{},{},{}", at->file.device, at->file.inode, at->file.size,
                            at->file.changed_ns, at->offset);
  }
  if (s.owner == nullptr) return id + DigestOf(s.data, s.bytes);
  Digest& known = digests_[s.data];
  if (known.owner.lock() != s.owner || known.bytes != s.bytes) {
    known = {s.owner, s.bytes, DigestOf(s.data, s.bytes)};
  }
  return id + known.digest;
}

void ResidentStore::Sweep() {
  if (by_key_.size() > sweep_at_) {
    std::erase_if(by_key_, [](const auto& r) { return r.second.expired(); });
    sweep_at_ = std::max<size_t>(256, 2 * by_key_.size());
  }
  // A model that is loaded again has its keys again, but lies elsewhere.
  if (by_place_.size() > sweep_places_at_) {
    std::erase_if(by_place_, [](const auto& place) {
      return std::all_of(place.second.begin(), place.second.end(),
                         [](const auto& r) { return r.expired(); });
    });
    sweep_places_at_ = std::max<size_t>(16, 2 * by_place_.size());
  }
  if (digests_.size() > sweep_digests_at_) {
    std::erase_if(digests_, [](const auto& d) { return d.second.owner.expired(); });
    sweep_digests_at_ = std::max<size_t>(256, 2 * digests_.size());
  }
}

// Under mutex_.
std::shared_ptr<Resident> ResidentStore::AtPlace(const std::shared_ptr<Engine>& engine,
                                                 uint32_t device, const ge_pack& pack,
                                                 const std::vector<PackSource>& sources) {
  const auto there = by_place_.find(sources[0].data);
  if (there == by_place_.end()) return nullptr;
  for (const auto& known : there->second) {
    auto resident = known.lock();
    if (resident && resident->Is(engine, device, pack, sources)) return resident;
  }
  return nullptr;
}

Result<std::shared_ptr<Resident>> ResidentStore::Find(const std::shared_ptr<Engine>& engine,
                                                      uint32_t device, const ge_pack& pack,
                                                      std::vector<PackSource> sources,
                                                      std::string_view name,
                                                      std::string_view file) {
  GE_RETURN_IF_ERROR(WantSane(*engine, pack, sources.size()));
  std::lock_guard<std::mutex> lock(mutex_);
  const bool alone = share_none_.load(std::memory_order_relaxed);
  if (auto resident = AtPlace(engine, device, pack, sources); resident && !alone) return resident;
  const std::string own(pack.key.p, pack.key.n);
  // Lengths before texts, so that no two lists of parts are one string.
  std::string key;
  const EngineDevice& d = engine->devices()[device];
  for (const std::string* part :
       {&engine->plugin().hash, &engine->options(), &d.name, &d.domains[0].id, &own}) {
    key += fmt::format("{}:{}", part->size(), *part);
  }
  const EngineWords& words = engine->words();
  key += fmt::format("{},{},{},{},{}", words.denormals, words.numerics, words.precision, pack.bytes,
                     pack.align);
  for (const PackSource& s : sources) key += ";" + IdentityOf(s);
  if (!file.empty()) key += fmt::format(";{}", file);
  Sweep();
  std::weak_ptr<Resident>& known = by_key_[key];
  std::shared_ptr<Resident> resident = known.lock();
  if (resident && !alone && SamePayloads(resident->sources_, sources)) return resident;
  const bool clash = resident != nullptr || alone;
  resident.reset(new Resident);
  resident->engine_ = engine;
  resident->device_ = device;
  resident->key_ = own;
  if (resident->memory() != nullptr) resident->constant_ = name;
  resident->sources_ = std::move(sources);
  resident->bytes_ = pack.bytes;
  resident->align_ = std::max<uint64_t>(pack.align, 64);
  resident->any_bytes_ = (pack.flags & GE_PACK_ANY_BYTES) != 0;
  auto& here = by_place_[resident->sources_[0].data];
  std::erase_if(here, [](const auto& r) { return r.expired(); });
  here.push_back(resident);
  g_places.store(by_place_.size(), std::memory_order_relaxed);
  g_residents.fetch_add(1, std::memory_order_relaxed);
  g_bytes.fetch_add(pack.bytes, std::memory_order_relaxed);
  if (!clash) known = resident;  // Else a digest's payload is another one: it stays alone.
  return resident;
}

ResidentStore::Counts ResidentStore::counts() const {
  return {g_residents.load(), g_bytes.load(),  g_present.load(), g_at_host.load(),
          g_fills.load(),     g_mapped.load(), g_places.load()};
}

// The values of a pack, and whether it can be read.
static Result<std::vector<PackSource>> SourcesOf(const ge_pack& pack, std::string_view what,
                                                 const Graph& graph, const Function& f) {
  std::vector<PackSource> sources;
  for (uint32_t k = 0; pack.value != nullptr && k < pack.n_value && k < kMaxPackValues; ++k) {
    const uint32_t v = pack.value[k];
    if (v == 0 || v >= f.values.size() || !f.values[v].constant) {
      return Status(Code::kPluginError,
                    fmt::format("{} is of value {}, which is no constant", what, v));
    }
    GE_ASSIGN_OR_RETURN(PackSource source, PackSourceOf(graph, f.values[v]));
    sources.push_back(std::move(source));
  }
  return sources;
}

static uint64_t NumberOf(const ge_pack& pack) {
  return XXH3_64bits(pack.value, pack.n_value * sizeof *pack.value);
}

std::vector<uint64_t> PackValues(const ge_compiled& compiled) {
  std::vector<uint64_t> out;
  for (uint32_t i = 0; i < compiled.n_pack; ++i) {
    out.push_back(NumberOf(*reinterpret_cast<const ge_pack*>(
        reinterpret_cast<const char*>(compiled.pack) + uint64_t{i} * compiled.pack_stride)));
  }
  return out;
}

Result<std::vector<std::shared_ptr<Resident>>> ResidentsOf(
    const std::shared_ptr<Engine>& engine, uint32_t device, const ge_compiled& compiled,
    const Graph& graph, const Function& function, std::span<const SavedPack> saved) {
  std::vector<std::shared_ptr<Resident>> out;
  if (compiled.n_pack == 0) return out;
  if (compiled.pack == nullptr || compiled.n_pack > kMaxPacks || !engine->api().fill) {
    return Status(Code::kPluginError,
                  fmt::format("engine '{}' asks for {} packs{}", engine->name(), compiled.n_pack,
                              engine->api().fill ? "" : ", but it has no function `fill`"));
  }
  for (uint32_t i = 0; i < compiled.n_pack; ++i) {
    const auto* given = reinterpret_cast<const ge_pack*>(
        reinterpret_cast<const char*>(compiled.pack) + uint64_t{i} * compiled.pack_stride);
    // What it is called is put into words where it is refused: each plan asks for dozens.
    const auto what = [&] { return fmt::format("pack {} of engine '{}'", i, engine->name()); };
    const Result<ge_pack> pack = ReadRecord(given, "");
    if (!pack.ok()) return ReadRecord(given, what()).status();
    auto sources = SourcesOf(*pack, "", graph, function);
    if (!sources.ok()) return SourcesOf(*pack, what(), graph, function).status();
    const std::string_view name =
        sources->empty() ? "" : std::string_view(function.values[pack->value[0]].name);
    const bool mapped = !saved.empty() && (pack->flags & GE_PACK_ANY_BYTES) != 0;
    GE_ASSIGN_OR_RETURN(auto resident, ResidentStore::OfProcess().Find(
                                           engine, device, *pack, *std::move(sources), name,
                                           mapped ? std::string_view(saved[0].file) : ""));
    const uint64_t values = mapped ? NumberOf(*pack) : 0;
    for (const SavedPack& there : saved) {
      if (mapped && there.values == values) resident->Offer(there);
    }
    out.push_back(std::move(resident));
  }
  return out;
}

uint64_t FillResidents(std::span<const std::shared_ptr<Resident>> residents,
                       std::vector<Status>* statuses) {
  std::vector<size_t> order(residents.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return residents[a]->bytes() > residents[b]->bytes();
  });
  statuses->assign(residents.size(), {});
  std::atomic<uint64_t> written{0};
  const Interrupt* const call = CurrentInterrupt();  // other threads do not see it
  auto one = [&](uint64_t i) {
    bool wrote = false;
    const size_t which = order[i];
    const bool over = call != nullptr && call->stopped();
    (*statuses)[which] = over ? call->Check() : residents[which]->Fill(&wrote, call);
    if (wrote) written.fetch_add(residents[which]->bytes(), std::memory_order_relaxed);
  };
  HostPool()->Run(
      order.size(), [](void* ctx, uint64_t i) { (*static_cast<decltype(one)*>(ctx))(i); }, &one);
  return written.load();
}

}  // namespace ge
