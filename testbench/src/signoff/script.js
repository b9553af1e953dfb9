"use strict";
// Tables with a filter show the rows that have all its words.
for (const filter of document.querySelectorAll("[data-filter]")) {
  const rows = [...document.querySelectorAll("#" + filter.dataset.filter + " > tbody > tr")];
  const input = filter.querySelector("input");
  const output = filter.querySelector("output");
  const texts = rows.map((row) => row.textContent.toLowerCase());
  const show = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach((row, place) => {
      row.hidden = !words.every((word) => texts[place].includes(word));
      shown += row.hidden ? 0 : 1;
    });
    output.value = shown + " of " + rows.length;
  };
  input.addEventListener("input", show);
  show();
}
// A link into something folded opens it.
const unfold = () => {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let at = target; at; at = at.parentElement) {
    if (at.tagName === "DETAILS") at.open = true;
  }
  if (target) target.scrollIntoView();
};
addEventListener("hashchange", unfold);
unfold();
