#include "oracles/gemm/ozaki.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "core/parallel.h"
#include "oracles/exact/exact_sum.h"
#include "oracles/gemm/gemm_case.h"
#include "oracles/gemm/times_power.h"

namespace mmafuzz::gemm {
/// The sums of slice products, by element: of one product, of some of its rows, or of many products.
struct OzakiGemm::Accumulators {
  Accumulators(const OzakiPlan& plan, size_t elements) : answered(elements, 1) {
    if (plan.sum == Summation::fp64) {
      fp64.assign(elements, 0.0);
    } else {
      exact.assign(elements, {});
      invalid.assign(elements, 0);
    }
  }
  std::vector<double> fp64;  ///< in units of 2^(top of the row + top of the column)
  std::vector<ExactSum> exact;
  std::vector<uint8_t> invalid;   ///< a slice product was infinite or NaN
  std::vector<uint8_t> answered;  ///< the unit answered every dot
};

namespace {

/// The sum of the products of some digits.
int64_t integer_dot(const int16_t* x, const int16_t* y, int count) {
  int64_t sum = 0;
  constexpr int fitting = 256;  // this many products of digits of at most 11 bits fit in 32 bits
  for (int first = 0; first < count; first += fitting) {
    int32_t partial = 0;
    for (int l = first; l < std::min(first + fitting, count); ++l) partial += int32_t{x[l]} * y[l];
    sum += partial;
  }
  return sum;
}

Number decoded(double x) { return decode(fp64_fields, std::bit_cast<uint64_t>(x)); }

}  // namespace

Op OzakiGemm::dot_op(const OzakiPlan& plan, int k) {
  const char* const sum = plan.slice.fields().integer ? "s32" : "fp32";
  return mmafuzz::dot_op(plan.slice.name(), sum, sum, k);
}

OzakiGemm::OzakiGemm(const OzakiPlan& plan, const Op& op, std::unique_ptr<Unit> dot, int dot_k)
    : plan_(plan),
      op_(op),
      dot_op_(dot_op(plan, dot_k)),
      dot_(std::move(dot)),
      codes_(dot_op_.a.fields()),
      scalars_(op),
      bits_(exact_integer_bits(dot_op_, *dot_)) {}

int64_t OzakiGemm::block_of(int64_t k) const {
  const int64_t n = plan_.block > 0 ? std::min<int64_t>(plan_.block, k) : k;
  return std::clamp<int64_t>(n, 1, int64_t{1} << std::min(bits_, 62));
}

SliceWidths OzakiGemm::widths(int64_t k) const {
  const int most = digit_bits(plan_.slice.fields());
  SliceWidths widths = slice_widths(block_of(k), bits_, most);
  if (plan_.width_a) widths.a = plan_.width_a;
  if (plan_.width_b) widths.b = plan_.width_b;
  widths.a = std::min(widths.a + plan_.extra_width, most);
  widths.b = std::min(widths.b + plan_.extra_width, most);
  return widths;
}

Slicing OzakiGemm::slicing(int64_t k) const {
  return {widths(k), std::max(plan_.slices, 0), bits_, static_cast<int>(std::min<int64_t>(block_of(k), dot_op_.k))};
}

int estimate_slices(const RowSplitter& a, const RowSplitter& b, double unit_roundoff) {
  const int k = a.rows().length;
  // The paper's |B|e and e'|A|, e being a vector of ones: for each l the sum of the magnitudes of all rows. They are in
  // units of 2^(the greatest top), so that numbers which underflow do not matter.
  const auto sums_over_rows = [&](const RowSplitter& x) {
    std::vector<double> sums(size_t(k), 0.0);
    const std::vector<int>& tops = x.rows().top;
    const int greatest = tops.empty() ? 0 : *std::max_element(tops.begin(), tops.end());
    for (int i = 0; i < x.rows().rows; ++i)
      for (int l = 0; l < k; ++l) sums[size_t(l)] += times_power(x.magnitude(i, l), tops[size_t(i)] - greatest);
    return sums;
  };
  // The paper's splitting begins slice d at the leading bit of what the slices before it left, so that slice d is empty
  // only where nothing is left, and its magnitude is that of the rest except for a part of 2^-width. The slices here
  // have fixed weights: an empty one tells nothing about the next. So the rest before slice d is compared instead of
  // slice d.
  const auto limits = [&](const RowSplitter& x, const std::vector<double>& weight) {
    std::vector<double> limit;
    for (int i = 0; i < x.rows().rows; ++i) {
      double sum = 0;
      for (int l = 0; l < k; ++l) sum += x.magnitude(i, l) * weight[size_t(l)];
      limit.push_back(std::sqrt(double(k)) * unit_roundoff * sum);
    }
    return limit;
  };
  const auto are_enough = [&](int d, const RowSplitter& x, const std::vector<double>& weight,
                              const std::vector<double>& limit) {
    for (int i = 0; i < x.rows().rows; ++i) {
      double rest = 0;
      for (int l = 0; l < k; ++l) rest += x.remainder(i, l, d - 1) * weight[size_t(l)];
      if (rest > limit[size_t(i)]) return false;
    }
    return true;
  };
  const std::vector<double> sums_a = sums_over_rows(a), sums_b = sums_over_rows(b), limit_a = limits(a, sums_b),
                            limit_b = limits(b, sums_a);
  const int needed = std::max({a.max_needed(), b.max_needed(), 1});
  for (int d = 1; d < needed; ++d)
    if (are_enough(d, a, sums_b, limit_a) && are_enough(d, b, sums_a, limit_b)) return d;
  return needed;
}

OzakiGemm::Slices OzakiGemm::slice(const Shape& shape, const uint64_t* a, const uint64_t* b, bool with_digits) const {
  const SliceWidths w = widths(shape.k);
  const int m = static_cast<int>(shape.m), n = static_cast<int>(shape.n), k = static_cast<int>(shape.k);
  const RowSplitter rows(op_.a.fields(), a, {m, k, size_t(k), 1}, w.a, plan_.subnormals);
  const RowSplitter columns(op_.b.fields(), b, {n, k, 1, size_t(n)}, w.b, plan_.subnormals);
  int wanted = plan_.slices;
  if (wanted == estimated_slices) wanted = estimate_slices(rows, columns, std::ldexp(1.0, -op_.d.fields().precision()));
  const auto count = [&](const RowSplitter& x) {
    return wanted == all_slices ? x.max_needed() : std::min(wanted, x.max_needed());
  };
  Slices s;
  s.a = rows.cut(count(rows), with_digits);
  s.b = columns.cut(count(columns), with_digits);
  s.wanted = wanted == all_slices ? std::max(s.a.slices, s.b.slices) : wanted;
  s.cut.dot_k = dot_op_.k;
  const int block = static_cast<int>(block_of(k));
  for (int first = 0; first < k; first += block) s.cut.blocks.push_back(first);
  s.cut.blocks.push_back(k);
  return s;
}

int OzakiGemm::last_partner(const Slices& s, int p) const {
  return p == plan_.skip_slice ? 0 : plan_.fast ? std::min(s.b.slices, s.wanted + 1 - p) : s.b.slices;
}

template <class Add>
void OzakiGemm::each_dot(const Slices& s, const EncodedSlices& b, int first_row, int last_row, Purpose purpose,
                         const Add& add) const {
  const size_t words = b.words();
  std::vector<uint64_t> nonzero(words), wanted(words);
  std::vector<int> positions;
  for (size_t block = 0; block < s.cut.block_count(); ++block) {
    // Small slices first, so that in fp64 the greatest terms are added last.
    for (int p = s.a.slices; p >= 1; --p) {
      const int last = last_partner(s, p);
      if (last < 1) continue;
      for (int i = first_row; i < last_row; ++i) {
        if (!s.a.is_filled(p, i)) continue;
        const int16_t* digits = s.a.slice(p, i);
        positions.clear();
        for (int l = s.cut.blocks[block]; l < s.cut.blocks[block + 1]; ++l)
          if (digits[l]) positions.push_back(l);
        for (int j = 0; !positions.empty() && j < s.b.rows; ++j) {
          // `nonzero`: the slices q of column j with a nonzero digit at a position where slice p of row i has one.
          // Other dots are zero, which most are where exponents differ widely.
          for (size_t w = 0; w < words; ++w) {
            wanted[w] = b.nonzero_by_block(j, block)[w] & low_mask(std::max(0, last - 64 * static_cast<int>(w)));
            nonzero[w] = 0;
          }
          for (const int l : positions) {
            const uint64_t* nonzero_here = b.nonzero(j, l);
            for (size_t w = 0; w < words; ++w) nonzero[w] |= nonzero_here[w] & wanted[w];
            if (nonzero == wanted) break;
          }
          for (size_t w = words; w-- > 0;)
            for (uint64_t rest = nonzero[w]; rest; rest ^= std::bit_floor(rest))
              add(i, p, block, j, static_cast<int>(64 * w) + static_cast<int>(std::bit_width(rest)));
          if (purpose != Purpose::comparison || j != i % s.b.rows) continue;
          for (size_t w = 0; w < words; ++w)
            if (const uint64_t zero_dots = wanted[w] & ~nonzero[w]) {
              add(i, p, block, j, static_cast<int>(64 * w) + static_cast<int>(std::bit_width(zero_dots)));
              break;
            }
        }
      }
    }
  }
}

void OzakiGemm::queue_dots(const Slices& s, int first_row, int last_row, Purpose purpose, DotQueue& queue,
                           size_t first_element) const {
  const int bytes = dot_op_.a.storage_bytes();
  const EncodedSlices a(s.a, s.cut, codes_, bytes), b(s.b, s.cut, codes_, bytes);
  const size_t stride = a.stride();
  std::vector<size_t> chunks_of;  // the number of chunks, by block
  for (size_t block = 0; block < s.cut.block_count(); ++block) chunks_of.push_back(s.cut.chunks_of(block));
  each_dot(s, b, first_row, last_row, purpose, [&](int i, int p, size_t block, int j, int q) {
    DotQueue::Dot dot;
    dot.element = first_element + size_t(i - first_row) * size_t(s.b.rows) + size_t(j);
    dot.weight = -p * s.a.width - q * s.b.width;
    if (plan_.sum == Summation::exact) dot.weight += s.a.top[size_t(i)] + s.b.top[size_t(j)];
    const int begin = s.cut.blocks[block];
    if (purpose == Purpose::comparison)
      dot.integer = integer_dot(s.a.slice(p, i) + begin, s.b.slice(q, j) + begin, s.cut.blocks[block + 1] - begin);
    const size_t chunks = chunks_of[block], slot = queue.add(chunks, dot);
    for (size_t chunk = 0; chunk < chunks; ++chunk) {
      std::memcpy(queue.a(chunk, slot), a.operand(p, i, block, chunk), stride);
      std::memcpy(queue.b(chunk, slot), b.operand(q, j, block, chunk), stride);
    }
  });
}

void OzakiGemm::accumulate(std::span<const DotQueue::Dot> dots, const Outcomes& outcomes, Accumulators& sums) const {
  const DotValues values(dot_op_.d.fields(), outcomes);
  for (size_t i = 0; i < dots.size(); ++i) {
    const DotQueue::Dot& dot = dots[i];
    if (!outcomes.has_answer(i)) sums.answered[dot.element] = 0;
    const double value = values[i];
    if (plan_.sum == Summation::fp64) {
      sums.fp64[dot.element] += value * times_power(1, dot.weight);
    } else if (!std::isfinite(value)) {
      sums.invalid[dot.element] = 1;
    } else if (value != 0) {
      const Number x = decoded(value);
      sums.exact[dot.element].add(x.negative, x.significand, x.exponent + dot.weight);
    }
  }
}

uint64_t OzakiGemm::finish(const Matrices& in, const RowInfo& rows, size_t element, const Accumulators& sums,
                           size_t sum_index) const {
  const auto n = size_t(in.shape.n), k = size_t(in.shape.k), i = element / n, j = element % n;
  const Scalars& scalars = scalars_;
  const Exact addend = to_exact(decode(op_.c.fields(), in.c[element]));
  // The classes of all terms, which are needed only where they decide the result.
  const auto classes = [&] {
    TermClasses seen;
    for (size_t l = 0; scalars.reads_products() && l < k; ++l) {
      const auto operand = [&](const FormatFields& f, uint64_t encoding) {
        Exact x = to_exact(decode(f, encoding));
        return plan_.drop_specials && !is_number(x.cls) ? Exact{NumberClass::zero, x.negative, 0, 0} : x;
      };
      seen.note(exact_product(operand(op_.a.fields(), in.a[i * k + l]), operand(op_.b.fields(), in.b[l * n + j])),
                scalars.alpha);
    }
    if (scalars.reads_c()) seen.note(addend, scalars.beta);
    return seen;
  };
  const bool special_factors = !plan_.drop_specials && (rows.special_a[i] || rows.special_b[j]);
  if (scalars.meets_special(special_factors, addend)) {
    const TermClasses seen = classes();
    if (seen.is_special()) return seen.special_result(op_.d.fields(), op_.rounding_rule());
  }
  const FormatFields& d = op_.d.fields();
  if (plan_.sum == Summation::exact) {
    if (sums.invalid[sum_index]) return d.encode_nan();
    const ExactSum& sum = sums.exact[sum_index];
    const auto rounded = [&](bool zero_negative) {
      const RoundingRule rule = op_.rounding_rule();
      const Rounded r = op_.has_alpha_beta()
                            ? sum.rounded_with(scalars.alpha, scalars.beta, addend, zero_negative, d, rule)
                            : sum.rounded_with(addend, zero_negative, d, rule);
      return r.encoding;
    };
    const uint64_t result = rounded(/*zero_negative=*/false);
    return is_zero(d, result) ? rounded(classes().zero_sign(op_.rounding)) : result;
  }
  const auto number = [](const Exact& x) {
    const double magnitude = std::ldexp(static_cast<double>(static_cast<uint64_t>(x.significand)), x.exponent);
    return x.negative ? -magnitude : magnitude;
  };
  const double sum = sums.fp64[sum_index];
  if (std::isnan(sum) && scalars.reads_products()) return d.encode_nan();
  if (sum == 0 && (addend.significand == 0 || !scalars.reads_c()))
    return d.encode_zero(classes().zero_sign(op_.rounding));
  const double product =
      scalars.reads_products() ? number(scalars.alpha) * std::ldexp(sum, rows.top_a[i] + rows.top_b[j]) : 0;
  const double scaled_addend = scalars.reads_c() ? number(scalars.beta) * number(addend) : 0;
  return round_any(d, to_exact(decoded(product + scaled_addend)), op_.rounding_rule()).encoding;
}

std::vector<uint64_t> OzakiGemm::multiply(const Shape& shape, const uint64_t* a, const uint64_t* b, const uint64_t* c,
                                          OzakiRecord* record) const {
  const Slices s = slice(shape, a, b);
  const RowInfo info(s);
  const int m = static_cast<int>(shape.m), n = static_cast<int>(shape.n);
  std::vector<uint64_t> d(size_t(m) * size_t(n));
  std::atomic<bool> answered = true;
  const auto compute_rows = [&](int first, int last) {
    Accumulators sums(plan_, size_t(last - first) * size_t(n));
    DotQueue queue(*dot_, dot_op_, [&](std::span<const DotQueue::Dot> dots, const Outcomes& outcomes) {
      accumulate(dots, outcomes, sums);
    });
    queue_dots(s, first, last, Purpose::product, queue);
    queue.flush();
    for (size_t sum_index = 0, e = size_t(first) * size_t(n); e < size_t(last) * size_t(n); ++sum_index, ++e) {
      if (!sums.answered[sum_index]) answered = false;
      d[e] = finish({shape, a, b, c}, info, e, sums, sum_index);
    }
  };
  const int threads = std::clamp(plan_.threads, 1, std::max(m, 1));
  in_parallel(static_cast<unsigned>(threads), static_cast<size_t>(threads), [&](size_t t) {
    compute_rows(int(int64_t(m) * int64_t(t) / threads), int(int64_t(m) * int64_t(t + 1) / threads));
  });
  if (!answered) throw std::runtime_error(dot_->name() + " has no answer to a slice product");
  if (record) *record = record_of(s);
  return d;
}

void OzakiGemm::multiply_all(const Shape& shape, std::vector<Product>& products) const {
  const size_t elements = size_t(shape.m) * size_t(shape.n);
  Accumulators sums(plan_, products.size() * elements);
  DotQueue queue(*dot_, dot_op_, [&](std::span<const DotQueue::Dot> dots, const Outcomes& outcomes) {
    accumulate(dots, outcomes, sums);
  });
  std::vector<RowInfo> info;
  for (size_t i = 0; i < products.size(); ++i) {
    const Slices s = slice(shape, products[i].a.data(), products[i].b.data());
    info.emplace_back(s);
    queue_dots(s, 0, s.a.rows, Purpose::product, queue, i * elements);
  }
  queue.flush();
  for (size_t i = 0; i < products.size(); ++i) {
    Product& p = products[i];
    p.d.resize(elements);
    for (size_t e = 0; e < elements; ++e) {
      const size_t sum_index = i * elements + e;
      if (!sums.answered[sum_index]) p.answered = false;
      p.d[e] = finish({shape, p.a.data(), p.b.data(), p.c.data()}, info[i], e, sums, sum_index);
    }
  }
}

OzakiRecord OzakiGemm::record_of(const Slices& s) const {
  OzakiRecord record{.widths = {s.a.width, s.b.width},
                     .slices_a = s.a.slices,
                     .slices_b = s.b.slices,
                     .wanted_slices = s.wanted,
                     .bits = bits_};
  std::vector<int64_t> filled(size_t(s.b.slices) + 1);  // slices of b up to this one that are not all zeros
  for (int q = 1; q <= s.b.slices; ++q) {
    bool any = false;
    for (int j = 0; j < s.b.rows; ++j) any |= s.b.is_filled(q, j);
    filled[size_t(q)] = filled[size_t(q) - 1] + any;
  }
  for (int p = 1; p <= s.a.slices; ++p)
    record.slice_products += filled[size_t(std::max(0, last_partner(s, p)))] * int64_t(s.cut.block_count());
  return record;
}

OzakiGemm::Description OzakiGemm::describe(const Shape& shape, const uint64_t* a, const uint64_t* b,
                                           PartialSums sums) const {
  const bool with_sums = sums == PartialSums::computed && plan_.sum == Summation::fp64;
  const Slices s = slice(shape, a, b, with_sums);
  return {record_of(s), s.a.top, s.b.top, s.a.needed, s.b.needed, with_sums ? partial_sums(s) : std::vector<double>()};
}

std::vector<double> OzakiGemm::partial_sums(const Slices& s) const {
  const auto k = size_t(s.b.length), rows = size_t(s.b.rows), slices = size_t(s.b.slices);
  // For each element of each column, by slice q: `rest`, the magnitude of its digits in slices q and following, and
  // `rests`, the sum of `rest` over the slices up to q that are not all zeros.
  std::vector<double> rest(rows * (slices + 2) * k, 0.0), rests(rest);
  std::vector<int> filled(rows * (slices + 2), 0);  // the number of slices up to q that are not all zeros
  const auto place = [&](size_t j, size_t q) { return (j * (slices + 2) + q) * k; };
  for (size_t j = 0; j < rows; ++j) {
    for (size_t q = slices; q >= 1; --q)
      for (size_t l = 0; l < k; ++l)
        rest[place(j, q) + l] =
            rest[place(j, q + 1) + l] + times_power(std::abs(s.b.slice(int(q), int(j))[l]), -int(q) * s.b.width);
    for (size_t q = 1; q <= slices; ++q) {
      const bool holds = s.b.is_filled(int(q), int(j));
      filled[j * (slices + 2) + q] = filled[j * (slices + 2) + q - 1] + holds;
      for (size_t l = 0; l < k; ++l)
        rests[place(j, q) + l] = rests[place(j, q - 1) + l] + (holds ? rest[place(j, q) + l] : 0);
    }
  }
  std::vector<double> sums;
  for (int i = 0; i < s.a.rows; ++i)
    for (size_t j = 0; j < rows; ++j) {
      double sum = 0, magnitude = 0;  // `magnitude`: of the products with the slices of a until then
      for (size_t block = 0; block < s.cut.block_count(); ++block)
        for (int p = s.a.slices; p >= 1; --p) {
          const int last = last_partner(s, p);
          if (last < 1 || !s.a.is_filled(p, i)) continue;
          const int16_t* digits = s.a.slice(p, i);
          const double *whole_b = &rest[place(j, 1)], *rests_b = &rests[place(j, size_t(last))];
          double slice_magnitude = 0, slice_sum = 0;
          for (auto l = size_t(s.cut.blocks[block]); l < size_t(s.cut.blocks[block + 1]); ++l) {
            const double digit = std::abs(digits[l]);
            slice_magnitude += digit * whole_b[l];
            slice_sum += digit * rests_b[l];
          }
          sum += filled[j * (slices + 2) + size_t(last)] * magnitude + times_power(slice_sum, -p * s.a.width);
          magnitude += times_power(slice_magnitude, -p * s.a.width);
        }
      sums.push_back(sum);
    }
  return sums;
}

std::vector<int64_t> OzakiGemm::inexact_slice_products(const Shape& shape, const std::vector<Factors>& products) const {
  const size_t elements = size_t(shape.m) * size_t(shape.n);
  std::vector<int64_t> inexact(products.size());
  DotQueue queue(*dot_, dot_op_, [&](std::span<const DotQueue::Dot> dots, const Outcomes& outcomes) {
    const DotValues values(dot_op_.d.fields(), outcomes);
    for (size_t dot = 0; dot < dots.size(); ++dot)
      inexact[dots[dot].element / elements] +=
          outcomes.has_answer(dot) && values[dot] != static_cast<double>(dots[dot].integer);
  });
  for (size_t i = 0; i < products.size(); ++i) {
    const Slices s = slice(shape, products[i].a.data(), products[i].b.data());
    queue_dots(s, 0, s.a.rows, Purpose::comparison, queue, i * elements);
  }
  queue.flush();
  return inexact;
}

}  // namespace mmafuzz::gemm
