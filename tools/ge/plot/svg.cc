// The picture as SVG: one document, no script, no fonts or files of its own. Colours follow the
// viewer's light or dark scheme.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "tools/ge/plot/layout.h"
#include "tools/ge/plot/plot.h"

namespace ge::tool {
namespace {

// Okabe and Ito's palette, told apart under every common colour blindness. Its vermilion is kept
// for what crosses segments.
struct Colour {
  uint32_t rgb;
  bool dark_text;  // on a tab of this colour
};
constexpr std::array<Colour, 6> kPalette{{{0x0072B2, false},
                                          {0xE69F00, true},
                                          {0x009E73, false},
                                          {0xCC79A7, true},
                                          {0x56B4E9, true},
                                          {0xF0E442, true}}};
constexpr uint32_t kLightPaper = 0xFFFFFF, kDarkPaper = 0x12161B;

constexpr double kMargin = 24, kTab = 17, kNodeHeight = 36, kPillHeight = 34;
constexpr double kRegionPad = 7;
constexpr double kLeastWidth = 132, kWidthStep = 24;  // boxes of a chain look alike
constexpr size_t kNameLetters = 24;

uint32_t Mix(uint32_t a, uint32_t b, double part_of_a) {
  uint32_t out = 0;
  for (int shift : {16, 8, 0}) {
    double mixed = ((a >> shift) & 255) * part_of_a + ((b >> shift) & 255) * (1 - part_of_a);
    out |= static_cast<uint32_t>(std::lround(mixed)) << shift;
  }
  return out;
}

// Length of the UTF-8 character at `i`, or 0 where the bytes are none that XML allows.
size_t CharLength(const std::string& s, size_t i) {
  auto byte = [&](size_t k) { return k < s.size() ? static_cast<unsigned char>(s[k]) : 0u; };
  unsigned c = byte(i);
  if (c < 0x80) return c >= 0x20 || c == '\n' || c == '\t' ? 1 : 0;
  size_t n = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : 2;
  uint32_t code = c & (0x7Fu >> n);
  if (c < 0xC2 || c > 0xF4) return 0;
  for (size_t k = 1; k < n; ++k) {
    if ((byte(i + k) & 0xC0) != 0x80) return 0;
    code = code << 6 | (byte(i + k) & 0x3F);
  }
  bool surrogate = code >= 0xD800 && code < 0xE000,
       overlong = n == 3 ? code < 0x800 : n == 4 && code < 0x10000;
  return surrogate || overlong || code > 0x10FFFF || (code & 0xFFFE) == 0xFFFE ? 0 : n;
}

// Text as characters; what XML cannot hold becomes U+FFFD.
std::vector<std::string> Letters(const std::string& s) {
  std::vector<std::string> out;
  for (size_t i = 0; i < s.size();) {
    size_t n = CharLength(s, i);
    out.push_back(n ? s.substr(i, n) : "\xEF\xBF\xBD");
    i += n ? n : 1;
  }
  return out;
}

std::string Escaped(const std::vector<std::string>& letters) {
  std::string out;
  for (const std::string& l : letters) {
    if (l == "&")
      out += "&amp;";
    else if (l == "<")
      out += "&lt;";
    else if (l == ">")
      out += "&gt;";
    else if (l == "\"")
      out += "&quot;";
    else if (l == "\n")
      out += "&#10;";
    else if (l == "\t")
      out += "&#9;";
    else
      out += l;
  }
  return out;
}
std::string Escaped(const std::string& s) { return Escaped(Letters(s)); }

// The end of a long name says most: "/bert/encoder/layer.3/MatMul" -> "/bert/e…/layer.3/MatMul".
std::vector<std::string> Short(const std::string& s) {
  std::vector<std::string> all = Letters(s);
  for (std::string& l : all) {
    if (l == "\n" || l == "\t") l = " ";
  }
  if (all.size() <= kNameLetters) return all;
  std::vector<std::string> out(all.begin(), all.begin() + 7);
  out.push_back("…");
  out.insert(out.end(), all.end() - static_cast<ptrdiff_t>(kNameLetters - 8), all.end());
  return out;
}

// Width of text in pixels, on the safe side of the usual sans-serif fonts.
double TextWidth(size_t letters, double size) { return 0.6 * size * static_cast<double>(letters); }
double TextWidth(const std::string& s, double size) { return TextWidth(Letters(s).size(), size); }

std::string Num(double v) { return fmt::format("{:.7g}", std::round(v * 10) / 10); }

class SvgWriter {
 public:
  explicit SvgWriter(const Picture& p) : p_(p) {}

  Result<std::string> Write() {
    MeasureBoxes();
    std::vector<LayoutValue> values;
    for (const PictureValue& v : p_.values) {
      LayoutValue out;
      out.from = v.from;
      out.tight = v.fused;
      for (const PictureReader& r : v.readers) out.to.push_back(r.to);
      values.push_back(std::move(out));
    }
    GE_ASSIGN_OR_RETURN(layout_, LayOut(sizes_, values));
    PlaceHeader();
    Regions();
    Edges();
    for (uint32_t b = 0; b < p_.boxes.size(); ++b) Box(b);
    Labels();
    return Head() + body_ + header_ + "</svg>\n";
  }

 private:
  double X(uint32_t box) const { return layout_.boxes[box].x + left_; }
  double Y(uint32_t box) const { return layout_.boxes[box].y + top_; }
  static std::string Class(uint32_t device) {
    return fmt::format("d{}", (device + kPalette.size() - 1) % kPalette.size());
  }

  void MeasureBoxes() {
    for (const PictureBox& b : p_.boxes) {
      LayoutBox out;
      if (b.kind == PictureBox::Kind::kNode) {
        out.width = std::max(TextWidth(Short(b.op).size(), 12) + TextWidth(b.price, 11) + 34,
                             TextWidth(Short(b.name).size(), 9.5) + 22);
        out.height = kNodeHeight;
        if (b.first_of_segment) {
          out.height += kTab;
          out.width = std::max(out.width, TextWidth(SegmentOf(b).title, 9.5) + 10);
        }
      } else {
        out.width =
            std::max(TextWidth(Short(b.name).size(), 11), TextWidth(Short(b.op).size(), 9.5)) + 28;
        out.height = kPillHeight;
      }
      sizes_.push_back(out);
    }
    for (const PictureValue& v : p_.values) {
      if (!v.fused) sizes_[v.from].room_below = std::max(20.0, sizes_[v.from].room_below + 10);
      for (const PictureReader& r : v.readers) {
        if (!r.crossing) continue;
        sizes_[r.to].room_above = std::max(22.0, sizes_[r.to].room_above + 11);
        sizes_[r.to].width = std::max(sizes_[r.to].width, 2 * TextWidth(r.label, 9.5) + 16);
      }
    }
    for (LayoutBox& b : sizes_) {
      double steps = std::ceil(std::max(0.0, b.width - kLeastWidth) / kWidthStep);
      b.width = kLeastWidth + steps * kWidthStep;
    }
  }

  const PictureSegment& SegmentOf(const PictureBox& b) const {
    return p_.segments[static_cast<size_t>(b.segment)];
  }

  // Title and legend: beside a narrow picture, else above it.
  void PlaceHeader() {
    double y = kMargin + 16, x = kMargin, widest = 0;
    auto line = [&](const std::string& text, double size, const char* cls, double indent) {
      header_ += fmt::format("<text class=\"{}\" x=\"{}\" y=\"{}\" font-size=\"{}\">{}</text>\n",
                             cls, Num(x + indent), Num(y), size, Escaped(text));
      widest = std::max(widest, indent + TextWidth(text, size));
      y += size + 8;
    };
    line(p_.title, 20, "ink bold", 0);
    line(p_.summary, 12, "ink", 0);
    y += 4;
    header_ += "<g class=\"legend\">\n";
    for (const PictureDevice& d : p_.devices) {
      header_ += fmt::format(
          "<g class=\"device\" data-device=\"{}\"><rect class=\"{}-solid\" x=\"{}\" y=\"{}\" "
          "width=\"22\" height=\"12\" rx=\"3\"/>\n",
          Escaped(d.name), Class(d.device), Num(x), Num(y - 10));
      line(fmt::format("{}: {}", d.name, d.summary), 12, "ink", 32);
      header_ += "</g>\n";
    }
    Key(x, y, [&](double ky) {
      return fmt::format("<rect class=\"bar\" x=\"{}\" y=\"{}\" width=\"22\" height=\"3\"/>\n",
                         Num(x), Num(ky - 6));
    });
    line("bar: price against the costliest", 11, "soft", 32);
    if (Any([](const PictureValue& v) { return v.fused; })) {
      Key(x, y, [&](double ky) {
        return fmt::format("<path class=\"joint soft-line\" d=\"M{} {}h22\"/>\n", Num(x),
                           Num(ky - 4));
      });
      line("taken together as one pattern: the value between never reaches memory", 11, "soft", 32);
    }
    if (Any([](const PictureValue& v) {
          return std::any_of(v.readers.begin(), v.readers.end(),
                             [](const PictureReader& r) { return r.crossing; });
        })) {
      Key(x, y, [&](double ky) {
        return fmt::format("<path class=\"cross\" d=\"M{} {}h20\"/>\n", Num(x), Num(ky - 4));
      });
      line("crosses segments or memories: price of copies and layout changes", 11, "soft", 32);
    }
    header_ += "</g>\n";
    bool beside = layout_.width < 420 && layout_.height > y;
    left_ = beside ? std::round(kMargin + widest) + 40 : kMargin;
    top_ = beside ? kMargin + kRegionPad : std::round(y) + 18;
    width_ = std::max(left_ + layout_.width, kMargin + widest) + kMargin;
    height_ = std::max(top_ + layout_.height, y) + kMargin;
  }

  template <typename F>
  void Key(double, double y, F draw) {
    header_ += draw(y);
  }
  template <typename F>
  bool Any(F test) const {
    return std::any_of(p_.values.begin(), p_.values.end(), test);
  }

  std::string Head() const {
    std::string css = Scheme(kLightPaper, 0x1B2229, 0x66717C, 0x8A96A3, 0xC44E00, 0.14);
    css += "@media (prefers-color-scheme: dark){" +
           Scheme(kDarkPaper, 0xE6EBF0, 0x9AA6B2, 0x77838F, 0xFF8A3D, 0.26) + "}\n";
    css +=
        "text{font-family:'Segoe UI','Helvetica Neue',Arial,'DejaVu Sans',sans-serif}\n"
        ".bold{font-weight:600}.edge{fill:none;stroke-width:1.2}.cross{fill:none;stroke-width:1.8}"
        "\n"
        ".joint{fill:none;stroke-width:8}.box{stroke-width:1}.region{stroke-linecap:round;"
        "stroke-linejoin:round}.halo{paint-order:stroke;stroke-width:3;stroke-linejoin:round}\n";
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
        "{1}\" "
        "data-predicted-ns=\"{2:.3f}\">\n<title>{3}</title>\n<style>\n{4}</style>\n<defs>{5}{6}"
        "</defs>\n<rect class=\"paper\" width=\"{0}\" height=\"{1}\"/>\n",
        Num(std::ceil(width_)), Num(std::ceil(height_)), p_.predicted_ns,
        Escaped(p_.title + ": " + p_.summary), css, Marker("tip", "tip-fill"),
        Marker("ctip", "cross-fill"));
  }

  static std::string Marker(const char* id, const char* cls) {
    return fmt::format(
        "<marker id=\"{}\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" "
        "markerHeight=\"8\" markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path class=\"{}\" "
        "d=\"M0 .8L8 4L0 7.2z\"/></marker>",
        id, cls);
  }

  std::string Scheme(uint32_t paper, uint32_t ink, uint32_t soft, uint32_t line, uint32_t cross,
                     double tint) const {
    std::string out = fmt::format(
        ".paper{{fill:#{0:06x}}}.paper-line{{stroke:#{0:06x}}}.ink{{fill:#{1:06x}}}.soft{{fill:#{2:"
        "06x}}}"
        ".edge{{stroke:#{3:06x}}}.tip-fill{{fill:#{3:06x}}}.soft-line{{stroke:#{3:06x}}}"
        ".bar{{fill:#{2:06x}}}.cross{{stroke:#{4:06x}}}.cross-fill{{fill:#{4:06x}}}"
        ".pill{{fill:#{5:06x};stroke:#{3:06x}}}\n",
        paper, ink, soft, line, cross, Mix(ink, paper, 0.06));
    std::set<std::string> done;
    for (const PictureDevice& d : p_.devices) {
      if (!done.insert(Class(d.device)).second) continue;
      const Colour& c = kPalette[(d.device + kPalette.size() - 1) % kPalette.size()];
      out += fmt::format(
          ".{0}-solid{{fill:#{1:06x}}}.{0}-line{{stroke:#{1:06x}}}.{0}-tint{{fill:#{2:06x}}}"
          ".{0}-tintline{{stroke:#{2:06x}}}.{0}-box{{fill:#{3:06x};stroke:#{4:06x}}}"
          ".{0}-tab{{fill:#{5}}}\n",
          Class(d.device), c.rgb, Mix(c.rgb, paper, tint), Mix(c.rgb, paper, tint / 5),
          Mix(c.rgb, paper, 0.7), c.dark_text ? "101418" : "ffffff");
    }
    return out;
  }

  // The way of an edge, bending between the rows.
  std::string Way(const LayoutPath& path) const {
    std::string d;
    for (size_t i = 0; i < path.runs.size(); ++i) {
      const LayoutRun& r = path.runs[i];
      double x = r.x + left_, y0 = r.y0 + top_, y1 = r.y1 + top_;
      if (i == 0) {
        d = fmt::format("M{} {}", Num(x), Num(y0));
      } else if (const LayoutRun& before = path.runs[i - 1]; before.turn) {
        d += Corner(before, x, y0);
      } else {
        double bx = before.x + left_, by = before.y1 + top_, middle = (by + y0) / 2;
        d += std::abs(bx - x) < 0.05 ? fmt::format("V{}", Num(y0))
                                     : fmt::format("C{} {} {} {} {} {}", Num(bx), Num(middle),
                                                   Num(x), Num(middle), Num(x), Num(y0));
      }
      if (y1 > y0) d += fmt::format("V{}", Num(y1));
    }
    return d;
  }

  // Beneath the column, up between the columns, and down into the next one.
  std::string Corner(const LayoutRun& r, double x, double y) const {
    const double c = 6;  // radius
    double bx = r.x + left_, tx = r.turn_x + left_, bottom = r.turn_bottom + top_,
           upper = r.turn_top + top_;
    return fmt::format("V{}Q{} {} {} {}H{}Q{} {} {} {}V{}Q{} {} {} {}H{}Q{} {} {} {}V{}",
                       Num(bottom - c), Num(bx), Num(bottom), Num(bx + c), Num(bottom), Num(tx - c),
                       Num(tx), Num(bottom), Num(tx), Num(bottom - c), Num(upper + c), Num(tx),
                       Num(upper), Num(tx + c), Num(upper), Num(x - c), Num(x), Num(upper), Num(x),
                       Num(upper + c), Num(y));
  }

  struct Rect {
    double x, y, width, height;
  };

  // The ground between two boxes of a chain, when the edge is short and straight.
  bool Band(const LayoutPath& path, std::vector<Rect>* out) const {
    uint32_t from = p_.values[path.value].from, to = path.to;
    double middle = X(from) + sizes_[from].width / 2;
    if (path.runs.size() != 2 || std::abs(middle - X(to) - sizes_[to].width / 2) > 0.5)
      return false;
    double width = std::min(sizes_[from].width, sizes_[to].width);
    double y = Y(from) + sizes_[from].height;
    out->push_back({middle - width / 2, y, width, Y(to) - y});
    return true;
  }

  // A segment is one region: its boxes with a margin, and ribbons along its inner edges. Drawn
  // twice, the second time a little smaller, which leaves an outline.
  void Regions() {
    std::vector<std::string> ribbons(p_.segments.size());
    std::vector<std::vector<uint32_t>> boxes(p_.segments.size());
    std::vector<std::vector<Rect>> bands(p_.segments.size());
    for (uint32_t b = 0; b < p_.boxes.size(); ++b) {
      if (p_.boxes[b].segment >= 0) boxes[static_cast<size_t>(p_.boxes[b].segment)].push_back(b);
    }
    for (const LayoutPath& path : layout_.paths) {
      int32_t s = p_.boxes[p_.values[path.value].from].segment;
      if (s < 0 || s != p_.boxes[path.to].segment) continue;
      if (!Band(path, &bands[static_cast<size_t>(s)])) {
        ribbons[static_cast<size_t>(s)] += Way(path);
      }
    }
    for (size_t s = 0; s < p_.segments.size(); ++s) {
      if (boxes[s].empty()) continue;
      std::string cls = Class(p_.segments[s].device);
      body_ += fmt::format(
          "<g class=\"region\" data-segment=\"{}\" data-device=\"{}\" data-price-ns=\"{:.3f}\">"
          "<title>{}</title>\n",
          s, Escaped(DeviceName(p_.segments[s].device)), p_.segments[s].price_ns,
          Escaped(p_.segments[s].tooltip));
      for (double shrink : {0.0, 1.0}) {
        const char* kind = shrink > 0 ? "tint" : "solid";
        double pad = kRegionPad - shrink;
        auto rect = [&](const Rect& r, double rx) {
          body_ += fmt::format(
              "<rect class=\"{}-{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"{}/>\n", cls, kind,
              Num(r.x - pad), Num(r.y - pad), Num(r.width + 2 * pad), Num(r.height + 2 * pad),
              rx > 0 ? fmt::format(" rx=\"{}\"", Num(rx)) : "");
        };
        for (uint32_t b : boxes[s]) {
          rect({X(b), Y(b), sizes_[b].width, sizes_[b].height}, pad + 3);
        }
        for (const Rect& r : bands[s]) rect(r, 0);
        if (!ribbons[s].empty()) {
          body_ +=
              fmt::format("<path class=\"{}-{}\" fill=\"none\" stroke-width=\"{}\" d=\"{}\"/>\n",
                          cls, shrink > 0 ? "tintline" : "line", Num(16 - 2 * shrink), ribbons[s]);
        }
      }
      body_ += "</g>\n";
    }
  }

  std::string DeviceName(uint32_t device) const {
    for (const PictureDevice& d : p_.devices) {
      if (d.device == device) return d.name;
    }
    return "host";
  }

  static const PictureReader& ReaderOf(const PictureValue& v, uint32_t to) {
    return *std::find_if(v.readers.begin(), v.readers.end(),
                         [&](const PictureReader& r) { return r.to == to; });
  }

  void Edges() {
    for (bool crossing : {false, true}) {
      for (const LayoutPath& path : layout_.paths) {
        const PictureValue& v = p_.values[path.value];
        const PictureReader& r = ReaderOf(v, path.to);
        if (r.crossing != crossing) continue;
        std::string cls = "edge", end = " marker-end=\"url(#tip)\"", data;
        if (crossing) {
          cls = "cross";
          end = " marker-end=\"url(#ctip)\"";
          data = fmt::format(" data-boundary-ns=\"{:.3f}\"", r.boundary_ns);
        } else if (v.fused) {
          cls = "joint " + Class(p_.boxes[path.to].device) + "-line";
          end.clear();
        }
        body_ += fmt::format(
            "<path class=\"{}\" data-from=\"{}\" data-to=\"{}\" data-bytes=\"{}\"{}{} "
            "d=\"{}\"><title>{}</title></path>\n",
            cls, Escaped(p_.boxes[v.from].name), Escaped(p_.boxes[path.to].name), v.bytes, data,
            end, Way(path), Escaped(r.tooltip));
      }
    }
  }

  void Box(uint32_t i) {
    const PictureBox& b = p_.boxes[i];
    double x = X(i), y = Y(i), w = sizes_[i].width, h = sizes_[i].height;
    if (b.kind != PictureBox::Kind::kNode) {
      body_ += fmt::format(
          "<g class=\"{}\" data-name=\"{}\"><title>{}</title><rect class=\"pill\" x=\"{}\" "
          "y=\"{}\" width=\"{}\" height=\"{}\" rx=\"16\"/>"
          "<text class=\"ink bold\" font-size=\"11\" text-anchor=\"middle\" x=\"{}\" y=\"{}\">{}"
          "</text><text class=\"soft\" font-size=\"9.5\" text-anchor=\"middle\" x=\"{}\" "
          "y=\"{}\">{}</text></g>\n",
          b.kind == PictureBox::Kind::kInput ? "input" : "output", Escaped(b.name),
          Escaped(b.tooltip), Num(x), Num(y), Num(w), Num(h), Num(x + w / 2), Num(y + 15),
          Escaped(Short(b.name)), Num(x + w / 2), Num(y + 27), Escaped(b.op));
      return;
    }
    std::string cls = Class(b.device);
    body_ += fmt::format(
        "<g class=\"node\" data-name=\"{}\" data-op=\"{}\" data-segment=\"{}\" data-device=\"{}\" "
        "data-price-ns=\"{:.3f}\"><title>{}</title>",
        Escaped(b.name), Escaped(b.op), b.segment, Escaped(DeviceName(b.device)), b.price_ns,
        Escaped(b.tooltip));
    if (b.first_of_segment) {
      body_ += fmt::format(
          "<rect class=\"{0}-solid\" x=\"{1}\" y=\"{2}\" width=\"{3}\" height=\"{4}\" rx=\"4\"/>"
          "<text class=\"{0}-tab\" font-size=\"9.5\" x=\"{5}\" y=\"{6}\">{7}</text>",
          cls, Num(x), Num(y), Num(w), Num(kTab + 6), Num(x + 7), Num(y + 12),
          Escaped(SegmentOf(b).title));
      y += kTab;
      h -= kTab;
    }
    body_ += fmt::format(
        "<rect class=\"box {0}-box\" x=\"{1}\" y=\"{2}\" width=\"{3}\" height=\"{4}\" rx=\"4\"/>"
        "<rect class=\"{0}-solid\" x=\"{1}\" y=\"{2}\" width=\"5\" height=\"{4}\" rx=\"2\"/>",
        cls, Num(x), Num(y), Num(w), Num(h));
    if (b.bar > 0) {
      body_ += fmt::format("<rect class=\"bar\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"3\"/>",
                           Num(x + 8), Num(y + h - 4.5), Num(std::max(1.0, (w - 14) * b.bar)));
    }
    body_ += fmt::format(
        "<text class=\"ink bold\" font-size=\"12\" x=\"{}\" y=\"{}\">{}</text>"
        "<text class=\"ink\" font-size=\"11\" text-anchor=\"end\" x=\"{}\" y=\"{}\">{}</text>"
        "<text class=\"soft\" font-size=\"9.5\" x=\"{}\" y=\"{}\">{}</text></g>\n",
        Num(x + 11), Num(y + 14), Escaped(Short(b.op)), Num(x + w - 7), Num(y + 14),
        Escaped(b.price), Num(x + 11), Num(y + 27), Escaped(Short(b.name)));
  }

  // Bytes where an edge begins, boundary prices where it ends; above everything else.
  void Labels() {
    std::vector<int> above(p_.boxes.size()), below(p_.boxes.size());
    std::set<uint32_t> said;
    auto label = [&](const std::string& cls, double x, double y, const std::string& text) {
      body_ +=
          fmt::format("<text class=\"halo {}\" font-size=\"9.5\" x=\"{}\" y=\"{}\">{}</text>\n",
                      cls, Num(x), Num(y), Escaped(text));
    };
    for (const LayoutPath& path : layout_.paths) {
      const PictureValue& v = p_.values[path.value];
      const PictureReader& r = ReaderOf(v, path.to);
      if (!v.fused && said.insert(path.value).second) {
        const LayoutRun& run = path.runs.front();
        bool inside =
            p_.boxes[v.from].segment >= 0 && p_.boxes[v.from].segment == p_.boxes[path.to].segment;
        label(inside ? "soft " + Class(p_.boxes[v.from].device) + "-tintline" : "soft paper-line",
              run.x + left_ + 6, run.y0 + top_ + 17 + 10 * below[v.from]++, v.bytes_label);
      }
      if (r.crossing) {
        const LayoutRun& run = path.runs.back();
        label("cross-fill paper-line", run.x + left_ + 7,
              run.y0 + top_ - 11 - 11 * above[path.to]++, r.label);
      }
    }
  }

  const Picture& p_;
  std::vector<LayoutBox> sizes_;
  Layout layout_;
  double left_ = 0, top_ = 0, width_ = 0, height_ = 0;
  std::string body_, header_;
};

}  // namespace

Result<std::string> PictureSvg(const Picture& picture) { return SvgWriter(picture).Write(); }

}  // namespace ge::tool
