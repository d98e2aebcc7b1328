// Dot products of x86 processors, as published: chains and trees of IEEE operations. Sources: [SDM] Intel 64 and IA-32
// Architectures Software Developer's Manual, vol. 2; [AMD] AMD64 Architecture Programmer's Manual, vol. 4. NaN results
// carry the payload of an operand there, which one encoding cannot say: the rows hold for ops with nan=any.
#include "oracles/models/model_rows.h"

namespace mmafuzz {
namespace {

constexpr uint64_t default_nan_f32 = 0xffc00000;  // QNaN floating-point indefinite ([SDM] vol. 1, 4.8.3.7)

class X86Rows : public RowList {
 public:
  /// `block` products by IEEE multiplications, their pairwise sum, then c. One product: multiply, then add.
  void tree(const char* instruction, const char* shape, const std::string& type, int block, const char* source) {
    ModelRow row = start_row("x86", instruction, shape, type + "." + type + "." + type + "." + type);
    row.model.kernel = Kernel::ieee_tree;
    row.model.overflow = Overflow::by_rounding;
    row.model.block = block;
    row.model.output_rounding = Rounding::nearest_even;
    row.model.nan = row.op.d.fields().encode_nan();
    row.claims = claims_of({"monotone_in_addend", "monotone_in_c", "power_of_two_scaling", "product_value",
                            "product_value_and_exponent", "sign_symmetry", "split_k", "swap_operands", "zero_padding"});
    add(std::move(row), source);
  }

  /// VDPBF16PS: pairs, the odd element first; subnormal operands and results are zeros of their sign.
  void bf16_pairs(const char* source) {
    ModelRow row = start_row("x86", "dpbf16", "k2", "f32.bf16.bf16.f32");
    DotModel& m = row.model;
    m.kernel = Kernel::fma_chain;
    m.order = ProductOrder::swapped_pairs;
    m.output_rounding = Rounding::nearest_even;
    m.subnormals = Subnormals::flushed_signed;
    m.nan = default_nan_f32;
    row.claims = claims_of({"monotone_in_addend", "monotone_in_c", "sign_symmetry", "swap_operands"});
    add(std::move(row), source);
  }

  /// One element of a tile product: even and odd products in a chain each, the chains' sum, then c, all in fp32 without
  /// its subnormal numbers.
  void tile(const char* instruction, const std::string& type, const char* source) {
    ModelRow row = start_row("x86", instruction, "k32", "f32." + type + "." + type + ".f32");
    DotModel& m = row.model;
    m.kernel = Kernel::fma_then_add;
    m.block = m.k / 2;
    m.order = ProductOrder::interleaved;
    m.chain_join = ChainJoin::summed_first;
    m.output_rounding = Rounding::nearest_even;
    m.overflow = Overflow::by_rounding;
    m.subnormals = Subnormals::flushed_signed;
    m.nan = default_nan_f32;
    row.claims = claims_of({"monotone_in_addend", "monotone_in_c", "sign_symmetry", "swap_operands"});
    add(std::move(row), source);
  }
};

}  // namespace

std::vector<ModelRow> x86_rows() {
  X86Rows rows;
  rows.bf16_pairs("[SDM] VDPBF16PS: element 2i + 1 first, each step to nearest even, DAZ and FTZ; [AMD]");
  rows.tile("tdpbf16ps", "bf16", "[SDM] TDPBF16PS: two FMA chains from +0, their sum, then c; DAZ and FTZ");
  rows.tile("tdpfp16ps", "f16", "[SDM] TDPFP16PS: the same; fp16's subnormals are kept, fp32's flushed");
  for (const char* type : {"f32", "f64", "f16"})
    rows.fma_chain("x86", "fma", {"k1"}, type, type[1] == '1' ? "[SDM] VFMADD213SH" : "[SDM] VFMADD213SS, VFMADD213SD");
  for (const char* type : {"f32", "f64"}) rows.tree("mul_add", "k1", type, 1, "[SDM] MULSS and ADDSS, MULSD and ADDSD");
  rows.tree("dpps", "k4", "f32", 4, "[SDM] DPPS, then ADDSS with c: (p0 + p1) + (p2 + p3)");
  return rows.take();
}

}  // namespace mmafuzz
