// mmafuzz bench prove: the tables of docs/proofs.md and its note. First the queries of Valpey et al., table 4, with the
// times of that paper beside; then what is proven of the rows.
#include <fmt/core.h>

#include <algorithm>
#include <functional>

#include "bench/bench.h"
#include "bench/discriminating_queries.h"
#include "bench/prove_tables.h"
#include "core/text.h"
#include "oracles/models/model_rows.h"
#include "prove/formulas/ieee.h"
#include "prove/inquiry.h"

namespace mmafuzz {
namespace {

using prove::Expression;
using prove::Expressions;

/// A line of table 4, and its query as bits that must all be 1.
struct Table4 {
  const PaperQuery* paper;
  std::function<std::vector<Expression>(Expressions&)> ask;
};

/// The product of two fp16 numbers, truncated to fp16, as an fp32 number.
Expression product_cut_to_fp16(Expression a, Expression b) {
  const prove::Number p = prove::product_of(prove::decode(fp16_fields, a, 9), prove::decode(fp16_fields, b, 9));
  const prove::RoundTo to{fp16_fields, 10, Rounding::toward_zero};
  const Expression cut =
      prove::round_to(to, p.negative, p.significand, p.exponent - prove::as_number(p.exponent, p.fraction_bits));
  return prove::widened(fp32_fields, prove::decode(fp16_fields, cut, 12));
}

/// The product of two fp16 numbers in fp32, where it is exact.
Expression product_in_fp32(Expression a, Expression b) {
  const prove::Number p = prove::product_of(prove::decode(fp16_fields, a, 12), prove::decode(fp16_fields, b, 12));
  return prove::widened(fp32_fields, p);
}

Expression add(Expression x, Expression y) {
  return prove::ieee_add({fp32_fields, Rounding::toward_zero, fp32_fields.encode_nan()}, x, y);
}

// The queries look for a witness in small domains, where it is easy to find: fixed bits of an fp16 number are
// constants.

/// An fp16 number of either sign with a magnitude in [1, 2).
Expression in_one_binade(Expressions& in, const std::string& name) {
  return prove::concat(in.variable(name + "_sign", 1),
                       prove::concat(in.constant(5, 15), in.variable(name + "_fraction", 10)));
}

Expression power_of_two(Expressions& in, const std::string& name, std::vector<Expression>& all) {
  const Expression exponent = in.variable(name + "_exponent", 5);
  all.push_back(~prove::is_zero(exponent) & ~prove::equal(exponent, in.constant(5, 31)));
  return prove::concat(in.variable(name + "_sign", 1), prove::concat(exponent, in.constant(10, 0)));
}

/// Inputs of a domain (prove::restrict_to) on which two variants of a row differ.
std::function<std::vector<Expression>(Expressions&)> variants_differ(const std::string& row, const std::string& first,
                                                                     const std::string& second,
                                                                     const std::string& domain) {
  return [=](Expressions& in) {
    const Op op = find_model_row(row)->op;
    const auto u = bind_or_fail("model:" + row + first, op), v = bind_or_fail("model:" + row + second, op);
    prove::CaseQuestion q = prove::equal_question(in, op, *u->model(), *v->model());
    std::vector<Expression> all = {q.question.violated};
    const auto finite = prove::restrict_to(q, domain);
    if (!finite) throw BadInput(finite.refusal().reason);
    all.insert(all.end(), q.question.assumptions.begin(), q.question.assumptions.end());
    return all;
  };
}

constexpr const char* five_terms = "volta/mma.m8n8k4.f32.f16.f16.f32";
constexpr const char* five_terms_to_f16 = "volta/mma.m8n8k4.f16.f16.f16.f16";
constexpr const char* nine_terms = "ampere/mma.m16n8k8.f32.f16.f16.f32";

/// The fp16 number 1 + 2^-10, whose products are rarely fp16 numbers.
Expression inexact_factor(Expressions& in) { return in.constant(16, 0x3c01); }

/// Factors whose product is not an fp16 number: the product differs from its truncation, and any rounding changes it.
std::vector<Expression> inexact_product(Expressions& in) {
  const Expression a = in_one_binade(in, "a"), b = inexact_factor(in);
  return {~prove::equal(product_cut_to_fp16(a, b), product_in_fp32(a, b))};
}

/// A product on which a row and its variant that rounds up differ, with a given c.
std::function<std::vector<Expression>(Expressions&)> rounding_matters(const char* row, uint64_t c) {
  return [row, c](Expressions& in) {
    DotModel truncates = find_model_row(row)->model;
    truncates.k = truncates.block = 1;
    DotModel up = truncates;
    up.output_rounding = Rounding::up;
    prove::Operands x;
    x.a = {in_one_binade(in, "a")};
    x.b = {inexact_factor(in)};
    x.c = in.constant(truncates.c.width, prove::Bits(c));
    return std::vector<Expression>{
        ~prove::equal(prove::dot_formula(truncates, x).result, prove::dot_formula(up, x).result)};
  };
}

/// Two products that are no fp16 numbers, with a sum that is one and that differs from the sum of the truncated
/// products.
std::vector<Expression> inexact_addition(Expressions& in) {
  std::vector<Expression> all, exact, rounded;
  for (const char* name : {"a", "b"}) {
    const Expression x = in_one_binade(in, name), y = inexact_factor(in);
    exact.push_back(product_in_fp32(x, y));
    rounded.push_back(product_cut_to_fp16(x, y));
    all.push_back(~prove::equal(exact.back(), rounded.back()));
  }
  const Expression sum = add(exact[0], exact[1]);
  const prove::Number n = prove::decode(fp32_fields, sum, 12);
  all.push_back(prove::is_zero(prove::extract(sum, 12, 0)));
  all.push_back(prove::signed_below(n.exponent, in.number(12, 15)) &
                prove::signed_below(in.number(12, -15), n.exponent));
  all.push_back(~prove::equal(sum, add(rounded[0], rounded[1])));
  return all;
}

/// Three products whose sum, rounded toward zero, depends on the order of the two additions.
std::vector<Expression> order_matters(Expressions& in) {
  std::vector<Expression> p, all;
  for (const char* i : {"0", "1", "2"}) {
    const Expression a = in_one_binade(in, std::string("a") + i), b = power_of_two(in, std::string("b") + i, all);
    p.push_back(product_in_fp32(a, b));
  }
  all.push_back(~prove::equal(add(add(p[0], p[1]), p[2]), add(p[0], add(p[1], p[2]))));
  return all;
}

/// Two positive products and a positive c: a fused sum differs from two additions toward zero.
std::vector<Expression> normalization_matters(Expressions& in) {
  const ModelRow& row = *find_model_row(five_terms);
  Op op = row.op;
  op.k = 2;
  const prove::Operands x = prove::dot_variables(in, op);
  std::vector<Expression> all = {prove::equal(prove::extract(x.c, 30, 23), in.constant(8, 127)), ~prove::bit(x.c, 31)};
  std::vector<Expression> p;
  for (size_t i = 0; i < 2; ++i) {
    // Each product has one bit below those that the alignment keeps beside c; two of these bits add up to a kept one.
    all.push_back(prove::equal(prove::extract(x.a[i], 15, 10), in.constant(6, 15)));
    all.push_back(prove::equal(x.b[i], in.constant(16, 0x0400)));
    p.push_back(product_in_fp32(x.a[i], x.b[i]));
  }
  all.push_back(~prove::equal(prove::dot_formula(row.model, x).result, add(add(p[0], p[1]), x.c)));
  return all;
}

const Table4 table_4[] = {
    {&exact_product_query, inexact_product},
    {&exact_addition_query, inexact_addition},
    {&final_rounding_query, rounding_matters(five_terms_to_f16, 0)},
    {&accumulator_rounding_query, rounding_matters(five_terms, 0x3fffffff)},  // 2 - 2^-23: the sum has too many bits
    {&order_query, order_matters},
    {&normalization_query, normalization_matters},
    // The paper's terms are normalized, below 2: three carry bits are four integer bits.
    {&three_carry_bits_query,
     variants_differ(five_terms, "?product=normalized,integer_bits=3", "?product=normalized,integer_bits=4", "binade")},
    {&four_carry_bits_query,
     variants_differ(nine_terms, "?product=normalized,integer_bits=4", "?product=normalized,integer_bits=5", "binade")},
};

struct ProveBenchOptions {
  double seconds = 120;
  std::vector<std::string> solvers;
  bool queries = false, claims = false, all_rows = false, corrected = false, falls = false;
  uint64_t attack = 0;
  bool asks_solvers() const { return queries || claims || all_rows || corrected || falls || attack == 0; }
  bool takes(bool part) const { return part || !(queries || claims || all_rows || corrected || falls); }
  std::string units;
};

prove::Answer median_answer(prove::Solvers& solvers, const std::function<std::vector<Expression>(Expressions&)>& ask,
                            const std::string& name, int repetitions) {
  std::vector<prove::Answer> answers;
  for (int i = 0; i < repetitions; ++i) {
    Expressions in;
    answers.push_back(solvers.solve(ask(in), name));
  }
  std::sort(answers.begin(), answers.end(), [](const auto& x, const auto& y) { return x.seconds < y.seconds; });
  return answers[answers.size() / 2];
}

bool print_table_4(prove::Solvers& solvers, double seconds) {
  constexpr uint64_t seeds = 5;
  constexpr int repetitions = 5;
  fmt::print(
      "| query | Valpey et al.: Z3 4.8.9 | cvc5 1.0.2 | solvers here, s | by | search here, s |\n"
      "|---|---|---|---|---|---|\n");
  bool all = true;
  for (const Table4& row : table_4) {
    const prove::Answer answer = median_answer(solvers, row.ask, row.paper->name, repetitions);
    all &= answer.verdict == prove::Verdict::sat;
    const double searched = search_seconds(*row.paper, seeds, seconds);
    fmt::print("| {} | {} | {} | {} | {} | {:.5f} |\n", row.paper->name, row.paper->z3, row.paper->cvc5,
               answer.verdict == prove::Verdict::sat ? fmt::format("{:.3f}", answer.seconds) : "no witness",
               answer.solver + answer.reason, searched);
    std::fflush(stdout);
  }
  const auto one_bit = [](Expressions& in) { return std::vector<Expression>{in.variable("x", 1)}; };
  fmt::print("Medians of {} repetitions and of {} seeds. A query of one bit: {:.3f} s.\n", repetitions, seeds,
             median_answer(solvers, one_bit, "one bit", repetitions).seconds);
  return all;
}

}  // namespace

void add_bench_prove(Arguments& bench, int& status) {
  auto options = std::make_shared<ProveBenchOptions>();
  Arguments* sub = bench.add_subcommand("prove", "Queries of Valpey et al., table 4, and what is proven of the rows");
  sub->add_option("--time", options->seconds, "seconds for each question")
      ->capture_default_str()
      ->check(positive_number());
  sub->add_option("--solver", options->solvers, "as of mmafuzz prove")->allow_extra_args(false);
  sub->add_option("--units", options->units, "only units whose name contains this");
  sub->add_flag("--queries", options->queries, "the queries of table 4");
  sub->add_flag("--claims", options->claims, "the properties of the rows");
  sub->add_flag("--all-rows", options->all_rows, "the properties of every row of the catalogue (hours)");
  sub->add_flag("--corrected", options->corrected, "Ootomo-Yokota against Markidis");
  sub->add_flag("--falls", options->falls, "how far results fall where c rises, by proof");
  sub->add_option("--attack", options->attack, "so many cases of each row, on which results are not to fall further");
  sub->footer(
      "Parts that are named; without any, all but --all-rows and --attack. Exit code 1 where a query has no witness, a "
      "claim has one, or a duel or a fall is not what docs/proofs.md says.\nExample: mmafuzz bench prove --queries");
  sub->callback([options, &status] {
    bool right = options->attack == 0 || attack_falls(options->units, options->attack);
    status = right ? exit_ok : exit_divergence;
    if (!options->asks_solvers()) return;
    prove::Solvers solvers(prove::find_solvers(options->solvers), {options->seconds, 4096});
    fmt::print("Solvers: {}\n\n", joined(solvers.names(), ", "));
    if (options->takes(options->queries)) right &= print_table_4(solvers, options->seconds);
    if (options->takes(options->claims)) right &= print_claims(solvers, options->units, options->seconds);
    if (options->all_rows) right &= print_claims_of_all_rows(solvers, options->units, options->seconds);
    if (options->takes(options->corrected)) right &= print_corrected_products(solvers, options->seconds);
    if (options->takes(options->falls)) right &= print_falls(solvers, options->units, options->seconds);
    status = right ? exit_ok : exit_divergence;
  });
}

}  // namespace mmafuzz
