// The playground: sends the choice and the text to the server, and shows the answer.
// Long because all controls meet here; independent parts are in costs.js and sharing.js.
(() => {
  "use strict";
  const { costs, make, number } = bytepair;
  const { offers: firstOffers, chosen: firstChosen, splits, limits } = JSON.parse(document.getElementById("data").textContent);
  const at = (id) => document.getElementById(id);

  const SAMPLE =
    "A tokenizer cuts text into pieces that a model has seen often.\n" +
    "Rare words, naïve café, 東京, 👩🏽‍🚀 and 3.14159 need more of them.\n" +
    "\tdef encode(self, text: str) -> list[int]: ...\n";
  // A request older than this is abandoned for a newer one.
  const PATIENCE = 1000;
  // The counts of a text of more bytes are requested before its tokens.
  const LONG = 20000;

  const text = at("text");
  let offers = firstOffers;
  let chosen = firstChosen;
  let answer = null;
  let viewer = null;
  let expected = new Map(); // The fingerprints that a link promised, by key.

  // Messages: one for status, one for errors, each about one thing at a time.
  // Names of files and keys of links can hold characters that would reverse the rest of a message.
  const readable = (message) =>
    message.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/gu, (character) => {
      return `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
    });
  const report = (message) => (at("status").textContent = readable(message));
  const spelled = (error) => {
    const places = Object.entries(error.where ?? {}).map(([name, value]) => `${name} ${value}`);
    const where = places.length ? ` (${places.join(", ")})` : "";
    return error.what + where + (error.remedy ? `; ${error.remedy}` : "");
  };
  const faults = new Map();
  const setFault = (about, message) => {
    if (message) faults.set(about, message);
    else faults.delete(about);
    at("fault").textContent = [...faults.values()].map(readable).join(" – ");
  };

  class Refused extends Error {
    constructor(error, status) {
      super(spelled(error));
      this.error = error;
      this.status = status;
    }
  }

  // The answer of the server; Refused for an error with a reason.
  async function ask(path, options) {
    let response;
    try {
      response = await fetch(path, { ...options, credentials: "omit", redirect: "error" });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new Error("the server does not answer; is bytepair serve still running?", { cause: error });
    }
    const body = await response.json().catch(() => null);
    if (response.ok && body) return body;
    throw new Refused(body?.error ?? { what: `the server failed (${response.status})` }, response.status);
  }

  // Requests for pictures: one at a time, then the newest. So answers come in the order of typing; the answer of an
  // abandoned request is ignored.
  let asking = null;
  let isStale = false;
  let timer = 0;
  let pause = 40;

  function changed() {
    isStale = true;
    at("view").setAttribute("aria-busy", "true");
    clearTimeout(timer);
    if (asking && performance.now() - asking.since > PATIENCE) asking.stop.abort();
    timer = setTimeout(refresh, pause);
  }

  async function refresh() {
    if (asking || !isStale) return;
    isStale = false;
    const request = { text: text.value, size: new TextEncoder().encode(text.value).length };
    if (!chosen.length) return failed("choose a tokenizer");
    if (request.size > limits.text) {
      return failed(
        `the text has ${number(request.size)} bytes, more than ${number(limits.text)}; ` +
          "use less text, or bytepair view and bytepair count for files",
      );
    }
    const question = { stop: new AbortController(), since: performance.now() };
    asking = question;
    const body = JSON.stringify({
      text: request.text,
      tokenizers: chosen,
      special: at("special").checked ? "allow" : "text",
    });
    const headers = { "Content-Type": "application/json" };
    const send = (path) => ask(path, { method: "POST", headers, body, signal: question.stop.signal });
    try {
      let found = await send(request.size > LONG ? "api/counts" : "api/picture");
      setFault("text", "");
      showCounts(found, request);
      if (request.size > LONG && !isStale && tokensOf(found) <= limits.tokens) found = await send("api/picture");
      if (found.picture || tokensOf(found) > limits.tokens) showTokens(found.picture);
      // A long text is not sent at every key.
      pause = Math.min(600, Math.max(40, performance.now() - question.since));
    } catch (error) {
      if (error.name !== "AbortError") failed(error.message);
    } finally {
      asking = null;
      if (isStale) changed();
      else at("view").removeAttribute("aria-busy");
    }
  }

  function failed(message) {
    answer = null;
    setFault("text", message);
    at("counts").replaceChildren();
    at("totals").textContent = "";
    at("view").hidden = at("too-many").hidden = true;
    at("view").removeAttribute("aria-busy");
  }

  const tokensOf = (found) => Object.values(found.counts).reduce((sum, { tokens }) => sum + tokens, 0);

  function showTokens(picture) {
    at("view").hidden = !picture;
    at("too-many").hidden = Boolean(picture);
    if (picture && viewer) viewer.update(bytepair.unpacked(picture));
    else if (picture) viewer = bytepair.show(at("view"), bytepair.unpacked(picture), { brief: true });
  }

  function showCounts(found, request) {
    answer = { ...found, ...request };
    for (const [key, { fingerprint }] of Object.entries(found.counts)) {
      if (expected.has(key) && !fingerprint.startsWith(expected.get(key))) {
        const name = nameOf(key);
        setFault("link", `this ${name} differs from the ${name} of the link; its tokens may differ`);
      }
    }
    count();
  }

  // Counts.
  const nameOf = (key) => offers.find((offer) => offer.key === key)?.name ?? key;

  const FIELDS = {
    price: { parse: costs.price, remedy: "write a price as 2.50 or $2.50" },
    window: { parse: costs.size, remedy: "write a context window as 128000 or 128k" },
  };

  // The value of a field, or null; a value that cannot be parsed is reported.
  function field(id) {
    const { parse, remedy } = FIELDS[id];
    const value = parse(at(id).value);
    const isWrong = at(id).value.trim() !== "" && value === null;
    if (isWrong) at(id).setAttribute("aria-invalid", "true");
    else at(id).removeAttribute("aria-invalid");
    setFault(id, isWrong ? remedy : "");
    return value;
  }

  function count() {
    const [cost, most] = [field("price"), field("window")];
    if (!answer) return;
    at("totals").textContent = costs.totals(answer.text, answer.size);
    const rows = chosen.map((key) => {
      const tokens = answer.counts[key]?.tokens;
      const fault = answer.faults[key] ? spelled(answer.faults[key]) : "counting…";
      return { name: nameOf(key), tokens, fault };
    });
    at("counts").replaceChildren(costs.table(rows, answer.text, answer.size, cost, most));
  }

  // Tokenizers.
  function list() {
    const focused = at("offers").contains(document.activeElement) ? document.activeElement.value : null;
    const boxes = offers.map((offer) => {
      const isChosen = chosen.includes(offer.key);
      const box = make("input", {
        type: "checkbox", value: offer.key, checked: isChosen, disabled: !isChosen && chosen.length >= limits.at_once,
        change: (event) => choose(offer.key, event.target.checked),
      });
      const name = make("span", {}, offer.name, " ", offer.note ? make("small", {}, offer.note) : "");
      return make("label", { class: "choice" }, box, name);
    });
    at("offers").replaceChildren(...boxes);
    // The checkbox that had the focus was replaced.
    boxes.find((label) => label.firstChild.value === focused)?.firstChild.focus();
  }

  function choose(key, isChosen) {
    const without = chosen.filter((other) => other !== key);
    chosen = isChosen ? [...without, key].slice(-limits.at_once) : without;
    report(chosen.length >= limits.at_once ? `At most ${limits.at_once} tokenizers are shown together` : "");
    list();
    changed();
  }

  // Uploads. Files are concatenated in the body; their names and sizes are in the address.
  let waiting = null;

  async function upload(files, more = []) {
    const size = files.reduce((sum, file) => sum + file.size, 0);
    at("lacks").hidden = true;
    waiting = null;
    setFault("upload", "");
    if (!files.length) return;
    if (size > limits.upload || files.length > limits.files) {
      report("");
      setFault(
        "upload",
        `an upload may have ${limits.files} files and ${limits.upload >> 20} MiB; ` +
          "pass larger ones to bytepair serve -m",
      );
      return;
    }
    report(`Loading ${files.map((file) => file.name).join(", ")} …`);
    const query = new URLSearchParams([...files.flatMap((file) => [["name", file.name], ["size", file.size]]), ...more]);
    try {
      const made = await ask(`api/tokenizers?${query}`, {
        method: "POST",
        headers: { "Content-Type": "application/octet-stream" },
        body: new Blob(files),
      });
      offers = made.offers;
      const keys = new Set(offers.map((offer) => offer.key));
      chosen = chosen.filter((key) => keys.has(key));
      choose(made.offer.key, true);
      report(`${made.offer.name} added.${made.notice ? ` Note: ${made.notice}.` : ""}`);
    } catch (error) {
      report("");
      if (error.error?.kind === "SplitMissingError") {
        waiting = files;
        at("lacks-title").textContent =
          `${files.map((file) => file.name).join(", ")} has no split pattern: choose the one that it was made with.`;
        at("lacks").hidden = false;
        at("split").focus();
      } else {
        setFault("upload", error.message);
        if (more.length) {
          // The split pattern or the special tokens may be the fault.
          waiting = files;
          at("lacks").hidden = false;
        }
      }
    }
  }

  at("file").addEventListener("change", () => {
    const files = [...at("file").files];
    upload(files).finally(() => (at("file").value = ""));
  });
  at("complete").addEventListener("click", () => {
    const split = at("split").value || at("pattern").value;
    const specials = at("specials").value.split("\n").filter((line) => line.trim());
    if (waiting) upload(waiting, [["split", split], ...specials.map((line) => ["special_token", line])]);
  });
  at("cancel").addEventListener("click", () => {
    waiting = null;
    at("lacks").hidden = true;
    setFault("upload", "");
    at("file").focus();
  });
  at("split").append(
    ...splits.map((name) => make("option", { value: name }, name)),
    make("option", { value: "" }, "a regular expression"),
  );
  at("split").addEventListener("change", () => (at("pattern-label").hidden = at("split").value !== ""));

  const hasFiles = (event) => event.dataTransfer?.types.includes("Files");
  addEventListener("dragover", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    document.documentElement.classList.add("drop");
  });
  addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) document.documentElement.classList.remove("drop");
  });
  addEventListener("drop", (event) => {
    document.documentElement.classList.remove("drop");
    if (!hasFiles(event)) return;
    event.preventDefault();
    upload([...event.dataTransfer.files]);
  });

  // Links.
  at("share").addEventListener("click", async () => {
    setFault("link", "");
    const isShared = (key) => offers.some((offer) => offer.key === key && offer.origin !== "upload");
    const tokenizers = chosen.filter(isShared).map((key) => [key, answer?.counts[key]?.fingerprint.slice(0, 12) ?? ""]);
    const left = chosen.length - tokenizers.length ? " Uploaded tokenizers cannot be shared and are not in the link." : "";
    try {
      const special = at("special").checked ? "allow" : "text";
      const fragment = await bytepair.sharing.write({ text: text.value, tokenizers, special });
      history.replaceState(null, "", `#${fragment}`);
    } catch (error) {
      setFault("link", error.message);
      return;
    }
    try {
      await navigator.clipboard.writeText(location.href);
      report(`Link copied.${left}`);
    } catch {
      // Without permission, or without HTTPS on another machine's page.
      report(`The address of this page is the link now: copy it from there.${left}`);
    }
  });

  async function restore() {
    const fragment = location.hash.slice(1);
    setFault("link", "");
    expected = new Map();
    if (!fragment) return false;
    let state;
    try {
      state = await bytepair.sharing.read(fragment, limits.text);
    } catch (error) {
      setFault("link", `this link cannot be opened: ${error.message}`);
      return false;
    }
    text.value = state.text;
    at("special").checked = state.special === "allow";
    const keys = new Set(offers.map((offer) => offer.key));
    const there = state.tokenizers.filter(([key]) => keys.has(key)).slice(0, limits.at_once);
    const gone = state.tokenizers.filter(([key]) => !keys.has(key)).map(([key]) => key);
    if (gone.length) setFault("link", `the link names tokenizers that are not available: ${gone.join(", ").slice(0, 200)}`);
    expected = new Map(there);
    if (there.length) chosen = there.map(([key]) => key);
    return true;
  }

  addEventListener("hashchange", async () => {
    if (await restore()) {
      list();
      changed();
    }
  });

  // Stored in this browser: price and context window, nothing that was typed.
  for (const id of Object.keys(FIELDS)) {
    try {
      at(id).value = localStorage.getItem(`bytepair.${id}`) ?? (id === "window" ? "128k" : "");
    } catch {
      at(id).value = ""; // A browser that keeps nothing.
    }
    at(id).addEventListener("input", () => {
      try {
        localStorage.setItem(`bytepair.${id}`, at(id).value);
      } catch {
        // As above.
      }
      count();
    });
  }

  at("too-many").textContent =
    `More than ${number(limits.tokens)} tokens are counted but not shown: use bytepair view --html for a page.`;
  text.addEventListener("input", changed);
  at("special").addEventListener("change", changed);

  restore().then((isRestored) => {
    if (!isRestored && !text.value) text.value = SAMPLE;
    list();
    changed();
  });
})();
