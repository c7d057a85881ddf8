// The viewer of a picture: the tokens of a text, by one tokenizer or several. It is one long class, since everything in
// it depends on one thing, the current token.
(() => {
  "use strict";
  const bytepair = (globalThis.bytepair ??= {});
  const { make, number, count, write, speak, line } = bytepair;

  const LAYERS = { pieces: "Pieces", offsets: "Offsets", ids: "Ids" };
  const SEEN = /[^\p{C}\p{Z}\p{M}]/u;
  let viewers = 0;

  const button = (text, click, more = {}) => make("button", { type: "button", click, ...more }, text);

  class Viewer {
    // The current token: {row, token}; it stays while it is pinned.
    #here = null;
    #pinned = false;
    #marked = [];
    #anchor = null;
    #query = { text: null, hits: [], at: -1 };

    constructor(root, options) {
      this.name = `viewer${(viewers += 1)}`;
      this.root = root;
      this.head = make("div");
      this.columns = make("div", { class: "columns" });
      this.isBrief = options.brief === true;
      this.status = make("p", { class: "status", role: "status" });
      this.differences = make("span", { class: "differences" });
      this.help = this.#help();
      this.legend = make("p", { class: "legend" });
      this.dock = make("section", { class: "dock", "aria-label": "The token" });
      root.classList.add("viewer");
      const skip = button("To the tokens", () => this.lists[0].focus(), { class: "skip" });
      const notes = [this.legend, this.help];
      root.replaceChildren(
        skip, this.head, this.#tools(options), this.status,
        ...(this.isBrief ? [this.columns, ...notes] : [...notes, this.columns]), this.dock,
      );
      this.near = new IntersectionObserver((entries) => this.#come(entries), { rootMargin: "1000px 0px" });
      this.columns.addEventListener("pointerover", (event) => event.pointerType === "touch" || this.#hover(event));
      this.columns.addEventListener("click", (event) => this.#click(event));
      this.columns.addEventListener("keydown", (event) => this.#key(event));
      root.addEventListener("keydown", (event) => event.key === "Escape" && this.#unpin());
      window.addEventListener("beforeprint", () => {
        for (const row of this.rows) row.blocks.forEach((block) => this.#fill(block));
      });
    }

    update(data) {
      const kept = this.#here && { row: this.#here.row.number, token: this.#here.token };
      this.picture = bytepair.rows(data);
      this.rows = this.picture.rows;
      this.#forget();
      this.#query.text = null;
      this.head.replaceChildren(...bytepair.counts(this.picture));
      this.#showColumns();
      this.#showDifferences();
      this.legend.replaceChildren(...bytepair.legend(this.picture));
      const row = kept && this.rows[kept.row];
      if (row && kept.token < row.ids.length) this.#show(row, kept.token, this.#pinned);
      else this.#showNothing();
    }

    // Shows a token of the first tokenizer, and scrolls to it.
    select(token) {
      if (token in this.rows[0].ids) this.#go(this.rows[0], token, true);
    }

    #unpin() {
      if (!this.#pinned) return;
      // The button that had the focus is removed.
      if (this.dock.contains(document.activeElement)) this.lists[this.#here.row.number].focus({ preventScroll: true });
      // Without a pointer, the panel would stay in the way.
      if (matchMedia("(hover: none)").matches) this.#showNothing();
      else this.#show(this.#here.row, this.#here.token, false);
    }

    #release() {
      this.#pinned = false;
      this.root.classList.remove("pinned");
      for (const element of this.root.querySelectorAll("[aria-selected]")) element.removeAttribute("aria-selected");
    }

    // ---- the head

    #tools(options) {
      const chosen = new Set(options.layers ?? []);
      const layers = Object.entries(LAYERS).map(([layer, name]) => {
        this.root.classList.toggle(layer, chosen.has(layer));
        const change = (event) => this.root.classList.toggle(layer, event.target.checked);
        const box = make("input", { type: "checkbox", change });
        box.checked = chosen.has(layer);
        return make("label", {}, box, name);
      });
      this.search = make("input", {
        type: "search", placeholder: "Text or id", "aria-label": "Find a text or an id", autocomplete: "off",
        keydown: (event) => {
          if (event.key === "Enter") this.#find(event.shiftKey ? -1 : 1);
        },
      });
      return make(
        "div", { class: "tools slide" },
        make("span", { class: "layers", role: "group", "aria-label": "Layers" }, ...layers),
        make("span", { role: "search" }, this.search, button("Find", () => this.#find(1))),
        this.differences,
        button("Copy ids", () => this.#copy(), { title: "The ids of the selection, or all ids" }),
        options.theme === false ? "" : button("Light or dark", turn),
      );
    }

    #help() {
      const keys = {
        "← →": "token by token; with Shift, select", "↑ ↓": "line by line", "Page Up, Page Down": "one page",
        "Home, End": "first and last token", Enter: "pin the token", Esc: "unpin",
        "n, p": "next and previous difference", "/": "find", c: "copy ids", "?": "this help",
      };
      const rows = Object.entries(keys).map(([key, does]) => make("div", {}, make("dt", {}, key), make("dd", {}, does)));
      const summary = make("summary", {}, "Keys, when the tokens have the focus");
      return make("details", { class: "help" }, summary, make("dl", {}, ...rows));
    }

    #showDifferences() {
      if (this.rows.length < 2) {
        this.differences.replaceChildren();
        return;
      }
      const many = this.rows[0].differs?.length ?? 0;
      const step = (name, direction) => button(name, () => this.#differ(direction), { disabled: many === 0 });
      const found = many ? count(many, "difference") : "No difference";
      this.differences.replaceChildren(found, step("Previous", -1), step("Next", 1));
    }

    // ---- the tokens

    #showColumns() {
      this.near.disconnect();
      this.blocks = new WeakMap();
      this.root.classList.toggle("several", this.rows.length > 1);
      this.lists = this.rows.map((row) => {
        row.blocks.forEach((block) => {
          block.element = make("div", { class: "b", role: "presentation" }, this.picture.text.slice(block.start, block.end));
          block.element.style.containIntrinsicBlockSize = `auto ${this.#height(block)}px`;
          this.blocks.set(block.element, block);
        });
        const about = { role: "listbox", tabindex: 0, "aria-label": `Tokens of ${line(row.name)}` };
        const list = make("div", { class: "list", dir: "ltr", ...(row.ids.length ? about : {}) });
        list.append(...row.blocks.map((block) => block.element));
        list.row = row;
        if (row.blocks.length === 0) list.append(make("p", { class: "empty" }, "No tokens."));
        return list;
      });
      const sections = this.lists.map((list) => {
        const many = make("span", { class: "kind" }, count(list.row.ids.length, "token"));
        return make("section", {}, make("h2", {}, line(list.row.name), many), list);
      });
      this.columns.replaceChildren(...(this.rows.length > 1 || this.isBrief ? sections : this.lists));
      this.#fillWindow();
      // A screen reader ignores a list without options.
      for (const { blocks } of this.rows) if (blocks.length) this.#fill(blocks[0]);
      for (const row of this.rows) for (const block of row.blocks) if (!block.tokens) this.near.observe(block.element);
    }

    // The height of a block before its layout is estimated from its characters.
    #height(block) {
      const text = this.picture.text.slice(block.start, block.end);
      const width = Math.max(20, (this.columns.clientWidth || 900) / Math.min(this.rows.length, 2) / 9.2);
      const lines = text.split("\n").reduce((sum, part) => sum + Math.max(1, Math.ceil(part.length / width)), 0);
      return Math.round(lines * 31);
    }

    // Blocks in the window are laid out at once: the observer would be one frame late.
    #fillWindow() {
      if (!this.root.isConnected) return;
      for (const row of this.rows) {
        for (const block of row.blocks) {
          const place = block.element.getBoundingClientRect();
          if (place.top > window.innerHeight + 300) break;
          if (place.bottom > -300) this.#fill(block);
        }
      }
    }

    #come(entries) {
      for (const entry of entries) {
        const block = entry.isIntersecting && this.blocks.get(entry.target);
        if (block) this.#fill(block);
      }
    }

    #fill(block) {
      if (block.tokens) return;
      const { row } = block;
      const { text } = this.picture;
      const parts = document.createDocumentFragment();
      block.tokens = [];
      let place = block.start;
      for (let token = block.first; token < block.last; token++) {
        if (row.from[token] > place) parts.append(this.#gap(place, row.from[token]));
        const element = this.#token(row, token);
        block.tokens.push(element);
        parts.append(element);
        place = row.to[token];
        // With numbers above or below, tokens are boxes, whose line ends do not break the line after them.
        if (text.slice(row.from[token], place).includes("\n")) parts.append(make("br", { class: "e" }));
      }
      if (block.end > place) parts.append(this.#gap(place, block.end));
      block.element.replaceChildren(parts);
      this.near.unobserve(block.element);
    }

    #token(row, token) {
      const facts = row.facts(token);
      const piece = row.pieces[token];
      let classes = `t ${bytepair.colour(token)}`;
      if (facts.special) classes += " special";
      else if (facts.added) classes += " added";
      if (row.isDifferent[token]) classes += " differs";
      if (row.pieces[token - 1] !== piece) classes += " first";
      if (row.pieces[token + 1] !== piece) classes += " last";
      const shown = { "data-i": row.ids[token], "data-o": row.starts[token] };
      const element = make("span", { class: classes, role: "option", ...shown });
      element.token = token;
      const [before, behind] = row.isPart[token] ? bytepair.around(facts.hex) : ["", ""];
      if (before) element.append(make("i", { class: "x", "data-s": before }));
      this.#write(element, row.from[token], row.to[token]);
      if (behind) element.append(make("i", { class: "x", "data-s": behind }));
      // Text from the style sheet is not an accessible name.
      if (!SEEN.test(element.textContent)) element.setAttribute("aria-label", speak(facts.hex));
      return element;
    }

    #gap(start, end) {
      return this.#write(make("span", { class: "gap", title: "of no token" }), start, end);
    }

    #write(element, start, end) {
      const { text, replaced } = this.picture;
      return write(element, text.slice(start, end), replaced && ((place) => replaced(start + place)));
    }

    #element(row, token) {
      const block = row.block(token);
      this.#fill(block);
      return block.tokens[token - block.first];
    }

    // ---- the current token

    #hover(event) {
      const element = event.target.closest(".t");
      if (element && !this.#pinned) this.#show(element.closest(".list").row, element.token, false);
    }

    #click(event) {
      const element = event.target.closest(".t");
      if (!element || !getSelection().isCollapsed) return;
      const { row } = element.closest(".list");
      const isAgain = this.#pinned && this.#here.row === row && this.#here.token === element.token;
      if (isAgain) this.#unpin();
      else {
        this.#show(row, element.token, true);
        // The panel covers the lowest lines.
        const hidden = element.getBoundingClientRect().bottom + 8 - this.dock.getBoundingClientRect().top;
        if (hidden > 0) window.scrollBy(0, hidden);
      }
    }

    #forget() {
      for (const [element, name] of this.#marked) element.classList.remove(name);
      this.#marked = [];
    }

    #mark(element, name) {
      element.classList.add(name);
      this.#marked.push([element, name]);
    }

    #show(row, token, pinned) {
      this.#release();
      this.#forget();
      this.#here = { row, token };
      this.#pinned = pinned;
      this.root.classList.toggle("pinned", pinned);
      const element = this.#element(row, token);
      this.#mark(element, "here");
      this.#announce(row, token, element);
      for (const other of this.rows) {
        if (other === row) continue;
        const [first, last] = other.span(row.starts[token], row.ends[token]);
        for (let same = first; same < last; same++) {
          const block = other.block(same);
          if (block.tokens) this.#mark(block.tokens[same - block.first], "same");
        }
      }
      this.#describe(row, token);
    }

    // Elements get an id and a place only when they become current: a hundred thousand would be slow.
    #announce(row, token, element) {
      const list = this.lists[row.number];
      const id = `${this.name}-${row.number}`;
      document.getElementById(id)?.removeAttribute("id");
      element.id = id;
      list.setAttribute("aria-activedescendant", id);
      element.setAttribute("aria-posinset", token + 1);
      element.setAttribute("aria-setsize", row.ids.length);
      element.setAttribute("aria-label", `${speak(row.facts(token).hex)}, id ${row.ids[token]}`);
      if (this.#pinned) element.setAttribute("aria-selected", "true");
    }

    #showNothing() {
      this.#here = null;
      this.#release();
      this.#forget();
      for (const list of this.lists) list.removeAttribute("aria-activedescendant");
      const many = this.rows.some((row) => row.ids.length);
      this.dock.replaceChildren(many ? make("p", { class: "hint" }, "Point at a token, or tap it, for details.") : "");
    }

    #describe(row, token) {
      const unpin = this.#pinned ? button("Unpin", () => this.#unpin(), { title: "Escape" }) : "";
      this.dock.replaceChildren(...bytepair.panel(this.rows, row, token, unpin));
      const tree = this.dock.querySelector(".tree");
      if (tree) tree.scrollLeft = tree.firstChild.middle - tree.clientWidth / 2;
    }

    // ---- moving

    #go(row, token, pinned = this.#pinned) {
      this.#show(row, token, pinned);
      this.#element(row, token).scrollIntoView({ block: "nearest" });
    }

    #key(event) {
      const list = event.target.closest(".list");
      if (!list || event.ctrlKey || event.metaKey || event.altKey || list.row.ids.length === 0) return;
      const { row } = list;
      const here = this.#here?.row === row ? this.#here.token : this.#beside(row);
      const last = row.ids.length - 1;
      const moves = {
        ArrowRight: () => Math.min(here + 1, last), ArrowLeft: () => Math.max(here - 1, 0),
        ArrowDown: () => this.#further(row, here, 1, 1), ArrowUp: () => this.#further(row, here, -1, 1),
        PageDown: () => this.#further(row, here, 1, 0.7 * window.innerHeight),
        PageUp: () => this.#further(row, here, -1, 0.7 * window.innerHeight), Home: () => 0, End: () => last,
      };
      const acts = {
        Enter: () => this.#show(row, Math.max(here, 0), true), n: () => this.#differ(1), p: () => this.#differ(-1),
        "/": () => this.search.focus(), c: () => this.#copy(), "?": () => (this.help.open = !this.help.open),
      };
      if (moves[event.key]) {
        const token = Math.max(moves[event.key](), 0);
        this.#select(row, here, token, event.shiftKey);
        this.#go(row, token);
      } else if (acts[event.key]) acts[event.key]();
      else return;
      event.preventDefault();
    }

    // The token of a list at the current token of another list; -1 before the first.
    #beside(row) {
      return this.#here ? row.span(this.#here.row.starts[this.#here.token], Infinity)[0] : -1;
    }

    // The nearest token below or above, in the first line at a distance of at least some pixels.
    #further(row, here, direction, pixels) {
      if (here < 0) return 0;
      const place = (token) => {
        const element = this.#element(row, token);
        return element.getClientRects()[0] ?? element.getBoundingClientRect();
      };
      const from = place(here);
      const far = (at) => direction * (at.top - from.top) >= Math.max(pixels, from.height / 2);
      let token = here;
      do token += direction;
      while (token in row.ids && !far(place(token)));
      if (!(token in row.ids)) return direction > 0 ? row.ids.length - 1 : 0;
      const top = place(token).top;
      let best = token;
      const distance = (at) => Math.abs(place(at).left - from.left);
      for (; token in row.ids && Math.abs(place(token).top - top) < from.height / 2; token += direction) {
        if (distance(token) < distance(best)) best = token;
      }
      return best;
    }

    #select(row, here, token, extends_) {
      if (!extends_) {
        if (this.#anchor !== null) getSelection().removeAllRanges();
        this.#anchor = null;
        return;
      }
      this.#anchor ??= Math.max(here, 0);
      const [first, last] = [Math.min(this.#anchor, token), Math.max(this.#anchor, token)];
      const end = this.#element(row, last);
      getSelection().setBaseAndExtent(this.#element(row, first), 0, end, end.childNodes.length);
    }

    #differ(direction) {
      const row = this.#here?.row ?? this.rows[0];
      const places = this.rows[0].differs ?? [];
      if (places.length === 0) return;
      const token = this.#here?.token;
      const [start, end] = this.#here ? [row.starts[token], row.ends[token]] : [0, 0];
      const later = () => places.findIndex(([first]) => first >= end);
      const earlier = () => places.findLastIndex(([, last]) => last <= start);
      let next = direction > 0 ? Math.max(later(), 0) : earlier();
      if (next < 0) next = places.length - 1;
      this.#go(row, Math.min(row.span(...places[next])[0], row.ids.length - 1));
      this.status.textContent = `Difference ${number(next + 1)} of ${number(places.length)}`;
    }

    // ---- finding and copying

    #find(direction) {
      const text = this.search.value;
      const row = this.#here?.row ?? this.rows[0];
      if (!text) return;
      if (this.#query.text !== text || this.#query.row !== row) {
        this.#query = { text, row, hits: hits(this.picture, row, text), at: direction > 0 ? -1 : 0 };
      }
      const query = this.#query;
      if (query.hits.length === 0) {
        this.status.textContent = `${line(text, 30)} not found`;
        return;
      }
      query.at = (query.at + direction + query.hits.length) % query.hits.length;
      const [first, last] = query.hits[query.at];
      this.#go(row, first);
      for (let token = first + 1; token < last; token++) this.#mark(this.#element(row, token), "same");
      this.status.textContent = `${number(query.at + 1)} of ${number(query.hits.length)}`;
    }

    #copy() {
      const chosen = this.#chosen();
      const row = chosen?.row ?? this.#here?.row ?? this.rows[0];
      const ids = chosen ? row.ids.slice(chosen.first, chosen.last + 1) : row.ids;
      const done = (isDone) => {
        this.status.textContent = isDone ? `${count(ids.length, "id")} copied` : "The browser does not allow copying";
      };
      const writing = navigator.clipboard?.writeText(`[${ids.join(", ")}]`) ?? Promise.reject();
      return writing.then(() => done(true), () => done(false));
    }

    // The tokens that the browser's selection touches, if it is in one list.
    #chosen() {
      const selection = getSelection();
      if (selection.isCollapsed || selection.rangeCount === 0) return null;
      const range = selection.getRangeAt(0);
      const list = this.lists.find((list) => list.contains(range.startContainer) && list.contains(range.endContainer));
      if (!list) return null;
      const first = this.#tokenAt(list.row, range.startContainer, range.startOffset);
      const last = this.#tokenAt(list.row, range.endContainer, range.endOffset);
      return { row: list.row, first, last: Math.max(first, last) };
    }

    #tokenAt(row, node, offset) {
      const element = node.nodeType === Node.TEXT_NODE ? node.parentElement : node;
      if (element.row) return row.blocks[offset]?.first ?? row.ids.length - 1;
      const token = element.closest(".t") ?? (element.childNodes[offset] ?? element.lastChild)?.previousElementSibling;
      if (token?.token !== undefined) return token.token;
      const block = this.blocks.get(element.closest(".b"));
      return block ? row.showing(block.start + (block.tokens ? 0 : offset)) : 0;
    }
  }

  // The occurrences of an id, or else of a text: intervals of tokens. A text in quotes is never an id.
  function hits(picture, row, query) {
    if (/^\d+$/.test(query)) {
      const id = Number(query);
      const found = row.ids.flatMap((other, token) => (other === id ? [[token, token + 1]] : []));
      if (found.length) return found;
    }
    const text = /^"(.+)"$/s.exec(query)?.[1] ?? query;
    const pattern = new RegExp(text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&"), "giu");
    return Array.from(picture.text.matchAll(pattern), (match) => {
      const first = row.showing(match.index);
      return [first, Math.max(first, row.showing(match.index + match[0].length - 1)) + 1];
    });
  }

  function turn() {
    const root = document.documentElement;
    const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = isDark ? "light" : "dark";
  }

  bytepair.show = (root, picture, options = {}) => {
    const viewer = new Viewer(root, options);
    viewer.update(picture);
    return { update: (next) => viewer.update(next), select: (token) => viewer.select(token) };
  };
})();
