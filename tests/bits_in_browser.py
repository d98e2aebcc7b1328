#!/usr/bin/env python3
"""Opens the page of ci/bits from disk in headless Chromium at 400 and 1400 pixels, light and dark, types a case, and goes back and
reloads: the bits, the verdict, the address and the form must follow, nothing is requested, logged or wider than the window.

Writes screenshots beside the page. Usage: bits_in_browser.py [PAGE, default build/bits/bits.html]. Exit code 77 without page or
chromium."""
import json
import pathlib
import shutil
import sys
import tempfile
import time

from chromium import SCHEMES, WIDTHS, Browser

ROOT = pathlib.Path(__file__).resolve().parent.parent
STATE = """JSON.stringify({hash: location.hash, verdict: document.getElementById('verdict').textContent,
  message: document.getElementById('message').textContent, results: document.getElementById('results').innerText,
  text: document.getElementById('text').textContent, marks: document.querySelectorAll('#picture title').length,
  first: document.querySelector('[name=first]').value, cases: document.querySelector('[name=cases]').value,
  number: document.querySelector('[name=number]').value, command: document.getElementById('command').textContent,
  version: document.getElementById('version').textContent, units: document.querySelectorAll('#units option').length,
  steps: document.querySelectorAll('#steps a').length, facts: [...document.querySelectorAll('#steps .fact')].map(f => f.textContent), busy: document.getElementById('busy').textContent !== '' ||
  document.body.classList.contains('stale'),
  drawn: document.getElementById('picture').scrollWidth - document.getElementById('picture').clientWidth,
  wide: document.documentElement.scrollWidth - innerWidth, ground: getComputedStyle(document.body).backgroundColor,
  loaded: performance.getEntriesByType('resource').map(r => r.name).filter(n => !/^(data|blob):/.test(n))})"""


class Page(Browser):
    def state(self, wanted, seconds=20):
        """The page's state once `wanted` holds, and how long that took."""
        begin = time.monotonic()
        while True:
            state = json.loads(self.value(STATE) or "{}")
            if state and not state["busy"] and wanted(state):
                return state, time.monotonic() - begin
            if time.monotonic() - begin > seconds:
                raise RuntimeError(f"waited in vain; the page is at {state}")
            time.sleep(0.02)


def walk(browser, page, check):
    browser.call("Page.navigate", url=page.as_uri())
    state, seconds = browser.state(lambda s: s["results"])
    check("the first answer", "bf800000" in state["results"] and "bf7fffff" in state["results"], state)
    check("the cause", "24" in state["verdict"] and "25" in state["verdict"], state)
    check("a mark in each unit", state["marks"] == 2, state)
    browser.state(lambda s: s["units"] > 400)
    browser.write("cases", "1.5 0.1 | 2 3 | 0")
    state, _ = browser.state(lambda s: "40533200" in s["results"])
    check("typed decimals", "1.5+0.1+%7C+2+3+%7C+0" in state["hash"] and "agree" in state["verdict"], state)
    check("a command to copy", state["command"] == "mmafuzz explain a100 h100 --case '1.5 0.1 | 2 3 | 0'", state)
    browser.write("cases", "3e00 2e66 | 4000 4200 | 3f800000")
    browser.state(lambda s: "3f800000" in s["hash"] and "40533200" not in s["results"])
    browser.value("history.back()")
    state, _ = browser.state(lambda s: "bf7fffff" in s["results"])
    check("Back: one entry for what was typed into one field", state["cases"] == "0x1p-14 | 0x1p-11 | -1.", state)
    browser.value("history.forward()")
    browser.state(lambda s: "3f800000" in s["cases"])
    before = browser.state(lambda s: True)[0]
    browser.call("Page.reload")
    time.sleep(0.3)
    after, _ = browser.state(lambda s: s["results"])
    check("reload keeps the state", [before[k] for k in ("hash", "cases", "results", "verdict")] ==
          [after[k] for k in ("hash", "cases", "results", "verdict")], after)
    browser.write("first", "a101")
    state, _ = browser.state(lambda s: s["message"])
    check("an unknown unit is a message with near names", state["message"].startswith("unknown unit 'a101'; nearest: a100") and not state["results"], state)
    browser.value("location.hash = '#0.0.1&why&a100&h100&--op&dot+a=fp16+b=fp16+c=fp32+d=fp32+k=8'")
    state, _ = browser.state(lambda s: "They differ on" in s["text"])
    check("why: facts, and links to their steps", "fraction_bits=24~25" in state["text"] and state["steps"] == len(state["facts"]) > 0, state)
    check("a fact is a sentence with both results", any(
        fact.startswith("bits kept below the greatest exponent: 24 (ampere) against 25 (hopper)") and "bf800000" in fact and "bf7fffff" in fact
        for fact in state["facts"]), state)
    check("a link of another version says so", "0.0.1" in state["version"], state)
    browser.value("document.querySelector('#steps a').click()")
    browser.state(lambda s: "bf7fffff" in s["results"] and s["marks"] == 2)
    browser.value("document.querySelector('[value=list]').click()")
    browser.write("number", "0.1")
    state, _ = browser.state(lambda s: "2e66" in s["text"])
    check("a number in all formats", "&list&formats&0.1" in state["hash"], state)
    browser.value("[...document.querySelectorAll('#numbers button')].find(b => b.title.startsWith('fp16 bit 0 ')).click()")
    state, _ = browser.state(lambda s: "fp16:2e67" in s["hash"])
    check("a bit that is clicked is turned", "0.100036621" in state["text"] and state["number"] == "fp16:2e67", state)
    browser.value("[...document.querySelectorAll('#numbers button')].find(b => b.title.startsWith('fp16 bit 15 sign')).click()")
    state, _ = browser.state(lambda s: "fp16:ae67" in s["hash"])
    check("and so is the sign", "-0.100036621" in state["text"], state)
    browser.value("history.back()")
    browser.state(lambda s: s["number"] == "fp16:2e67")
    return seconds


def main():
    page = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/bits/bits.html").resolve()
    if not page.exists() or not shutil.which("chromium"):
        print("no page (ci/bits) or no chromium", file=sys.stderr)
        return 77
    failed = []

    def check(what, holds, state):
        if not holds:
            failed.append(what)
            print(f"FAILED: {what}\n  {json.dumps(state)[:2000]}")

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Page(profile)
        seconds = walk(browser, page, check)
        grounds = set()
        for width in WIDTHS:
            for scheme in SCHEMES:
                browser.look(width, scheme)
                for name, words in {"explain": "", "why": "#0.2.0&why&a100&h100", "number": "#0.2.0&list&formats&0.1"}.items():
                    browser.call("Page.navigate", url="about:blank")
                    browser.call("Page.navigate", url=page.as_uri() + words)
                    state, _ = browser.state(lambda s: s["text"])
                    check(f"{name} at {width} pixels is not wider", state["wide"] <= 0, state)
                    check(f"the picture at {width} pixels is not wider", state["drawn"] <= 0, state)
                    check("nothing is loaded", not state["loaded"], state)
                    grounds.add((scheme, state["ground"]))
                    found = browser.accessibility()
                    check(f"{name} at {width} pixels, {scheme}: axe", not found, found)
                    browser.picture(page.with_name(f"{name}-{width}-{scheme}.png"))
        check("colours follow the scheme", len(grounds) == 2, sorted(grounds))
        browser.call("Emulation.setScriptExecutionDisabled", value=True)
        browser.call("Page.navigate", url=page.as_uri())
        time.sleep(0.5)
        browser.picture(page.with_name("without-scripts-1400.png"))
        browser.call("Emulation.setScriptExecutionDisabled", value=False)
        check("a planted picture without words is seen", not browser.blind(), "")
        complaints = browser.complaints()
        check("the console is empty, and no request leaves", not complaints, complaints)
        browser.end()
    print(f"{len(failed)} failed; the first answer after {seconds:.2f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
