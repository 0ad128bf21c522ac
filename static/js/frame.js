/* The choice of colours, and where the focus goes after a refusal. */
(function () {
  "use strict";
  var root = document.documentElement;
  var field = document.querySelector(".theme");
  if (field) {
    field.hidden = false;
    var now = root.getAttribute("data-theme");
    field.querySelectorAll("input").forEach(function (input) {
      input.checked = input.value === now;
      input.addEventListener("change", function () {
        root.setAttribute("data-theme", input.value);
        try { localStorage.setItem("theme", input.value); } catch (error) { /* private mode: for this page only */ }
      });
    });
  }
  function toRefusal() {
    var heading = document.querySelector(".refusal-heading");
    if (heading) heading.focus();
  }
  toRefusal();
  document.body.addEventListener("htmx:afterSwap", toRefusal);
  document.body.addEventListener("htmx:sendError", function () {
    document.getElementById("alert").textContent = "The site could not be reached. Nothing is known to be recorded; open the page again.";
  });
})();
