/* Blocking and small: sets the chosen colours before anything is painted. */
(function () {
  "use strict";
  var kept = null;
  try { kept = localStorage.getItem("theme"); } catch (error) { kept = null; }
  if (kept === "light" || kept === "dark") document.documentElement.setAttribute("data-theme", kept);
})();
