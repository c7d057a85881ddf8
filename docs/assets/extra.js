// What is wider than its place scrolls; so that it can be scrolled by keyboard too, it can have the focus. The theme
// takes that away again where there is no mouse, and makes a landmark of each group of buttons.
const mend = () => {
  for (const box of document.querySelectorAll(".highlight code, .md-typeset__scrollwrap")) {
    if (box.scrollWidth > box.clientWidth && box.tabIndex !== 0) box.tabIndex = 0
  }
  for (const buttons of document.querySelectorAll(".md-code__nav:not([role])")) buttons.setAttribute("role", "group")
}
mend()
addEventListener("resize", mend)
document.fonts.ready.then(mend)
new MutationObserver(mend).observe(document.body, { subtree: true, childList: true, attributeFilter: ["tabindex"] })
