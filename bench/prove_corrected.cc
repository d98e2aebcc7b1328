#include "bench/prove_tables.h"

#include <fmt/core.h>

#include "prove/inquiry.h"

namespace mmafuzz {
namespace {

struct ProvenDuel {
  const char* dots;  ///< name of the row that computes the dots
  int unit_k, k;     ///< products of one dot of the unit, and of the whole product
  const char* domain;
  prove::Outcome expected;
};

constexpr const char *volta_row = "volta/mma.m8n8k4.f32.f16.f16.f32",
                     *ampere_row = "ampere/mma.m16n8k16.f32.f16.f16.f32",
                     *hopper_row = "hopper/mma.m16n8k16.f32.f16.f16.f32";
constexpr auto proven = prove::Outcome::proven, loses = prove::Outcome::witness;

/// The first is the query of Valpey et al. (section 6, table 5).
constexpr ProvenDuel duels[] = {
    {volta_row, 4, 4, "exponents=-15..14", loses},     {volta_row, 4, 1, "exponents=-15..14", loses},
    {volta_row, 4, 1, "exponents=-15..14,c=0", loses}, {volta_row, 4, 1, "factors=fp16", proven},
    {volta_row, 4, 2, "factors=fp16", loses},          {volta_row, 4, 4, "factors=fp16,c=0", proven},
    {volta_row, 4, 5, "factors=fp16,c=0", loses},      {ampere_row, 16, 1, "factors=fp16", proven},
    {ampere_row, 16, 2, "factors=fp16", loses},        {ampere_row, 16, 8, "factors=fp16,c=0", proven},
    {hopper_row, 16, 1, "factors=fp16", proven},       {hopper_row, 16, 2, "factors=fp16", loses},
    {hopper_row, 16, 16, "factors=fp16,c=0", proven},
};

}  // namespace

bool print_corrected_products(prove::Solvers& solvers, double seconds) {
  fmt::print("| dots of | k | domain | Ootomo-Yokota against Markidis | s | by |\n|---|---|---|---|---|---|\n");
  bool as_expected = true;
  for (const ProvenDuel& d : duels) {
    prove::InquiryOptions options;
    options.op = fmt::format("gemm a=fp32 b=fp32 c=fp32 d=fp32 m=1 n=1 k={}", d.k);
    options.domain = d.domain;
    options.proof.seconds = seconds;
    const auto unit = [&](const char* method) {
      return fmt::format("split:{}.fp16?unit_k={},on=model:{}", method, d.unit_k, d.dots);
    };
    const prove::Reply r = prove::ask_nearer(solvers, unit("ootomo"), unit("markidis"), options);
    as_expected &= r.proof.outcome == d.expected;
    const char* verdict = r.proof.outcome == proven  ? "never farther: proven"
                          : r.proof.outcome == loses ? "loses: a witness"
                                                     : "unknown";
    fmt::print("| `{}` | {} | `{}` | {} | {:.1f} | {} |\n", d.dots, d.k, d.domain, verdict, r.proof.seconds,
               r.proof.steps.empty() ? "" : r.proof.steps.back().solver);
    std::fflush(stdout);
  }
  return as_expected;
}

}  // namespace mmafuzz
