"use strict";
// Draws the graphs of a page. The same data is in a list beside each of them.

(() => {
  const COLUMN = 250, LABEL = 120, ROW = 100, READABLE = 0.65;
  // A column is wider where its edges have labels. A graph that would be unreadable as a whole begins at its left.

  // The colour of a class, as the theme has it: cytoscape does not know custom properties.
  const colour = (name) => {
    const probe = document.createElement("i");
    probe.className = "graph-" + name;
    document.body.append(probe);
    const found = getComputedStyle(probe).color;
    probe.remove();
    return found;
  };

  const style = () => {
    const kinds = ["axis", "lock", "normal", "added", "removed", "changed"];
    const text = colour("text"), line = colour("line"), paper = colour("paper"), accent = colour("accent");
    return [
      { selector: "node", style: {
        shape: "round-rectangle", width: 200, height: 72, "background-color": paper, "border-width": 2, "border-color": line,
        label: "data(label)", color: text, "font-size": 16, "font-family": getComputedStyle(document.body).fontFamily,
        "text-wrap": "wrap", "text-max-width": 188, "text-valign": "center", "text-halign": "center" } },
      ...kinds.map((kind) => ({ selector: `node[kind = "${kind}"]`, style: { "border-color": colour(kind) } })),
      { selector: "node[column = 0][row = 0][!parent]", style: { "border-width": 4 } },
      { selector: ":parent", style: {
        "background-color": colour("group"), "border-width": 0, "text-valign": "top", "text-margin-y": -6, padding: 16,
        "font-weight": 600 } },
      { selector: "edge", style: {
        width: 1.5, "line-color": line, "target-arrow-color": line, "target-arrow-shape": "triangle", "curve-style": "straight",
        label: "data(label)", color: text, "font-size": 13, "text-background-color": colour("page"),
        "text-background-opacity": 1, "text-background-padding": 2 } },
      { selector: "edge.leftwards", style: { "source-endpoint": "-50% 0", "target-endpoint": "50% 0" } },
      { selector: "edge.rightwards", style: { "source-endpoint": "50% 0", "target-endpoint": "-50% 0" } },
      { selector: ".on-path", style: { "line-color": accent, "target-arrow-color": accent, "border-color": accent, width: 3 } },
      { selector: "node.on-path", style: { width: 200, "border-width": 4 } },
    ];
  };

  // Three lines of a label at most; the list has all of it.
  const shorten = (label) => (label.length > 42 ? label.slice(0, 40) + "…" : label);

  const draw = (box) => {
    const graph = JSON.parse(box.dataset.graph);
    box.hidden = false;
    const columns = Object.fromEntries(graph.nodes.map((each) => [each.id, each.column]));
    const width = COLUMN + (graph.edges.some((each) => each.label) ? LABEL : 0);
    const heights = {};
    for (const each of graph.nodes) heights[each.column] = Math.max(heights[each.column] || 0, each.row);
    const direction = (edge) => {
      const across = columns[edge.target] - columns[edge.source];
      return across > 0 ? "rightwards" : across < 0 ? "leftwards" : "";
    };
    const cy = cytoscape({
      container: box,
      elements: [
        ...(graph.groups || []).map((each) => ({ data: each })),
        ...graph.nodes.map((each) => ({
          data: { ...each, label: shorten(each.label) },
          position: { x: each.column * width, y: (each.row - heights[each.column] / 2) * ROW } })),
        ...graph.edges.map((each) => ({ data: each, classes: direction(each) })),
      ],
      style: style(),
      layout: { name: "preset", fit: true, padding: 24 },
      maxZoom: 1.2, minZoom: 0.1, userZoomingEnabled: false, autoungrabify: true, boxSelectionEnabled: false,
    });
    if (cy.zoom() > 1) { cy.zoom(1); cy.center(); }
    if (cy.zoom() < READABLE) {
      cy.zoom(READABLE);
      cy.center();
      cy.panBy({ x: 24 - cy.elements().renderedBoundingBox().x1, y: 0 });
    }

    // The path from the first node, as the list gives it.
    const mark = (id) => {
      cy.elements().removeClass("on-path");
      const row = document.querySelector(`[data-node="${CSS.escape(id)}"]`);
      document.querySelectorAll("[data-node].marked").forEach((each) => each.classList.remove("marked"));
      if (!row) return;
      row.classList.add("marked");
      cy.getElementById(id).addClass("on-path");
      row.querySelectorAll("[data-source]").forEach((edge) => {
        cy.edges().filter((each) => each.data("source") === edge.dataset.source
          && each.data("target") === edge.dataset.target && each.data("label") === edge.dataset.label)
          .addClass("on-path").connectedNodes().addClass("on-path");
      });
    };
    cy.on("tap", "node", (event) => mark(event.target.id()));
    document.querySelectorAll("[data-node]").forEach((row) => {
      row.addEventListener("focusin", () => mark(row.dataset.node));
      row.addEventListener("mouseenter", () => mark(row.dataset.node));
    });
    for (const button of document.querySelectorAll(`[data-zoom="${box.id}"]`)) {
      button.closest("[hidden]")?.removeAttribute("hidden");
      button.addEventListener("click", () => {
        const by = Number(button.value);
        if (by) cy.zoom({ level: cy.zoom() * by, renderedPosition: { x: box.clientWidth / 2, y: box.clientHeight / 2 } });
        else cy.fit(undefined, 24);
      });
    }
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => cy.style(style()));
  };

  document.addEventListener("DOMContentLoaded", () => document.querySelectorAll("[data-graph]").forEach(draw));
})();
