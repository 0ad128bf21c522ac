/* "Viewed" per file of a diff, and how many are left; nothing of it is sent. */
(function () {
  "use strict";
  var files = Array.prototype.slice.call(document.querySelectorAll("[data-viewed]"));
  var progress = document.getElementById("progress");
  if (!files.length || !progress) return;
  function count() {
    var seen = files.filter(function (file) { return file.querySelector(".seen input").checked; }).length;
    progress.textContent = seen + " of " + files.length + " files viewed";
  }
  files.forEach(function (file) {
    var label = document.createElement("label");
    label.className = "choice seen";
    var box = document.createElement("input");
    box.type = "checkbox";
    box.addEventListener("change", function () { file.open = !box.checked; count(); });
    label.append(box, "Viewed");
    file.append(label);
  });
  count();
})();
