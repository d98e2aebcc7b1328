#include "search/coverage.h"

#include <stdexcept>

#include "arithmetic/integer_rounding.h"

namespace mmafuzz {
namespace {

using Labels = std::vector<const char*>;

template <class Cross>
BinGroup group(const char* name, std::vector<Labels> classes) {
  int cells = 1;
  for (size_t i = 0; i < classes.size(); ++i) {
    if (static_cast<int>(classes[i].size()) != Cross::size(static_cast<int>(i)))
      throw std::logic_error(std::string("labels of bin group ") + name);
    cells *= static_cast<int>(classes[i].size());
  }
  if (cells != Cross::count) throw std::logic_error(std::string("classes of bin group ") + name);
  return {name, Cross::first, Cross::count, std::move(classes)};
}

const Labels sign = {"positive", "negative"};
const Labels results = {"+zero",        "-zero",  "least_subnormal", "subnormal", "greatest_subnormal",
                        "least_normal", "normal", "greatest",        "infinity",  "nan"};
const Labels loss = {"exact", "inexact"};

}  // namespace

const std::vector<BinGroup>& bin_groups() {
  static const std::vector<BinGroup> all = {
      group<bins::Align>(
          "align", {{"c", "product"},
                    {"shift=0", "shift=1", "shift=2", "shift=3-4", "shift=5-8", "shift=9-16", "shift=17+", "shift=F-1",
                     "shift=F", "shift=F+1", "shift=F+2", "shift=beyond"},
                    {"lost=none", "lost=lowest", "lost=below_half", "lost=half", "lost=above_half", "lost=all_ones"},
                    sign}),
      group<bins::Loss>("loss", {{"greatest=c", "greatest=product", "greatest=c_and_product", "greatest=products"},
                                 {"gone=0", "gone=1", "gone=2", "gone=3+"},
                                 {"inexact=0", "inexact=1", "inexact=2", "inexact=3+"},
                                 {"net=negative", "net=zero", "net=positive"}}),
      group<bins::Floor>("floor",
                         {{"floor-3", "floor-2", "floor-1", "floor", "floor+1", "floor+2", "floor+3", "no_addend"},
                          {"c", "c_zero"},
                          {"no_zero_product", "zero_product", "zero_beside_huge"},
                          loss}),
      group<bins::Carry>("carry", {{"bits=0", "bits=1", "bits=2", "bits=3", "bits=4", "bits=5+"},
                                   {"at_greatest=1", "at_greatest=2", "at_greatest=3-4", "at_greatest=5-8",
                                    "at_greatest=9-16", "at_greatest=17+"},
                                   sign,
                                   {"c_agrees", "c_opposes", "c_zero"}}),
      group<bins::Cancel>("cancel", {{"depth=1", "depth=2", "depth=3-4", "depth=5-8", "depth=9-16", "depth=17+",
                                      "depth=F-1", "depth=F", "depth=beyond", "to_zero"},
                                     loss,
                                     sign,
                                     {"products", "with_c"}}),
      group<bins::Round>("round",
                         {sign,
                          {"even", "odd"},
                          {"exact", "lowest", "below_half", "half-1", "half", "half+1", "above_half", "all_ones"},
                          {"subnormal", "normal", "power_of_two", "greatest_binade"}}),
      group<bins::Result>("result", {results, {"exact", "inexact", "special", "after_inner_overflow"}, sign}),
      group<bins::Special>(
          "special", {{"zero*zero", "zero*subnormal", "zero*normal", "zero*infinity", "zero*nan", "subnormal*subnormal",
                       "subnormal*normal", "subnormal*infinity", "subnormal*nan", "normal*normal", "normal*infinity",
                       "normal*nan", "infinity*infinity", "infinity*nan", "nan*nan"},
                      {"c=zero", "c=subnormal", "c=normal", "c=infinity", "c=nan"},
                      {"alone", "same_infinity", "opposite_infinity", "other_nan"}}),
      group<bins::Signs>("signs", {{"negative=0", "negative=1", "negative=some", "negative=n-1", "negative=n"},
                                   {"c=positive", "c=negative", "c=zero"},
                                   {"largest=first", "largest=middle", "largest=last", "largest=c"}}),
      group<bins::Block>("block",
                         {{"block=0", "block=1", "block=2", "block=3", "block=4", "block=5", "block=6", "block=7+"},
                          {"no_loss", "loss_first", "loss_later", "loss_both"}}),
      group<bins::Lane>("lane", {{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15"},
                                 {"c_zero", "c", "later_block"}}),
      group<bins::Container>("container",
                             {{"a", "b"},
                              {"low_zero_or_least_scale", "low_some_or_scale_one", "low_all_or_greatest_scale",
                               "infinity_low_zero_or_nan_scale", "infinity_low_some_or_scale_below_one",
                               "infinity_low_all_or_scale_above_one"}}),
      group<bins::Disagree>(
          "disagree", {{"none", "exact", "ieee", "exact+ieee", "model", "model+exact", "model+ieee", "model+exact+ieee",
                        "other", "other+exact", "other+ieee", "other+exact+ieee", "other+model", "other+model+exact",
                        "other+model+ieee", "all"},
                       {"ulp=0", "ulp=1", "ulp=2", "ulp=3-4", "ulp=5-16", "ulp=17-4096", "ulp=more", "special"}}),
      group<bins::Property>("property",
                            {{"0",  "1",  "2",  "3",  "4",  "5",  "6",  "7",  "8",  "9",  "10", "11", "12", "13",
                              "14", "15", "16", "17", "18", "19", "20", "21", "22", "23", "24", "25", "26", "27",
                              "28", "29", "30", "31", "32", "33", "34", "35", "36", "37", "38", "39"},
                             {"left_out", "holds", "broken"}}),
      group<bins::Convert>("convert", {results,
                                       {"exact", "overflow", "below_half", "underflow", "half", "invalid", "above_half",
                                        "denormal_operand"},
                                       {"even", "odd"},
                                       sign}),
      group<bins::GemmSlices>("gemm_slices",
                              {{"row=0", "row=1", "row=2", "row=3-4", "row=5-8", "row=9-16", "row=17-64", "row=65+"},
                               {"column=0", "column=1", "column=2", "column=3-4", "column=5-8", "column=9-16",
                                "column=17-64", "column=65+"},
                               {"whole", "row_cut", "column_cut", "both_cut"}}),
      group<bins::GemmSpan>(
          "gemm_span",
          {{"a", "b"},
           {"zeros", "one_slice", "slices", "S-1", "S", "S+1", "one_slice_more", "more", "beyond"},
           {"left=none", "left=lowest", "left=below_half", "left=half", "left=above_half", "left=all_ones"},
           sign}),
      group<bins::GemmSlack>("gemm_slack",
                             {{"1*1", "1*2", "2*1", "2*2"},
                              {"over", "bits=0", "bits=1", "bits=2", "bits=3-4", "bits=5-8", "bits=9+", "zero"},
                              sign,
                              {"even", "odd"}}),
      group<bins::GemmCancel>("gemm_cancel", {{"depth=0", "depth=1", "depth=2-4", "depth=5-8", "depth=9-26",
                                               "depth=27-52", "depth=53+", "to_zero"},
                                              {"first_zero", "first_agrees", "first_opposes"},
                                              {"c_zero", "c_agrees", "c_opposes", "c_beyond"}}),
      group<bins::GemmRound>("gemm_round",
                             {sign,
                              {"even", "odd"},
                              {"exact", "lowest", "below_half", "half-1", "half", "half+1", "above_half", "all_ones"}}),
      group<bins::GemmSpecial>("gemm_special",
                               {{"row=zeros", "row=subnormal", "row=normal", "row=infinity", "row=nan"},
                                {"column=zeros", "column=subnormal", "column=normal", "column=infinity", "column=nan"},
                                {"c=zero", "c=subnormal", "c=normal", "c=infinity", "c=nan"}}),
      group<bins::GemmBlock>("gemm_block", {{"block=0", "block=1", "block=2", "block=3", "block=4+"},
                                            {"one_filled", "some_filled", "all_filled"}}),
      group<bins::GemmScale>(
          "gemm_scale", {{"rows=0", "rows=1-2", "rows=3-9", "rows=10-53", "rows=54-200", "rows=201+"},
                         {"columns=0", "columns=1-2", "columns=3-9", "columns=10-53", "columns=54-200", "columns=201+"},
                         {"below_range", "subnormal", "normal", "near_greatest", "above_range"}}),
  };
  return all;
}

std::string bin_name(int bin) {
  for (const BinGroup& g : bin_groups()) {
    if (bin < g.first || bin >= g.first + g.count) continue;
    int rest = bin - g.first;
    std::vector<const char*> labels(g.classes.size());
    for (size_t i = g.classes.size(); i-- > 0;) {
      const int n = static_cast<int>(g.classes[i].size());
      labels[i] = g.classes[i][static_cast<size_t>(rest % n)];
      rest /= n;
    }
    std::string name = g.name;
    for (const char* label : labels) name += std::string(".") + label;
    return name;
  }
  throw std::out_of_range("no bin " + std::to_string(bin));
}

Rounded round_scalar_case(const Op& op, const Batch& batch, size_t index) {
  const Column& values = batch.inputs()[0];
  const FormatFields& f = op.a.fields();
  const RoundingRule rule = op.rounding_rule();
  Number x[3];
  for (int i = 0; i < values.count() && i < 3; ++i) x[i] = decode(f, values.get(index, i));
  if (op.rounds_to_integer() && op.kind == OpKind::convert)
    return convert_to_integer(f, op.d.fields(), x[0], rule, op.signals_inexact);
  if (op.kind == OpKind::convert) return convert_number(op.d.fields(), x[0], rule);
  if (compares(op.scalar)) {  // what the operands are to each other shows in their difference
    x[1].negative = !x[1].negative;
    return ieee_add(f, x[0], x[1], rule);
  }
  switch (op.scalar) {
    case ScalarOperation::add: return ieee_add(f, x[0], x[1], rule);
    case ScalarOperation::sub: x[1].negative = !x[1].negative; return ieee_add(f, x[0], x[1], rule);
    case ScalarOperation::mul: return ieee_multiply(f, x[0], x[1], rule);
    case ScalarOperation::div: return ieee_divide(f, x[0], x[1], rule);
    case ScalarOperation::sqrt: return ieee_square_root(f, x[0], rule);
    case ScalarOperation::fma: return ieee_fma(f, x[0], x[1], x[2], rule);
    case ScalarOperation::rem: return ieee_remainder(f, x[0], x[1], rule);
    case ScalarOperation::round_to_integral: return round_to_integral(f, x[0], rule, op.signals_inexact);
    default: break;  // rcp: 1 / x
  }
  return ieee_divide(f, decode(f, uint64_t(f.bias) << f.fraction_bits), x[0], rule);
}

}  // namespace mmafuzz
