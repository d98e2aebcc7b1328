// What a mutant bench shows: a table with significance tests, CSV, a plot.
#pragma once

#include "bench/search/race.h"

namespace mmafuzz {

struct MutantBench {
  std::vector<Mutant> mutants;
  std::vector<Strategy> strategies;  ///< the first is compared with each of the others
  RaceLimits limits;
  std::vector<MutantRun> runs;
  bool marks_are_measured = false;  ///< what is hard was measured here; no list has said it
};

/// Medians and quartiles of cases and seconds over runs, hard mutants and all; how the first strategy compares; what it
/// missed; and whether the marks in the catalogue agree with what was seen.
void print_report(const MutantBench& bench);

/// One line per run: strategy,mutant,hard,seed,killed,cases,seconds. Throws BadInput if the file cannot be written.
void write_csv(const MutantBench& bench, const std::string& file);

/// Throws BadInput where there is no gnuplot.
void require_gnuplot();

/// Share of the hard mutants' runs (of all, where none is hard) that ended with a kill, against time: an SVG made by
/// gnuplot.
void write_plot(const MutantBench& bench, const std::string& file);

}  // namespace mmafuzz
