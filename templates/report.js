// Draws the timeline, and lets the reader move, zoom, select and search. Loads nothing from outside the page.
(() => {
  'use strict';
  const errors = [];
  addEventListener('error', event => errors.push(String(event.message)));
  addEventListener('securitypolicyviolation', event => errors.push('blocked: ' + event.blockedURI));

  // ---- Data. crates/tell/render/src/html/timeline/packed.rs describes how it is packed.

  const byId = id => document.getElementById(id);
  const data = JSON.parse(byId('timeline-data').textContent);
  const SPAN = data.span_ns;
  const LANES = data.lanes.length, OTHERS = LANES, CAUSES = data.causes.length, SHADES = 4;
  /** Number of kernels with a color of their own; the next number is the color of all others. */
  const OWN = 5;
  /** Stations of a command buffer beside those on the GPU. */
  const STATIONS = ['encodes', 'encoded', 'committed', 'driver', 'submitted', 'completed'];
  const colorOf = new Uint8Array(data.names.length).fill(OWN);
  data.colored.forEach((name, color) => { if (name) colorOf[name] = color; });

  /** Returns the bytes of a Base64 text. */
  const bytesOf = text => Uint8Array.from(atob(text), letter => letter.charCodeAt(0));

  /** Returns a reader of numbers, which are packed as LEB128. */
  function reader(bytes) {
    let at = 0;
    const next = () => {
      let value = 0, unit = 1, byte;
      do {
        byte = bytes[at++];
        value += (byte & 127) * unit;
        unit *= 128;
      } while (byte & 128);
      return value;
    };
    const signed = () => {
      const folded = next();
      return folded % 2 ? -(folded + 1) / 2 : folded / 2;
    };
    return { next, signed, column: (length, one = next) => Array.from({ length }, one), parts: () => {
      const there = next(), parts = new Array(CAUSES).fill(0);
      for (let cause = 0; cause < CAUSES; cause++) if (there & (1 << cause)) parts[cause] = next();
      return parts;
    } };
  }

  const newSeries = () => ({ start: [], end: [], name: [], reach: [] });
  function push(series, start, end, name) {
    const last = series.reach.length - 1;
    series.start.push(start);
    series.end.push(end);
    series.name.push(name);
    series.reach.push(last < 0 ? end : Math.max(end, series.reach[last]));
  }

  /** Largest number of intervals and gaps that are unpacked at once. */
  const MOST = 100_000;
  /** The part of the window that is here item by item. */
  let full, lanes, gaps, idle, chains, sampled;

  /**
   * Unpacks neighboring parts of the window: a series for each lane, the last for other processes; gaps; command buffers;
   * CPU samples. What reaches from one part into the next is in both.
   */
  function hold(parts) {
    full = [parts[0].full[0], parts[parts.length - 1].full[1]];
    lanes = Array.from({ length: LANES + 1 }, () => ({ ...newSeries(), chain: [] }));
    gaps = { start: [], end: [], reach: [], parts: [], before: [], after: [] };
    idle = { start: [], end: [], reach: [], cause: [] };
    chains = [];
    sampled = parts.every(part => part.counts.samples !== null) ? { reach: [], functions: [] } : null;
    for (const part of parts) unpack(part, part === parts[0] ? -1 : part.full[0]);
  }

  /** Unpacks a part, without what begins before a time. */
  function unpack({ full, counts, bytes }, since) {
    const from = reader(bytes), { column, signed } = from, spans = intervals(from, counts.intervals);
    let begun = chains.length;
    column(counts.intervals).forEach((owner, at) => {
      const { lane, start, end, name } = spans[at];
      if (start >= since) {
        push(lanes[lane], start, end, name);
        lanes[lane].chain.push(owner ? begun + 1 - owner : null);
      }
      if (owner === 1) begun++;
    });
    unpackChains(from, counts.chains);

    const guessed = guesses(spans, full), n = counts.gaps, starts = column(n, signed), ends = column(n, signed);
    const before = column(n), after = column(n), many = column(n), causes = column(many.reduce((sum, one) => sum + one, 0));
    for (let gap = 0, part = 0; gap < n; gap++) {
      const guess = guessed[gap] || { start: 0, end: 0, before: 0, after: 0 }, start = guess.start + starts[gap], end = guess.end + ends[gap];
      const parts = new Array(CAUSES).fill(0);
      let at = start;
      for (let left = many[gap]; left > 0; left--) {
        const cause = causes[part++], until = left > 1 ? at + from.next() : end;
        parts[cause] += until - at;
        if (start >= since) {
          idle.start.push(at);
          idle.end.push(until);
          idle.reach.push(until);
          idle.cause.push(cause);
        }
        at = until;
      }
      if (start < since) continue;
      gaps.start.push(start);
      gaps.end.push(end);
      gaps.reach.push(end);
      gaps.parts.push(parts);
      gaps.before.push(before[gap] ? before[gap] - 1 : guess.before);
      gaps.after.push(after[gap] ? after[gap] - 1 : guess.after);
    }

    const waits = column(counts.others);
    let at = 0;
    for (const wait of waits) {
      const start = at + wait;
      at = start + from.next();
      if (start >= since) push(lanes[OTHERS], start, at, 0);
    }
    const moments = column(counts.samples || 0);
    if (!sampled) return;
    at = full[0];
    for (const wait of moments) {
      at += wait;
      sampled.reach.push(at);
      sampled.functions.push(from.next());
    }
  }

  /** Reads the intervals of a part: lane, start, end, name. */
  function intervals({ column, signed }, count) {
    const lanes = column(count), names = column(count), waits = column(count, signed), lengths = column(count);
    const ends = new Array(LANES).fill(0);
    return lanes.map((lane, at) => {
      const start = ends[lane] + waits[at];
      ends[lane] = start + lengths[at];
      return { lane, start, end: ends[lane], name: names[at] };
    });
  }

  /** Returns the times without an interval, each with the numbers of the names around it plus 1; 0 for none. */
  function guesses(spans, [from, to]) {
    const guessed = [];
    let end = from, last = 0;
    for (const one of spans) {
      if (one.end === one.start) continue;
      if (one.start > end) guessed.push({ start: end, end: one.start, before: last, after: one.name + 1 });
      if (one.end >= end) [end, last] = [one.end, one.name + 1];
    }
    return guessed.concat({ start: end, end: Math.max(end, to), before: last, after: 0 });
  }

  /**
   * Unpacks the stations of each command buffer that has more than its time on the GPU, in order; a station that is not
   * recorded is missing.
   */
  function unpackChains(from, count) {
    let start = 0;
    for (let n = count; n > 0; n--) {
      start += from.signed();
      const end = start + from.next(), there = from.next(), chain = { start, end };
      STATIONS.forEach((name, at) => { if (there & (1 << at)) chain[name] = start + from.signed(); });
      chains.push(chain);
    }
  }

  /** Unpacks the states over time, by row; and the time in any state, if not all states are stored. */
  function unpackHeld({ label, kind, rows, count, of, pieces, covered }) {
    const from = reader(bytesOf(pieces));
    const series = Array.from({ length: rows }, () => ({ ...newSeries(), shade: [], induced: [] }));
    let at = 0;
    for (let n = count; n > 0; n--) {
      at += from.next();
      const end = at + from.next(), row = series[from.next()];
      push(row, at, end, from.next());
      const shade = from.next();
      row.shade.push(shade % SHADES);
      row.induced.push(shade >= SHADES);
    }
    const some = covered && { width_ns: covered.width_ns, shades: new Map(covered.shades.map(
      ([shade, buckets]) => [shade, Float64Array.from({ length: covered.count }, reader(bytesOf(buckets)).next)])) };
    return { label, kind, count, of, series, covered: some };
  }

  /**
   * Sums neighboring buckets in pairs, level by level, down to one: row, level, bucket. The rows are those of busy time,
   * of causes, and of the number of intervals.
   */
  function pyramid() {
    if (!data.buckets) return null;
    const { count, width_ns } = data.buckets, rows = [], lanes = Array.from({ length: LANES + 1 }, () => []);
    const busy = reader(bytesOf(data.buckets.busy)), idle = reader(bytesOf(data.buckets.idle));
    data.buckets.rows.forEach(([lane, color], row) => {
      lanes[lane].push({ color, row });
      rows.push([Float64Array.from({ length: count }, busy.next)]);
    });
    const idleRow = rows.length;
    const causes = Array.from({ length: CAUSES }, () => new Float64Array(count));
    for (let at = 0; at < count; at++) {
      idle.parts().forEach((ns, cause) => { causes[cause][at] = ns; });
    }
    for (const row of causes) rows.push([row]);
    rows.push([Float64Array.from({ length: count }, reader(bytesOf(data.buckets.begun)).next)]);
    for (const levels of rows) {
      while (levels[levels.length - 1].length > 1) {
        const fine = levels[levels.length - 1];
        levels.push(Float64Array.from({ length: Math.ceil(fine.length / 2) },
          (_, at) => fine[2 * at] + (fine[2 * at + 1] || 0)));
      }
    }
    return { rows, width_ns, lanes, idleRow, begunRow: idleRow + CAUSES };
  }

  const held = data.held.map(unpackHeld);
  hold([{ ...data, bytes: bytesOf(data.packed) }]);
  const buckets = pyramid();
  const hasOthers = lanes[OTHERS].start.length > 0 || (buckets && buckets.lanes[OTHERS].some(({ row }) => buckets.rows[row].at(-1)[0] > 0));
  const nameOf = number => data.names[number];
  /** Beginning that most kernels have in common, which tells none apart: where there is little room, it is left out. */
  const common = (() => {
    const all = [...new Set(lanes.slice(0, LANES).flatMap(({ name }) => name))].map(nameOf).sort();
    const middle = all[all.length >> 1] || '', most = all.length / 2;
    let length = middle.length - 1;
    while (length > 0 && all.filter(name => name.startsWith(middle.slice(0, length))).length <= most) length--;
    return all.length > 1 && length >= 8 ? middle.slice(0, length) : '';
  })();

  // ---- Positions and shares.

  /** Returns the index of the first item of a series that may end after a time. */
  function firstPast(series, ns) {
    let low = 0, high = series.reach.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (series.reach[middle] > ns) high = middle; else low = middle + 1;
    }
    return low;
  }

  const isExact = view => data.is_whole || (full[1] > full[0] && view[0] >= full[0] && view[1] <= full[1]);

  /** Parts that are being unpacked, and when they are here. */
  let wanted = [], here = Promise.resolve();

  /** Unpacks the stored parts that a view needs, unless they are too many to look at. */
  function unpackFor(view) {
    if (isExact(view)) return here;
    const parts = data.parts.filter(part => part.full[0] < view[1] && part.full[1] > view[0]);
    const isSame = parts.length === wanted.length && parts[0] === wanted[0];
    if (isSame || !parts.length || parts.reduce((sum, { counts }) => sum + counts.intervals + counts.gaps, 0) > MOST) return here;
    wanted = parts;
    here = Promise.all(parts.map(inflated)).then(all => {
      if (wanted !== parts) return;
      hold(parts.map((part, at) => ({ ...part, bytes: all[at] })));
      if (marked) search(marked);
      request();
    });
    return here;
  }
  async function inflated({ packed }) {
    const stream = new Blob([bytesOf(packed)]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  /** A smaller share of a column is a rounding error: even a nanosecond in a day is more. */
  const NOTHING = 1e-12;

  /** Adds to each column the share of it that a stretch of time covers. */
  function cover(columns, from, to, weight) {
    const first = Math.max(0, Math.floor(from)), last = Math.min(columns.length - 1, Math.floor(to));
    for (let at = first; at <= last; at++) {
      const part = Math.min(at + 1, to) - Math.max(at, from);
      if (part > 0) columns[at] += part * weight;
    }
  }

  /** Names of the kernels that stand out, by number; null if none does. */
  let marked = null;
  const DIM = OWN + 1;

  /**
   * Returns the share of each column that the intervals of a lane cover, by color; overlaps count once. The colors of
   * intervals that do not stand out are higher by DIM.
   */
  function laneColumns(lane, view, width) {
    const colors = new Map(), scale = width / (view[1] - view[0]);
    const columns = key => colors.get(key) || colors.set(key, new Float64Array(width)).get(key);
    if (!isExact(view)) {
      for (const { color, row } of buckets.lanes[lane]) {
        const isMarked = !marked || lane === OTHERS || marked.has(data.colored[color]);
        colors.set(isMarked ? color : color + DIM, bucketColumns(row, view, width));
      }
      return colors;
    }
    const series = lanes[lane];
    let done = view[0];
    for (let at = firstPast(series, view[0]); at < series.start.length && series.start[at] < view[1]; at++) {
      const from = Math.max(series.start[at], done), to = Math.min(series.end[at], view[1]);
      if (to <= from) continue;
      const name = series.name[at], color = lane === OTHERS ? 0 : colorOf[name];
      const isMarked = !marked || lane === OTHERS || marked.has(name);
      cover(columns(isMarked ? color : color + DIM), (from - view[0]) * scale, (to - view[0]) * scale, 1);
      done = to;
    }
    return colors;
  }

  function bucketColumns(row, view, width) {
    const levels = buckets.rows[row];
    let level = 0, bucket = buckets.width_ns;
    while (level + 1 < levels.length && bucket * 2 * width <= view[1] - view[0]) { level++; bucket *= 2; }
    return spread(levels[level], bucket, view, width);
  }

  /** Converts buckets of nanoseconds to shares of columns. */
  function spread(values, bucket, view, width) {
    const columns = new Float64Array(width), scale = width / (view[1] - view[0]);
    const last = Math.min(values.length - 1, Math.floor(view[1] / bucket));
    for (let at = Math.max(0, Math.floor(view[0] / bucket)); at <= last; at++) {
      if (!values[at]) continue;
      const from = at * bucket, to = Math.min(from + bucket, SPAN);
      cover(columns, (from - view[0]) * scale, (to - view[0]) * scale, values[at] / (to - from));
    }
    return columns;
  }

  /** Returns the share of each column that each cause has. */
  function causeColumns(view, width) {
    if (!isExact(view)) return data.causes.map((_, cause) => bucketColumns(buckets.idleRow + cause, view, width));
    const columns = data.causes.map(() => new Float64Array(width)), scale = width / (view[1] - view[0]);
    for (let at = firstPast(idle, view[0]); at < idle.start.length && idle.start[at] < view[1]; at++) {
      cover(columns[idle.cause[at]], (idle.start[at] - view[0]) * scale, (idle.end[at] - view[0]) * scale, 1);
    }
    return columns;
  }

  const colorName = color => color < OWN ? nameOf(data.colored[color]) : 'other kernels';

  // ---- Texts.

  function time(ns) {
    if (ns < 0) return '−' + time(-ns);
    if (ns < 1000) return Math.round(ns) + '\u00a0ns';
    for (const [unit, scale] of [['µs', 1e3], ['ms', 1e6], ['s', 1e9]]) {
      const value = ns / scale;
      if (value < 999.95 || unit === 's') {
        const whole = String(Math.floor(value)).length;
        return value.toFixed(Math.max(0, 4 - whole)) + '\u00a0' + unit;
      }
    }
  }
  const percent = share => {
    const value = share * 100;
    if (value === 0) return '0\u00a0%';
    if (value < 0.01) return '<0.01\u00a0%';
    return (value < 0.995 ? value.toFixed(2) : value < 99.95 || value >= 100 ? value.toFixed(value < 99.95 ? 1 : 0) : '>99.9') + '\u00a0%';
  };
  const count = number => String(number).replace(/\B(?=(\d{3})+$)/g, ',');
  /** Formats a time of the recording as the option --from accepts it. */
  const moment = (ns, digits = 6) => {
    // Rounded down, as in the sentences and tables.
    const part = Math.floor(Math.round(data.start_ns + ns) / 10 ** (9 - digits));
    return (part / 10 ** digits).toFixed(digits) + 's';
  };

  // ---- Drawing.

  const canvas = byId('canvas'), stage = byId('stage'), tip = byId('tip');
  byId('timeline-box').hidden = false;
  // Printing shows the static picture again, not the zoomed part.
  byId('picture').hidden = true;
  const paper = canvas.getContext('2d');
  let view = [0, SPAN], colors = {}, layout = [], overview = null, scheduled = false;
  /** The selected part of the window: from, to, and what it is. */
  let selected = null;

  const shadeNames = Object.entries({ phase: 3, state: SHADES, counter: SHADES })
    .flatMap(([kind, many]) => Array.from({ length: many }, (_, at) => `${kind}-${at}`));

  const kernelNames = Array.from({ length: OWN + 1 }, (_, at) => `kernel-${at}`);

  function readColors() {
    const style = getComputedStyle(document.documentElement);
    for (const name of ['page', 'ink', 'link', 'faint', 'line', 'raised', 'track', 'busy', 'others', 'label', ...kernelNames, ...shadeNames, ...data.causes]) {
      colors[name] = style.getPropertyValue('--' + name).trim();
    }
  }

  /** Height of the overview. */
  const OVERVIEW = 26;
  /** Height of a row of states. */
  const HELD = 17;
  /** Height of a row of the command buffer. */
  const CHAIN = 15;
  const chainRows = ['program', 'driver', 'GPU'].filter(name => name !== 'driver' || chains.some(one => one.driver !== undefined));

  /** Returns the rows of the drawing, from top to bottom. */
  function layOut() {
    const rows = [{ kind: 'overview', top: 2, height: OVERVIEW }];
    let top = OVERVIEW + 24;
    const add = (kind, label, height, lane) => {
      rows.push({ kind, label, lane, top: top + 16, height });
      top += height + 22;
    };
    data.lanes.forEach((name, lane) => add('lane', name, 30, lane));
    if (hasOthers) add('lane', 'other processes', 18, OTHERS);
    if (chains.length) add('chain', 'command buffer of the selection', chainRows.length * CHAIN);
    add('causes', 'idle time by cause', 34);
    held.forEach((one, at) => add('held', one.label, one.series.length * HELD, at));
    rows.height = top + 4;
    return rows;
  }

  function resize() {
    layout = layOut();
    const ratio = devicePixelRatio || 1, width = stage.clientWidth;
    canvas.style.height = layout.height + 'px';
    canvas.width = Math.max(1, Math.round(width * ratio));
    canvas.height = Math.round(layout.height * ratio);
    draw();
  }

  const width = () => Math.max(1, stage.clientWidth);
  const xOf = ns => (ns - view[0]) / (view[1] - view[0]) * width();
  const nsOf = x => view[0] + x / width() * (view[1] - view[0]);

  function request() {
    if (scheduled) return;
    scheduled = true;
    requestAnimationFrame(draw);
  }

  function draw() {
    scheduled = false;
    unpackFor(view);
    const ratio = canvas.width / width(), pixels = canvas.width;
    paper.setTransform(ratio, 0, 0, ratio, 0, 0);
    paper.fillStyle = colors.page;
    paper.fillRect(0, 0, width(), layout.height);
    paper.font = '12px system-ui, sans-serif';
    for (const row of layout) {
      if (row.label) text(row.label, 4, row.top - 5, colors.faint, width() - 8);
      paper.fillStyle = colors.track;
      paper.fillRect(0, row.top, width(), row.height);
    }
    // Lines are drawn below the work, since a line across it would look like a gap.
    drawAxis();
    for (const row of layout) {
      if (row.kind === 'overview') drawOverview(row, pixels, ratio);
      if (row.kind === 'lane') drawLane(row, pixels, ratio);
      if (row.kind === 'chain') drawChain(row);
      if (row.kind === 'causes') drawCauses(row, causeColumns(view, pixels), ratio);
      if (row.kind === 'held') drawHeld(row, pixels, ratio);
    }
    drawSelection();
    say();
  }

  /** Draws columns as high as their busy share, over a tint that makes even the smallest share visible. */
  function fill(row, columns, colour, ratio) {
    paper.fillStyle = colour;
    columns.forEach((share, at) => {
      if (share <= NOTHING) return;
      const high = Math.max(2, Math.min(1, share) * row.height);
      paper.globalAlpha = 0.13;
      paper.fillRect(at / ratio, row.top, 1 / ratio, row.height);
      paper.globalAlpha = 1;
      paper.fillRect(at / ratio, row.top + row.height - high, 1 / ratio, high);
    });
  }

  /** Draws columns of several colors as stacks; the colors that do not stand out are pale, and on top. */
  function fillStacked(row, stack, ratio, paint) {
    const heights = [], keys = [...stack.keys()].sort((a, b) => a - b);
    for (const key of keys) {
      const { colour, full } = paint(key);
      paper.fillStyle = colour;
      stack.get(key).forEach((share, at) => {
        if (share <= NOTHING) return;
        const below = heights[at];
        if (below === undefined) {
          paper.globalAlpha = 0.13 * full;
          paper.fillRect(at / ratio, row.top, 1 / ratio, row.height);
        }
        const from = below || 0;
        const high = Math.min(Math.max(below === undefined ? 2 : 0, Math.min(1, share) * row.height), row.height - from);
        paper.globalAlpha = full;
        paper.fillRect(at / ratio, row.top + row.height - from - high, 1 / ratio, high);
        heights[at] = from + high;
      });
    }
    paper.globalAlpha = 1;
  }

  /** Returns the color and opacity of a kernel's intervals. */
  const kernelPaint = key => ({ colour: colors[kernelNames[key % DIM]], full: key >= DIM ? 0.22 : 1 });

  /** Returns the busy share of the process: the part that is not idle, and at least that of its busiest lane. */
  function busyColumns(pixels) {
    const everything = [0, SPAN], idle = causeColumns(everything, pixels);
    const busy = idle[0].map((_, at) => 1 - idle.reduce((sum, cause) => sum + cause[at], 0));
    for (let lane = 0; lane < LANES; lane++) {
      const sums = new Float64Array(pixels);
      for (const columns of laneColumns(lane, everything, pixels).values()) columns.forEach((share, at) => { sums[at] += share; });
      sums.forEach((share, at) => { busy[at] = Math.max(busy[at] < 1e-6 ? 0 : busy[at], share); });
    }
    return busy;
  }

  function drawOverview(row, pixels, ratio) {
    if (!overview || overview.length !== pixels) overview = busyColumns(pixels);
    fill(row, overview, colors.faint, ratio);
    if (view[0] <= 0 && view[1] >= SPAN) return;
    const [left, right] = overviewBox();
    paper.fillStyle = colors.page;
    paper.globalAlpha = 0.6;
    paper.fillRect(0, row.top, left, row.height);
    paper.fillRect(right, row.top, width() - right, row.height);
    paper.globalAlpha = 1;
    paper.lineWidth = 2;
    paper.strokeStyle = colors.ink;
    paper.strokeRect(left + 1, row.top + 1, Math.max(1, right - left - 2), row.height - 2);
  }

  function drawLane(row, pixels, ratio) {
    const stack = laneColumns(row.lane, view, pixels);
    if (row.lane === OTHERS) for (const columns of stack.values()) fill(row, columns, colors.others, ratio);
    else fillStacked(row, stack, ratio, kernelPaint);
    if (!isExact(view) || row.lane === OTHERS) return;
    const series = lanes[row.lane];
    let last = -1;
    for (let at = firstPast(series, view[0]); at < series.start.length && series.start[at] < view[1]; at++) {
      const left = Math.max(0, xOf(series.start[at])), right = Math.min(width(), xOf(series.end[at]));
      if (right - left < 5) continue;
      // A dark line separates adjacent intervals; gaps have other colors.
      paper.fillStyle = 'rgb(0 0 0 / 55%)';
      if (series.start[at] >= view[0] && left - last < 1) paper.fillRect(left, row.top, 1, row.height);
      last = right;
      const name = series.name[at], isPale = marked && !marked.has(name);
      if (right - left > 34 && row.height > 20) {
        text(nameOf(name), left + 5, row.top + 19, isPale ? colors.ink : colors.label, right - left - 9);
      }
    }
  }

  /** Returns the edges of the view in the overview. */
  function overviewBox() {
    const left = view[0] / SPAN * width();
    return [Math.min(left, width() - 4), Math.max(view[1] / SPAN * width(), left + 4)];
  }

  /** Draws the selected part over all lanes, and where it is in the overview. */
  function drawSelection() {
    if (!selected) return;
    const top = OVERVIEW + 8, left = Math.max(-3, xOf(selected.from)), right = Math.min(width() + 3, xOf(selected.to));
    const at = selected.from / SPAN * width(), until = selected.to / SPAN * width();
    paper.fillStyle = colors.link;
    paper.fillRect(at, 2 + OVERVIEW - 4, Math.max(3, until - at), 4);
    if (right < 0 || left > width()) return;
    paper.globalAlpha = 0.16;
    paper.fillRect(left, top, right - left, layout.height - top);
    paper.globalAlpha = 1;
    paper.fillRect(left - 1.5, top, 1.5, layout.height - top);
    paper.fillRect(right, top, 1.5, layout.height - top);
  }

  /** Draws the way of the selected command buffer: work as boxes, moments as lines, and arrows in between. */
  function drawChain(row) {
    const chain = selected && selected.chain;
    if (!chain) text('Select one interval or gap.', 66, row.top + 11, colors.faint, width() - 70);
    else {
      const top = name => row.top + chainRows.indexOf(name) * CHAIN;
      // A line far outside would take long to draw.
      const x = ns => Math.max(-1e4, Math.min(width() + 1e4, xOf(ns)));
      let before = null;
      for (const { name, from, to, colour } of stagesOf(chain)) {
        paper.fillStyle = colors[colour];
        paper.fillRect(x(from), top(name) + 2, Math.max(2, x(to) - x(from)), CHAIN - 4);
        if (before && before.name !== name) {
          const isDown = top(name) > top(before.name), y = top(name) + (isDown ? 2 : CHAIN - 2), back = isDown ? -4 : 4;
          paper.fillStyle = paper.strokeStyle = colors.ink;
          paper.lineWidth = 1;
          paper.beginPath();
          paper.moveTo(x(before.to), top(before.name) + CHAIN / 2);
          paper.lineTo(x(from) + 0.5, top(before.name) + CHAIN / 2);
          paper.lineTo(x(from) + 0.5, y + back);
          paper.stroke();
          paper.beginPath();
          paper.moveTo(x(from) + 0.5, y);
          paper.lineTo(x(from) - 3, y + back);
          paper.lineTo(x(from) + 4, y + back);
          paper.fill();
        }
        before = { name, to };
      }
    }
    chainRows.forEach((name, at) => {
      paper.strokeStyle = colors.track;
      paper.lineWidth = 3;
      paper.strokeText(name, 5, row.top + at * CHAIN + 11);
      text(name, 5, row.top + at * CHAIN + 11, colors.faint, width());
    });
  }

  /** Returns what happened to a command buffer, in order, as far as it is recorded: what, where, from and to. */
  function stagesOf({ start, end, encodes, encoded, committed, driver, submitted, completed }) {
    const stages = [
      ['encoding', 'program', encodes, encoded, 'encoding'], ['commit', 'program', committed, committed, 'ink'],
      ['driver', 'driver', driver, submitted ?? driver, 'driver'], ['GPU', 'GPU', start, end, 'faint'],
      ['completed', 'program', completed, completed, 'completion'],
    ];
    return stages.filter(stage => stage[2] !== undefined).map(([what, name, from, to, colour]) => ({ what, name, from, to, colour }));
  }

  /** Returns each stage of a command buffer as words, with the time since the last one. */
  function tellStages(chain) {
    const stages = stagesOf(chain);
    return stages.map(({ what, from, to }, at) => {
      const words = [what];
      if (at && from !== stages[at - 1].to) words.push(`after ${time(from - stages[at - 1].to)}`);
      if (to !== from) words.push(at ? `for ${time(to - from)}` : time(to - from));
      return words.length > 2 ? `${words[0]} ${words[1]}, ${words[2]}` : words.join(' ');
    });
  }

  /** Returns what of a command buffer is not recorded, or not exactly; empty if all is. */
  function tellMissing(chain) {
    const missing = { encodes: 'encoding', committed: 'commit', driver: 'driver', completed: 'completion' };
    const names = Object.keys(missing).filter(key => chain[key] === undefined).map(key => missing[key]);
    return [
      ...(names.length ? [`not recorded: ${names.join(', ')}`] : []),
      ...(chain.driver !== undefined && data.submits_at_end ? ["the end of the driver's work counts as the submission"] : []),
    ];
  }

  /** Returns the command buffer of an interval; of a part of a gap, that of the interval after it. */
  function chainOf(from, to) {
    const beginning = (at, end) => {
      for (const series of lanes.slice(0, LANES)) {
        for (let one = firstPast(series, at - 1); one < series.start.length && series.start[one] <= at; one++) {
          const isIt = series.start[one] === at && (end === undefined || series.end[one] === end);
          if (isIt && series.chain[one] !== null) return chains[series.chain[one]];
        }
      }
      return null;
    };
    const gap = firstPast(gaps, from), isInGap = gaps.start[gap] <= from && to <= gaps.end[gap];
    return isInGap ? beginning(gaps.end[gap]) : beginning(from, to);
  }

  /** Draws each column as a stack of the shares of the causes. */
  function drawCauses(row, columns, ratio) {
    const bottom = row.top + row.height, heights = new Float64Array(columns[0].length);
    columns.forEach((shares, cause) => {
      paper.fillStyle = colors[data.causes[cause]];
      shares.forEach((share, at) => {
        if (share <= NOTHING) return;
        const high = Math.min(share, 1 - heights[at]) * row.height;
        paper.fillRect(at / ratio, bottom - heights[at] * row.height - high, 1 / ratio, high);
        heights[at] = Math.min(1, heights[at] + share);
      });
    });
  }

  /**
   * Draws boxes, with names if there is room. Items that are narrower, or that the page has only in sum, are drawn as
   * shares of a column, by shade.
   */
  function drawHeld(row, pixels, ratio) {
    const { kind, series, covered } = held[row.lane], least = 1.5 / ratio;
    // Engines have the shades of phases: their lanes have names, and so do their boxes.
    const paint = shade => ({ colour: colors[`${kind}-${shade}`], full: 1 });
    if (covered) {
      const sums = new Map([...covered.shades].map(
        ([shade, values]) => [shade, spread(values, covered.width_ns, view, pixels)]));
      fillStacked({ top: row.top, height: HELD - 1 }, sums, ratio, paint);
    }
    series.forEach((all, at) => {
      const place = { top: row.top + at * HELD, height: HELD - 1 }, narrow = new Map(), boxes = [];
      const scale = pixels / (view[1] - view[0]);
      for (let one = firstPast(all, view[0]); one < all.start.length && all.start[one] < view[1]; one++) {
        const left = Math.max(-2, xOf(all.start[one])), right = Math.min(width() + 2, xOf(all.end[one]));
        if (right - left >= least) {
          boxes.push([one, left, right]);
          continue;
        }
        const shade = all.shade[one];
        if (!narrow.has(shade)) narrow.set(shade, new Float64Array(pixels));
        cover(narrow.get(shade), (all.start[one] - view[0]) * scale, (all.end[one] - view[0]) * scale, 1);
      }
      if (!covered) fillStacked(place, narrow, ratio, paint);
      let last = -1, before;
      for (const [one, left, right] of boxes) {
        const shade = all.shade[one];
        paper.fillStyle = paint(shade).colour;
        paper.fillRect(left, place.top, right - left, place.height);
        // A line separates adjacent boxes of one shade.
        paper.fillStyle = colors.faint;
        if (right - left > 4 && left - last < 1 && shade === before) paper.fillRect(left, place.top, 1, place.height);
        [last, before] = [right, shade];
        const from = Math.max(left, 0), room = Math.min(right, width()) - from - 9;
        if (room > 20) text(heldName(all, one), from + 5, place.top + 12.5, colors.ink, room);
      }
    });
  }
  const heldName = (all, one) => nameOf(all.name[one]) + (all.induced[one] ? ' (induced)' : '');

  function text(words, x, y, colour, room) {
    if (room < 12) return;
    let shown = words.slice(0, 120);
    const fits = () => paper.measureText(shown).width <= room;
    if (!fits() && common && words.startsWith(common)) shown = '…' + words.slice(common.length, common.length + 120);
    if (!fits()) {
      let low = 0, high = shown.length;
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (paper.measureText(shown.slice(0, middle) + '…').width <= room) low = middle; else high = middle - 1;
      }
      if (!low) return;
      shown = shown.slice(0, low) + '…';
    }
    paper.fillStyle = colour;
    paper.fillText(shown, x, y);
  }

  function drawAxis() {
    const least = (view[1] - view[0]) / Math.max(2, width() / 110);
    let step = 10 ** Math.ceil(Math.log10(Math.max(1, least)));
    for (const part of [5, 2]) if (step / part >= Math.max(1, least)) { step /= part; break; }
    const digits = Math.min(9, Math.max(0, 9 - Math.floor(Math.log10(step))));
    const first = Math.ceil((data.start_ns + view[0]) / step) * step - data.start_ns;
    for (let ns = first; ns <= view[1]; ns += step) {
      const x = xOf(ns);
      paper.fillStyle = colors.line;
      paper.globalAlpha = 0.6;
      paper.fillRect(x, OVERVIEW + 8, 1, layout.height);
      paper.globalAlpha = 1;
      if (x + 70 < width()) text(moment(ns, digits), x + 4, OVERVIEW + 18, colors.faint, 120);
    }
  }

  function say() {
    const shown = `${time(view[1] - view[0])} from ${moment(view[0])}. `;
    let how;
    if (data.is_whole) {
      how = 'Every interval is here in full; where they are narrower than a pixel, the height of a column is its busy share.';
    } else if (isExact(view)) {
      how = 'Here every interval is shown in full.';
    } else {
      how = `These are buckets of ${time(data.buckets.width_ns)}, not intervals: the height of a column is its busy share. ` +
        (data.parts.length ? 'Zoom in to see each interval.' : `This page has only ${time(full[1] - full[0])} from ${moment(full[0])} in full.`);
    }
    byId('state').textContent = shown + how;
    byId('state').dataset.mode = isExact(view) ? 'exact' : 'buckets';
  }

  // ---- Moving.

  function look(from, to) {
    const wide = Math.min(SPAN, Math.max(Math.min(20, SPAN), to - from));
    const start = Math.min(Math.max(0, (from + to) / 2 - wide / 2), SPAN - wide);
    view = [start, start + wide];
    request();
  }
  function zoom(factor, x) {
    const center = x === undefined ? (view[0] + view[1]) / 2 : nsOf(x);
    look(center - (center - view[0]) * factor, center + (view[1] - center) * factor);
  }
  const pan = share => {
    const by = (view[1] - view[0]) * share, to = Math.min(Math.max(-view[0], by), SPAN - view[1]);
    look(view[0] + to, view[1] + to);
  };
  /** Where the pointer is over the lanes; null if it is elsewhere. */
  let pointerX = null;
  const actions = {
    all: () => look(0, SPAN), typical: () => { look(...data.typical); if (data.typical_gap) select(...data.typical_gap, 'gap'); },
    in: () => zoom(0.5, pointerX ?? undefined), out: () => zoom(2, pointerX ?? undefined),
    left: () => pan(-0.2), right: () => pan(0.2),
    fit: () => { if (selected) look(...around(selected)); },
    chain: () => {
      if (!selected || !selected.chain) return;
      const stages = stagesOf(selected.chain), from = stages[0].from, to = Math.max(...stages.map(stage => stage.to));
      // The names of the rows stay clear of it.
      const pixel = (to - from) / Math.max(100, width() - 90);
      look(from - 70 * pixel, to + 20 * pixel);
    },
    shown: () => select(view[0], view[1], 'what is shown'),
    middle: selectMiddle, clear: () => select(),
    next: () => step(1), previous: () => step(-1), find: () => { byId('find').focus(); byId('find').select(); },
  };
  const keys = {
    ArrowLeft: 'left', ArrowRight: 'right', '+': 'in', '=': 'in', '-': 'out', 0: 'all', Home: 'all',
    w: 'in', s: 'out', a: 'left', d: 'right', f: 'fit', m: 'shown', n: 'next', N: 'previous', Enter: 'middle', Escape: 'clear',
  };
  const box = byId('timeline-box');

  for (const button of document.querySelectorAll('[data-do]')) {
    button.addEventListener('click', () => { actions[button.dataset.do](); readCentre(); });
  }
  document.addEventListener('keydown', event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const on = event.target, isFree = on === document.body, isInside = box.contains(on);
    if (on.matches('input, textarea, select')) return;
    // A key for the timeline must be meant for it: the timeline has the focus, or the pointer is over it.
    let action = null;
    if (event.key === '/') action = isFree || isInside ? 'find' : null;
    else if (on === canvas || (isFree && pointerX !== null)) action = keys[event.key];
    else if (isInside && event.key !== 'Enter') action = keys[event.key];
    if (!action) return;
    event.preventDefault();
    actions[action]();
    if (action !== 'find') readCentre();
  });
  canvas.addEventListener('wheel', event => {
    const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (!sideways && !event.ctrlKey && !event.metaKey && document.activeElement !== canvas) return;
    event.preventDefault();
    const unit = event.deltaMode === 1 ? 16 : 1;
    if (sideways) pan(event.deltaX * unit / width());
    else zoom(Math.exp(Math.max(-300, Math.min(300, event.deltaY * unit)) * 0.003), event.offsetX);
  }, { passive: false });

  // A mouse selects, and moves with Shift or its middle button. Fingers move and zoom, and select what they tap. Both drag
  // in the overview.
  const fingers = new Map();
  let dragging = null;
  const place = event => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const windowNs = x => Math.min(SPAN, Math.max(0, x / width() * SPAN));
  const inWindow = x => Math.min(SPAN, Math.max(0, nsOf(x)));
  const isOverview = y => y < OVERVIEW + 4;

  /** Returns what a drag that begins in the overview does: moves the view or one of its edges, or brushes a new one. */
  function overviewDrag(x) {
    const [left, right] = overviewBox(), isAll = view[0] <= 0 && view[1] >= SPAN;
    if (!isAll && Math.abs(x - left) < 6) return { kind: 'brush', anchor: view[1] };
    if (!isAll && Math.abs(x - right) < 6) return { kind: 'brush', anchor: view[0] };
    if (!isAll && x > left && x < right) return { kind: 'move', grip: windowNs(x) - view[0] };
    return { kind: 'brush', anchor: windowNs(x), isNew: true };
  }

  canvas.addEventListener('pointerdown', event => {
    const [x, y] = place(event);
    fingers.set(event.pointerId, x);
    if (event.isTrusted) canvas.setPointerCapture(event.pointerId);
    if (event.button === 1) event.preventDefault();
    if (fingers.size > 1) dragging = null;
    else if (isOverview(y)) dragging = { ...overviewDrag(x), x };
    else if (event.pointerType === 'touch') dragging = { kind: 'tap', x };
    else if (event.button === 0 && !event.shiftKey) dragging = { kind: 'select', x, y };
  });
  canvas.addEventListener('pointermove', event => {
    const [x, y] = place(event), before = fingers.get(event.pointerId);
    pointerX = isOverview(y) ? null : x;
    if (before === undefined) {
      canvas.style.cursor = isOverview(y) ? { move: 'grab', brush: 'col-resize' }[overviewDrag(x).kind] : '';
      hover(x, y);
      return;
    }
    fingers.set(event.pointerId, x);
    tip.hidden = true;
    if (dragging && dragging.kind !== 'tap') drag(x);
    else if (fingers.size === 1) {
      pan((before - x) / width());
      if (dragging && Math.abs(x - dragging.x) >= 4) dragging = null;
    } else {
      const [other] = [...fingers].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
      const apart = Math.abs(x - other), was = Math.abs(before - other);
      if (apart > 5 && was > 5) zoom(was / apart, other);
    }
  });

  function drag(x) {
    const isFar = dragging.isFar ||= Math.abs(x - dragging.x) >= 4;
    if (!isFar) return;
    if (dragging.kind === 'select') {
      const ends = [inWindow(dragging.x), inWindow(x)].sort((a, b) => a - b);
      select(Math.round(ends[0]), Math.round(ends[1]));
    } else if (dragging.kind === 'move') {
      const from = windowNs(x) - dragging.grip;
      look(from, from + view[1] - view[0]);
    } else {
      const ends = [dragging.anchor, windowNs(x)].sort((a, b) => a - b);
      look(...ends);
    }
  }

  for (const end of ['pointerup', 'pointercancel']) {
    canvas.addEventListener(end, event => {
      const [x, y] = place(event);
      fingers.delete(event.pointerId);
      if (event.pointerType === 'touch') hover(x, y);
      if (dragging && !dragging.isFar && end === 'pointerup') click(x, y);
      if (dragging && !isOverview(y)) keep();
      dragging = null;
    });
  }
  canvas.addEventListener('pointerleave', () => { tip.hidden = true; pointerX = null; });

  /** Moves the view to a place in the overview, or selects the item of a lane. */
  function click(x, y) {
    if (isOverview(y)) {
      const half = (view[1] - view[0]) / 2;
      if (dragging.isNew) look(windowNs(x) - half, windowNs(x) + half);
      return;
    }
    const row = rowAt(y), item = row && itemAt(row, x, y);
    if (row && row.kind === 'chain') return;
    if (item) select(...item); else select();
  }

  // ---- Selecting.

  const rowAt = y => layout.find(one => one.kind !== 'overview' && y >= one.top - 16 && y < one.top + one.height);

  /** Returns the item of a row at a place: from, to, and its name; null if there is none. */
  function itemAt(row, x, y) {
    const ns = nsOf(x), pixel = (view[1] - view[0]) / width();
    let series, name;
    if (row.kind === 'chain') return null;
    if (row.kind === 'held') {
      const rows = held[row.lane].series;
      series = rows[y === undefined ? 0 : Math.max(0, Math.min(rows.length - 1, Math.floor((y - row.top) / HELD)))];
      name = at => heldName(series, at);
    } else {
      if (!isExact(view)) return null;
      series = row.kind === 'causes' ? gaps : lanes[row.lane];
      name = at => row.kind === 'causes' ? 'gap' : row.lane === OTHERS ? 'other processes' : nameOf(series.name[at]);
    }
    const { best } = nearest(series, ns, 4 * pixel);
    return best < 0 ? null : [series.start[best], series.end[best], name(best)];
  }

  function selectMiddle() {
    for (const row of layout.filter(one => one.label)) {
      const item = itemAt(row, width() / 2);
      if (item) { select(...item); return; }
    }
  }

  /** Returns what happened in a part of the window, to the nanosecond. Where there are only buckets, it is rounded out to them. */
  function sums(from, to) {
    const idleNs = new Array(CAUSES).fill(0), kernels = new Map();
    let intervals = 0;
    const add = (name, ns, many) => {
      const [sum, number] = kernels.get(name) || [0, 0];
      kernels.set(name, [sum + ns, many === null ? null : number + many]);
    };
    const isInFull = isExact([from, to]);
    if (isInFull) {
      for (let at = firstPast(idle, from); at < idle.start.length && idle.start[at] < to; at++) {
        idleNs[idle.cause[at]] += Math.min(idle.end[at], to) - Math.max(idle.start[at], from);
      }
      for (const series of lanes.slice(0, LANES)) {
        for (let at = firstPast(series, from); at < series.start.length && series.start[at] < to; at++) {
          const ns = Math.min(series.end[at], to) - Math.max(series.start[at], from);
          const many = Number(series.start[at] >= from);
          intervals += many;
          if (ns > 0 || many) add(nameOf(series.name[at]), Math.max(0, ns), many);
        }
      }
    } else {
      const wide = buckets.width_ns, first = Math.floor(from / wide), last = Math.ceil(to / wide);
      from = first * wide;
      to = Math.min(SPAN, last * wide);
      const sum = row => buckets.rows[row][0].subarray(first, last).reduce((all, ns) => all + ns, 0);
      data.causes.forEach((_, cause) => { idleNs[cause] = sum(buckets.idleRow + cause); });
      intervals = sum(buckets.begunRow);
      for (const all of buckets.lanes.slice(0, LANES)) {
        for (const { color, row } of all) {
          const ns = sum(row);
          if (ns) add(colorName(color), ns, null);
        }
      }
    }
    const busy = to - from - idleNs.reduce((all, ns) => all + ns, 0);
    return { from, to, ns: to - from, busy, idle: idleNs, intervals, kernels, isInFull };
  }

  const MOST_KERNELS = 6;

  /**
   * Selects a part of the window, and shows what happened in it; without arguments, selects nothing. Where there are only
   * buckets, the selection is rounded out to them, unless it is the place of something known.
   */
  function select(from, to, what, isKnown) {
    const shown = byId('selected');
    request();
    selected = from === undefined ? null : { from: Math.max(0, from), to: Math.min(SPAN, to), what, chain: chainOf(from, to) };
    shown.hidden = !selected;
    if (!selected || selected.to < selected.from) { selected = null; shown.hidden = true; return; }
    const found = sums(selected.from, selected.to);
    const isRounded = found.from !== selected.from || found.to !== selected.to;
    const head = isKnown ? { ...selected, ns: selected.to - selected.from } : found;
    if (!isKnown) Object.assign(selected, { from: found.from, to: found.to });
    shown.dataset.sums = JSON.stringify({ ns: found.ns, busy: found.busy, idle: found.idle, intervals: found.intervals });
    const share = ns => percent(found.ns ? ns / found.ns : 0);
    const entry = (words, ns, kind) => {
      const item = document.createElement('li');
      if (kind) {
        const swatch = document.createElement('i');
        swatch.className = 'swatch ' + kind;
        item.append(swatch);
      }
      const name = document.createElement('bdi');
      name.textContent = words.length > 80 ? words.slice(0, 40) + '…' + words.slice(-39) : words;
      item.append(name, ns);
      return item;
    };
    const name = document.createElement('bdi');
    name.textContent = what ? `${what}, ` : '';
    byId('selected-head').replaceChildren('Selected: ', name,
      `${time(head.ns)} (${count(head.ns)}\u00a0ns) from ${moment(head.from)}` + (!isRounded ? ''
        : isKnown ? `. Here this page has only buckets: these are the sums of ${time(found.ns)} around it` : ', rounded out to buckets'));
    const many = `${count(found.intervals)} ${found.intervals === 1 ? 'interval begins' : 'intervals begin'} in it`;
    const order = data.causes.map((cause, at) => [cause, found.idle[at]]).filter(([, ns]) => ns).sort(([, a], [, b]) => b - a);
    byId('selected-sums').replaceChildren(
      ...(found.busy || found.intervals ? [entry(`GPU busy ${time(found.busy)}, `, `${share(found.busy)}; ${many}`)] : []),
      ...order.map(([cause, ns]) => entry(causeName(cause), ` ${time(ns)}, ${share(ns)}`, cause)));
    const { chain } = selected, list = byId('selected-chain');
    list.hidden = !chain;
    byId('show-chain').hidden = !chain;
    if (chain) {
      const item = (words, kind) => {
        const shown = document.createElement('li');
        shown.textContent = words;
        shown.className = kind;
        return shown;
      };
      const isInGap = !found.busy && !found.intervals;
      list.replaceChildren(item(isInGap ? 'The command buffer after it:' : 'Its command buffer:', 'title'), ...tellStages(chain).map(words => item(words, '')),
        ...tellMissing(chain).map(words => item(words, 'faint')));
    }
    const kernels = [...found.kernels].sort(([, [a]], [, [b]]) => b - a), rest = kernels.splice(MOST_KERNELS);
    showSamples(selected, entry);
    byId('selected-kernels').replaceChildren(
      ...kernels.map(([name, [ns, many]]) => entry(name, ` ${time(ns)}` + (many === null ? '' : `, ${count(many)}×`), kernelClass(name))),
      ...(rest.length ? [entry(rest.length === 1 ? '1 more kernel' : `${count(rest.length)} more kernels`, ` ${time(rest.reduce((all, [, [ns]]) => all + ns, 0))}`)] : []));
  }

  /** Shows the functions that CPU samples found in a part of the window, if the page has all samples of it. */
  function showSamples({ from, to }, entry) {
    const list = byId('selected-cpu'), isKnown = sampled && (data.is_whole || isExact([from, to]));
    list.hidden = !isKnown;
    if (!isKnown) return;
    const functions = new Map();
    let many = 0;
    for (let at = firstPast(sampled, from - 1); at < sampled.reach.length && sampled.reach[at] < to; at++) {
      if (sampled.reach[at] < from) continue;
      const name = sampled.functions[at];
      functions.set(name, (functions.get(name) || 0) + 1);
      many++;
    }
    const threads = data.of_encoding ? ' of the threads that encode' : '';
    const rows = [...functions].sort(([, a], [, b]) => b - a), rest = rows.splice(MOST_KERNELS);
    const head = document.createElement('li');
    head.className = many ? 'title' : 'faint';
    head.textContent = many ? `${count(many)} CPU ${many === 1 ? 'sample' : 'samples'}${threads}:` : `No CPU sample${threads} lies in it.`;
    list.replaceChildren(head,
      ...rows.map(([name, number]) => entry(name ? nameOf(name - 1) : 'without a call stack', `, ${count(number)}×`)),
      ...(rest.length ? [entry(rest.length === 1 ? '1 more function' : `${count(rest.length)} more functions`, `, ${count(rest.reduce((all, [, number]) => all + number, 0))}×`)] : []));
  }

  const kernelClass = name => {
    const color = data.colored.findIndex(number => number && nameOf(number) === name);
    return `kernel-${color < 0 ? OWN : color}`;
  };
  const causeName = cause => data.labels[data.causes.indexOf(cause)];

  /** Returns a view of a part of the window, with as much again on each side. */
  const around = ({ from, to }) => [from - (to - from), to + (to - from)];

  // ---- Going to what the page names.

  /** Selects what begins at a moment of the recording, and moves the timeline there. */
  async function go(moment, long) {
    const at = moment - data.start_ns;
    await unpackFor([at, Math.min(SPAN, at + Math.max(1, long || 0))]);
    const exactly = series => {
      for (let one = firstPast(series, at - 1); one < series.start.length && series.start[one] <= at; one++) {
        if (series.start[one] === at) return one;
      }
      return -1;
    };
    const gap = exactly(gaps), kernels = lanes.slice(0, LANES).map(series => [series, exactly(series)]);
    const [series, found] = kernels.find(([, one]) => one >= 0) || [];
    if (gap >= 0) select(at, gaps.end[gap], 'gap');
    else if (series) select(at, series.end[found], nameOf(series.name[found]));
    else select(at, at + (long || 0), '', true);
    const isNarrow = !selected || selected.to <= selected.from, wide = isNarrow ? SPAN / 200 : selected.to - selected.from;
    const least = isExact([at, at]) ? 0 : 10 * buckets.width_ns;
    if (wide < least || isNarrow) look(at - Math.max(wide, least), at + Math.max(wide, least));
    else look(...around(selected));
    show();
  }

  /** Scrolls to the timeline, so that its keys work. */
  function show() {
    stage.scrollIntoView({ block: 'center' });
    canvas.focus({ preventScroll: true });
    readCentre();
  }

  /** Makes the selection the address of the page, so that its link leads others there. */
  function keep() {
    if (!selected) return;
    kept = `#at-${selected.from + data.start_ns}-${selected.to - selected.from}`;
    location.hash = kept;
  }
  /** The address of what somebody selected, where nothing has to move. */
  let kept = '';

  function follow() {
    const place = /^#at-(\d+)(?:-(\d+))?$/.exec(location.hash);
    if (place) { go(Number(place[1]), Number(place[2] || 0)); return; }
    const target = location.hash.length > 1 && byId(location.hash.slice(1));
    if (target && target.matches('details')) target.open = true;
  }

  for (const place of document.querySelectorAll('.at')) {
    const link = document.createElement('a'), long = place.dataset.ns;
    link.href = `#at-${place.dataset.at}` + (long ? `-${long}` : '');
    link.className = 'at';
    link.title = 'Show it in the timeline';
    link.textContent = place.textContent;
    // The address may be the same as before.
    link.addEventListener('click', () => { if (location.hash === link.hash) follow(); });
    place.replaceWith(link);
  }
  addEventListener('hashchange', () => { if (location.hash !== kept) follow(); });

  // ---- Searching kernels.

  const find = byId('find');
  let matches = [], matchAt = -1;

  /** Returns the intervals of some kernels in the order of time: lane and index. */
  function intervalsOf(names) {
    const found = [];
    lanes.slice(0, LANES).forEach((series, lane) => series.name.forEach((name, at) => { if (names.has(name)) found.push([lane, at]); }));
    const start = ([lane, at]) => lanes[lane].start[at];
    return found.sort((a, b) => start(a) - start(b));
  }

  /** Lets the intervals of some kernels stand out, and counts them. */
  function search(names) {
    marked = names;
    matches = names ? intervalsOf(names) : [];
    matchAt = -1;
    tellFound();
    request();
  }
  function tellFound() {
    const where = data.is_whole ? '' : ` in the ${time(full[1] - full[0])} around`;
    byId('found').textContent = !marked ? '' : !matches.length ? 'none' + where
      : matchAt < 0 ? `${count(matches.length)} found${where}` : `${count(matchAt + 1)} of ${count(matches.length)}${where}`;
  }
  /** Returns the names, by number, that contain a text; null for an empty text. */
  function namesWith(words) {
    const text = words.trim().toLowerCase();
    const has = (name, at) => at > 0 && name.toLowerCase().includes(text) ? at : -1;
    return text ? new Set(data.names.map(has).filter(at => at > 0)) : null;
  }

  /** Goes to the next match, or the previous one. The first is the one nearest to the middle of the view. */
  function step(by) {
    if (!matches.length) return;
    const startOf = ([lane, at]) => lanes[lane].start[at];
    if (matchAt < 0) {
      const after = matches.findIndex(one => startOf(one) >= view[0]);
      matchAt = after < 0 ? 0 : after;
    } else {
      matchAt = (matchAt + by + matches.length) % matches.length;
    }
    const [lane, at] = matches[matchAt], series = lanes[lane];
    select(series.start[at], series.end[at], nameOf(series.name[at]));
    // The zoom stays if the interval is wide enough to be seen.
    const wide = view[1] - view[0], long = series.end[at] - series.start[at], middle = (series.start[at] + series.end[at]) / 2;
    if (long * width() < 3 * wide || long > wide) look(...around(selected));
    else look(middle - wide / 2, middle + wide / 2);
    tellFound();
    readCentre();
  }
  find.addEventListener('input', () => search(namesWith(find.value)));
  find.addEventListener('keydown', event => {
    if (event.key === 'Enter') { event.preventDefault(); step(event.shiftKey ? -1 : 1); }
    if (event.key === 'Escape') { find.value = ''; search(null); canvas.focus(); }
  });

  const numbers = new Map(data.names.map((name, at) => [name, at]));
  for (const cell of document.querySelectorAll('.kernel')) {
    const name = cell.querySelector('bdi'), row = cell.closest('tr');
    const names = new Set([numbers.get(name.textContent) ?? -1]);
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'jump';
    button.title = 'Show the next one in the timeline';
    button.append(...cell.childNodes);
    cell.replaceChildren(button);
    let before = null;
    const isOnly = () => marked && marked.size === 1 && names.has([...marked][0]);
    button.addEventListener('click', () => {
      if (find.value !== name.textContent || !matches.length) {
        find.value = name.textContent;
        search(names);
        before = names;
      }
      step(1);
      show();
    });
    if (cell.tagName !== 'TH') continue;
    row.addEventListener('pointerenter', () => { before = marked; marked = names; request(); });
    row.addEventListener('pointerleave', () => { if (isOnly()) { marked = before; request(); } });
  }

  // ---- The item under the pointer, or in the middle.

  /** Returns the item nearest to a time, and the number of items in the same pixels. */
  function nearest(series, ns, reach) {
    let best = -1, distance = Infinity, many = 0;
    for (let at = firstPast(series, ns - reach); at < series.start.length && series.start[at] <= ns + reach; at++) {
      const away = Math.max(0, series.start[at] - ns, ns - series.end[at] + 1e-9);
      if (away > reach) continue;
      many++;
      if (away <= distance) { best = at; distance = away; }
    }
    return { best, many };
  }

  function describe(row, x, y) {
    const ns = nsOf(x), pixel = (view[1] - view[0]) / width();
    if (row.kind === 'held') return describeHeld(row, ns, pixel, y);
    if (row.kind === 'chain') {
      const chain = selected && selected.chain;
      return chain && { title: 'command buffer', lines: [...tellStages(chain), ...tellMissing(chain)] };
    }
    if (!isExact(view)) return describeBucket(row, ns);
    const series = row.kind === 'causes' ? gaps : lanes[row.lane];
    const { best, many } = nearest(series, ns, 4 * pixel);
    if (best < 0) return null;
    const start = series.start[best], long = series.end[best] - start;
    const lines = [`${time(long)} (${count(long)}\u00a0ns), from ${moment(start)}`];
    if (many > 1) lines.push(`the nearest of ${count(many)} here`);
    if (row.kind !== 'causes') {
      return { title: row.lane === OTHERS ? 'other processes' : nameOf(series.name[best]), lines };
    }
    const parts = gaps.parts[best], name = number => number ? nameOf(number - 1) : null;
    const here = nearest(idle, ns, 0).best;
    if (here >= 0 && idle.start[here] >= start && parts.filter(Boolean).length > 1) {
      const part = idle.end[here] - idle.start[here];
      lines.push(`here: ${data.labels[idle.cause[here]]}, ${time(part)} (${count(part)}\u00a0ns)`);
    }
    data.causes.forEach((cause, at) => {
      if (parts[at]) lines.push(`${causeName(cause)} ${time(parts[at])}, ${percent(parts[at] / long)}`);
    });
    lines.push(`between ${name(gaps.before[best]) || 'the start'} and ${name(gaps.after[best]) || 'the end'}`);
    return { title: 'gap: mostly ' + data.labels[parts.indexOf(Math.max(...parts))], lines };
  }

  /** Returns the state in the row under the pointer; without a pointer, in the lowest row that has one. */
  function describeHeld(row, ns, pixel, y) {
    const { series, covered } = held[row.lane];
    const rows = y === undefined ? series.map((_, at) => at).reverse()
      : [Math.max(0, Math.min(series.length - 1, Math.floor((y - row.top) / HELD)))];
    for (const at of rows) {
      const all = series[at], { best, many } = nearest(all, ns, y === undefined ? 0 : 3 * pixel);
      if (best < 0) continue;
      const long = all.end[best] - all.start[best];
      const lines = [`${time(long)} (${count(long)}\u00a0ns), from ${moment(all.start[best])}`];
      if (many > 1) lines.push(`the nearest of ${count(many)} here`);
      return { title: heldName(all, best), lines };
    }
    const at = covered ? Math.floor(ns / covered.width_ns) : -1;
    const sum = at < 0 ? 0 : [...covered.shades.values()].reduce((sum, values) => sum + (values[at] || 0), 0);
    if (!sum) return null;
    const long = Math.min(covered.width_ns, SPAN - at * covered.width_ns);
    return { title: row.label, lines: [
      `held for ${percent(sum / long)} of ${time(long)} from ${moment(at * covered.width_ns)}`,
      'this page names only the longest of them',
    ] };
  }

  function describeBucket(row, ns) {
    const bucket = buckets.width_ns, pixel = (view[1] - view[0]) / width();
    let level = 0, wide = bucket;
    while (wide * 2 <= pixel) { level++; wide *= 2; }
    const of = which => {
      const levels = buckets.rows[which], at = Math.min(level, levels.length - 1);
      return levels[at][Math.floor(ns / (bucket * 2 ** at))] || 0;
    };
    const colored = row.kind === 'causes' ? [] : buckets.lanes[row.lane].map(one => [one.color, of(one.row)]);
    const busy = colored.reduce((sum, [, ns]) => sum + ns, 0);
    const start = Math.floor(ns / wide) * wide, long = Math.min(wide, SPAN - start);
    const lines = [`${time(long)} from ${moment(start)}`];
    if (row.kind !== 'causes') {
      lines.unshift(`busy ${percent(busy / long)}: ${time(busy)}`);
      if (row.lane !== OTHERS) {
        for (const [color, ns] of colored) if (ns) lines.push(`${colorName(color)} ${time(ns)}, ${percent(ns / busy)}`);
      }
      return { title: 'bucket, ' + row.label, lines };
    }
    data.causes.forEach((cause, at) => {
      const idle = of(buckets.idleRow + at);
      if (idle) lines.push(`${causeName(cause)} ${time(idle)}, ${percent(idle / long)}`);
    });
    return { title: 'bucket, idle', lines };
  }

  function hover(x, y) {
    const row = rowAt(y), found = row && describe(row, x, y);
    tip.hidden = !found;
    if (!found) return;
    const title = document.createElement('b'), name = document.createElement('bdi');
    name.textContent = found.title;
    title.append(name);
    tip.replaceChildren(title, ...found.lines.map(line => {
      const shown = document.createElement('div');
      shown.textContent = line;
      return shown;
    }));
    const left = x + 14 + tip.offsetWidth > width() ? x - 14 - tip.offsetWidth : x + 14;
    tip.style.left = Math.max(0, Math.min(left, width() - tip.offsetWidth)) + 'px';
    tip.style.top = y + 14 + 'px';
  }

  /** Describes the item in the middle as text, for readers without a pointer. */
  function readCentre() {
    const found = layout.filter(row => row.label).map(row => {
      const one = describe(row, width() / 2);
      return one && `${row.label}: ${one.title}, ${one.lines.join(', ')}`;
    });
    byId('readout').textContent = 'In the middle: ' + (found.filter(Boolean).join('; ') || 'nothing') + '.';
  }

  /** Makes each cause in the legend a button that selects its longest times, one after the other. */
  function linkCauses() {
    for (const key of document.querySelectorAll('#causes .key, #idle-table .cause')) {
      const cause = data.causes.indexOf(key.firstElementChild.classList[1]), button = document.createElement('button');
      if (!idle.cause.includes(cause)) continue;
      let longest = [], of = null, next = 0;
      button.type = 'button';
      button.className = 'jump';
      button.title = 'Select the longest, then the next' + (data.is_whole ? '' : ', of those around');
      button.textContent = key.textContent;
      button.addEventListener('click', () => {
        if (of !== full) {
          const length = at => idle.end[at] - idle.start[at];
          longest = [...idle.cause.keys()].filter(at => idle.cause[at] === cause).sort((a, b) => length(b) - length(a));
          [of, next] = [full, 0];
        }
        if (!longest.length) return;
        const place = next++ % longest.length, at = longest[place];
        select(idle.start[at], idle.end[at], `${data.labels[cause]} (number ${count(place + 1)} of ${count(longest.length)}${data.is_whole ? '' : ' here'} by length)`);
        look(...around(selected));
        if (key.tagName === 'TH') show();
      });
      key.lastChild.replaceWith(button);
    }
  }

  /** Adds the states to the legend, with names if each state has a shade of its own. */
  function explainHeld() {
    const explained = new Set(), legend = document.createElement('p'), title = document.createElement('b');
    title.textContent = 'Other lanes:';
    legend.className = 'legend';
    legend.append(title);
    (byId('causes') || byId('legend')).after(legend);
    for (const { label, kind, series, count: here, of } of held) {
      const names = new Map();
      for (const all of series) all.name.forEach((name, at) => names.set(nameOf(name), all.shade[at]));
      const own = new Set(names.values()).size === names.size;
      const wordsOf = name => kind === 'counter' ? `${name} of the peak` : `${kind} ${name}`;
      const shown = own ? [...names].map(([name, shade]) => [wordsOf(name), shade]) : [[label, 0]];
      for (const [words, shade] of shown.sort(([, a], [, b]) => a - b)) {
        // Several counters have the same shades.
        if (explained.has(words)) continue;
        explained.add(words);
        const key = document.createElement('span'), swatch = document.createElement('i'), name = document.createElement('bdi');
        key.className = 'key';
        swatch.className = `swatch ${kind}-${shade}`;
        name.textContent = words.length > 40 ? words.slice(0, 39) + '…' : words;
        key.append(swatch, name);
        legend.append(key);
      }
      if (here < of) {
        const note = document.createElement('p');
        note.className = 'faint';
        note.textContent = `Of ${count(of)} ${kind}s, the ${count(here)} longest that fit are drawn one by one; together, all are drawn as shares of time.`;
        legend.after(note);
      }
    }
    legend.hidden = !explained.size;
  }

  // ---- Start, printing, and the page's self-test.

  const refresh = () => { readColors(); resize(); };
  explainHeld();
  linkCauses();
  refresh();
  addEventListener('resize', resize);
  for (const query of ['(prefers-color-scheme: dark)', 'print']) {
    matchMedia(query).addEventListener('change', refresh);
  }

  addEventListener('beforeprint', () => {
    for (const one of document.querySelectorAll('details')) one.open = true;
  });

  /** With #selftest in its address the page simulates a user, and writes the results into itself. */
  async function selfTest() {
    const results = { errors }, wide = () => view[1] - view[0];
    const pointer = (x, y) => {
      const box = canvas.getBoundingClientRect();
      canvas.dispatchEvent(new PointerEvent('pointermove', { clientX: box.left + x, clientY: box.top + y, pointerId: 1 }));
      return tip.hidden ? null : tip.textContent;
    };
    const press = key => canvas.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
    const turn = deltaY => canvas.dispatchEvent(new WheelEvent('wheel', { deltaY, ctrlKey: true, cancelable: true }));
    const mode = () => { draw(); return byId('state').dataset.mode; };
    const painted = () => new Set(paper.getImageData(0, 0, canvas.width, canvas.height).data.map((_, at, all) => at % 4 ? 0 : all[at])).size;
    results.span_ns = SPAN;
    const began = performance.now();
    for (let n = 0; n < 10; n++) draw();
    results.draw_ms = (performance.now() - began) / 10;
    const chosen = performance.now();
    for (let n = 0; n < 10; n++) select(0, SPAN);
    results.select_ms = (performance.now() - chosen) / 10;
    select();
    results.mode = mode();
    results.shades = painted();
    results.bucket_hover = results.mode === 'buckets' ? pointer(width() / 2, layout[1].top + 5) : null;
    turn(-200);
    results.wheeled_ns = wide();
    press('+');
    results.zoomed_ns = wide();
    const from = view[0];
    press('ArrowRight');
    results.moved_ns = view[0] - from;
    results.readout = byId('readout').textContent;
    press('0');
    results.reset_ns = wide();
    const row = layout.find(one => one.kind === 'lane' && one.lane !== OTHERS && lanes[one.lane].start.length);
    if (row) {
      const series = lanes[row.lane], at = series.start.length >> 1;
      const long = series.end[at] - series.start[at];
      look(series.start[at] - 2 * long, series.end[at] + 2 * long);
      results.exact = mode();
      results.kernel = nameOf(series.name[at]);
      results.duration_ns = long;
      results.hover = pointer(xOf((series.start[at] + series.end[at]) / 2), row.top + 5);
    }
    if (gaps.start.length) {
      const at = gaps.start.length >> 1, strip = layout.find(one => one.kind === 'causes');
      look(gaps.start[at], gaps.end[at]);
      draw();
      results.gap_ns = gaps.end[at] - gaps.start[at];
      results.gap_hover = pointer(width() / 2, strip.top + 5);
      select(gaps.start[at], gaps.end[at]);
      results.gap_stages = byId('selected-chain').textContent;
      results.gap_functions = byId('selected-cpu').textContent;
      select();
    }
    results.held = layout.filter(one => one.kind === 'held').map(one => {
      const { label, series, of } = held[one.lane], all = series[0], at = all.start.length >> 1;
      look(all.start[at], all.end[at]);
      draw();
      return { label, of, rows: series.length, name: heldName(all, at), ns: all.end[at] - all.start[at],
        hover: pointer(width() / 2, one.top + 5) };
    });
    const table = byId('kernels-table');
    const column = () => [...table.tBodies[0].rows].map(one => Number(one.cells[2].dataset.v));
    const button = table.tHead.rows[0].cells[2].querySelector('button');
    button.click();
    results.descending = column();
    button.click();
    results.ascending = column();
    results.sort = button.closest('th').getAttribute('aria-sort');
    await testUse(results, press);
    actions.all();
    select();
    draw();
    results.picture = byId('picture').hidden && byId('picture').querySelectorAll('svg title').length;
    const page = document.documentElement;
    results.overflow = page.scrollWidth - page.clientWidth;
    page.dataset.selftest = JSON.stringify(results);
  }
  /** Goes where links lead, selects, drags, and searches, as a user does. */
  async function testUse(results, press) {
    const wait = () => new Promise(done => setTimeout(done, 20)), sumsShown = () => JSON.parse(byId('selected').dataset.sums);
    const drag = (from, to, y, options) => {
      const box = canvas.getBoundingClientRect();
      const send = (kind, x) => canvas.dispatchEvent(new PointerEvent(kind, {
        clientX: box.left + x, clientY: box.top + y, pointerId: 7, pointerType: 'mouse', bubbles: true, cancelable: true, ...options }));
      send('pointerdown', from);
      send('pointermove', (from + to) / 2);
      send('pointermove', to);
      send('pointerup', to);
    };
    results.links = [];
    for (const link of [...document.querySelectorAll('#findings a.at, #longest-gaps a.at')].slice(0, 30)) {
      actions.all();
      select();
      const [, at] = /^#at-(\d+)/.exec(link.hash);
      link.click();
      await here;
      await wait();
      results.links.push({
        section: link.closest('section').id, at_ns: Number(at), text: link.textContent, view: [...view],
        selected: selected && [selected.from, selected.to], has_focus: document.activeElement === canvas, is_exact: isExact(view),
      });
    }
    const wide = () => view[1] - view[0];
    actions.all();
    results.keys = ['w', 'w', 'd', 's', 'a', 'W', 'f', '0'].map(key => { press(key); return [key, ...view]; });
    press('m');
    results.all_sums = { ...sumsShown(), text: byId('selected').textContent };
    press('Escape');
    results.cleared = byId('selected').hidden;
    look(SPAN * 0.4, SPAN * 0.6);
    drag(width() * 0.25, width() * 0.75, layout[1].top + 5);
    results.dragged = { ...sumsShown(), from: selected.from, to: selected.to, view: [...view] };
    const before = view[0];
    drag(200, 100, layout[1].top + 5, { shiftKey: true });
    results.shift_moved = (view[0] - before) / wide() * width();
    const gap = gaps.start.length >> 1, strip = layout.find(one => one.kind === 'causes');
    look(gaps.start[gap], gaps.end[gap]);
    select();
    drag(width() / 2, width() / 2 + 1, strip.top + 5, { pointerType: 'touch' });
    results.tapped = selected && selected.what;
    actions.all();
    drag(width() * 0.25, width() * 0.5, 10);
    results.brushed = view.map(ns => ns / SPAN);
    drag(width() * 0.375, width() * 0.625, 10);
    results.strip_moved = view.map(ns => ns / SPAN);
    canvas.dispatchEvent(new KeyboardEvent('keydown', { key: '/', bubbles: true, cancelable: true }));
    results.find_has_focus = document.activeElement === find;
    const jump = document.querySelector('#kernels-table tbody .jump'), name = jump.querySelector('bdi').textContent;
    find.value = name.toUpperCase();
    find.dispatchEvent(new Event('input'));
    const enter = () => find.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }));
    results.search = { name, all: byId('found').textContent, full, found: [] };
    for (let n = 0; n < 2 && matches.length; n++) {
      enter();
      results.search.found.push([selected.from, selected.to, selected.what, byId('found').textContent]);
    }
    find.value = '';
    search(null);
    jump.closest('tr').dispatchEvent(new PointerEvent('pointerenter'));
    results.hovered = marked && [...marked].map(nameOf);
    jump.closest('tr').dispatchEvent(new PointerEvent('pointerleave'));
    results.unhovered = marked === null;
    jump.click();
    results.jumped = selected && selected.what;
    results.kernel_colors = [...document.querySelectorAll('#kernels-table tbody .swatch')].slice(0, 8).map(one => one.className);
  }
  if (location.hash === '#selftest') addEventListener('load', selfTest);
  if (!location.hash || location.hash === '#typical') addEventListener('load', actions.typical);
  else addEventListener('load', follow);
})();
