#include "ge/plan/check/overlap.h"

#include <fmt/format.h>

#include <algorithm>

#include "ge/plan/check/describe.h"

namespace ge::check {
namespace {

// "written by instruction 3 (...) and read by instruction 5 (...)"
std::string UsesText(const Lifetimes& life, PlanValueId v) {
  const PlanFunction& f = life.function();
  const Access& a = life.access(v);
  std::string text = a.writer == kNone ? "held since before the run"
                                       : "written by " + InstructionText(f, a.writer);
  if (!a.readers.empty()) {
    text += " and last read by " + InstructionText(f, a.readers.back());
    if (a.readers.size() > 1) text += fmt::format(" of {} readers", a.readers.size());
  }
  if (a.until_end) text += ", kept to the end";
  return text;
}

// The use of a that is not surely finished when b is written, to name the missing order.
uint32_t OpenUse(const Lifetimes& life, PlanValueId a, PlanValueId b) {
  const Access& use = life.access(a);
  const uint32_t w = life.access(b).writer;
  if (w == kNone) return kNone;
  for (uint32_t i : use.readers) {
    if (i != w && !life.timeline().Before(i, w)) return i;
  }
  if (use.writer != kNone && use.writer != w && !life.timeline().Before(use.writer, w)) {
    return use.writer;
  }
  return kNone;
}

Status OverlapFault(const Lifetimes& life, PlanValueId a, PlanValueId b) {
  const PlanFunction& f = life.function();
  std::string text = fmt::format(
      "{} at {} and {} at {} share bytes while both may be live: the first is {}, the second is {}",
      ValueText(f, a), PlaceText(f, a), ValueText(f, b), PlaceText(f, b), UsesText(life, a),
      UsesText(life, b));
  uint32_t open = OpenUse(life, a, b);
  uint32_t writer = life.access(b).writer;
  if (open == kNone) {
    open = OpenUse(life, b, a);
    writer = life.access(a).writer;
  }
  if (open != kNone && writer != kNone) {
    text += fmt::format("; wanted {} ordered before {}, or another place", InstructionText(f, open),
                        InstructionText(f, writer));
  } else {
    text += "; wanted another place for one of them";
  }
  return Fault(f, text);
}

Status CheckArena(const Lifetimes& life, std::vector<PlanValueId> in_arena, int64_t* pairs) {
  const PlanFunction& f = life.function();
  std::sort(in_arena.begin(), in_arena.end(), [&](PlanValueId a, PlanValueId b) {
    const int64_t oa = f.values[a].offset, ob = f.values[b].offset;
    return oa != ob ? oa < ob : a < b;
  });
  for (size_t i = 0; i < in_arena.size(); ++i) {
    const PlanValueId a = in_arena[i];
    const int64_t end = f.values[a].offset + f.values[a].bytes;
    for (size_t j = i + 1; j < in_arena.size() && f.values[in_arena[j]].offset < end; ++j) {
      const PlanValueId b = in_arena[j];
      if (!life.Apart(a, b) && !life.InPlace(a, b) && !life.InPlace(b, a)) {
        return OverlapFault(life, a, b);
      }
      ++*pairs;
    }
  }
  return {};
}

}  // namespace

Status CheckReads(const Lifetimes& life) {
  const PlanFunction& f = life.function();
  const Timeline& t = life.timeline();
  for (PlanValueId v = 1; v < f.values.size(); ++v) {
    const Access& a = life.access(v);
    if (a.writer == kNone) continue;
    for (uint32_t reader : a.readers) {
      if (t.Before(a.writer, reader)) continue;
      return Fault(f, fmt::format("{} is written by {} and read by {}, {}", ValueText(f, v),
                                  InstructionText(f, a.writer), InstructionText(f, reader),
                                  t.Before(reader, a.writer) || reader == a.writer
                                      ? "which comes no later; wanted the write first"
                                      : "and nothing orders them; wanted a signal after the first "
                                        "and a wait before the second"));
    }
  }
  for (uint32_t i = 0; i < f.code.size(); ++i) {
    const PlanOp op = f.code[i].op;
    if (op != PlanOp::kLaunch && op != PlanOp::kCopy) continue;
    if (!t.BeforeEnd(i)) {
      return Fault(f, fmt::format("{} may still run when the function ends; wanted a host wait for "
                                  "it",
                                  InstructionText(f, i)));
    }
  }
  return {};
}

Status CheckOverlaps(const Lifetimes& life, int64_t* pairs) {
  const PlanFunction& f = life.function();
  std::vector<std::vector<PlanValueId>> by_arena(f.arenas.size());
  for (PlanValueId v = 1; v < f.values.size(); ++v) {
    const PlanValue& value = f.values[v];
    if (value.arena < 0 || value.bytes == 0 || !life.access(v).used()) continue;
    by_arena[value.arena].push_back(v);
  }
  for (auto& in_arena : by_arena) {
    GE_RETURN_IF_ERROR(CheckArena(life, std::move(in_arena), pairs));
  }
  return {};
}

}  // namespace ge::check
