// A bucket: all divergences with one key. The search knows the key but for its cause; triage adds that, and keeps one
// witness.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/property.h"

namespace mmafuzz {

/// What a person decided about a bucket. `new_bucket` is what triage sets; the others survive every later triage and
/// merge.
enum class BucketStatus : uint8_t { new_bucket, known, expected, fixed };
const char* name_of(BucketStatus status);  ///< "new", "known", "expected", "fixed"

/// Cause of a bucket that no replacement of parameters explains: listed first everywhere.
inline constexpr char unexplained[] = "unexplained";
/// Cause of a divergence that a unit gives only sometimes on the same case.
inline constexpr char unstable[] = "unstable";

/// Cause of a divergence that a unit gives on a case only after other cases: its witness is the sequence.
inline constexpr char history[] = "history";
/// Cause of a divergence that a unit gives every so many cases: its witness is as many.
inline constexpr char periodic[] = "periodic";
/// Whether a witness is a sequence of cases.
inline bool is_of_sequence(const std::string& cause) { return cause == history || cause == periodic; }
/// Whether the cause is one of the words above: nothing in the rows says why.
inline bool is_strange(const std::string& cause) {
  return cause == unexplained || cause == unstable || is_of_sequence(cause);
}

/// A line of a witness that is the simplest case found, but not minimized.
inline constexpr char as_found[] = "# not minimized";

struct Bucket {
  BucketKey key;
  std::string cause;   ///< names of parameters in their documented order, comma-separated ("block,fraction_bits"), or a
                       ///< word above
  std::string detail;  ///< the cause for people: "fraction_bits (bits kept below the greatest exponent): 23 against 24"
  std::vector<std::string> facts;  ///< that the cause consists of (triage/facts/fact_name.h)
  Severity severity = Severity::semantic;
  uint64_t count = 0;                     ///< raw divergences
  int64_t first_seen = 0, last_seen = 0;  ///< seconds since 1970, UTC
  uint64_t seed = 0;                      ///< of the campaign that saw it first
  std::string witness;                    ///< case text: a whole file with the key, severity and results as comments
  uint64_t addends = 0;                   ///< nonzero addends of the witness (dot), nonzero operands (others)
  BucketStatus status = BucketStatus::new_bucket;
  std::string note;        ///< a person's
  int64_t status_set = 0;  ///< when a person set the status, seconds since 1970, UTC; 0: nobody did

  /// The greppable line with the cause: "mmafuzz: divergence equal dot.f32.f16.f16.f32 model:... exact normal
  /// fraction_bits".
  std::string line() const { return key.to_string() + " " + cause; }
  /// Ten hexadecimal digits that depend on line() alone.
  std::string id() const;
};

/// The words of a call that shows the witness, without the program's name; none without a witness.
std::vector<std::string> reproduction_words(const Bucket& bucket);
/// "mmafuzz explain --units ... --op ... --case ...": shows the witness, wherever it is typed. Empty without a witness.
std::string reproduction_command(const Bucket& bucket, const std::string& program = "mmafuzz");

/// Whether it has a witness that triage made minimal.
bool is_minimized(const Bucket& bucket);

/// Whether a person called it known or expected: nothing fails on it.
bool is_decided(const Bucket& bucket);

/// Whether it was called fixed and was seen after that.
bool came_again(const Bucket& bucket);

/// What someone has to look at: a broken contract or bound, and what is unstable or has no explanation.
bool is_grave(const Bucket& bucket);

/// Order of every listing: contract before accuracy before semantic, in each unexplained first, then unstable, then by
/// line.
bool listed_before(const Bucket& x, const Bucket& y);

/// How often and how far a fact shows (campaign/extents.h) stands at the end of the detail of the bucket that shows it
/// best, and in its witness, after this mark.
std::string extent_mark(const std::string& fact);
/// Of a fact, as the detail says it; empty where it does not.
std::string extent_of(const std::string& fact, const std::string& detail);
/// The detail without any.
std::string without_extents(const std::string& detail);

}  // namespace mmafuzz
