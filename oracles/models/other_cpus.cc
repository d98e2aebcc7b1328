// Dot products and outer products of Arm's, IBM's and RISC-V's processors. Sources: the Arm Architecture Reference
// Manual (DDI 0487, shared pseudocode BFDotAdd, FPDot, FPDotAdd, FPMulAdd; SME: DDI 0616), the Power ISA 3.1
// (chapter 7.6.3, VSX Matrix-Multiply Assist), the RISC-V Unprivileged ISA (Zvfbfwma; its Bulk Normalization Algorithm,
// RVBNA, in the draft of 2026; how Spike calls that: Zvtbf16fmm, Zvtofp8fmm). All with the processor's default
// modes: to nearest even, subnormal numbers kept. NaNs of operands are handed on (Arm: FPCR.DN = 0), except by Arm's
// products of SME and of bf16 and FP8, which have one NaN, and RISC-V, which has one for all. docs/semantics.md 14 says
// how the bits of Arm's FPCR change these rows.
#include <bit>

#include "oracles/models/model_rows.h"

namespace mmafuzz {
namespace {

class CpuRows : public RowList {
 public:
  /// BFDotAdd without FEAT_EBF16: every operation rounds to odd, overflows to infinity and flushes.
  void to_odd(const char* instruction, const char* shape) {
    ModelRow row = start_ieee_row("arm", instruction, shape, "f32.bf16.bf16.f32");
    DotModel& m = row.model;
    m.kernel = Kernel::ieee_tree;
    m.block = 2;
    m.output_rounding = Rounding::odd;
    m.overflow = Overflow::infinity;
    m.subnormals = Subnormals::flushed_signed;
    add(std::move(row), "Arm ARM, BFDotAdd with FPCR.EBF = 0");
  }

  /// Two products summed exactly and rounded, then added to c.
  void pairs(const char* arch, const char* instruction, const char* shape, const std::string& type, const char* source,
             NanFrom nan = NanFrom::constant, Form form = Form::s_plus_c) {
    ModelRow row = start_ieee_row(arch, instruction, shape, types_of("f32", type, type));
    DotModel& m = row.model;
    m.kernel = Kernel::sum_then_add;
    m.block = 2;
    m.zero_sign = ZeroSign::ieee;
    m.nan_from = nan;
    set_form(row, form);
    add(std::move(row), source);
  }

  /// FMMLA of fp16: two pairs, each summed exactly and rounded; then their sum, rounded, and c.
  void two_pairs(const char* source) {
    ModelRow row = start_ieee_row("arm", "fmmla", "k4", "f32.f16.f16.f32");
    DotModel& m = row.model;
    m.kernel = Kernel::sum_then_add;
    m.block = 2;
    m.chain_join = ChainJoin::summed_first;
    m.zero_sign = ZeroSign::ieee;
    add(std::move(row), source);
  }

  /// Two products rounded, their sum rounded, and c (FPMatMulAdd).
  void tree(const char* instruction, const std::string& type, const char* source) {
    ModelRow row = start_ieee_row("arm", instruction, "k2", types_of(type, type, type));
    row.model.kernel = Kernel::ieee_tree;
    row.model.nan_from = NanFrom::signalling_c_a_b;
    add(std::move(row), source);
  }

  /// FP8 with FPMR.LSCALE = 0 and FPMR.OSM = 0: products and c summed exactly and rounded once.
  void fp8(const char* instruction, const char* shape, const std::string& type, const char* source) {
    for (const char* a : {"e4m3", "e5m2"})
      for (const char* b : {"e4m3", "e5m2"}) {
        ModelRow row = start_ieee_row("arm", instruction, shape, types_of(type, a, b));
        row.model.kernel = Kernel::exact_sum;
        row.model.zero_sign = ZeroSign::ieee;
        row.claims.push_back({"block_permutation", ""});
        add(std::move(row), source);
      }
  }

  void fma(const char* arch, const char* instruction, const std::string& types, const char* source,
           NanFrom nan = NanFrom::constant, Form form = Form::s_plus_c) {
    ModelRow row = start_ieee_row(arch, instruction, "k1", types);
    row.model.kernel = Kernel::fma_chain;
    row.model.nan_from = nan;
    if (row.op.a.name() != "bf16" && form == Form::s_plus_c) row.claims.push_back({"equals_model", "ieee:fma"});
    set_form(row, form);
    add(std::move(row), source);
  }

  /// k products by RVBNA, whose guard bits are log2(k); then an IEEE addition of c, rounded to odd.
  void bulk_normalized(const char* shape, const std::string& a, const std::string& b) {
    ModelRow row = start_ieee_row("riscv", "vtfmm", shape, types_of("f32", a, b));
    DotModel& m = row.model;
    m.kernel = Kernel::bulk_normalized;
    m.fraction_bits = m.d.fraction_bits + std::countr_zero(static_cast<unsigned>(m.k));
    m.zero_exponent = -(m.a.bias + m.b.bias);  // the sum of the biased exponents is 0
    m.output_rounding = Rounding::odd;
    m.overflow = Overflow::infinity;
    row.claims = claims_of({"block_permutation", "monotone_in_c", "product_value_and_exponent", "sign_symmetry",
                            "split_k", "swap_operands", "zero_padding"});
    add(std::move(row), "RISC-V Unprivileged ISA, draft: RVBNA; Spike, f32_add_odd");
  }

  /// POWER10's outer products in all forms. Those of 16-bit operands negate the rounded sum of two products and the
  /// accumulator, those of fp32 and fp64 the accumulator and the result of a fused multiply-add.
  void power10() {
    struct Suffix {
      const char* name;
      Form of_pairs, of_fma;
    };
    static constexpr Suffix suffixes[] = {{"", Form::s_alone, Form::s_alone},
                                          {"pp", Form::s_plus_c, Form::s_plus_c},
                                          {"pn", Form::s_minus_c, Form::s_minus_c},
                                          {"np", Form::c_minus_s, Form::negated_s_minus_c},
                                          {"nn", Form::minus_s_minus_c, Form::negated_s_plus_c}};
    for (const Suffix& suffix : suffixes) {
      for (const auto& [stem, type] : {std::pair{"xvf16ger2", "f16"}, std::pair{"xvbf16ger2", "bf16"}}) {
        const std::string name = std::string(stem) + suffix.name;
        pairs("power10", name.c_str(), "k2", type, ("Power ISA 3.1, " + name).c_str(), NanFrom::a_c_b, suffix.of_pairs);
      }
      for (const char* type : {"f32", "f64"}) {
        const std::string name = std::string("xv") + type + "ger" + suffix.name;
        fma("power10", name.c_str(), types_of(type, type, type), ("Power ISA 3.1, " + name).c_str(), NanFrom::a_c_b,
            suffix.of_fma);
      }
    }
  }

 private:
  /// Sets the form and drops the claims that it breaks: raising a negated c or product lowers the result, and where a
  /// step negates or drops c, a further step of zero products changes the result.
  static void set_form(ModelRow& row, Form form) {
    row.model.form = form;
    const bool negates = form != Form::s_plus_c && form != Form::s_alone,
               keeps_c = form == Form::s_plus_c || form == Form::c_minus_s || form == Form::negated_s_minus_c;
    std::erase_if(row.claims, [&](const Claim& claim) {
      return (claim.property == "monotone_in_c" && negates && !keeps_c) ||
             (claim.property == "monotone_in_addend" && negates) || (claim.property == "zero_padding" && !keeps_c);
    });
  }
};

}  // namespace

std::vector<ModelRow> other_cpu_rows() {
  CpuRows rows;
  constexpr NanFrom arm_nans = NanFrom::signalling_c_a_b;
  rows.to_odd("bfdot", "k2");
  rows.to_odd("bfmmla", "k4");
  rows.to_odd("bfmopa", "k2");
  const char* const with_ebf = "Arm ARM, BFDotAdd with FPCR.EBF = 1";
  rows.pairs("arm", "bfdot_ebf", "k2", "bf16", with_ebf);
  rows.pairs("arm", "bfmmla_ebf", "k4", "bf16", with_ebf);
  rows.pairs("arm", "bfmopa_ebf", "k2", "bf16", with_ebf);
  rows.pairs("arm", "fmopa", "k2", "f16", "Arm ARM, FPDotAdd (SME)");
  rows.pairs("arm", "fdot", "k2", "f16", "Arm ARM, FPDotAdd (SME2)");
  rows.pairs("arm", "fdot_sve", "k2", "f16", "Arm ARM, FPDotAdd (SVE2.1)", NanFrom::signalling_c_as_bs);
  rows.two_pairs("Arm ARM, C3.10.28.1: FMMLA, fp16 to fp32");
  rows.tree("fmmla", "f32", "Arm ARM, FPMatMulAdd");
  rows.tree("fmmla", "f64", "Arm ARM, FPMatMulAdd");
  for (const char* type : {"f16", "f32", "f64", "bf16"})
    rows.fma("arm", "fmla", types_of(type, type, type), "Arm ARM, FPMulAdd", arm_nans);
  rows.fma("arm", "fmlal", "f32.f16.f16.f32", "Arm ARM, FPMulAddH", arm_nans);
  const char* const fp8 = "Arm ARM, A1.5.5 and FP8DotAddFP, with FPMR.LSCALE = 0 and OSM = 0";
  rows.fp8("fdot", "k4", "f32", fp8);
  rows.fp8("fdot", "k2", "f16", fp8);
  rows.fp8("fmopa", "k4", "f32", fp8);
  rows.fp8("fmopa", "k2", "f16", fp8);
  rows.fp8("fmmla", "k8", "f32", fp8);
  rows.fp8("fmmla", "k4", "f16", fp8);
  rows.fp8("fmlall", "k1", "f32", fp8);
  rows.fp8("fmlal", "k1", "f16", fp8);
  rows.fma("arm", "bfmlal", "f32.bf16.bf16.f32", "Arm ARM, BFMulAdd", arm_nans);
  rows.fma("arm", "fmopa", "f32.f32.f32.f32", "Arm ARM, FPMulAdd (SME)");
  rows.fma("arm", "fmopa", "f64.f64.f64.f64", "Arm ARM, FPMulAdd (SME)");
  rows.power10();
  rows.fma("riscv", "vfwmaccbf16", "f32.bf16.bf16.f32", "RISC-V Unprivileged ISA, Zvfbfwma");
  rows.bulk_normalized("k2", "bf16", "bf16");
  for (const char* a : {"e4m3", "e5m2"})
    for (const char* b : {"e4m3", "e5m2"}) rows.bulk_normalized("k4", a, b);
  return rows.take();
}

}  // namespace mmafuzz
