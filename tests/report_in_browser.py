#!/usr/bin/env python3
"""Opens report pages in headless Chromium at 400 and 1400 pixels, light and dark: no console message, no request, no text that
overflows its box (boxes that scroll are fine), and colours that follow the scheme. Writes a screenshot of each beside the page.

With MMAFUZZ_AXE, a file axe.min.js (in PyPI's axe-playwright-python), the page is also checked for what keyboards and screen
readers need. Usage: report_in_browser.py FOLDER_OF_PAGES. Exit code 77 where there is no chromium."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

WIDTHS = (400, 1400)
SCHEMES = ("light", "dark")
CANARY = "<script>console.error('canary')</script>"  # a console message that must be seen, or the check sees nothing
PROBE = """<script>addEventListener('load', () => {
  for (const d of document.querySelectorAll('details')) d.open = true;
  const wide = [], inside = e => e && (['auto', 'scroll'].includes(getComputedStyle(e).overflowX) || inside(e.parentElement));
  for (const e of document.querySelectorAll('main, main *')) {
    if (e.closest('svg') || inside(e)) continue;
    const box = e.getBoundingClientRect();
    if (box.right > innerWidth + 1 || box.left < -1 || (e.clientWidth && e.scrollWidth > e.clientWidth + 1))
      wide.push(e.tagName + '.' + e.className + ' ' + Math.round(box.right) + ' ' + e.textContent.slice(0, 60));
  }
  for (const t of document.querySelectorAll('svg text')) {
    const svg = t.closest('svg').getBoundingClientRect(), box = t.getBoundingClientRect();
    if (box.width && (box.right > svg.right + 1 || box.left < svg.left - 1)) wide.push('svg text ' + t.textContent.slice(0, 60));
  }
  const root = document.documentElement;
  if (root.scrollWidth > innerWidth + 1) wide.push('page ' + root.scrollWidth);
  const loaded = performance.getEntriesByType('resource').map(r => r.name).filter(n => !n.startsWith('data:'));
  console.info('probe ' + JSON.stringify({width: innerWidth, wide: wide.slice(0, 20), loaded, dark: matchMedia('(prefers-color-scheme: dark)').matches,
    ground: getComputedStyle(document.body).backgroundColor, ink: getComputedStyle(document.body).color}));
});</script>"""


def chromium(*arguments):
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--enable-logging=stderr", "--v=0",
               "--host-resolver-rules=MAP * ~NOTFOUND", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def scheme_flags(scheme):
    return ["--blink-settings=preferredColorScheme=" + ("0" if scheme == "dark" else "1")]  # Blink's numbers


def framed(page, width, folder):
    """Headless windows are at least 500 pixels wide: a narrower view is an iframe of that width."""
    outer = folder / f"frame{width}.html"
    outer.write_text(f"<body style='margin:0'><iframe src='{page.as_uri()}' style='border:0;width:{width}px;height:3000px'></iframe>", encoding="utf-8")
    return outer


def probe(page, width, scheme, folder, extra=""):
    copy = folder / f"{page.stem}-{width}-{scheme}.html"
    copy.write_text(page.read_text(encoding="utf-8").replace("</body>", PROBE + extra + "</body>"), encoding="utf-8")
    result = chromium(*scheme_flags(scheme), "--window-size=1500,3000", "--virtual-time-budget=3000", "--dump-dom", framed(copy, width, folder).as_uri())
    messages = re.findall(r"CONSOLE[^\]]*\] (.*), source:", result.stderr)
    seen = [m for m in messages if "probe {" in m]
    other = [m for m in messages if "probe {" not in m]
    found = json.loads(re.search(r"probe (\{.*\})", seen[0]).group(1)) if seen else None
    return found, other


AXE = """<script>addEventListener('load', async () => {
  for (const d of document.querySelectorAll('details')) d.open = true;
  const found = await axe.run(document, {resultTypes: ['violations']});
  console.info('axe ' + JSON.stringify(found.violations.map(v => [v.id, v.impact, v.nodes.length, v.nodes[0].html.slice(0, 120)])));
});</script>"""


def accessibility(page, scheme, folder, extra=""):
    """What axe-core finds wrong, as lines; None where it did not run."""
    script = pathlib.Path(os.environ["MMAFUZZ_AXE"]).read_text(encoding="utf-8")
    copy = folder / f"{page.stem}-axe-{scheme}.html"
    text = page.read_text(encoding="utf-8")
    cut = text.rindex("</body>")
    copy.write_text(text[:cut] + extra + "<script>" + script + "</script>" + AXE + text[cut:], encoding="utf-8")
    result = chromium(*scheme_flags(scheme), "--window-size=1400,3000", "--virtual-time-budget=60000", "--dump-dom", copy.as_uri())
    seen = re.search(r'"axe (\[.*\])", source:', result.stderr)
    return None if not seen else [f"{impact} {name}: {count} places, as {html}" for name, impact, count, html in json.loads(seen.group(1))]


def check_accessibility(pages, folder):
    if not os.environ.get("MMAFUZZ_AXE"):
        print("no MMAFUZZ_AXE: not checked for screen readers")
        return []
    planted = accessibility(pages / "campaign.html", "light", folder, "<img src='data:image/gif;base64,R0lGODlhAQABAAAAACw='>")
    errors = [] if planted and any("image-alt" in line for line in planted) else [f"a planted picture without words was not seen: {planted}"]
    for page in sorted(pages.glob("*.html")):
        for scheme in SCHEMES:
            found = accessibility(page, scheme, folder)
            errors += [f"{page.name} {scheme}: axe did not run"] if found is None else [f"{page.name} {scheme}: axe: {line}" for line in found]
    return errors


def check(page, folder, screenshots):
    errors = []
    grounds = {}
    for scheme in SCHEMES:
        for width in WIDTHS:
            where = f"{page.name} {width} {scheme}"
            found, messages = probe(page, width, scheme, folder)
            if found is None:
                errors.append(f"{where}: the page did not load")
                continue
            errors += [f"{where}: console: {m}" for m in messages]
            errors += [f"{where}: overflows: {w}" for w in found["wide"]] + [f"{where}: loads {name}" for name in found["loaded"]]
            if found["width"] != width or found["dark"] != (scheme == "dark"):
                errors.append(f"{where}: the browser showed {found['width']} pixels, dark {found['dark']}")
            grounds[scheme] = (found["ground"], found["ink"])
            picture = screenshots / f"{page.stem}-{width}-{scheme}.png"
            chromium(*scheme_flags(scheme), f"--window-size={max(width, 500)},3000", f"--screenshot={picture}", framed(page, width, folder).as_uri())
            if not picture.exists():
                errors.append(f"{where}: no screenshot")
    if len(set(grounds.values())) != 2:
        errors.append(f"{page.name}: colours do not follow the scheme: {grounds}")
    return errors


def main(pages):
    if not shutil.which("chromium"):
        print("no chromium here: skipped")
        return 77
    pages = pathlib.Path(pages).resolve()
    screenshots = pages / "screenshots"
    screenshots.mkdir(exist_ok=True)
    errors = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        _, messages = probe(pages / "campaign.html", 400, "light", folder, CANARY)
        if not any("canary" in m for m in messages):
            errors.append("a planted console message was not seen")
        wide = pages.joinpath("campaign.html").read_text(encoding="utf-8").replace("<h1", "<p style='width:900px'>wide</p><h1", 1)
        (folder / "planted.html").write_text(wide, encoding="utf-8")
        found, _ = probe(folder / "planted.html", 400, "light", folder)
        if not found or not found["wide"]:
            errors.append("a planted overflow was not seen")
        for page in sorted(pages.glob("*.html")):
            errors += check(page, folder, screenshots)
        errors += check_accessibility(pages, folder)
    for error in errors[:60]:
        print(error)
    print(f"{len(errors)} problems; screenshots in {screenshots}")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
