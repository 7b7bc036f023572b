#include "ge/run/frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "ge/base/checked.h"
#include "ge/base/pages.h"
#include "ge/domain/device_wait.h"
#include "ge/run/state_memory.h"

namespace ge {
namespace {

ge_err NoError() {
  ge_err err{};
  err.h = GE_HDR(ge_err, GE_TAG_ERR);
  err.node = UINT32_MAX;
  return err;
}

// A place to point to for tensors without bytes.
alignas(64) char g_nothing[64];

}  // namespace

const RunEngine& Frame::engine(uint32_t engine) const { return program_.parts().engines[engine]; }

Status Frame::Failed(uint32_t e, uint32_t device, const char* call, ge_rc rc,
                     const ge_err& err) const {
  program_.NoteFault(e, device, rc, err);
  std::string_view text(err.msg, std::min<size_t>(err.msg_len, sizeof err.msg));
  const Code code = IsDeviceFault(rc, err)   ? Code::kDeviceLost
                    : rc == GE_OUT_OF_MEMORY ? Code::kResourceExhausted
                                             : Code::kPluginError;
  return Status(code, fmt::format("engine '{}' failed in {} (code {}): {}", engine(e).name, call,
                                  rc, text.empty() ? "no reason given" : text));
}

Frame::~Frame() {
  captures_.reset();  // before the execs and streams that they hold
  for (const EngineFrame& f : engine_frames_) {
    if (engine(f.engine).api.frame_destroy) engine(f.engine).api.frame_destroy(f.exec, f.frame);
  }
  const PlanFunction& fn = program_.plan().functions[0];
  for (auto [segment, exec] : own_execs_) {
    uint32_t e = program_.plan().devices[fn.segments[segment].device].engine;
    if (exec && engine(e).api.exec_destroy) engine(e).api.exec_destroy(exec);
  }
  for (size_t s = 1; s < streams_.size(); ++s) {
    uint32_t e = program_.plan().devices[fn.streams[s].device].engine;
    if (streams_[s]) engine(e).api.stream_destroy(streams_[s]);
    if (s < drain_.size() && drain_[s]) engine(e).api.event_destroy(drain_[s]);
  }
  for (size_t i = 0; i < events_.size(); ++i) {
    if (events_[i]) engine(fn.events[i].engine).api.event_destroy(events_[i]);
  }
  zones_.reset();  // before what it watches
  for (const Block& b : arenas_) {
    if (b.lent == kHost) std::free(b.address);
  }
}

bool Frame::Settled() {
  const PlanFunction& fn = program_.plan().functions[0];
  std::erase_if(unsettled_, [&](const Unsettled& u) {
    const RunEngine& e = engine(program_.plan().devices[fn.streams[u.stream].device].engine);
    ge_err ignored = NoError();
    return e.api.event_wait(drain_[u.stream], u.value, 0, &ignored) != GE_PENDING;
  });
  return unsettled_.empty();
}

Status Frame::Build() {
  GE_RETURN_IF_ERROR(AllocateArenas());
  if (program_.parts().red_zones) GE_RETURN_IF_ERROR(MakeRedZones());
  GE_RETURN_IF_ERROR(CreateStreams());
  GE_RETURN_IF_ERROR(BuildRecords());
  for (Lent& lent : lent_) {
    if (lent.lease) lent.Attach();
  }
  block_numbers_.assign(1 + lent_.size() + device_patches_.size(), 0);
  if (!program_.capture_regions().found.empty()) {
    captures_ =
        std::make_unique<Captures>(program_.capture_regions(), this, &program_.capture_log());
  }
  return {};
}

// The device whose page-locked memory holds the host's end of the plan's copies; null = none.
const PlanDevice* Frame::PinningDevice() const {
  const Plan& plan = program_.plan();
  for (const Instruction& ins : plan.functions[0].code) {
    if (ins.op != PlanOp::kCopy) continue;
    const auto& values = plan.functions[0].values;  // not the engine's first: that may be lost
    const PlanDomain& at = plan.domains[std::max(values[ins.src].domain, values[ins.dst].domain)];
    for (const PlanDevice& device : plan.devices) {
      const bool its = device.engine == ins.engine && device.engine_device == at.engine_device;
      if (its && device.pinned != 0) return &device;
    }
  }
  return nullptr;
}

Status Frame::AllocateArenas() {
  const Plan& plan = program_.plan();
  const PlanDevice* pinning = PinningDevice();
  arenas_.reserve(plan.functions[0].arenas.size());
  for (const PlanArena& a : plan.functions[0].arenas) {
    const PlanDomain& domain = plan.domains[a.domain];
    const auto align = static_cast<uint64_t>(std::max<int64_t>(64, domain.align));
    const auto aligned = CheckedAlign(std::max<int64_t>(a.bytes, 1), static_cast<int64_t>(align));
    if (!aligned) return Status(Code::kLimitExceeded, "an arena's size does not fit in 63 bits");
    const auto bytes = static_cast<uint64_t>(*aligned);
    DomainMemory* memory = nullptr;
    if (a.domain != 0) {
      memory = engine(domain.engine).memory[domain.engine_device][0];
    } else if (pinning != nullptr) {
      memory = engine(pinning->engine).memory[pinning->engine_device][pinning->pinned];
    }
    Block block;
    if (memory == nullptr) {
      GE_RETURN_IF_ERROR(AllocateHost(bytes, align, &block));
    } else {
      Lent* lent = LentOf(memory);
      lent->align = std::max(lent->align, align);
      lent->shows_block = a.domain != 0;
      block.lent = static_cast<uint32_t>(lent - lent_.data());
      GE_RETURN_IF_ERROR(AddPooled(bytes, align, &lent->bytes, &block));
    }
    arenas_.push_back(block);
  }
  return {};
}

Frame::Lent* Frame::LentOf(DomainMemory* memory) {
  for (Lent& lent : lent_) {
    if (lent.memory == memory) return &lent;
  }
  lent_.emplace_back().memory = memory;
  return &lent_.back();
}

Status Frame::AddPooled(uint64_t bytes, uint64_t align, uint64_t* total, Block* block) {
  const auto begin = CheckedAlign(static_cast<int64_t>(*total), static_cast<int64_t>(align));
  if (!begin || bytes > static_cast<uint64_t>(INT64_MAX - *begin)) {
    return Status(Code::kLimitExceeded, "the arenas' size does not fit in 63 bits");
  }
  block->pooled = static_cast<uint64_t>(*begin);
  *total = block->pooled + bytes;
  return {};
}

// From the pool where there is one; what is watched needs a place of its own.
Status Frame::AllocateHost(uint64_t bytes, uint64_t align, Block* block) {
  if (program_.parts().arenas != nullptr && !program_.parts().red_zones) {
    return AddPooled(bytes, align, &pooled_bytes_, block);
  }
  const uint64_t pages = PageAlign(bytes, align);
  // The C library wants a multiple of the alignment; what lies behind is never touched.
  block->address = std::aligned_alloc(pages, (bytes + pages - 1) / pages * pages);
  PreferHugePages(block->address, bytes);
  if (block->address) return {};
  return Status(Code::kResourceExhausted,
                fmt::format("no host memory for an arena of {} bytes; use smaller inputs or "
                            "fewer runs at once",
                            bytes));
}

// For one run, or for all where they are watched.
Status Frame::TakeBlocks() {
  const DomainMemory::Named name{&program_.plan(), [](const void* plan) {
                                   return ArenaName(*static_cast<const Plan*>(plan));
                                 }};
  for (Lent& lent : lent_) {
    if (lent.lease) continue;
    auto lease = lent.memory->Take(lent.bytes, lent.align, lent.number, name);
    if (!lease.ok()) {
      GiveBlocks();
      return std::move(lease).status();
    }
    lent.lease.emplace(*std::move(lease));
    if (lent.number != lent.lease->block().number) lent.Attach();
  }
  return {};
}

void Frame::Lent::Attach() {
  const DomainMemory::Block& block = lease->block();
  number = block.number;
  for (const Moving& m : moving) {
    m.buf->ptr = static_cast<char*>(block.address) + m.offset;
    if (shows_block) m.buf->mem = block.mem;  // page-locked or not, host memory is the host's
  }
}

void Frame::GiveBlocks() {
  for (Lent& lent : lent_) lent.lease.reset();
}

// Numbers of the blocks of this run, as no others have: addresses come again in others.
void Frame::NoteBlocks(const void* const* inputs, void* const* outputs) {
  size_t i = 0;
  block_numbers_[i++] = program_.packs_moved();
  for (const Lent& lent : lent_) block_numbers_[i++] = lent.number;
  for (const Patch& p : device_patches_) {
    const void* given = p.output ? outputs[p.index] : inputs[p.index];
    block_numbers_[i++] = static_cast<const DevicePlace*>(given)->number;
  }
}

void Frame::Attach(char* base) {
  if (base == base_) return;
  base_ = base;
  for (const Moving& m : moving_) m.buf->ptr = base + m.offset;
}

Status Frame::MakeRedZones() {
  zones_ = std::make_unique<RedZones>(program_.plan().functions[0]);
  const std::vector<PlanArena>& arenas = program_.plan().functions[0].arenas;
  std::vector<int32_t> apart;
  GE_RETURN_IF_ERROR(TakeBlocks());  // for all runs: zones are filled once
  for (size_t a = 0; a < arenas_.size(); ++a) {
    if (arenas[a].domain != 0) continue;
    const Block& block = arenas_[a];
    if (block.lent == kHost) {
      apart.push_back(static_cast<int32_t>(a));
    } else {
      char* const base = static_cast<char*>(lent_[block.lent].lease->block().address);
      zones_->AddArena(static_cast<int32_t>(a), base + block.pooled);
    }
  }
  return zones_->MakeGuardedBlocks(apart);
}

Status Frame::CreateStreams() {
  const Plan& plan = program_.plan();
  const PlanFunction& fn = plan.functions[0];
  streams_.assign(fn.streams.size(), nullptr);
  drain_.assign(fn.streams.size(), nullptr);
  events_.assign(fn.events.size(), nullptr);
  last_value_.assign(fn.events.size(), 0);
  for (size_t s = 1; s < fn.streams.size(); ++s) {
    const PlanDevice& device = plan.devices[fn.streams[s].device];
    const RunEngine& e = engine(device.engine);
    ge_err err = NoError();
    ge_rc rc = e.api.stream_create(e.engine, device.engine_device, &streams_[s], &err);
    if (rc != GE_OK) return Failed(device.engine, device.engine_device, "stream_create", rc, err);
    rc = e.api.event_create(e.engine, device.engine_device, &drain_[s], &err);
    if (rc != GE_OK) return Failed(device.engine, device.engine_device, "event_create", rc, err);
  }
  event_device_.assign(fn.events.size(), 0);
  for (const Instruction& ins : fn.code) {
    if (ins.op != PlanOp::kSignal) continue;
    last_value_[ins.event] = std::max(last_value_[ins.event], ins.event_value);
    event_device_[ins.event] = plan.devices[fn.streams[ins.stream].device].engine_device;
  }
  for (size_t i = 0; i < fn.events.size(); ++i) {
    const RunEngine& e = engine(fn.events[i].engine);
    ge_err err = NoError();
    ge_rc rc = e.api.event_create(e.engine, event_device_[i], &events_[i], &err);
    if (rc != GE_OK) return Failed(fn.events[i].engine, event_device_[i], "event_create", rc, err);
  }
  return {};
}

PlanValueId Frame::Root(PlanValueId id) const {
  const auto& values = program_.plan().functions[0].values;
  while (values[id].alias_of != 0 && values[id].arena < 0) id = values[id].alias_of;
  return id;
}

ge_buf Frame::BufOf(PlanValueId id) {
  const PlanValue& v = program_.plan().functions[0].values[id];
  ge_buf b{};
  b.bytes = static_cast<uint64_t>(v.bytes);
  b.dims = dims_.data() + first_dim_[id];
  b.rank = static_cast<int32_t>(first_dim_[id + 1] - first_dim_[id]);
  b.dtype = static_cast<int32_t>(v.type.dtype);
  b.domain = v.domain;
  b.layout = v.layout;
  b.ptr = g_nothing;
  PlanValueId root = Root(id);
  const PlanValue& r = program_.plan().functions[0].values[root];
  if (r.arena >= 0) {
    const Block& block = arenas_[static_cast<size_t>(r.arena)];
    const int64_t in_arena = r.offset + (root == id ? 0 : v.offset);
    const int64_t offset = static_cast<int64_t>(block.pooled) + in_arena;
    // What lies in a pool's block gets its address with each run.
    if (block.address != nullptr) b.ptr = static_cast<char*>(block.address) + offset;
    if (zones_ != nullptr && zones_->place(root) != nullptr) {
      b.ptr = static_cast<std::byte*>(zones_->place(root)) + (root == id ? 0 : v.offset);
    }
    b.offset = static_cast<uint64_t>(offset);
  } else if (r.kind == PlanValueKind::kConstant && v.bytes > 0) {
    b.ptr = const_cast<void*>(program_.parts().constants[root]);
  }
  return b;
}

void Frame::NotePatch(PlanValueId id, ge_buf* buf) {
  PlanValueId root = Root(id);
  const PlanValue& v = program_.plan().functions[0].values[root];
  if (v.arena >= 0) {
    const Block& block = arenas_[static_cast<size_t>(v.arena)];
    const bool watched = zones_ != nullptr && zones_->place(root) != nullptr;
    if (block.lent != kHost && !watched) lent_[block.lent].moving.push_back({buf, buf->offset});
    if (block.lent == kHost && block.address == nullptr) moving_.push_back({buf, buf->offset});
    return;
  }
  if (v.bytes == 0) return;
  std::vector<Patch>& patches = v.domain == 0 ? patches_ : device_patches_;
  if (v.kind == PlanValueKind::kInput) patches.push_back({buf, v.index, false});
  if (v.kind == PlanValueKind::kOutput) patches.push_back({buf, v.index, true});
}

Status Frame::BuildLaunch(const Instruction& ins, Record* record) {
  const Plan& plan = program_.plan();
  const PlanSegment& seg = plan.functions[0].segments[ins.segment];
  record->engine = plan.devices[seg.device].engine;
  const RunEngine& e = engine(record->engine);
  record->exec = program_.parts().execs[ins.segment];
  if (seg.serial && !own_execs_.empty() && own_execs_.back().first == ins.segment) {
    record->exec = own_execs_.back().second;
  } else if (seg.serial) {
    own_execs_.emplace_back(ins.segment, nullptr);  // before it is made: there may be no room
    GE_ASSIGN_OR_RETURN(record->exec, program_.parts().make_exec(ins.segment));
    own_execs_.back().second = record->exec;
  }
  size_t base = bufs_.size();
  for (const auto* list : {&seg.inputs, &seg.outputs, &seg.internals}) {
    bufs_.emplace_back();
    for (PlanValueId v : *list) bufs_.back().push_back(BufOf(v));
    for (size_t i = 0; i < list->size(); ++i) NotePatch((*list)[i], &bufs_.back()[i]);
  }
  ge_launch& l = record->launch;
  l.h = GE_HDR(ge_launch, GE_TAG_LAUNCH);
  l.stream = streams_[ins.stream];
  l.in = bufs_[base].data();
  l.n_in = static_cast<uint32_t>(seg.inputs.size());
  l.out = bufs_[base + 1].data();
  l.n_out = static_cast<uint32_t>(seg.outputs.size());
  l.internal = bufs_[base + 2].data();
  l.n_internal = static_cast<uint32_t>(seg.internals.size());
  const std::vector<ge_buf>& packs = program_.parts().packs[ins.segment];
  l.pack = packs.data();
  l.n_pack = static_cast<uint32_t>(packs.size());
  if (seg.workspace) {
    l.workspace = BufOf(seg.workspace);
    NotePatch(seg.workspace, &l.workspace);
  }
  l.launch_id = record->index;
  if (e.api.frame_create) {
    ge_err err = NoError();
    engine_frames_.push_back(
        {record->engine, record->exec, nullptr});  // before: there may be no room
    ge_rc rc = e.api.frame_create(record->exec, &l.frame, &err);
    if (rc != GE_OK) {
      engine_frames_.pop_back();
      return Failed(record->engine, plan.devices[seg.device].engine_device, "frame_create", rc,
                    err);
    }
    engine_frames_.back().frame = l.frame;
  }
  return {};
}

Status Frame::BuildRecords() {
  const PlanFunction& fn = program_.plan().functions[0];
  first_dim_.reserve(fn.values.size() + 1);
  for (const PlanValue& v : fn.values) {  // all, before buffers point to them
    first_dim_.push_back(static_cast<uint32_t>(dims_.size()));
    if (!v.type.is_static()) {
      dims_.push_back(v.bytes);
      continue;
    }
    for (const Dim& d : v.type.dims) dims_.push_back(d.value);
  }
  first_dim_.push_back(static_cast<uint32_t>(dims_.size()));
  dims_.shrink_to_fit();
  records_.reserve(fn.code.size());
  stamps_.assign(fn.code.size() + 1, 0);
  bufs_.reserve(3 * fn.code.size());
  for (uint32_t i = 0; i < fn.code.size(); ++i) {
    const Instruction& ins = fn.code[i];
    Record& r = records_.emplace_back();
    r.op = ins.op;
    r.index = i;
    r.stream = streams_[ins.stream];
    switch (ins.op) {
      case PlanOp::kLaunch:
        GE_RETURN_IF_ERROR(BuildLaunch(ins, &r));
        break;
      case PlanOp::kCopy:
        r.engine = ins.engine;
        r.copy.h = GE_HDR(ge_copy, GE_TAG_COPY);
        r.copy.stream = r.stream;
        r.copy.src = BufOf(ins.src);
        r.copy.dst = BufOf(ins.dst);
        NotePatch(ins.src, &r.copy.src);
        NotePatch(ins.dst, &r.copy.dst);
        break;
      case PlanOp::kCommit:
        break;
      default:
        r.engine = fn.events[ins.event].engine;
        if (ins.op == PlanOp::kWait && ins.stream == 0) {
          r.limit_ns = LimitOf(engine(r.engine), event_device_[ins.event]);
        }
        r.event = events_[ins.event];
        r.value = ins.event_value;
    }
  }
  return {};
}

}  // namespace ge
