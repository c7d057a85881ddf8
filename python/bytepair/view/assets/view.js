// A page of one picture.
(() => {
  "use strict";
  const { show, unpacked } = globalThis.bytepair;
  show(document.getElementById("view"), unpacked(JSON.parse(document.getElementById("data").textContent)));
})();
