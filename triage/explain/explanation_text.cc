#include "triage/explain/explanation_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "core/text.h"

namespace mmafuzz {
namespace {

constexpr int side_by_side_from = 160;  ///< characters
constexpr size_t gap_between = 3;       ///< characters
constexpr size_t max_fallen = 12;       ///< limit of dropped digits shown
constexpr size_t longest_row = 74;      ///< characters of a line of parameters beside another unit

enum class Ink { plain, strong, fallen, carry };

struct Line {
  std::vector<std::pair<Ink, std::string>> parts;

  Line() = default;
  Line(std::string text, Ink ink = Ink::plain) { add(std::move(text), ink); }
  Line& add(std::string text, Ink ink = Ink::plain) {
    parts.emplace_back(ink, std::move(text));
    return *this;
  }
  size_t width() const {
    size_t sum = 0;
    for (const auto& [ink, text] : parts) sum += text.size();
    return sum;
  }
  /// Adds spaces until the line has `column` characters.
  Line& pad(size_t column) { return add(std::string(column > width() ? column - width() : 0, ' ')); }
  std::string draw(bool colour) const {
    std::string drawn;
    for (const auto& [ink, text] : parts) {
      const char* on = ink == Ink::strong ? "\x1b[1m" : ink == Ink::fallen ? "\x1b[31m" : "\x1b[1;33m";
      drawn += !colour || ink == Ink::plain || text.empty() ? text : on + text + "\x1b[0m";
    }
    return drawn.erase(drawn.find_last_not_of(' ') + 1);
  }
};
using Lines = std::vector<Line>;

size_t width_of(const Lines& lines) {
  size_t width = 0;
  for (const Line& line : lines) width = std::max(width, line.width());
  return width;
}

/// "+10.0101": the sign, blank for zero, then the digits of the grid with a point, carries in their own ink.
Line grid_digits(bool negative, const std::string& digits, int integer_bits, int carries) {
  const bool zero = digits.find('1') == std::string::npos;
  const size_t integer = static_cast<size_t>(integer_bits), carried = static_cast<size_t>(carries);
  Line line(zero ? " " : negative ? "-" : "+");
  line.add(digits.substr(0, carried), Ink::carry)
      .add(digits.substr(carried, integer - carried) + "." + digits.substr(integer));
  return line;
}

void append(Line& line, const Line& more) { line.parts.insert(line.parts.end(), more.parts.begin(), more.parts.end()); }

std::string fallen_text(const ExplainedAddend& t, int grid_end) {
  std::string text = "|" + t.fallen.substr(0, max_fallen) + (t.fallen.size() > max_fallen ? "..." : "");
  if (t.fallen_top >= grid_end) text += fmt::format(" from 2^{}", t.fallen_top);
  return text;
}

void add_step(Lines& lines, const ExplainedStep& step, bool narrow) {
  lines.emplace_back("  " + step.title());
  if (step.has_grid)
    lines.emplace_back(fmt::format("    {}; {} bits are kept below it", step.greatest_text(), step.grid_fraction_bits));
  // Columns: source, significand (its exponent if narrow), shift, digits on the grid and dropped digits, sum so far.
  constexpr size_t source_at = 4;
  size_t significand_at = source_at + 4, shift_at = 0, digits_at = 0, sum_at = 0;
  for (const ExplainedAddend& t : step.addends)
    significand_at = std::max(significand_at, source_at + t.source.size() + 1);
  const auto second_column = [&](const ExplainedAddend& t) {
    return narrow && t.is_nonzero && step.has_grid ? fmt::format("2^{}", t.exponent) : t.to_string();
  };
  for (const ExplainedAddend& t : step.addends)
    shift_at = std::max(shift_at, significand_at + second_column(t).size() + 2);
  digits_at = shift_at + (narrow ? 5 : 11);
  Lines rows;
  for (const ExplainedAddend& t : step.addends) {
    Line row("    " + t.source);
    row.pad(significand_at).add(second_column(t));
    if (step.has_grid && t.is_nonzero) {
      row.pad(shift_at).add((narrow ? ">>" : "shift ") + std::to_string(t.shift)).pad(digits_at);
      append(row, grid_digits(t.is_kept_negative, t.kept, step.grid_integer_bits, 0));
      if (t.loses_bits) row.add(" ").add(fallen_text(t, step.grid_end()), Ink::fallen);
    }
    sum_at = std::max(sum_at, row.width() + 2);
    rows.push_back(std::move(row));
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    if (step.has_grid) rows[i].pad(sum_at).add((narrow ? "" : "sum so far ") + step.addends[i].sum_so_far);
    lines.push_back(std::move(rows[i]));
  }
  if (step.zero_products)
    lines.emplace_back("    " + counted(static_cast<uint64_t>(step.zero_products), "zero product"));
  if (step.has_grid) {
    Line row("    sum");
    row.pad(digits_at);
    append(row, grid_digits(step.is_sum_negative, step.sum, step.grid_integer_bits, step.carries));
    if (step.carries) row.add("  " + counted(static_cast<uint64_t>(step.carries), "carry bit"), Ink::carry);
    lines.push_back(std::move(row));
    if (const std::string text = step.normalized_text(); !text.empty()) lines.emplace_back("    " + text);
  }
  Line row("    result     ");
  row.add(step.result.hex, Ink::strong).add(step.result.to_string().substr(step.result.hex.size()));
  row.add(step.rounding_text());
  lines.push_back(std::move(row));
  if (step.folded) lines.emplace_back("  " + step.folded_text());
}

Lines unit_lines(const ExplainedUnit& unit, bool narrow) {
  Lines lines;
  lines.emplace_back(unit.name, Ink::strong);
  std::string row;  // parameters, in lines of a readable length
  for (const std::string& word : words_of(unit.parameters)) {
    if (narrow && row.size() + word.size() > longest_row) lines.emplace_back("  " + std::exchange(row, ""));
    row += (row.empty() ? "" : " ") + word;
  }
  if (!row.empty()) lines.emplace_back("  " + row);
  for (const ExplainedStep& step : unit.steps) add_step(lines, step, narrow);
  if (!unit.no_answer.empty()) lines.emplace_back("  = " + unit.no_answer);
  for (const std::string& line : unit.block) lines.emplace_back("  " + line);
  for (const ExplainedNumber& result : unit.block.empty() ? unit.results : std::vector<ExplainedNumber>()) {
    Line line("  = ");
    line.add(result.hex, Ink::strong).add(result.to_string().substr(result.hex.size()) + unit.remarks());
    lines.push_back(std::move(line));
  }
  return lines;
}

Lines case_lines(const ExplainedCase& one) {
  Lines lines;
  lines.emplace_back(one.op);
  lines.emplace_back(one.fields);
  lines.emplace_back();
  if (one.rounding) {
    const ExplainedRounding& r = *one.rounding;
    for (size_t i = 0; i < r.operands.size(); ++i)
      lines.emplace_back(fmt::format("operand {}    {}", i, r.operands[i].to_string()));
    lines.emplace_back("exact value  " + one.exact_value);
    if (!r.exact) {
      lines.emplace_back("lower        " + r.lower.to_string());
      lines.emplace_back("upper        " + r.upper.to_string());
    }
    lines.emplace_back("rounding     " + r.decision);
    lines.emplace_back("asked for    " + r.reference);
    lines.emplace_back();
  } else if (!one.exact_value.empty()) {
    lines.emplace_back("exact value " + one.exact_value);
    lines.emplace_back();
  }
  return lines;
}

void draw(std::string& text, const Lines& lines, bool colour) {
  for (const Line& line : lines) text += line.draw(colour) + "\n";
}

/// Two columns if the width allows; false, with nothing drawn, if not.
bool draw_beside(std::string& text, const Lines& left, const Lines& right, const TextStyle& style) {
  const size_t second = width_of(left) + gap_between;
  if (style.width < side_by_side_from || second + width_of(right) > static_cast<size_t>(style.width)) return false;
  for (size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
    Line line = i < left.size() ? left[i] : Line();
    if (i < right.size()) append(line.pad(second), right[i]);
    text += line.draw(style.colour) + "\n";
  }
  text += "\n";
  return true;
}

}  // namespace

std::string verdict_text(const Explanation& explanation) {
  std::string text;
  const auto list = [&](const char* title, const std::vector<std::string>& cases) {
    if (!cases.empty()) text += title;
    for (const std::string& one : cases) text += "  " + one + "\n";
  };
  for (const ExplainedCase& one : explanation.cases) {
    if (one.verdict) text += "verdict: " + one.verdict->sentence + "\n";
    list("These cases were evaluated before it:\n", one.before);
    list("These cases were evaluated after it:\n", one.after);
  }
  return text;
}

std::string explanation_text(const Explanation& explanation, const TextStyle& style) {
  std::string text;
  for (const std::string& note : explanation.notes) text += note + "\n";
  const std::vector<ExplainedCase>& cases = explanation.cases;
  const bool has_changed = cases.size() == 2 && cases[0].units.size() == 1 && cases[1].units.size() == 1;
  if (has_changed) {
    const auto whole = [](const ExplainedCase& c) {
      Lines lines = case_lines(c);
      for (const Line& line : unit_lines(c.units[0], true)) lines.push_back(line);
      return lines;
    };
    if (draw_beside(text, whole(cases[0]), whole(cases[1]), style)) return text + verdict_text(explanation);
  }
  for (const ExplainedCase& one : cases) {
    draw(text, case_lines(one), style.colour);
    if (one.units.size() == 2 &&
        draw_beside(text, unit_lines(one.units[0], true), unit_lines(one.units[1], true), style))
      continue;
    for (const ExplainedUnit& unit : one.units) {
      draw(text, unit_lines(unit, false), style.colour);
      text += "\n";
    }
  }
  return text + verdict_text(explanation);
}

}  // namespace mmafuzz
