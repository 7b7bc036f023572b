#include "passes/data/data_pass.h"

#include <fmt/format.h>

#include "passes/data/ops/ops.h"
#include "passes/data/pipe/chain.h"
#include "passes/kit/options.h"

namespace ge::data {
namespace {

using passes::CountSetting;
using passes::TextOption;
using passes::TextSetting;

enum Option : uint32_t { kPipe, kTest, kSeed, kBatch, kName };

// A function of positions, i64[n].
Val Position(Fn* fn) {
  passes::Type type;
  type.dtype = GE_I64;
  type.rank = 1;
  ge_dim n{};
  n.value = -1;
  n.name = ge_text("n");
  type.dims.push_back(n);
  return fn->Param("position", type);
}

void AddEntry(const ge_edit* e, const Pipe& pipe, const std::string& name, bool test,
              Learned* learned) {
  OpenOptions options;
  options.stop = e->stop;
  auto source = SharedSource(pipe.source, "", options);
  if (source->rows() < 1) {
    throw Refusal{GE_INVALID_ARGUMENT, fmt::format("'{}' has no rows", pipe.source)};
  }
  ge_function f{};
  f.h = GE_HDR(ge_function, GE_TAG_FUNCTION);
  f.name = plugin::Str(name);
  uint32_t id = 0;
  e->function(e->host, &f, &id);
  Fn fn(e, id);
  Chain chain(&fn, std::move(source));
  chain.seed = static_cast<uint64_t>(e->option[kSeed].i);
  chain.batch = e->option[kBatch].i;
  chain.test = test;
  chain.learned = learned;
  chain.options = options;
  chain.position = Position(&fn);
  for (size_t i = 0; i < chain.source->columns().size(); ++i) {
    chain.columns.push_back({chain.source->columns()[i].name, i, {}});
  }
  for (const Step& step : pipe.steps) Apply(step, &chain);
  std::vector<uint32_t> values;
  std::vector<ge_str> names;
  for (ChainColumn& c : chain.columns) {
    values.push_back(fn.Op("Identity", {chain.ValueOf(&c)}).id);
    names.push_back(plugin::Str(c.name));
  }
  e->results(e->host, id, values.data(), names.data(), static_cast<uint32_t>(values.size()));
  e->entry(e->host, plugin::Str(name), id, GE_ROLE_DATA);
}

void Derive(const ge_edit* e) {
  const std::string text = TextOption(e, kPipe), test = TextOption(e, kTest);
  const std::string name = TextOption(e, kName);
  const Pipe pipe = ParsePipe(text);
  if (e->option[kBatch].i < 1) {
    throw Refusal{GE_INVALID_ARGUMENT,
                  fmt::format("batch is {}, wanted 1 or more", e->option[kBatch].i)};
  }
  Learned learned;
  AddEntry(e, pipe, name, false, &learned);
  if (test.empty()) return;
  Pipe of_test = ParsePipe(test);
  if (of_test.steps.empty()) of_test.steps = pipe.steps;
  AddEntry(e, of_test, name + "_test", true, &learned);
}

const ge_attr_def kOptions[] = {TextSetting("pipe", ""), TextSetting("test", ""),
                                CountSetting("seed", 0), CountSetting("batch", 64),
                                TextSetting("name", "data")};

}  // namespace

ge_pass_def DataPass() {
  ge_pass_def pass{};
  pass.h = GE_HDR(ge_pass_def, GE_TAG_PASS_DEF);
  pass.name = ge_text("data");
  pass.summary = ge_text("adds the entries of a data pipeline: pipe='SOURCE | step | ...'");
  pass.kind = GE_PASS_DERIVE;
  pass.phases = GE_PHASE_LOAD | GE_PHASE_ASKED;
  pass.option = kOptions;
  pass.n_option = sizeof kOptions / sizeof kOptions[0];
  pass.run = [](const ge_edit* e, ge_err* err) { return Run(err, "data", [&] { Derive(e); }); };
  return pass;
}

}  // namespace ge::data
