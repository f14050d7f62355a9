/* A BPMN diagram with tokens, incidents and passages drawn on it (bpmn-js; its mark stays visible). */
(() => {
  "use strict";

  const HEAT = 4;
  const viewers = new Map();

  /** Read the marks that the page brought along: {tokens, incidents, passed, flows} by element id. */
  function marksOf(holder) {
    // What the instance was at a moment that was chosen goes before what it is.
    const element = document.getElementById("tt-marks-past") || document.getElementById(holder.dataset.marks);
    return element ? JSON.parse(element.textContent) : {};
  }

  function draw(viewer, holder) {
    const marks = marksOf(holder);
    const known = JSON.stringify(marks);
    if (holder.dataset.drawn === known) return;
    holder.dataset.drawn = known;
    const canvas = viewer.get("canvas");
    const overlays = viewer.get("overlays");
    const registry = viewer.get("elementRegistry");
    overlays.clear();
    registry.forEach((element) => {
      for (const marker of ["tt-passed", "tt-standing", "tt-stopped", "tt-chosen", "tt-heat-1", "tt-heat-2", "tt-heat-3", "tt-heat-4"]) {
        if (canvas.hasMarker(element, marker)) canvas.removeMarker(element, marker);
      }
    });
    const mark = (group, marker) => {
      for (const id of Object.keys(marks[group] || {})) if (registry.get(id)) canvas.addMarker(id, marker);
    };
    if (holder.dataset.heat === "yes") {
      const most = Math.max(1, ...Object.values(marks.tokens || {}));
      for (const [id, number] of Object.entries(marks.tokens || {})) {
        if (registry.get(id)) canvas.addMarker(id, `tt-heat-${Math.max(1, Math.ceil((HEAT * number) / most))}`);
      }
    } else {
      mark("passed", "tt-passed");
      mark("flows", "tt-passed");
      mark("tokens", "tt-standing");
    }
    mark("incidents", "tt-stopped");
    badge(overlays, registry, marks.tokens, "", "left", holder.dataset.tokensText);
    badge(overlays, registry, marks.incidents, "tt-badge-incident", "right", holder.dataset.incidentsText, "! ");
    badge(overlays, registry, marks.starts, "tt-badge-start", "right", holder.dataset.startsText, "+ ");
    badge(overlays, registry, marks.ends, "tt-badge-end", "right", holder.dataset.endsText, "− ");
  }

  function badge(overlays, registry, numbers, look, side, text, sign = "") {
    for (const [id, number] of Object.entries(numbers || {})) {
      const element = registry.get(id);
      if (!element) continue;
      const html = document.createElement("div");
      html.className = `tt-badge ${look}`;
      html.textContent = `${sign}${number}`;
      html.title = `${text}: ${number}`;
      overlays.add(id, { position: { top: 0, left: side === "left" ? 0 : element.width }, html });
    }
  }

  /** Pointing at a step of the timeline shows it in the diagram, and the other way round. */
  function link(viewer, holder) {
    const canvas = viewer.get("canvas");
    const registry = viewer.get("elementRegistry");
    let pointed = null;
    const point = (id) => {
      if (pointed && registry.get(pointed)) canvas.removeMarker(pointed, "tt-pointed");
      pointed = id && registry.get(id) ? id : null;
      if (pointed) canvas.addMarker(pointed, "tt-pointed");
    };
    const light = (id) => {
      for (const step of document.querySelectorAll("[data-node]")) step.classList.toggle("tt-lit", !!id && step.dataset.node === id);
    };
    document.addEventListener("mouseover", (event) => point(event.target.closest("[data-node]")?.dataset.node));
    const bus = viewer.get("eventBus");
    bus.on("element.hover", ({ element }) => light(element.labelTarget?.id || element.id));
    bus.on("element.out", () => light(null));
    bus.on("element.click", ({ element }) => {
      const shape = element.labelTarget || element;
      if (!shape.waypoints && shape.parent) holder.dispatchEvent(new CustomEvent("tt:node", { bubbles: true, detail: shape.id }));
    });
  }

  function tools(viewer, holder) {
    const canvas = viewer.get("canvas");
    const zoom = { in: () => viewer.get("zoomScroll").stepZoom(1), out: () => viewer.get("zoomScroll").stepZoom(-1), fit: () => fit(viewer) };
    for (const button of holder.querySelectorAll("[data-zoom]")) button.addEventListener("click", () => zoom[button.dataset.zoom]());
    new ResizeObserver(() => canvas.resized()).observe(holder);
  }

  /** All of it, but never larger than drawn: a small model does not fill the screen. */
  function fit(viewer) {
    const canvas = viewer.get("canvas");
    canvas.zoom("fit-viewport", "auto");
    const zoomed = canvas.zoom();
    canvas.zoom(Math.min(zoomed * 0.94, 1.1), "auto");
  }

  /** Where there is no drawing, the list of nodes says the same in words. */
  function list(holder) {
    const marks = marksOf(holder);
    for (const place of document.querySelectorAll("[data-node-marks]")) {
      const id = place.dataset.nodeMarks;
      place.replaceChildren();
      for (const [group, tone] of [["tokens", "blue"], ["incidents", "red"]]) {
        const number = (marks[group] || {})[id];
        if (!number) continue;
        const state = document.createElement("span");
        state.className = `tt-state tt-${tone}`;
        state.textContent = `${holder.dataset[`${group}Text`]}: ${number}`;
        place.append(state);
      }
    }
  }

  function withoutDrawing(holder) {
    holder.closest(".tt-card").querySelector("[data-nodes]")?.classList.remove("tt-hidden");
    holder.classList.add("tt-hidden");
    viewers.set(holder, null);
    list(holder);
  }

  async function show(holder) {
    // A project that does not serve bpmn-js (see the setting STATICFILES_DIRS of the site) still has its cockpit.
    if (typeof BpmnJS === "undefined") return withoutDrawing(holder);
    const viewer = new BpmnJS({
      container: holder.querySelector(".tt-diagram-canvas"),
      bpmnRenderer: { defaultFillColor: "var(--tt-canvas)", defaultStrokeColor: "var(--tt-stroke)", defaultLabelColor: "var(--tt-stroke)" },
    });
    viewers.set(holder, viewer);
    try {
      const answer = await fetch(holder.dataset.source, { credentials: "same-origin" });
      await viewer.importXML(await answer.text());
    } catch (error) {
      // No diagram interchange, or one that cannot be read: the list of nodes says what the picture would.
      return withoutDrawing(holder);
    }
    fit(viewer);
    draw(viewer, holder);
    link(viewer, holder);
    tools(viewer, holder);
    holder.dataset.ready = "yes";
  }

  document.addEventListener("DOMContentLoaded", () => document.querySelectorAll("[data-source].tt-diagram").forEach(show));
  document.addEventListener("htmx:afterSettle", () => viewers.forEach((viewer, holder) => (holder.dataset.ready ? draw(viewer, holder) : list(holder))));

  /** A click on a node chooses it in a form, or filters the timeline by it. */
  document.addEventListener("tt:node", (event) => {
    const choice = document.querySelector("select[data-choose-node]");
    if (choice) {
      choice.value = event.detail;
      choice.form.querySelector("[data-choose-verb]")?.focus();
      return;
    }
    const field = document.querySelector("[data-timeline-node]");
    if (!field) return;
    field.value = field.value === event.detail ? "" : event.detail;
    field.dispatchEvent(new Event("change", { bubbles: true }));
  });
})();
