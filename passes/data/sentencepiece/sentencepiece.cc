// Models of SentencePiece, by Debian's libsentencepiece.
#include <sentencepiece_processor.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "passes/data/sentencepiece/tokenizer.h"

namespace {

using Model = sentencepiece::SentencePieceProcessor;

void Say(std::string_view text, char* why, uint64_t why_size) {
  if (why_size == 0) return;
  const size_t n = std::min<size_t>(text.size(), why_size - 1);
  std::memcpy(why, text.data(), n);
  why[n] = 0;
}

void* Open(const void* bytes, uint64_t size, char* why, uint64_t why_size) {
  try {
    auto model = std::make_unique<Model>();
    const auto status = model->LoadFromSerializedProto({static_cast<const char*>(bytes), size});
    if (status.ok()) return model.release();
    Say(status.message(), why, why_size);
  } catch (const std::exception& e) {
    Say(e.what(), why, why_size);
  }
  return nullptr;
}

void Close(void* model) { delete static_cast<Model*>(model); }

int64_t Pieces(void* model) { return static_cast<Model*>(model)->GetPieceSize(); }

int64_t End(void* model) { return static_cast<Model*>(model)->eos_id(); }

int64_t Encode(void* model, const char* text, uint64_t size, int32_t* out, uint64_t room) {
  try {
    std::vector<int> pieces;
    if (!static_cast<const Model*>(model)->Encode({text, size}, &pieces).ok()) return -1;
    std::copy_n(pieces.begin(), std::min<uint64_t>(room, pieces.size()), out);
    return static_cast<int64_t>(pieces.size());
  } catch (const std::exception&) {
    return -1;
  }
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const ge_tokenizer* ge_tokenizer_1(void) {
  static const ge_tokenizer tokenizer = {Open, Close, Pieces, End, Encode};
  return &tokenizer;
}
