// A bucket: all divergences with one key and one cause. A search records the key; triage adds the cause and keeps one
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

/// Cause of a bucket that no replacement of parameters explains: listed first among buckets of one severity.
inline constexpr char unexplained[] = "unexplained";
/// Cause of a divergence that occurs only sometimes on the same case.
inline constexpr char unstable[] = "unstable";

/// Cause of a divergence that occurs on a case only after other cases: its witness is the sequence of them all.
inline constexpr char history[] = "history";
/// Cause of a divergence that occurs on every n-th case: its witness is n cases or more, the last of which fails.
inline constexpr char periodic[] = "periodic";
/// Whether the witness of a bucket with this cause is a sequence of cases.
inline bool is_of_sequence(const std::string& cause) { return cause == history || cause == periodic; }
/// Whether the cause is one of the four words above: the units' rows do not explain the divergence.
inline bool is_strange(const std::string& cause) {
  return cause == unexplained || cause == unstable || is_of_sequence(cause);
}

/// A line in a witness that is the simplest case found, but not minimized.
inline constexpr char not_minimized[] = "# not minimized";

struct Bucket {
  BucketKey key;
  std::string cause;   ///< names in the order of `mmafuzz list parameters`, comma-separated ("block,fraction_bits"), or
                       ///< one of the four words above
  std::string detail;  ///< the cause for people: "fraction_bits (bits kept below the greatest exponent): 23 against 24"
  std::vector<std::string> facts;  ///< names of the facts of the cause (triage/facts/fact_name.h)
  Severity severity = Severity::semantic;
  uint64_t count = 0;                     ///< raw divergences
  int64_t first_seen = 0, last_seen = 0;  ///< seconds since 1970, UTC
  uint64_t seed = 0;                      ///< of the campaign that found the bucket first
  std::string witness;                    ///< case text: a whole file with the key, severity and results as comments
  uint64_t addends = 0;                   ///< nonzero addends of the witness's last case (dot), else operands
  BucketStatus status = BucketStatus::new_bucket;
  std::string note;        ///< what a person wrote about the status
  int64_t status_set = 0;  ///< when a person set the status, seconds since 1970, UTC; 0: nobody did

  /// The greppable line with the cause: "mmafuzz: divergence equal dot.f32.f16.f16.f32 model:... exact normal
  /// fraction_bits".
  std::string line() const { return key.to_string() + " " + cause; }
  /// Ten hexadecimal digits that depend on line() alone.
  std::string id() const;
};

/// The words of a command that explains the witness, without the program's name; empty without a witness.
std::vector<std::string> reproduction_words(const Bucket& bucket);
/// "mmafuzz explain --units ... --op ... --case ...": explains the witness without a file. Empty without a witness.
std::string reproduction_command(const Bucket& bucket, const std::string& program = "mmafuzz");

/// The first lines of a witness: a comment for each of line(), detail and severity.
std::string head_of_witness(const Bucket& bucket);

/// Whether the bucket has a witness that triage minimized.
bool is_minimized(const Bucket& bucket);

/// Whether a person called the bucket known or expected: no command fails because of it.
bool is_accepted(const Bucket& bucket);

/// Whether a person called the bucket fixed and it was seen after that.
bool came_again(const Bucket& bucket);

/// Whether someone has to look at the bucket: its severity is contract or accuracy, or its cause is_strange().
bool is_grave(const Bucket& bucket);

/// Order of every listing: contract before accuracy before semantic, in each `unexplained` first, then the other causes
/// that are strange, then the rest; equal ones by line.
bool listed_before(const Bucket& x, const Bucket& y);

/// The extent of a fact is how often it shows and by how much (campaign/extents.h). It is text after this mark, at the
/// end of the detail of the fact's best bucket (Fact::best), and in that bucket's witness.
std::string extent_mark(const std::string& fact);
/// The extent of a fact in a detail; empty where the detail has none.
std::string extent_of(const std::string& fact, const std::string& detail);
/// The detail without extents.
std::string without_extents(const std::string& detail);

}  // namespace mmafuzz
