# SPDX-License-Identifier: MIT
"""A browser under control: headless Chromium through chromedriver's WebDriver interface (W3C)."""

import base64
import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
import urllib.error
import urllib.request
from pathlib import Path

# Nothing but the page: no account, no updates, no experiments.
ARGUMENTS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-default-apps",
    "--disable-extensions",
    "--hide-scrollbars",
]

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "ArrowRight": "\ue014", "Tab": "\ue004", "Backspace": "\ue003"}


class NoBrowser(Exception):
    """There is no browser to test with, or it does not start here."""


class Browser:
    """One browser with one window and a new profile, for a `with` block."""

    def __enter__(self):
        binary = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        driver = shutil.which("chromedriver")
        if not binary or not driver:
            missing = [name for name, path in (("chromium", binary), ("chromedriver", driver)) if not path]
            raise NoBrowser(f"{' and '.join(missing)} not found; on Debian: apt-get install chromium chromium-driver")
        self.profile = Path(tempfile.mkdtemp(prefix="browser-"))
        self.driver = None
        try:
            self._start(driver, binary)
        except BaseException:
            self.__exit__()
            raise
        return self

    def _start(self, driver, binary):
        # Proxies and the desktop's settings are not for a test.
        environment = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")} | {"HOME": str(self.profile)}
        self.driver = subprocess.Popen(
            [driver, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
        )
        port = next((m[1] for line in self.driver.stdout if (m := re.search(r"started successfully on port (\d+)", line))), None)
        if not port:
            raise NoBrowser("chromedriver ended before it listened")
        # Other output is discarded, so that the browser never blocks on a full pipe.
        threading.Thread(target=self.driver.stdout.read, daemon=True).start()
        self.open = urllib.request.build_opener(urllib.request.ProxyHandler({})).open
        self.base = f"http://127.0.0.1:{port}/session"
        options = {"binary": binary, "args": [*ARGUMENTS, f"--user-data-dir={self.profile / 'profile'}"]}
        capabilities = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}
        try:
            session = self._call("POST", "", {"capabilities": {"alwaysMatch": capabilities}})
        except RuntimeError as reason:
            raise NoBrowser(f"Chromium does not start: {reason}") from None
        self.base += f"/{session['sessionId']}"

    def __exit__(self, *_):
        if self.driver:
            try:
                self._call("DELETE", "")
            except (OSError, AttributeError, RuntimeError):
                pass
            self.driver.terminate()
            self.driver.wait(timeout=20)
        shutil.rmtree(self.profile, ignore_errors=True)

    def _call(self, method, path, body=None):
        data = json.dumps(body or {}).encode() if method == "POST" else None
        request = urllib.request.Request(self.base + path, data=data, method=method, headers={"Content-Type": "application/json"})
        try:
            with self.open(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            value = json.load(error)["value"]
            raise RuntimeError(f"{value['error']}: {value['message'].splitlines()[0]}") from None

    def goto(self, url):
        self._call("POST", "/url", {"url": url})

    def back(self):
        self._call("POST", "/back")

    def run(self, script, *arguments):
        """The value of a script's `return`."""
        return self._call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def wait(self, condition, *arguments, seconds=10):
        """Wait for a script expression to be true; return False on timeout."""
        script = f"""const done = arguments[arguments.length - 1], given = [...arguments].slice(0, -1), start = performance.now();
            const test = (...args) => {{ {"return " + condition} }};
            (function look() {{
                if (test(...given)) done(true);
                else if (performance.now() - start > {seconds * 1000}) done(false);
                else setTimeout(look, 20);
            }})();"""
        self._call("POST", "/timeouts", {"script": (seconds + 10) * 1000})
        return self._call("POST", "/execute/async", {"script": script, "args": list(arguments)})

    def element(self, selector):
        return self._call("POST", "/element", {"using": "css selector", "value": selector})[ELEMENT]

    def click(self, selector):
        """Click as a person does: an element on top gets the click."""
        self._call("POST", f"/element/{self.element(selector)}/click")

    def type(self, selector, text):
        self._call("POST", f"/element/{self.element(selector)}/value", {"text": text})

    def press(self, *keys):
        steps = [step for key in keys for step in ({"type": "keyDown", "value": KEYS.get(key, key)}, {"type": "keyUp", "value": KEYS.get(key, key)})]
        self._call("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": steps}]})

    def point(self, x, y, click=False):
        """Move the mouse to a place of the window."""
        steps = [{"type": "pointerMove", "duration": 0, "x": round(x), "y": round(y)}]
        if click:
            steps += [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        self._call("POST", "/actions", {"actions": [{"type": "pointer", "id": "mouse", "actions": steps}]})

    def devtools(self, command, **parameters):
        return self._call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def window(self, width, height, mobile=False):
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=2 if mobile else 1, mobile=mobile)

    def theme(self, name):
        features = [{"name": "prefers-color-scheme", "value": name}]
        self.devtools("Emulation.setEmulatedMedia", features=features)

    def screenshot(self, file):
        file.write_bytes(base64.b64decode(self._call("GET", "/screenshot")))

    def whole_page(self, file):
        picture = self.devtools("Page.captureScreenshot", captureBeyondViewport=True)
        file.write_bytes(base64.b64decode(picture["data"]))

    def console(self):
        """Return the console messages of page and browser since the last call."""
        return [f"{entry['level']}: {entry['message']}" for entry in self._call("POST", "/se/log", {"type": "browser"})]

    def requests(self):
        """The addresses that were asked for since it was asked last."""
        messages = (json.loads(entry["message"])["message"] for entry in self._call("POST", "/se/log", {"type": "performance"}))
        return [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]
