// SPDX-License-Identifier: Apache-2.0
// What a browser draws by itself: the list of cases and the page of one case. Knows the data that report.py writes
// (topkcts.index, topkcts.cases) and nothing of the network: files are loaded as scripts, so that a path will do.
"use strict";
const topkcts = (() => {
  const ROWS_AT_ONCE = 200;
  let index = null;
  const $ = (id) => document.getElementById(id);
  const BAD = new Set(["fail", "crash", "timeout", "flaky"]);

  function element(tag, attributes, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) made.setAttribute(name, value);
    made.append(...children.filter((child) => child !== null && child !== undefined));
    return made;
  }
  const verdict = (text) => element("span", { class: "v " + text }, text);
  // Places to break a long name.
  const breakable = (name) => name.replace(/([/,])/g, "$1\u200b");
  function head(table, columns) {
    table.tHead.replaceChildren(element("tr", null, ...columns.map((c) => element("th", { scope: "col" }, c))));
  }
  function hashParameters() {
    return new URLSearchParams(location.hash.slice(1));
  }

  // ---- the list of cases ----------------------------------------------------------------------------------------

  function casesPage() {
    const form = $("filters");
    const rows = new Map(); // one for each case and provider: verdicts by device
    for (const [c, d, provider, origin, v, level] of index.standing) {
      const key = c + "\n" + provider;
      if (!rows.has(key)) rows.set(key, { c, provider, text: index.cases[c][0].toLowerCase(), by: new Map() });
      const before = rows.get(key).by.get(d);
      const text = index.verdicts[v];
      if (before === undefined || BAD.has(text)) rows.get(key).by.set(d, text);
    }
    const all = [...rows.values()];
    const options = (name, values) => {
      for (const [value, text] of values) form.elements[name].append(element("option", { value }, text));
    };
    options("family", [...new Set(index.cases.map((c) => c[1]))].sort().map((f) => [f, f]));
    options("device", index.devices.map((d) => [d[0], d[1] + " " + d[0]]));
    options("provider", [...new Set(index.standing.map((s) => s[2]))].sort().map((p) => [p, p]));
    options("verdict", index.verdicts.slice(0, 7).map((v) => [v, v]));
    head($("cases"), ["Case", "Provider", ...index.devices.map((d) => d[1].split(":")[0])]);
    let shown = [], limit = ROWS_AT_ONCE;

    function draw() {
      const drawn = shown.slice(0, limit).map((row) => element("tr", null,
        element("th", { scope: "row" }, element("a", { href: "case.html#" + encodeURIComponent(index.cases[row.c][0]) },
          breakable(index.cases[row.c][0]))),
        element("td", null, row.provider),
        ...index.devices.map((_, d) => element("td", null,
          row.by.has(d) ? verdict(row.by.get(d)) : element("span", { class: "none" }, "never ran")))));
      $("cases").tBodies[0].replaceChildren(...drawn);
      $("count").textContent = `${shown.length} of ${all.length} rows` +
        (shown.length > limit ? `, ${limit} shown` : "");
      $("more").hidden = shown.length <= limit;
    }
    function filter() {
      const given = Object.fromEntries(new FormData(form));
      const words = given.text.toLowerCase().split(/\s+/).filter(Boolean);
      const device = given.device ? index.devices.findIndex((d) => d[0] === given.device) : -1;
      const fits = (v) => !given.verdict || (given.verdict === "bad" ? BAD.has(v) : v === given.verdict);
      shown = all.filter((row) => words.every((w) => row.text.includes(w)) &&
        (!given.family || index.cases[row.c][1] === given.family) &&
        (!given.provider || row.provider === given.provider) &&
        (device < 0 ? (!given.verdict || [...row.by.values()].some(fits)) : row.by.has(device) && fits(row.by.get(device))));
      limit = ROWS_AT_ONCE;
      draw();
    }
    function fromAddress() {
      const parameters = hashParameters();
      for (const name of ["text", "family", "device", "provider", "verdict"])
        form.elements[name].value = parameters.get(name) || "";
      filter();
    }
    function changed() {
      const given = [...new FormData(form)].filter(([, value]) => value);
      history.replaceState(null, "", "#" + new URLSearchParams(given));
      filter();
    }
    form.addEventListener("input", changed);
    form.addEventListener("change", changed); // a list driven by a program or a reader may say only this
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () => setTimeout(changed, 0));
    $("more").addEventListener("click", () => { limit += ROWS_AT_ONCE; draw(); });
    window.addEventListener("hashchange", fromAddress);
    fromAddress();
  }

  // ---- one case -------------------------------------------------------------------------------------------------

  function load(source) {
    return new Promise((done, failed) => {
      const script = element("script", { src: source });
      script.onload = done;
      script.onerror = () => failed(new Error(source + " is missing"));
      document.head.append(script);
    });
  }
  function ladder(level, promised) {
    const reached = index.levels.indexOf(level), due = index.levels.indexOf(promised);
    const steps = element("span", { class: "ladder", "aria-hidden": "true" });
    for (let step = 1; step < index.levels.length; step++)
      steps.append(element("i", { class: step <= reached ? "on" : step <= due ? "due" : "", title: index.levels[step] }));
    return element("span", null, steps, `${level || "nothing"} of ${promised}`);
  }
  function drawNow(now) {
    head($("now"), ["Device", "Provider", "Verdict", "Level", "Set exact", "Output digest", "Set digest", "Path", "Reason"]);
    const often = (name) => {
      const counts = new Map();
      // What a failing kernel put out is no measure for others.
      for (const row of now) if (row[name] && !BAD.has(row.verdict)) counts.set(row[name], (counts.get(row[name]) || 0) + 1);
      return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0];
    };
    const digest = (row, name, most) => row[name]
      ? element("code", { class: row[name] === most ? "same" : "other", title: row[name] },
        row[name].slice(0, 12) + (row[name] === most ? "" : " (other)")) : "none";
    const output = often("output_digest"), set = often("set_digest");
    $("now").tBodies[0].replaceChildren(...now.map((row) => element("tr", null,
      element("th", { scope: "row" }, row.arch || "", " ", element("small", null, row.device_id)),
      element("td", null, row.provider, " ", element("small", null, `${row.provider_version || ""} ${row.origin}`)),
      element("td", null, verdict(row.verdict)),
      element("td", null, ladder(row.level, row.promised)),
      element("td", null, row.set_exact === null ? "unknown" : row.set_exact ? "yes" : "no"),
      element("td", null, digest(row, "output_digest", output)),
      element("td", null, digest(row, "set_digest", set)),
      element("td", null, row.path || ""),
      element("td", null, row.reason || row.expected || ""))));
  }
  function drawHistory(series) {
    head($("history"), ["Started", "Run", "Device", "Provider", "Verdict", "Level", "Kernel, us", "New", "Commit"]);
    const points = series.flatMap(([d, provider, , history]) => history.map((p) => [d, provider, ...p]));
    points.sort((a, b) => b[2] - a[2]);
    $("history").tBodies[0].replaceChildren(...points.slice(0, 1000).map(([d, provider, run, v, level, us, changed]) =>
      element("tr", null, element("td", null, index.runs[run][1].slice(0, 16).replace("T", " ")),
        element("td", null, index.runs[run][0]), element("td", null, index.devices[d][1]), element("td", null, provider),
        element("td", null, verdict(index.verdicts[v])), element("td", null, index.levels[level] || ""),
        element("td", { class: "n" }, us === null ? "" : String(us)), element("td", null, changed),
        element("td", null, element("code", null, index.runs[run][3])))));
  }
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
  function layout(extra) {
    return { paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { color: colour("text") },
      margin: { t: 20, r: 20, b: 50, l: 60 }, hovermode: "closest", legend: { orientation: "h", y: 1.12 },
      colorway: ["link", "fail", "pass", "timeout", "crash", "flaky"].map(colour), ...extra };
  }
  const axis = (title) => ({ title, gridcolor: colour("line"), zerolinecolor: colour("line"), automargin: true });
  const plot = (where, data, form) => window.Plotly.newPlot(where, data, form, { displaylogo: false, responsive: true });
  const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];

  function drawTimes(series) {
    const traces = [], shapes = [], marked = new Set();
    for (const [d, provider, origin, history] of series) {
      const timed = history.filter((p) => p[3] !== null);
      if (!timed.length) continue;
      const when = (p) => index.runs[p[0]][1];
      traces.push({ name: `${index.devices[d][1].split(":")[0]} ${provider} ${origin}`, mode: "lines+markers", x: timed.map(when),
        y: timed.map((p) => p[3]), text: timed.map((p) => `${index.runs[p[0]][0]}<br>${index.runs[p[0]][2] || ""}` +
          (p[4] ? `<br>new: ${p[4]}` : "")), hovertemplate: "%{y} us<br>%{x}<br>%{text}<extra>%{fullData.name}</extra>" });
      const middle = median(timed.slice(0, Math.ceil(timed.length / 2)).map((p) => p[3]));
      shapes.push({ type: "rect", x0: when(timed[0]), x1: when(timed[timed.length - 1]), y0: middle * 0.95, y1: middle * 1.05,
        fillcolor: colour("band"), line: { width: 0 }, layer: "below" });
      for (const p of timed)
        if (p[4] && /driver|compiler/.test(p[4]) && !marked.has(when(p))) {
          marked.add(when(p));
          shapes.push({ type: "line", x0: when(p), x1: when(p), yref: "paper", y0: 0, y1: 1,
            line: { color: colour("soft"), width: 1, dash: "dash" } });
        }
    }
    $("times").hidden = !traces.length;
    if (traces.length) plot("plot", traces, layout({ xaxis: axis("run"), yaxis: { ...axis("median of a launch, us"), rangemode: "tozero" }, shapes }));
  }

  // The row's places by rank: what was rightly chosen, what is missing, what is extra; with values where the program
  // could make the inputs again, else by index alone.
  function drawRow(where, failure) {
    const marks = { chosen: colour("pass"), missing: colour("fail"), extra: colour("timeout"), "not chosen": colour("soft") };
    const missing = new Set(failure.missing), extra = new Set(failure.extra), data = [];
    const kind = (i, rank) => missing.has(i) ? "missing" : extra.has(i) ? "extra" : rank < failure.topk ? "chosen" : "not chosen";
    if (failure.around) {
      const points = failure.around.map(([i, value], n) => ({ i, value, rank: failure.around_from + n }));
      for (const name of Object.keys(marks)) {
        const part = points.filter((p) => kind(p.i, p.rank) === name);
        if (part.length) data.push({ name, mode: "markers", x: part.map((p) => p.rank), y: part.map((p) => p.value),
          text: part.map((p) => "index " + p.i), marker: { color: marks[name], size: 9, symbol: name === "missing" ? "x" : name === "extra" ? "triangle-up" : "circle" } });
      }
      plot(where, data, layout({ xaxis: axis("rank (the cut lies at " + failure.topk + ")"), yaxis: axis("score"),
        shapes: [{ type: "line", x0: failure.topk - 0.5, x1: failure.topk - 0.5, yref: "paper", y0: 0, y1: 1, line: { color: colour("soft"), dash: "dash" } }] }));
    } else {
      for (const [name, set, symbol] of [["missing", missing, "x"], ["extra", extra, "triangle-up"]])
        data.push({ name, mode: "markers", x: [...set], y: [...set].map(() => name), marker: { color: marks[name], size: 10, symbol } });
      plot(where, data, layout({ xaxis: { ...axis("index in the row"), range: [0, failure.length] }, yaxis: axis("") }));
    }
  }
  function drawFailures(failures) {
    $("rows").hidden = !failures.length;
    $("row-list").replaceChildren();
    failures.slice(0, 12).forEach((failure) => {
      const picture = element("div");
      const list = (name) => `${failure["n_" + name]} ${name}` + (failure[name].length ? `: ${failure[name].join(", ")}` : "");
      $("row-list").append(element("figure", null, element("figcaption", null,
        `Row ${failure.row} on ${failure.device_id} by ${failure.provider}: length ${failure.length}, topk ${failure.topk}, ` +
        `cut at ${failure.cut_value}, ${failure.cut_equal} scores equal it; ${list("missing")}; ${list("extra")}. ${failure.explanation || ""}`), picture));
      if (!failure.around) picture.style.height = "11rem";
      drawRow(picture, failure);
    });
  }
  let current = null;
  async function casePage() {
    const name = decodeURIComponent(location.hash.slice(1));
    const place = index.cases.findIndex((c) => c[0] === name);
    if (place < 0) {
      $("about").textContent = name ? `There is no case ${name}.` : "No case was named; choose one from the list.";
      return;
    }
    const [, family, fault, topk, length, page, batch, outputs] = index.cases[place];
    document.title = "topkcts: " + name;
    $("name").textContent = breakable(name);
    $("about").textContent = `Family ${family}, fault ${fault}; topk ${topk}, length ${length}, page size ${page}, batch ${batch}, outputs ${outputs}.`;
    if (!window.Plotly) await load("assets/plotly.min.js");
    await load(`data/cases-${Math.floor(place / index.perFile)}.js`);
    current = parts.find((c) => c.name === name);
    drawCase();
  }
  function drawCase() {
    if (!current) return;
    drawNow(current.now);
    drawFailures(current.failures);
    drawTimes(current.history);
    drawHistory(current.history);
    document.body.dataset.ready = "yes";
  }
  let parts = [];
  return {
    index(data) {
      index = data;
      if (document.body.dataset.page === "cases") casesPage();
      else {
        window.addEventListener("hashchange", casePage);
        window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawCase);
        casePage();
      }
    },
    cases(list) { parts = list; },
  };
})();
