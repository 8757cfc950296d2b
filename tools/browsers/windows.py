"""A browser's window as a walk uses it, in Firefox and Chromium by Playwright and in WebKitGTK by selenium.

A selector is CSS, or XPath if it begins with "/". Whatever is not there within PATIENCE raises Missing.
"""

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Protocol

PATIENCE = 20  # seconds; a busy machine is slow, and what is right comes late there, not never
SIZE = (1440, 900)
APT = {
    "firefox": "apt-get install -y --no-install-recommends firefox-esr",
    "webkit": "apt-get install -y --no-install-recommends webkit2gtk-driver xvfb",
    "chromium": "apt-get install -y --no-install-recommends chromium",
}
MINIBROWSER = Path("/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser")


class NoBrowser(Exception):
    """The browser, or what drives it, is not installed."""


class Missing(Exception):
    """Something that a rater would see, or could press, was not there in time."""


class Window(Protocol):
    """One window: another one of the same browser shares its cookies and what it keeps on the device."""

    browser: str
    faults: list[str]

    def open(self, address: str) -> None: ...
    def reload(self) -> None: ...
    def resize(self, width: int, height: int) -> None: ...
    def press(self, key: str) -> None: ...
    def click(self, selector: str) -> None: ...
    def write(self, selector: str, words: str) -> None: ...
    def evaluate(self, script: str, argument: Any = None) -> Any: ...
    def sweep(self, start: tuple[float, float], end: tuple[float, float]) -> None: ...
    def save_picture(self, path: Path) -> None: ...
    def open_another(self) -> "Window": ...
    def close(self) -> None: ...


def until(is_so: Callable[[], Any], claim: str, *, seconds: float = PATIENCE) -> Any:
    """What the function returns once that is true. Raises Missing with the claim if it does not become so in time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if value := is_so():
            return value
        time.sleep(0.05)
    raise Missing(claim)


@contextmanager
def open_browser(name: str) -> Iterator[Window]:
    """The first window of a browser: "firefox", "webkit" or "chromium". Raises NoBrowser where it is not installed."""
    with ExitStack() as stack:
        yield _open_webkit(stack) if name == "webkit" else _open_by_playwright(stack, name)


class PlaywrightWindow:
    """Firefox and Chromium."""

    def __init__(self, page: Any, browser: str) -> None:
        self.page, self.browser = page, browser
        self.faults: list[str] = []
        page.set_default_timeout(PATIENCE * 1000)
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("console", self._note)

    def _note(self, message: Any) -> None:
        # Refused and lost requests are reported as errors too: the walk makes some, and looks at the page instead.
        if message.type == "error" and "Content-Security-Policy" in message.text:
            self.faults.append(message.text)

    def open(self, address: str) -> None:
        self.page.goto(address)

    def reload(self) -> None:
        self.page.reload()

    def resize(self, width: int, height: int) -> None:
        self.page.set_viewport_size({"width": width, "height": height})

    def press(self, key: str) -> None:
        self.page.keyboard.press(key)

    def click(self, selector: str) -> None:
        with self._missing():
            self._find(selector).click()

    def write(self, selector: str, words: str) -> None:
        field = self._find(selector)
        with self._missing():
            field.click()
            field.press("Control+a")
            field.press("Backspace")
            field.press_sequentially(words)

    def _find(self, selector: str) -> Any:
        return self.page.locator(f"xpath={selector}" if selector.startswith(("/", "(")) else selector).first

    def evaluate(self, script: str, argument: Any = None) -> Any:
        """Once more where a page went while it was asked."""
        from playwright.sync_api import Error

        try:
            return self.page.evaluate(f"(argument) => {{ {script} }}", argument)
        except Error as error:
            if "navigation" not in error.message:
                raise
            self.page.wait_for_load_state()
            return self.page.evaluate(f"(argument) => {{ {script} }}", argument)

    @contextmanager
    def _missing(self) -> Iterator[None]:
        from playwright.sync_api import TimeoutError as TooLate

        try:
            yield
        except TooLate as error:
            raise Missing(error.message) from error

    def sweep(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        mouse = self.page.mouse
        mouse.move(*start)
        mouse.down()
        mouse.move(*end, steps=8)
        mouse.up()

    def save_picture(self, path: Path) -> None:
        n_faults = len(self.faults)
        self.page.screenshot(path=path, caret="initial")
        self.page.evaluate("0")
        del self.faults[n_faults:]  # the picture itself puts a style into the page, which the content policy refuses

    def open_another(self) -> "PlaywrightWindow":
        window = PlaywrightWindow(self.page.context.new_page(), self.browser)
        window.faults = self.faults
        return window

    def close(self) -> None:
        self.page.close()


def _open_by_playwright(stack: ExitStack, name: str) -> Window:
    program = shutil.which("firefox-esr" if name == "firefox" else "chromium")
    if program is None:
        raise NoBrowser(f"There is no {name} on this machine: {APT[name]}")
    from playwright.sync_api import sync_playwright

    playwright = stack.enter_context(sync_playwright())
    if name == "firefox":
        browser = playwright.firefox.launch(channel="moz-firefox", executable_path=program)
    else:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
    stack.callback(browser.close)
    size = {"width": SIZE[0], "height": SIZE[1]}
    context = browser.new_context(viewport=size, locale="en-GB", reduced_motion="reduce")
    return PlaywrightWindow(context.new_page(), f"{name.capitalize()} {browser.version}")


class WebKitWindow:
    """WebKitGTK: one driver for all windows, which looks at one of them at a time. It reports no errors of scripts."""

    def __init__(self, driver: Any, browser: str) -> None:
        self.driver, self.browser = driver, browser
        self.handle = driver.current_window_handle
        self.faults: list[str] = []

    def _turn_to(self) -> Any:
        self.driver.switch_to.window(self.handle)
        return self.driver

    def open(self, address: str) -> None:
        self._turn_to().get(address)

    def reload(self) -> None:
        self._turn_to().refresh()

    def resize(self, width: int, height: int) -> None:
        """Width and height of the page: what the frame of the window takes is added. No narrower than 447 pixels."""
        driver = self._turn_to()
        frame = driver.execute_script("return outerHeight - innerHeight")
        driver.set_window_size(width, height + frame)
        until(lambda: abs(self.evaluate("return innerHeight") - height) < 2, f"the window is not {height} pixels high")

    def press(self, key: str) -> None:
        from selenium.webdriver import ActionChains, Keys

        *modifiers, plain = key.split("+") if len(key) > 1 else [key]
        name = {"ArrowUp": "ARROW_UP", "ArrowDown": "ARROW_DOWN", "ArrowRight": "ARROW_RIGHT"}.get(plain, plain)
        actions = ActionChains(self._turn_to())
        for modifier in modifiers:
            actions.key_down(getattr(Keys, modifier.upper()))
        actions.send_keys(getattr(Keys, name.upper()) if len(plain) > 1 else plain)
        for modifier in modifiers:
            actions.key_up(getattr(Keys, modifier.upper()))
        actions.perform()

    def click(self, selector: str) -> None:
        from selenium.common import (
            ElementClickInterceptedException,
            ElementNotInteractableException,
            StaleElementReferenceException,
        )

        busy = (ElementClickInterceptedException, ElementNotInteractableException, StaleElementReferenceException)
        deadline = time.monotonic() + PATIENCE
        while True:
            element = self._find(selector)
            try:
                self.driver.execute_script("arguments[0].scrollIntoView({ block: 'center' })", element)
                element.click()
            except busy as error:
                if time.monotonic() > deadline:
                    raise Missing(f"{selector} cannot be clicked: {error.msg}") from error
                time.sleep(0.05)
            else:
                return

    def write(self, selector: str, words: str) -> None:
        self.click(selector)
        self.press("Control+a")
        self.press("Backspace")
        self._find(selector).send_keys(words)

    def _find(self, selector: str) -> Any:
        way = "xpath" if selector.startswith(("/", "(")) else "css selector"
        driver = self._turn_to()
        return until(lambda: driver.find_elements(way, selector), f"{selector} is not there")[0]

    def evaluate(self, script: str, argument: Any = None) -> Any:
        return self._turn_to().execute_script(f"const [argument] = arguments; {script}", argument)

    def sweep(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        from selenium.webdriver import ActionChains

        actions = ActionChains(self._turn_to())
        pointer = actions.w3c_actions.pointer_action
        pointer.move_to_location(*map(round, start))
        pointer.pointer_down()
        pointer.move_to_location(*map(round, end))
        pointer.pointer_up()
        actions.perform()

    def save_picture(self, path: Path) -> None:
        self._turn_to().save_screenshot(str(path))

    def open_another(self) -> "WebKitWindow":
        self._turn_to().switch_to.new_window("tab")
        return WebKitWindow(self.driver, self.browser)

    def close(self) -> None:
        self._turn_to().close()


def _open_webkit(stack: ExitStack) -> Window:
    program, xvfb = shutil.which("WebKitWebDriver"), shutil.which("Xvfb")
    if program is None or xvfb is None or not MINIBROWSER.exists():
        raise NoBrowser(f"There is no WebKitGTK, or no Xvfb, on this machine: {APT['webkit']}")
    from selenium import webdriver
    from selenium.webdriver.webkitgtk.options import Options
    from selenium.webdriver.webkitgtk.service import Service

    from tools.browsers.screen import open_screen

    display = stack.enter_context(open_screen(xvfb))
    options = Options()
    options.binary_location = str(MINIBROWSER)
    options.add_argument("--automation")
    service = Service(program, env={"DISPLAY": display, **_environment()})
    driver = webdriver.WebKitGTK(options=options, service=service)
    stack.callback(driver.quit)
    window = WebKitWindow(driver, f"WebKitGTK {driver.capabilities['browserVersion']}")
    window.resize(*SIZE)
    return window


def _environment() -> dict[str, str]:
    import os

    return {name: value for name, value in os.environ.items() if name != "DISPLAY"}
