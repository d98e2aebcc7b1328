#!/usr/bin/env python3
"""Opens pages of the site from disk in headless Chromium at 400 and 1400 pixels, light and dark, and without scripts: nothing is wider
than the window, logged, or asked of another host; axe-core, where MMAFUZZ_AXE names it, has nothing to say; filters, order and the
address follow each other.

Writes screenshots into the folder of them. Usage: site_in_browser.py [SITE, default build/site] [FOLDER, default build/site_in_browser].
Exit code 77 without site or chromium."""
import pathlib
import shutil
import sys
import tempfile

from chromium import SCHEMES, WIDTHS, Browser

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = ("index", "catalogue/hopper-wgmma.m64n8k32.f32.e4m3.e4m3.f32", "catalogue", "open_points", "defects", "docs/observatory", "docs/units", "docs/json",
         "docs/cookbook", "differences", "commands", "docs/python")
WIDE = "document.documentElement.scrollWidth - innerWidth"
ROWS = "[...document.querySelectorAll('#rows tbody tr')].filter(row => row.getBoundingClientRect().height).length"


def walk(browser, site):
    """Filters: what is chosen stands in the address, and what the address says is chosen."""
    browser.open(site.joinpath("catalogue.html").as_uri())
    every = browser.value(ROWS)
    browser.write("text", "h200 wgmma")
    some, _ = browser.wait(f"{ROWS} < {every} && {ROWS}")
    address = browser.value("location.search")
    browser.open(site.joinpath("catalogue.html").as_uri() + "?text=h200+wgmma&operand=e4m3")
    fewer, said = browser.value(ROWS), browser.value("document.getElementById('count').textContent")
    browser.value("document.querySelector('#rows tbody tr:not([hidden]) a').click()")
    title, _ = browser.wait("location.pathname.includes('/catalogue/') && document.querySelector('h1') && document.querySelector('h1').textContent")
    if address != "?text=h200+wgmma" or not 0 < fewer < some < every or not said.startswith(f"{fewer} of {every} ") or "e4m3" not in title:
        yield f"filters: {every} rows, then {some} at {address}, then {fewer}: {said}; then the page {title}"


def sort(browser, site):
    """A click on a column's name sorts by it, a second one the other way, a third one not; the address says so and is believed."""
    column = "[...document.querySelectorAll('#rows tbody tr')].map(row => +row.cells[5].textContent)"
    orders = []
    browser.open(site.joinpath("catalogue.html").as_uri())
    first = browser.value(f"{column}.join()")
    for _ in range(3):
        browser.value("document.querySelectorAll('#rows th')[5].querySelector('button').click()")
        orders.append((browser.value("location.search"), browser.value("document.querySelectorAll('#rows th')[5].ariaSort"), browser.value(f"{column}.join()")))
    products = sorted(map(int, first.split(",")))
    wanted = [("?sort=k", "ascending", products), ("?sort=-k", "descending", products[::-1]), ("", "none", list(map(int, first.split(","))))]
    if [(address, said, list(map(int, order.split(",")))) for address, said, order in orders] != wanted:
        yield f"sorting: {[(address, said, order[:40]) for address, said, order in orders]}"
    browser.open(site.joinpath("catalogue.html").as_uri() + "?sort=-k&kernel=fma_chain")
    if browser.value(f"Math.max(...{column}) !== {column}[0]"):
        yield "sorting: the address is not believed"


def main():
    site, folder = (pathlib.Path(sys.argv[i] if len(sys.argv) > i else ROOT / name).resolve() for i, name in ((1, "build/site"), (2, "build/site_in_browser")))
    if not (site / "index.html").exists() or not shutil.which("chromium"):
        print("no site (ci/site) or no chromium", file=sys.stderr)
        return 77
    folder.mkdir(exist_ok=True)
    errors = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(profile)
        errors += walk(browser, site)
        errors += sort(browser, site)
        rows = {}
        for scripts in (True, False):
            browser.call("Emulation.setScriptExecutionDisabled", value=not scripts)
            for width in WIDTHS:
                for scheme in SCHEMES:
                    browser.look(width, scheme)
                    grounds = set()
                    for page in PAGES:
                        where = f"{page} at {width} pixels, {scheme}{'' if scripts else ', without scripts'}"
                        browser.open(site.joinpath(page + ".html").as_uri())
                        grounds.add(browser.value("getComputedStyle(document.body).backgroundColor"))
                        rows.setdefault(page, set()).add(browser.value(ROWS))
                        errors += [f"{where}: {wide} pixels too wide" for wide in [browser.value(WIDE)] if wide != 0]
                        browser.picture(folder / f"{page.replace('/', '-')}-{width}-{scheme}{'' if scripts else '-without-scripts'}.png", whole=False)
                        if scripts:
                            errors += [f"{where}: {line}" for line in browser.accessibility()]
                    if len(grounds) != 1:
                        errors.append(f"grounds of {scheme}: {grounds}")
        errors += [f"{page} has {many} rows, with and without scripts" for page, many in rows.items() if len(many) != 1]
        browser.call("Emulation.setScriptExecutionDisabled", value=False)
        browser.open(site.joinpath("index.html").as_uri())
        if browser.blind():
            errors.append("a planted picture without words was not seen")
        errors += browser.complaints()
        browser.end()
    print("\n".join(errors[:60]))
    print(f"{len(PAGES)} pages, {len(errors)} problems; screenshots in {folder}")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
