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

// A chat turn is streamed: the reply appears as it is made, then the parts of the page are replaced.
document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (!form.matches(".compose") || !window.ReadableStream) return;
  event.preventDefault();
  const button = form.querySelector("button");
  const fields = new URLSearchParams(new FormData(form));
  button.disabled = true;
  const log = startLog(fields.get("message"));
  try {
    const response = await fetch(form.dataset.stream, {
      method: "POST",
      body: fields,
      headers: { "HX-Request": "true" },
    });
    if (response.headers.get("hx-redirect")) {
      window.location = response.headers.get("hx-redirect");
      return;
    }
    if (!response.ok) {
      showProblem(form, await response.text());
      log.reply.parentElement.remove();
      return;
    }
    for await (const { name, data } of events(response.body)) {
      if (name === "token") log.reply.append(data.text);
      if (name === "done") replaceParts(data);
      if (name === "error") showProblem(form, "", data.message);
    }
  } catch (error) {
    showProblem(form, "", String(error.message));
  } finally {
    button.disabled = false;
  }
});

// Enter sends, Shift+Enter makes a new line. Not while a Korean syllable is being composed.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  if (event.target.matches(".compose textarea")) {
    event.preventDefault();
    event.target.form.requestSubmit();
  }
});

function startLog(message) {
  const holder = document.getElementById("chat-log");
  let list = holder.querySelector(".log");
  if (!list) {
    list = document.createElement("ol");
    list.className = "log";
    holder.replaceChildren(list);
  }
  const add = (role, text) => {
    const item = document.createElement("li");
    item.className = role;
    const line = document.createElement("p");
    line.className = "text said";
    line.textContent = text;
    item.append(line);
    list.append(item);
    item.scrollIntoView({ block: "nearest" });
    return line;
  };
  add("user", message);
  return { reply: add("assistant", "") };
}

function replaceParts(parts) {
  for (const name of ["log", "side", "form"]) {
    const made = document.createElement("template");
    made.innerHTML = parts[name];
    document.getElementById(`chat-${name}`).replaceWith(made.content);
  }
  const items = document.querySelectorAll("#chat-log li");
  if (items.length) items[items.length - 1].scrollIntoView({ block: "nearest" });
  document.getElementById("message").focus();
}

function showProblem(form, html, message) {
  let place = form.querySelector(".problem");
  if (place) place.remove();
  const made = document.createElement("template");
  if (html) {
    made.innerHTML = html;
  } else {
    const box = document.createElement("p");
    box.className = "problem";
    box.setAttribute("role", "alert");
    box.textContent = message;
    made.content.append(box);
  }
  form.append(made.content);
}

async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  while (true) {
    const { value, done } = await reader.read();
    if (done) return;
    rest += value;
    const blocks = rest.split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const name = /^event: (.*)$/m.exec(block);
      const data = /^data: (.*)$/m.exec(block);
      if (name && data) yield { name: name[1], data: JSON.parse(data[1]) };
    }
  }
}
