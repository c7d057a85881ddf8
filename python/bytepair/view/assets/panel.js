// The panel of facts about one token.
(() => {
  "use strict";
  const bytepair = (globalThis.bytepair ??= {});
  const { make, number, spell, hex, line } = bytepair;

  const MOST_SPELLED = 100;

  const isThere = (value) => value !== null && value !== undefined;

  function made(row, facts) {
    if (facts.made) {
      const [left, right] = facts.made.map((id) => `${spell(row.vocabulary[id]?.hex ?? "", 20)} (${id})`);
      return `of ${left} and ${right}`;
    }
    if (facts.special) return "a special token: matched before everything else";
    if (facts.added) return "an added token: matched before everything else";
    if (facts.whole) return "taken whole: no merges make it";
    if (row.kind === "ranks" || row.kind === "merges") return "no merge: an initial symbol";
    return `chosen whole by ${row.kind}`;
  }

  function known(row, token) {
    const facts = row.facts(token);
    const [start, end] = [row.starts[token], row.ends[token]];
    const pairs = [
      ["id", String(row.ids[token])],
      ["bytes", facts.hex ? `${hex(facts.hex)} (${number(facts.hex.length / 2)})` : "none"],
      ["characters", end > start ? `${number(start)} to ${number(end)}` : `none, at ${number(start)}`],
      ["index", `${number(token)} of ${number(row.ids.length)}`],
      ["piece", number(row.pieces[token])],
    ];
    if (isThere(facts.rank)) pairs.push(["rank", number(facts.rank)]);
    if (isThere(facts.score)) pairs.push(["score", number(facts.score, 4)]);
    pairs.push(["made", made(row, facts)]);
    return pairs.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value)));
  }

  // Elements: the facts, with an action on the token or "", and the merges that make it, if any.
  bytepair.panel = (rows, row, token, action) => {
    const facts = row.facts(token);
    const kind = facts.special ? " special" : facts.added ? " added" : "";
    const spelled = make("span", { class: `t ${bytepair.colour(token)}${kind}` }, spell(facts.hex, MOST_SPELLED));
    const where = rows.length > 1 ? make("span", { class: "where" }, line(row.name)) : "";
    const what = make(
      "div", { class: "what", tabindex: 0, role: "region", "aria-label": "Facts" },
      make("div", { class: "spelled" }, spelled, where, action), make("dl", {}, ...known(row, token)),
    );
    const tree = bytepair.tree(row.vocabulary, row.ids[token]);
    if (!tree) return [what];
    const name = "The merges that make it, with their ranks";
    return [what, make("div", { class: "tree", tabindex: 0, role: "region", "aria-label": name }, tree)];
  };
})();
