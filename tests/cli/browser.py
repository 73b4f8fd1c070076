"""A page in headless Chromium, driven through its debugging pipe: what it draws, logs and asks the network for; keys and clicks as a user gives them."""
import base64
import json
import os
import select
import shutil
import subprocess
import time

PROGRAM = next((b for b in ("chromium", "chromium-browser", "google-chrome") if shutil.which(b)), None)
TIME_OUT_S = 300 # a loaded machine is slow, a browser that hangs is found


class Browser:
    """`with Browser() as page: page.open(path); page.run("1 + 1")`. `logged`: what the console says, and errors; `asked`: addresses that were asked for."""

    def __init__(self):
        self.logged, self.asked, self.events, self.number, self.buffer = [], [], [], 0, b""

    def __enter__(self):
        to_read, self.out = os.pipe()
        self.input, to_write = os.pipe()

        def place(): # Chromium reads 3 and writes 4
            a, b = os.dup(to_read), os.dup(to_write)
            a, b = os.dup(a), os.dup(b) # neither is 3 or 4
            os.dup2(a, 3)
            os.dup2(b, 4)

        folder = os.path.abspath("browser")
        self.process = subprocess.Popen([PROGRAM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run",
                                         "--disable-background-networking", "--disable-component-update", "--disable-extensions", "--user-data-dir=" + folder,
                                         "--remote-debugging-pipe", "about:blank"], preexec_fn=place, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.session = None
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(t["targetId"] for t in targets if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        return self

    def __exit__(self, *_):
        self.session = None
        try:
            self.call("Browser.close")
        except (OSError, RuntimeError):
            pass
        os.close(self.out)
        os.close(self.input)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def _receive(self, until):
        while b"\0" not in self.buffer:
            if not select.select([self.input], [], [], max(0, until - time.monotonic()))[0]:
                raise RuntimeError("the browser does not answer")
            data = os.read(self.input, 1 << 20)
            if not data:
                raise RuntimeError("the browser has ended")
            self.buffer += data
        message, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(message)
        method, more = message.get("method"), message.get("params", {})
        if method == "Runtime.consoleAPICalled":
            self.logged.append(" ".join(str(a.get("value", a.get("description"))) for a in more["args"]))
        elif method == "Runtime.exceptionThrown":
            self.logged.append(more["exceptionDetails"].get("exception", {}).get("description") or more["exceptionDetails"]["text"])
        elif method == "Log.entryAdded":
            self.logged.append(more["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.asked.append(more["request"]["url"])
        if method:
            self.events.append(method)
        return message

    def call(self, method, **parameters):
        self.number += 1
        number = self.number
        message = {"id": number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + TIME_OUT_S
        while True:
            answer = self._receive(until)
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def look(self, width, height=800, dark=False, media=""):
        """A window of that size, as a person sees it who likes dark or light; media "print": on paper."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500)
        self.call("Emulation.setEmulatedMedia", media=media, features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def open(self, path):
        self.events.clear()
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        until = time.monotonic() + TIME_OUT_S
        while "Page.loadEventFired" not in self.events:
            self._receive(until)

    def run(self, expression):
        """The expression's value."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise RuntimeError(expression + ": " + str(found["exceptionDetails"].get("exception", found["exceptionDetails"])))
        return found["result"].get("value")

    def key(self, name, code=0, text=""):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=code, text=text if kind == "keyDown" else "")

    def click(self, selector):
        x, y = self.run(f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView({{block: 'center'}}); const b = e.getBoundingClientRect();"
                        " return [b.x + b.width / 2, b.y + b.height / 2]; })()")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def picture(self, path):
        """The whole page as a PNG."""
        data = self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        with open(path, "wb") as out:
            out.write(base64.b64decode(data))
