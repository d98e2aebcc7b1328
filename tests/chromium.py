"""Headless Chromium, spoken to through pipes, for tests of pages; and axe-core, which finds what keyboards and screen readers miss."""
import base64
import json
import os
import pathlib
import subprocess
import time

WIDTHS = (400, 1400)
SCHEMES = ("light", "dark")


class Browser:
    def __init__(self, profile):
        here_in, there_out = os.pipe()
        there_in, here_out = os.pipe()

        def connect():
            os.dup2(there_in, 3)
            os.dup2(there_out, 4)
            os.set_inheritable(3, True)
            os.set_inheritable(4, True)

        command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe",
                   "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={profile}", "about:blank"]
        self.process = subprocess.Popen(command, preexec_fn=connect, close_fds=False,  # noqa: PLW1509
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(there_in)
        os.close(there_out)
        self.reader, self.writer, self.count, self.session, self.events = os.fdopen(here_in, "rb"), os.fdopen(here_out, "wb"), 0, None, []
        self.rest = b""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def call(self, method, **parameters):
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        self.writer.write(json.dumps(message).encode() + b"\0")
        self.writer.flush()
        while True:
            while b"\0" not in self.rest:
                self.rest += os.read(self.reader.fileno(), 1 << 20)
            line, self.rest = self.rest.split(b"\0", 1)
            answer = json.loads(line)
            if answer.get("id") == self.count:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def value(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True)
        return None if "exceptionDetails" in answer else answer["result"].get("value")

    def wait(self, expression, seconds=20):
        """The value of a JavaScript expression once it is true, and the seconds until then."""
        begin = time.monotonic()
        while not (value := self.value(expression)):
            if time.monotonic() - begin > seconds:
                raise RuntimeError(f"waited in vain for {expression[:200]}")
            time.sleep(0.02)
        return value, time.monotonic() - begin

    def open(self, url):
        self.call("Page.navigate", url="about:blank")  # or a change behind # would load nothing
        self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'")

    def look(self, width, scheme, height=1200):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def write(self, field, text):
        self.value(f"document.querySelector('[name={field}]').focus(); document.querySelector('[name={field}]').select()")
        self.call("Input.insertText", text=text)

    def picture(self, path, whole=True):
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", captureBeyondViewport=whole)["data"]))

    def accessibility(self):
        """What axe-core says against the page as it is, as lines; nothing where MMAFUZZ_AXE names no axe.min.js (in PyPI's
        axe-playwright-python)."""
        if not os.environ.get("MMAFUZZ_AXE"):
            return []
        self.value(pathlib.Path(os.environ["MMAFUZZ_AXE"]).read_text(encoding="utf-8"))
        found = self.value("axe.run(document, {resultTypes: ['violations'], preload: false}).then(found => JSON.stringify(found.violations))")
        return ["axe did not run"] if found is None else [
            f"axe: {one['impact']} {one['id']}: {len(one['nodes'])} places, as {one['nodes'][0]['html'][:160]} {one['nodes'][0].get('failureSummary', '')[:200]}"
            for one in json.loads(found)]

    def blind(self):
        """Whether axe-core misses a picture without words, which is put on the page for that."""
        self.value("document.body.append(Object.assign(new Image(), {src: 'data:image/gif;base64,R0lGODlhAQABAAAAACw='}))")
        return bool(os.environ.get("MMAFUZZ_AXE")) and not any("image-alt" in line for line in self.accessibility())

    def complaints(self):
        """What was logged, and what was asked of another host, since the start."""
        logged = [e["params"] for e in self.events if e["method"] in ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown")]
        asked = [e["params"]["request"]["url"] for e in self.events if e["method"] == "Network.requestWillBeSent"]
        return [f"the console says {json.dumps(one)[:300]}" for one in logged] + \
               [f"asked for {url[:80]}" for url in asked if not url.startswith(("file:", "data:", "blob:", "about:"))]

    def end(self):
        self.call("Browser.close")
        self.process.wait(30)
