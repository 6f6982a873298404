"""Drives a headless Chromium by its debugging protocol over two pipes."""

import base64
import json
import os
import select
import subprocess
import time


class Browser:
    def __init__(self, scratch: str):
        to_browser, commands = os.pipe()
        answers, from_browser = os.pipe()

        def wire() -> None:
            # The browser reads descriptor 3 and writes descriptor 4; the copies must not be in the way of one another.
            kept = [os.dup(to_browser), os.dup(from_browser)]
            os.dup2(kept[0], 3)
            os.dup2(kept[1], 4)

        flags = "--headless --no-sandbox --disable-gpu --disable-background-networking --no-first-run --disable-dev-shm-usage --hide-scrollbars"
        log = open(os.path.join(scratch, "chromium.log"), "wb")
        self.process = subprocess.Popen(
            ["chromium", *flags.split(), "--remote-debugging-pipe", f"--user-data-dir={scratch}/profile", "about:blank"],
            preexec_fn=wire,
            close_fds=False,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
        os.close(to_browser)
        os.close(from_browser)
        self.commands, self.answers = commands, answers
        self.read, self.number, self.session, self.events = b"", 0, None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Page.enable")

    def message(self) -> dict:
        while b"\0" not in self.read:
            ready, _, _ = select.select([self.answers], [], [], 120)
            more = os.read(self.answers, 1 << 20) if ready else b""
            if not more:
                raise SystemExit("the browser does not answer")
            self.read += more
        line, self.read = self.read.split(b"\0", 1)
        return json.loads(line)

    def call(self, method: str, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.message()
            if answer.get("id") == self.number:
                assert "error" not in answer, f"{method}: {answer}"
                return answer["result"]
            self.events.append(answer.get("method"))

    def open(self, url: str, width: int, scheme: str = "light", script: bool = True) -> None:
        """Opens a page in a window of a width, and waits until it is loaded."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 500)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.call("Emulation.setScriptExecutionDisabled", value=not script)
        self.events.clear()
        self.call("Page.navigate", url=url)
        while "Page.loadEventFired" not in self.events:
            self.events.append(self.message().get("method"))

    def evaluate(self, expression: str):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, f"{expression}: {answer}"
        return answer["result"].get("value")

    def press(self, key: str) -> None:
        for kind in ["keyDown", "keyUp"]:
            text = {"text": key} if kind == "keyDown" and len(key) == 1 else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, **text)

    def picture(self, path: str) -> None:
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def close(self) -> None:
        self.session = None
        self.call("Browser.close")
        deadline = time.time() + 20
        while self.process.poll() is None and time.time() < deadline:
            time.sleep(0.1)
        if self.process.poll() is None:
            self.process.kill()
