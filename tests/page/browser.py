"""A headless Chromium that is spoken to over a pipe, by the DevTools protocol: https://chromedevtools.github.io/devtools-protocol/

--remote-debugging-pipe: messages are JSON, each ended by a NUL; the browser reads descriptor 3 and writes descriptor 4.
"""
import base64
import json
import os
import select
import shutil
import subprocess
import time

# As long as a busy machine may need for one answer.
PATIENCE_S = 60


def missing():
    """Why there is no browser, or None."""
    return None if shutil.which("chromium") else "chromium is not installed: scripts/deps"


class Browser:
    def __init__(self, folder):
        down_read, down_write = os.pipe()
        up_read, up_write = os.pipe()

        def place():
            high = [os.dup(down_read), os.dup(up_write)]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run",
                   "--disable-extensions", "--disable-background-networking", f"--user-data-dir={folder}/profile", "--remote-debugging-pipe"]
        with open(f"{folder}/chromium.log", "wb") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=place, pass_fds=(3, 4),
                                            env={**os.environ, "HOME": str(folder), "DBUS_SESSION_BUS_ADDRESS": "disabled:"}, start_new_session=True)
        os.close(down_read)
        os.close(up_write)
        self.out, self.into, self.rest, self.number, self.session = down_write, up_read, b"", 0, None
        self.events = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Page.enable")

    def receive(self, deadline):
        while b"\0" not in self.rest:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.into], [], [], left)[0]:
                raise AssertionError("the browser does not answer")
            more = os.read(self.into, 1 << 20)
            if not more:
                raise AssertionError("the browser has ended")
            self.rest += more
        one, self.rest = self.rest.split(b"\0", 1)
        return json.loads(one)

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.out, data):]
        deadline = time.monotonic() + PATIENCE_S
        while True:
            answer = self.receive(deadline)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer.get("method"))

    def open(self, url, width, dark=False, media="screen"):
        """The page as a screen of that width shows it, or paper."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", media=media, features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.events.clear()
        self.call("Page.navigate", url=url)
        deadline = time.monotonic() + PATIENCE_S
        while "Page.loadEventFired" not in self.events:
            self.events.append(self.receive(deadline).get("method"))

    def run(self, script):
        """What a script in the page says. The policy of the page does not concern it."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def picture(self, path, width, height):
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True,
                         clip={"x": 0, "y": 0, "width": width, "height": height, "scale": 1})
        path.write_bytes(base64.b64decode(shot["data"]))

    def paper(self):
        """The page as PDF, on A4."""
        return base64.b64decode(self.call("Page.printToPDF", paperWidth=8.27, paperHeight=11.69, printBackground=True)["data"])

    def close(self):
        os.close(self.out)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.into)
