#include "oracles/gemm/ozaki.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <functional>
#include <memory>
#include <stdexcept>
#include <utility>

#include "core/parallel.h"
#include "oracles/exact/exact_sum.h"
#include "oracles/gemm/gemm_case.h"

namespace mmafuzz::gemm {
namespace {

/// Encodings of the digits -(2^width - 1) .. 2^width - 1 in the slice format, which must hold them.
class DigitCodes {
 public:
  DigitCodes(const FormatFields& f, int width) : offset_((1 << width) - 1) {
    for (int digit = -offset_; digit <= offset_; ++digit) {
      const uint64_t code = f.integer
                                ? static_cast<uint64_t>(int64_t{digit}) & f.container_mask()
                                : round_once(f, digit < 0, static_cast<uint64_t>(std::abs(digit)), 0, false).encoding;
      codes_.push_back(code);
    }
  }
  uint64_t operator[](int16_t digit) const { return codes_[static_cast<size_t>(digit + offset_)]; }

 private:
  int offset_;
  std::vector<uint64_t> codes_;
};

template <class T>
void write_codes(const DigitCodes& codes, const int16_t* digits, int count, uint8_t* to) {
  for (int l = 0; l < count; ++l) {
    const T code = static_cast<T>(codes[digits[l]]);
    std::memcpy(to + sizeof(T) * size_t(l), &code, sizeof(T));
  }
}

/// Encodes `count` digits and pads with zeros up to `length`; `bytes` each.
void write_digits(const DigitCodes& codes, const int16_t* digits, int count, int length, int bytes, uint8_t* to) {
  switch (bytes) {
    case 1: write_codes<uint8_t>(codes, digits, count, to); break;
    case 2: write_codes<uint16_t>(codes, digits, count, to); break;
    default: write_codes<uint32_t>(codes, digits, count, to); break;
  }
  std::memset(to + size_t(bytes) * size_t(count), 0, size_t(bytes) * size_t(length - count));
}

/// The value of a slice product: an integer that fp64 holds, unless the unit is not what it is taken for.
double value_of(const FormatFields& f, uint64_t encoding) {
  if (f == fp32_fields) return std::bit_cast<float>(static_cast<uint32_t>(encoding));
  const Number x = decode(f, encoding);
  if (x.cls == NumberClass::nan || x.cls == NumberClass::infinity) return std::nan("");
  const double magnitude = std::ldexp(static_cast<double>(x.significand), x.exponent);
  return x.negative ? -magnitude : magnitude;
}

}  // namespace

/// Sums of slice products, of the elements of some rows.
struct OzakiGemm::Accumulators {
  int first_row = 0, n = 0;
  std::vector<double> fp64;  ///< in units of 2^(top of the row + top of the column)
  std::vector<ExactSum> exact;
  std::vector<uint8_t> invalid;  ///< a slice product was no number
  bool answered = true;          ///< the unit answered every dot
  size_t at(int i, int j) const { return size_t(i - first_row) * size_t(n) + size_t(j); }
};

/// Dots of slice products that wait to be run together: a call of a device costs more than its dots. A dot that is
/// longer than the unit's runs as a chain of chunks through c.
class OzakiGemm::Pending {
 public:
  using Visit = std::function<void(const Outcomes& outcomes, size_t first)>;
  Pending(const Unit& unit, const Op& op) : unit_(unit), op_(op) {}

  /// Room for `dots` dots of `chunks` chunks; the caller writes a and b from case `first` on. Runs what waits where it
  /// is enough.
  size_t add(size_t chunks, size_t dots, Visit visit) {
    if (chunks != chunks_.size() || (size_ > 0 && size_ + dots > enough)) flush();
    while (chunks_.size() < chunks) chunks_.emplace_back(op_);
    chunks_.resize(chunks);
    for (Batch& chunk : chunks_) chunk.resize(size_ + dots);
    entries_.push_back({size_, std::move(visit)});
    return std::exchange(size_, size_ + dots);
  }
  Batch& chunk(size_t i) { return chunks_[i]; }

  void flush() {
    if (size_ > 0) {
      Outcomes outcomes;
      std::vector<uint8_t> answered;
      for (size_t i = 0; i < chunks_.size(); ++i) {
        if (i > 0) std::swap(chunks_[i].inputs()[2], outcomes.results);
        unit_.run(chunks_[i], outcomes);
        if (outcomes.answered.empty()) continue;
        if (answered.empty()) answered.assign(size_, 1);
        for (size_t dot = 0; dot < size_; ++dot) answered[dot] &= outcomes.answered[dot];
      }
      outcomes.answered = std::move(answered);
      for (const Entry& entry : entries_) entry.visit(outcomes, entry.first);
    }
    entries_.clear();
    size_ = 0;
    for (Batch& chunk : chunks_) chunk.resize(0);
  }

 private:
  static constexpr size_t enough = 1 << 16;
  struct Entry {
    size_t first;
    Visit visit;
  };
  const Unit& unit_;
  const Op& op_;
  std::vector<Batch> chunks_;
  std::vector<Entry> entries_;
  size_t size_ = 0;
};

Op OzakiGemm::dot_op(const OzakiPlan& plan, int k) {
  Op op;
  op.a = op.b = plan.slice;
  op.c = op.d = format(plan.slice.fields().integer ? "s32" : "fp32");
  op.k = k;
  return op;
}

OzakiGemm::OzakiGemm(const OzakiPlan& plan, const Op& op, std::unique_ptr<Unit> dot, int dot_k)
    : plan_(plan),
      op_(op),
      dot_op_(dot_op(plan, dot_k)),
      dot_(std::move(dot)),
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

int estimate_slices(const RowSplitter& a, const RowSplitter& b, double unit_roundoff) {
  const int k = a.rows().length;
  // |B|e and e'|A|, the tops taken relative to the greatest one: what falls below fp64's range does not matter.
  const auto sums = [&](const RowSplitter& x) {
    std::vector<double> sum(size_t(k), 0.0);
    const std::vector<int>& tops = x.rows().top;
    const int greatest = tops.empty() ? 0 : *std::max_element(tops.begin(), tops.end());
    for (int i = 0; i < x.rows().rows; ++i)
      for (int l = 0; l < k; ++l) sum[size_t(l)] += std::ldexp(x.magnitude(i, l), tops[size_t(i)] - greatest);
    return sum;
  };
  // Slice d as the paper's splitting cuts it: it begins at what the slices before it left, so that it is empty only
  // where nothing is left, and its magnitude is that of the rest but for a part of 2^-width. Our slices stand at fixed
  // weights: one of them may be empty and tell nothing of the next. Hence the rest before slice d.
  const auto enough = [&](const RowSplitter& x, const std::vector<double>& weight, int d) {
    for (int i = 0; i < x.rows().rows; ++i) {
      double last = 0, all = 0;
      for (int l = 0; l < k; ++l) {
        last += x.remainder(i, l, d - 1) * weight[size_t(l)];
        all += x.magnitude(i, l) * weight[size_t(l)];
      }
      if (last > std::sqrt(double(k)) * unit_roundoff * all) return false;
    }
    return true;
  };
  const std::vector<double> ones_b = sums(b), ones_a = sums(a);
  const int most = std::max({a.most_needed(), b.most_needed(), 1});
  for (int d = 1; d < most; ++d)
    if (enough(a, ones_b, d) && enough(b, ones_a, d)) return d;
  return most;
}

OzakiGemm::Slices OzakiGemm::slice(const Shape& shape, const uint64_t* a, const uint64_t* b) const {
  const SliceWidths w = widths(shape.k);
  const int m = static_cast<int>(shape.m), n = static_cast<int>(shape.n), k = static_cast<int>(shape.k);
  const RowSplitter rows(op_.a.fields(), a, {m, k, size_t(k), 1}, w.a, plan_.subnormals);
  const RowSplitter columns(op_.b.fields(), b, {n, k, 1, size_t(n)}, w.b, plan_.subnormals);
  int wanted = plan_.slices;
  if (wanted == estimated_slices) wanted = estimate_slices(rows, columns, std::ldexp(1.0, -op_.d.fields().precision()));
  const auto count = [&](const RowSplitter& x) {
    return wanted == all_slices ? x.most_needed() : std::min(wanted, x.most_needed());
  };
  Slices s;
  s.a = rows.cut(count(rows));
  s.b = columns.cut(count(columns));
  s.d = wanted == all_slices ? std::max(s.a.slices, s.b.slices) : wanted;
  const int block = static_cast<int>(block_of(k));
  for (int at = 0; at < k; at += block) s.blocks.push_back(at);
  s.blocks.push_back(k);
  return s;
}

std::vector<int> OzakiGemm::partners(const Slices& s, int p) const {
  std::vector<int> list;
  const int last = p == plan_.skip_slice ? 0 : plan_.fast ? std::min(s.b.slices, s.d + 1 - p) : s.b.slices;
  for (int q = 1; q <= last; ++q) {
    bool filled = false;
    for (int j = 0; j < s.b.rows; ++j) filled |= s.b.is_filled(q, j);
    if (filled) list.push_back(q);
  }
  return list;
}

template <class Visit>
void OzakiGemm::each_product(const Slices& s, int first_row, int last_row, Pending& pending, const Visit& visit) const {
  const int n = s.b.rows, k_of_dot = dot_op_.k;
  const int bytes = dot_op_.a.storage_bytes();
  const size_t stride = size_t(bytes) * size_t(k_of_dot);
  const DigitCodes codes_a(dot_op_.a.fields(), s.a.width), codes_b(dot_op_.b.fields(), s.b.width);
  std::vector<uint8_t> row(stride);
  for (size_t block = 0; block + 1 < s.blocks.size(); ++block) {
    const int begin = s.blocks[block], end = s.blocks[block + 1];
    const size_t chunks = size_t((end - begin + k_of_dot - 1) / k_of_dot);
    std::shared_ptr<const std::vector<int>> encoded;  // the partners in `columns`
    std::vector<std::vector<uint8_t>> columns(chunks);
    // Small slices first: what is added late in fp64 is what matters most.
    for (int p = s.a.slices; p >= 1; --p) {
      std::vector<int> qs = partners(s, p);
      const size_t dots = qs.size() * size_t(n);
      if (dots == 0) continue;
      if (!encoded || *encoded != qs) {
        for (size_t c = 0; c < chunks; ++c) {
          const int at = begin + static_cast<int>(c) * k_of_dot;
          columns[c].resize(dots * stride);
          uint8_t* to = columns[c].data();
          for (const int q : qs)
            for (int j = 0; j < n; ++j, to += stride)
              write_digits(codes_b, s.b.slice(q, j) + at, std::min(k_of_dot, end - at), k_of_dot, bytes, to);
        }
        encoded = std::make_shared<const std::vector<int>>(std::move(qs));
      }
      for (int i = first_row; i < last_row; ++i) {
        if (!s.a.is_filled(p, i)) continue;
        const size_t first =
            pending.add(chunks, dots, [visit, i, p, block, encoded](const Outcomes& outcomes, size_t from) {
              visit(i, p, static_cast<int>(block), *encoded, outcomes, from);
            });
        for (size_t c = 0; c < chunks; ++c) {
          const int at = begin + static_cast<int>(c) * k_of_dot;
          write_digits(codes_a, s.a.slice(p, i) + at, std::min(k_of_dot, end - at), k_of_dot, bytes, row.data());
          std::vector<Column>& inputs = pending.chunk(c).inputs();
          uint8_t* to = inputs[0].data() + first * stride;
          for (size_t dot = 0; dot < dots; ++dot) std::memcpy(to + dot * stride, row.data(), stride);
          std::memcpy(inputs[1].data() + first * stride, columns[c].data(), dots * stride);
        }
      }
    }
  }
}

void OzakiGemm::accumulate(const Slices& s, int first_row, int last_row, Accumulators& sums, Pending& pending) const {
  each_product(
      s, first_row, last_row, pending,
      [this, &s, &sums](int i, int p, int, const std::vector<int>& qs, const Outcomes& outcomes, size_t first) {
        const int n = s.b.rows;
        const FormatFields& d = dot_op_.d.fields();
        for (size_t place = qs.size(); place-- > 0;) {
          const int weight = -p * s.a.width - qs[place] * s.b.width;
          const double unit = std::ldexp(1.0, weight);
          for (int j = 0; j < n; ++j) {
            const size_t dot = first + place * size_t(n) + size_t(j);
            if (!outcomes.has_answer(dot)) sums.answered = false;
            const double value = value_of(d, outcomes.results.get(dot));
            const size_t at = sums.at(i, j);
            if (plan_.sum == Summation::fp64) {
              sums.fp64[at] += value * unit;
            } else if (!std::isfinite(value)) {
              sums.invalid[at] = 1;
            } else if (value != 0) {
              const uint64_t bits = std::bit_cast<uint64_t>(value);
              const Number x = decode(ieee_fields(11, 52), bits);
              sums.exact[at].add(x.negative, x.significand,
                                 x.exponent + weight + s.a.top[size_t(i)] + s.b.top[size_t(j)]);
            }
          }
        }
      });
}

uint64_t OzakiGemm::round_fp64(double value) const {
  const Number x = decode(ieee_fields(11, 52), std::bit_cast<uint64_t>(value));
  const FormatFields& d = op_.d.fields();
  if (x.cls == NumberClass::nan) return d.encode_nan();
  if (x.cls == NumberClass::infinity) return rounded_infinity(d, x.negative, op_.rounding_rule()).encoding;
  return round_exact(d, to_exact(x), op_.rounding_rule()).encoding;
}

uint64_t OzakiGemm::finish(const Shape& shape, const Slices& s, const Accumulators& sums, const uint64_t* a,
                           const uint64_t* b, const uint64_t* c, int i, int j) const {
  const Scalars scalars(op_);
  const Exact addend = to_exact(decode(op_.c.fields(), c[size_t(i) * size_t(shape.n) + size_t(j)]));
  const size_t at = sums.at(i, j);
  const auto is_special = [](const Exact& x) { return x.cls == NumberClass::infinity || x.cls == NumberClass::nan; };
  const bool has_specials =
      (!plan_.drop_specials && (s.a.special[size_t(i)] || s.b.special[size_t(j)]) && scalars.reads_products()) ||
      (scalars.reads_c() && is_special(addend)) || is_special(scalars.alpha) || is_special(scalars.beta);
  const auto classes = [&] {  // of all terms; only where they decide
    TermClasses seen;
    for (int64_t l = 0; scalars.reads_products() && l < shape.k; ++l) {
      const auto operand = [&](const FormatFields& f, uint64_t encoding) {
        Exact x = to_exact(decode(f, encoding));
        return plan_.drop_specials && is_special(x) ? Exact{NumberClass::zero, x.negative, 0, 0} : x;
      };
      seen.note(exact_product(operand(op_.a.fields(), a[int64_t{i} * shape.k + l]),
                              operand(op_.b.fields(), b[l * shape.n + j])),
                scalars.alpha);
    }
    if (scalars.reads_c()) seen.note(addend, scalars.beta);
    return seen;
  };
  if (has_specials) {
    const TermClasses seen = classes();
    if (seen.special()) return seen.special_result(op_);
  }
  const FormatFields& d = op_.d.fields();
  if (plan_.sum == Summation::exact) {
    if (sums.invalid[at]) return d.encode_nan();
    const ExactSum& sum = sums.exact[at];
    const auto rounded = [&](bool zero_negative) {
      const RoundingRule rule = op_.rounding_rule();
      const Rounded r = op_.has_alpha_beta()
                            ? sum.rounded_with(scalars.alpha, scalars.beta, addend, zero_negative, d, rule)
                            : sum.rounded_with(addend, zero_negative, d, rule);
      return r.encoding;
    };
    const uint64_t result = rounded(false);
    return is_zero(d, result) ? rounded(classes().zero_sign(op_.rounding)) : result;
  }
  const auto number = [](const Exact& x) {
    const double magnitude = std::ldexp(static_cast<double>(static_cast<uint64_t>(x.significand)), x.exponent);
    return x.negative ? -magnitude : magnitude;
  };
  const double sum = sums.fp64[at];
  if (std::isnan(sum) && scalars.reads_products()) return d.encode_nan();
  const double product =
      scalars.reads_products() ? number(scalars.alpha) * std::ldexp(sum, s.a.top[size_t(i)] + s.b.top[size_t(j)]) : 0;
  const double other = scalars.reads_c() ? number(scalars.beta) * number(addend) : 0;
  if (sum == 0 && (addend.significand == 0 || !scalars.reads_c()))
    return d.encode_zero(classes().zero_sign(op_.rounding));
  return round_fp64(product + other);
}

std::vector<uint64_t> OzakiGemm::multiply(const Shape& shape, const uint64_t* a, const uint64_t* b, const uint64_t* c,
                                          OzakiRecord* record) const {
  const Slices s = slice(shape, a, b);
  const int m = static_cast<int>(shape.m), n = static_cast<int>(shape.n);
  std::vector<uint64_t> d(size_t(m) * size_t(n));
  std::atomic<bool> answered = true;
  const auto rows = [&](int first, int last) {
    Accumulators sums = empty_sums(first, last, n);
    Pending pending(*dot_, dot_op_);
    accumulate(s, first, last, sums, pending);
    pending.flush();
    if (!sums.answered) answered = false;
    for (int i = first; i < last; ++i)
      for (int j = 0; j < n; ++j) d[size_t(i) * size_t(n) + size_t(j)] = finish(shape, s, sums, a, b, c, i, j);
  };
  const int threads = std::clamp(plan_.threads, 1, std::max(m, 1));
  in_parallel(static_cast<unsigned>(threads), static_cast<size_t>(threads), [&](size_t t) {
    rows(int(int64_t(m) * int64_t(t) / threads), int(int64_t(m) * int64_t(t + 1) / threads));
  });
  if (!answered) throw std::runtime_error(dot_->name() + " has no answer to a slice product");
  if (record) *record = record_of(s);
  return d;
}

OzakiGemm::Accumulators OzakiGemm::empty_sums(int first_row, int last_row, int n) const {
  Accumulators sums;
  sums.first_row = first_row;
  sums.n = n;
  const size_t elements = size_t(last_row - first_row) * size_t(n);
  if (plan_.sum == Summation::fp64) {
    sums.fp64.assign(elements, 0.0);
  } else {
    sums.exact.assign(elements, {});
    sums.invalid.assign(elements, 0);
  }
  return sums;
}

void OzakiGemm::multiply_all(const Shape& shape, std::vector<Product>& products) const {
  const int m = static_cast<int>(shape.m), n = static_cast<int>(shape.n);
  std::vector<Slices> slices;
  std::vector<Accumulators> sums;
  for (const Product& p : products) {
    slices.push_back(slice(shape, p.a.data(), p.b.data()));
    sums.push_back(empty_sums(0, m, n));
  }
  Pending pending(*dot_, dot_op_);
  for (size_t i = 0; i < products.size(); ++i) accumulate(slices[i], 0, m, sums[i], pending);
  pending.flush();
  for (size_t at = 0; at < products.size(); ++at) {
    Product& p = products[at];
    p.answered = sums[at].answered;
    p.d.resize(size_t(m) * size_t(n));
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j)
        p.d[size_t(i) * size_t(n) + size_t(j)] =
            finish(shape, slices[at], sums[at], p.a.data(), p.b.data(), p.c.data(), i, j);
  }
}

OzakiRecord OzakiGemm::record_of(const Slices& s) const {
  OzakiRecord record{{s.a.width, s.b.width}, s.a.slices, s.b.slices, s.d, bits_, 0};
  for (int p = 1; p <= s.a.slices; ++p)
    record.slice_products += int64_t(partners(s, p).size()) * int64_t(s.blocks.size() - 1);
  return record;
}

OzakiGemm::Description OzakiGemm::describe(const Shape& shape, const uint64_t* a, const uint64_t* b) const {
  const Slices s = slice(shape, a, b);
  return {record_of(s), s.a.top, s.b.top, s.a.needed, s.b.needed};
}

int64_t OzakiGemm::inexact_slice_products(const Shape& shape, const uint64_t* a, const uint64_t* b) const {
  const Slices s = slice(shape, a, b);
  const int n = s.b.rows;
  int64_t inexact = 0;
  Pending pending(*dot_, dot_op_);
  each_product(s, 0, s.a.rows, pending,
               [&](int i, int p, int block, const std::vector<int>& qs, const Outcomes& outcomes, size_t first) {
                 for (size_t place = 0; place < qs.size(); ++place) {
                   for (int j = 0; j < n; ++j) {
                     int64_t sum = 0;
                     for (int l = s.blocks[size_t(block)]; l < s.blocks[size_t(block) + 1]; ++l)
                       sum += int64_t{s.a.slice(p, i)[l]} * s.b.slice(qs[place], j)[l];
                     const size_t dot = first + place * size_t(n) + size_t(j);
                     inexact += outcomes.has_answer(dot) &&
                                value_of(dot_op_.d.fields(), outcomes.results.get(dot)) != static_cast<double>(sum);
                   }
                 }
               });
  pending.flush();
  return inexact;
}

}  // namespace mmafuzz::gemm
