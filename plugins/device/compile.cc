#include "plugins/device/compile.h"

#include <algorithm>

#include "plugins/units/in_place.h"

namespace ge_engines::device {
namespace {

// Whether each unit is one that a query would have offered.
bool StillTakes(const Engine& e, const Parser& parser, const std::vector<Unit>& units, Why* why) {
  return std::all_of(units.begin(), units.end(),
                     [&](const Unit& u) { return Is<NothingSpec>(u) || e.Takes(u, parser, why); });
}

// The units of all nodes taken; false where *c says why not.
bool UnitsOf(const Engine& e, const ge_segment& segment, const Parser& parser, bool unasked,
             std::vector<Unit>* units, ge_compiled* c) {
  std::vector<uint32_t> nodes;
  for (uint32_t t = 0; t < segment.n_taken; ++t) {
    const ge_taken& taken = segment.taken[t];
    nodes.insert(nodes.end(), taken.node, taken.node + taken.n_node);
  }
  const size_t n_node = nodes.size();
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  *units = Matcher(parser, nodes).Cover();
  size_t covered = 0;
  for (const Unit& u : *units) covered += u.nodes.size();
  if (covered != n_node || n_node == 0) {
    c->rc = gp::Fail(c->err, unasked ? GE_UNIMPLEMENTED : GE_INVALID_ARGUMENT, UINT32_MAX,
                     "%s: the segment has %zu nodes, only %zu of them can be compiled; take "
                     "offers of this graph alone",
                     e.name().c_str(), n_node, covered);
    return false;
  }
  Why why;
  if (unasked && !StillTakes(e, parser, *units, &why)) {
    c->rc = gp::Fail(c->err, GE_UNIMPLEMENTED, UINT32_MAX, "%s: %s", e.name().c_str(),
                     why.text.c_str());
    return false;
  }
  return true;
}

// A segment without nodes, which brings a value into another layout.
bool Converts(const ge_segment& segment) {
  return segment.n_taken == 1 && segment.taken[0].n_node == 0;
}

// False where *c says why not.
bool Build(const Engine& e, Recorder* recorder, const std::vector<Unit>& units, ge_compiled* c) {
  const auto refuse = [&](ge_rc rc, const char* why) {
    c->rc = gp::Fail(c->err, rc, recorder->current_node(), "%s: %s", e.name().c_str(), why);
    return false;
  };
  try {
    if (units.empty()) {
      recorder->RecordConversion();
    } else {
      recorder->Record(units);
    }
    return true;
  } catch (const Stopped& x) {
    return refuse(GE_CANCELLED, x.what());
  } catch (const std::bad_alloc&) {  // says nothing of the segment
    return refuse(GE_OUT_OF_MEMORY, "no memory");
  } catch (const std::exception& x) {
    return refuse(GE_UNIMPLEMENTED, x.what());
  }
}

// Inputs that the segment's only unit may overwrite. It then writes a state where it lies, and what
// fails of it fails with the device.
void StateInPlace(const Parser& parser, const ge_segment& segment, const std::vector<Unit>& units,
                  Program* program, ge_compiled* c) {
  const Unit* u = InPlaceUnit(units);
  if (u == nullptr) return;
  program->alias = AliasesOf(parser, segment, *u);
  c->alias = program->alias.data();
  c->alias_count = static_cast<uint32_t>(program->alias.size() / 2);
  program->infallible = u->kind().in_place != InPlace::kFirst;  // appended rows may not fit
  if (program->infallible) c->flags |= GE_COMPILED_INFALLIBLE;
}

}  // namespace

void CompileSegment(const Engine& engine, const ge_segment& segment, bool unasked, ge_compiled* c) {
  Device* device = engine.device(segment.device);
  if (device == nullptr) {
    c->rc = gp::Fail(c->err, GE_OUT_OF_RANGE, UINT32_MAX, "%s: device %u of %zu",
                     engine.name().c_str(), segment.device, engine.device_count());
    return;
  }
  c->rc = device->Ready(c->err);
  if (c->rc != GE_OK) return;
  const Parser parser(*segment.graph, engine.Kinds(), engine.Halves());
  std::vector<Unit> units;
  if (!Converts(segment) && !UnitsOf(engine, segment, parser, unasked, &units, c)) return;
  auto exec = std::make_unique<ge_exec>(engine, device);
  Program& program = exec->program;
  Recorder recorder(engine, &engine.book(), parser, segment, &program);
  if (!Build(engine, &recorder, units, c)) return;
  c->flags = program.capturable() ? GE_COMPILED_CAPTURABLE : 0;
  StateInPlace(parser, segment, units, &program, c);
  c->workspace = program.workspace;
  c->workspace_align = 256;
  c->internal = program.internals.data();
  c->n_internal = static_cast<uint32_t>(program.internals.size());
  c->n_step = std::max<uint32_t>(1, static_cast<uint32_t>(program.steps.size()));
  if (!units.empty() && !program.steps.empty()) {
    c->step = program.told.records();
    c->step_stride = sizeof(ge_step);
  }
  c->constant = program.constants.data();
  c->n_constant = static_cast<uint32_t>(program.constants.size());
  c->pack = program.packs.data();
  c->n_pack = static_cast<uint32_t>(program.packs.size());
  c->pack_stride = sizeof(ge_pack);
  c->rc = GE_OK;
  c->exec = exec.release();
}

}  // namespace ge_engines::device
