// TokenStream: the texts of a column as one stream of tokens, which windows are cut of. Any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "passes/data/sources/source.h"

namespace ge::data {

class TokenStream {
 public:
  virtual ~TokenStream() = default;
  virtual int64_t tokens() const = 0;
  // Tokens [at, at + n); they must be there.
  virtual void Read(int64_t at, int64_t n, int64_t* out) const = 0;
};

// `model` empty: bytes, each text ended by 10. Else a file of SentencePiece, each text ended by the
// model's end of texts if it has one: the texts become tokens once in a process, which stay in
// memory, four bytes each. Refusal: no such model, no library for it, another model than that of
// `digest` (unless empty).
std::shared_ptr<const TokenStream> OpenTokens(std::shared_ptr<const Source> source, size_t column,
                                              const std::string& model, const std::string& digest,
                                              const OpenOptions& options);

// 16 hexadecimal digits, of the model's bytes.
std::string DigestOfModel(const std::string& model);

}  // namespace ge::data
