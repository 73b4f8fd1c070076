"use strict";
/* What a page does by itself: sorts its tables, and switches between light and dark. Texts of the page are read as text only. */
(function () {
	const root = document.documentElement;

	/* ---- light and dark ---- */
	const system = window.matchMedia("(prefers-color-scheme: dark)");
	const isDark = () => (root.dataset.look ? root.dataset.look === "dark" : system.matches);
	const look = document.createElement("button");
	const name = () => { look.textContent = isDark() ? "Light" : "Dark"; };
	look.type = "button";
	look.id = "look";
	look.addEventListener("click", () => {
		root.dataset.look = isDark() ? "light" : "dark";
		name();
	});
	system.addEventListener("change", name);
	name();
	document.getElementById("tools").append(look);

	/* ---- sorting ---- */
	/* The cells of a group of rows in a column; a heading may be over several. */
	function cellOf(group, column) {
		for (const row of group.rows) {
			let at = 0;
			for (const cell of row.cells) {
				if (at === column)
					if (cell.textContent.trim() !== "")
						return cell;
				at += cell.colSpan;
			}
		}
		return null;
	}

	function keyOf(group, column, number) {
		const cell = cellOf(group, column);
		if (!cell)
			return null;
		if (!number)
			return cell.textContent.trim();
		if (cell.dataset.v !== undefined)
			return Number(cell.dataset.v);
		const found = cell.textContent.replace(/,/g, "").replace(/\u2212/g, "-").match(/[-+]?\d+(\.\d+)?/);
		return found ? Number(found[0]) : null;
	}

	function sort(table, heading, column) {
		const number = heading.classList.contains("n"), down = number ? heading.getAttribute("aria-sort") !== "descending" : heading.getAttribute("aria-sort") === "ascending";
		const groups = Array.from(table.tBodies).filter((group) => !group.classList.contains("foot"));
		const keys = new Map(groups.map((group) => [group, keyOf(group, column, number)]));
		const compare = number ? (a, b) => a - b : (a, b) => a.localeCompare(b, "en", { numeric: true });
		groups.sort((a, b) => { /* what has no value stays behind */
			const x = keys.get(a), y = keys.get(b);
			if (x === null || y === null)
				return (x === null) - (y === null);
			return down ? compare(y, x) : compare(x, y);
		});
		const foot = table.querySelector("tbody.foot");
		for (const group of groups)
			table.insertBefore(group, foot);
		for (const other of table.tHead.rows[0].cells)
			if (other.hasAttribute("aria-sort"))
				other.setAttribute("aria-sort", "none");
		heading.setAttribute("aria-sort", down ? "descending" : "ascending");
	}

	for (const table of document.querySelectorAll("table:not(.ordered):not(.matrix)")) {
		let at = 0;
		for (const heading of table.tHead.rows[0].cells) {
			const column = at, text = heading.textContent;
			at += heading.colSpan;
			if (heading.tagName !== "TH" || !text || table.tBodies.length < 2)
				continue;
			const button = document.createElement("button");
			button.type = "button";
			button.append(text);
			heading.replaceChildren(button);
			heading.setAttribute("aria-sort", "none");
			button.addEventListener("click", () => sort(table, heading, column));
		}
	}
})();
