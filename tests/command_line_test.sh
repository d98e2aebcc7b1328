#!/bin/bash
# Everything that a user types, as a user types it: exit codes, messages, what goes to which stream.
# MMAFUZZ names the binary. Prints each expectation that fails; ends with "N passed, N failed", exit code 1 if any failed.
set -u

: "${MMAFUZZ:?set MMAFUZZ to the mmafuzz binary}"
MMAFUZZ=$(realpath "$MMAFUZZ")
work=$(mktemp -d "${TMPDIR:-/tmp}/command_line_test-XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export TMPDIR="$work"

passed=0
failed=0
command=""
code=0

# expect DESCRIPTION CONDITION...: counts one expectation about the last run.
expect() {
  local what=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAILED: %s\n  command: %s\n  exit code %s\n  stdout: %s\n  stderr: %s\n' "$what" "$command" "$code" \
      "$(head -c 600 out)" "$(head -c 600 err)"
  fi
}

run() {
  command="mmafuzz $*"
  "$MMAFUZZ" "$@" >out 2>err </dev/null
  code=$?
}

# run_with INPUT ARGUMENTS...: the same, with a file as standard input.
run_with() {
  local input=$1
  shift
  command="mmafuzz $* < $input"
  "$MMAFUZZ" "$@" >out 2>err <"$input"
  code=$?
}

is_empty() { [ ! -s "$1" ]; }
has() { grep -qF -- "$2" "$1"; }
lacks() { ! has "$@"; }
last_line_is() { [ "$(tail -n 1 "$1")" = "$2" ]; }
one_message() { [ "$(wc -l <err)" -eq 1 ] && [[ "$(head -n 1 err)" == "mmafuzz: "* ]]; }
is_json() { python3 -m json.tool "$1" >/dev/null 2>&1; }
ends_with() { [ "$code" -eq "$1" ]; }
temporary_files() { find /tmp "$work" -maxdepth 1 -name "mmafuzz-case-*" 2>/dev/null | sort -u; }
differ() { ! cmp -s "$1" "$2"; }
only_progress() { ! grep -qvE '^mmafuzz: .* cases' "$1"; }

# good ARGUMENTS...: exit code 0 and nothing on standard error.
good() {
  run "$@"
  expect "exit code 0" ends_with 0
  expect "nothing on standard error" is_empty err
}

# bad TEXT ARGUMENTS...: exit code 2 and one line on standard error that holds TEXT.
bad() {
  local text=$1
  shift
  run "$@"
  expect "exit code 2" ends_with 2
  expect "one line on standard error that starts with 'mmafuzz: '" one_message
  expect "the message holds '$text'" has err "$text"
}

# bad_call TEXT ARGUMENTS...: the same, and nothing on standard output.
bad_call() {
  bad "$@"
  expect "nothing on standard output" is_empty out
}

hopper=model:hopper/mma.m16n8k16.f32.f16.f16.f32
volta=model:volta/mma.m8n8k4.f32.f16.f16.f32
dot2='dot a=fp16 b=fp16 c=fp32 d=fp32 k=2'
dot16='dot a=fp16 b=fp16 c=fp32 d=fp32 k=16'

cat >good.cases <<EOF
mmafuzz-cases 1
# 1*1 + 2*2 is 5; 1 + 1.5 * 2^-24 is 1 where the result is truncated, the next number where it is rounded
unit $hopper
op $dot2
3c00 4000 | 3c00 4000 | 00000000 | 40a00000
0001 0000 | 3e00 0000 | 3f800000 | 3f800000
EOF
sed 's/40a00000$/40a00001/' good.cases >wrong.cases
sed '/^unit/d' good.cases >unitless.cases
sed -E 's/ [|] (40a00000|3f800000)$//' good.cases >inputs.cases
cat >broken.cases <<EOF
mmafuzz-cases 1
unit $hopper
op $dot2
3c00 4000 | 3c00 4000 | 00000000 | 40a00000
3c00 4000 | 3C00 4000 | 00000000 | 40a00000
EOF
cat >scalar.cases <<EOF
mmafuzz-cases 1
op scalar fma format=fp32 round=nearest_even
3f800001 3f800001 bf800002 | 28800000
op convert from=fp32 to=fp16 round=nearest_even
3f800000 | 3c00 | 00
3f801fff | 3c01 | 01
EOF
gzip -k good.cases

# ---- the command itself ----
good --help
expect "help names the exit codes" has out "Exit codes: 0"
good --version
expect "a version" has out "mmafuzz "
bad_call "subcommand is required"
bad_call "frobnicate" frobnicate
bad_call "--no-such-option" list --no-such-option
for subcommand in list eval check convert serve explain fuzz bench "bench bounds" "bench discriminate" "bench exhaustive" "bench gemm" "bench neighbours" "bench search" "bench ozaki" "bench ozaki-accuracy" "bench ozaki-estimate" "bench ozaki-widths" "bench rate" "bench split"; do
  # shellcheck disable=SC2086
  good $subcommand --help
  expect "help of $subcommand has an example" has out "Example"
done

# ---- list ----
good list
expect "models are listed" has out "$hopper"
expect "exact is listed" has out "exact"
good list units
good list --units 'model:volta/*'
expect "the pattern chooses" has out "$volta"
expect "the pattern leaves out" eval '! grep -q hopper out'
good list -v --units "$hopper"
expect "sources are shown" has out "source:"
good list --json
expect "list --json is JSON" is_json out
expect "it holds the models" has out "\"$hopper\""
good list h100 WGMMA fp8
expect "units by words: a GPU, an instruction, a format" [ "$(wc -l <out)" -eq "$(grep -c 'wgmma.*e[45]m[23].e[45]m[23]' out)" ]
expect "of that GPU" has out "model:hopper/wgmma.m64n8k32.f32.e4m3.e5m2.f32"
good list blackwell fp4
expect "fp4 is e2m1 or a kind of its own" [ "$(grep -vc 'e2m1\|mxf4\|scaled' out)" -eq 0 ]
bad "no unit matches 'nosuch'" list nosuch
bad "list formats takes nothing else" list formats --json
bad "list gpus takes nothing else" list gpus fp4
good list formats
expect "formats are listed" has out "cfloat8_1_4_3:0"
good list formats 0.1
expect "a number is listed in each format" [ "$(wc -l <out)" -eq "$("$MMAFUZZ" list formats | wc -l)" ]
expect "with what it becomes" has out "fp16             2e66  0x1.998p-4 = 0.0999755859, rounded"
expect "or why there is none" has out "s8               none: it holds whole numbers"
good list formats fp16:2e66
expect "an encoding is a number" has out "fp32             3dccc000  0x1.998p-4 = 0.0999755859"
good list formats u64:ffffffffffffffff
expect "64 bits are read exactly" has out "u64              ffffffffffffffff"
bad_call "unknown format 'fp17'" list formats fp17:0
bad_call "an encoding of fp16 has 4 hex digits" list formats fp16:0
bad_call "'ten' is a number of no format" list formats ten
good list properties
expect "properties are listed" has out "equals_model"
good list parameters
expect "parameters are listed" has out "fraction_bits"
bad_call "no unit matches 'model:nothing*'" list --units 'model:nothing*'
bad_call "colours" list colours

# ---- eval ----
good eval --unit "$hopper" inputs.cases
expect "it starts with the header" eval '[ "$(head -n 1 out)" = "mmafuzz-cases 1" ]'
expect "results stand last" has out "3c00 4000 | 3c00 4000 | 00000000 | 40a00000"
expect "the model truncates its result" has out "0001 0000 | 3e00 0000 | 3f800000 | 3f800000"
cp out evaluated.cases
good check evaluated.cases
expect "what eval prints is checked without mismatches" last_line_is out "2 cases, 0 mismatches"
good eval good.cases
expect "the unit line picks the unit" has out "unit $hopper"
good eval --unit ieee:serial inputs.cases
cp out serial.cases
good check --unit ieee:serial serial.cases
expect "any unit's results are readable" last_line_is out "2 cases, 0 mismatches"
good eval scalar.cases
expect "flags are printed" has out "3f801fff | 3c01 | 01"
cp out flags.cases
good check flags.cases
expect "flags are compared" last_line_is out "3 cases, 0 mismatches"
good eval --unit "$hopper" inputs.cases -o written.cases.gz
expect "nothing on standard output" is_empty out
good check written.cases.gz
expect "a gzipped file is readable" last_line_is out "2 cases, 0 mismatches"
good eval --unit "$hopper?fraction_bits=9,block=4" inputs.cases
expect "the name keeps its overrides" has out "unit $hopper?fraction_bits=9,block=4"
run_with inputs.cases eval --unit "$hopper" -
expect "exit code 0" ends_with 0
expect "- is standard input" cmp -s out evaluated.cases

bad "none.cases: cannot open: No such file" eval --unit exact none.cases
bad "$work: is a folder" eval --unit exact "$work"
bad "broken.cases:5:13: field b: expected 4 lower-case hex digits of fp16, found '3C00'" eval broken.cases
expect "what stands before a malformed line is printed" has out "3c00 4000 | 3c00 4000 | 00000000 | 40a00000"
bad "broken.cases:5:13" eval broken.cases -o broken.out
expect "a file is written whole or not at all" [ ! -e broken.out ]
bad_call "unknown unit 'exakt'" eval --unit exakt inputs.cases -o -
good eval --unit "$hopper" inputs.cases --json
expect "the results as JSON" is_json out
bad_call "--output is for case text; --json prints" eval --unit "$hopper" inputs.cases --json -o x.json
bad "unknown unit 'model:hoper/mma.m16n8k16.f32.f16.f16.f32'; nearest: $hopper" eval --unit model:hoper/mma.m16n8k16.f32.f16.f16.f32 good.cases
bad "unitless.cases:" eval unitless.cases
expect "and says what to do" has err "--unit"
bad "good.cases:5:1: unit ieee declines: ieee evaluates scalar operations and conversions" eval --unit ieee good.cases
bad "declines: hopper/mma.m16n8k16.f32.bf16.bf16.f32 takes 'op dot a=bf16 b=bf16 c=fp32 d=fp32 k=16'" \
  eval --unit model:hopper/mma.m16n8k16.f32.bf16.bf16.f32 good.cases
bad "parameter fraction_bits takes 0 to 45, not '99'" eval --unit "$hopper?fraction_bits=99" good.cases
bad "parameter output_rounding takes nearest_even | toward_zero | up | down | nearest_away | odd, not 'sideways'" \
  eval --unit "$hopper?output_rounding=sideways" good.cases
bad "unknown parameter 'fraction_bitz'; known: " eval --unit "$hopper?fraction_bitz=24" good.cases
bad "exact has no parameters" eval --unit "exact?fraction_bits=24" good.cases
bad "cannot load plugin: /nowhere/none.so" eval --unit plugin:/nowhere/none.so good.cases
bad "/nowhere/none.cases: cannot open" eval --unit recorded:/nowhere/none.cases good.cases
bad_call "/nowhere/out.cases: cannot write" eval --unit exact good.cases -o /nowhere/out.cases
bad_call "eval needs case files, or --op and --case" eval --unit exact
good eval exact ieee:fma --op "$dot2" --case '1.5 0.1 | 2 3 | 0'
expect "what was rounded is said" has out "a: 0.1 is rounded to fp16 2e66 = 0.0999755859"
expect "the case is said in encodings" has out "3e00 2e66 | 4000 4200 | 00000000"
expect "each unit's result" has out "  ieee:fma  40533200  0x1.a664p+1 = 3.29992676"
good eval --unit ieee --op 'scalar sqrt format=fp16' --case 2.
expect "flags are said" has out "flags inexact"
bad_call "--case needs --op" eval exact --case '1.5 0.1 | 2 3 | 0'
bad_call "eval --case needs a unit" eval --op "$dot2" --case '1.5 0.1 | 2 3 | 0'
bad_call "--op needs --case" eval --op "$dot2"
bad_call "'1000' could be a number or an encoding" eval exact --op "$dot2" --case '1.5 1000 | 2 3 | 0'
bad "--case: column 6: field a: expected 2 encodings, found 1" eval exact --op "$dot2" --case '1.5 | 2 3 | 0'
bad_call "takes matrix products without alpha and beta" eval "$hopper" --op 'gemm a=fp16 b=fp16 c=fp32 d=fp32 m=1 n=1 k=1 alpha=40000000' --case '1. | 1. | 0'
good eval "$hopper" --op 'gemm a=fp16 b=fp16 c=fp32 d=fp32 m=2 n=1 k=2' --case '1. 2. 3. 4. | 5. 6. | 0 1'
expect "a model's matrix product: 1*5 + 2*6" has out "0x1.1p+4 = 17"
expect "and 3*5 + 4*6 + 1" has out "0x1.4p+5 = 40"

bad_call "h100 is a unit: with case files it is --unit h100" eval h100 good.cases
for call in "eval --unit" "check --unit"; do
  bad_call "mmafuzz: unknown unit 'h10'; nearest: h100" $call h10 good.cases
  bad_call "mmafuzz: unit $hopper?block=999: parameter block" $call "$hopper?block=999" good.cases
  bad_call "mmafuzz: unit 'plugin:$work': '$work' is a folder; a plugin is a shared library" $call "plugin:$work" good.cases
  bad_call "good.cases:5:1: no unit of mi300x/wgmma takes" $call mi300x/wgmma good.cases
done

# ---- convert ----
cat >product.cases <<'END'
mmafuzz-cases 1
op gemm a=fp16 b=fp16 c=fp32 d=fp32 m=2 n=1 k=1
3c00 4000 | 3c00 | 00000000 00000000 | 3f800000 40000000
END
good convert product.cases -o product.npz
good convert product.cases -o product.npy
python3 -c 'import zipfile; zipfile.ZipFile("product.npz").extractall(members=["a.npy", "b.npy"])'
good convert a.npy b.npy product.npy -o third.cases
expect "it says what was taken as what" has out "1 case in third.cases: a from a.npy, b from b.npy, c from product.npy"
good accuracy a.npy b.npy exact scaled:mxfp4
expect "each unit's error, and of a recipe the steps" [ "$(grep -c ' of the error' out)" -eq 4 ]
good accuracy a.npy b.npy --within 1e-3 ozaki2:dgemm.s8 ozaki:dgemm.fp16 ozaki:dgemm.cublas
expect "the fewest moduli and slices" has out "ozaki2:dgemm.s8?moduli="
expect "and what they cost" has out "products of narrow matrices"
run accuracy a.npy b.npy --within 1e-30 'ozaki:dgemm.fp16?slices=1,fast=1'
expect "or the number that the name says" has out "ozaki:dgemm.fp16?slices=1,fast=1"
bad_call "--within" accuracy a.npy b.npy --within 0 exact
bad_call "--within takes a positive number, fp64 or fp32, not 'fp16'" accuracy a.npy b.npy --within fp16 exact
good accuracy a.npy b.npy --for h100 --within fp32 --componentwise
expect "a GPU's schemes" [ "$(grep -c 'on=model:hopper/wgmma\|on=integer' out)" -eq 8 ]
expect "what is wished for" has out "as a chain of fused multiply-adds in fp32 errs"
good accuracy a.npy b.npy --for w7900
expect "what its units cannot do" has out "left out: model:rdna3/wmma.16x16x16.f32.f16.f16.f32 sums no integers without error"
bad_call "no rows describe the GPU" accuracy a.npy b.npy --for h1000
bad_call "accuracy needs units, or --for" accuracy a.npy b.npy
bad_call "--componentwise is of what" accuracy a.npy b.npy exact --componentwise
bad_call "units excludes --for" accuracy a.npy b.npy exact --for h100
bad_call "accuracy is of matrix products" accuracy a.npy b.npy exact --op 'dot a=fp16 b=fp16 c=fp32 d=fp32 k=1'
bad_call "nosuch.npy: cannot open" accuracy nosuch.npy b.npy exact
bad_call "promote= is a multiple of unit_k=32" accuracy a.npy b.npy 'scaled:fp8.tile?promote=7'
bad_call "no unit of v100 takes 'op dot a=e4m3" accuracy a.npy b.npy 'scaled:fp8.tile?on=v100'
bad_call "has no alpha and beta" eval 'scaled:mxfp4' --op 'gemm a=fp16 b=fp16 c=fp32 d=fp32 m=1 n=1 k=1 alpha=3f800000' --case '1. | 1. | 0.'
printf 'mmafuzz-cases 1\nop gemm a=fp32 b=fp32 c=fp32 d=fp32 m=2 n=1 k=1\n%s\n%s\n' \
  '49742400 40400000 | 49742400 | 00000000 00000000' '40400000 7f800000 | 7f800000 | 00000000 00000000' >edges.cases
for line in 3 4; do
  sed "1,2p; ${line}!d" edges.cases >edge.cases
  "$MMAFUZZ" convert edge.cases -o edge.npz >/dev/null 2>&1
  python3 -c 'import zipfile; zipfile.ZipFile("edge.npz").extractall(members=["a.npy", "b.npy"])'
  if [ "$line" -eq 3 ]; then
    run accuracy a.npy b.npy 'split:markidis.fp16' --within 1e-3
    expect "what the unit alone loses is not good enough" ends_with 1
    expect "and is counted" has out "2 of 2 elements are left out: 0 not finite exactly, 2 in the result alone"
  else
    bad "no element of the exact product is finite" accuracy a.npy b.npy exact
  fi
done
bad_call "most= and offset= are of bits=auto" eval 'ozaki:dgemm.cublas?bits=20,most=1' --op 'gemm a=fp64 b=fp64 c=fp64 d=fp64 m=1 n=1 k=1' --case '1. | 1. | 0.'
bad_call "skip_slice= is one of the slices, 1 to 3" eval 'ozaki:dgemm.s8?slices=3,skip_slice=4' --op 'gemm a=fp64 b=fp64 c=fp64 d=fp64 m=1 n=1 k=1' --case '1. | 1. | 0.'
bad_call "slices= is given twice" eval 'ozaki:dgemm.s8?slices=1,slices=3' --op 'gemm a=fp64 b=fp64 c=fp64 d=fp64 m=1 n=1 k=1' --case '1. | 1. | 0.'
python3 -c 'import zipfile; zipfile.ZipFile("product.npz").extractall(members=["a.npy", "b.npy"])'
good convert a.npy b.npy -o alone.cases
expect "and what was not given" has out "1 case in alone.cases: a from a.npy, b from b.npy, c 0"
bad_call "--unit says who gave the results; here are none" convert a.npy b.npy -o x.cases --unit exact
bad_call "in one line" convert a.npy b.npy -o x.cases --unit $'exact\nop foo'
bad_call "x.npz: arrays are made of one case file; cases of arrays go to a .cases file" convert a.npy b.npy -o x.npz
bad_call "b.npy, (1, 1), holds 1 case of 'op dot a=fp16 b=fp16 c=fp32 d=fp32 k=1', and a.npy, (2, 1), 2" convert a.npy b.npy --op 'dot a=fp16 b=fp16 c=fp32 d=fp32' -o x.cases
good convert a.npy b.npy --results product.npy -o named.cases
expect "results without c" has out "1 case in named.cases: a from a.npy, b from b.npy, c 0, d from product.npy"
expect "the product came back" cmp -s product.cases named.cases
bad_call "--results goes with .npy files" convert product.npz --results product.npy -o x.cases
good convert good.cases -o good.npz
good convert good.npz -o again.cases --op "$dot2" --unit "$hopper"
expect "arrays come back as they went" cmp <(grep -v '^#' again.cases | sed 's/ round=nearest_even//') <(grep -v '^#' good.cases)
cat >codes.cases <<EOF
mmafuzz-cases 1
op dequantize from=e2m1 to=fp32 block=2 scale=e4m3 tensor=fp32 round=nearest_even nan=any
1 2 | 38 | 3f800000 | 3f000000 3f800000
EOF
good convert codes.cases -o codes.npz
good convert codes.npz -o codes_again.cases --op "$(sed -n 's/^op //p' codes.cases)"
expect "codes and scales come back as they went" cmp <(grep -v "^#" codes_again.cases) codes.cases
good convert good.cases -o results.npy
bad_call "not every case has a result" convert inputs.cases -o results.npy
bad_call "results.npy has shape (2,); a of" convert results.npy results.npy results.npy -o x.cases --op "dot a=fp32 b=fp32 c=fp32 d=fp32 k=3"
bad_call "is no .npy file" convert good.cases good.cases good.cases -o x.cases --op "$dot2"
good convert good.npz -o untold.cases --unit "$hopper"
expect "types and shapes tell the op" cmp untold.cases again.cases
bad_call "NumPy's float16 is fp16" convert good.npz -o x.cases --op 'dot a=float16 b=fp16 c=fp32 d=fp32'
bad_call "/nowhere/a.npy: cannot open" convert /nowhere/a.npy -o x.cases --op "$dot2"
head -c 300 good.npz >cut.npz
bad_call "cut.npz: is no .npz file, or is truncated" convert cut.npz -o x.cases --op "$dot2"
printf '3F800000 33800000 3F800000 01\r\n\n7F800000 FF800000 FFC00000 10\n' >testfloat.txt
good convert --from testfloat --function f32_add testfloat.txt -o testfloat.cases
good check testfloat.cases
expect "both lines were compared" has out "2 cases, 0 mismatches"
quantize='op quantize from=fp32 to=e2m1 block=2 scale=e8m0 special=nan_scale'
printf '%s\n' 'mmafuzz-cases 1' "$quantize" '7fc00000 3f800000 | ff 1 2' >nan_scale.cases
run check nan_scale.cases
expect "codes under a NaN differ" ends_with 1
sed -i 's/nan_scale$/& nan=any/' nan_scale.cases
good check nan_scale.cases
bad_call "--from testfloat needs --function" convert --from testfloat testfloat.txt -o x.cases
bad "testfloat.txt:1: expected 3 operands, a result and flags of f32_mulAdd" convert --from testfloat --function f32_mulAdd testfloat.txt -o x.cases
printf '3C00 3C00 4000 00\n3C00 3G00 4000 00\n' >wrong.txt
bad "wrong.txt:2: field operands: expected 4 lower-case hex digits of fp16, found '3g00'" convert --from testfloat --function f16_add wrong.txt -o x.cases
: >empty.txt
bad "empty.txt: no case" convert --from testfloat --function f16_add empty.txt -o x.cases
bad "$work: is a folder" convert --from testfloat --function f16_add "$work" -o x.cases
bad "$work: is a folder" convert "$work" "$work" "$work" -o x.cases --op "$dot2"
{ printf '\x93NUMPY\x01\x00\x76\x00'; printf '%-117s\n' "{'descr': '<f2', 'fortran_order': False, 'shape': (0, 2)}"; } >empty.npy
{ printf '\x93NUMPY\x01\x00\x76\x00'; printf '%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (0,)}"; } >empty_c.npy
bad "empty.npy: no case: the arrays are empty" convert empty.npy empty.npy empty_c.npy -o x.cases --op "$dot2"
bad_call "TestFloat's function 'f128_add': mmafuzz has no f128" convert --from testfloat --function f128_add testfloat.txt -o x.cases
bad_call "TestFloat's function 'f80_add': it is not known; known are F_to_F" convert --from testfloat --function f80_add testfloat.txt -o x.cases

# ---- what people type ----
bad "unknown unit 'mi300'; nearest: mi300a, mi300x" eval mi300 --op "$dot2" --case '1. 2. | 2. 3. | 0.'
bad_call "--line is a line of a file" explain --op "$dot2" --case '1. 2. | 2. 3. | 0.' --units "$hopper" --line 3
bad_call "give a case file or --case, not both" explain --op "$dot2" --case '1. 2. | 2. 3. | 0.' --units "$hopper" good.cases
bad "unknown property 'nonsense'; known: equal, equals_model, " minimize --property nonsense --units exact good.cases
bad_call "--show needs the id of a bucket" findings none.store --show ''

# ---- typed cases that hold too much or nothing ----
d='dot a=fp16 b=fp16 c=fp32 d=fp32 k=2'
bad "holds no number" eval exact --op "$d" --case ''
bad "a case holds no result" eval exact --op "$d" --case '1. 2. | 3. 4. | 0. | 99.'
bad "output is for the cases of files" eval exact --op "$d" --case '1. 2. | 3. 4. | 0.' -o typed.cases
bad "have no walks" list walks gemm a=fp32 b=fp32 c=fp32 d=fp32 m=2 n=2 k=2
good list walks dot a=fp16 b=fp16 c=fp32 d=fp32 k=4
expect "a length for each sweep" has out "alignments of three"
good explain good.cases --line 5 --line 5
good eval h100 --op 'gemm a=fp16 b=fp16 c=fp32 d=fp32 m=1 n=1 k=4' --case '1. 2. 3. 4. | 1. 1. 1. 1. | 0.'
expect "a GPU takes a matrix product" has out "= 10"

# ---- processes ----
good eval --unit "process:$MMAFUZZ serve exact" inputs.cases
expect "a served unit answers" has out "| 40a00000"
cat > claims.py <<'END'
import sys
for line in sys.stdin:
    word = line.split()[0]
    print("mmafuzz-process 1 text x" if word == "mmafuzz-process" else "yes equals ieeee", flush=True)
END
bad "claims to equal 'ieeee': unknown unit" fuzz --op 'scalar add format=fp32' --units 'process:python3 claims.py,ieee' --cases 10
bad "cannot run /nowhere/unit: No such file or directory" eval --unit process:/nowhere/unit inputs.cases
bad "closed the connection (it exited with code 0)" eval --unit process:true inputs.cases
trap '' CHLD  # ignored here and in what this shell starts: mmafuzz learns how its children end nevertheless
bad "closed the connection (it exited with code 1)" eval --unit process:false inputs.cases
trap - CHLD
bad "where 'mmafuzz-process 1 text NAME' was expected" eval --unit process:yes inputs.cases
bad_call "unknown unit 'nonesuch'" serve nonesuch
printf 'hello\n' >hello.txt
status_of_serve() { "$MMAFUZZ" serve exact <hello.txt >out 2>err; [ $? -eq 2 ]; }
expect "a request that is none ends a served unit" status_of_serve
expect "at once, though more may come" [ "$( (printf 'hello\n'; sleep 20) | timeout 10 "$MMAFUZZ" serve exact 2>&1 | wc -l)" -eq 1 ]
printf 'op scalar add format=fp32\nbatch 1 8\n\0\0\200?\0\0\200?' >hello.txt
expect "the layout of a batch may be left out" [ "$("$MMAFUZZ" serve exact <hello.txt 2>/dev/null | grep -a -c '^results 1')" -eq 1 ]
printf 'op\n' >hello.txt
expect "an op without words is declined" [ "$("$MMAFUZZ" serve exact <hello.txt 2>/dev/null | cut -d ' ' -f 1)" = no ]
printf 'op dot a=fp16 b=fp16 c=fp32 d=fp32 k=1\nbatch x y\n' >hello.txt
expect "numbers of a batch are numbers" status_of_serve
run list --units 'cuda:*'
if grep -q "not here" out; then
  reason=$(sed -n 's/.*(not here: \(.*\))$/\1/p' out | head -n 1)
  bad "$reason" eval --unit cuda:mma.m16n8k16.f32.f16.f16.f32 good.cases
fi
cp good.cases same.cases
run eval same.cases -o same.cases
expect "an output that is also an input does not destroy it" has same.cases "3c00 4000 | 3c00 4000 | 00000000 | 40a00000"
# ---- outputs that are not simply files ----
"$MMAFUZZ" eval --unit exact good.cases >expected
for command in "eval --unit exact good.cases -o /dev/stdout" "eval --unit exact good.cases -o /dev/fd/1" \
  "eval --unit exact good.cases -o /proc/thread-self/fd/1"; do
  echo "what stood there" >log
  "$MMAFUZZ" $command >>log 2>err
  code=$?
  expect "what stands in the file stays" [ "$(head -1 log)" = "what stood there" -a "$code" -eq 0 ]
  expect "and the output follows" cmp -s <(tail -n +2 log) expected
done
bad "/dev/fd/1x: cannot be written" eval --unit exact good.cases -o /dev/fd/1x
expect "nothing on standard output" is_empty out
for command in "eval --unit exact" "minimize --units exact,model:volta/mma.m8n8k4.f32.f16.f16.f32"; do
  bad "the name of the output is empty" $command good.cases -o ""
  expect "nothing on standard output" is_empty out
done
run minimize --json --units exact,model:volta/mma.m8n8k4.f32.f16.f16.f32 good.cases -o /dev/stdout
expect "with --json standard output is one object" python3 -c 'import json; json.load(open("out"))'
mkdir elsewhere
ln -s elsewhere/cases.cases link.cases
run eval --unit exact good.cases -o link.cases
expect "a link stays a link" [ -L link.cases ]
expect "and what it names is new" cmp -s elsewhere/cases.cases expected
odd=$(printf 'caf\351.cases')  # Latin-1
cp wrong.cases "$odd"
run check --json --unit exact "$odd"
expect "a name that is no UTF-8 does not hide a mismatch" [ "$code" -eq 1 ]
expect "and the JSON is JSON" python3 -c 'import json; assert json.load(open("out"))["list"][0]["file"] == "caf\ufffd.cases"'
bad "must be UTF-8" campaign --cases 64 --engines "$(printf 'caf\351')" --out odd

if [ -w /dev/full ]; then
  command="mmafuzz eval good.cases > /dev/full"
  "$MMAFUZZ" eval good.cases >/dev/full 2>err
  code=$?
  expect "a full disk is exit code 2" ends_with 2
  command="mmafuzz --version > /dev/full"
  "$MMAFUZZ" --version >/dev/full 2>err
  code=$?
  expect "of a version, too" ends_with 2
  command="mmafuzz check good.cases > /dev/full"
  "$MMAFUZZ" check good.cases >/dev/full 2>err
  code=$?
  expect "a full disk is exit code 2" ends_with 2
fi

command="mmafuzz campaign -v >&-"
"$MMAFUZZ" campaign --cases 500 --targets dot_models --with batch --no-triage -v --out unheard >&- 2>err
code=$?
expect "a closed standard output is exit code 2" ends_with 2
expect "and what it would say goes to no file" [ ! -s unheard/lock ]

# ---- sweep and record ----
run sweep --unit "$hopper?fraction_bits=24" --seed 1 --cases 20000 -o found.cases
expect "a mutant diverges: exit code 1" ends_with 1
expect "and each divergence is seen again" has out "(0 of them unstable)"
expect "with its case" has out "divergence: op dot a=fp16 b=fp16 c=fp32 d=fp32 k=16"
run check --unit "$hopper?fraction_bits=24" found.cases
expect "found cases hold the mutant's results" ends_with 0
good sweep --unit "$hopper" --seed 1 --cases 5000 --json
expect "--json prints JSON" is_json out
expect "a model does not differ from itself" has out '"divergent": 0'
bad_call "give --cases or --time" sweep --unit "$hopper"
bad_call "sweep takes a cuda: unit or a model: row, not 'exact'" sweep --unit exact --cases 10
good record --unit "$hopper" good.cases -o recorded.cases
expect "a recording names its unit" has recorded.cases "unit $hopper"
expect "and its day" has recorded.cases "# recorded 20"
good check --unit "$hopper" recorded.cases
bad_call "nothing was recorded" record --unit model:hopper/mma.m16n8k16.f32.bf16.bf16.f32 good.cases

# ---- check ----
good check good.cases
expect "it ends with the counts" last_line_is out "2 cases, 0 mismatches"
good check good.cases good.cases.gz scalar.cases
expect "files add up; gzip is read" last_line_is out "7 cases, 0 mismatches"
run check wrong.cases
expect "a mismatch is exit code 1" ends_with 1
expect "it is printed with file, line and both results" has out "wrong.cases:5: expected 40a00001, $hopper gives 40a00000"
expect "it ends with the counts" last_line_is out "2 cases, 1 mismatch"
expect "nothing on standard error" is_empty err
run check --unit exact good.cases
expect "another unit, another result" ends_with 1
expect "exact rounds once" has out "good.cases:6: expected 3f800000, exact gives 3f800001"
run check --json wrong.cases
expect "exit code 1" ends_with 1
expect "check --json is JSON" is_json out
expect "it counts" has out '"mismatches": 1'
expect "it has the line" has out '"line": 5'
good check --json good.cases
expect "check --json is JSON" is_json out
run_with good.cases check -
expect "- is standard input" last_line_is out "2 cases, 0 mismatches"
run_with good.cases.gz check -
expect "also gzipped" last_line_is out "2 cases, 0 mismatches"
sed 's/3c01 | 01/3c01 | 00/' scalar.cases >flags_wrong.cases
run check flags_wrong.cases
expect "a wrong flag is exit code 1" ends_with 1
expect "the flags are shown" has out "flags_wrong.cases:6: expected 3c01 flags 00, ieee gives 3c01 flags 01"
sed "s|^unit .*|unit nvidia.h100/wmma.fp32.fp16|" good.cases >provenance.cases
good check provenance.cases
expect "a recording's line picks the model that claims to describe it" last_line_is out "2 cases, 0 mismatches"

bad "nothing was compared" check inputs.cases
bad "nothing was compared" check --unit "recorded:good.cases" <(sed 's/3c00 4000/3c01 4000/; /^0001/d' good.cases)
bad "broken.cases:5:13: " check broken.cases
expect "what stands before a malformed line is counted" last_line_is out "1 case, 0 mismatches"
bad "broken.cases:5:13: " check --json broken.cases
expect "standard output stays JSON" is_json out
bad "none.cases: cannot open" check good.cases none.cases
bad "is a folder" check "$work"
printf 'mmafuzz-cases 1\nunit model:hoper/x\nop %s\n3c00 4000 | 3c00 4000 | 00000000 | 40a00000\n' "$dot2" >unknown.cases
bad "unknown.cases:4:1: unknown unit 'model:hoper/x'; nearest: " check unknown.cases
printf 'mmafuzz-cases 1\nunit nvidia.h900/wmma.fp32.fp16\nop %s\n3c00 4000 | 3c00 4000 | 00000000 | 40a00000\n' "$dot2" >gpu.cases
bad "gpu.cases:4:1: no model for 'nvidia.h900/wmma.fp32.fp16': unknown GPU 'h900'" check gpu.cases
: >empty.cases
bad "empty.cases:1:1: empty file" check empty.cases
head -c 60 good.cases.gz >cut.cases.gz
bad "gzip data is truncated" check cut.cases.gz
bad_call "files is required" check

printf 'mmafuzz-cases 1\nop convert from=fp32 to=fp16\n3f800001 | 3c00 | 01\n' >flagged.cases
good eval --unit recorded:flagged.cases flagged.cases
expect "a recording's flags belong to its answer" has out "3f800001 | 3c00 | 01"
sed 's/01$/1e/' flagged.cases >other_flags.cases
run check --unit recorded:flagged.cases other_flags.cases
expect "and are compared" ends_with 1
sed 's/ | 01$//' flagged.cases >flagless.cases
good check --unit recorded:flagless.cases flagged.cases
expect "flags that a unit does not report are not compared, and that is said" has out "the flags of 1 case were not compared: the unit reports none"
good check --json --unit recorded:flagless.cases flagged.cases
expect "in JSON too" has out '"flags_not_compared": 1'
cat >no_flags.py <<'END'
import sys
for line in sys.stdin:
    words = line.split()
    if words[0] == "mmafuzz-process":
        print("mmafuzz-process 1 text no_flags")
    elif words[0] == "op":
        print("yes")
    else:
        print("results", words[1], "flags")
        for _ in range(int(words[1])):
            print(sys.stdin.readline().strip(), "| 00")
        print("end")
    sys.stdout.flush()
END
good why "process:python3 no_flags.py" exact --op "convert from=fp16 to=fp16 nan=any" --cases 1024
expect "units that differ in flags alone do not agree" has out "They differ on"
expect "and the flags are shown" has out ", flags 00"
expect "beside those of the other" has out ", flags 20"
sed 's/01$/41/' flagged.cases >no_flags.cases
bad "expected flags, a sum of 01, 02, 04, 08, 10 and 20" check no_flags.cases

# ---- identify ----
bad_call "--order" identify --unit exact --op "$dot2" --tree t
for ignored in --json '--verify 7' '--time 3'; do bad_call "excludes" identify --order $ignored --unit exact --op "$dot2"; done
bad_call "--replay" identify --order --replay 0 --unit exact --op "$dot2"
bad_call "--next goes with --answers" identify --unit exact --op "$dot2" --next n.cases
bad_call "--unit excludes --answers" identify --answers good.cases --unit exact
bad_call "--unit excludes --ask" identify --ask q.cases --unit exact --op "$dot2"
bad_call "--next would overwrite the answers in good.cases" identify --answers good.cases --next good.cases
bad "cannot write" identify --ask /nowhere/q.cases --op "$dot2"
sed 's/fp16 b=fp16/bf16 b=bf16/; s/^\(unit\|0001\).*//; s/3c00 4000/3f80 4000/g' good.cases | sed '/^mmafuzz\|^$/d' | cat good.cases - >two_ops.cases
run identify --answers two_ops.cases --next next.cases --brief
expect "the questions of all ops are in one file" [ "$(grep -c '^op ' next.cases)" -eq 2 ]

# ---- explain ----
good explain --op "$dot2" --case '0001 0000 | 3e00 0000 | 3f800000' --units "$hopper,exact"
expect "the exact value is shown" has out "exact value 1.00000008940696716308"
expect "the model's result" has out "= 3f800000"
expect "the exact result" has out "= 3f800001"
expect "the step is named" has out "truncated fused sum"
good explain good.cases --line 6
expect "the line chooses the case" has out "0001 0000 | 3e00 0000 | 3f800000"
expect "the file's unit is explained" has out "$hopper"
good explain good.cases
expect "the first case by default" has out "3c00 4000 | 3c00 4000 | 00000000"
run_with good.cases explain --line 6 -
expect "- is standard input" has out "0001 0000 | 3e00 0000 | 3f800000"
good explain --units exact good.cases  # as findings and reports print it
good explain --units=exact good.cases
good explain scalar.cases --units ieee
expect "scalar operations are explained" has out "= 28800000"
good explain --op 'convert from=fp32 to=fp16' --case '3f801fff' --units ieee
expect "conversions are explained, with flags" has out "flags 01"
good explain --op 'scalar div format=fp32' --case '3f800000 40400000' --units ieee
expect "an endless quotient is cut" has out "exact value  0.3333333333333333333333333..."
expect "the neighbours in the format" has out "lower        3eaaaaaa"
expect "and the decision between them" has out "nearest_even: above the midpoint, so the upper neighbour"
good explain --op "$dot2" --case '0001 0000 | 3e00 0000 | 3f800000' --units "$hopper,${hopper}?fraction_bits=23"
expect "no colour in a file" lacks out "$(printf '\033')"
COLUMNS=180 good explain --op "$dot2" --case '0001 0000 | 3e00 0000 | 3f800000' --units "$hopper,${hopper}?fraction_bits=23"
expect "units side by side where it is wide" grep -q "^$hopper  .*$hopper?fraction_bits=23" out
bad_call "good.cases: no case at line 4" explain good.cases --line 4
bad_call "explain needs a case file or a case" explain
good explain --units v100,h100 '1. | 1. | 0.'
expect "GPUs alone have an op" has out "op dot a=fp16 b=fp16 c=fp32 d=fp32 k=1"
bad_call "h100 is a unit; explain shows a case: explain exact h100 '1.5 0.1 | 2. 3. | 0.'" explain h100
bad_call "h100 is a unit; explain shows a case: explain a100 h100 '" explain a100 h100
bad_call "'1. | 1. | 0.' is a case: eval takes it with --op and --case" eval --unit h100 '1. | 1. | 0.'
run explain --units a100,h100 '1.5 0.1 | 2. 3. | 0.'
cp out named
good explain a100 h100 '1.5 0.1 | 2. 3. | 0.'
expect "units are named as why takes them" cmp -s out named
good explain a100 h100 --svg '0x1p-14 | 0x1p-11 | -1.'
expect "a picture marks where two units first differ, in each of them" [ "$(grep -o '<title>first difference' out | wc -l)" -eq 2 ]
good explain a100 h100 --svg '1.5 0.1 | 2. 3. | 0.'
expect "nothing is marked where they agree" [ "$(grep -c 'first difference' out)" -eq 0 ]
good explain a100 h100 --link '1.5 | 2. | 0.'
expect "a link holds the call" [ "$(cat out)" = "bits.html#$("$MMAFUZZ" --version | sed -n '1s/^mmafuzz \([0-9.]*\).*/\1/p')&explain&a100&h100&--case&1.5+%7C+2.+%7C+0." ]
good explain good.cases --line 6 --link
expect "of a file it holds the case" has out "&--op&dot+a=fp16"
bad_call "--link takes single cases, no sequence" explain good.cases --sequence --link
good explain a100 h100 --case '1.5 0.1 | 2. 3. | 0.'
expect "beside --case, too" cmp -s out named
bad_call "unknown unit 'h10'; nearest: h100" explain h10 h100 '1.5 0.1 | 2. 3. | 0.'
good explain a100 good.cases --line 5
good why v100,a100 --op "$dot2" --cases 64
bad_call "a case needs --op, or a GPU or a model's row among --units" explain --case '3c00'
bad_call "a case needs --op, or a GPU or a model's row among --units" explain --units exact '1.5 0.1 | 2 3 | 0'
good explain --units "exact,$hopper" '1.5 0.1 | 2 3 | 0'
expect "a case stands for a file; its op is the row's, with two products" has out "op dot a=fp16 b=fp16 c=fp32 d=fp32 k=2"
expect "it is said how a decimal was rounded" has out "a: 0.1 is rounded to fp16 2e66"
bad_call "field b: expected 2 encodings, found 1" explain --units "$hopper" '1.5 1. | 2. | 0.'
bad_call "--case: column 6: field a: expected 2 encodings, found 1" explain --op "$dot2" --case '3c00 | 3c00 4000 | 00000000' --units exact
bad_call "unknown format 'fp17'" explain --op 'convert from=fp17 to=fp16' --case '3c00' --units ieee
left_before=$(temporary_files)
bad "unknown unit 'hoppler'; nearest: " explain --op "$dot2" --case '3c00 4000 | 3c00 4000 | 00000000' --units hoppler
good explain --op "$dot2" --case '3c00 4000 | 3c00 4000 | 00000000' --units h100
expect "a GPU's name is the unit that the op asks for" has out "model:hopper/mma.m16n8k8.f32.f16.f16.f32"
expect "no temporary file is left" [ "$(temporary_files)" = "$left_before" ]
bad_call "none.cases: cannot open" explain none.cases
bad_call "broken.cases:5:13: " explain broken.cases --line 5

# ---- fuzz ----
# Few cases; on a busy machine and under sanitizers a line of progress may still be due.
fuzz() { run fuzz --cases 1500 --seed 5 "$@"; }
run fuzz --cases 200 --seed 5 --threads 1
expect "semantic differences alone are exit code 0" ends_with 0
expect "at most progress on standard error where it is no terminal" only_progress err
cp out threads1
run fuzz --cases 200 --seed 5 --threads 2
cp out threads2
expect "the same on one and on two threads" cmp -s threads1 threads2
expect "it ends with the counts" has threads1 "comparisons, seed 5; kinds of divergence: 0 contract, "
run fuzz --cases 200 --seed 6 --threads 2
expect "another seed, other cases" differ out threads1
pair=(--op "$dot16" --units "exact,$hopper")
fuzz "${pair[@]}" --threads 1 --json
expect "exit code 0" ends_with 0
expect "fuzz --json is JSON" is_json out
cp out json1
fuzz "${pair[@]}" --threads 2 --json
expect "also the same on two threads" cmp -s out json1
fuzz "${pair[@]}" --fail-on semantic
expect "--fail-on semantic is exit code 1" ends_with 1
fuzz "${pair[@]}"
cp out pair
expect "the divergence is one greppable line" has out "semantic: mmafuzz: divergence equal dot.f32.f16.f16.f32 exact $hopper normal"
fuzz --op "$dot16" --units "$hopper,twin:hopper/mma.m16n8k16.f32.f16.f16.f32"
expect "a model and its twin do not differ" lacks out "divergence equal"
fuzz --op "$dot16" --units "$hopper?fraction_bits=24,$hopper?fraction_bits=25"
expect "a mutant is told from the original" has out "divergence equal"
fuzz --op "$dot16" --units "$hopper?fraction_bits=24,block=8" --units "$hopper" --fail-on semantic
expect "an override of two parameters is one unit" has out "$hopper?fraction_bits=24,block=8"

# A recording of the search's own cases claims the model of its provenance: right results keep the claim, one wrong
# result breaks it. The lines after a divergence are its case and "first against second".
awk -v unit=" exact $hopper " '
  /^semantic: mmafuzz: divergence equal / && index($0, unit) {
    getline inputs
    getline results
    sub(/^ +/, "", inputs)
    sub(/.* against /, "", results)
    print inputs " | " results
  }' pair >divergent
{
  printf 'mmafuzz-cases 1\nunit nvidia.h100/wmma.fp32.fp16\nop %s\n' "$dot16"
  cat divergent
} >recording.cases
expect "the search found cases to record" eval '[ -s divergent ]'
good check recording.cases
fuzz --op "$dot16" --units recorded:recording.cases
expect "a recording that keeps its claim is exit code 0" ends_with 0
sed '4{s/0$/1/;t;s/.$/0/}' recording.cases >violating.cases
run check violating.cases
expect "the planted result is wrong" ends_with 1
fuzz --op "$dot16" --units recorded:violating.cases
expect "a unit that breaks its claim is exit code 1" ends_with 1
expect "it is a contract divergence" has out "contract: mmafuzz: divergence equals_model dot.f32.f16.f16.f32 recorded:violating.cases $hopper"
fuzz --op "$dot16" --units recorded:violating.cases --json
expect "also with --json" ends_with 1
expect "which says so" has out '"severity": "contract"'

bad "nothing was compared" fuzz --cases 100 --op "$dot2" --units recorded:good.cases
bad_call "unknown unit 'nothing'; nearest: " fuzz --cases 100 --op "$dot16" --units nothing
bad_call "unknown format 'fp17'" fuzz --cases 100 --op 'dot a=fp17 b=fp16 c=fp32 d=fp32 k=4'
bad_call "declines: " fuzz --cases 100 --op "$dot16" --units ieee
bad_call "--cases" fuzz --cases 0
good fuzz --op "$dot16" --units "$hopper" --cases 250000 --states --quiet
expect "what the walk of states has met" [ "$(sed -n '/^states met/,/^$/p' out | awk '/^model:/ {print ($2 > 0), ($3 > 0), ($3 <= $5), ($6 > 0), ($6 <= $8)}')" = "1 1 1 1 1" ]
good fuzz --op 'convert from=fp32 to=fp16' --cases 1000 --states --quiet
expect "or that there is none" has out "no walk of states"
bad_call "not with --json" fuzz --op "$dot16" --cases 100 --states --json
bad_call "not with --json" fuzz --op any --cases 100 --states
bad_call "--cases" fuzz --cases many
bad_call "--threads" fuzz --cases 100 --threads 0
bad_call "--seed" fuzz --cases 100 --seed -1
good fuzz --op "$dot2" --units exact --cases 0100 --seed 017 --quiet
expect "numbers are decimal" has out "seed 17;"
bad_call "give --cases or --time, not both" fuzz --cases 10 --time 1
bad_call "accuracy_or_so" fuzz --cases 10 --fail-on accuracy_or_so

# ---- bench ----
good bench rate --units exact --seconds 0.01
expect "a rate" has out "million cases per second"
bad "unknown unit 'nothing'" bench rate --units nothing --seconds 0.01
bad "vector targets are" bench rate --vector-target none --seconds 0.01
bad_call "excludes" bench rate --draws --vector-target AVX2
bad_call "excludes" bench rate --all --units exact
good bench distribution --cases 500
expect "every format is counted" test "$(grep -c ' of ' out)" -gt 50
bad_call "subcommand is required" bench

good bench ozaki -m 8 -n 8 -k 32 --plan slices=all,sum=exact
expect "a product and its error" has out "greatest relative error"
bad "matrix a has a negative size: -8x32" bench ozaki -m -8 -n 8 -k 32
bad "do not fit in" bench ozaki -m 4000000000 -n 4000000000
bad "unknown parameter 'slice'" bench ozaki --plan slice=3
bad "no slices of format 'fp17'" bench ozaki --slice fp17
good bench gemm --seconds 0.01
good bench search --flaws '' --products 1 --strategies guided,unguided --cases 256
good bench split --cases 2000 --search 2000
expect "who is nearer" has out "nearer to the exact result is Ootomo-Yokota in"

good bench exhaustive --to e4m3 --to cfloat8_1_5_2:15 --from fp16 --round up
expect "every input is converted" has out "e4m3                     up           from fp16, 65536 inputs by ieee: none wrong"
bad "unknown format 'fp17'" bench exhaustive --to fp17
bad "needs a bias of 0 to 63" bench exhaustive --to shp:64
bad "at most 10 fraction bits, not fp64" bench exhaustive --to fp64
bad "at most 16 bits, not fp64" bench exhaustive --to e4m3 --from fp64
bad "differs from input to input" bench exhaustive --to e4m3 --round stochastic
bad "give --to FORMAT or --all" bench exhaustive
bad "give --to FORMAT or --all" bench exhaustive --to e4m3 --all

h=model:hopper/mma.m16n8k16.f32.f16.f16.f32
printf '# two\n%s?fraction_bits=24\n\n%s?integer_bits=6 hard\n' $h $h > two.txt
good bench search --flaws two.txt --strategies structured,uniform --seeds 2 --cases 2000 --csv runs.csv
expect "a table of hard flaws" has out "hard flaws"
expect "a significance test" has out "structured against uniform"
expect "what the first strategy misses" has out "structured misses $h?integer_bits=6 in 2 of 2 runs"
expect "a line per run" test "$(wc -l < runs.csv)" -eq 9
expect "the head of the CSV" has runs.csv "strategy,mutant,hard,seed,killed,cases,seconds"
good bench search --flaws two.txt --strategies uniform --only '*=24' --cases 500
expect "only the chosen mutant" has out "1 flaws"
printf '%s?fraction_bits=24 hard\n' $h > wrong.txt
good bench search --flaws wrong.txt --strategies normal --cases 2000
expect "a wrong mark is named" has out "marked hard, but normal kills"
bad "No such file" bench search --flaws absent.txt
bad "unknown strategy 'magic'" bench search --flaws two.txt --strategies magic
mkdir nothing_here
bad "no published vectors" bench search --flaws two.txt --strategies published --published nothing_here
bad "no flaw matches 'nothing'" bench search --flaws two.txt --only nothing
bad "must set a limit" bench search --flaws two.txt --cases 0
printf '%s?fraction_bits=24 maybe\n' $h > mark.txt
bad "mark.txt:1: after a mutant's name" bench search --flaws mark.txt
printf '\n%s\n' $h > plain.txt
bad "plain.txt:2: '$h' has no flaw" bench search --flaws plain.txt
printf '%s?block=8\n%s?block=8\n' $h $h > twice.txt
bad "twice.txt:2: '$h?block=8' stands twice" bench search --flaws twice.txt

volta=model:volta/mma.m8n8k4.f32.f16.f16.f32
bad "a width is a number of bits" prove ozaki wide 16
bad "a width is a number of bits" prove ozaki 10, 16
bad "a width is a number of bits" prove ozaki ,10 16
bad "takes a width and a number of products" prove ozaki 10
bad "finds the number of products itself" prove ozaki residues 16
bad "not expected: finite --domain" prove ozaki 10 16 --domain finite
bad "not expected: finite --domain" prove monotone $volta --domain finite
bad "/nowhere/solver" prove property sign_symmetry $volta --solver none=/nowhere/solver
bad "Path does not exist" prove mutants nowhere.txt
if command -v z3 >/dev/null; then
  : >none.txt
  bad "none.txt: holds no mutant" prove mutants none.txt --solver "z3=z3 -in"
  printf '  %s?nan=7fffffff\n # %s?nan=7fffffff\n' $volta $volta >indented.txt
  good prove mutants indented.txt --solver "z3=z3 -in"
  expect "a line that begins with blanks is asked" has out "1 equivalent, 0 killed, 0 unknown, 0 declined"
  bad "--confirm needs a second solver; there is z3" prove property swap_operands $volta --confirm --solver "z3=z3 -in"
  bad "model:nothing" prove equal model:nothing $volta --solver "z3=z3 -in"
  bad "unknown property 'nothing'" prove property nothing $volta --solver "z3=z3 -in"
  bad "unknown domain 'odd'" prove property sign_symmetry $volta --domain odd --solver "z3=z3 -in"
  bad "prove equal takes two units" prove equal $volta --solver "z3=z3 -in"
  bad "prove nearer takes two units" prove nearer $volta --solver "z3=z3 -in"
  bad "needs two numbers, the lesser first" prove property sign_symmetry $volta --domain exponents=3..1 --solver "z3=z3 -in"
  bad "at most 2000 in magnitude" prove property sign_symmetry $volta --domain exponents=0..2001 --solver "z3=z3 -in"
  bad "is about error-corrected products" prove nearer $volta $volta --domain factors=fp16 --solver "z3=z3 -in"
  bad "factors=FORMAT is only of prove nearer" prove property sign_symmetry $volta --domain factors=fp16 --solver "z3=z3 -in"
  bad "is about one element" prove nearer split:ootomo.fp16 split:markidis.fp16 --op "gemm a=fp32 b=fp32 c=fp32 d=fp32 m=2 n=1 k=4" --solver "z3=z3 -in"
  bad "there is no formula of split:ootomo.tf32" prove nearer split:ootomo.tf32 split:markidis.fp16 --solver "z3=z3 -in"
  bad "in different formats" prove monotone model:volta/mma.m8n8k4.f32.f16.f16.f16 --solver "z3=z3 -in"
  bad "1 to 4096 products, not 2000000000" prove ozaki 2 2000000000 --solver "z3=z3 -in"
  bad "is about fused sums" prove monotone model:cdna1/mfma.32x32x8.f32.f16.f16.f32 --solver "z3=z3 -in"
  good prove ozaki residues --unit integer --solver "z3=z3 -in"
  expect "products of residues and a case against one more" has out "131071 products are summed exactly, 131072 are not"
  bad "as digits in e4m3" prove ozaki residues --unit $volta --solver "z3=z3 -in"
  bad "fp16 holds digits of 1 to 11 bits" prove ozaki 12 16 --solver "z3=z3 -in"
fi

# Every query finds an input, and its units, run from a case file, differ on it as was reported.
good bench bounds --units 'model:cdna*' --cases 2000 --witnesses tight.cases
expect "a table of ratios" has out "two_stage_sum"
good check tight.cases
bad "no unit with an error bound matches 'nothing'" bench bounds --units nothing
bad "cannot write" bench bounds --units 'model:volta/*' --cases 1 --witnesses nowhere/tight.cases

bad "cannot write to /dev/null/no" bench neighbours /dev/null/no --cases 1
good bench discriminate --seeds 1 --time 30 --json
expect "JSON" is_json out
cat >evaluate_found.py <<'END'
import json, subprocess, sys

queries = json.load(open("out"))
paper = {q["paper"]["query"] for q in queries}
ok = len(paper) == 8 and all("case" in run for q in queries for run in q["runs"])
for q in queries:
    run = q["runs"][0]
    for unit, result in zip([q["first"], q["second"]], run["results"]):
        text = f"mmafuzz-cases 1\nop {q['op']}\n{run['case']}\n"
        answer = subprocess.run([sys.argv[1], "eval", "--unit", unit, "-"], input=text, text=True, capture_output=True).stdout
        ok = ok and answer.splitlines()[-1] == f"{run['case']} | {result}"
    ok = ok and run["results"][0] != run["results"][1]
sys.exit(not ok)
END
expect "all of table 4, and inputs that tell apart" python3 evaluate_found.py "$MMAFUZZ"
good bench discriminate --query 'carry-bits/*' --seeds 2 --csv found.csv
expect "a header and a line per query and seed" test "$(wc -l <found.csv)" -eq 9
run bench discriminate --query normalization/descending --seeds 1 --time 0.000001
expect "exit code 1 if nothing was found" ends_with 1
expect "and it says so" has out "nothing found"
bad "no query matches 'everything'" bench discriminate --query everything
bad_call "--seeds" bench discriminate --seeds 0
bad "cannot be written" bench discriminate --query order --csv no/such/folder.csv
bad "a hypothesis takes rounding=" eval --unit 'hypothesis:from-c?rounding=sideways' inputs.cases

# ---- what an eye overlooks must not pass ----
half='dot a=fp16 b=fp16 c=fp32 d=fp32 k=4'
bad "no unit matches 'model:hoper/*'" fuzz --op "$half" --units 'exact,model:hoper/*' --cases 10
bad "no unit that matches 'model:hopper/mma*' can be compared here" fuzz --op "$half ftz=1" --units 'exact,model:hopper/mma*' --cases 10
bad "no unit matches 'model:hoper/*'" campaign --units 'exact,model:hoper/*' --cases 10 --out nowhere
good fuzz --op "$half" --units 'model:hopper/mma*?fraction_bits=20,exact' --cases 10
expect "settings go to what a glob matches" has out "model:hopper/mma.m16n8k16.f32.f16.f16.f32?fraction_bits=20"
bad_call "is above 2^64 - 1" fuzz --op "$half" --seed 18446744073709551616
bad_call "is not a number above 0" fuzz --op "$half" --time 10s
printf 'mmafuzz-cases 1\nop %s\n3c00 0000 0000 0000 | 3c00 0000 0000 0000 | 00000000 | 3f800000\n3c00 0000 0000 0000 | 3c00 0000 0000 0000 | 00000000 | 3f800001\n' "$half" >two.cases
bad "two.cases:4: another result of this case stands above" eval --unit recorded:two.cases two.cases
mkdir empty_folder
bad "holds neither a campaign nor segments" triage empty_folder
bad "two.cases is neither a campaign's folder nor a segment" triage two.cases
printf 'mmafuzz-cases 1\n' >begun.cases
good triage begun.cases
bad "two?lines.cases: cannot open" check --unit exact $'two\nlines.cases'
run check --skip-declined --unit model:hopper/mma.m16n8k16.f32.f16.f16.f32 two.cases <(printf 'mmafuzz-cases 1\nop dot a=fp64 b=fp64 c=fp64 d=fp64 k=1\n3ff0000000000000 | 3ff0000000000000 | 0000000000000000 | 3ff0000000000000\n')
expect "the op that is declined is counted" has out "1 case of ops that the unit declines was not compared"
expect "and the rest compared" has out "2 cases, 1 mismatch"

# d = a * b + c of columns and rows: 1*1, 1*2, 3*1, 3*2.
printf 'mmafuzz-cases 1\nop gemm a=fp16 b=fp16 c=fp32 d=fp32 m=2 n=2 k=1\n3c00 4200 | 3c00 4000 | 00000000 00000000 00000000 00000000 | 3f800000 40000001 40400000 40c00001\n' >product.cases
run check --unit exact product.cases
expect "how much of a product differs" has out "product.cases:3: 2 of 4 elements differ from exact"
expect "and where" has out "  d[0,1]: expected 40000001, got 40000000"
expect "in each row" has out "  d[1,1]: expected 40c00001, got 40c00000"
expect "what is equal is not shown" lacks out "d[1,0]"

# ---- limits ----
for _ in $(seq 2000); do echo '3c00 4000 | 3c00 4000 | 00000000'; done | cat inputs.cases - >long.cases
for output in "-o limited.cases" ""; do
  command="ulimit -f 1; mmafuzz eval long.cases $output"
  # shellcheck disable=SC2086  # words
  (ulimit -f 1; exec "$MMAFUZZ" eval --unit exact long.cases $output >out 2>err)
  code=$?
  expect "a file that may not grow ends with 2" ends_with 2
  expect "and a line that says so" has err "File too large"
done
long=$(printf 'x%.0s' $(seq 100000))
for arguments in "eval --unit $long good.cases" "eval $long" "$long" "fuzz --op $long" "eval --$long" "check --unit exact?$long good.cases"; do
  # shellcheck disable=SC2086  # words
  bad_call "xxx" $arguments
  expect "200 characters of an argument are repeated at most" [ "$(wc -c <err)" -lt 1000 ]
done

# Blocks: each wrong call is one line that says what is wrong.
while IFS='|' read -r op message; do
  run eval exact --op "$op" --case 1.
  expect "a wrong op on blocks is refused" test "$code" = 2
  expect "... in one line" test "$(wc -l <err)" = 1
  expect "... that says '$message'" grep -q -F -- "$message" err
done <<'WRONG'
quantize from=fp32 to=e2m1 block=32 scale=e8m0|special= is missing
quantize from=fp32 to=e2m1 block=0 scale=e8m0 special=nan_scale|block= needs a whole number
quantize from=fp32 to=e2m1 scale=e8m0 special=nan_scale|block= is missing
quantize from=fp32 to=e2m1 block=32 scale=s8 special=nan_scale|a scale needs an exponent
quantize from=fp32 to=e2m1 block=32 scale=e2m1 special=nan_scale|has none: special=elements
quantize from=fp32 to=e2m1 block=32 scale=fp64 special=nan_scale|at most 24 significant bits
quantize from=s8 to=e2m1 block=32 scale=e8m0 special=nan_scale|floating-point format with a sign
quantize from=fp32 to=e8m0 block=32 scale=e8m0 special=nan_scale|and a fraction
quantize from=fp32 to=u8 block=32 scale=e8m0 special=nan_scale|elements have a sign
quantize from=fp32 to=e2m1 block=16 scale=e4m3 rule=floor special=nan_scale|gives powers of two
quantize from=fp32 to=e2m1 block=32 scale=e8m0 tensor=fp32 special=nan_scale|belongs to scales with a fraction
quantize from=fp32 to=e2m1 block=32 scale=e8m0 special=nan_scale saturate=0|saturate=0 needs elements with an infinity or a NaN
quantize from=fp32 to=e2m1 block=32 scale=e8m0 special=nan_scale ftz=1|has no ftz=
quantize from=fp32 to=e2m1 block=32 scale=e8m0 special=nan_scale via=e4m3|a narrow IEEE format
dequantize from=e2m1 to=fp32 block=16 scale=e4m3 round=stochastic|belongs to quantize
quantize from=fp32 to=e2m1 block=32 scale=bias special=elements|is what CFloat numbers share
quantize from=fp32 to=cfloat8_1_4_3:0 block=32 scale=bias special=nan_scale|has none: special=elements
quantize from=bias to=e2m1 block=32 scale=e8m0 special=elements|a shared bias is a scale
quantize from=fp32 to=e2m1 block=32 scale=e8m0 special=nan_scale rule=round|rule= is floor
dequantize from=e2m1 to=fp32 block=32 scale=e8m0 rule=floor|has no attribute
quantize from=fp32 to=cfloat8_1_4_3:7?hole=tie_down block=8 scale=e8m0 special=nan_scale|without switches
WRONG

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
