// The state of the page <-> the fragment of its address: JSON, deflated, in base64url. Browsers do not send fragments.
(() => {
  "use strict";
  const bytepair = (globalThis.bytepair ??= {});
  const VERSION = "v1.";
  // The longest address that every browser in use supports.
  const MOST = 60000;

  async function through(bytes, transform, most) {
    const reader = new Blob([bytes]).stream().pipeThrough(transform).getReader();
    const parts = [];
    let size = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      size += value.length;
      if (size > most) {
        await reader.cancel();
        throw new Error("the content of the link is too large");
      }
      parts.push(value);
    }
    return new Uint8Array(await new Blob(parts).arrayBuffer());
  }

  // The fragment of a state; an error if it would be too long.
  async function write(state) {
    const json = new TextEncoder().encode(JSON.stringify(state));
    const packed = await through(json, new CompressionStream("deflate-raw"), Infinity);
    let binary = "";
    for (let at = 0; at < packed.length; at += 8192) binary += String.fromCharCode(...packed.subarray(at, at + 8192));
    const fragment = VERSION + btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
    if (fragment.length > MOST) {
      const [size, most] = [fragment.length, MOST].map((number) => number.toLocaleString("en"));
      throw new Error(`the text is too long for a link: ${size} characters, and ${most} are the limit`);
    }
    return fragment;
  }

  // The state of a fragment: text, tokenizers as pairs of key and fingerprint, special; an error if it is invalid.
  async function read(fragment, most) {
    if (fragment.length > MOST) throw new Error("the link is too long");
    if (!fragment.startsWith(VERSION)) throw new Error("it is not a link of this version of the playground");
    let state;
    try {
      const packed = fragment.slice(VERSION.length).replaceAll("-", "+").replaceAll("_", "/");
      const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
      const json = await through(bytes, new DecompressionStream("deflate-raw"), 6 * most + 10000);
      state = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(json));
    } catch (error) {
      throw new Error("the link is damaged or incomplete", { cause: error });
    }
    const isPair = (pair) => Array.isArray(pair) && pair.length === 2 && pair.every((part) => typeof part === "string");
    const isRight =
      state !== null &&
      typeof state === "object" &&
      typeof state.text === "string" &&
      Array.isArray(state.tokenizers) &&
      state.tokenizers.every(isPair) &&
      ["allow", "text"].includes(state.special);
    if (!isRight) throw new Error("the link is damaged");
    return state;
  }

  bytepair.sharing = { write, read };
})();
