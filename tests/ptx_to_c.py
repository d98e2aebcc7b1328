#!/usr/bin/env python3
"""Translates PTX of integer kernels to C++, so that what a device would compute runs where there is none.

For kernels whose threads do not talk to each other, without shared memory; of floating point there are additions,
products and conversions to fp64, rounded to nearest by the host. Anything else is an error. Usage: ptx_to_c.py FILE.ptx NAME... > FILE.cc: each kernel whose mangled name holds a NAME becomes kernel_NAME,
for one thread.
"""

import re
import sys

SIZES = {
    "b8": 1,
    "u8": 1,
    "s8": 1,
    "b16": 2,
    "u16": 2,
    "s16": 2,
    "b32": 4,
    "u32": 4,
    "s32": 4,
    "b64": 8,
    "u64": 8,
    "s64": 8,
    "f32": 4,
    "f64": 8,
    "pred": 1,
}
COMPARE = {
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "lo": "<",
    "ls": "<=",
    "hi": ">",
    "hs": ">=",
}
BINARY = {"add": "+", "sub": "-", "mul": "*", "and": "&", "or": "|", "xor": "^", "div": "/", "rem": "%"}
PRELUDE = """#include <cstdint>
#include <cstring>
typedef uint8_t u8; typedef uint16_t u16; typedef uint32_t u32; typedef uint64_t u64;
typedef int8_t s8; typedef int16_t s16; typedef int32_t s32; typedef int64_t s64;
typedef unsigned __int128 u128; typedef __int128 s128;
struct Where { u32 tid, ctaid, ntid, nctaid; };
template <class T> static T load(u64 at) { T v; memcpy(&v, (const void*)at, sizeof v); return v; }
template <class T> static void store(u64 at, T v) { memcpy((void*)at, &v, sizeof v); }
static u32 prmt(u32 a, u32 b, u32 how) {
  const u64 from = (u64)b << 32 | a; u32 out = 0;
  for (int i = 0; i < 4; ++i) {
    const u32 n = how >> 4 * i & 15; u32 x = from >> 8 * (n & 7) & 255;
    if (n & 8) x = x & 128 ? 255 : 0;
    out |= x << 8 * i;
  }
  return out;
}
static u64 mask(u32 n) { return n >= 64 ? ~0ull : (1ull << n) - 1; }
static u64 up(u64 v, u32 by) { return by >= 64 ? 0 : v << by; }
static u64 bfi(u64 a, u64 b, u32 at, u32 n) {
  const u64 m = up(mask(n & 255), at & 255);
  return (b & ~m) | (up(a, at & 255) & m);
}
static u64 bfe(u64 a, u32 at, u32 n) { return (at & 255) >= 64 ? 0 : (a >> (at & 255)) & mask(n & 255); }
static u32 clz(u64 v, int bits) { u32 n = 0; for (int i = bits - 1; i >= 0 && !(v >> i & 1); --i) ++n; return n; }
static u32 reciprocal(u32 bits) { float x; memcpy(&x, &bits, 4); x = 1 / x; memcpy(&bits, &x, 4); return bits; }
static double f64(u64 bits) { double x; memcpy(&x, &bits, 8); return x; }
static u64 bits_of(double x) { u64 bits; memcpy(&bits, &x, 8); return bits; }
static double f32(u32 bits) { float x; memcpy(&x, &bits, 4); return x; }
static u32 dp4a(u32 a, u32 b, u32 c) { for (int i = 0; i < 32; i += 8) c += (u32)((s32)(s8)(a >> i) * (s8)(b >> i)); return c; }
static u32 popc(u64 v) { u32 n = 0; for (; v; v &= v - 1) ++n; return n; }
"""


def split(text):
    parts, depth, current = [], 0, ""
    for c in text:
        depth += (c in "[{(") - (c in "]})")
        if c == "," and depth == 0:
            parts.append(current.strip())
            current = ""
        else:
            current += c
    return parts + [current.strip()] if current.strip() else parts


def name(text):
    return re.sub(r"[^\w]", "_", text)


def u(kind):
    return "u%d" % (8 * SIZES[kind]) if kind != "pred" else "bool"


def typed(kind):
    return kind if kind[0] in "us" else u(kind)


def parameters(text):
    return [
        (m[2], SIZES[m[1]] * int(m[3] or 1), max(SIZES[m[1]], align_of(m[0])))
        for m in re.finditer(r"\.param\s+(?:\.align\s+\d+\s+)?\.(\w+)\s+([\w$]+)(?:\[(\d+)\])?", text or "")
    ]


def align_of(text):
    m = re.search(r"\.align\s+(\d+)", text)
    return int(m[1]) if m else 1


class Function:
    def __init__(self, match, body):
        self.entry, self.name = match["kind"] == "entry", match["name"]
        self.parameters, self.result = parameters(match["parameters"]), parameters(match["result"])
        self.body = body

    def signature(self):
        if self.entry:
            short = next((k for k in sys.argv[2:] if k in self.name), name(self.name))
            return (
                'extern "C" void kernel_%s(const u8* kernel_parameters, u32 ctaid, u32 tid, u32 nctaid, u32 ntid)'
                % short
            )
        results = ["u8* %s" % name(p[0]) for p in self.result]
        return "static void %s(const Where& where%s)" % (
            name(self.name),
            "".join(", " + p for p in results + ["const u8* %s" % name(p[0]) for p in self.parameters]),
        )

    def translate(self):
        self.memory = {p[0] for p in self.parameters + self.result}
        self.single = set()  # registers that are no arrays
        lines = []
        for line in re.findall(r"\.reg\s+\.(\w+)\s+(%\w+)<(\d+)>", self.body):
            lines.append("%s %s[%s]; (void)%s;" % (u(line[0]), name(line[1]), line[2], name(line[1])))
        for kind, register in sorted(set(re.findall(r"\.reg\s+\.(\w+)\s+(%?\w+)\s*;", self.body))):
            lines.append("%s %s; (void)%s;" % (u(kind), name(register), name(register)))
            self.single.add(register)
        for align, depot, size in re.findall(r"\.local\s+\.align\s+(\d+)\s+\.b8\s+([\w$]+)\[(\d+)\]", self.body):
            lines.append("alignas(%s) u8 %s[%s];" % (align, name(depot), size))
            self.memory.add(depot)
        lines.append("u32 carry = 0; (void)carry;")
        if self.entry:
            lines.append("const Where where{tid, ctaid, ntid, nctaid};")
            at = 0
            for parameter, size, align in self.parameters:
                at = (at + align - 1) // align * align
                lines.append(
                    "const u8* %s = kernel_parameters + %d; (void)%s;" % (name(parameter), at, name(parameter))
                )
                at += size
        body = re.sub(r"(?m)^\s*\.(reg|local|pragma|loc|file)\b[^;]*;", "", self.body)
        declared, code = [], []
        for token in re.findall(r"\s*\$\w+:|[{}]|[^;{}]*(?:\{[^{};]*\}[^;{}]*)*;", body):
            text = " ".join(token.split())
            if not text or text in "{}":
                continue
            while label := re.match(r"(\$\w+):\s*", text):
                code.append("%s:;" % name(label[1]))
                text = text[label.end() :]
            text = text.rstrip(";").strip()
            param = re.match(r"\.param\s+(?:\.align\s+(\d+)\s+)?\.(\w+)\s+([\w$]+)(?:\[(\d+)\])?$", text)
            if param:
                size = SIZES[param[2]] * int(param[4] or 1)
                declared.append((param[3], size))
                self.memory.add(param[3])
                continue
            if text:
                code.append(self.statement(text))
        sizes = {}
        for variable, size in declared:
            sizes[variable] = max(size, sizes.get(variable, 0))
        lines += ["alignas(16) u8 %s[%d];" % (name(v), s) for v, s in sizes.items()]
        return self.signature() + " {\n  " + "\n  ".join(lines + code) + "\n}\n"

    def value(self, text, kind):
        """An operand as a number of the type."""
        text = text.strip()
        special = re.match(r"%(tid|ctaid|ntid|nctaid)\.x$", text)
        if special:
            return "where.%s" % special[1]
        register = re.match(r"(%[a-zA-Z]+)(\d+)$", text)
        if text in self.single:
            inner = name(text)
        elif register:
            inner = "%s[%s]" % (name(register[1]), register[2])
        elif text in self.memory:
            return "(u64)%s" % name(text)
        else:
            number = text[:-1] if text.endswith("U") else text
            if number.startswith(("0d", "0f")):
                number = "0x" + number[2:]
            inner = "(u64)%sull" % number if not number.startswith("-") else "(u64)(%sll)" % number
        return inner if kind == "pred" else "(%s)(%s)" % (typed(kind), inner)

    def address(self, text):
        m = re.match(r"\[\s*([%\w$]+)\s*(?:\+\s*(-?\d+))?\s*\]$", text)
        if not m:
            raise ValueError("address " + text)
        base = "(u64)%s" % name(m[1]) if m[1] in self.memory else self.value(m[1], "u64")
        return "%s + %s" % (base, "(s64)(%s)" % (m[2] or 0))

    def target(self, text):
        register = re.match(r"(%[a-zA-Z]+)(\d+)$", text)
        return "%s[%s]" % (name(register[1]), register[2]) if register and text not in self.single else name(text)

    def statement(self, text):
        guard = re.match(r"@(!?)(%p\d+)\s+(.*)$", text)
        if guard:
            return "if (%s%s) { %s }" % (guard[1], self.target(guard[2]), self.statement(guard[3]))
        op, _, rest = text.partition(" ")
        words, operands = op.split("."), split(rest)
        if words[0] == "call":
            m = re.match(r"(?:\(([^)]*)\)\s*,\s*)?([\w$]+)\s*(?:,\s*\(([^)]*)\))?$", rest)
            arguments = [a.strip() for a in ((m[1] or "") + "," + (m[3] or "")).split(",") if a.strip()]
            return "%s(where%s);" % (name(m[2]), "".join(", " + name(a) for a in arguments))
        if words[0] == "bra":
            return "goto %s;" % name(operands[0])
        if words[0] in ("ret", "exit"):
            return "return;"
        if words[0] == "trap":
            return "__builtin_trap();"
        kind = words[-1]
        if words[0] in ("ld", "st"):
            vector = operands[0] if words[0] == "ld" else operands[1]
            elements = split(vector[1:-1]) if vector.startswith("{") else [vector]
            address = self.address(operands[1] if words[0] == "ld" else operands[0])
            out = []
            for i, element in enumerate(elements):
                at = "%s + %d" % (address, i * SIZES[kind])
                if words[0] == "ld":
                    out.append("%s = load<%s>(%s);" % (self.target(element), typed(kind), at))
                else:
                    out.append("store<%s>(%s, %s);" % (u(kind), at, self.value(element, u(kind))))
            if words[0] == "ld" and len(elements) > 1 and any(e in address for e in map(self.target, elements)):
                raise ValueError("vector load over its own address: " + text)
            return " ".join(out)
        if words[0] in ("atom", "red") and words[-2] == "or":  # threads run one after another
            at, word = self.address(operands[-2]), u(kind)
            old = "%s = old; " % self.target(operands[0]) if words[0] == "atom" else ""
            return "{ const %s old = load<%s>(%s); store<%s>(%s, old | %s); %s}" % (
                word, word, at, word, at, self.value(operands[-1], word), old)
        if words[0] == "atom" and words[-2] == "max":
            at = self.address(operands[1])
            return "{ const %s old = load<%s>(%s), x = %s; store<%s>(%s, x > old ? x : old); %s = old; }" % (
                typed(kind), typed(kind), at, self.value(operands[2], kind), typed(kind), at, self.target(operands[0]))
        if op == "dp4a.s32.s32":
            return "%s = dp4a(%s);" % (self.target(operands[0]), ", ".join(self.value(x, "u32") for x in operands[1:]))
        to = operands[0]
        put = lambda expression: "%s = %s;" % (self.target(to), expression)
        v = lambda i, k=kind: self.value(operands[i], k)
        if words[0] == "mov" and operands[0].startswith("{"):
            parts, bits = split(operands[0][1:-1]), 8 * SIZES[kind] // len(split(operands[0][1:-1]))
            return " ".join(
                "%s = (%s >> %d);" % (self.target(p), v(1, u(kind)), i * bits) if p != "_" else ""
                for i, p in enumerate(parts)
            )
        if words[0] == "mov" and operands[1].startswith("{"):
            parts = split(operands[1][1:-1])
            bits = 8 * SIZES[kind] // len(parts)
            return put(
                " | ".join(
                    "(%s)(u%d)%s << %d" % (u(kind), bits, self.value(p, "u%d" % bits), i * bits)
                    for i, p in enumerate(parts)
                )
            )
        if words[0] in ("mov", "cvta"):
            return put(v(1))
        if op in ("cvt.f64.f32", "cvt.rn.f64.s32"):
            return put("bits_of(%s)" % ("f32(%s)" % v(1, "u32") if kind == "f32" else "(double)%s" % v(1)))
        if op == "setp.eq.f64":
            return put("f64(%s) == f64(%s)" % (v(1), v(2)))
        if op in ("add.f64", "add.rn.f64", "mul.f64", "mul.rn.f64"):
            return put("bits_of(f64(%s) %s f64(%s))" % (v(1), BINARY[words[0]], v(2)))
        if op == "fma.rn.f64":
            return put("bits_of(__builtin_fma(f64(%s), f64(%s), f64(%s)))" % (v(1), v(2), v(3)))
        if kind[0] == "f" and words[0] not in ("mov", "selp") and op != "rcp.approx.f32":
            return self.unknown(text)
        if words[0] == "cvt":
            return put("(%s)%s" % (typed(words[1]), v(1, words[2]))) if len(words) == 3 else self.unknown(text)
        if words[0] == "setp" and len(words) == 3:
            return put("%s %s %s" % (v(1), COMPARE[words[1]], v(2)))
        if words[0] == "selp":
            return put("%s ? %s : %s" % (self.value(operands[3], "pred"), v(1), v(2)))
        if words[0] == "not":
            return put("!%s" % v(1) if kind == "pred" else "~%s" % v(1))
        if words[0] == "neg":
            return put("0 - %s" % v(1, "u" + kind[1:]))
        if words[0] == "abs":
            return put("%s < 0 ? 0 - %s : %s" % (v(1), v(1, "u" + kind[1:]), v(1, "u" + kind[1:])))
        if words[0] in ("min", "max"):
            return put("%s %s %s ? %s : %s" % (v(1), "<" if words[0] == "min" else ">", v(2), v(1), v(2)))
        if words[0] in ("shl", "shr"):
            bits = 8 * SIZES[kind]
            shift = "%s" % v(2, "u32")
            if words[0] == "shl":
                return put("%s >= %d ? 0 : (%s)(%s << %s)" % (shift, bits, u(kind), v(1, "u" + kind[1:]), shift))
            over = "(%s < 0 ? -1 : 0)" % v(1) if kind[0] == "s" else "0"
            return put("%s >= %d ? %s : %s >> %s" % (shift, bits, over, v(1), shift))
        if words[0] == "shf":
            shift = "(%s & 31)" if "wrap" in words else "(%s > 32 ? 32 : %s)" if "clamp" in words else None
            if not shift:
                return self.unknown(text)
            shift = shift.replace("%s", v(3, "u32"))
            joined = "((u64)%s << 32 | %s)" % (v(2, "u32"), v(1, "u32"))
            return put(
                "(u32)(%s << %s >> 32)" % (joined, shift) if words[1] == "l" else "(u32)(%s >> %s)" % (joined, shift)
            )
        wide = {"u32": "u64", "s32": "s64", "u16": "u32", "s16": "s32"}
        twice = {4: ("u64", "s64"), 8: ("u128", "s128")}
        if words[0] in ("mul", "mad", "madc") and len(words) > 2:
            mode, use_carry, set_carry = words[1], words[0] == "madc", "cc" in words
            if mode == "wide":
                product = "(%s)%s * (%s)%s" % (wide[kind], v(1), wide[kind], v(2))
                return put(
                    product if words[0] == "mul" else "%s + %s" % (product, self.value(operands[3], wide[kind]))
                )
            double = twice[SIZES[kind]][kind[0] == "s"] if SIZES[kind] >= 4 else "s64"
            product = "(%s)%s * (%s)%s" % (double, v(1), double, v(2))
            part = "(%s)((%s)(%s) >> %d)" % (
                u(kind),
                "u128" if SIZES[kind] == 8 else "u64",
                product,
                8 * SIZES[kind] if mode == "hi" else 0,
            )
            if words[0] == "mul":
                return put(part)
            return self.carried(to, [part, v(3, u(kind))], "carry" if use_carry else "0", kind, set_carry)
        if words[0] in ("add", "addc") and ("cc" in words or words[0] == "addc"):
            return self.carried(
                to, [v(1, u(kind)), v(2, u(kind))], "carry" if words[0] == "addc" else "0", kind, "cc" in words
            )
        if words[0] in ("sub", "subc") and ("cc" in words or words[0] == "subc"):  # the carry flag holds the borrow
            total = "u128 total = (u128)%s - %s - %s;" % (
                v(1, u(kind)),
                v(2, u(kind)),
                "carry" if words[0] == "subc" else "0",
            )
            flag = " carry = (u32)(total >> %d) & 1;" % (8 * SIZES[kind]) if "cc" in words else ""
            return "{ %s %s%s }" % (total, put("(%s)total" % u(kind)), flag)
        if words[0] == "lop3":
            table = int(operands[4], 0)
            terms = [
                "(%s%s & %s%s & %s%s)"
                % ("" if i & 4 else "~", v(1), "" if i & 2 else "~", v(2), "" if i & 1 else "~", v(3))
                for i in range(8)
                if table >> i & 1
            ]
            return put(" | ".join(terms) or "0")
        if words[0] == "prmt" and len(words) == 2:
            return put("prmt(%s, %s, %s)" % (v(1, "u32"), v(2, "u32"), v(3, "u32")))
        if words[0] == "bfi":
            return put("bfi(%s, %s, %s, %s)" % (v(1), v(2), v(3, "u32"), v(4, "u32")))
        if words[0] == "bfe" and kind[0] == "u":
            return put("bfe(%s, %s, %s)" % (v(1), v(2, "u32"), v(3, "u32")))
        if words[0] == "clz":
            return put("clz(%s, %d)" % (v(1), 8 * SIZES[kind]))
        if op == "rcp.approx.f32":  # of the compiler's own 128-bit division, which corrects it
            return put("reciprocal(%s)" % v(1, "u32"))
        if words[0] == "popc":
            return put("popc(%s)" % v(1))
        if words[0] in BINARY and (len(words) == 2 or words[1] == "lo"):
            if words[0] in ("add", "sub", "mul"):
                return put("(u64)%s %s (u64)%s" % (v(1, u(kind)), BINARY[words[0]], v(2, u(kind))))
            return put("%s %s %s" % (v(1), BINARY[words[0]], v(2)))
        return self.unknown(text)

    def carried(self, to, terms, carry, kind, sets):
        flag = " carry = (u32)(total >> %d) & 1;" % (8 * SIZES[kind]) if sets else ""
        return "{ u128 total = (u128)%s + %s; %s = (%s)total;%s }" % (
            " + (u128)".join(terms),
            carry,
            self.target(to),
            u(kind),
            flag,
        )

    def unknown(self, text):
        raise ValueError("not translated: " + text)


def functions(text):
    text = re.sub(r"//[^\n]*", "", text)
    head = re.compile(
        r"\.(?P<kind>entry|func)\s*(?:\((?P<result>[^)]*)\))?\s*(?P<name>[\w$]+)\s*"
        r"(?:\((?P<parameters>[^)]*)\))?(?P<more>[^{;]*)(?P<end>[{;])"
    )
    for match in head.finditer(text):
        if match["end"] == ";":
            continue
        depth, at = 1, match.end()
        while depth:
            depth += (text[at] == "{") - (text[at] == "}")
            at += 1
        yield Function(match, text[match.end() : at - 1])


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    found = {f.name: f for f in functions(open(sys.argv[1]).read())}
    wanted = [f.name for f in found.values() if f.entry and any(k in f.name for k in sys.argv[2:])]
    for caller in wanted:  # grows: what is called is wanted too
        wanted += [
            called
            for called in found
            if called not in wanted
            and re.search(r"\bcall\b[^;]*[\s,(]%s[\s,;]" % re.escape(called), found[caller].body)
        ]
    print(PRELUDE)
    for function in wanted:
        if not found[function].entry:
            print(found[function].signature() + ";")
    for function in wanted:
        print(found[function].translate())


if __name__ == "__main__":
    main()
