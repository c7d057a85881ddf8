// The merges that make a token, as a tree.
(() => {
  "use strict";
  const bytepair = (globalThis.bytepair ??= {});
  const { draw, line, decode } = bytepair;

  // The nodes that are drawn, the highest first; children of the others are folded.
  const MOST_NODES = 150;
  const MOST_LABEL = 18;
  const [STEP, HEIGHT, LETTER, GAP] = [44, 22, 7.8, 6];

  const label = (hex) => {
    const text = decode(hex);
    const shown = text === null ? bytepair.hex(hex, MOST_LABEL / 3) : line(text, MOST_LABEL);
    // Long tokens share their beginning.
    return shown.endsWith("…") ? `${shown} (${hex.length / 2})` : shown;
  };

  // Wide characters take two columns; a wrong guess only makes a box wider.
  const columns = (text) => Array.from(text).reduce((sum, character) => sum + (character > "\u2e7f" ? 2 : 1), 0);

  function grow(vocabulary, id) {
    const root = { id, facts: vocabulary[id] ?? { hex: "" }, children: [], depth: 0 };
    const waiting = [root];
    let nodes = 1;
    for (let next = 0; next < waiting.length; next++) {
      const node = waiting[next];
      if (!node.facts.made) continue;
      // Two equal halves are drawn once: a run of spaces is a line of nodes, not a wide tree.
      node.isTwice = node.facts.made[0] === node.facts.made[1];
      const parts = node.isTwice ? node.facts.made.slice(1) : node.facts.made;
      node.isFolded = nodes + parts.length > MOST_NODES;
      if (node.isFolded) continue;
      nodes += parts.length;
      node.children = parts.map((child) => ({
        id: child, facts: vocabulary[child] ?? { hex: "" }, children: [], depth: node.depth + 1,
      }));
      waiting.push(...node.children);
    }
    return waiting;
  }

  // Children come after their parents: widths are computed from the last node, places from the first.
  function lay(nodes) {
    for (const node of nodes.toReversed()) {
      node.label = label(node.facts.hex) + (node.isFolded ? " …" : "");
      node.own = Math.max(columns(node.label) * LETTER + 12, 24);
      node.inner = node.children.reduce((sum, child) => sum + child.width + GAP, -GAP);
      node.width = Math.max(node.own, node.inner);
      [node.left, node.middle] = [0, node.width / 2];
      if (node.children.length) {
        const left = node.children[0];
        const right = node.children.at(-1);
        left.left = (node.width - node.inner) / 2;
        if (right !== left) right.left = left.left + left.width + GAP;
        node.middle = (left.left + left.middle + right.left + right.middle) / 2;
        node.middle = Math.min(Math.max(node.middle, node.own / 2), node.width - node.own / 2);
      }
    }
    for (const node of nodes) for (const child of node.children) child.left += node.left;
  }

  function drawn(node) {
    const [x, y] = [node.left + node.middle, node.depth * STEP + 1];
    const group = draw("g", { class: node.children.length || node.isFolded ? "made" : "leaf" });
    for (const child of node.children) {
      const [to, bend] = [child.left + child.middle, y + HEIGHT + 11];
      group.append(draw("path", { d: `M${x} ${y + HEIGHT}V${bend}H${to}V${y + STEP}` }));
    }
    group.append(draw("rect", { x: x - node.own / 2, y, width: node.own, height: HEIGHT, rx: 4 }));
    group.append(draw("text", { x, y: y + 15 }, node.label));
    const beside = [node.facts.rank ?? "", node.isTwice ? "2 ×" : ""].filter((part) => part !== "").join(", ");
    if (node.children.length) group.append(draw("text", { x: x + 4, y: y + HEIGHT + 9, class: "rank" }, beside));
    return group;
  }

  // An SVG with the centre of its root, or null for a token that no merge makes.
  bytepair.tree = (vocabulary, id) => {
    if (!vocabulary[id]?.made) return null;
    const nodes = grow(vocabulary, id);
    lay(nodes);
    const width = Math.ceil(nodes[0].width) + 2;
    const height = Math.max(...nodes.map((node) => node.depth)) * STEP + HEIGHT + 2;
    const merges = nodes.filter((node) => node.children.length);
    const parts = (node) => (node.isTwice ? "twice " : "") + node.children.map((child) => child.label).join(" and ");
    const summary = merges.slice(0, 20).map((node) => `${node.label} of ${parts(node)}`);
    if (merges.length > summary.length) summary.push(`and ${merges.length - summary.length} more merges`);
    const frame = { width, height, viewBox: `-1 0 ${width} ${height}`, role: "img", "aria-label": summary.join("; ") };
    const svg = draw("svg", frame, ...nodes.map(drawn));
    svg.middle = nodes[0].middle;
    return svg;
  };
})();
