#include "campaign/panel.h"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "core/text.h"

namespace mmafuzz {
namespace {

constexpr double line_interval = 60;  ///< seconds

std::string facts_text(const CampaignView& view) {
  const FactCounts& n = view.facts;
  return fmt::format("{}, {} new, {} known", counted(n.contradictions, "contradiction"), n.fresh, n.known) +
         (n.waiting ? "; " + counted(n.waiting, "finding") + " not looked at yet" : "") +
         (view.crashes ? "; " + counted(view.crashes, "crash") : "");
}

std::string time_text(const CampaignView& view) {
  return view.time > 0 ? clock_text(view.elapsed) + " of " + clock_text(view.time) : clock_text(view.elapsed);
}

}  // namespace

std::string short_number(double value) {
  if (value < 1000) return fmt::format("{:.0f}", value);
  for (const char* unit : {"k", "M", "G", "T"}) {
    value /= 1000;
    if (value < 999.5) return fmt::format("{:.{}f} {}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0, unit);
  }
  return fmt::format("{:.0f} T", value);
}

std::string clock_text(double seconds) {
  const long s = static_cast<long>(seconds);
  return s >= 3600 ? fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60)
                   : fmt::format("{}:{:02}", s / 60, s % 60);
}

std::string percent(size_t part, size_t whole) {
  const double value = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  return fmt::format("{:.{}g} %", value, value < 99 ? 2 : 3);
}

std::vector<std::string> panel_lines(const CampaignView& view, size_t columns, size_t rows) {
  std::vector<std::string> lines;
  lines.push_back(fmt::format("mmafuzz campaign  {}  {}{}", time_text(view), counted(view.workers.size(), "worker"),
                              view.restarts ? fmt::format("  {} restarted", view.restarts) : ""));
  lines.push_back(
      fmt::format("  {:<15} {:<9} {:<22} {:>8} {:>7} {:>6}", "target", "engine", "op", "cases/s", "execs/s", "bins"));
  constexpr size_t other_rows = 7;  // two lines above the workers, three below; two rows stay free
  const size_t room = rows > other_rows ? rows - other_rows : 1;
  for (size_t i = 0; i < view.workers.size(); ++i) {
    if (i + 1 == room && view.workers.size() > room) {
      lines.push_back(fmt::format("  ... and {} more workers", view.workers.size() - i));
      break;
    }
    const WorkerView& w = view.workers[i];
    lines.push_back(fmt::format("  {:<15} {:<9} {:<22.22} {:>8} {:>7} {:>6}", w.target, w.engine, w.label,
                                short_number(w.cases_per_second),
                                w.inputs_per_second > 0 ? short_number(w.inputs_per_second) : "-", w.bins));
  }
  lines.push_back(fmt::format("total     {} cases at {}/s, {} engine inputs, {} bins", short_number(double(view.cases)),
                              short_number(view.cases_per_second), short_number(double(view.inputs)), view.bins));
  lines.push_back("facts     " + facts_text(view));
  lines.push_back(view.newest_bin.empty() ? "last bin  none yet"
                                          : fmt::format("last bin  {} {} {}", clock_text(view.newest_at),
                                                        view.newest_bin, view.newest_where));
  for (std::string& line : lines)
    if (line.size() >= columns) line.resize(columns - 1);
  return lines;
}

CampaignPanel::CampaignPanel() {
  const char* terminal = std::getenv("TERM");
  is_live_ = isatty(STDERR_FILENO) && terminal && std::strcmp(terminal, "dumb") != 0;
}

void CampaignPanel::update(const CampaignView& view) {
  if (is_live_ || view.elapsed - last_line_ >= line_interval) show(view);
}

void CampaignPanel::show(const CampaignView& view) {
  if (!is_live_) {
    last_line_ = view.elapsed;
    fmt::print(stderr, "mmafuzz: {}: {} cases at {}/s, {} bins; facts: {}\n", time_text(view),
               short_number(double(view.cases)), short_number(view.cases_per_second), view.bins, facts_text(view));
    return;
  }
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) size = {24, 80, 0, 0};
  std::string screen = lines_ ? fmt::format("\x1b[{}A", lines_) : "";
  const std::vector<std::string> lines = panel_lines(view, std::max<size_t>(size.ws_col, 20), size.ws_row);
  for (const std::string& line : lines) screen += "\r" + line + "\x1b[K\n";
  screen += "\x1b[J";
  lines_ = lines.size();
  fmt::print(stderr, "{}", screen);
}

void CampaignPanel::clear() {
  if (lines_) fmt::print(stderr, "\x1b[{}A\r\x1b[J", lines_);
  lines_ = 0;
}

}  // namespace mmafuzz
