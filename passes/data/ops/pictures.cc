// Pictures: rows[n] -> pictures of one size, u8[n, channels, height, width], or f32 through a table
// of 256 for each channel. By row: a box of the picture (x, y, width, height), its size when
// resized and the place of what is kept of that (height, width, top, left), whether it is flipped.
// Only what is kept is decoded and resized.
#include <fmt/format.h>

#include "passes/data/ops/kept_pictures.h"
#include "passes/data/pictures/resize_loops.h"

namespace ge::data {
namespace {

enum In : uint32_t { kRow, kBox, kView, kFlip, kTable, kInputs };

constexpr int64_t kMostSide = 1 << 15;

bool HasTable(const ge_graph& g) { return g.node->n_in > kTable && g.node->in[kTable] != 0; }

Planes SizesOf(const ge_node& n) {
  Planes to;
  to.channels = plugin::AttrInt(n, "channels");
  to.height = plugin::AttrInt(n, "height");
  to.width = plugin::AttrInt(n, "width");
  const auto side = [](int64_t s) { return s >= 1 && s <= kMostSide; };
  if ((to.channels == 1 || to.channels == 3) && side(to.height) && side(to.width)) return to;
  throw Refusal{GE_INVALID_ARGUMENT,
                fmt::format("Pictures: {} channels of {}x{}, wanted 1 or 3 channels, sides of 1 to "
                            "{}",
                            to.channels, to.width, to.height, kMostSide)};
}

ge_rc InferPictures(const ge_infer* c, ge_err* err) {
  return Run(err, "Pictures", [&] {
    const Planes to = SizesOf(*c->graph->node);
    const ge_value* row = ge_input(c->graph, kRow);
    if (row->type.rank > 1) {
      throw Refusal{GE_INVALID_ARGUMENT,
                    fmt::format("Pictures: rows of rank {}, wanted 1", row->type.rank)};
    }
    ge_dim dims[4] = {};
    const int64_t sizes[] = {0, to.channels, to.height, to.width};
    for (int i = 1; i < 4; ++i) dims[i].value = dims[i].min = dims[i].max = sizes[i];
    if (row->type.rank == 1) dims[0] = row->dim[0];
    c->output(c->host, 0, HasTable(*c->graph) ? GE_F32 : GE_U8, row->type.rank == 1 ? 4 : -1, dims);
  });
}

Frame FrameOf(const ge_kernel_call& c, uint64_t i, uint64_t n) {
  Frame f;
  if (const int64_t* box = RowOf(c.in[kBox], 4, i, n, "Pictures")) {
    f.x = box[0];
    f.y = box[1];
    f.width = box[2];
    f.height = box[3];
  }
  if (const int64_t* view = RowOf(c.in[kView], 4, i, n, "Pictures")) {
    f.full_height = view[0];
    f.full_width = view[1];
    f.top = view[2];
    f.left = view[3];
  }
  return f;
}

ge_rc RunPictures(const ge_kernel_call* c, ge_err* err) {
  return Run(err, "Pictures", [&] {
    const PictureColumn& pictures = KeptPictures(*c);
    const auto rows = Elements<int64_t>(InputOf(*c, kRow));
    WantRows(rows, pictures.source().rows(), "Pictures");
    Planes sizes = SizesOf(*c->node);
    sizes.loops = &LoopsOf(c->api->isa_cap);
    const auto flip = Elements<uint8_t>(InputOf(*c, kFlip));
    const bool flips = InputOf(*c, kFlip).ptr != nullptr;
    const auto each = static_cast<uint64_t>(sizes.channels * sizes.height * sizes.width);
    const bool floats = InputOf(*c, kTable).ptr != nullptr;
    if (flips && flip.size() != rows.size()) {
      throw Refusal{GE_INVALID_ARGUMENT,
                    fmt::format("Pictures: {} flips for {} rows", flip.size(), rows.size())};
    }
    if (floats && Elements<float>(InputOf(*c, kTable)).size() != 256 * uint64_t(sizes.channels)) {
      throw Refusal{GE_INVALID_ARGUMENT, "Pictures: wanted a table of 256 for each channel"};
    }
    const auto draw = [&](uint64_t i) {
      Planes to = sizes;
      to.flip = flips && flip[i] != 0;
      if (floats) {
        to.table = static_cast<const float*>(InputOf(*c, kTable).ptr);
        to.floats = static_cast<float*>(c->out[0].ptr) + i * each;
      } else {
        to.bytes = static_cast<uint8_t*>(c->out[0].ptr) + i * each;
      }
      pictures.Draw(rows[i], FrameOf(*c, i, rows.size()), to, c->stop);
    };
    constexpr uint64_t kPart = 32 << 10;  // bytes of results that are worth a thread: some 10 us
    const uint64_t some = std::max<uint64_t>(1, kPart / each);
    Parallel(c->api, (rows.size() + some - 1) / some, [&](uint64_t part) {
      for (uint64_t i = part * some; i < std::min((part + 1) * some, rows.size()); ++i) {
        CheckStop(c->stop);
        draw(i);
      }
    });
  });
}

ge_rc PicturesWork(const ge_graph* g, double* flops, double* bytes, ge_err*) {
  int64_t n = 0;
  plugin::ElementCount(ge_input(g, kRow)->type, &n);
  const auto size = [&](const char* name) {
    return static_cast<double>(plugin::AttrInt(*g->node, name));
  };
  const double pixels = static_cast<double>(n) * size("height") * size("width") * size("channels");
  *flops = 100 * pixels;  // some 10 ns a pixel: decoded, transformed, resized
  *bytes = pixels * (HasTable(*g) ? 4 : 1);
  return GE_OK;
}

}  // namespace

ge_op_def PicturesOp() {
  static const ge_port ports[] = {
      Port("row", 1u << GE_I64),           OptionalPort("box", 1u << GE_I64),
      OptionalPort("view", 1u << GE_I64),  OptionalPort("flip", 1u << GE_BOOL),
      OptionalPort("table", 1u << GE_F32), Port("picture", 1u << GE_U8 | 1u << GE_F32)};
  static const std::vector<ge_attr_def> attrs =
      ColumnAttrs({WantedAttr("height", GE_ATTR_INT), WantedAttr("width", GE_ATTR_INT),
                   IntAttr("channels", 3)});
  ge_op_def d = Record("Pictures", ports, attrs);
  d.infer = InferPictures;
  d.kernel = RunPictures;
  d.work = PicturesWork;
  d.open = OpenPictures;
  d.close = ClosePictures;
  return d;
}

}  // namespace ge::data
