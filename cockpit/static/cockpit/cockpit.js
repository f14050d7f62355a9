/* What every page of the cockpit needs: times in the reader's own zone, dialogs, links between timeline and diagram. */
(() => {
  "use strict";

  const UNITS = [["year", 31536000], ["month", 2592000], ["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];

  const language = () => document.documentElement.lang || "en";

  /** "3 minutes ago" in the page's language. */
  function relative(moment) {
    const seconds = Math.round((moment - Date.now()) / 1000);
    const [unit, size] = UNITS.find(([, size]) => Math.abs(seconds) >= size) || ["second", 1];
    return new Intl.RelativeTimeFormat(language(), { numeric: "auto" }).format(Math.trunc(seconds / size), unit);
  }

  /** Times come as UTC text; here they become the reader's own. */
  function showTimes(root) {
    for (const element of root.querySelectorAll("time[datetime]")) {
      const moment = new Date(element.dateTime);
      if (Number.isNaN(moment.getTime())) continue;
      const full = moment.toLocaleString(language(), { dateStyle: "medium", timeStyle: "medium" });
      const clock = () => moment.toLocaleTimeString(language(), { hour12: false });
      const day = () => moment.toLocaleDateString(language(), { weekday: "long", day: "numeric", month: "long", year: "numeric" });
      const text = { relative: () => relative(moment), clock, full: () => full, day };
      element.textContent = (text[element.dataset.as] || text.full)();
      element.title = full;
    }
  }

  /** A button with data-dialog opens that dialog; data-close and a click outside close it. */
  document.addEventListener("click", (event) => {
    const opener = event.target.closest("[data-dialog]");
    if (opener) {
      event.preventDefault();
      const dialog = document.getElementById(opener.dataset.dialog);
      for (const [name, value] of Object.entries(opener.dataset)) {
        const field = name.startsWith("fill") && dialog.querySelector(`[data-filled="${name.slice(4).toLowerCase()}"]`);
        if (field) field[field.matches("input, textarea") ? "value" : "textContent"] = value;
      }
      if (opener.dataset.action) dialog.querySelector("form").action = opener.dataset.action;
      dialog.showModal();
      return;
    }
    if (event.target.closest("[data-close]") || event.target.matches("dialog.tt-dialog")) {
      event.target.closest("dialog")?.close();
    }
    const copy = event.target.closest("[data-copy]");
    if (copy) navigator.clipboard?.writeText(copy.dataset.copy);
  });

  /** Polling must not swap a page away under an open dialog, a selection or an open detail. */
  document.addEventListener("htmx:beforeRequest", (event) => {
    if (!event.target.matches("[data-live]")) return;
    const busy = document.querySelector("dialog[open]") || document.hidden || event.target.querySelector("details[open]");
    const selected = document.getSelection();
    if (busy || (selected && !selected.isCollapsed && event.target.contains(selected.anchorNode))) event.preventDefault();
  });

  /** A live part says which fragment it shows; the server answers 204 where nothing has changed. */
  document.addEventListener("htmx:configRequest", (event) => {
    if (event.target.matches("[data-live]")) event.detail.parameters.known = event.target.dataset.known || "";
  });

  document.addEventListener("htmx:afterRequest", (event) => {
    const { target, detail: { xhr } } = event;
    if (!target.matches("[data-live]") || xhr.status !== 200) return;
    const changed = "known" in target.dataset;
    target.dataset.known = xhr.getResponseHeader("X-Fragment") || "";
    if (changed) document.body.dispatchEvent(new CustomEvent("tt:changed", { detail: target.id }));
  });

  /** Filters apply as they are changed. */
  document.addEventListener("change", (event) => {
    const form = event.target.closest("form[data-auto]");
    if (form) form.requestSubmit();
  });

  /** The nodes of the new version are on the page once: a select takes them when somebody turns to it. */
  function offerChoices(event) {
    const select = event.target.closest?.("select[data-choices]");
    if (!select) return;
    const chosen = select.value;
    const choices = document.getElementById(select.dataset.choices).content.cloneNode(true);
    delete select.dataset.choices;
    for (const option of [...select.options]) if (option.value) option.remove();
    select.append(choices);
    select.value = chosen;
  }
  document.addEventListener("pointerdown", offerChoices);
  document.addEventListener("focusin", offerChoices);

  /** A plan says only where a node is another one: hundreds of nodes would not fit into an address. */
  document.addEventListener("formdata", (event) => {
    for (const [name, value] of [...event.formData]) {
      if (name.startsWith("to:") && (!value || name === `to:${value}`)) event.formData.delete(name);
    }
  });

  /** A preview asks with GET: the token of the form has no business in an address. */
  document.addEventListener("submit", (event) => {
    const token = event.target.elements.csrfmiddlewaretoken;
    if (!token || event.submitter?.formMethod !== "get") return;
    token.disabled = true;
    setTimeout(() => { token.disabled = false; });
  });

  /** What is no JSON object is said while it is typed: refused after it was sent, all that was typed would be gone. */
  document.addEventListener("input", (event) => {
    const { target } = event;
    if (!target.matches("textarea[data-json]")) return;
    let fits = !target.value.trim();
    try {
      const read = fits || JSON.parse(target.value);
      fits = fits || (typeof read === "object" && read !== null && !Array.isArray(read));
    } catch { /* said below */ }
    target.setCustomValidity(fits ? "" : target.dataset.json);
    target.toggleAttribute("aria-invalid", !fits);
  });

  /** One click is enough: a form that was sent is not sent again. */
  document.addEventListener("submit", (event) => {
    if (event.target.method !== "post" || event.target.matches("[data-many]")) return;
    for (const button of event.target.querySelectorAll("button[type=submit], button:not([type])")) {
      setTimeout(() => { button.disabled = true; });
    }
  });

  /** The slider of the past: its end is now, and grows with the instance while it stands there. */
  document.addEventListener("click", (event) => {
    const range = event.target.closest("[data-now]") && document.querySelector("[data-then]");
    if (!range) return;
    range.value = range.max;
    range.dispatchEvent(new Event("input", { bubbles: true }));
  });
  document.addEventListener("htmx:afterSettle", () => {
    const range = document.querySelector("[data-then]");
    const newest = document.querySelector("[data-version]")?.dataset.version;
    if (!range || !newest || range.max === newest) return;
    const atNow = range.value === range.max;
    range.max = newest;
    if (atNow) range.value = newest;
  });

  const start = () => showTimes(document);
  document.addEventListener("DOMContentLoaded", () => document.querySelector("dialog[data-open]")?.showModal());
  document.addEventListener("DOMContentLoaded", start);
  document.addEventListener("DOMContentLoaded", () => {
    // The theme expects every file input to stand in markup of its own, and fails at ours unless it thinks it was there.
    for (const input of document.querySelectorAll("input[type=file].tt-input")) input.hasChangeListener = true;
  });
  document.addEventListener("htmx:afterSettle", (event) => showTimes(event.target.parentElement || document));
  setInterval(start, 15000);
})();
