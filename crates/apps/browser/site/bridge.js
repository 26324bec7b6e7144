// Runs in the frame of the report: tells the page which place is selected, and goes where its link leads.
addEventListener("hashchange", () => parent.postMessage(location.hash, "*"));
addEventListener("message", ({ source, data }) => { if (source === parent) location.hash = data; });
// In a frame without an address, a link to a part of the report would lead to the page around it.
addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href^='#']");
  if (!link) return;
  event.preventDefault();
  location.hash = link.hash;
});
