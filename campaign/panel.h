// What a person sees of a running campaign on standard error: a live panel on a terminal, a line a minute elsewhere.
#pragma once

#include <string>
#include <vector>

#include "campaign/live_facts.h"

namespace mmafuzz {

struct WorkerView {
  std::string target, engine, label;
  double cases_per_second = 0, inputs_per_second = 0;
  uint64_t bins = 0;
};

struct CampaignView {
  double elapsed = 0, time = 0;  ///< seconds; time 0: no bound
  std::vector<WorkerView> workers;
  uint64_t cases = 0, inputs = 0, bins = 0, restarts = 0;  ///< of all workers
  double cases_per_second = 0;
  FactCounts facts;
  size_t crashes = 0;
  std::string newest_bin, newest_where;  ///< where: target and op
  double newest_at = 0;                  ///< seconds, as elapsed
};

class CampaignPanel {
 public:
  CampaignPanel();
  /// Draws the panel, or prints a line.
  void show(const CampaignView& view);
  /// The same, but a line only if a minute has passed.
  void update(const CampaignView& view);
  /// Takes the panel off the screen, before other output; the next show() draws it again.
  void clear();

 private:
  bool is_live_;
  size_t lines_ = 0;  ///< of the panel on the screen
  double last_line_ = -1e9;
};

/// The panel's lines for a terminal of `columns` by `rows` characters, none longer than columns - 1.
std::vector<std::string> panel_lines(const CampaignView& view, size_t columns, size_t rows);
/// "1.23 M", "456 k", "12".
std::string short_number(double value);
/// "1:02:03" or "2:03".
std::string clock_text(double seconds);
/// "0.42 %", "9.2 %", "91 %", "99.7 %", "100 %".
std::string percent(size_t part, size_t whole);

}  // namespace mmafuzz
