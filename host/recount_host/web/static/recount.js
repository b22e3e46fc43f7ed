// Tells people when the page has stopped following the host: an old page that looks new is worse than none.
(function () {
  "use strict";
  function stale(is) {
    document.getElementById("stale").hidden = !is;
    document.body.classList.toggle("is-stale", is);
  }
  ["htmx:sendError", "htmx:timeout"].forEach(function (name) {
    document.addEventListener(name, function () { stale(true); });
  });
  document.addEventListener("htmx:afterRequest", function (event) {
    if (event.detail.xhr && event.detail.xhr.status) { stale(event.detail.xhr.status >= 500); }
  });
})();
