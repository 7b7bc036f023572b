#include "tools/ge/capsule/compared.h"

#include <fmt/format.h>

namespace ge::tool {

Compared CompareTensor(const CapsuleTensor& tensor, std::span<const std::byte> found,
                       std::span<const std::byte> wanted, double bound) {
  Compared c{tensor, {}, true};
  if (found.size() != wanted.size()) {
    c.difference.unlike = c.difference.differing = c.difference.elements = wanted.size();
    c.within = false;
    return c;
  }
  c.difference = DifferenceOf(tensor.dtype, found, wanted);
  const Difference& d = c.difference;
  c.within = d.equal() || (RelativeBound(tensor.dtype) > 0 && d.relative() <= bound);
  return c;
}

std::string TextOf(const Compared& c) {
  const Difference& d = c.difference;
  return fmt::format(
      "'{}' differs in {} of {} elements, by {:.3g} where the largest is {:.3g}{}", c.tensor.name,
      d.differing, d.elements, d.greatest, d.largest,
      d.unlike ? fmt::format("; {} are infinite or NaN on one side alone", d.unlike) : "");
}

std::string WhyDifferent(const CapsuleTensor& tensor, std::span<const std::byte> found,
                         std::span<const std::byte> wanted, double bound) {
  if (found.size() != wanted.size()) {
    return fmt::format("'{}' has {} bytes, wanted {}", tensor.name, found.size(), wanted.size());
  }
  const Compared c = CompareTensor(tensor, found, wanted, bound);
  return c.within ? std::string() : TextOf(c);
}

}  // namespace ge::tool
