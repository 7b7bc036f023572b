// Records: a .gerec file, which Python reads by zipfile and numpy.
//
// It is a zip file of stored members, the data of each at a multiple of 64 bytes of the file, so
// that it is read where it lies. Members:
//   meta.json        {"gerec": 1, "rows": N, "columns": [COLUMN...], "sums": {MEMBER: SUM...}}
//     COLUMN         {"name": TEXT, "kind": "array" | "picture" | "text", "member": STEM,
//                     "classes": [TEXT...] for a column of classes}
//     STEM           [A-Za-z0-9_-]+, one a column
//     SUM            of each member that ends with .offset.npy or .xxh3.npy: 16 hexadecimal digits
// of a column of arrays:
//   STEM.npy         the rows along the first axis, little-endian, row-major
//   STEM.xxh3.npy    u64, the sums of STEM.npy by 65,536 bytes of the whole member, the last
//   shorter
// of a column of pictures or texts:
//   STEM.bin         the blobs, one behind the other
//   STEM.offset.npy  i64[N + 1]: row i is bytes [offset[i], offset[i + 1]) of STEM.bin
//   STEM.xxh3.npy    u64[N], the sums of the blobs
// A sum is XXH3 of 64 bits without a seed. meta.json is checked by the zip's CRC-32 and the sums
// that it lists when the file is opened; blobs when they are read; arrays by 65,536 bytes when they
// are first touched. The digest of the source is that of meta.json and of these sums: all of the
// data.
#pragma once

#include <memory>
#include <string>

#include "passes/data/sources/source.h"

namespace ge::data {

std::shared_ptr<Source> OpenGerec(const std::string& path, const OpenOptions& options);

}  // namespace ge::data
