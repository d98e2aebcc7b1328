// A small line chart as inline SVG in the page's own colours.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace mmafuzz {

/// One line: points in order of x.
struct ChartLine {
  std::string name;
  std::vector<std::pair<double, double>> points;
};

/// What x is: seconds, or the number of a campaign.
enum class ChartAxis { seconds, numbers };

/// Lines over x from 0; `title` says what y counts. At most 200 points of a line are drawn.
std::string line_chart(const std::string& title, const std::vector<ChartLine>& lines,
                       ChartAxis axis = ChartAxis::seconds);

}  // namespace mmafuzz
