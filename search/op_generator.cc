#include "search/op_generator.h"

#include <functional>
#include <optional>
#include <stdexcept>

#include "arithmetic/corner_encodings.h"
#include "search/prime.h"

namespace mmafuzz {
namespace {

/// Exponent biases of the suite: the least, two of common formats, the greatest.
constexpr int suite_biases[] = {0, 7, 15, greatest_bias};
constexpr int switched_bias = 7;

/// Kinds of op that take turns: first each from the suite, then each at random, then a known op.
enum Turn : uint64_t { converts, scalars, dots, scaled_dots, gemms, turn_count };

/// The source of the values of an op's features: each call decides the next feature, which has values 0..n-1.
using Choices = std::function<uint32_t(uint32_t n)>;

/// A row of an orthogonal array over a prime p: column c of row (i, j) is i + c*j mod p. In its p*p rows any two
/// columns take every pair of digits; reduced modulo n <= p they still do.
Choices array_row(uint64_t prime, uint64_t row) {
  return [prime, i = row / prime, j = row % prime, column = uint64_t{0}](uint32_t n) mutable {
    return static_cast<uint32_t>((i + column++ * j) % prime % n);
  };
}

template <class T, size_t N>
const T& choose(const Choices& choices, const T (&values)[N]) {
  return values[choices(static_cast<uint32_t>(N))];
}

constexpr Rounding modes[] = {Rounding::nearest_even, Rounding::toward_zero, Rounding::up, Rounding::down,
                              Rounding::nearest_away};
constexpr int lengths[] = {1, 2, 3, 4, 7, 8, 16, 17, 32, 33};
constexpr int scale_blocks[] = {1, 2, 3, 16, 32};
struct Extents {
  int m, n, k;
};
constexpr Extents shapes[] = {{1, 1, 1}, {1, 1, 3}, {2, 3, 4}, {3, 1, 7}, {1, 2, 17}, {2, 2, 2}};
/// The attributes of stochastic rounding, of which the suite takes a few combinations.
struct Stochastic {
  uint64_t seed;
  int bits;
  Threshold threshold;
};
constexpr Stochastic stochastic[] = {{1, 24, Threshold::floor},
                                     {2, 1, Threshold::ceiling},
                                     {3, 8, Threshold::nearest},
                                     {4, max_random_bits, Threshold::floor}};

std::string with_bias(const FormatForms& forms, int bias) {
  return forms.takes_bias ? forms.name + ":" + std::to_string(bias) : forms.name;
}

std::vector<Format> suite_formats() {
  std::vector<Format> all;
  for (const FormatForms& forms : format_forms()) {
    if (!forms.takes_bias) all.push_back(format(forms.name));
    for (const int bias : suite_biases)
      if (forms.takes_bias) all.push_back(format(with_bias(forms, bias)));
    for (const std::string& setting : forms.switches)
      all.push_back(format(with_bias(forms, switched_bias) + "?" + setting));
  }
  return all;
}

/// A third each: one of the widest formats, whose products need the most bits; any format without switches; any format.
Format weighted_format(CounterRng& rng) {
  // fp64 stands twice, because most of these ops are of floating-point numbers.
  static const std::vector<Format> wide = {format("fp64"), format("fp64"), format("fp32"), format("s32"),
                                           format("u64")};
  const uint32_t third = rng.below(3);
  if (third == 0) return wide[rng.below(static_cast<uint32_t>(wide.size()))];
  const Format any = random_format(rng);
  return third == 1 ? format(any.name().substr(0, any.name().find('?'))) : any;
}

/// A value of alpha or beta: none, zero, one value near -2, a special, the greatest, any.
std::optional<uint64_t> scalar_factor(const FormatFields& f, uint32_t choice, CounterRng& rng) {
  switch (choice) {
    case 0: return std::nullopt;
    case 1: return f.encode_zero(false);
    case 2: return encode_near(f, true, 0, f.fraction_mask());
    case 3: return draw_special(f, rng) & f.container_mask();
    case 4: return f.encode_greatest(false);
    default: return rng.next() & f.container_mask();
  }
}
constexpr uint32_t scalar_factors = 6;

/// Makes an op of a kind; `next_format` returns its formats. Each other feature is one choice, in a fixed order.
template <class NextFormat>
Op make_op(Turn turn, const Choices& choices, CounterRng& rng, NextFormat next_format) {
  Op op;
  switch (turn) {
    case converts: {
      op.kind = OpKind::convert;
      op.a = next_format();
      op.d = next_format();
      const uint32_t rounding = choices(std::size(modes) + std::size(stochastic));
      if (rounding < std::size(modes)) {
        op.rounding = modes[rounding];
      } else {
        const Stochastic& attributes = stochastic[rounding - std::size(modes)];
        op.rounding = Rounding::stochastic;
        op.seed = attributes.seed;
        op.random_bits = attributes.bits;
        op.threshold = attributes.threshold;
      }
      op.tininess = choices(2) ? Tininess::before : Tininess::after;
      break;
    }
    case scalars:
      op.kind = OpKind::scalar;
      op.scalar = static_cast<ScalarOperation>(choices(scalar_operation_count));
      op.a = next_format();
      op.d = op.a;
      if (!can_compare(op.scalar, op.a.fields())) op.scalar = ScalarOperation::fma;
      op.rounding = choose(choices, modes);
      op.tininess = choices(2) ? Tininess::before : Tininess::after;
      break;
    case gemms: {
      op.kind = OpKind::gemm;
      const Extents& shape = choose(choices, shapes);
      op.m = shape.m;
      op.n = shape.n;
      op.k = shape.k;
      for (Format* f : {&op.a, &op.b, &op.c, &op.d}) *f = next_format();
      op.rounding = choose(choices, modes);
      const uint32_t alpha = choices(scalar_factors);
      const uint32_t beta = choices(scalar_factors);
      op.alpha = scalar_factor(op.d.fields(), alpha, rng);
      op.beta = scalar_factor(op.d.fields(), beta, rng);
      break;
    }
    default:
      op.kind = OpKind::dot;
      op.k = choose(choices, lengths);
      for (Format* f : {&op.a, &op.b, &op.c, &op.d}) *f = next_format();
      op.rounding = choose(choices, modes);
      if (turn == scaled_dots) {
        op.scale_a = next_format();
        op.scale_b = next_format();
        op.scale_block = choose(choices, scale_blocks);
      }
      break;
  }
  op.nan = choices(2) ? NanPolicy::any : NanPolicy::exact;
  // One of three values: few units honour these attributes.
  op.flush_to_zero = choices(3) == 2;
  op.saturate = choices(3) == 2;
  op.signals_inexact = choices(3) != 2 || !op.rounds_to_integer();
  return op;
}

/// A known op: half of the time as it is, else with another length or one attribute.
Op varied(Op op, CounterRng& rng) {
  switch (rng.below(10)) {
    case 0: op.flush_to_zero = true; break;
    case 1: op.saturate = true; break;
    case 2: op.rounding = modes[rng.below(std::size(modes))]; break;
    case 3: op.k *= 2; break;
    case 4: op.k += 1; break;
    default: break;
  }
  return op;
}

/// The op as its text reads, so that whatever is found can be written down; throws std::logic_error where it does not
/// parse.
Op reread(const Op& op) {
  Result<Op> parsed = parse_op(op_words(op));
  if (!parsed) throw std::logic_error("the op generator made '" + to_text(op) + "': " + parsed.refusal().reason);
  return *parsed;
}

}  // namespace

Format random_format(CounterRng& rng) {
  static const std::vector<FormatForms> table = format_forms();
  for (;;) {
    const FormatForms& forms = table[rng.below(static_cast<uint32_t>(table.size()))];
    const int bias = rng.between(0, greatest_bias);
    std::string name = with_bias(forms, bias);
    char separator = '?';
    for (const std::string& setting : forms.switches) {
      if (!rng.one_in(4)) continue;
      name += separator + setting;
      separator = ',';
    }
    if (Result<Format> made = parse_format(name)) return *made;  // two values of one switch are refused
  }
}

OpGenerator::OpGenerator(uint64_t seed, std::vector<Op> known)
    : seed_(seed),
      known_(std::move(known)),
      formats_(suite_formats()),
      prime_(static_cast<uint64_t>(prime_from(static_cast<int>(formats_.size())))) {}

uint64_t OpGenerator::turns() const { return 2 * turn_count + (known_.empty() ? 0 : 1); }

uint64_t OpGenerator::suite_size() const { return prime_ * prime_ * turns(); }

Op OpGenerator::operator()(uint64_t n) const {
  CounterRng rng(seed_, n);
  const uint64_t rows = prime_ * prime_;
  const uint64_t turn = n % turns(), round = n / turns();
  // 7919 is a prime: in general it shares no factor with the number of known ops, so that each has its turn.
  if (turn >= 2 * turn_count) return reread(varied(known_[(round * 7919 + seed_) % known_.size()], rng));
  const auto kind = static_cast<Turn>(turn % turn_count);
  if (turn < turn_count && round < rows) {
    // A step that shares no factor with p*p visits every row once, neighbours far apart.
    const uint64_t step = rows * 5 / 8 / prime_ * prime_ + 1;
    const Choices choices = array_row(prime_, (round * step + seed_) % rows);
    return reread(make_op(kind, choices, rng, [&] {
      const uint32_t number = choices(static_cast<uint32_t>(prime_));
      return number < formats_.size() ? formats_[number] : random_format(rng);
    }));
  }
  const Choices choices = [&](uint32_t n) { return rng.below(n); };
  std::optional<Format> last;
  return reread(make_op(kind, choices, rng, [&] {
    if (!last || !rng.one_in(3)) last = weighted_format(rng);  // a third of the formats repeat the one before
    return *last;
  }));
}

}  // namespace mmafuzz
