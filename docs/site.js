// What the theme leaves out for those who use a keyboard or a screen reader. It wraps the tables
// when it has loaded.
addEventListener("load", () => {
  document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
  for (const table of document.querySelectorAll(".md-typeset__scrollwrap")) table.tabIndex = 0;
});
