/* Asks whether an open incident has news: every 5 s while it is looked at, every 60 s else. Never moves the page. */
(function () {
  "use strict";
  var place = document.getElementById("news");
  if (!place || !window.fetch) return;
  var url = place.getAttribute("data-live");
  var seen = place.getAttribute("data-seen");
  var told = 0;
  var timer = null;
  function later() {
    clearTimeout(timer);
    timer = setTimeout(look, document.visibilityState === "visible" ? 5000 : 60000);
  }
  function look() {
    fetch(url + "?seen=" + encodeURIComponent(seen), { credentials: "same-origin", redirect: "error" })
      .then(function (answer) { return answer.status === 200 ? answer.json() : null; })
      .then(function (news) { if (news) say(news.new); })
      .catch(function () { /* asked again at the next turn */ })
      .then(later);
  }
  function say(count) {
    if (count === told) return;
    told = count;
    var words = count === 1 ? "1 new event" : count + " new events";
    var button = document.createElement("button");
    button.className = "main-button";
    button.type = "button";
    button.textContent = words + ": show";
    button.addEventListener("click", function () { location.reload(); });
    place.replaceChildren(button);
    document.getElementById("live").textContent = words + ".";
  }
  document.addEventListener("visibilitychange", function () {
    if (document.visibilityState === "visible") look();
  });
  later();
})();
