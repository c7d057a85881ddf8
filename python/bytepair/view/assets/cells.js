// The characters that each token of a picture shows, in blocks that are laid out when they come near the window.
(() => {
  "use strict";
  const bytepair = (globalThis.bytepair ??= {});

  // UTF-16 units of a block. The blocks of all tokenizers end at the same characters, so that lines stay side by side.
  const BLOCK = 1500;

  // The first index whose value is above a limit, in ascending values.
  const above = (values, limit) => {
    let low = 0;
    let high = values.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (values[middle] > limit) high = middle;
      else low = middle + 1;
    }
    return low;
  };

  // The start of each character in UTF-16 units; null if each is one unit.
  function unitsOf(text) {
    if (!/[\ud800-\udbff]/.test(text)) return null;
    const units = [];
    for (let unit = 0; unit < text.length; unit += text.codePointAt(unit) > 0xffff ? 2 : 1) units.push(unit);
    units.push(text.length);
    return units;
  }

  // U+2581, which represents a space.
  const SPACE = "e29681";

  function cutsOf(text) {
    const cuts = [];
    let last = 0;
    while (text.length - last > 2 * BLOCK) {
      const end = text.indexOf("\n", last + BLOCK) + 1;
      last = end > 0 && end <= last + 4 * BLOCK ? end : last + 4 * BLOCK;
      cuts.push(last);
    }
    cuts.push(Infinity);
    return cuts;
  }

  class Row {
    constructor(picture, tokenizer, number) {
      Object.assign(this, { number, ...tokenizer, picture });
      const { ids, starts, ends } = tokenizer;
      const at = picture.at;
      const count = ids.length;
      // The characters that each token shows: those that no token before it has shown.
      this.from = new Array(count);
      this.to = new Array(count);
      // Whether its bytes are shown: it is a part of a character, or covers no character.
      this.isPart = new Uint8Array(count);
      this.hasGaps = false;
      let shown = 0;
      for (let token = 0; token < count; token++) {
        const start = at(starts[token]);
        // A prefix space covers no character: the one after it belongs to the next token.
        const isPutIn = starts[token + 1] === starts[token] && this.facts(token).hex === SPACE;
        const end = isPutIn ? start : at(ends[token]);
        this.from[token] = Math.max(start, shown);
        this.hasGaps ||= start > shown;
        this.to[token] = Math.max(end, this.from[token]);
        const isShared = token + 1 < count && starts[token + 1] < ends[token];
        this.isPart[token] = start < shown || start === end || isShared ? 1 : 0;
        shown = this.to[token];
      }
      this.hasGaps ||= shown < picture.text.length;
      this.isDifferent = this.#marked(tokenizer.differs ?? []);
      this.blocks = this.#blocksAt(picture.cuts, shown);
    }

    // The tokens that overlap the characters from `start` to `end`: [first, end).
    span(start, end) {
      const first = above(this.ends, start);
      let last = first;
      while (last < this.starts.length && this.starts[last] < end) last += 1;
      return [first, last];
    }

    // The token that shows a UTF-16 unit, or the next one; -1 if there is none.
    showing(unit) {
      const token = above(this.to, unit);
      return token < this.to.length ? token : this.to.length - 1;
    }

    block(token) {
      return this.blocks[above(this.lasts, token)];
    }

    facts(token) {
      return this.vocabulary[this.ids[token]] ?? { hex: "" };
    }

    #marked(intervals) {
      const marked = new Uint8Array(this.ids.length);
      let token = 0;
      for (const [start, end] of intervals) {
        while (token < marked.length && this.ends[token] <= start) token += 1;
        for (let next = token; next < marked.length && this.starts[next] < end; next++) marked[next] = 1;
      }
      return marked;
    }

    #blocksAt(cuts) {
      const blocks = [];
      let first = 0;
      let start = 0;
      for (const cut of cuts) {
        let last = first;
        while (last < this.from.length && this.from[last] < cut) last += 1;
        const end = last < this.from.length ? this.from[last] : this.picture.text.length;
        if (last > first || end > start) blocks.push({ row: this, first, last, start, end });
        [first, start] = [last, end];
      }
      this.lasts = blocks.map((block) => block.last);
      return blocks;
    }
  }

  const sums = (steps) => {
    let sum = 0;
    return steps.map((step) => (sum += step));
  };

  // A picture from its packed form, as `packed` of interactive.py makes it: differences from token to token.
  bytepair.unpacked = (data) => {
    for (const tokenizer of data.tokenizers) {
      tokenizer.starts = sums(tokenizer.starts);
      tokenizer.ends = tokenizer.ends.map((length, token) => tokenizer.starts[token] + length);
      tokenizer.pieces = sums(tokenizer.pieces);
    }
    return data;
  };

  // The viewer's form of a picture: its text, and a `Row` for each tokenizer.
  bytepair.rows = (data) => {
    const text = data.text;
    const units = unitsOf(text);
    const at = units ? (character) => units[character] : (character) => character;
    const replaced = new Map((data.replaced ?? []).map(([character, hex]) => [at(character), hex]));
    let bytes = new TextEncoder().encode(text).length;
    for (const hex of replaced.values()) bytes += hex.length / 2 - 3;
    const picture = { text, at, bytes, cuts: cutsOf(text), characters: units ? units.length - 1 : text.length };
    picture.replaced = replaced.size ? (unit) => replaced.get(unit) : null;
    picture.rows = data.tokenizers.map((tokenizer, number) => new Row(picture, tokenizer, number));
    return picture;
  };
})();
