"use strict";
// The leaderboard. Data come as scripts that call mihakk(name, value): a page from disk may load those, and fetch nothing.
// Text goes into the page as text alone, never as markup.
(() => {
  const waiting = new Map();
  const loaded = new Map();
  let board = null;
  const words = JSON.parse(document.body.dataset.words);
  const at = (id) => document.getElementById(id);
  const state = { column: "", sort: "figure", down: true, system: null, page: 0, which: "all", find: "", item: null };
  const SIZES = [3, 10, 40, 100];

  window.mihakk = (name, value) => {
    if (name === "board") { board = value; start(); return; }
    loaded.set(name, value);
    for (const done of waiting.get(name) || []) done(value);
    waiting.delete(name);
  };

  function load(name) {
    if (loaded.has(name)) return Promise.resolve(loaded.get(name));
    return new Promise((done, failed) => {
      if (waiting.has(name)) { waiting.get(name).push(done); return; }
      waiting.set(name, [done]);
      const script = document.createElement("script");
      script.src = `data/${name}.js`;
      script.onerror = () => { waiting.delete(name); failed(new Error(words.not_loaded)); };
      document.head.append(script);
    });
  }

  // A data file; where it is missing, null, and the page says so.
  const loadOr = (show, name) => load(name).catch((error) => { show(make("p", { class: "look mark" }, error.message)); return null; });

  function make(tag, attributes, ...inner) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
      else if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : value);
    }
    made.append(...inner.filter((one) => one !== null && one !== undefined));
    return made;
  }
  const bdi = (text) => make("bdi", {}, String(text));
  const told = (word, values) => words[word].replace(/\{(\w+)\}/g, (_, name) => values[name]);
  const isolated = (text) => `\u2068${text}\u2069`;
  const digits = (column) => (Math.max(...column.axis.map(Math.abs)) > 1 ? 1 : 3);
  const fixed = (value, places) => (value === undefined || value === null ? "–" : value.toFixed(places));
  const percent = (value) => (value ? `${(100 * value).toFixed(1)} %` : "–");
  const column = () => board.columns.find((one) => one.id === state.column);
  const word = (name) => words[name] || name;

  function nameOf(one) {
    if (one.level === "overall") return `${words.overall} · ${word(one.ability)} · ${word(one.method)}`;
    if (one.level === "category") return `${one.name} · ${word(one.ability)} · ${word(one.method)}`;
    return `${one.name} · ${board.metrics[one.metric] || one.metric} · ${word(one.method)}`;
  }

  // An interval on the axis of its column: a line from end to end, a dot at the figure.
  function drawn(axis, figure, low, high) {
    const [start, end] = axis;
    const place = (value) => Math.max(0, Math.min(100, (100 * (value - start)) / (end - start || 1)));
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("viewBox", "0 0 100 16");
    svg.setAttribute("preserveAspectRatio", "none");
    svg.setAttribute("aria-hidden", "true");
    const line = (x1, y1, x2, y2, name) => {
      const made = document.createElementNS("http://www.w3.org/2000/svg", "line");
      for (const [key, value] of Object.entries({ x1, y1, x2, y2, class: name })) made.setAttribute(key, value);
      svg.append(made);
    };
    for (const tick of [0, 25, 50, 75, 100]) line(tick, 0, tick, 16, "rule");
    if (low !== undefined && low !== null) line(place(low), 8, place(high), 8, "reach");
    const dot = make("i", {});
    dot.style.left = `${place(figure)}%`;
    return make("div", {}, svg, make("div", { class: "point", "aria-hidden": "true" }, dot));
  }

  const span = (low, high, places) => (low === null || low === undefined ? words.no_interval : `[${fixed(low, places)}, ${fixed(high, places)}]`);
  const drawnCell = (axis, figure, low, high, places) => make("div", { class: "span" }, drawn(axis, figure, low, high), make("div", { class: "why", dir: "ltr" }, span(low, high, places)));

  function start() {
    const select = at("column");
    for (const [label, levels] of [["averages", ["overall", "category"]], ["sets", ["set"]], ["probes", ["probe"]]]) {
      const own = board.columns.filter((one) => levels.includes(one.level));
      if (own.length) {
        select.append(make("optgroup", { label: words[label] }, ...own.map((one) => make("option", { value: one.id }, nameOf(one)))));
      }
    }
    for (const kind of [...new Set(board.systems.map((one) => one.kind))].sort()) at("kind").append(make("option", { value: kind }, word(kind)));
    SIZES.forEach((most) => at("size").append(make("option", { value: most }, told("up_to", { n: most }))));
    at("size").append(
      make("option", { value: "more" }, told("more_than", { n: SIZES.at(-1) })),
      make("option", { value: "unknown" }, words.unknown),
    );
    state.column = board.columns[0].id;
    fromAddress();
    select.value = state.column;
    at("filters").addEventListener("submit", (event) => event.preventDefault());
    for (const id of ["name", "kind", "weights", "size"]) at(id).addEventListener("input", systems);
    select.addEventListener("change", () => {
      Object.assign(state, { column: select.value, page: 0, item: null, down: true, sort: "figure", opened: false });
      show();
    });
    window.addEventListener("hashchange", () => { fromAddress(); at("column").value = state.column; show(); });
    published();
    blind();
    notRun();
    show();
    document.documentElement.dataset.ready = "yes";
  }

  // The address holds what is looked at, so that it can be sent to somebody.
  function fromAddress() {
    const given = new URLSearchParams(location.hash.slice(1));
    if (board.columns.some((one) => one.id === given.get("figure"))) state.column = given.get("figure");
    const system = board.systems.findIndex((one) => one.name === given.get("system"));
    state.system = system < 0 ? null : system;
    state.item = given.get("item");
    state.opened = state.opened || Boolean(state.item);
  }

  function toAddress() {
    const given = new URLSearchParams({ figure: state.column });
    if (state.system !== null) given.set("system", board.systems[state.system].name);
    if (state.item) given.set("item", state.item);
    history.replaceState(null, "", `#${given}`);
  }

  function show() {
    systems();
    moved();
    detail();
    items();
  }

  // How systems moved since the version before, and by which items.
  function moved() {
    const place = at("moves");
    if (!place) return;
    const one = column();
    const own = board.moves.sets[one.id];
    const signed = (value) => (Math.abs(value) < 0.0005 ? "–" : `${value > 0 ? "+" : ""}${value.toFixed(3)}`);
    section("moves", told("moves_note", { between: isolated(board.moves.between) }), words.moves);
    if (!own) { place.append(make("p", {}, words.no_moves)); return; }
    const far = Math.max(...own.systems.flatMap((row) => [row.after - row.before, row.low ?? 0, row.high ?? 0].map(Math.abs))) || 1;
    const way = one.higher ? -1 : 1;
    const rows = [...own.systems].sort((a, b) => way * (a.after - b.after) || a.system - b.system);
    place.append(table(words.rank_moved, [words.system, words.rank_moved, words.before, words.after, words.difference, words.answers_part, words.removed, words.changed, words.added],
      rows.map((row) => [bdi(board.systems[row.system].name), make("bdi", { dir: "ltr" }, row.ranks.join(" → ")), bdi(fixed(row.before, 3)), bdi(fixed(row.after, 3)),
        make("div", { class: "span" }, bdi(signed(row.after - row.before)), drawnCell([-far, far], row.after - row.before, row.low, row.high, 3)),
        ...[row.answers, row.removed, row.changed, row.added].map((part) => bdi(signed(part)))])));
    if (!own.items.length) return;
    const more = own.changed - own.items.length;
    const moving = ([system, effect]) => [bdi(board.systems[system].name), " ", bdi(signed(effect))];
    place.append(make("h3", {}, words.moved_items), make("p", { class: "soft" }, words.moved_items_note, more > 0 ? ` ${told("more_items", { n: isolated(more) })}` : ""),
      table(words.moved_items, [words.item, words.what, words.apart, words.most_up, words.most_down], own.items.map((row) => [
        row.what === "removed" || one.sealed ? make("code", {}, row.item) : make("button", { type: "button", class: "plain", dir: "ltr", onclick: () => openItem(row.item) }, row.item),
        make("span", {}, words[row.what], row.why.length ? make("div", { class: "why" }, ...row.why.flatMap((why, number) => [number ? ", " : "", words[why] || make("bdi", { lang: "en", dir: "ltr" }, why.replaceAll("_", " "))])) : ""),
        bdi(signed(row.apart)), ...row.ends.map((end) => make("span", {}, ...moving(end)))])));
  }

  function openItem(name) {
    Object.assign(state, { item: name, opened: true });
    items().then(() => at(at("item").hidden ? "items" : "item").focus());
  }

  function kept(row) {
    const one = board.systems[row.system];
    const size = at("size").value;
    const fits =
      size === "" || (size === "unknown" ? one.parameters === null : one.parameters !== null &&
        (size === "more" ? one.parameters > SIZES.at(-1) : one.parameters <= Number(size)));
    return fits && one.name.toLowerCase().includes(at("name").value.trim().toLowerCase()) &&
      (!at("kind").value || one.kind === at("kind").value) &&
      (!at("weights").value || one.open === (at("weights").value === "open"));
  }

  const SORTS = {
    system: (row) => board.systems[row.system].name,
    ranks: (row) => (row.ranks ? row.ranks[0] * 1000 + row.ranks[1] : undefined),
    figure: (row) => row.figure,
    size: (row) => board.systems[row.system].parameters ?? undefined,
    chance: (row) => row.chance,
    items: (row) => row.items,
    unread: (row) => row.unread,
  };

  function ordered(rows) {
    const of = SORTS[state.sort];
    const way = state.down ? -1 : 1;
    return [...rows].sort((a, b) => {
      const [x, y] = [of(a), of(b)];
      if (x === undefined || y === undefined) return (x === undefined) - (y === undefined);
      return way * (typeof x === "string" ? x.localeCompare(y) : x - y) || a.system - b.system;
    });
  }

  function systems() {
    const one = column();
    const places = digits(one);
    const has = (name) => one.rows.some((row) => row[name] !== undefined);
    at("board-title").textContent = nameOf(one);
    const about = [];
    if (one.smallest !== null && one.smallest !== undefined) about.push(told("smallest", { n: isolated(fixed(one.smallest, places)) }));
    if (!one.higher) about.push(words.lower_better);
    if (one.metric.endsWith("_not_vouched_for")) about.push(words.not_vouched);
    if (one.sealed) about.push(words.items_hidden);
    at("about").textContent = about.join(" ");
    const heads = [["system", words.system], ["ranks", words.rank], ["figure", words.figure], [null, words.interval], ["size", words.size]];
    if (has("chance")) heads.push(["chance", words.above_chance]);
    if (has("items")) heads.push(["items", words.items]);
    if (has("unread")) heads.push(["unread", words.unread]);
    const focused = document.activeElement?.dataset?.sort;
    at("systems").tHead.replaceChildren(make("tr", {}, ...heads.map(([sort, name]) => {
      if (!sort) {
        const axis = make("span", { class: "axis", "aria-hidden": "true" }, ...one.axis.map((end) => bdi(fixed(end, Number.isInteger(end) ? 0 : 2))));
        return make("th", { scope: "col", class: "drawn" }, make("span", { dir: document.documentElement.dir }, name), axis);
      }
      const sorted = state.sort === sort ? (state.down ? "descending" : "ascending") : null;
      return make("th", { scope: "col", "aria-sort": sorted }, make("button", { type: "button", "data-sort": sort, onclick: () => {
        Object.assign(state, state.sort === sort ? { down: !state.down } : { sort, down: !["system", "ranks"].includes(sort) });
        systems();
      } }, name));
    })));
    if (focused) document.querySelector(`[data-sort="${focused}"]`)?.focus();
    const rows = ordered(one.rows.filter(kept));
    at("systems").tBodies[0].replaceChildren(...rows.map((row) => {
      const about = board.systems[row.system];
      const cells = [
        make("th", { scope: "row" },
          make("button", { type: "button", class: "plain", onclick: () => choose(row.system) }, bdi(about.name)),
          about.contender ? null : make("div", { class: "why" }, words.no_contender)),
        make("td", { class: "n" }, row.ranks ? bdi(`${row.ranks[0]}–${row.ranks[1]}`) : "–", row.top ? make("span", { title: words.top, role: "img", "aria-label": words.top }, " ★") : null),
        make("td", { class: "n" }, bdi(fixed(row.figure, places))),
        make("td", { class: "drawn" }, row.figure === undefined ? "–" : drawnCell(one.axis, row.figure, row.low, row.high, places),
          ...(row.notes || []).map(([note, n]) => make("div", { class: "why" }, told(note, { n: isolated(n) })))),
        make("td", { class: "n" }, about.parameters === null ? "–" : bdi(about.parameters)),
      ];
      if (has("chance")) cells.push(make("td", { class: "n" }, bdi(fixed(row.chance, 3))));
      if (has("items")) cells.push(make("td", { class: "n" }, bdi((row.items ?? 0).toLocaleString("en"))));
      if (has("unread")) cells.push(make("td", { class: "n" }, bdi(percent(row.unread))));
      return make("tr", {}, ...cells);
    }));
    at("count").textContent = told("shown", { n: rows.length, all: one.rows.length });
    toAddress();
  }

  function choose(system) {
    state.system = system;
    toAddress();
    detail().then(() => at("detail").focus());
  }

  function table(caption, heads, rows) {
    return make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
      make("table", {}, make("thead", {}, make("tr", {}, ...heads.map((head) => make("th", { scope: "col" }, head)))),
        make("tbody", {}, ...rows.map((cells) => make("tr", {}, ...cells.map((cell, place) => {
          const drawnHere = cell instanceof Element && cell.classList.contains("span");
          return make(place ? "td" : "th", { scope: place ? null : "row", class: drawnHere ? "drawn" : null }, cell);
        }))))));
  }

  async function detail() {
    const place = at("detail");
    place.hidden = state.system === null;
    if (state.system === null) return;
    const about = board.systems[state.system];
    const one = column();
    const places = digits(one);
    const shut = make("button", { type: "button", onclick: () => { state.system = null; toAddress(); detail(); at("board").focus(); } }, words.close);
    const facts = [[words.kind, word(about.kind)], [words.weights, words[about.open ? "open" : "closed"]],
      [words.size, about.parameters ?? words.unknown], [words.cutoff, about.cutoff || words.unknown], [words.revision, about.revision || words.unknown]];
    place.replaceChildren(
      make("div", { class: "head-row" }, make("h2", { id: "detail-title" }, told("details_of", { name: isolated(about.name) })), shut),
      make("dl", {}, ...facts.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, bdi(value))])),
    );
    if (!one.drill) return;
    const found = await loadOr((said) => place.append(said), `${one.id}-slices`);
    if (found === null || state.system === null || place.querySelector("h3")) return;
    const own = found.pairs.filter((pair) => pair[0] === state.system || pair[1] === state.system).map((pair) => {
      const turned = pair[0] !== state.system;
      const [difference, low, high] = turned ? [-pair[2], pair[4] === null ? null : -pair[4], pair[3] === null ? null : -pair[3]] : pair.slice(2, 5);
      return { other: pair[turned ? 0 : 1], difference, low, high, p: pair[5] };
    }).sort((a, b) => a.difference - b.difference);
    if (own.length) {
      const far = Math.max(...own.flatMap((pair) => [pair.difference, pair.low ?? 0, pair.high ?? 0].map(Math.abs))) || 1;
      place.append(make("h3", {}, words.against), table(words.against, [words.system, words.difference, words.interval, words.adjusted],
        own.map((pair) => [bdi(board.systems[pair.other].name), bdi((pair.difference > 0 ? "+" : "") + fixed(pair.difference, places)),
          drawnCell([-far, far], pair.difference, pair.low, pair.high, places), bdi(pair.p < 0.001 ? "< .001" : fixed(pair.p, 3))])));
    }
    place.append(make("h3", {}, words.slices));
    const parts = found.slices.flatMap((fact) => fact.values.map((value) => ({ fact: fact.fact, ...value })))
      .map((value) => ({ ...value, row: value.rows.find((row) => row[0] === about.name) })).filter((value) => value.row);
    place.append(parts.length ? table(words.slices, [words.fact, words.value, words.items, words.figure, words.interval],
      parts.map((value) => [bdi(value.fact), bdi(value.value), bdi(value.items), bdi(fixed(value.row[1], places)),
        drawnCell(one.axis, value.row[1], value.row[2], value.row[3], places)])) : make("p", {}, words.no_slices));
  }

  const mean = (scores) => {
    const known = [...scores].filter((letter) => letter !== "-");
    return known.length ? known.reduce((sum, letter) => sum + Number(letter), 0) / (9 * known.length) : 0;
  };

  async function items() {
    const place = at("items");
    const one = column();
    const title = make("h2", { id: "items-title" }, told("items_of", { name: isolated(one.level === "overall" ? words.overall : one.name) }));
    at("item").hidden = true;
    if (!one.drill || one.sealed) {
      place.replaceChildren(title, make("p", {}, one.sealed ? words.items_hidden : words.choose_set));
      return;
    }
    if (!state.opened) {
      place.replaceChildren(title, make("button", { type: "button", class: "open", onclick: () => { state.opened = true; items().then(() => at("items").focus()); } }, words.show_items));
      return;
    }
    place.replaceChildren(title, make("p", { role: "status" }, words.loading));
    const index = await loadOr((said) => place.replaceChildren(title, said), `${one.id}-items`);
    if (index === null || column() !== one) return;
    index.means = index.means || index.scores.map(mean);
    index.order = index.order || index.items.map((_, number) => number).sort((a, b) => index.means[a] - index.means[b] || a - b);
    const which = make("select", { id: "which", oninput: (event) => { state.which = event.target.value; state.page = 0; list(); } },
      ...[["all", words.all_items], ["nobody", words.nobody], ["everybody", words.everybody],
        ...board.systems.map((about, number) => [`s${number}`, told("wrong_here", { name: about.name })])].map(([value, name]) => make("option", { value, selected: state.which === value }, name)));
    const find = make("input", { id: "find", type: "search", dir: "ltr", value: state.find, oninput: (event) => { state.find = event.target.value; state.page = 0; list(); } });
    const body = make("div", {});
    place.replaceChildren(title, make("form", { onsubmit: (event) => event.preventDefault() },
      make("div", {}, make("label", { for: "which" }, words.which), which), make("div", {}, make("label", { for: "find" }, words.id_holds), find)), body);

    function chosen(number) {
      if (state.find && !index.items[number].includes(state.find.trim())) return false;
      const known = [...index.scores[number]].filter((letter) => letter !== "-");
      if (state.which === "nobody") return known.every((letter) => letter === "0");
      if (state.which === "everybody") return known.every((letter) => letter === "9");
      if (state.which === "all") return true;
      return index.scores[number][Number(state.which.slice(1))] < "5" && index.means[number] > 0.5;
    }

    function list() {
      const own = index.order.filter(chosen);
      const pages = Math.max(1, Math.ceil(own.length / board.page));
      state.page = Math.min(state.page, pages - 1);
      const part = own.slice(state.page * board.page, (state.page + 1) * board.page);
      const turn = (name, by) => make("button", { type: "button", disabled: state.page + by < 0 || state.page + by >= pages, onclick: () => { state.page += by; list(); (body.querySelector(`[data-turn="${by}"]:not([disabled])`) || body.querySelector("[data-turn]:not([disabled])"))?.focus(); }, "data-turn": by }, words[name]);
      body.replaceChildren(
        make("p", { role: "status", class: "soft" }, told("items_shown", { n: own.length.toLocaleString("en") })),
        table(words.items, [words.item, words.share_right], part.map((number) => [
          make("button", { type: "button", class: "plain", dir: "ltr", onclick: () => open(number).then(() => at("item").focus()) }, index.items[number]),
          bdi(fixed(index.means[number], 2))])),
        make("div", { class: "pages" }, turn("previous", -1), make("span", {}, told("page", { n: state.page + 1, all: pages })), turn("next", 1)));
    }

    async function open(number) {
      const target = at("item");
      const name = index.items[number];
      state.item = name;
      toAddress();
      target.hidden = false;
      const page = await loadOr((said) => target.replaceChildren(said), `${one.pages}/${Math.floor(number / board.page)}`);
      if (page === null) return;
      const found = page[number % board.page];
      const language = found.language || "";
      const way = ["ar", "fa"].includes(language) ? "rtl" : "ltr";
      const said = (text, name) => make("p", { class: `said ${name || ""}`, lang: language, dir: "auto", tabindex: text.length > 600 ? 0 : null }, text);
      const facts = Object.entries(found.facts || {});
      target.replaceChildren(
        make("div", { class: "head-row" }, make("h2", { id: "item-title" }, `${words.item} `, make("code", {}, name)),
          make("button", { type: "button", onclick: () => { state.item = null; target.hidden = true; toAddress(); at("items").focus(); } }, words.close)),
        make("h3", {}, words.prompt), found.prompt ? make("div", { dir: way }, said(found.prompt, "text")) : make("p", {}, words.no_prompt),
        ...(found.gold ? [make("h3", {}, words.gold), ...found.gold.map((text) => make("div", { class: "gold", dir: way }, bdi(text)))] : []),
        ...(facts.length ? [make("dl", {}, ...facts.flatMap(([key, value]) => [make("dt", {}, bdi(key)), make("dd", {}, bdi(value))]))] : []),
        make("h3", {}, words.replies),
        make("ul", { class: "cards" }, ...Object.entries(found.replies).map(([system, one]) => {
          const letter = index.scores[number][Number(system)];
          return make("li", {},
            make("h4", {}, bdi(board.systems[Number(system)].name), bdi(letter === "-" ? "–" : fixed(Number(letter) / 9, 2))),
            one.error ? make("p", { class: "bad mark" }, words.failed, " ", bdi(one.error)) : said(one.reply),
            one.unread ? make("p", { class: "why" }, words.not_read) : null,
            one.rule ? make("p", { class: "why" }, `${words.read_as}: `, bdi(one.read), " ", make("code", {}, one.rule)) : null,
            ...(one.judges || []).map((judged) => make("p", { class: "why" }, `${words.judge} `, bdi(judged.by), ": ",
              bdi(Object.entries(judged.scores).map(([key, value]) => `${key} ${value}`).join(", ")), " ", make("bdi", { dir: "auto" }, judged.reason))));
        })));
    }

    list();
    if (state.item) {
      const number = index.items.indexOf(state.item);
      if (number >= 0) await open(number);
    }
  }

  // A section of the page begun anew: its title and a note.
  function section(id, note, ...title) {
    const place = at(id);
    place.hidden = false;
    place.replaceChildren(make("h2", { id: `${id}-title` }, ...title), make("p", { class: "soft" }, note));
    return place;
  }

  function published() {
    if (!board.published.length) return;
    const place = section("published", words.published_note, words.published);
    for (const one of board.published) {
      const ours = board.columns.find((other) => `${other.name} ${other.metric}`.trim() === one.beside);
      const names = [...new Set([...Object.keys(one.figures), ...(ours ? ours.rows.map((row) => board.systems[row.system].name) : [])])];
      const own = (name) => ours?.rows.find((row) => board.systems[row.system].name === name);
      place.append(make("h3", {}, bdi(`${one.paper}, ${one.table}`)), make("p", { class: "why" }, `${words.beside} `, make("code", {}, one.beside), ` · ${words.differs}: `, make("bdi", { lang: "en", dir: "ltr" }, one.differs)),
        table(`${one.paper}, ${one.table}`, [words.system, words.as_published, words.ours],
          names.map((name) => [bdi(name), name in one.figures ? bdi(one.figures[name] + (one.percent ? " %" : "")) : "–",
            own(name)?.figure === undefined ? "–" : bdi(`${fixed(own(name).figure, digits(ours))} ${span(own(name).low, own(name).high, digits(ours))}`)])));
    }
  }

  function blind() {
    if (!board.blind) return;
    const one = board.blind;
    const note = told(one.closed ? "blind_closed" : "blind_note", { opens: isolated(one.opens), closes: isolated(one.closes), gain: isolated(percent(one.gain.so_far)) });
    section("blind", note, `${words.blind_board} · `, bdi(one.title)).append(
      table(words.blind_board, [words.system, words.team, words.rank, words.figure, words.interval, words.received],
        one.entries.map((row) => [bdi(row.model), bdi(row.team), bdi(row.rank_low === undefined ? "–" : `${row.rank_low}–${row.rank_high}`),
          ...(row.figure === null ? ["–", "–"] : [bdi(fixed(row.figure, 3)), drawnCell([0, 1], row.figure, row.low, row.high, 3)]), bdi(row.received)])));
  }

  function notRun() {
    const lines = board.not_run.map((gap) => told(gap.why, { name: isolated(gap.system), n: gap.items, column: isolated(gap.column) }));
    at("not-run").replaceChildren(...(lines.length ? lines : [words.all_run]).map((line) => make("li", {}, line)));
  }
})();
