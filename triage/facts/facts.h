// What a person learns from buckets: facts. The formats, value classes and pairs of units on which a fact shows do not
// distinguish it from others. A bucket whose cause has several parts counts for the fact of each part. If a part is
// neither implied by rows nor shown alone by any bucket, the combination is one fact instead
// ("block=16~all+kernel=ieee~two_stage_sum").
#pragma once

#include <set>
#include <string>
#include <vector>

#include "triage/bucket.h"

namespace mmafuzz {

struct Fact {
  std::string name;                        ///< triage/facts/fact_name.h
  Severity severity = Severity::semantic;  ///< the gravest of its buckets
  bool is_contradiction = false;           ///< a broken claim, or what nothing explains
  bool is_accepted = false;                ///< a person called every bucket known or expected
  uint64_t divergences = 0;                ///< sum of Bucket::count
  int64_t first_seen = 0;                  ///< of the earliest bucket, seconds since 1970, UTC
  std::set<std::string> units, ops;        ///< names of units and labels of ops of its buckets
  size_t pairs = 0;                        ///< number of pairs of units; of single units if `best` has one unit
  std::vector<std::string> buckets;        ///< ids
  Bucket best;         ///< that with the gravest severity, then the simplest witness: shows one fact, fewest addends
  Bucket telling;      ///< that of least strangeness(), to show to newcomers
  std::string reason;  ///< why it is known, from a file of known facts; "" for others
};

/// How far a witness is from what a newcomer knows. 0: two GPUs have different numbers on a short case that shows one
/// fact alone. 1: other units do. 2: the results are a NaN, an overflow or a zero's sign. 3: the rest.
int strangeness(const Bucket& bucket);

/// Whether the fact is a difference of a parameter other than `kernel`, so that the rows of the units must imply it.
bool is_about_rows(const std::string& name);

/// Whether rows, two described kernels or a scheme's settings imply the fact, so that it is no news.
bool is_implied(const std::string& name);

/// The facts of buckets: contradictions first, then by severity and name. Each bucket counts for one fact or more.
/// `shown_alone`: names of facts that are known to show alone, though not in these buckets.
std::vector<Fact> facts_of(const std::vector<Bucket>& buckets, std::set<std::string> shown_alone = {});

/// Whether a bucket shows a broken claim: its severity is contract, or one of its facts is a claim_fact().
bool breaks_claim(const Bucket& bucket);

/// Ids of the buckets whose witnesses people read first. For each fact: the best bucket on each of the two ops where it
/// is simplest, or on every op if it is a broken claim; and the most telling bucket.
std::set<std::string> simplest_of_each_fact(const std::vector<Bucket>& buckets);

/// "bits kept below the greatest exponent: 24 (ampere, turing) against 25 (hopper)"
std::string sentence(const Fact& fact);

/// "rounds each product and adds them to c in order, each time rounded" for ieee:serial; "" without a description.
std::string what_arithmetic_does(const std::string& arithmetic);

/// How often a fact was seen: "61 pairs of units, 5 ops, 2 nonzero addends in the smallest witness; in structured cases
/// it changes 0.4 % alone, by up to 1 ulp".
std::string evidence(const Fact& fact);

}  // namespace mmafuzz
