#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pages in a real browser, opened from a path, with the network cut off.

    browser_test.py [--cases N] [--screenshots DIR]

Makes a history, makes the pages, opens them in headless Chromium: no errors in the console, every link between pages
leads somewhere, filters and keyboard work, both colour schemes, and no wait with many cases. Needs chromium,
chromium-driver, python3-selenium, python3-jinja2, python3-plotly (`make report-tools`); says so and exits 77 where they
are missing.
"""
import argparse
import pathlib
import sys
import tempfile

import make_history

REPORTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPORTS))

try:
    import jinja2  # noqa: F401  report needs it only when it writes
    import plotly.offline  # noqa: F401
    from selenium import webdriver
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import Select, WebDriverWait
except ImportError as missing:
    print(f"not tested: {missing}; `make report-tools` installs what is needed")
    sys.exit(77)
for program in ("/usr/bin/chromium", "/usr/bin/chromedriver"):
    if not pathlib.Path(program).exists():
        print(f"not tested: {program} is not there; `make report-tools` installs what is needed")
        sys.exit(77)

import report  # noqa: E402

LAG_SECONDS = 0.5   # for a key in the search field, the list drawn anew


def start_browser(dark):
    options = webdriver.ChromeOptions()
    for word in ("--headless=new", "--no-sandbox", "--window-size=1400,1000", "--disable-gpu", "--disable-dev-shm-usage",
                 "--allow-file-access-from-files=false", "--host-resolver-rules=MAP * ~NOTFOUND"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.chrome.service.Service("/usr/bin/chromedriver")
    options.binary_location = "/usr/bin/chromium"
    browser = webdriver.Chrome(service=service, options=options)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia",
                            {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})
    browser.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
    return browser


class Check:
    def __init__(self, browser, folder, answers, screenshots, scheme):
        self.browser, self.folder, self.answers, self.scheme = browser, folder, answers, scheme
        self.screenshots, self.wrong = screenshots, []

    def expect(self, condition, what):
        if not condition:
            self.wrong.append(f"{self.scheme}: {what}")

    def open(self, page):
        self.browser.get("about:blank")
        self.browser.get(f"{(self.folder / page.split('#')[0]).as_uri()}" + ("#" + page.split("#")[1] if "#" in page else ""))

    def shoot(self, name):
        if self.screenshots:
            self.browser.save_screenshot(str(pathlib.Path(self.screenshots, f"{name}-{self.scheme}.png")))

    def console(self, page):
        for entry in self.browser.get_log("browser"):
            self.expect(entry["level"] not in ("SEVERE", "WARNING"), f"{page}: console: {entry['message']}")

    def text(self, selector):
        return [e.text for e in self.browser.find_elements(By.CSS_SELECTOR, selector)]

    def first_page(self):
        self.open("index.html")
        self.shoot("index")
        planted = {a["series"][2] for a in self.answers["regressions"]}
        shown = {t.replace("\u200b", "") for t in self.text("section[aria-labelledby=regressions] td:first-child a")}
        self.expect(shown == planted, f"index: regressions shown {len(shown)}, planted {len(planted)}")
        reasons = self.text("section[aria-labelledby=regressions] td:first-child small")
        self.expect(reasons and all(reasons), f"index: reasons beside the regressions: {reasons}")
        n_open = sum(a["open"] for a in self.answers["divergences"])
        states = self.text("section[aria-labelledby=divergences] td:nth-child(7)")
        self.expect(states.count("open") == min(n_open, report.MAX_LISTED), f"index: {states.count('open')} open divergences, planted {n_open}")
        guards = self.text("section[aria-labelledby=guards] td:nth-child(2)")
        self.expect(sorted(guards) == ["cannot tell", "exceeds", "failed", "unfinished", "within"], f"index: guards {guards}")
        self.browser.execute_script("document.querySelectorAll('section[aria-labelledby=guards] details').forEach(d => d.open = true);"
                                    "document.getElementById('guards').scrollIntoView()")
        self.expect(len(self.browser.find_elements(By.CSS_SELECTOR, "svg.guard rect.exceeds")) == 2, "index: no bars of guards")
        self.shoot("guards")
        for table in self.browser.find_elements(By.CSS_SELECTOR, "table"):
            self.expect(table.find_elements(By.TAG_NAME, "caption"), "index: a table without a caption")
        self.browser.find_element(By.TAG_NAME, "body").send_keys(Keys.TAB)
        focused = self.browser.switch_to.active_element
        self.expect(focused.text == "Skip to the content", f"index: the first stop of the keyboard is '{focused.text}'")
        self.browser.find_element(By.CSS_SELECTOR, "section[aria-labelledby=matrix] a.v.fail").click()
        WebDriverWait(self.browser, 10).until(lambda b: "rows" in b.find_element(By.ID, "count").text)
        counts = self.browser.find_element(By.ID, "count").text.split()
        self.expect(0 < int(counts[0]) < int(counts[2]), f"index: drill-down shows {counts}")
        self.console("index")

    def page_seconds(self):
        """What the page's thread has computed so far: scripts, styles, layout; not what it waited for the processor."""
        metrics = self.browser.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
        return next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration")

    def seconds_of_key(self, text):
        before = self.page_seconds()
        self.browser.execute_script("""
            const field = document.forms[0].elements.text;
            field.value = arguments[0];
            field.dispatchEvent(new Event("input", {bubbles: true}));
            document.body.getBoundingClientRect();""", text)
        return self.page_seconds() - before

    def list_of_cases(self):
        self.open("cases.html")
        count = self.browser.find_element(By.ID, "count")
        n_all = int(count.text.split()[0])
        self.shoot("cases")
        search = self.browser.find_element(By.NAME, "text")
        slowest = max(self.seconds_of_key(text) for text in ("o", "ov", "over", "", "topk=257", "page"))
        search.clear()
        search.send_keys("overflow topk=257")
        self.expect(slowest < LAG_SECONDS, f"cases: a key in the search took {slowest:.2f} s")
        n_found = int(count.text.split()[0])
        self.expect(0 < n_found < n_all, f"cases: the search takes {n_found} of {n_all}")
        names = [t.replace("\u200b", "") for t in self.text("#cases tbody th")]
        self.expect(all("overflow" in n and "topk=257" in n for n in names), "cases: the search shows others")
        self.browser.find_element(By.CSS_SELECTOR, "button[type=reset]").click()
        WebDriverWait(self.browser, 10).until(lambda b: int(count.text.split()[0]) == n_all)
        Select(self.browser.find_element(By.NAME, "verdict")).select_by_value("bad")
        n_bad = int(count.text.split()[0])
        self.expect(0 < n_bad < n_all, f"cases: verdict bad takes {n_bad} of {n_all}")
        for row in self.browser.find_elements(By.CSS_SELECTOR, "#cases tbody tr")[:20]:
            self.expect(row.find_elements(By.CSS_SELECTOR, ".v.fail, .v.crash, .v.timeout, .v.flaky"), "cases: a good row among the bad")
        self.expect("verdict=bad" in self.browser.current_url, "cases: the filter is not in the address")
        self.console("cases")

    def one_case(self):
        planted = [a for a in self.answers["regressions"] if a["verdict"] == "fail"][0]["series"]
        self.open("case.html#" + planted[2])
        WebDriverWait(self.browser, 20).until(lambda b: b.find_element(By.TAG_NAME, "body").get_attribute("data-ready"))
        self.shoot("case")
        self.expect(self.browser.find_element(By.ID, "name").text.replace("\u200b", "") == planted[2], "case: another name")
        verdicts = self.text("#now .v")
        self.expect("fail" in verdicts and "pass" in verdicts, f"case: verdicts now {verdicts}")
        self.expect(self.text("#row-list figcaption"), "case: no failing row is shown")
        self.expect(self.browser.find_elements(By.CSS_SELECTOR, "#row-list svg.main-svg"), "case: no picture of the row")
        self.expect(self.browser.find_elements(By.CSS_SELECTOR, "#plot .scatterlayer .trace"), "case: no times are drawn")
        self.expect(self.browser.find_elements(By.CSS_SELECTOR, "#plot .shapelayer path"), "case: no guard band")
        self.expect(len(self.text("#history tbody tr")) > 10, "case: no history")
        self.browser.execute_script("document.getElementById('times').scrollIntoView()")
        self.shoot("times")
        self.open("case.html#there/is=none")
        WebDriverWait(self.browser, 10).until(lambda b: "no case" in b.find_element(By.ID, "about").text)
        self.console("case")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--nights", type=int, default=25)
    parser.add_argument("--screenshots", help="a folder for pictures to look at")
    given = parser.parse_args()
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        answers = make_history.make(folder / "made.db", nights=given.nights, cases=given.cases, devices=4, seed=7,
                                    plants=4, peer_cases=80)
        report.publish(report.Report(folder / "made.db", 90), folder / "html", None)
        for scheme in ("light", "dark"):
            browser = start_browser(scheme == "dark")
            try:
                check = Check(browser, folder / "html", answers, given.screenshots, scheme)
                check.first_page()
                check.list_of_cases()
                check.one_case()
                back = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
                check.expect((back == "rgb(255, 255, 255)") == (scheme == "light"), f"background {back}")
                wrong += check.wrong
            finally:
                browser.quit()
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
