// What is wider than its place scrolls; so that it can be scrolled by keyboard too, it can have the focus. The theme
// takes that away where there is no mouse, whenever sizes change.
const mend = () => {
  for (const box of document.querySelectorAll(".highlight code, .md-typeset__scrollwrap")) {
    if (box.scrollWidth > box.clientWidth && !box.hasAttribute("tabindex")) box.setAttribute("tabindex", "0")
  }
}
const soon = () => [50, 300].forEach(wait => setTimeout(mend, wait))
mend()
addEventListener("load", soon)
addEventListener("resize", soon)
addEventListener("scroll", soon, { passive: true })

// The theme makes a landmark of each group of buttons, whenever it comes to it.
const unmark = () => {
  for (const buttons of document.querySelectorAll(".md-code__nav:not([role])")) buttons.setAttribute("role", "presentation")
}
unmark()
new MutationObserver(unmark).observe(document.body, { childList: true, subtree: true })
