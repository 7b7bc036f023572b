// Reads a photographed page with two networks: detection finds the lines, recognition reads each.
//   ocr PAGE.png --det DET.onnx --rec REC.onnx [--engines LIST] [--threads N] [--json]
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <nlohmann/json.hpp>

#include "examples/ocr/network.h"
#include "examples/ocr/page.h"

namespace {

struct Line {
  std::string text;
  double score = 0;
};

std::vector<std::string> SplitLines(const std::string& text) {
  std::vector<std::string> out(1);
  for (char c : text) {
    if (c == '\n') {
      out.emplace_back();
    } else if (c != '\r') {
      out.back() += c;
    }
  }
  if (out.back().empty()) out.pop_back();
  return out;
}

// Greedy CTC over 1xTxC: class 0 is blank, class k the k-th line of the alphabet, the last class
// the space; repeats without a blank between them are one character.
Line ReadClasses(const ocr::Blob& blob, const std::vector<std::string>& alphabet) {
  int64_t steps = blob.dims[1], classes = blob.dims[2], last = 0;
  Line line;
  int kept = 0;
  for (int64_t t = 0; t < steps; ++t) {
    const float* p = blob.data.data() + t * classes;
    int64_t best = std::max_element(p, p + classes) - p;
    if (best != 0 && best != last) {
      size_t k = static_cast<size_t>(best) - 1;
      line.text += k < alphabet.size() ? alphabet[k] : " ";
      line.score += p[best];
      ++kept;
    }
    last = best;
  }
  if (kept) line.score /= kept;
  return line;
}

void PrintNetwork(const char* what, const ocr::Network& network) {
  auto report = nlohmann::json::parse(network.Report());
  std::string engines;
  for (const auto& [name, nodes] : report["engines"].items()) {
    engines += fmt::format("{}{} {}", engines.empty() ? "" : ", ", name, nodes.get<int>());
  }
  fmt::print("{:<12} {:>4} nodes ({}), {} runs, {:.1f} ms running, {:.1f} ms planning\n", what,
             report["nodes"].get<int>(), engines, network.runs(), network.run_ms(),
             network.compile_ms());
}

int Read(const std::string& page_file, const std::string& det_file, const std::string& rec_file,
         const std::string& engines, uint32_t threads, bool json) {
  auto start = std::chrono::steady_clock::now();
  cv::Mat page = ocr::ReadPng(page_file);
  ocr::Network detector(det_file, engines, threads), recogniser(rec_file, engines, threads);
  std::vector<std::string> alphabet = SplitLines(recogniser.Metadata("character"));
  if (alphabet.empty()) {
    throw std::runtime_error("'" + rec_file + "' has no metadata 'character'; give a recogniser");
  }
  nlohmann::json lines = nlohmann::json::array();
  for (const ocr::Quad& box : ocr::FindBoxes(detector.Run(ocr::DetectorInput(page)), page)) {
    Line line =
        ReadClasses(recogniser.Run(ocr::RecogniserInput(ocr::Rectify(page, box))), alphabet);
    lines.push_back({{"text", line.text}, {"score", line.score}});
    if (!json) fmt::print("{:.2f}  {}\n", line.score, line.text);
  }
  double ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  if (json) {
    fmt::print("{}\n", nlohmann::json{{"lines", lines}, {"total_ms", ms}}.dump());
    return 0;
  }
  fmt::print("\n");
  PrintNetwork("detection", detector);
  if (recogniser.runs()) PrintNetwork("recognition", recogniser);
  fmt::print("{} lines in {:.0f} ms, loading and planning included\n", lines.size(), ms);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Reads the text of a photographed page with two networks");
  std::string page, det, rec, engines;
  uint32_t threads = 0;
  bool json = false;
  app.add_option("PAGE", page, "PNG file")->required();
  app.add_option("--det", det, "detection network, ONNX")->required();
  app.add_option("--rec", rec, "recognition network, ONNX")->required();
  app.add_option("--engines", engines, "engines to use: onednn,ref (default: all that are found)");
  app.add_option("--threads", threads, "compute threads (default: the cores we may use)");
  app.add_flag("--json", json, "one JSON object on stdout, nothing else");
  app.footer("\nExample:\n  ocr page.png --det ppocr_det.onnx --rec ppocr_rec.onnx\n");
  try {
    app.parse(argc, argv);
    return Read(page, det, rec, engines, threads, json);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  } catch (const std::exception& e) {
    fmt::print(stderr, "ocr: {}\n", e.what());
    return 2;
  }
}
