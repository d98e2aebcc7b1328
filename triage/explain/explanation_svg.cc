#include "triage/explain/explanation_svg.h"

#include <fmt/core.h>

#include <algorithm>
#include <climits>

#include "core/text.h"
#include "triage/explain/first_difference.h"
#include "triage/explain/markup.h"

namespace mmafuzz {
namespace {

// Pixels. Digits are wider than characters, for the point between them.
constexpr int character = 8, digit = 9, row_height = 18, left = 8;
constexpr int source_x = left + 16, exponent_x = source_x + 72, shift_x = exponent_x + 62, behind_shift = shift_x + 56;
constexpr int widest_grid = 96;          ///< digits; units whose grids need more columns are drawn on their own
constexpr size_t max_fallen_drawn = 32;  ///< limit of dropped digits shown
constexpr size_t longest_line = 92;      ///< characters of a line of parameters
constexpr size_t narrowest_wide = 80;    ///< minimum width, in characters, of a picture that is not `is_narrow`
constexpr const char* fallen_ink = "var(--fallen,#c0392b)";
constexpr const char* carry_ink = "var(--carry,#9a6700)";

/// Columns of digits: exponents of the weights of the leftmost and the rightmost one.
struct Columns {
  int top = INT_MIN, bottom = INT_MAX;

  void cover(const ExplainedStep& step) {
    top = std::max(top, step.grid_top());
    bottom = std::min(bottom, step.grid_end());
    for (const ExplainedAddend& t : step.addends)
      if (t.loses_bits) {
        top = std::max(top, t.fallen_top);
        bottom = std::min(bottom, t.fallen_top - static_cast<int>(std::min(t.fallen.size(), max_fallen_drawn)));
      }
  }
};

class Drawing {
 public:
  /// `width` is in characters.
  explicit Drawing(size_t width)
      : is_narrow(width < narrowest_wide),
        sign_x(is_narrow ? source_x + 28 : behind_shift),
        longest_(is_narrow ? width : longest_line + 2) {}

  const bool is_narrow;  ///< digits stand below the exponents, not beside them
  const int sign_x;

  int digit_x(const Columns& columns, int exponent) const { return sign_x + 12 + (columns.top - exponent) * digit; }

  /// Words in lines of their own, which are broken where the picture is narrow.
  void rows(int x, const std::string& words, const std::string& attributes = "") {
    is_narrow ? broken_rows(x, words, attributes) : row(x, words, attributes);
  }
  void broken_rows(int x, const std::string& words, const std::string& attributes) {
    const size_t most = longest_ - static_cast<size_t>(x / character);
    for (size_t begin = 0; begin < words.size();) {
      size_t end = words.size();
      if (end - begin > most) end = words.rfind(' ', begin + most);
      if (end == std::string::npos || end <= begin) end = std::min(words.find(' ', begin + 1), words.size());
      row(x, words.substr(begin, end - begin), attributes);
      begin = end + 1;
    }
  }
  void row(int x, const std::string& words, const std::string& attributes = "") {
    text(x, words, attributes);
    next_row();
  }
  void text(int x, const std::string& words, const std::string& attributes = "") {
    body_ += fmt::format("<text x=\"{}\" y=\"{}\"{}>{}</text>", x, y_, attributes.empty() ? "" : " " + attributes,
                         escaped(words));
    width_ = std::max(width_, x + static_cast<int>(words.size() + 1) * character);
  }
  /// Digits, one per column whatever the font.
  void digits(int x, const std::string& bits, const std::string& ink = "") {
    if (bits.empty()) return;
    std::string attributes = fmt::format("textLength=\"{}\" lengthAdjust=\"spacing\"", bits.size() * digit);
    if (!ink.empty()) attributes += " style=\"fill:" + ink + "\"";
    text(x, bits, attributes);
    width_ = std::max(width_, x + static_cast<int>(bits.size()) * digit);
  }
  void line(int x, int from, int to, const std::string& ink) {
    body_ +=
        fmt::format("<line x1=\"{0}\" x2=\"{0}\" y1=\"{1}\" y2=\"{2}\" style=\"stroke:{3}\" stroke-dasharray=\"3 2\"/>",
                    x, from, to, ink);
  }
  /// A number line of `width` pixels with a mark at its middle and a point at `position`, from 0 to 1.
  void number_line(int x, int width, double position) {
    body_ += fmt::format(
        "<path d=\"M{0} {1}h{2}m{3} -5v10m{4} -5v-5v10m-{2} 0v-10\" fill=\"none\" stroke=\"currentColor\"/>", x, y_,
        width, -width / 2, width / 2);
    body_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{}\" r=\"4\" style=\"fill:{}\"/>", x + width * position, y_,
                         fallen_ink);
    width_ = std::max(width_, x + width + left);
  }
  /// A background for the lines that are drawn next, which marks a first difference.
  void mark(int rows = 1) {
    body_ += fmt::format(
        "<rect x=\"0\" y=\"{0}\" width=\"100%\" height=\"{1}\" style=\"fill:{2}\" opacity=\".13\"><title>first "
        "difference</title></rect><path d=\"M{3} {0}m0 4l7 5l-7 5z\" style=\"fill:{2}\"/>",
        y_ - 13, rows * row_height, fallen_ink, left);
  }
  void point(int x) { body_ += fmt::format("<circle cx=\"{}.5\" cy=\"{}\" r=\"1.4\"/>", x - 1, y_); }
  void next_row(int height = row_height) { y_ += height; }
  int y() const { return y_; }

  std::string svg(const std::string& label) const {
    return fmt::format(
        "<svg role=\"img\" aria-label=\"{0}\" viewBox=\"0 0 {1} {2}\" width=\"{1}\" height=\"{2}\" "
        "fill=\"currentColor\" font-family=\"ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace\" "
        "font-size=\"13\">{3}</svg>",
        escaped(label), width_ + left, y_ - row_height, body_);
  }

 private:
  std::string body_;
  size_t longest_;
  int width_ = 320, y_ = row_height;
};

void draw_grid_digits(Drawing& drawing, const Columns& columns, const ExplainedStep& step, bool negative,
                      const std::string& bits, int carries) {
  if (bits.find('1') != std::string::npos) drawing.text(drawing.sign_x, negative ? "-" : "+");
  const size_t carried = static_cast<size_t>(carries);
  drawing.digits(drawing.digit_x(columns, step.grid_top()), bits.substr(0, carried), carry_ink);
  drawing.digits(drawing.digit_x(columns, step.grid_top() - carries), bits.substr(carried));
  drawing.point(drawing.digit_x(columns, step.greatest_exponent) + digit);
  if (drawing.is_narrow)
    drawing.line(drawing.digit_x(columns, step.grid_end()) + digit, drawing.y() - 13, drawing.y() + 5, fallen_ink);
}

void draw_addend(Drawing& drawing, const Columns& columns, const ExplainedStep& step, const ExplainedAddend& t,
                 int sum_x) {
  drawing.text(source_x, t.source);
  if (!t.is_nonzero || !step.has_grid) {
    drawing.text(exponent_x, t.to_string());
  } else {
    drawing.text(exponent_x, fmt::format("2^{}", t.exponent));
    drawing.text(shift_x, fmt::format(">> {}", t.shift));
    if (drawing.is_narrow) drawing.row(sum_x, t.sum_so_far);
    // Bits that an inner stage dropped lie above the end of the grid: they are drawn over the zeros there.
    const int kept = t.loses_bits ? std::min(step.grid_top() - t.fallen_top, static_cast<int>(t.kept.size()))
                                  : static_cast<int>(t.kept.size());
    draw_grid_digits(drawing, columns, step, t.is_kept_negative,
                     t.kept.substr(0, static_cast<size_t>(std::max(0, kept))), 0);
    if (t.loses_bits) {
      drawing.digits(drawing.digit_x(columns, t.fallen_top), t.fallen.substr(0, max_fallen_drawn), fallen_ink);
      if (t.fallen.size() > max_fallen_drawn)
        drawing.text(drawing.digit_x(columns, t.fallen_top) + static_cast<int>(max_fallen_drawn) * digit, "...");
    }
  }
  if (step.has_grid && !(drawing.is_narrow && t.is_nonzero)) drawing.text(sum_x, t.sum_so_far);
  drawing.next_row();
}

/// `marked`: the line to mark, as FirstDifference::row; nothing: none.
void draw_step(Drawing& drawing, const ExplainedStep& step, const Columns& columns, std::optional<size_t> marked) {
  std::string title = step.title();
  if (step.has_grid) title += fmt::format("; {}, {} bits below it", step.greatest_text(), step.grid_fraction_bits);
  drawing.rows(left + 8, title);
  const int sum_x = drawing.is_narrow ? behind_shift
                    : step.has_grid   ? drawing.digit_x(columns, columns.bottom) + 4 * digit
                                      : 0;
  if (step.has_grid) {
    drawing.text(sum_x, "sum so far", "opacity=\".7\"");
    if (!drawing.is_narrow)
      drawing.text(drawing.digit_x(columns, step.grid_end()) + digit + 3, "cut", "opacity=\".7\"");
    drawing.next_row();
  }
  const int first_row = drawing.y();
  for (size_t i = 0; i < step.addends.size(); ++i) {
    if (marked == i) drawing.mark(drawing.is_narrow && step.has_grid && step.addends[i].is_nonzero ? 2 : 1);
    draw_addend(drawing, columns, step, step.addends[i], sum_x);
  }
  if (step.has_grid) {
    if (marked == step.addends.size()) drawing.mark();
    drawing.text(source_x, "sum");
    draw_grid_digits(drawing, columns, step, step.is_sum_negative, step.sum, step.carries);
    if (!drawing.is_narrow)
      drawing.line(drawing.digit_x(columns, step.grid_end()) + digit, first_row - row_height, drawing.y() + 4,
                   fallen_ink);
    if (step.carries)
      drawing.text(drawing.digit_x(columns, step.grid_end()) + 2 * digit,
                   counted(static_cast<uint64_t>(step.carries), "carry bit"),
                   fmt::format("style=\"fill:{}\"", carry_ink));
    drawing.next_row();
  }
  if (step.zero_products) drawing.row(source_x, counted(static_cast<uint64_t>(step.zero_products), "zero product"));
  if (const std::string text = step.normalized_text(); !text.empty()) drawing.row(source_x, text);
  if (marked && *marked >= step.addends.size() + (step.has_grid ? 1 : 0)) drawing.mark();
  drawing.rows(source_x, "result " + step.result.to_string() + step.rounding_text());
  if (step.folded) drawing.rows(left + 8, step.folded_text());
  drawing.next_row(6);
}

void draw_unit(Drawing& drawing, const ExplainedUnit& unit, const std::vector<Columns>& common, size_t marked_step,
               std::optional<size_t> marked_row) {
  drawing.row(left, unit.name, "font-weight=\"700\"");
  drawing.broken_rows(left + 8, unit.parameters, "opacity=\".75\"");
  for (size_t i = 0; i < unit.steps.size(); ++i) {
    Columns columns = common[i];
    if (unit.steps[i].has_grid && columns.top - columns.bottom > widest_grid) {
      columns = Columns();
      columns.cover(unit.steps[i]);
    }
    draw_step(drawing, unit.steps[i], columns, i == marked_step ? marked_row : std::nullopt);
  }
  for (const ExplainedNumber& number : unit.results)
    drawing.rows(left + 8, "= " + number.to_string() + unit.remarks(), "font-weight=\"700\"");
  if (!unit.no_answer.empty()) drawing.rows(left + 8, unit.no_answer);
  drawing.next_row(10);
}

/// The exact result between its neighbours.
void draw_rounding(Drawing& drawing, const ExplainedRounding& r) {
  for (size_t i = 0; i < r.operands.size(); ++i)
    drawing.rows(left, fmt::format("operand {}  {}", i, r.operands[i].to_string()));
  if (!r.exact) {
    drawing.rows(left, "lower      " + r.lower.to_string());
    drawing.rows(left, "upper      " + r.upper.to_string());
    if (!r.lower.decimal.empty() && !r.upper.decimal.empty()) {
      drawing.text(left, "lower");
      const int length = drawing.is_narrow ? 200 : 320;
      drawing.number_line(left + 56, length, r.position);
      drawing.text(left + 68 + length, "upper");
      drawing.next_row(row_height + 4);
    }
  }
  drawing.rows(left, "rounding   " + r.decision);
  drawing.rows(left, "asked for  " + r.reference);
  drawing.next_row(8);
}

}  // namespace

std::string explanation_svg(const Explanation& explanation, size_t width) {
  std::vector<Columns> common;  // by index of the step, for all units
  for (const ExplainedCase& one : explanation.cases)
    for (const ExplainedUnit& unit : one.units)
      for (size_t i = 0; i < unit.steps.size(); ++i) {
        common.resize(std::max(common.size(), i + 1));
        if (unit.steps[i].has_grid) common[i].cover(unit.steps[i]);
      }
  Drawing drawing(width);
  for (size_t i = 0; i < explanation.cases.size(); ++i) {
    const ExplainedCase& one = explanation.cases[i];
    if (explanation.cases.size() > 1)
      drawing.row(left, i == 0 ? "the case" : "the changed case", "font-style=\"italic\"");
    if (!one.exact_value.empty()) drawing.row(left, "exact value " + one.exact_value);
    if (one.rounding) draw_rounding(drawing, *one.rounding);
    std::optional<FirstDifference> difference;
    if (one.units.size() == 2) difference = first_difference(one.units[0], one.units[1]);
    for (size_t unit = 0; unit < one.units.size(); ++unit)
      if (difference) draw_unit(drawing, one.units[unit], common, difference->step, difference->row[unit]);
      else draw_unit(drawing, one.units[unit], common, 0, std::nullopt);
  }
  return drawing.svg("The arithmetic of the witness, step by step");
}

}  // namespace mmafuzz
