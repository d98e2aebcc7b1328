#!/usr/bin/env python3
"""A solver that cannot be trusted, for tests. Usage: false_solver.py MODE
  unsat, sat     says the same to everything
  garbage        prints what is no answer
  dies           ends at the first question
  endless        never answers
  later          answers by z3, but after eight questions says unsat to everything
  deaf           answers by z3, but after four questions reads no more
  slow           answers by z3, but after four questions says unsat to everything, each after half a second"""
import subprocess
import sys
import time

if "--version" in sys.argv:
    print("false solver 1.0")
    sys.exit()
mode = sys.argv[1]
real = subprocess.Popen(["z3", "-in"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) if mode in ("later", "slow", "deaf") else None
questions = 0
for line in sys.stdin:
    command = line.split("(")[1].split()[0].rstrip(")") if "(" in line else ""
    if mode == "deaf" and command == "reset" and questions == 4:
        time.sleep(600)
    if command == "check-sat":
        questions += 1
        if mode == "dies":
            sys.exit(3)
        if mode == "endless":
            continue
        if not real or mode != "deaf" and questions > (4 if mode == "slow" else 8):
            time.sleep(0.5 if mode == "slow" else 0)
            print({"unsat": "unsat", "later": "unsat", "slow": "unsat", "sat": "sat"}.get(mode, "perhaps?"), flush=True)
            continue
    if command == "echo" and not real and mode != "endless":
        print(line.strip()[6:-1].strip('"'), flush=True)
    if real:
        real.stdin.write(line)
        real.stdin.flush()
        if command == "echo":
            for answer in real.stdout:
                print(answer, end="", flush=True)
                if line.strip()[6:-1].strip('"') in answer:
                    break
