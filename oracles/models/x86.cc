// Dot products of x86 processors, as published: chains and trees of IEEE operations. Sources: [SDM] Intel 64 and IA-32
// Architectures Software Developer's Manual, vol. 2; [AMD] AMD64 Architecture Programmer's Manual, vol. 4; [ISE] Intel
// Architecture Instruction Set Extensions Programming Reference; [ACE] AI Compute Extensions, version 1 (x86 Ecosystem
// Advisory Group, 2026), as Bochs transcribes it. Of two NaNs the result is that of the first source operand ([SDM]
// vol. 1, tables 4-7 and E-1), of an FMA's NaNs the multiplicand's, else the multiplier's, else the addend's (table
// 14-17, where the multiplicand is the second operand). Each row's order is that of the operands of the instruction
// that it names; the order of AMX's bf16 is a Xeon's (corpus/recorded/), that of its fp16 the same by analogy. Rows of
// DPPS, for whose sums the text has no order, of AMX's FP8 and tf32 and of AVX10.2 hold for ops with nan=any.
#include "oracles/models/model_rows.h"

namespace mmafuzz {
namespace {

// QNaN floating-point indefinite ([SDM] vol. 1, 4.8.3.7).
constexpr uint64_t default_nan_f32 = 0xffc00000, default_nan_f64 = 0xfff8000000000000, default_nan_f16 = 0xfe00,
                   default_nan_bf16 = 0xffc0;

class X86Rows : public RowList {
 public:
  /// All products by IEEE multiplications, their pairwise sum, then c. One product: multiply, then add.
  void tree(const char* instruction, const char* shape, const std::string& type, const char* source,
            const NanRule& nan = {}) {
    ModelRow row = start_ieee_row("x86", instruction, shape, types_of(type, type, type), nan);
    row.model.kernel = Kernel::ieee_tree;
    add(std::move(row), source);
  }

  /// A chain of FMAs without subnormal numbers; the odd product of a pair joins first.
  void flushing_chain(const char* instruction, const char* shape, const std::string& types, Subnormals subnormals,
                      const char* source, NanFrom nan_from = NanFrom::constant) {
    ModelRow row = start_row("x86", instruction, shape, types);
    row.model.kernel = Kernel::fma_chain;
    row.model.nan_from = nan_from;
    if (row.op.k > 1) row.model.order = ProductOrder::swapped_pairs;
    row.model.subnormals = subnormals;
    add_rounded(std::move(row), source);
  }

  /// One element of a tile product of FP8: all products summed exactly and rounded, then c, in fp32 without its
  /// subnormal numbers. FP8's own are kept.
  void fp8_tile(const char* instruction, const char* a, const char* b, const char* source) {
    ModelRow row = start_row("x86", instruction, "k64", types_of("f32", a, b));
    row.model.nan = default_nan_f32;
    add_fp8(std::move(row), source);
  }

  /// ACE's outer products of FP8 under scales: four products summed exactly and rounded, then c.
  void fp8_outer(const char* instruction, const char* a, const char* b, const char* source) {
    ModelRow row = start_row("x86", instruction, "k4", types_of("f32", a, b) + ".ue8m0");
    row.model.operand_specials = OperandSpecials::numbers;
    row.model.nan = 0x7fc00000;
    add_fp8(std::move(row), source);
  }

  /// ACE's outer product of bf16: both products, their sum, and the sum of that and c, each rounded, without
  /// subnormals.
  void bf16_outer(const char* source) {
    ModelRow row = start_row("x86", "top2bf16ps", "k2", "f32.bf16.bf16.f32");
    DotModel& m = row.model;
    m.kernel = Kernel::ieee_tree;
    m.block = 2;
    m.overflow = Overflow::by_rounding;
    m.subnormals = Subnormals::flushed_signed;
    add_rounded(std::move(row), source);
  }

  /// One element of a tile product of tf32: one chain of FMAs from +0, then c.
  void tf32_tile(const char* source) {
    ModelRow row = start_row("x86", "tmmultf32ps", "k16", "f32.tf32.tf32.f32");
    DotModel& m = row.model;
    m.kernel = Kernel::fma_then_add;
    m.overflow = Overflow::by_rounding;
    m.low_bits = LowBits::nan_payload;
    m.subnormals = Subnormals::flushed_signed;
    add_rounded(std::move(row), source);
  }

  /// One element of a tile product: even and odd products in a chain each, the chains' sum, then c, all in fp32 without
  /// its subnormal numbers.
  void tile(const char* instruction, const std::string& type, const char* source) {
    ModelRow row = start_row("x86", instruction, "k32", types_of("f32", type, type));
    DotModel& m = row.model;
    m.kernel = Kernel::fma_then_add;
    m.block = m.k / 2;
    m.order = ProductOrder::interleaved;
    m.chain_join = ChainJoin::summed_first;
    m.nan_from = NanFrom::a_b_c;
    m.overflow = Overflow::by_rounding;
    m.subnormals = Subnormals::flushed_signed;
    add_rounded(std::move(row), source);
  }

 private:
  /// Adds a row whose operations each round to nearest even, and whose NaN is the processor's default.
  void add_rounded(ModelRow row, const char* source) {
    row.model.output_rounding = Rounding::nearest_even;
    row.model.nan = row.op.d.name() == "fp32" ? default_nan_f32 : default_nan_bf16;
    row.claims = claims_of({"monotone_in_addend", "monotone_in_c", "sign_symmetry", "swap_operands"});
    add(std::move(row), source);
  }

  void add_fp8(ModelRow row, const char* source) {
    DotModel& m = row.model;
    m.kernel = Kernel::sum_then_add;
    m.output_rounding = Rounding::nearest_even;
    m.overflow = Overflow::by_rounding;
    m.subnormals = Subnormals::flushed_of_fp32;
    row.claims = claims_of(
        {"block_permutation", "monotone_in_addend", "monotone_in_c", "sign_symmetry", "split_k", "swap_operands"});
    add(std::move(row), source);
  }
};

}  // namespace

std::vector<ModelRow> x86_rows() {
  X86Rows rows;
  rows.flushing_chain("dpbf16", "k2", "f32.bf16.bf16.f32", Subnormals::flushed_signed,
                      "[SDM] VDPBF16PS: element 2i + 1 first, each step to nearest even, DAZ and FTZ; [AMD]",
                      NanFrom::a_b_c);
  rows.tile("tdpbf16ps", "bf16", "[SDM] TDPBF16PS: two FMA chains from +0, their sum, then c; DAZ and FTZ");
  rows.tile("tdpfp16ps", "f16", "[SDM] TDPFP16PS: the same; fp16's subnormals are kept, fp32's flushed");
  // Complex numbers: products 2i and 2i + 1 of an element are what a real or an imaginary part is made of.
  rows.tile("tcmmrlfp16ps", "f16", "[SDM] TCMMRLFP16PS: real parts, and imaginary ones, of which a's are negated");
  rows.tile("tcmmimfp16ps", "f16", "[SDM] TCMMIMFP16PS: imaginary parts of a by real ones of b, and the other way");
  rows.tf32_tile("[ISE] TMMULTF32PS: an FMA chain from +0 over k, then c; NaNs made quiet before low bits are cut");
  struct Fp8 {
    const char *tile, *outer, *a, *b;
  };
  static constexpr Fp8 fp8[] = {{"tdpbf8ps", "top4mxbf8ps", "e5m2", "e5m2"},
                                {"tdpbhf8ps", "top4mxbhf8ps", "e5m2", "e4m3"},
                                {"tdphbf8ps", "top4mxhbf8ps", "e4m3", "e5m2"},
                                {"tdphf8ps", "top4mxhf8ps", "e4m3", "e4m3"}};
  for (const Fp8& op : fp8) {
    rows.fp8_tile(op.tile, op.a, op.b,
                  "[ISE] TDPBF8PS and its relatives: products summed as integers, FTZ, DAZ of c; Bochs");
    rows.fp8_outer(op.outer, op.a, op.b,
                   "[ACE] 14.1.6 op4mxf8_subtile: products summed as integers, FTZ, DAZ of c; Bochs");
  }
  rows.bf16_outer("[ACE] 14.3.5 op2bf16_subtile, DAZ and FTZ; Bochs");
  rows.flushing_chain("dpph", "k2", "f32.f16.f16.f32", Subnormals::flushed_of_fp32,
                      "[ISE] VDPPHPS: element 2i + 1 first, each step to nearest even; fp32's subnormals are flushed");
  rows.flushing_chain("fma", "k1", "bf16.bf16.bf16.bf16", Subnormals::flushed_signed,
                      "[ISE] VFMADD213BF16: to nearest even, DAZ and FTZ");
  // VFMADD213 multiplies its second operand, b, by its first, a. ADDSS has c as its first operand.
  rows.fma_chain("x86", "fma", {"k1"}, "f32", "[SDM] VFMADD213SS", {NanFrom::b_a_c, default_nan_f32});
  rows.fma_chain("x86", "fma", {"k1"}, "f64", "[SDM] VFMADD213SD", {NanFrom::b_a_c, default_nan_f64});
  rows.fma_chain("x86", "fma", {"k1"}, "f16", "[SDM] VFMADD231SH", {NanFrom::a_b_c, default_nan_f16});
  rows.tree("mul_add", "k1", "f32", "[SDM] MULSS and ADDSS", {NanFrom::c_a_b, default_nan_f32});
  rows.tree("mul_add", "k1", "f64", "[SDM] MULSD and ADDSD", {NanFrom::c_a_b, default_nan_f64});
  rows.tree("dpps", "k4", "f32", "[SDM] DPPS, then ADDSS with c: (p0 + p1) + (p2 + p3)",
            {NanFrom::constant, default_nan_f32});
  return rows.take();
}

}  // namespace mmafuzz
