// The output of a mutant bench: a table with significance tests, CSV, a plot.
#pragma once

#include "bench/search/race.h"

namespace mmafuzz {

struct MutantBench {
  std::vector<Mutant> mutants;
  std::vector<Strategy> strategies;  ///< the first is compared with each of the others
  RaceLimits limits;
  std::vector<MutantRun> runs;
  bool marks_are_measured = false;  ///< whether Mutant::hard was measured here, not read from a list
};

/// Prints medians and quartiles of cases and seconds over runs, for hard mutants and for all; how the first strategy
/// compares; which mutants it missed; and the marks in the catalogue that the runs contradict.
void print_report(const MutantBench& bench);

/// Writes one line per run: strategy,mutant,hard,seed,killed,cases,seconds. Throws BadInput if it cannot.
void write_csv(const MutantBench& bench, const std::string& file);

/// Throws BadInput where there is no gnuplot.
void require_gnuplot();

/// Draws an SVG by gnuplot: the share of the hard mutants' runs (of all, where none is hard) that ended with a kill,
/// against time.
void write_plot(const MutantBench& bench, const std::string& file);

}  // namespace mmafuzz
