// Line charts of the HTML report.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "triage/explain/markup.h"
#include "triage/report/report_sections.h"

namespace mmafuzz {
namespace {

/// Pixels: size of the picture, and edges of the plot in it.
constexpr double width = 600, height = 260, plot_left = 70, plot_right = 560, plot_top = 40, plot_bottom = 215;
constexpr size_t max_points = 200;  ///< of a line, drawn at equal strides, and its first and last point
constexpr int colours = 8;          ///< --line0 to --line7 of the page

/// The least 1, 2 or 5 times a power of ten that is not below x: the step between ticks.
double round_step(double x) {
  const double power = std::pow(10, std::floor(std::log10(x)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= x * (1 - 1e-9)) return factor * power;
  return 10 * power;
}

std::string count_text(double x) {
  if (x >= 1e6) return fmt::format("{:.3g}M", x / 1e6);
  if (x >= 1e4) return fmt::format("{:.3g}k", x / 1e3);
  return fmt::format("{:.4g}", x);
}

std::string time_text(double seconds, double step) {
  if (step >= 3600) return fmt::format("{:.3g} h", seconds / 3600);
  if (step >= 60) return fmt::format("{:.3g} min", seconds / 60);
  return fmt::format("{:.3g} s", seconds);
}

}  // namespace

std::string line_chart(const std::string& title, const std::vector<ChartLine>& lines, ChartAxis axis) {
  double max_x = 1, max_y = 1;
  for (const ChartLine& line : lines)
    for (const auto& [x, y] : line.points) {
      max_x = std::max(max_x, x);
      max_y = std::max(max_y, y);
    }
  const bool numbers = axis == ChartAxis::numbers;
  const double unit = numbers ? 1 : max_x > 5400 ? 3600 : max_x > 90 ? 60 : 1;
  const double step_x = std::max(numbers ? 1.0 : 0.0, unit * round_step(max_x / unit / 4)),
               step_y = std::max(1.0, round_step(max_y / 4));
  max_y = step_y * std::ceil(max_y / step_y);
  const auto at_x = [&](double x) { return plot_left + (plot_right - plot_left) * x / max_x; };
  const auto at_y = [&](double y) { return plot_bottom - (plot_bottom - plot_top) * y / max_y; };
  std::string svg = fmt::format(
      "<svg class=\"chart\" role=\"img\" aria-label=\"{0}\" viewBox=\"0 0 {1} {2}\" fill=\"currentColor\" "
      "font-size=\"17\"><text x=\"8\" y=\"22\" font-weight=\"600\">{0}</text>",
      escaped(title), width, height);
  for (double y = 0; y <= max_y * 1.001; y += step_y)
    svg += fmt::format(
        "<path d=\"M{} {:.1f}H{}\" stroke=\"currentColor\" opacity=\".2\"/><text x=\"{}\" y=\"{:.1f}\" "
        "text-anchor=\"end\">{}</text>",
        plot_left, at_y(y), plot_right, plot_left - 8, at_y(y) + 6, count_text(y));
  for (double x = 0; x <= max_x * 1.001; x += step_x)
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>", at_x(x), plot_bottom + 26,
                       numbers ? count_text(x) : time_text(x, unit));
  for (size_t i = 0; i < lines.size(); ++i) {
    const auto& points = lines[i].points;
    if (points.empty()) continue;
    std::string path = fmt::format("M{:.1f} {:.1f}", at_x(points[0].first), at_y(points[0].second));
    const size_t stride = (points.size() + max_points - 1) / max_points;
    for (size_t p = stride; p < points.size(); p += stride)
      path += fmt::format("L{:.1f} {:.1f}", at_x(points[p].first), at_y(points[p].second));
    path += fmt::format("L{:.1f} {:.1f}", at_x(points.back().first), at_y(points.back().second));
    svg += fmt::format(
        "<path d=\"{}\" fill=\"none\" style=\"stroke:var(--line{},currentColor)\" "
        "stroke-width=\"2.5\"><title>{}</title></path>",
        path, i % colours, escaped(lines[i].name));
  }
  return svg + "</svg>";
}

}  // namespace mmafuzz
