// Trains a net on Fashion-MNIST by ge.h: the pass `train` of the plugin `grad` gives the model the
// entries train_step and eval; the program feeds them. Usage: train NET.onnx [STEPS]
#include <zlib.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "ge/ge.hpp"

std::vector<uint8_t> Read(const std::string& name, size_t head) {
  const std::string path = "/usr/share/datasets/fashion-mnist/" + name + "-ubyte.gz";
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) throw std::runtime_error(path + ": apt-get install dataset-fashion-mnist");
  std::vector<uint8_t> bytes(64 << 20);
  bytes.resize(static_cast<size_t>(std::max(gzread(file, bytes.data(), 64 << 20), 0)));
  gzclose(file);
  return {bytes.begin() + static_cast<int64_t>(std::min(head, bytes.size())), bytes.end()};
}

constexpr int64_t kBatch = 64, kPixels = 28 * 28;
struct Batch {
  std::vector<float> x = std::vector<float>(kBatch * kPixels);
  std::vector<int64_t> y = std::vector<int64_t>(kBatch);
  graphengine::Tensor pixels{1, {kBatch, 1, 28, 28}, x.data(), x.size() * sizeof(float)};
  graphengine::Tensor label{7, {kBatch}, y.data(), y.size() * sizeof(int64_t)};
  void Fill(const std::vector<uint8_t>& from, const std::vector<uint8_t>& labels, size_t begin) {
    for (size_t i = 0; i < x.size(); ++i) x[i] = from[begin * kPixels + i] / 255.0f;
    std::copy_n(labels.begin() + static_cast<int64_t>(begin), kBatch, y.begin());
  }
};

int main(int argc, char** argv) try {
  if (argc < 2) return std::fputs("usage: train NET.onnx [STEPS]\n", stderr), 2;
  const size_t steps = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 937;
  const auto x = Read("train-images-idx3", 16), y = Read("train-labels-idx1", 8),
             test_x = Read("t10k-images-idx3", 16), test_y = Read("t10k-labels-idx1", 8);
  ge_session_options options;
  ge_session_options_init(&options);
  options.plugins = "grad";
  options.passes = "train:loss=softmax-ce;optimizer=adam;lr=0.001";
  graphengine::Session session(options);
  session.Load(argv[1]);
  Batch batch;
  for (size_t i = 0; i < steps; ++i) {
    batch.Fill(x, y, i * kBatch % (y.size() - kBatch));
    const auto out = session.Run({&batch.pixels, &batch.label}, "train_step");  // loss, ...
    if (i % 100 == 0) std::printf("step %zu: loss %.4f\n", i, double{*out[0].data<float>()});
  }
  size_t right = 0, seen = 0;
  for (; seen + kBatch <= test_y.size(); seen += kBatch) {
    batch.Fill(test_x, test_y, seen);
    const auto out = session.Run({&batch.pixels, &batch.label}, "eval");  // logits, loss, correct
    right += static_cast<size_t>(*out[2].data<int64_t>());
  }
  std::printf("test accuracy %.4f\n", static_cast<double>(right) / static_cast<double>(seen));
} catch (const std::exception& e) {
  return std::fprintf(stderr, "%s\n", e.what()), 1;
}
