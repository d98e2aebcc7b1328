#!/usr/bin/env python3
"""Predicts the rate of the sweep's kernels from their machine code. Called by ci/check-device-code --count.

Usage: count_instructions.py OBJECT ARCHITECTURE LOG [multiprocessors clock_ghz]
       count_instructions.py --calibrate OBJECT ARCHITECTURE
  OBJECT  assembled with -DMMAFUZZ_COUNT: pmevent instructions say how often the code around them runs for each warp and
          panel of 64 x 64 dots (MMAFUZZ_RUNS in gpu_bridge/sweep/panel.h); LOG: what ptxas -v said of it

A block of code counts as often as the innermost loop around it runs, whatever share of the warps takes it; all of a
called function counts as often as its call. Code that is marked as seldom counts nothing (reporting a divergence), what
runs in panels with infinities and NaNs a share of one in SPECIAL_EVERY. Cycles of a scheduler for a warp: the greatest
of what the issue and each pipe take. Sources of the pipes' widths: CUDA Programming Guide, "Arithmetic instructions"
(results per clock and multiprocessor), compute capability 9.0.
"""

import re
import subprocess
import sys

SPECIAL_EVERY = 8  # gpu_bridge/sweep/generator.h
# Threads and bytes of shared memory of a multiprocessor: CUDA Programming Guide, "Technical specifications per compute
# capability". A block takes 1 KiB more than it asks for.
LIMITS = {"75": (1024, 64), "80": (2048, 164), "86": (1536, 100), "89": (1536, 100), "90a": (2048, 228),
          "100a": (2048, 228), "120a": (1536, 100)}
# Results per clock and multiprocessor; a scheduler has a quarter.
PIPES = {
    "fma": (64, r"(IMAD|IDP|FFMA|FMUL|FADD|HFMA2|HADD2|HMUL2)"),
    "slow": (16, r"(FLO|POPC|MUFU|I2F|F2I|BREV|F2F)"),
    "memory": (32, r"(LDS|STS|LDG|STG|LD|ST|LDL|STL|ATOM|ATOMS|ATOMG|RED|LDC|LDSM|SHFL)"),
    "control": (64, r"(BRA|BSSY|BSYNC|EXIT|CALL|RET|BAR|WARPSYNC|NOP|PMTRIG|BREAK|YIELD|DEPBAR|ERRBAR|MEMBAR|BRX|JMP)"),
    "matrix": (64, r"(HMMA|QMMA|OMMA|IMMA|DMMA|HGMMA)"),
    "uniform": (64, r"(U[A-Z0-9]+|R2UR|S2UR|S2R|CS2R)"),
}
ALU = 64
# SHA-256 of one block: GPU, multiprocessors, boost clock in GHz by its vendor, measured hashes per second (hashcat's
# mode 1400: v6.1.1, github.com/siseci/hashcat-benchmark-comparison, issue 3; v6.2.6,
# gist.github.com/Chick3nman/32e662a5bb63bc4f51b847bb422222fd).
MEASURED = {"86": ("RTX 3090", 82, 1.80, 9.941e9), "89": ("RTX 4090", 128, 2.52, 2.19755e10)}


def pipe_of(opcode):
    for name, (_, pattern) in PIPES.items():
        if re.match(pattern + r"(\.|$)", opcode):
            return name
    return "alu"


def functions(object_file):
    text = subprocess.run(["cuobjdump", "-sass", object_file], check=True, capture_output=True, text=True).stdout
    for part in text.split("Function : ")[1:]:
        name = part.split("\n", 1)[0].strip()
        code = []
        for at, guard, opcode, rest in re.findall(r"/\*([0-9a-f]{4,})\*/\s+(@!?U?P\w+\s+)?([A-Z][\w.]*)([^;]*);", part):
            code.append((int(at, 16), guard.strip(), opcode, rest))
        yield name, code


class Graph:
    def __init__(self, code):
        self.code = code
        index = {c[0]: n for n, c in enumerate(code)}
        target = lambda rest: index.get(int(m[1], 16)) if (m := re.search(r"0x([0-9a-f]+)\s*$", rest.strip())) else None
        leaders, self.calls = {0}, {}
        jumps = {}
        for n, (_, _, opcode, rest) in enumerate(code):
            if opcode.startswith(("BRA", "CALL")):
                to = target(rest.split(",")[-1])
                if opcode.startswith("CALL"):
                    self.calls[n] = to
                    leaders.add(n + 1)
                else:
                    jumps[n] = to
                    leaders |= {to, n + 1}
            elif opcode.startswith(("EXIT", "RET", "BRX")):
                jumps[n] = None
                leaders.add(n + 1)
        leaders |= {to for to in self.calls.values() if to is not None}
        self.start = sorted(n for n in leaders if n is not None and n < len(code))
        block_of = {}
        for b, first in enumerate(self.start):
            for n in range(first, self.start[b + 1] if b + 1 < len(self.start) else len(code)):
                block_of[n] = b
        self.block_of = block_of
        self.next = [[] for _ in self.start]
        for b in range(len(self.start)):
            last = (self.start[b + 1] if b + 1 < len(self.start) else len(code)) - 1
            if last in jumps:
                if jumps[last] is not None:
                    self.next[b].append(block_of[jumps[last]])
                always = not code[last][1] and not re.match(r"\s*!?U?P\d", code[last][3])
                if not always and last + 1 < len(code):
                    self.next[b].append(block_of[last + 1])
            elif last + 1 < len(code):
                self.next[b].append(block_of[last + 1])

        # The targets of an indirect branch stand in a table elsewhere: the blocks behind it that nothing else leads to.
        entered = {0} | {n for after in self.next for n in after} | {block_of[to] for to in self.calls.values() if to is not None}
        table = None
        for b in range(len(self.start)):
            if b not in entered and table is not None:
                self.next[table].append(b)
            last = (self.start[b + 1] if b + 1 < len(self.start) else len(code)) - 1
            if code[last][2].startswith("BRX"):
                table = b
        # A call of what never returns is a jump (sm_80 to sm_89, where the warp meets again).
        for n, to in list(self.calls.items()):
            if to is None:
                continue
            if not any(o.startswith("RET") for b in self.reachable([block_of[to]]) for _, _, o, _ in self.blocks(b)):
                del self.calls[n]
                self.next[block_of[n]].append(block_of[to])
                if not code[n][1]:
                    self.next[block_of[n]].remove(block_of[n + 1])

    def blocks(self, b):
        end = self.start[b + 1] if b + 1 < len(self.start) else len(self.code)
        return self.code[self.start[b] : end]

    def reachable(self, roots, without=()):
        seen, todo = set(), [r for r in roots if r not in without]
        while todo:
            b = todo.pop()
            if b in seen:
                continue
            seen.add(b)
            todo += [n for n in self.next[b] if n not in seen and n not in without]
        return seen

    def dominators(self):
        everything = self.reachable([0])
        return {b: everything - self.reachable([0], {b}) for b in everything}  # b: what it dominates

    def runs(self):
        """How often each block runs, for each warp and panel."""
        marked = {}
        for b in range(len(self.start)):
            for _, _, opcode, rest in self.blocks(b):
                if opcode.startswith("PMTRIG"):
                    value = int(rest.strip().split(",")[-1], 16)
                    if value & 0x8000:
                        self.shared = (value & 0x7FFF) * 64
                    else:
                        marked[b] = max(marked.get(b, -1), value - 1)
        dominated = self.dominators()
        loops = {}  # head: body
        for b in dominated:
            for head in self.next[b]:
                if b in dominated.get(head, ()):
                    body = {head}
                    todo = [b]
                    while todo:
                        x = todo.pop()
                        if x not in body:
                            body.add(x)
                            todo += [p for p in dominated if x in self.next[p]]
                    loops[head] = loops.get(head, set()) | body
        count = {}
        seldom, special = set(), set()
        for b, times in marked.items():
            if times <= 0:
                (special if times else seldom).update(dominated[b])
        for b in dominated:
            inside = sorted((len(body), head) for head, body in loops.items() if b in body)
            for _, head in inside:
                # A loop's count: the least among marks of its body that no inner loop holds.
                inner = set().union(*[loops[h] for h in loops if h != head and loops[h] < loops[head]], set())
                marks = [marked[x] for x in loops[head] - inner if marked.get(x, 0) > 0]
                if marks:
                    count[b] = max(marks)
                    break
        for b in count:
            count[b] *= 0 if b in seldom else 1 / SPECIAL_EVERY if b in special else 1
        calls = [(self.block_of[n], self.block_of[to]) for n, to in self.calls.items() if to is not None]
        of_calls = {b: sum(count.get(f, 0) for f, to in calls if b in self.reachable([to])) for b in range(len(self.start))}
        for b, times in of_calls.items():
            count[b] = count.get(b, 0) + times
        return count


def cycles_of(pipes):
    """What the fullest pipe of a scheduler, or its issue, takes for these warp instructions."""
    width = lambda p: (PIPES[p][0] if p in PIPES else ALU) / 4 / 32
    return max([sum(pipes.values())] + [n / width(p) for p, n in pipes.items()])


def calibrate(object_file, architecture):
    """The rate of ci/sha256_rate.cu's loop by the same method, beside what a GPU has given."""
    (_, code), = functions(object_file)
    graph = Graph(code)
    pipes = {}
    for b in range(len(graph.start)):
        if b in graph.reachable(graph.next[b]):
            for _, _, opcode, _ in graph.blocks(b):
                pipes[pipe_of(opcode)] = pipes.get(pipe_of(opcode), 0) + 1
    gpu, multiprocessors, clock, measured = MEASURED[architecture]
    rate = multiprocessors * 4 * clock * 1e9 * 32 / cycles_of(pipes)
    print("%s, SHA-256: %d warp instructions, %d cycles for 32 hashes; predicted %.3g hashes/s at %.2f GHz, measured %.3g (%.2f times)"
          % (gpu, sum(pipes.values()), cycles_of(pipes), rate, clock, measured, measured / rate))


def main():
    if sys.argv[1] == "--calibrate":
        return calibrate(*sys.argv[2:])
    object_file, architecture, log = sys.argv[1:4]
    multiprocessors, clock = (float(x) for x in sys.argv[4:6]) if len(sys.argv) > 5 else (132, 1.755)
    registers = dict(re.findall(r"entry function '([^']+)' for.*?\n(?:.*\n)*?.*?Used (\d+) registers", open(log).read()))
    print("%-34s %9s %9s %7s %7s %8s %10s"
          % ("kernel (sm_%s)" % architecture, "warp ins.", "cycles", "regs", "shared", "warps/SM", "dots/s"))
    for name, code in functions(object_file):
        short = re.search(r"Panels_(\w+?)EE", name)
        if not short or len(code) < 200:
            continue
        graph = Graph(code)
        count = graph.runs()
        pipes = {}
        for b, times in count.items():
            for _, _, opcode, _ in graph.blocks(b):
                if not opcode.startswith(("PMTRIG", "NOP")):
                    pipes[pipe_of(opcode)] = pipes.get(pipe_of(opcode), 0) + times
        total = sum(pipes.values())
        cycles = cycles_of(pipes)
        wide = re.match(r"wgmma_\d+_(\d+)_", short[1])  # panels are 64 x 64, or 64 x n; a block has no idle threads
        columns = max(64, int(wide[1]) if wide else 0)
        warps = 4 if wide and columns == int(wide[1]) else 8
        per_32 = lambda x: x * warps * 32 / (64 * columns)
        used = int(registers.get(name, 0))
        by_registers = 65536 // (32 * warps * ((used + 7) // 8 * 8)) if used else 0
        threads, kilobytes = LIMITS[architecture]
        blocks = min(by_registers, threads // (32 * warps), kilobytes * 1024 // (graph.shared + 1024))
        # A warp issues at most one instruction in about 4.5 cycles when each waits for the last.
        cycles = max(cycles, total * 4.5 / max(1, blocks * warps / 4))
        rate = multiprocessors * 4 * clock * 1e9 * 32 / per_32(cycles)
        print("%-34s %9.0f %9.0f %7d %7d %8d %10.2e   %s" % (short[1], per_32(total), per_32(cycles), used, graph.shared, warps * blocks, rate,
              " ".join("%s %.0f" % (p, per_32(n)) for p, n in sorted(pipes.items(), key=lambda x: -x[1]))))


if __name__ == "__main__":
    main()
