// The cost of a text with each tokenizer: counts, price, and the share of a context window.
(() => {
  "use strict";
  const bytepair = (globalThis.bytepair ??= {});
  const { make, number } = bytepair;

  // A price such as “$2.50” or “2,50 €”; null if it is not one.
  function price(text) {
    const found = /^\s*([^\d\s.,-]{0,4})\s*(\d+(?:[.,]\d+)?)\s*([^\d\s.,-]{0,4})\s*$/.exec(text);
    return found && { before: found[1], value: Number(found[2].replace(",", ".")), after: found[3] };
  }

  // A number of tokens such as “128k” or “128,000”; null if it is not one.
  function size(text) {
    const found = /^\s*(\d[\d,_ ]*(?:\.\d+)?)\s*([km]?)\s*$/i.exec(text);
    const value = found && Number(found[1].replace(/[,_ ]/g, "")) * { "": 1, k: 1e3, m: 1e6 }[found[2].toLowerCase()];
    return value >= 1 ? Math.floor(value) : null;
  }

  const charactersOf = (text) => {
    let characters = text.length;
    for (let at = 0; at < text.length; at++) if ((text.charCodeAt(at) & 0xfc00) === 0xdc00) characters -= 1;
    return characters;
  };

  function totals(text, bytes) {
    const many = (value, one) => `${number(value)} ${one}${value === 1 ? "" : "s"}`;
    const lines = text.split("\n").length - (/(^|\n)$/.test(text) ? 1 : 0);
    return [many(charactersOf(text), "character"), many(bytes, "byte"), many(lines, "line")].join(" · ");
  }

  const ratio = (whole, tokens) => (tokens ? number(whole / tokens, 2) : "–");

  function sum(tokens, cost) {
    const value = (tokens * cost.value) / 1e6;
    const isSmall = value && value < 0.995;
    const digits = isSmall
      ? { minimumSignificantDigits: 3, maximumSignificantDigits: 3 }
      : { minimumFractionDigits: 2, maximumFractionDigits: 2 };
    return cost.before + value.toLocaleString("en", digits) + (cost.after && ` ${cost.after}`);
  }

  function share(part) {
    const digits = { style: "percent", minimumSignificantDigits: 3, maximumSignificantDigits: 3 };
    return part.toLocaleString("en", digits) + (part > 1 ? ", too much" : "");
  }

  function bar(part) {
    const inside = make("i");
    inside.style.width = `${Math.min(100, 100 * part)}%`;
    return make("span", { class: "bar", "aria-hidden": "true" }, inside);
  }

  // A table of rows {name, tokens, fault}; without a column for `cost` or `most` if that is null.
  // On a phone its rows are blocks, which a screen reader needs roles for to read as a table.
  function table(rows, text, bytes, cost, most) {
    const characters = charactersOf(text);
    const labels = ["Tokens", "Characters per token", "Bytes per token"];
    if (cost) labels.push("Cost");
    if (most) labels.push(`Share of ${number(most)}`);
    const lines = rows.map(({ name, tokens, fault }) => {
      const head = make("th", { scope: "row", role: "rowheader" }, name);
      if (tokens === undefined) {
        return make("tr", { role: "row" }, head, make("td", { class: "fault", role: "cell", colspan: labels.length }, fault));
      }
      const cells = [[number(tokens)], [ratio(characters, tokens)], [ratio(bytes, tokens)]];
      if (cost) cells.push([sum(tokens, cost)]);
      if (most) cells.push([share(tokens / most), bar(tokens / most)]);
      const cell = (inside, place) => make("td", { role: "cell", "data-label": labels[place] }, ...inside);
      return make("tr", { role: "row" }, head, ...cells.map(cell));
    });
    const heads = ["Tokenizer", ...labels].map((label) => make("th", { scope: "col", role: "columnheader" }, label));
    const head = make("thead", { role: "rowgroup" }, make("tr", { role: "row" }, ...heads));
    const body = make("tbody", { role: "rowgroup" }, ...lines);
    return make("table", { role: "table", "aria-labelledby": "counts-title" }, head, body);
  }

  bytepair.costs = { price, size, totals, table };
})();
