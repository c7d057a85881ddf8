// A page of one picture: its data are differences from token to token, without default values.
(() => {
  "use strict";
  const sums = (steps) => {
    let sum = 0;
    return steps.map((step) => (sum += step));
  };
  const picture = JSON.parse(document.getElementById("data").textContent);
  for (const tokenizer of picture.tokenizers) {
    tokenizer.starts = sums(tokenizer.starts);
    tokenizer.ends = tokenizer.ends.map((length, token) => tokenizer.starts[token] + length);
    tokenizer.pieces = sums(tokenizer.pieces);
  }
  globalThis.bytepair.show(document.getElementById("view"), picture);
})();
