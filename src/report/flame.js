"use strict";
/* The flame graph's behaviour. All data are attributes and texts of the drawing; nothing of it is ever read as markup or code.
 * A frame's data-f: its name's number, where it begins and how much it is (in counts), its own counts, its share's interval in
 * percent (or nothing), and in a differential graph the counts before, with and without what it called. */
(function () {
	const NS = "http://www.w3.org/2000/svg", ROW = 17, PAD = 8, LETTER = 7.25, THIN = 0.1;
	/* a drawing of its own, or an element of a page */
	const svg = document.getElementById("flame") || document.documentElement, embedded = svg !== document.documentElement;
	const group = document.getElementById("frames"), head = document.getElementById("head");
	const page = document.getElementById("page"), texts = Array.from(document.querySelectorAll("#head text[data-text]"));
	const line1 = document.getElementById("hover1"), line2 = document.getElementById("hover2"), found = document.getElementById("found");
	const names = Array.from(document.querySelectorAll("#names text"), (t) => t.textContent.replace(/^\n/, ""));
	const modules = Array.from(document.querySelectorAll("#names text"), (t) => t.getAttribute("data-m") || "");
	const unit = group.getAttribute("data-unit"), top = Number(group.getAttribute("data-top")), depths = Number(group.getAttribute("data-depth"));
	const level = group.getAttribute("data-level");
	let inverted = group.getAttribute("data-inverted") === "1", width = 1200, query = null, current = null;

	const frames = Array.from(group.querySelectorAll("rect"), (rect, at) => {
		const f = rect.getAttribute("data-f").split(",");
		return { rect, at, name: names[+f[0]], module: modules[+f[0]], left: +f[1], total: +f[2], self: +f[3], low: f[4], high: f[5],
			before: f[6], beforeSelf: f[7], depth: +rect.getAttribute("data-d"), parent: null, children: [], label: null };
	});
	const root = frames[0];
	let zoom = root;
	for (let at = 1, above = 0; at < frames.length; at++) { /* both levels from left to right */
		const f = frames[at];
		while (frames[above].depth < f.depth - 1 || frames[above].left + frames[above].total <= f.left)
			above++;
		f.parent = frames[above];
		f.parent.children.push(f);
	}

	const number = (n) => Math.round(n).toString().replace(/\B(?=(\d{3})+$)/g, ",");
	const percent = (part) => (100 * part / root.total).toFixed(part > 0 && part / root.total < 0.001 ? 3 : 1) + " %";
	const fit = (text, pixels) => {
		const room = Math.floor(pixels / LETTER), letters = Array.from(text);
		return letters.length <= room ? text : room < 3 ? "" : letters.slice(0, room - 1).join("") + "\u2026";
	};
	const describe = (f) => {
		let text = number(f.total) + " " + unit + ", " + percent(f.total);
		if (f.low)
			text += " (" + f.low + "\u2013" + f.high + " % at " + level + " %)";
		text += ", self " + number(f.self);
		if (f.before !== undefined)
			text += "; before " + number(+f.before) + ", self " + number(+f.beforeSelf);
		return text;
	};
	const identify = (f) => f.name + (f.module ? " (" + f.module + ")" : "");

	function place(f) {
		const room = width - 2 * PAD;
		let x, w;
		if (f.left <= zoom.left && f.left + f.total >= zoom.left + zoom.total) {
			x = 0;
			w = room;
		} else {
			x = (f.left - zoom.left) * room / zoom.total;
			w = f.total * room / zoom.total;
			if (x >= room || x + w <= 0)
				w = 0;
		}
		const y = top + ROW * (inverted ? f.depth : depths - f.depth);
		f.rect.style.display = w < THIN ? "none" : "";
		f.rect.setAttribute("x", PAD + x);
		f.rect.setAttribute("width", Math.max(w, 0));
		f.rect.setAttribute("y", y);
		f.rect.classList.toggle("thin", w < 2); /* its border would be all of it */
		f.rect.classList.toggle("above", zoom !== root && f.depth < zoom.depth && w === room);
		const text = w > 3 * LETTER ? fit(f.name, w - 6) : "";
		if (!text) {
			if (f.label)
				f.label.remove();
			f.label = null;
			return;
		}
		if (!f.label)
			f.label = group.appendChild(document.createElementNS(NS, "text"));
		f.label.textContent = text;
		f.label.setAttribute("x", PAD + x + 3);
		f.label.setAttribute("y", y + 12);
	}

	function draw() {
		width = Math.max(240, (embedded ? svg.parentNode.clientWidth : window.innerWidth) || 1200);
		const height = top + ROW * (depths + 1) + PAD;
		if (!embedded && height > window.innerHeight) /* room for the scroll bar */
			width = Math.max(240, Math.min(width, svg.clientWidth || width));
		svg.setAttribute("width", width);
		svg.setAttribute("height", height);
		svg.setAttribute("viewBox", "0 0 " + width + " " + height);
		page.setAttribute("width", width);
		page.setAttribute("height", height);
		document.getElementById("headpage").setAttribute("width", width);
		for (const text of texts)
			text.textContent = fit(text.getAttribute("data-text"), width - 2 * PAD);
		frames.forEach(place);
		group.classList.toggle("zoomed", zoom !== root);
		show(current);
		follow();
	}

	/* the head stays in sight */
	function follow() { if (!embedded) head.setAttribute("transform", "translate(0," + Math.max(0, window.scrollY || 0) + ")"); }

	function show(f) {
		line1.textContent = f ? fit(identify(f), width - 2 * PAD) : fit("hover over a frame, or use the arrow keys", width - 2 * PAD);
		line2.textContent = f ? fit(describe(f), width - 2 * PAD) : "";
		if (f && !f.rect.firstChild)
			f.rect.appendChild(document.createElementNS(NS, "title")).textContent = identify(f) + "\n" + describe(f);
	}

	function focus(f) {
		if (current)
			current.rect.setAttribute("tabindex", "-1");
		current = f;
		f.rect.setAttribute("tabindex", "0");
		f.rect.setAttribute("role", "button");
		f.rect.setAttribute("aria-label", identify(f) + ", " + describe(f));
		show(f);
	}

	function enter(f) {
		zoom = f;
		focus(f);
		draw();
	}

	function search(text) {
		query = text;
		let matches = null;
		if (text) {
			try {
				const pattern = new RegExp(text, "i");
				matches = (f) => pattern.test(f.name);
			} catch (_) {
				matches = (f) => f.name.toLowerCase().includes(text.toLowerCase());
			}
		}
		let sum = 0, n = 0;
		const covered = new Set(); /* what a frame that matched called is in it */
		for (const f of frames) {
			const hit = Boolean(matches) && f !== root && matches(f);
			f.rect.classList.toggle("hit", hit);
			const within = f.parent !== null && covered.has(f.parent);
			if (hit && !within)
				sum += f.total;
			if (hit || within)
				covered.add(f);
			n += hit ? 1 : 0;
		}
		found.textContent = matches ? number(n) + " frames, " + percent(sum) : "";
	}

	function ask() {
		const text = window.prompt("Search for functions (a regular expression):", query || "");
		if (text !== null)
			search(text);
	}

	function reset() {
		search("");
		enter(root);
	}

	function invert() {
		inverted = !inverted;
		draw();
		if (!embedded)
			window.scrollTo(0, inverted ? 0 : svg.getAttribute("height"));
	}

	const seen = (f) => f.rect.style.display !== "none";
	function beside(f, step) {
		let level = frames.filter((other) => other.depth === f.depth && seen(other));
		return level[level.indexOf(f) + step];
	}

	function key(event) {
		if (event.ctrlKey || event.metaKey || event.altKey)
			return;
		const f = current || root, widest = (best, c) => (!best || c.total > best.total ? c : best);
		const inner = () => f.children.filter(seen).reduce(widest, null);
		const actions = {
			ArrowUp: () => (inverted ? f.parent : inner()), ArrowDown: () => (inverted ? inner() : f.parent),
			ArrowLeft: () => beside(f, -1), ArrowRight: () => beside(f, 1), Home: () => root,
		};
		if (event.key in actions) {
			const next = actions[event.key]();
			if (next) {
				focus(next);
				next.rect.focus();
			}
		} else if ((event.key === "Enter" || event.key === " ") && event.target.classList && event.target.classList.contains("button")) {
			event.target.dispatchEvent(new MouseEvent("click"));
		} else if (event.key === "Enter" || event.key === " ") {
			enter(f);
			f.rect.focus();
		} else if (event.key === "Escape" || event.key === "r") {
			reset();
		} else if (event.key === "/" || event.key === "s") {
			ask();
		} else if (event.key === "i") {
			invert();
		} else {
			return;
		}
		event.preventDefault();
	}

	for (const [id, action] of [["search", ask], ["reset", reset], ["invert", invert]]) {
		const button = document.getElementById(id);
		button.setAttribute("tabindex", "0");
		button.setAttribute("role", "button");
		button.addEventListener("click", action);
	}
	document.getElementById("buttons").removeAttribute("display");
	const of = (event) => frames[frames_by_rect.get(event.target)];
	const frames_by_rect = new Map(frames.map((f) => [f.rect, f.at]));
	group.querySelectorAll("text").forEach((text) => text.remove()); /* those of a viewer without scripts */
	group.addEventListener("click", (event) => of(event) && enter(of(event)));
	group.addEventListener("mouseover", (event) => of(event) && show(of(event)));
	group.addEventListener("mouseout", () => show(current));
	group.addEventListener("focusin", (event) => of(event) && focus(of(event)));
	(embedded ? svg : document).addEventListener("keydown", key);
	window.addEventListener("resize", draw);
	window.addEventListener("scroll", follow);
	root.rect.setAttribute("tabindex", "0");
	draw();
	window.addEventListener("load", () => { /* a phone's width is known only now */
		if (embedded || svg.getAttribute("height") > window.innerHeight)
			inverted = true; /* one that has to be scrolled begins with its root */
		draw();
	});
})();
