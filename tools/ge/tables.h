// Tables of text for people: aligned columns, and short forms of times, names and patterns.
#pragma once

#include <string>
#include <vector>

#include "ge/plan/plan.h"

namespace ge::tool {

struct Row {
  std::vector<std::string> cells;
};
// On stdout. `right`: by column, whether it is aligned to the right, as numbers are.
void PrintTable(const std::vector<std::string>& head, const std::vector<Row>& rows,
                const std::vector<bool>& right);
// "812 ns", "81.2 us", "8.12 ms".
std::string Ns(double ns);
// Converters from TensorFlow join the names of all that a node was made of, hundreds of characters.
// Of such a one the number that --pin takes, too, its begin and its end; --json has it whole.
std::string ShortLabel(const NodeReport& report);
// "Mul+Mul+Add" as "2 Mul+Add": three constants of a quantized convolution would fill a screen.
std::string ShortPattern(const std::string& pattern);

}  // namespace ge::tool
