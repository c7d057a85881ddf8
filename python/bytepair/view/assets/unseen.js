// Visible stand-ins for characters that are invisible or would hide others, as in drawing/characters.py; the text itself
// stays in the page, so that it can be found and copied.
(() => {
  "use strict";
  const bytepair = (globalThis.bytepair ??= {});
  const { make } = bytepair;

  const NAMED = { "\n": "↵", "\t": "→" };
  // In addition to invisible categories: letters and marks that are drawn empty, and Braille without dots.
  const UNSEEN =
    /[\p{C}\p{Z}\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\u180b-\u180f\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/u;
  const MARK = /\p{M}/u;
  const PLAIN = /^( ?)([!-~]+)$/;
  // Marks that are drawn on one letter: more than any script has, too few to cover other lines.
  const MOST_MARKS = 4;

  const point = (character) => "U+" + character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");

  // Parts [text, its stand-in or ""]; runs of spaces are one part.
  function parts(text) {
    const plain = PLAIN.exec(text);
    if (plain) return plain[1] ? [[" ", "·"], [plain[2], ""]] : [[text, ""]];
    const found = [];
    let marks = 0;
    let hasLetter = false;
    const add = (character, shown) => {
      const last = found.at(-1);
      const joins = last && (shown ? shown === "·" && last[1].startsWith("·") : !last[1]);
      if (joins) {
        last[0] += character;
        last[1] += shown;
      } else found.push([character, shown]);
    };
    for (const character of text) {
      let shown = "";
      if (character === " ") shown = "·";
      else if (UNSEEN.test(character)) shown = NAMED[character] ?? point(character);
      if (!shown && MARK.test(character)) {
        marks += 1;
        if (!hasLetter) shown = "◌" + character;
        else if (marks > MOST_MARKS) shown = point(character);
      } else {
        marks = 0;
        hasLetter = !shown;
      }
      add(character, shown);
    }
    return found;
  }

  // One line of visible characters, cut off after `most` of them.
  bytepair.line = (text, most = 80) => {
    const characters = Array.from(text.slice(0, 2 * most + 2));
    const shown = parts(characters.slice(0, most).join("")).map((part) => part[1] || part[0]);
    return shown.join("") + (characters.length > most ? "…" : "");
  };

  // Puts a text into an element. The style sheet draws the stand-in of a character from `data-s`; the character
  // itself stays in the page. `replaced` has the bytes that U+FFFD replaces, by place.
  bytepair.write = (element, text, replaced = null) => {
    let place = 0;
    for (const [part, shown] of parts(text)) {
      if (replaced && !shown && part.includes("\ufffd")) writeReplaced(element, part, place, replaced);
      else if (!shown) element.append(part);
      else if (shown.startsWith("·")) element.append(make("i", { class: "sp" }, part));
      else if (part === "\t") element.append(make("i", { class: "tab" }, part));
      else element.append(make("i", { class: part === "\n" ? "x nl" : "x", "data-s": shown }, part));
      place += part.length;
    }
    return element;
  };

  function writeReplaced(element, text, place, replaced) {
    for (const character of text) {
      const bytes = replaced(place);
      element.append(bytes ? make("i", { class: "x", "data-s": `‹${bytes}›` }, character) : character);
      place += character.length;
    }
  }

  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const spaced = (hex) => hex.replace(/..(?=.)/g, "$& ");

  bytepair.hex = (hex, most = 48) => {
    const more = hex.length / 2 - most;
    return spaced(hex.slice(0, 2 * most)) + (more > 0 ? ` … ${bytepair.number(more)} more` : "");
  };

  // The text of bytes, or null if they are not UTF-8.
  bytepair.decode = (hex) => {
    try {
      return decoder.decode(Uint8Array.from(hex.match(/../g) ?? [], (byte) => parseInt(byte, 16)));
    } catch {
      return null;
    }
  };

  // The notes before and after the text of a token with parts of characters: the bytes of these. A token of whole
  // characters that are shown elsewhere is spelled.
  bytepair.around = (hex) => {
    const bytes = hex.match(/../g) ?? [];
    const follows = (byte) => byte >= "80" && byte < "c0";
    let head = 0;
    while (head < bytes.length && follows(bytes[head])) head += 1;
    let tail = bytes.length;
    do tail -= 1;
    while (tail > head && follows(bytes[tail]));
    tail = Math.max(tail, head);
    if (bytepair.decode(bytes.slice(tail).join("")) !== null) tail = bytes.length;
    const frame = (part) => (part.length ? `‹${part.slice(0, 20).join(" ")}›` : "");
    if (head === 0 && tail === bytes.length) return ["", `‹${bytepair.spell(hex, 20)}›`];
    return [frame(bytes.slice(0, head)), frame(bytes.slice(tail))];
  };

  const SPOKEN = { "\n": "line end", "\t": "tab" };

  // A token as a screen reader speaks it.
  bytepair.speak = (hex) => {
    const text = bytepair.decode(hex);
    if (text === null) return `bytes ${bytepair.hex(hex, 20)}`;
    const words = parts(text.slice(0, 200)).map(([part, shown]) => {
      if (shown.startsWith("·")) return part.length > 1 ? `${part.length} spaces` : "space";
      return SPOKEN[part] ?? (shown || part);
    });
    return words.join(" ") || "nothing";
  };

  // A token for reading: its text, or its bytes if they are not UTF-8.
  bytepair.spell = (hex, most = 40) => {
    const text = bytepair.decode(hex);
    if (text !== null) return bytepair.line(text, most);
    return `‹${spaced(hex.slice(0, 2 * most))}${hex.length > 2 * most ? " …" : ""}›`;
  };
})();
