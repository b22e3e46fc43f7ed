// Spares people the numbers: draws what the form's fields say onto the blank, and writes what a click or a pull
// of the pointer means into them. The form alone says what is sent.
(function () {
  "use strict";
  var SVG = "http://www.w3.org/2000/svg", CLICK_PX = 6;

  document.body.classList.add("has-script");
  document.querySelectorAll("[data-presses]").forEach(function (part) {
    part.addEventListener("click", function () { document.getElementById(part.dataset.presses).click(); });
  });

  function four(field) {
    var parts = field ? field.value.split(",").map(Number) : [];
    return parts.length === 4 && parts.every(isFinite) ? parts : null;
  }
  function written(values) {
    return values.map(function (value) { return Math.round(value * 10) / 10; }).join(", ");
  }

  function Placing(section) {
    var number = section.dataset.style, at = "s" + number;
    var form = section.closest("form");
    var svg = section.querySelector("svg"), drawn = svg.querySelector(".drawn");
    var rows = section.querySelector("[data-rows]");
    var start = null;

    function field(name) { return form.elements[at + "-" + name]; }
    function numbers() { return Array.from(rows.children, function (row) { return Number(row.dataset.n); }); }
    function isGone(n) { return field("t" + n + "-gone").checked; }
    function isLine(n) {
      var what = form.elements["t" + n + "-what"];
      return Boolean(what) && what.value === "write_in";
    }

    function put(kind, cls, left, top, width, height) {
      var part = document.createElementNS(SVG, kind);
      part.setAttribute("class", cls);
      part.setAttribute("x", left);
      part.setAttribute("y", top);
      if (width !== undefined) { part.setAttribute("width", width); part.setAttribute("height", height); }
      drawn.appendChild(part);
      return part;
    }
    function edges(cls, values) {
      if (values) { put("rect", cls, values[0], values[1], Math.max(0, values[2] - values[0]), Math.max(0, values[3] - values[1])); }
    }
    function words(cls, text, x, y) { put("text", cls, x, y).textContent = text; }

    function markTheSame() {
      var seen = {};
      document.querySelectorAll(".name:not(.gone)").forEach(function (row) {
        var what = row.querySelector("select").value, text = row.querySelector(".typed input").value.trim();
        var named = what === "other" ? text : what === "write_in" ? "" : what;
        row.classList.toggle("same", Boolean(named) && Boolean(seen[named]));
        seen[named] = true;
      });
    }

    function draw() {
      markTheSame();
      drawn.replaceChildren();
      edges("contest-box", four(field("box")));
      var test = four(field("test"));
      edges("test-place", test);
      if (test) { words("small", "TEST", test[0] + 6, test[3] - 6); }
      numbers().forEach(function (n) {
        var target = four(field("t" + n));
        var named = Number(number) === 0 ? document.querySelector('.name[data-n="' + n + '"]') : null;
        if (named) { named.classList.toggle("gone", isGone(n)); }
        if (!target) { return; }
        var cls = isGone(n) ? "target gone" : "target";
        put("rect", cls, target[0] - 3, target[1] - 3, target[2] + 6, target[3] + 6);
        words(cls, String(n), target[0] - 10, target[1] + target[3]);
        if (isLine(n) && !isGone(n)) { edges("area", four(field("t" + n + "-area"))); }
      });
    }

    function spot(event) {
      var matrix = svg.getScreenCTM().inverse();
      var place = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix);
      return [place.x, place.y];
    }
    function hit(x, y) {
      return numbers().find(function (n) {
        var t = four(field("t" + n));
        return t && x > t[0] - t[2] / 2 && x < t[0] + t[2] * 1.5 && y > t[1] - t[3] / 2 && y < t[1] + t[3] * 1.5;
      });
    }
    function add(x, y) {
      var like = four(field("t" + numbers()[0])) || [0, 0, 30, 20];
      var n = Math.max.apply(null, numbers()) + 1;
      var row = rows.lastElementChild.cloneNode(true);
      renumber(row, n);
      rows.appendChild(row);
      field("t" + n).value = written([x - like[2] / 2, y - like[3] / 2, like[2], like[3]]);
      field("t" + n + "-area").value = "";
      field("t" + n + "-gone").checked = false;
      if (!field("t" + n + "-hand")) {
        var hand = document.createElement("input");
        hand.type = "hidden";
        hand.name = at + "-t" + n + "-hand";
        hand.value = "1";
        row.appendChild(hand);
      }
      var list = document.getElementById("names-list");
      if (Number(number) === 0) {
        var name = list.lastElementChild.cloneNode(true);
        renumber(name, n);
        name.querySelector("svg").setAttribute("viewBox", [x - like[2] * 3, y - like[3] * 1.5, like[2] * 14, like[3] * 3].join(" "));
        name.querySelector("input").value = "";
        list.appendChild(name);
      }
    }
    function renumber(part, n) {
      var old = part.dataset.n;
      part.dataset.n = n;
      part.querySelectorAll("input, select").forEach(function (input) {
        input.name = input.name.replace(new RegExp("t" + old + "(?![0-9])"), "t" + n);
      });
      part.querySelector("strong, .letter").textContent = n;
    }

    function pulled(from, to) {
      var box = written([Math.min(from[0], to[0]), Math.min(from[1], to[1]), Math.max(from[0], to[0]), Math.max(from[1], to[1])]);
      var mode = form.elements["mode-" + number].value;
      if (mode !== "area") { field(mode).value = box; return; }
      var middle = (from[1] + to[1]) / 2, lines = numbers().filter(function (n) { return isLine(n) && !isGone(n); });
      lines.sort(function (one, other) {
        return Math.abs(four(field("t" + one))[1] - middle) - Math.abs(four(field("t" + other))[1] - middle);
      });
      if (lines.length) { field("t" + lines[0] + "-area").value = box; }
    }
    function clicked(x, y) {
      var n = hit(x, y);
      if (n) { field("t" + n + "-gone").checked = !isGone(n); } else { add(x, y); }
    }

    svg.addEventListener("pointerdown", function (event) {
      start = { at: spot(event), x: event.clientX, y: event.clientY };
      svg.setPointerCapture(event.pointerId);
      event.preventDefault();
    });
    svg.addEventListener("pointermove", function (event) {
      if (!start || Math.hypot(event.clientX - start.x, event.clientY - start.y) < CLICK_PX) { return; }
      draw();
      var to = spot(event);
      edges("pulled", [Math.min(start.at[0], to[0]), Math.min(start.at[1], to[1]), Math.max(start.at[0], to[0]), Math.max(start.at[1], to[1])]);
    });
    svg.addEventListener("pointerup", function (event) {
      if (!start) { return; }
      var moved = Math.hypot(event.clientX - start.x, event.clientY - start.y);
      if (moved < CLICK_PX) { clicked(start.at[0], start.at[1]); } else { pulled(start.at, spot(event)); }
      start = null;
      draw();
    });
    section.querySelector("[data-zoom]").addEventListener("click", function (event) {
      var whole = svg.getAttribute("viewBox") === svg.dataset.whole;
      svg.setAttribute("viewBox", whole ? svg.dataset.near : svg.dataset.whole);
      event.currentTarget.textContent = whole ? "Show the whole page" : "Show the contest alone";
    });
    form.addEventListener("input", draw);
    draw();
  }

  document.querySelectorAll(".placing").forEach(Placing);
})();
