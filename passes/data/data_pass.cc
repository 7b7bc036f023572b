#include "passes/data/data_pass.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "passes/data/ops/ops.h"
#include "passes/data/pipe/chain.h"
#include "passes/kit/options.h"

namespace ge::data {
namespace {

using passes::CountSetting;
using passes::TextOption;
using passes::TextSetting;

enum Option : uint32_t {
  kPipe,
  kTest,
  kSeed,
  kBatch,
  kName,
  kShuffle,
  kOwnTest,
  kPictures,
  kLast,
  kPack
};

// "3x224x224" as channels, height, width; "" as none.
PictureForm FormOf(const std::string& text) {
  PictureForm form;
  if (text.empty()) return form;
  int64_t* const to[] = {&form.channels, &form.height, &form.width};
  const char *at = text.data(), *end = at + text.size();
  for (size_t i = 0; i < 3; ++i) {
    const auto r = std::from_chars(at, end, *to[i]);
    at = r.ptr;
    if (r.ec != std::errc() || *to[i] < 1 || *to[i] > 1 << 15) break;
    if (i == 2 && at == end && (form.channels == 1 || form.channels == 3)) return form;
    if (i == 2 || at == end || *at++ != 'x') break;
  }
  throw Refusal{GE_INVALID_ARGUMENT,
                fmt::format("pictures is '{}', wanted CHANNELSxHEIGHTxWIDTH with 1 or 3 channels, "
                            "as 3x224x224",
                            text)};
}

// A parameter of one axis.
Val Parameter(Fn* fn, const char* name, int32_t dtype, const char* size) {
  passes::Type type;
  type.dtype = dtype;
  type.rank = 1;
  ge_dim n{};
  n.value = -1;
  n.name = ge_text(size);
  type.dims.push_back(n);
  return fn->Param(name, type);
}

// The column as the entry gives it.
Val Result(Chain* chain, ChainColumn* c) {
  const Val value = chain->ValueOf(c);
  const bool pictures = chain->channels_last && c->framed && chain->fn->TypeOf(value).rank == 4;
  return chain->fn->Op("Identity", {pictures ? passes::Transpose(value, {0, 2, 3, 1}) : value});
}

uint32_t AddFunction(const ge_edit* e, const std::string& name) {
  ge_function f{};
  f.h = GE_HDR(ge_function, GE_TAG_FUNCTION);
  f.name = plugin::Str(name);
  uint32_t id = 0;
  e->function(e->host, &f, &id);
  return id;
}

// The function with the pipe's steps applied, its columns not read yet.
Chain Applied(const ge_edit* e, const Pipe& pipe, bool test, Learned* learned, Fn* fn) {
  OpenOptions options;
  options.stop = e->stop;
  auto source = SharedSource(pipe.source, "", options);
  if (source->rows() < 1) {
    throw Refusal{GE_INVALID_ARGUMENT, fmt::format("'{}' has no rows", pipe.source)};
  }
  Chain chain(fn, std::move(source));
  chain.seed = static_cast<uint64_t>(e->option[kSeed].i);
  chain.batch = e->option[kBatch].i;
  chain.test = test;
  chain.learned = learned;
  chain.shuffle = !test && e->option[kShuffle].i != 0;
  chain.form = FormOf(TextOption(e, kPictures));
  chain.channels_last = e->option[kLast].i != 0;
  chain.pack = e->option[kPack].i != 0;
  chain.options = options;
  chain.position = Parameter(fn, "position", GE_I64, "n");
  for (size_t i = 0; i < chain.source->columns().size(); ++i) {
    chain.columns.push_back({chain.source->columns()[i].name, i, {}});
  }
  for (const Step& step : pipe.steps) Apply(step, &chain);
  return chain;
}

void SetEntry(const ge_edit* e, const Fn& fn, const std::string& name,
              const std::vector<std::pair<std::string, Val>>& results) {
  std::vector<uint32_t> values;
  std::vector<ge_str> names;
  for (const auto& [column, value] : results) {
    values.push_back(value.id);
    names.push_back(plugin::Str(column));
  }
  e->results(e->host, fn.id(), values.data(), names.data(), static_cast<uint32_t>(values.size()));
  e->entry(e->host, plugin::Str(name), fn.id(), GE_ROLE_DATA);
}

// Whether some of its columns are pictures or texts as they are.
bool AddEntry(const ge_edit* e, const Pipe& pipe, const std::string& name, bool test,
              Learned* learned) {
  Fn fn(e, AddFunction(e, name));
  Chain chain = Applied(e, pipe, test, learned, &fn);
  std::vector<std::pair<std::string, Val>> results;
  for (ChainColumn& c : chain.columns) results.emplace_back(c.name, Result(&chain, &c));
  SetEntry(e, fn, name, results);
  return chain.pack && std::any_of(chain.columns.begin(), chain.columns.end(),
                                   [&](const ChainColumn& c) { return chain.IsBlob(c); });
}

// NAME_blobs(position: i64[n], room: u8[w]) -> u8[n, w] of each column of pictures or texts as they
// are.
void AddBlobs(const ge_edit* e, const Pipe& pipe, const std::string& name) {
  Fn fn(e, AddFunction(e, name));
  Learned learned;
  Chain chain = Applied(e, pipe, false, &learned, &fn);
  const Val room = Parameter(&fn, "room", GE_U8, "w");
  std::vector<std::pair<std::string, Val>> results;
  for (const ChainColumn& c : chain.columns) {
    if (!chain.IsBlob(c)) continue;
    const Attrs of = chain.SourceOf(c);
    results.emplace_back(c.name, fn.Node(kDomain, "Blob", {chain.Row(), room}, of, 1)[0]);
  }
  SetEntry(e, fn, name, results);
}

// The pipe for the test part of its source; nothing where the source has none.
std::optional<Pipe> OwnTest(const Pipe& pipe, const OpenOptions& options) {
  constexpr std::string_view kTrain = "#train", kTestPart = "#test";
  Pipe out = pipe;
  if (out.source.ends_with(kTestPart)) return std::nullopt;
  if (out.source.ends_with(kTrain)) out.source.resize(out.source.size() - kTrain.size());
  out.source += kTestPart;
  try {
    SharedSource(out.source, "", options);
  } catch (const NoSuchPart&) {
    return std::nullopt;
  }
  return out;
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
  if (AddEntry(e, pipe, name, false, &learned)) AddBlobs(e, pipe, name + "_blobs");
  if (test.empty()) {
    OpenOptions options;
    options.stop = e->stop;
    if (e->option[kOwnTest].i == 0) return;
    if (const auto own = OwnTest(pipe, options)) {
      AddEntry(e, *own, name + "_test", true, &learned);
    }
    return;
  }
  Pipe of_test = ParsePipe(test);
  if (of_test.steps.empty()) of_test.steps = pipe.steps;
  AddEntry(e, of_test, name + "_test", true, &learned);
}

const ge_attr_def kOptions[] = {TextSetting("pipe", ""), TextSetting("test", ""),
                                CountSetting("seed", 0), CountSetting("batch", 64),
                                TextSetting("name", "data"),
                                // Rows are permuted in each epoch, as by the step.
                                CountSetting("shuffle", 0),
                                // Without `test`: the source's own test part, where it has one.
                                CountSetting("own-test", 0),
                                // What pictures become that no step has sized, and where their
                                // channels stand: "3x224x224".
                                TextSetting("pictures", ""), CountSetting("channels-last", 0),
                                // Pictures and texts stay as they are: for records.
                                CountSetting("pack", 0)};

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
