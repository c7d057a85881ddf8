// The head of a picture: counts of tokens, and the key to the marks in use.
(() => {
  "use strict";
  const bytepair = (globalThis.bytepair ??= {});
  const { make, number, count, line } = bytepair;

  const percent = (share) => `${share < 0 ? "−" : "+"}${number(Math.abs(100 * share), 1)}%`;

  bytepair.counts = ({ rows, characters, bytes }) => {
    const several = rows.length > 1;
    const heads = ["tokens", "bytes per token", "distinct ids"];
    if (several) heads.push("against the first");
    const first = rows[0].ids.length;
    const lines = rows.map((row) => {
      const tokens = row.ids.length;
      const cells = [number(tokens), tokens ? number(bytes / tokens, 2) : "–", number(new Set(row.ids).size)];
      if (several) cells.push(row.number === 0 || !first ? "–" : percent(tokens / first - 1));
      const name = make("th", { scope: "row" }, line(row.name), make("span", { class: "kind" }, row.kind));
      return make("tr", {}, name, ...cells.map((cell) => make("td", {}, cell)));
    });
    const head = make("tr", {}, make("td"), ...heads.map((text) => make("th", { scope: "col" }, text)));
    return [
      make("p", { class: "about" }, `${count(characters, "character")}, ${count(bytes, "byte")}`),
      make("table", { class: "counts" }, make("thead", {}, head), make("tbody", {}, ...lines)),
    ];
  };

  const sample = (name, text) => make("span", { class: `t ${name}` }, text);
  const unseen = (name, shown) => make("span", { class: `t ${name}` }, make("i", { class: "x", "data-s": shown }));

  bytepair.legend = ({ rows, text }) => {
    const has = (test) => rows.some((row) => row.ids.some((_, token) => test(row, token)));
    const parts = [];
    if (text.includes(" ")) parts.push([unseen("g1", "·"), "space"]);
    if (text.includes("\n")) parts.push([unseen("g2", "↵"), "line end"]);
    if (has((row, token) => row.isPart[token])) parts.push([unseen("g3", "‹e2 82›"), "bytes of a part of a character"]);
    if (has((row, token) => row.facts(token).special)) parts.push([sample("g4 special", "special"), "token"]);
    if (has((row, token) => row.facts(token).added && !row.facts(token).special)) {
      parts.push([sample("g4 added", "added"), "token"]);
    }
    if (rows.some((row) => row.hasGaps)) parts.push([make("span", { class: "gap" }, "text"), "without a token"]);
    if (rows.some((row) => row.differs?.length)) parts.push([sample("g1 differs", "differs"), "from the other tokenizer"]);
    return parts.map(([shown, meaning]) => make("span", {}, shown, " ", meaning));
  };
})();
