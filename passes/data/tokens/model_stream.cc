// Texts as tokens of a model, made once in a process and kept.
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <mutex>
#include <vector>

#include "passes/data/sentencepiece/tokenizer.h"
#include "passes/data/tokens/byte_stream.h"

namespace ge::data {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTokenizerFile = "libgraphengine_sentencepiece.so";
constexpr uint64_t kLargestModel = uint64_t{256} << 20;  // bytes of a file
constexpr uint64_t kReason = 256;                        // bytes

// Debian's libsentencepiece holds a protobuf of its own, older than the engine's, whose symbols it
// must find ahead of those. Sanitizers end a process at this flag: their builds read no models.
constexpr int kOwnSymbols = RTLD_DEEPBIND;

struct Library {
  const ge_tokenizer* functions = nullptr;
  std::string why;
};

Library LoadLibrary() {
  if (GE_SANITIZER_HERE != GE_SANITIZER_NONE) {
    return {nullptr, "this build is one with sanitizers"};
  }
  // This plugin lies in graphengine/, beside libgraphengine.so and the library.
  Dl_info info;
  std::error_code ec;
  fs::path own;
  if (dladdr(reinterpret_cast<void*>(&OpenTokens), &info) != 0 && info.dli_fname != nullptr) {
    own = fs::canonical(info.dli_fname, ec);
  }
  // A relative path would be looked for in folders that anybody may write.
  if (ec || own.empty()) return {nullptr, "the folder of this plugin is not known"};
  const fs::path path = own.parent_path().parent_path() / kTokenizerFile;
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE | kOwnSymbols);
  void* symbol = handle != nullptr ? dlsym(handle, GE_TOKENIZER_NAME) : nullptr;
  if (symbol != nullptr) {
    return {reinterpret_cast<decltype(&ge_tokenizer_1)>(symbol)(), {}};
  }
  const char* text = dlerror();
  return {nullptr, text != nullptr ? text : "no reason given"};
}

const ge_tokenizer& Functions() {
  static const Library library = LoadLibrary();
  if (library.functions != nullptr) return *library.functions;
  throw Refusal{GE_FAILED_PRECONDITION,
                fmt::format("models of tokens cannot be read: {}; {} is built where "
                            "libsentencepiece-dev is installed, and lies beside libgraphengine.so; "
                            "'tokens bytes' does without it",
                            library.why, kTokenizerFile)};
}

class Model {
 public:
  explicit Model(const std::string& path) : path_(path), call_(Functions()) {
    const auto file = MappedData::Open(path);
    if (file->bytes().size() > kLargestModel) {
      throw Refusal{GE_INVALID_ARGUMENT,
                    fmt::format("'{}' has {} bytes, wanted a model of tokens of at most 256 MiB",
                                path, file->bytes().size())};
    }
    char why[kReason] = {};
    model_ = call_.open(file->bytes().data(), file->bytes().size(), why, sizeof why);
    if (model_ == nullptr || call_.pieces(model_) < 1) {
      throw Refusal{GE_DATA_LOSS, fmt::format("'{}' is no model of SentencePiece: {}", path,
                                              why[0] != 0 ? Shown(why) : "it has no pieces")};
    }
  }
  ~Model() {
    if (model_ != nullptr) call_.close(model_);
  }
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  // Appends the pieces of a text and the end of texts, if the model has one.
  void Encode(std::span<const std::byte> text, std::vector<int32_t>* out) const {
    const auto* at = reinterpret_cast<const char*>(text.data());
    const size_t before = out->size();
    int64_t n = static_cast<int64_t>(text.size()) + 2;  // most texts have fewer pieces than bytes
    for (int64_t room = -1; room < n;) {
      room = n;
      out->resize(before + static_cast<size_t>(room));
      n = call_.encode(model_, at, text.size(), out->data() + before, static_cast<uint64_t>(room));
      if (n < 0) {
        throw Refusal{GE_DATA_LOSS, fmt::format("the model '{}' cannot encode a text of {} bytes",
                                                path_, text.size())};
      }
    }
    out->resize(before + static_cast<size_t>(n));
    const int64_t end = call_.end(model_);
    if (end >= 0) out->push_back(static_cast<int32_t>(end));
  }

 private:
  std::string path_;
  const ge_tokenizer& call_;
  void* model_ = nullptr;
};

class ModelStream final : public TokenStream {
 public:
  ModelStream(const Source& source, size_t column, const Model& model, const OpenOptions& options) {
    for (int64_t row = 0; row < source.rows(); ++row) {
      if (row % 64 == 0) CheckStop(options);
      model.Encode(source.ReadBlob(column, row).bytes, &tokens_);
    }
    tokens_.shrink_to_fit();
  }
  int64_t tokens() const override { return static_cast<int64_t>(tokens_.size()); }
  void Read(int64_t at, int64_t n, int64_t* out) const override {
    std::copy_n(tokens_.begin() + at, n, out);
  }

 private:
  std::vector<int32_t> tokens_;
};

// Those in use, and the last few: nodes of a pipeline and of its plans, and of its test part, share
// one.
class SharedStreams {
 public:
  std::shared_ptr<const TokenStream> Open(const Source& source, size_t column,
                                          const std::string& path, const std::string& digest,
                                          const OpenOptions& options) {
    std::unique_lock<std::timed_mutex> lock(mutex_, std::defer_lock);
    while (!lock.try_lock_for(std::chrono::milliseconds(20))) CheckStop(options);
    const std::string key = fmt::format("{} {} {}", source.digest(), column, digest);
    auto stream = streams_[key].lock();
    std::erase_if(streams_, [](const auto& s) { return s.second.expired(); });
    if (!stream) {
      stream = std::make_shared<ModelStream>(source, column, Model(path), options);
      streams_[key] = stream;
    }
    std::erase(last_, stream);
    last_.push_back(stream);
    if (last_.size() > kMost) last_.erase(last_.begin());
    return stream;
  }

 private:
  static constexpr size_t kMost = 4;
  std::timed_mutex mutex_;  // held while a stream is made, so that it is made once
  std::map<std::string, std::weak_ptr<const TokenStream>> streams_;
  // From the pass on to the plan's nodes; the one used last at the end.
  std::vector<std::shared_ptr<const TokenStream>> last_;
};

}  // namespace

std::string DigestOfModel(const std::string& model) {
  return fmt::format("{:016x}", Xxh3(MappedData::Open(model)->bytes()));
}

std::shared_ptr<const TokenStream> OpenTokens(std::shared_ptr<const Source> source, size_t column,
                                              const std::string& model, const std::string& digest,
                                              const OpenOptions& options) {
  if (model.empty()) return std::make_shared<ByteStream>(std::move(source), column, options);
  const std::string found = DigestOfModel(model);
  if (!digest.empty() && digest != found) {
    throw Refusal{GE_FAILED_PRECONDITION,
                  fmt::format("'{}' has changed: its digest is {}, the pipeline was made for {}; "
                              "make the pipeline again, or bring the model back",
                              model, found, digest)};
  }
  static SharedStreams shared;
  return shared.Open(*source, column, model, found, options);
}

}  // namespace ge::data
