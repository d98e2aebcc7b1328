// What a person learns from buckets: facts. Formats, value classes and pairs of units are dimensions of a fact, and a
// cause of several parts is counted under each of them. Only a combination with a part that no row says and nothing
// shows alone is a fact of its own ("block=16~all+kernel=ieee~two_stage_sum").
#pragma once

#include <set>
#include <string>
#include <vector>

#include "triage/bucket.h"

namespace mmafuzz {

struct Fact {
  std::string name;                        ///< triage/facts/fact_name.h
  Severity severity = Severity::semantic;  ///< the gravest
  bool contradiction = false;              ///< a broken claim, or what nothing explains
  bool decided = false;                    ///< a person called every bucket known or expected
  uint64_t divergences = 0;
  int64_t first_seen = 0;            ///< of the earliest bucket, seconds since 1970, UTC
  std::set<std::string> units, ops;  ///< that show it; labels of ops
  size_t pairs = 0;                  ///< of units, or single units of a property, as in `best`
  std::vector<std::string> buckets;  ///< ids
  Bucket best;                       ///< whose witness is the simplest: alone, then fewest addends
  Bucket telling;                    ///< what a newcomer sees of it: two GPUs and plain numbers, where some bucket has
  std::string reason;                ///< of a fact that is written down: why it is known
};

/// How far a witness is from what a newcomer knows: 0, two GPUs give different numbers on a short case that shows one
/// fact alone; 1, so do other units; 2, a NaN, an overflow or a zero's sign; 3, the rest.
int strangeness(const Bucket& bucket);

/// Whether the fact is a difference of a parameter, so that the rows of the units must imply it.
bool is_about_rows(const std::string& name);

/// Whether the units' rows or a scheme's settings say it themselves: no news.
bool is_implied(const std::string& name);

/// Contradictions first, then by severity and name. No bucket is lost: each is in one fact or more. `known`: facts that
/// are known to occur alone, though not in these buckets.
std::vector<Fact> facts_of(const std::vector<Bucket>& buckets, std::set<std::string> known = {});

/// Whether it shows a broken claim: by its severity, or because nothing explains a unit that has a row.
bool breaks_claim(const Bucket& bucket);

/// Ids of the buckets whose witnesses people look at first: those that show a fact best on the two ops where it is
/// simplest, of a broken claim the best on each op.
std::set<std::string> simplest_of_each_fact(const std::vector<Bucket>& buckets);

/// "bits kept below the greatest exponent: 24 (ampere, turing) against 25 (hopper)"
std::string sentence(const Fact& fact);

/// "rounds each product and adds them to c in order, each time rounded" of ieee:serial; empty for what adds in a way
/// that has no words here.
std::string what_arithmetic_does(const std::string& arithmetic);

/// "61 pairs of units, 5 ops, 2 addends in the smallest witness; in structured cases it changes 0.4 % alone, by up to 1
/// ulp"
std::string evidence(const Fact& fact);

}  // namespace mmafuzz
