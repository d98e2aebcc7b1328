"""A process that does not behave, for tests: false_process.py FAULT [PROTOCOL]. It answers 'scalar add format=fp16' by
the first operand, in lines of text or in binary, until it is given the operand 7e00; then it does what FAULT says."""
import os
import signal
import sys
import time

fault = sys.argv[1]
protocol = sys.argv[2] if len(sys.argv) > 2 else "text"
source, answers = sys.stdin.buffer, sys.stdout.buffer
batches = 0


def say(*lines):
    answers.write(b"".join(line if isinstance(line, bytes) else line.encode() + b"\n" for line in lines))
    answers.flush()


def greet():
    if fault == "exit_at_once":
        sys.exit(3)
    if fault == "silent":
        time.sleep(100)
    if fault == "never_ends_a_line":
        while True:
            answers.write(b"x" * 65536)
    greetings = {"old_version": "mmafuzz-process 0 text false", "no_name": "mmafuzz-process 1 text", "no_greeting": "hello",
                 "other_protocol": "mmafuzz-process 1 xml false", "empty_greeting": ""}
    say(greetings.get(fault, f"mmafuzz-process 1 {protocol} false_process"))


def misbehave(results):
    """The right answer, with what the fault makes of it."""
    n, good = len(results), results
    head = f"results {n}"
    body = [b"".join(bytes.fromhex(r)[::-1] for r in good)] if protocol == "binary" else list(good)
    if fault == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if fault == "exit":
        sys.exit(5)
    if fault == "hang":
        time.sleep(100)
    if fault == "crash_midway":
        say(head, *[part[:1] if protocol == "binary" else part[:1].encode() for part in body[:1]])
        os.kill(os.getpid(), signal.SIGABRT)
    if fault == "hang_midway":
        say(head, *[part[:1] if protocol == "binary" else part[:1].encode() for part in body[:1]])
        time.sleep(100)
    answer = {
        "too_few": [f"results {n - 1}", *(body[:-1] if protocol == "text" else [body[0][2:]]), "end"],
        "fewer_lines": [head, *body[:-1], "end"],
        "too_many": [f"results {n + 1}", *body, *body[:1], "end"],
        "more_lines": [head, *body, *body[:1], "end"],
        "after_end": [head, *body, "end", "and more"],
        "garbage": ["\x00\x7f garbage"],
        "no_number": ["results many", *body, "end"],
        "upper_case": [head, *[r.upper() for r in good], "end"],
        "too_wide": [head, *["1" + r for r in good], "end"],
        "flags": [head + " flags", *[r + " | zz" for r in good], "end"],
        "says_so": ["failed it does not like 7e00"],
        "nothing": [""],
    }
    say(*answer.get(fault, [head, *body, "end"]))


while line := source.readline():
    words = line.decode().split()
    if words[0] == "mmafuzz-process":
        greet()
    elif words[0] == "op":
        if fault == "neither_yes_nor_no":
            say("maybe")
        elif fault == "refuses":
            say("no it takes nothing")
        elif words[1:4] == ["scalar", "add", "format=fp16"] and fault.startswith("features"):
            count = {"features_0": "0", "features_many": "65537", "features_word": "x", "features_twice": "2 features 2"}
            say("yes features " + count.get(fault, "32"))
        elif words[1:4] == ["scalar", "add", "format=fp16"] or fault == "knows_nothing":
            say("yes equals " + sys.argv[3] if len(sys.argv) > 3 else "yes")
        else:
            say("no it takes scalar add format=fp16")
    elif words[0] == "features":  # of a case the bits of its first operand, and 31 for a negative one
        n = int(words[1])
        if protocol == "binary":
            data = source.read(int(words[2]))
            operands = [int.from_bytes(data[4 * i : 4 * i + 2], "little") for i in range(n)]
        else:
            operands = [int(source.readline().split()[0], 16) for _ in range(n)]
        told = [" ".join([str(b) for b in range(15) if x >> b & 1] + ["31"] * (x >> 15)) for x in operands]
        wrong = {"features_late": told[:-1] + [told[-1] + " 32"], "features_no_number": ["a bit"] * n, "features_few": told[:-1]}
        say(f"features {n + (fault == 'features_count')}", *wrong.get(fault, told), "end")
    elif words[0] == "batch":
        n = int(words[1])
        if protocol == "binary":
            data = source.read(int(words[2]))
            cases = [data[4 * i:4 * i + 2][::-1].hex() for i in range(n)]
        else:
            cases = [source.readline().decode().split()[0] for _ in range(n)]
        batches += 1
        if fault == "crash_always":
            os.kill(os.getpid(), signal.SIGSEGV)
        elif fault == "knows_nothing":
            say(f"results {n}", *["-"] * n, "end")
        elif "7e00" in cases or (fault == "crash_third" and batches == 3):
            if fault == "crash_third":
                if batches < 3:
                    cases = list(cases)
                else:
                    os.kill(os.getpid(), signal.SIGSEGV)
            misbehave(cases)
        elif protocol == "binary":
            say(f"results {n}", b"".join(bytes.fromhex(c)[::-1] for c in cases), "end")
        else:
            say(f"results {n}", *cases, "end")
