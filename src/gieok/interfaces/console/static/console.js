"use strict";
// Small comforts. Every page works without them.

// After an edit form or a row was swapped in, put the focus where the reader is.
document.addEventListener("htmx:afterSwap", (event) => {
  const element = event.detail.elt;
  if (!element.matches || !element.matches(".memory")) return;
  const target = element.querySelector("textarea, a");
  if (target) target.focus();
});

// Preferences are applied as soon as they are chosen.
document.addEventListener("change", (event) => {
  const form = event.target.closest("form[action='/console/preferences']");
  if (form) form.requestSubmit();
});
