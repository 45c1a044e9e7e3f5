/* A click on a cell of a flame graph makes it as wide as the picture; one more on it shows all. */
for (const flame of document.querySelectorAll("svg.flame")) {
	const width = flame.viewBox.baseVal.width;
	const cells = [...flame.querySelectorAll(".cell")].map(svg => ({
		svg,
		x: svg.x.baseVal.value,
		y: svg.y.baseVal.value,
		width: svg.width.baseVal.value,
	}));
	let whole = { x: 0, y: 0, width };
	let shown = whole;

	const show = target => {
		const scale = width / target.width, end = target.x + target.width + 0.01;

		for (const cell of cells) {
			const x = Math.max(cell.x, target.x);
			const right = Math.min(cell.x + cell.width, end);

			cell.svg.style.display = right - x > 0.5 ? "" : "none";
			cell.svg.setAttribute("x", (x - target.x) * scale);
			cell.svg.setAttribute("width", Math.max(0, (right - x) * scale));
		}
		shown = target;
	};

	flame.addEventListener("click", event => {
		const svg = event.target.closest(".cell");
		const cell = cells.find(cell => cell.svg === svg);

		show(!cell || cell === shown ? whole : cell);
	});
}
