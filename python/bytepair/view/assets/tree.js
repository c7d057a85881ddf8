// The merges that make a token, as a tree.
(() => {
  "use strict";
  const bytepair = (globalThis.bytepair ??= {});
  const { draw, line, decode } = bytepair;

  // Nodes that are drawn, the highest first; what lies below the others is folded.
  const MOST_NODES = 300;
  const MOST_LABEL = 24;
  const [STEP, HEIGHT, LETTER, GAP] = [44, 22, 7.8, 6];

  const label = (hex) => {
    const text = decode(hex);
    return text === null ? hex.slice(0, 2 * MOST_LABEL).replace(/..(?=.)/g, "$& ") : line(text, MOST_LABEL);
  };

  // Wide characters take two columns; what is taken for one that is not is only drawn in a wider box.
  const columns = (text) => Array.from(text).reduce((sum, character) => sum + (character > "\u2e7f" ? 2 : 1), 0);

  function grow(vocabulary, id) {
    const root = { id, facts: vocabulary[id] ?? { hex: "" }, children: [], depth: 0 };
    const waiting = [root];
    let nodes = 1;
    for (let next = 0; next < waiting.length; next++) {
      const node = waiting[next];
      if (!node.facts.made) continue;
      node.isFolded = nodes + 2 > MOST_NODES;
      if (node.isFolded) continue;
      nodes += 2;
      node.children = node.facts.made.map((child) => ({
        id: child, facts: vocabulary[child] ?? { hex: "" }, children: [], depth: node.depth + 1,
      }));
      waiting.push(...node.children);
    }
    return waiting;
  }

  // Children come behind their parents: from the last, widths are known; from the first, places.
  function lay(nodes) {
    for (const node of nodes.toReversed()) {
      node.label = label(node.facts.hex) + (node.isFolded ? " …" : "");
      node.own = Math.max(columns(node.label) * LETTER + 12, 24);
      node.inner = node.children.reduce((sum, child) => sum + child.width + GAP, -GAP);
      node.width = Math.max(node.own, node.inner);
      [node.left, node.middle] = [0, node.width / 2];
      if (node.children.length) {
        const [left, right] = node.children;
        left.left = (node.width - node.inner) / 2;
        right.left = left.left + left.width + GAP;
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
    if (node.children.length && node.facts.rank !== null && node.facts.rank !== undefined) {
      group.append(draw("text", { x: x + 4, y: y + HEIGHT + 9, class: "rank" }, String(node.facts.rank)));
    }
    return group;
  }

  // An SVG, or null for a token that no merge makes.
  bytepair.tree = (vocabulary, id) => {
    if (!vocabulary[id]?.made) return null;
    const nodes = grow(vocabulary, id);
    lay(nodes);
    const width = Math.ceil(nodes[0].width) + 2;
    const height = Math.max(...nodes.map((node) => node.depth)) * STEP + HEIGHT + 2;
    const merges = nodes.filter((node) => node.children.length);
    const said = merges.slice(0, 20).map((node) => `${node.label} of ${node.children.map((child) => child.label).join(" and ")}`);
    if (merges.length > said.length) said.push(`and ${merges.length - said.length} more merges`);
    const frame = { width, height, viewBox: `-1 0 ${width} ${height}`, role: "img", "aria-label": said.join("; ") };
    return draw("svg", frame, ...nodes.map(drawn));
  };
})();
