/*
 * A flame graph as one file of SVG (Gregg: The Flame Graph, CACM 59(6), 2016): each function as wide as what took
 * place in it and in what it called, its callees above it. With the script that the file carries, a browser zooms
 * into a function that is clicked and marks what a search finds; without it, the picture stays.
 *
 * Names from the program's files are text and never markup: the five characters that have a meaning in XML are
 * escaped, and the script reads names as text only.
 */
#include <stdlib.h>
#include <string.h>

#include "report/number.h"
#include "report/profile.h"
#include "report/profile_rows.h"
#include "report/profile_tree.h"

enum { WIDTH = 1200, MARGIN = 10, LEVEL = 17, TOP = 50, BOTTOM = 30, CHARACTER = 7 };

/* Narrower ones are not drawn: nobody sees them, and a file has its size. */
static const double NARROWEST = 0.1;

static const char script[] =
	"(function () {\n"
	"  var svg = document.documentElement, frames = svg.getElementById('frames').children;\n"
	"  var back = svg.getElementById('back'), found = svg.getElementById('found');\n"
	"  var find = svg.getElementById('find'), all = 1180, wanted = '';\n"
	"  function number(g, key) { return parseFloat(g.getAttribute('data-' + key)); }\n"
	"  function name(g) { return g.getAttribute('data-name'); }\n"
	"  function place(g, x, width) {\n"
	"    var rect = g.getElementsByTagName('rect')[0], text = g.getElementsByTagName('text')[0];\n"
	"    g.style.display = width < 0.1 ? 'none' : '';\n"
	"    rect.setAttribute('x', x); rect.setAttribute('width', width);\n"
	"    text.setAttribute('x', x + 3);\n"
	"    var room = Math.floor((width - 6) / 7), n = name(g);\n"
	"    text.textContent = room < 3 ? '' : n.length <= room ? n : n.slice(0, room - 1) + '\\u2026';\n"
	"  }\n"
	"  function zoom(g) {\n"
	"    var x = g ? number(g, 'x') : 0, width = g ? number(g, 'w') : all, level = g ? number(g, 'l') : 0;\n"
	"    for (var i = 0; i < frames.length; i++) {\n"
	"      var f = frames[i], fx = number(f, 'x'), fw = number(f, 'w');\n"
	"      var below = number(f, 'l') < level && fx <= x + 1e-6 && fx + fw >= x + width - 1e-6;\n"
	"      var inside = fx >= x - 1e-6 && fx + fw <= x + width + 1e-6 && number(f, 'l') >= level;\n"
	"      f.style.opacity = below ? 0.5 : 1;\n"
	"      if (below) place(f, 10, all);\n"
	"      else if (inside) place(f, 10 + (fx - x) * all / width, fw * all / width);\n"
	"      else f.style.display = 'none';\n"
	"    }\n"
	"    back.style.display = g ? '' : 'none';\n"
	"  }\n"
	"  function mark() {\n"
	"    var sum = 0, end = -1, hits = [];\n"
	"    for (var i = 0; i < frames.length; i++) {\n"
	"      var hit = wanted && name(frames[i]).toLowerCase().indexOf(wanted.toLowerCase()) >= 0;\n"
	"      frames[i].classList.toggle('hit', !!hit);\n"
	"      if (hit) hits.push([number(frames[i], 'x'), number(frames[i], 'w')]);\n"
	"    }\n"
	"    hits.sort(function (a, b) { return a[0] - b[0] || b[1] - a[1]; });\n"
	"    hits.forEach(function (h) { if (h[0] >= end - 1e-6) { sum += h[1]; end = h[0] + h[1]; } });\n"
	"    found.textContent = wanted ? '\"' + wanted + '\": ' + (100 * sum / all).toFixed(1) + ' %' : '';\n"
	"  }\n"
	"  for (var i = 0; i < frames.length; i++)\n"
	"    frames[i].addEventListener('click', function () { zoom(this); });\n"
	"  back.addEventListener('click', function () { zoom(null); });\n"
	"  function ask() { var w = prompt('Mark functions whose name has:', wanted); if (w !== null) { wanted = "
	"w; "
	"mark(); } }\n"
	"  find.addEventListener('click', ask);\n"
	"  window.addEventListener('keydown', function (e) {\n"
	"    if ((e.ctrlKey && e.key === 'f') || e.key === 'F3') { e.preventDefault(); ask(); }\n"
	"    if (e.key === 'Escape') zoom(null);\n"
	"  });\n"
	"})();\n";

/* As text or an attribute's value. */
static void put_text(FILE *out, const char *text, size_t most)
{
	struct str shown = {0};
	profile_append_escaped(&shown, text);
	for (size_t i = 0; i < shown.length && i < most; i++)
		switch (shown.text[i]) {
		case '&': fputs("&amp;", out); break;
		case '<': fputs("&lt;", out); break;
		case '>': fputs("&gt;", out); break;
		case '"': fputs("&quot;", out); break;
		case '\'': fputs("&#39;", out); break;
		default: fputc(shown.text[i], out);
		}
	str_free(&shown);
}

/* Bytes of at most so many whole characters. */
static size_t bytes_of_characters(const char *text, size_t characters)
{
	size_t at = 0;
	for (; text[at]; at++)
		if (((unsigned char)text[at] & 0xc0) != 0x80 && characters-- == 0)
			break;
	return at;
}

/* The same name has the same colour, in every picture. */
static void put_colour(FILE *out, const char *name)
{
	uint64_t hash = hash_text(HASH_BEGIN, name);
	fprintf(out, "rgb(%u,%u,%u)", 205 + (unsigned)(hash >> 8 & 0xff) % 50,
		90 + (unsigned)(hash >> 16 & 0xff) % 130, (unsigned)(hash >> 24 & 0xff) % 60);
}

struct flame {
	FILE *out;
	const struct named_profile *named;
	const struct profile_tree *tree;
	uint64_t sum;
	unsigned levels;
	const char *unit;
};

static void put_frame(struct flame *flame, const struct tree_node *node, double x, unsigned level)
{
	const char *name = flame->named->functions[node->function].name;
	double width = (double)node->total / (double)flame->sum * (WIDTH - 2 * MARGIN);
	unsigned y = TOP + (flame->levels - 1 - level) * LEVEL;
	size_t room = width > 6 ? (size_t)((width - 6) / CHARACTER) : 0, length = strlen(name);
	char number[NUMBER_BYTES];
	number_group(number, (double)node->total, 0);
	fprintf(flame->out, "<g data-x=\"%.4f\" data-w=\"%.4f\" data-l=\"%u\" data-name=\"", x, width, level);
	put_text(flame->out, name, 2048);
	fputs("\"><title>", flame->out);
	put_text(flame->out, name, 2048);
	fprintf(flame->out,
		": %s %s, %.2f %%</title><rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%d\" fill=\"", number,
		flame->unit, 100 * profile_share(node->total, flame->sum), x + MARGIN, y, width, LEVEL - 1);
	put_colour(flame->out, name);
	fprintf(flame->out, "\"/><text x=\"%.2f\" y=\"%u\">", x + MARGIN + 3, y + LEVEL - 5);
	if (room >= 3) {
		struct str shown = {0};
		profile_append_escaped(&shown, name);
		size_t bytes = shown.text ? bytes_of_characters(shown.text, room) : 0;
		bool cut = bytes < shown.length;
		put_text(flame->out, name, cut ? bytes_of_characters(shown.text, room - 1) : length * 4);
		fputs(cut ? "\u2026" : "", flame->out);
		str_free(&shown);
	}
	fputs("</text></g>\n", flame->out);
}

/* Without recursion: a stack may be deep. Called for each node that is wide enough, with where it begins. */
static void walk(struct flame *flame, void (*visit)(struct flame *, const struct tree_node *, double, unsigned))
{
	const struct tree_node *nodes = flame->tree->nodes.items;
	double scale = (WIDTH - 2 * MARGIN) / (double)flame->sum;
	uint32_t at = nodes[0].first_child;
	double x = 0;
	for (unsigned level = 0; at != TREE_NONE;) {
		bool drawn = (double)nodes[at].total * scale >= NARROWEST;
		if (drawn)
			visit(flame, &nodes[at], x, level);
		if (drawn && nodes[at].first_child != TREE_NONE) {
			at = nodes[at].first_child;
			level++;
			continue;
		}
		x += (double)nodes[at].total * scale;
		while (nodes[at].next == TREE_NONE && nodes[at].parent) {
			at = nodes[at].parent;
			level--;
			x += (double)nodes[at].self * scale; /* its own part is behind its callees' */
		}
		at = nodes[at].next;
	}
}

static void see_level(struct flame *flame, const struct tree_node *node, double x, unsigned level)
{
	(void)node, (void)x;
	if (level + 1 > flame->levels)
		flame->levels = level + 1;
}

static void put_title(struct flame *flame, const struct profile_event *e)
{
	const struct profile *p = flame->named->profile;
	char number[NUMBER_BYTES];
	number_group(number, (double)flame->sum, 0);
	fputs("<text class=\"title\" x=\"10\" y=\"22\">", flame->out);
	put_text(flame->out, e->label, 200);
	fprintf(flame->out, ": %s %s", number, flame->unit);
	if (p->command && p->command[0]) {
		fputs(" of ", flame->out);
		put_text(flame->out, p->command[0], 200);
	}
	fputs("</text>\n", flame->out);
}

bool report_profile_svg(FILE *out, const struct named_profile *named, size_t event)
{
	struct profile_tree tree;
	const struct profile_event *e = &named->profile->events[event];
	struct flame flame = {.out = out,
			      .named = named,
			      .tree = &tree,
			      .sum = named->sums[event],
			      .unit = e->gaps == GAPS_NONE ? "counts" : "samples"};
	bool done = profile_tree_new(named, event, &tree);
	if (done && flame.sum)
		walk(&flame, see_level);
	unsigned height = TOP + flame.levels * LEVEL + BOTTOM;
	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%d\" height=\"%u\" viewBox=\"0 "
		"0 "
		"%d %u\">\n"
		"<style>text { font: 11px monospace; fill: #000; pointer-events: none } .title { font-size: 15px "
		"}\n"
		"#frames g { cursor: pointer } #frames g:hover rect { stroke: #000 } .hit rect { fill: #d0f }\n"
		"#back, #find { cursor: pointer; pointer-events: all; fill: #00c }</style>\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
		WIDTH, height, WIDTH, height);
	put_title(&flame, e);
	fputs("<text id=\"back\" x=\"10\" y=\"40\" style=\"display:none\">show all</text>\n"
	      "<text id=\"find\" x=\"1130\" y=\"22\">search</text>\n",
	      out);
	fprintf(out, "<text id=\"found\" x=\"1000\" y=\"%u\"></text>\n<g id=\"frames\">\n", height - 10);
	if (done && flame.sum)
		walk(&flame, put_frame);
	fprintf(out, "</g>\n<script><![CDATA[\n%s]]></script>\n</svg>\n", script);
	profile_tree_free(&tree);
	return done;
}
