// Draws the operands of a sweep, for host and device, as pure functions of the seed and the tile's number. They lie
// near corners of the claimed model: exponents and fractions at which alignment, rounding or the range of a format
// begins to matter. Drawing is cheap: one 32-bit hash for an element or a c, patterns and distances from tables, and
// rows and columns that many dots share.
//
// A panel is at least 64 rows of a crossed with 64 columns of b. Its rows fall into groups of group_size neighbours,
// and so do its columns; after 64 of them the group numbers repeat. Rows and columns of a group follow one plan
// (GroupPlan). A dot whose row and column are of one group has the planned products; every other dot combines
// factors of two plans. Infinities and NaNs occur in one of special_every panels on average and nowhere else, so
// that the comparison of the other panels need not handle them.
#pragma once

#include "arithmetic/corner_encodings.h"
#include "gpu_bridge/sweep/sweep.h"

namespace mmafuzz {

/// A request and its parents (request.parents of them), the input of every function that draws.
struct SweepSource {
  SweepRequest request;
  const SweepDot* parents = nullptr;
};

namespace sweep {

inline constexpr int panel_side = 64, group_size = 2, special_every = 8;

/// The parameters of the claimed model that decide the corners. With constants for formats and k, the compiler folds
/// everything below.
struct Corners {
  FormatFields a, b, c, scale_a, scale_b;
  int k = 0, scale_block = 0;
  int d_emin = 0, d_emax = 0;    ///< unbiased exponents of d's least and greatest normal numbers
  int fraction_bits = 0;         ///< fraction bits that the alignment keeps
  int output_fraction_bits = 0;  ///< fraction bits to which the sum is rounded

  /// The format of a's elements or of b's. Returned by value: the compiler does not fold a choice between references to
  /// equal objects.
  MMAFUZZ_HD FormatFields format(bool is_a) const { return a == b || is_a ? a : b; }
  MMAFUZZ_HD FormatFields scale_format(bool is_a) const { return scale_a == scale_b || is_a ? scale_a : scale_b; }
};

MMAFUZZ_HD inline Corners corners_of(const SweepRequest& r) {
  const DotModel& m = r.model;
  return {.a = m.a,
          .b = m.b,
          .c = m.c,
          .scale_a = m.scale_a,
          .scale_b = m.scale_b,
          .k = r.shape.k,
          .scale_block = m.scale_block,
          .d_emin = m.d.emin(),
          .d_emax = m.d.emax(),
          .fraction_bits = m.fraction_bits > 0 ? m.fraction_bits : m.d.fraction_bits + 1,
          .output_fraction_bits = m.output_fraction_bits};
}

/// The panel of a tile, and the tile's first row and column in it (from 0).
struct PanelPlace {
  uint64_t panel;
  int first_row, first_column;
};
MMAFUZZ_HD constexpr int panel_rows(const TileShape& s) { return larger(panel_side, s.rows()); }
MMAFUZZ_HD constexpr int panel_columns(const TileShape& s) { return larger(panel_side, s.columns()); }
MMAFUZZ_HD constexpr int tiles_of_panel(const TileShape& s) {
  return panel_rows(s) / s.rows() * (panel_columns(s) / s.columns());
}
/// `tile` is the tile's number in the sweep; the tiles of a panel follow each other, row by row.
MMAFUZZ_HD inline PanelPlace place_of_tile(const TileShape& s, uint64_t tile) {
  const uint64_t each = static_cast<uint64_t>(tiles_of_panel(s));
  const int in_panel = static_cast<int>(tile % each), across = panel_columns(s) / s.columns();
  return {tile / each, in_panel / across * s.rows(), in_panel % across * s.columns()};
}

/// What a panel's random numbers derive from.
struct PanelKey {
  uint32_t low, high;
  bool special;  ///< whether infinities and NaNs occur
};
MMAFUZZ_HD inline PanelKey key_of_panel(uint64_t seed, uint64_t panel) {
  CounterRng rng(seed, panel);
  const uint64_t bits = rng.next();
  const bool special = rng.one_in(special_every);
  return {static_cast<uint32_t>(bits), static_cast<uint32_t>(bits >> 32), special};
}

/// Independent streams of a panel's random numbers: the bits from 20 up of what hash() mixes; indexes are below 2^20.
enum class Stream : uint32_t {
  group,
  pair,
  a,
  b,
  special_a,
  special_b,
  vector_a,
  vector_b,
  scale_a,
  scale_b,
  c,
  scales
};

/// 32 random bits for this index of a stream. Constants of the mixer: lowbias32 of C. Wellons' hash-prospector.
MMAFUZZ_HD inline uint32_t hash(const PanelKey& key, Stream stream, int index) {
  uint32_t x = (static_cast<uint32_t>(stream) << 20 | static_cast<uint32_t>(index)) * 0x9e3779b1u + key.low;
  x ^= x >> 16;
  x = x * 0x7feb352du + key.high;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ x >> 16;
}
/// Uniform in 0..n-1 from 32 bits (multiplication method).
MMAFUZZ_HD inline int below(uint32_t bits, int n) {
  return static_cast<int>(uint64_t{bits} * static_cast<uint32_t>(n) >> 32);
}
/// Further bits from a hash, for another decision.
MMAFUZZ_HD inline uint32_t more(uint32_t bits) { return (bits ^ bits >> 15) * 0x2c1b3c6du; }

MMAFUZZ_HD inline int clamped(int value, int low, int high) { return larger(low, smaller(value, high)); }

/// A pattern of a fraction field, which becomes `random & keep | set`.
template <class Word>
struct Pattern {
  Word keep, set;
};
inline constexpr int patterns = 64;  ///< numbers of patterns are 0 to 63; 0 keeps all random bits

/// Pattern number `pick`: fractions at which carries and roundings change.
template <class Word>
MMAFUZZ_HD Pattern<Word> pattern(const FormatFields& f, int pick) {
  const Word mask = static_cast<Word>(f.fraction_mask());
  switch (pick / 8) {
    case 0:
    case 1: return {mask, 0};
    case 2: return {0, 0};
    case 3: return {0, mask};                                  // all ones: the longest carry
    case 4: return {0, static_cast<Word>(mask & (mask - 1))};  // one ulp below that
    case 5: return {0, static_cast<Word>(1 & mask)};           // one ulp above a power of two
    case 6: return {0, static_cast<Word>(mask ^ mask >> 1)};   // 1.5: products of it normalize
    default: return {0, static_cast<Word>((Word{1} << pick % 8 * f.fraction_bits / 8) & mask)};
  }
}
template <class Word>
struct PatternOf {  ///< in place of a table of patterns: computes them
  FormatFields format;
  MMAFUZZ_HD Pattern<Word> operator[](int pick) const { return pattern<Word>(format, pick); }
};

/// Distance number `pick` (0 to 63) between two exponents at which alignment, rounding or a format has a corner.
inline constexpr int distances = 64;
MMAFUZZ_HD inline int corner_distance(const Corners& m, int pick) {
  const int within = pick % 8, f = m.fraction_bits;
  switch (pick / 8) {
    case 0: return 0;
    case 1: return 1;
    case 2: return 2 + within % 3;
    case 3: return m.output_fraction_bits - 1 + within % 4;
    case 4: return 10 + within % 5;
    case 5: return f + 3 + within % 7;
    case 6: return f - 2 + within % 5;
    default: return f - 1 + within % 3;
  }
}
struct DistanceOf {  ///< in place of a table of distances: computes them
  const Corners& corners;
  MMAFUZZ_HD int operator[](int pick) const { return corner_distance(corners, pick); }
};

/// Random bits as wide as a fraction.
template <class Word>
MMAFUZZ_HD Word random_fraction(const FormatFields& f, uint32_t bits) {
  if (f.fraction_bits > 31)
    return static_cast<Word>((uint64_t{bits} * 0xd1342543de82ef95u + 0x9e3779b97f4a7c15u) >> (64 - f.fraction_bits));
  return static_cast<Word>(bits * 0xd1342543u >> 1 >> (31 - f.fraction_bits));
}

template <class Word>
MMAFUZZ_HD Word sign_of(const FormatFields& f) {
  return static_cast<Word>(f.sign_bit());
}
/// The encoding of `code` (sign and magnitude) in its container. In panels that are not special, infinities and NaNs
/// become the greatest finite number.
template <class Word>
MMAFUZZ_HD Word finished(const FormatFields& f, const PanelKey& key, Word code) {
  const Word sign = code & sign_of<Word>(f);
  Word magnitude = code ^ sign;
  if (!key.special) magnitude = smaller(magnitude, static_cast<Word>(f.greatest_magnitude()));
  return static_cast<Word>((magnitude | sign) << f.ignored_low_bits);
}
/// Random values of the low bits that hardware must ignore (tf32): mostly none set, sometimes all, sometimes random
/// ones.
template <class Word>
MMAFUZZ_HD Word container_noise(const FormatFields& f, uint32_t bits) {
  if (f.ignored_low_bits == 0) return 0;
  const Word mask = static_cast<Word>(low_mask(f.ignored_low_bits));
  const int kind = below(bits, 6);
  return kind > 1 ? 0 : kind == 1 ? mask : static_cast<Word>(more(bits) >> 8) & mask;
}

/// What rows and columns of a group have in common. Exponents are unbiased.
struct GroupPlan {
  int parent = -1;          ///< index in SweepSource::parents of the dot that is varied; -1: all is drawn afresh
  int reference, spread;    ///< products have exponents from reference - spread to reference
  bool sparse, patterned;   ///< sparse: two thirds of products are zero; patterned: fractions are no random bits
  int sign = 0;             ///< of all products: 1: positive, 2: negative; 0: each product has its own
  bool one_sign = false;    ///< `sign` holds for zeros and repeated products, too
  int pattern = 0;          ///< number of the pattern of all fractions; 0: each fraction has its own
  int specials;             ///< of 16 products, how many have special factors on average
  bool infinities = false;  ///< special factors are infinities
  int pair_move = 0;  ///< with a parent: 1: product moved_pair is fresh; 2: it is minus the next one; 0, 3: unchanged
  int moved_pair = 0;
};

MMAFUZZ_HD inline GroupPlan plan_group(const Corners& m, const PanelKey& key, uint32_t parents, int group) {
  GroupPlan p;
  const uint32_t kinds = hash(key, Stream::group, group * 4), sizes = hash(key, Stream::group, group * 4 + 1),
                 parent = hash(key, Stream::group, group * 4 + 2), flags = hash(key, Stream::group, group * 4 + 3);
  if (parents > 0 && (parent & 1)) {
    p.parent = below(parent, static_cast<int>(parents));
    p.pair_move = parent >> 1 & 3;
    p.moved_pair = below(more(parent), m.k);
  }
  const int low = m.a.emin() + m.b.emin() - m.a.fraction_bits - m.b.fraction_bits, high = m.a.emax() + m.b.emax();
  switch (below(kinds, 6)) {
    case 0: p.reference = low + below(sizes, high - low + 1); break;
    case 1: p.reference = m.d_emax + 1 - below(sizes, 8); break;   // near overflow
    case 2: p.reference = m.d_emin + 8 - below(sizes, 39); break;  // around d's subnormal numbers
    default: p.reference = below(sizes, 9) - 4; break;
  }
  p.reference = clamped(p.reference, low, high);
  const uint32_t spread = more(sizes);
  switch (below(more(kinds), 5)) {
    case 0: p.spread = 0; break;
    case 1: p.spread = 1 + below(spread, 4); break;
    case 2: p.spread = 10 + below(spread, 7); break;  // fp16's fraction bits and more
    case 3: p.spread = larger(m.fraction_bits - 4, 1) + below(spread, 8); break;
    default: p.spread = 29 + below(spread, 32); break;  // beyond what an alignment keeps
  }
  p.patterned = flags & 1;
  p.sparse = below(more(flags), 3) == 0;
  if (below(flags, 6) == 0) p.sign = 1 + static_cast<int>(flags >> 1 & 1);
  p.one_sign = p.sign && (flags >> 5 & 1);
  if ((flags >> 2 & 3) == 0) p.pattern = static_cast<int>(flags >> 12 & 63);
  const uint32_t specials = flags >> 8 & 15;
  p.specials = key.special ? (specials < 4 ? 0 : specials < 10 ? 1 : 5) : specials == 0 ? 2 : 0;
  p.infinities = key.special && (flags >> 6 & 3) == 0;
  return p;
}

/// The plan of product i of a group, the same for its two factors. Exponents are unbiased.
struct PairPlan {
  int16_t exponent_a, exponent_b;
  uint8_t source;           ///< the product, i or an earlier one, whose random bits it repeats
  uint8_t special;          ///< 0: none; else 1 + a pick of special_magnitude, for one factor or both
  bool zero, flipped, ulp;  ///< a's factor: is zero (b's mostly is, too); has the other sign; the other last bit
};

MMAFUZZ_HD inline PairPlan plan_pair(const Corners& m, const PanelKey& key, const GroupPlan& plan, int group, int i) {
  const uint32_t h = hash(key, Stream::pair, group * max_instruction_k + i);
  PairPlan p{0, 0, static_cast<uint8_t>(i), 0, plan.sparse && below(h, 3) != 0, false, false};
  uint32_t exponents = more(h);
  if (static_cast<int>(exponents >> 4 & 15) < plan.specials)
    p.special = static_cast<uint8_t>(1 + (plan.infinities ? 1 : exponents >> 8 & 7));
  if (const uint32_t copies = more(exponents); !p.zero && i > 0 && below(copies, 6) == 0) {
    // It cancels or repeats an earlier product, sometimes one ulp off.
    p.source = static_cast<uint8_t>(below(more(copies), i));
    p.flipped = (copies & 3) != 0;
    p.ulp = (copies >> 2 & 3) == 0;
    exponents = more(hash(key, Stream::pair, group * max_instruction_k + p.source));
  }
  const int target = plan.reference - (plan.spread ? below(exponents, plan.spread + 1) : 0);
  const int split = target / 2 + below(more(exponents), 5) - 2;
  p.exponent_a = static_cast<int16_t>(clamped(split, m.a.emin() - m.a.fraction_bits, m.a.emax()));
  p.exponent_b = static_cast<int16_t>(target - p.exponent_a);
  return p;
}

/// A row of a or a column of b: its number in the panel and its group, from 0.
struct VectorPlace {
  bool is_a;
  int vector, group;
};
/// The group of a row or column, which varies from panel to panel: a result must not depend on it.
MMAFUZZ_HD inline int group_of(const PanelKey& key, bool is_a, int vector) {
  return (vector / group_size + static_cast<int>(key.low >> (is_a ? 0 : 8) & 31)) % (panel_side / group_size);
}

/// The element of vector `v` for product `pair`, drawn without a parent; pair.source selects its random bits. `table`
/// holds the patterns of the element's format.
template <class Word, class Patterns>
MMAFUZZ_HD Word fresh_element(const Corners& m, const PanelKey& key, const GroupPlan& plan, const PairPlan& pair,
                              const Patterns& table, const VectorPlace& v) {
  const FormatFields f = m.format(v.is_a);
  const int index = v.vector * max_instruction_k + pair.source;
  const uint32_t h = hash(key, v.is_a ? Stream::a : Stream::b, index);
  if (f.integer) {
    const Word least = static_cast<Word>(Word{1} << (f.width - 1));
    return (h & 3) == 0 ? static_cast<Word>(least - (h >> 2 & 1)) : static_cast<Word>(h >> 8 & f.container_mask());
  }
  if (pair.zero) {
    const bool minus = plan.one_sign ? v.is_a && plan.sign == 2 : (h & 7) == 0;
    const Word sign = minus && f.has_negative_zero() ? sign_of<Word>(f) : 0;
    if (v.is_a || (h & 0x38) != 0) return finished<Word>(f, key, sign);
    return finished<Word>(
        f, key, static_cast<Word>(f.greatest_magnitude() | ((h & 1) && !plan.one_sign ? sign_of<Word>(f) : 0)));
  }
  const Pattern<Word> bits = table[!plan.patterned ? 0 : plan.pattern ? plan.pattern : static_cast<int>(h >> 1 & 63)];
  const Word fraction = (random_fraction<Word>(f, h) & bits.keep) | bits.set;
  Word code = magnitude_near<Word>(f, v.is_a ? pair.exponent_a : pair.exponent_b, fraction);
  if (pair.special) {
    const uint32_t s = more(hash(key, v.is_a ? Stream::special_a : Stream::special_b, index));
    const int unpaired = static_cast<int>(s >> 27 & 7);
    if (s >> 30) code = special_magnitude<Word>(f, s >> 31 || plan.infinities ? pair.special - 1 : unpaired);
  }
  if (plan.sign ? v.is_a && plan.sign == 2 : h & 1) code |= sign_of<Word>(f);
  if (v.is_a && pair.flipped && !plan.one_sign) code ^= sign_of<Word>(f);
  if (v.is_a && pair.ulp) code ^= 1;
  return finished<Word>(f, key, code) | container_noise<Word>(f, more(h));
}

/// Weight of a finite number's leading bit; of zero and specials: the format's least exponent.
template <class Word>
MMAFUZZ_HD int leading_weight(const FormatFields& f, Word magnitude) {
  const Word field = magnitude >> f.fraction_bits;
  if (magnitude == 0 || field == static_cast<Word>(f.top_exponent_field())) return f.emin();
  return field ? static_cast<int>(field) - f.bias : f.emin() - f.fraction_bits + bit_length(magnitude) - 1;
}
/// The magnitude with its exponent moved by `distance`; its fraction bits stay.
template <class Word>
MMAFUZZ_HD Word moved(const FormatFields& f, Word magnitude, int distance) {
  const int exponent = leading_weight<Word>(f, magnitude);
  Word fraction = static_cast<Word>(magnitude & f.fraction_mask());
  if (magnitude >> f.fraction_bits == 0 && fraction)  // its leading one becomes the implicit one
    fraction = static_cast<Word>((fraction << (f.fraction_bits + 1 - bit_length(fraction))) & f.fraction_mask());
  return magnitude_near<Word>(f, exponent + distance, fraction);
}

enum Move : int { no_move, ulp, exponent, sign, zero, special, moves = 8 };  ///< 6 and 7 change nothing

/// The encoding after a move: one ulp, a corner's distance of the exponent, the sign, or a zero or special in its
/// place. `h` holds the random bits.
template <class Word, class Distances>
MMAFUZZ_HD Word with_move(const FormatFields& f, const PanelKey& key, const Distances& distance, int move, uint32_t h,
                          Word encoding) {
  const Word code = static_cast<Word>(encoding >> f.ignored_low_bits),
             low = encoding & static_cast<Word>(low_mask(f.ignored_low_bits));
  const Word signs = code & sign_of<Word>(f), magnitude = code ^ signs;
  Word result = code;
  if (f.integer) {
    if (move == ulp) result = static_cast<Word>((code + (h & 1 ? 1 : Word(0) - 1)) & f.container_mask());
    if (move == zero) result = 0;
    return result;
  }
  const int steps = distance[h >> 1 & 63];
  switch (move) {
    case ulp:
      result = static_cast<Word>((h & 1 ? magnitude + 1 : magnitude ? magnitude - 1 : magnitude) | signs);
      break;
    case exponent: result = moved<Word>(f, magnitude, h & 1 ? steps : -steps) | signs; break;
    case sign: result = code ^ sign_of<Word>(f); break;
    case zero: result = h & 1 ? signs : 0; break;
    case special: result = static_cast<Word>(special_magnitude<Word>(f, static_cast<int>(h >> 1 & 7)) | signs); break;
    default: break;
  }
  return finished<Word>(f, key, static_cast<Word>(result & low_mask(f.width - f.ignored_low_bits))) | low;
}

/// Element i of a row or column: a parent's, moved in at most one element of the vector, or a fresh one.
template <class Word, class Patterns, class Distances>
MMAFUZZ_HD Word draw_element(const Corners& m, const PanelKey& key, const SweepDot* parents, const GroupPlan& plan,
                             const PairPlan& pair, const Patterns& table, const Distances& distance,
                             const VectorPlace& v, int i) {
  const bool replaced = i == plan.moved_pair && plan.pair_move == 1;
  if (plan.parent < 0 || replaced) return fresh_element<Word>(m, key, plan, pair, table, v);
  const SweepDot& parent = parents[plan.parent];
  const FormatFields f = m.format(v.is_a);
  const uint64_t* values = v.is_a ? parent.a : parent.b;
  const bool copies = i == plan.moved_pair && plan.pair_move == 2;
  Word x = static_cast<Word>(values[copies ? (i + 1) % m.k : i]);
  if (copies && v.is_a) x ^= static_cast<Word>(f.in_container(f.sign_bit()));
  const uint32_t h = hash(key, v.is_a ? Stream::vector_a : Stream::vector_b, v.vector);
  const int move = below(more(h), m.k) == i ? static_cast<int>(h >> 8 & 7) : no_move;
  return with_move<Word>(f, key, distance, move, h, x);
}

/// Scale i of a row or column. Without a parent, the exponent does not depend on i in half of the groups; in half of
/// these, the scales of one i are lower in a and b, by a corner's distance together.
MMAFUZZ_HD inline uint32_t draw_scale(const Corners& m, const PanelKey& key, const SweepDot* parents,
                                      const GroupPlan& plan, const VectorPlace& v, int i) {
  const FormatFields f = m.scale_format(v.is_a);
  const uint32_t h = hash(key, v.is_a ? Stream::scale_a : Stream::scale_b, v.vector * 4 + i);
  if (plan.parent >= 0 && (h >> 28) != 0)
    return finished<uint32_t>(
        f, key, static_cast<uint32_t>((v.is_a ? parents[plan.parent].scale_a : parents[plan.parent].scale_b)[i]));
  if (below(h, 24) == 0) {
    const uint32_t code = below(more(h), 3) == 0 ? static_cast<uint32_t>(f.encode_nan()) : (h >> 4) & 0xff;
    return finished<uint32_t>(f, key, code & static_cast<uint32_t>(f.container_mask()));
  }
  const Pattern<uint32_t> bits = pattern<uint32_t>(f, static_cast<int>(h & 63));
  const uint32_t fraction = (random_fraction<uint32_t>(f, h) & bits.keep) | bits.set;
  const uint32_t common = hash(key, Stream::scales, v.group);
  int exponent = below(more(h), 13) - 6;
  if (common & 1) {
    exponent = below(common, 13) - 6;
    if (common & 2) {
      const int lower = corner_distance(m, static_cast<int>(common >> 4 & 63)), half = lower / 2;
      exponent = smaller(f.emax(), 12);
      if (static_cast<int>(common >> 2 & 3) == i) exponent -= v.is_a ? half : lower - half;
    }
  }
  return finished<uint32_t>(f, key, magnitude_near<uint32_t>(f, exponent, fraction));
}

/// The magnitude of a factor, significand * 2^exponent, with the exponent of its scale (nullptr: none); zero for
/// infinities and NaNs.
struct Factor {
  uint64_t significand;
  int exponent;
};
MMAFUZZ_HD inline Factor factor(const FormatFields& f, uint64_t encoding, const FormatFields& scale_format,
                                const uint8_t* scale) {
  const Number n = decode(f, encoding);
  if (n.cls != NumberClass::finite) return {0, 0};
  if (!scale) return {n.significand, n.exponent};
  const Number s = decode(scale_format, *scale);
  return {n.significand, n.exponent + (s.cls == NumberClass::finite ? s.scale_exponent : 0)};
}

/// The number of the product near which a c is drawn.
MMAFUZZ_HD inline int element_near(uint32_t h, int k) { return below(h, k); }

/// A fresh c: a zero, a special, the magnitude of the product `near` (of element_near), or a number whose exponent is a
/// corner's distance from that product's. The sign is random.
template <class Word, class Patterns, class Distances>
MMAFUZZ_HD Word draw_c(const Corners& m, const PanelKey& key, const Patterns& table, const Distances& distance,
                       uint32_t h, const Leading<Word>& near) {
  const FormatFields& f = m.c;
  const uint32_t g = more(h);
  if (f.integer)
    return static_cast<Word>(((h & 1) ? uint64_t{g} : (uint64_t{1} << (f.width - 1)) - (h >> 1 & 3)) &
                             f.container_mask());
  const uint32_t kind = g & 15;
  const bool cancels = kind < 4;
  const Pattern<Word> bits = table[static_cast<int>(g >> 4 & 63)];
  const int steps = distance[g >> 10 & 63];
  const Word fraction =
      cancels ? near.fraction : static_cast<Word>((random_fraction<Word>(f, g) & bits.keep) | bits.set);
  Word code = magnitude_near<Word>(f, near.exponent + (cancels ? 0 : g & 0x10000 ? steps : -steps), fraction);
  if (cancels && (g & 0x20000)) code ^= 1;
  if (kind == 15 || (key.special && kind > 9)) {
    code = special_magnitude<Word>(f, static_cast<int>(g >> 18 & 7));
  } else if (kind >= 12) {
    code = 0;
  }
  if (g & 0x80000000u) code |= sign_of<Word>(f);
  return finished<Word>(f, key, code);
}

/// The c of a parent, often moved (with_move).
template <class Word, class Distances>
MMAFUZZ_HD Word parent_c(const Corners& m, const PanelKey& key, const SweepDot& parent, const Distances& distance,
                         uint32_t h) {
  return with_move<Word>(m.c, key, distance, static_cast<int>(more(h) >> 8 & 7), h, static_cast<Word>(parent.c));
}
/// Whether a dot whose row and column follow one parent takes the parent's c: three in four do.
MMAFUZZ_HD inline bool takes_parent_c(uint32_t h) { return (h & 3) != 0; }

MMAFUZZ_HD inline int index_of_c(const TileShape& s, int row, int column) { return row * panel_columns(s) + column; }

}  // namespace sweep
}  // namespace mmafuzz
