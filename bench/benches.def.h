// The subcommands of mmafuzz bench, one row each. To add one, add its file with add_bench_<name>() and its row here.
MMAFUZZ_BENCH(bounds)        // how tight the error bounds are
MMAFUZZ_BENCH(discriminate)  // time until a search finds where two hypotheses differ
MMAFUZZ_BENCH(distribution)  // how often searches draw the values of an encoding's upper bits
MMAFUZZ_BENCH(exchange)      // cost of exchanging inputs between shards
MMAFUZZ_BENCH(exhaustive)    // conversions on every input
MMAFUZZ_BENCH(gemm)          // inputs a second of an engine's targets of matrix products
MMAFUZZ_BENCH(identify)      // whether `identify` finds the parameters of anonymous units
MMAFUZZ_BENCH(neighbours)    // writes corpus/neighbours
MMAFUZZ_BENCH(order)         // time and questions to reveal orders of summation
MMAFUZZ_BENCH(ozaki)         // time and error of the Ozaki scheme
MMAFUZZ_BENCH(prove)         // the tables of docs/proofs.md
MMAFUZZ_BENCH(rate)          // cases a second of units
MMAFUZZ_BENCH(search)        // mutants found, by kind of feedback
MMAFUZZ_BENCH(split)         // the splittings of Markidis and Ootomo-Yokota against each other
MMAFUZZ_BENCH(states)        // pairs and triples of levels that the walk of states covers
MMAFUZZ_BENCH(store)         // size and times of a store with a year of campaigns
MMAFUZZ_BENCH(triage)        // time and memory of triage
MMAFUZZ_BENCH(widths)        // slice widths that units sum exactly
