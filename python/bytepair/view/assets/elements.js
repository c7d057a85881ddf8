// Elements for the scripts of the pages. Text stays text: nothing here parses HTML.
(() => {
  "use strict";
  const bytepair = (globalThis.bytepair ??= {});

  const set = (element, attributes, children) => {
    for (const [name, value] of Object.entries(attributes)) {
      if (typeof value === "function") element.addEventListener(name, value);
      else if (value === true) element.setAttribute(name, "");
      else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
    }
    element.append(...children);
    return element;
  };

  bytepair.make = (tag, attributes = {}, ...children) => set(document.createElement(tag), attributes, children);

  bytepair.draw = (tag, attributes = {}, ...children) =>
    set(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

  bytepair.number = (value, digits = 0) =>
    value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });

  bytepair.count = (value, one) => `${bytepair.number(value)} ${one}${value === 1 ? "" : "s"}`;

  // The colours of tokens, in turn.
  bytepair.colour = (token) => `g${(token % 4) + 1}`;
})();
