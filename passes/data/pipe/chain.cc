#include "passes/data/pipe/chain.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "passes/data/ops/ops.h"
#include "passes/data/pipe/nearest.h"

namespace ge::data {
namespace {

struct Known {
  std::string_view name;
  void (*apply)(const Step&, Chain*);
};
constexpr Known kSteps[] = {
    {"shuffle", ApplyShuffle},
    {"select", ApplySelect},
    {"normalise", ApplyNormalise},
    {"where", ApplyWhere},
    {"standardise", ApplyStandardise},
    {"tokens", ApplyTokens},
    {"pack", ApplyPack},
    {"bad", ApplyBad},
    {"random-resized-crop", ApplyRandomResizedCrop},
    {"random-crop", ApplyRandomCrop},
    {"resize", ApplyResize},
    {"center-crop", ApplyCenterCrop},
    {"flip", ApplyFlip},
    {"gray", ApplyGray},
    {"rotate", ApplyRotate},
    {"shift", ApplyShift},
    {"zoom", ApplyZoom},
    {"brightness", ApplyBrightness},
    {"contrast", ApplyContrast},
    {"noise", ApplyNoise},
};

}  // namespace

namespace {

// "picture (pictures), label (10 classes), x (f32[3])".
std::string ColumnsText(const Source& source) {
  std::string out;
  for (const Column& c : source.columns()) {
    std::string kind = c.kind == Column::Kind::kPicture ? "pictures" : "texts";
    if (!c.classes.empty()) {
      kind = fmt::format("{} classes", c.classes.size());
    } else if (c.kind == Column::Kind::kArray) {
      kind = fmt::format("{}[{}]", plugin::DTypeName(c.dtype), fmt::join(c.dims, ","));
    }
    out += fmt::format("{}{} ({})", out.empty() ? "" : ", ", Shown(c.name), kind);
  }
  return out;
}

}  // namespace

int64_t Chain::EpochRows() const { return test || rows < batch ? rows : rows / batch * batch; }

Val Chain::Row() {
  if (row) return row;
  Attrs attrs;
  attrs.Int("seed", static_cast<int64_t>(seed))
      .Int("rows", rows)
      .Int("epoch_rows", EpochRows())
      .Int("shuffle", shuffle ? 1 : 0);
  row = fn->Node(kDomain, "Order", {position}, attrs, 1)[0];
  Val list;
  if (!kept.empty()) list = fn->Vector(GE_I64, {kept.begin(), kept.end()});  // below 2^53
  const auto& all = source->columns();
  const bool pictures = std::any_of(
      all.begin(), all.end(), [](const Column& c) { return c.kind == Column::Kind::kPicture; });
  if (replace && pictures) {
    Attrs of;
    of.Text("source", source->path()).Text("digest", source->digest());
    row = fn->Node(kDomain, "GoodRow", {row, list}, of, 1)[0];
  } else if (list) {
    row = passes::Gather(list, row, 0);
  }
  return row;
}

Attrs Chain::SourceOf(const ChainColumn& column) const {
  Attrs attrs;
  attrs.Text("source", source->path())
      .Text("column", ColumnOf(column).name)
      .Text("digest", source->digest());
  return attrs;
}

Val Chain::ValueOf(ChainColumn* column) {
  if (column->placing.any()) MakePlacing(this, column);
  if (column->value) return column->value;
  if (column->framed) return MakePictures(this, column);
  const Column& c = ColumnOf(*column);
  if (pack && IsBlob(*column)) {
    Attrs attrs = SourceOf(*column);
    attrs.Text("kind", c.kind == Column::Kind::kPicture ? "picture" : "text");
    return fn->Node(kDomain, "BlobSize", {Row()}, attrs, 1)[0];
  }
  if (c.kind == Column::Kind::kPicture && form.height > 0) return MakePictures(this, column);
  if (c.kind == Column::Kind::kPicture) {
    throw Refusal{
        GE_INVALID_ARGUMENT,
        fmt::format("column '{}' of '{}' holds pictures of any size; bring them to one by "
                    "'resize 224x224', 'resize 256 | center-crop 224' or "
                    "'random-resized-crop 224', or leave the column out by select; the columns "
                    "are {}",
                    c.name, source->path(), ColumnsText(*source))};
  }
  if (c.kind == Column::Kind::kText) {
    throw Refusal{GE_INVALID_ARGUMENT,
                  fmt::format("column '{}' of '{}' holds texts of any length; {}, or leave the "
                              "column out by select; the columns are {}",
                              c.name, source->path(),
                              tokens ? "add 'pack LENGTH', which makes windows of these tokens"
                                     : "make windows of tokens by 'tokens bytes | pack 128'",
                              ColumnsText(*source))};
  }
  Attrs attrs = SourceOf(*column);
  attrs.Int("dtype", c.dtype).Ints("dims", c.dims);
  if (pack && !c.classes.empty()) {
    attrs.Text("classes", nlohmann::json(c.classes).dump(-1, ' ', false,
                                                         nlohmann::json::error_handler_t::replace));
  }
  column->value = fn->Node(kDomain, "Rows", {Row()}, attrs, 1)[0];
  if (c.classes.empty()) column->read = column->value;
  if (!c.classes.empty() && learned != nullptr) column->value = AsLearned(c, column->value);
  return column->value;
}

bool Chain::IsBlob(const ChainColumn& column) const {
  return !column.value && !column.framed && ColumnOf(column).kind != Column::Kind::kArray;
}

bool Chain::IsAsRead(const ChainColumn& column) const {
  const Column& c = ColumnOf(column);
  return c.kind == Column::Kind::kArray && c.classes.empty() &&
         (!column.value || column.value == column.read);
}

// The numbers of test data's classes are those that the training data gave them.
Val Chain::AsLearned(const Column& c, Val value) {
  const auto& classes = learned->classes.emplace(c.name, c.classes).first->second;
  if (classes == c.classes) return value;
  std::vector<double> to;
  for (const std::string& name : c.classes) {
    const auto at = std::find(classes.begin(), classes.end(), name);
    if (at == classes.end()) {
      throw Refusal{
          GE_INVALID_ARGUMENT,
          fmt::format("column '{}' of '{}' has the class '{}', which the training data have "
                      "not; leave its rows out by where",
                      c.name, source->path(), Shown(name))};
    }
    to.push_back(static_cast<double>(at - classes.begin()));
  }
  return passes::Gather(fn->Vector(GE_I64, to), value, 0);
}

Val Chain::Draw(const std::string& step, int64_t count) {
  std::string name = step;
  for (int i = 2; std::find(used.begin(), used.end(), name) != used.end(); ++i) {
    name = fmt::format("{} {}", step, i);
  }
  used.push_back(name);
  Attrs attrs;
  attrs.Int("seed", static_cast<int64_t>(seed)).Text("name", name).Int("count", count);
  return fn->Node(kDomain, "Draw", {position}, attrs, 1)[0];
}

void Apply(const Step& step, Chain* chain) {
  std::vector<std::string> names;
  for (const Known& k : kSteps) {
    if (k.name == step.name) return k.apply(step, chain);
    names.emplace_back(k.name);
  }
  throw Refusal{GE_INVALID_ARGUMENT,
                fmt::format("there is no step '{}'; the steps are {}{}", Shown(step.name),
                            fmt::join(names, ", "), Nearest(step.name, names))};
}

}  // namespace ge::data
