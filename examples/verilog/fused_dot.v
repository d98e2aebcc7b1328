// A small fused dot-product unit: d = c + a[0]*b[0] + ... + a[3]*b[3], a and b in fp16, c and d in fp32.
//
// The addends are aligned to the greatest exponent among them, truncated (bits below 2^-24 of it are dropped), summed
// exactly, and the sum is rounded to fp32, to nearest even. Subnormals are kept. An infinity or NaN among the operands
// gives that infinity or 7fc00000; overflow gives infinity. An exact zero sum is +0.
/* verilator lint_off WIDTH */
module fused_dot (
    input  [63:0] a,
    input  [63:0] b,
    input  [31:0] c,
    output [31:0] d
);
  localparam FRACTION = 24;  // bits kept below the greatest exponent

  // Addend 0..3: products; 4: c.
  reg negative[0:4];
  reg [23:0] significand[0:4];  // of a product 2 bits before the point, of c one
  reg signed [10:0] exponent[0:4];
  reg any_nan, plus_infinity, minus_infinity;

  // An fp16 number apart.
  function [10:0] significand16(input [15:0] x);
    significand16 = {x[14:10] != 0, x[9:0]};
  endfunction
  function signed [10:0] exponent16(input [15:0] x);
    exponent16 = (x[14:10] == 0 ? 11'sd1 : $signed({6'b0, x[14:10]})) - 11'sd15;
  endfunction
  function is_infinite16(input [15:0] x);
    is_infinite16 = x[14:0] == 15'h7c00;
  endfunction
  function is_nan16(input [15:0] x);
    is_nan16 = x[14:0] > 15'h7c00;
  endfunction

  integer i;
  reg [15:0] x, y;
  reg special;
  reg signed [10:0] greatest, shift;
  reg [25:0] kept;           // 2 + FRACTION bits
  reg signed [30:0] sum;     // 5 addends: 3 more bits, and the sign
  reg [31:0] magnitude;
  reg sum_negative;
  integer leading;
  integer e;                 // exponent of the sum's leading bit
  integer drop;
  reg [24:0] rounded;
  reg guard, sticky;
  reg [31:0] result;
`ifdef PLANTED_RARE
  reg [3:0] alike;
`endif
  reg planted_bug;  // for tests: what lies below the guard bit is forgotten
  initial planted_bug = $test$plusargs("planted_bug") != 0;

  always @* begin
    any_nan = 0;
    plus_infinity = 0;
    minus_infinity = 0;
    for (i = 0; i < 4; i = i + 1) begin
      x = a[16*i+:16];
      y = b[16*i+:16];
      negative[i] = x[15] ^ y[15];
      significand[i] = {2'b0, significand16(x)} * {13'b0, significand16(y)} << 2;
      exponent[i] = exponent16(x) + exponent16(y);
      special = is_infinite16(x) | is_infinite16(y);
      if (is_nan16(x) | is_nan16(y) | (special & (x[14:0] == 0 | y[14:0] == 0))) any_nan = 1;
      else if (special & negative[i]) minus_infinity = 1;
      else if (special) plus_infinity = 1;
    end
    negative[4] = c[31];
    significand[4] = {c[30:23] != 0, c[22:0]};
    exponent[4] = (c[30:23] == 0 ? 11'sd1 : $signed({3'b0, c[30:23]})) - 11'sd127;
    if (c[30:0] > 31'h7f800000) any_nan = 1;
    else if (c[30:0] == 31'h7f800000 && c[31]) minus_infinity = 1;
    else if (c[30:0] == 31'h7f800000) plus_infinity = 1;

    // The greatest exponent of a nonzero addend.
    greatest = -11'sd512;
    for (i = 0; i < 5; i = i + 1)
      if (significand[i] != 0 && exponent[i] > greatest) greatest = exponent[i];

    // Align, truncate, add. A product has its point behind 2 of 24 bits, c behind 1: both get FRACTION bits behind it.
    sum = 0;
    for (i = 0; i < 5; i = i + 1) begin
      shift = greatest - exponent[i];
      kept = i == 4 ? {1'b0, significand[i], 1'b0} : {significand[i], 2'b0};
      kept = shift > 25 ? 26'd0 : kept >> shift[4:0];
      if (negative[i]) sum = sum - $signed({5'b0, kept});
      else sum = sum + $signed({5'b0, kept});
    end

`ifdef PLANTED_RARE  // for tests: a comparator finds one bit pattern in all four factors, and a unit is added to the sum
    for (i = 0; i < 4; i = i + 1) alike[i] = (i == 0 || alike[i-1]) && a[16*i+:5] == 5'd21 + i;
    if (alike[3]) sum = sum + 4;
`endif

    // Normalize and round once.
    sum_negative = sum < 0;
    magnitude = {1'b0, sum_negative ? -sum : sum};
    leading = 0;
    for (i = 0; i < 31; i = i + 1)
      if (magnitude[i]) leading = i;
    e = greatest + leading - FRACTION;
    // The last bit that fp32 keeps weighs 2^(e - 23), but no less than 2^-149.
    drop = leading - 23 + (e < -126 ? -126 - e : 0);
    if (drop > 32) drop = 32;
    rounded = drop < 0 ? magnitude[24:0] << -drop : magnitude >> drop;
    guard = drop > 0 && magnitude[drop-1];
    sticky = 0;
    for (i = 0; i < 32; i = i + 1)
      if (i < drop - 1 && magnitude[i]) sticky = 1;
    if (planted_bug) sticky = 0;
    if (guard && (sticky || rounded[0])) rounded = rounded + 1;
    if (rounded[24]) begin
      rounded = rounded >> 1;
      e = e + 1;
    end
    if (e < -126) e = -126;

    if (any_nan | (plus_infinity & minus_infinity)) result = 32'h7fc00000;
    else if (plus_infinity) result = 32'h7f800000;
    else if (minus_infinity) result = 32'hff800000;
    else if (magnitude == 0) result = 32'h0;
    else if (e > 127) result = {sum_negative, 31'h7f800000};
    else if (rounded[23]) result = {sum_negative, e[7:0] + 8'd127, rounded[22:0]};
    else result = {sum_negative, 8'b0, rounded[22:0]};  // subnormal
  end
  assign d = result;
endmodule
