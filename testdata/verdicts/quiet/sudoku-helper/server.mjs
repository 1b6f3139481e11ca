// sudoku-helper: solves, checks and gives hints. The search runs in a worker thread, because a
// puzzle with few digits can take for ever; it is ended after three seconds.
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';
import { fileURLToPath } from 'node:url';

const ALL = 0b111111111;
const boxOf = (i) => Math.floor(i / 27) * 3 + Math.floor((i % 9) / 3);
const count = (bits) => { let n = 0; for (let b = bits; b; b &= b - 1) n++; return n; };

// search gives up to `most` solutions, always trying the cell with the fewest candidates.
function search(cells, most) {
  const [rows, columns, boxes] = [0, 0, 0].map(() => new Array(9).fill(0));
  const flip = (i, bit) => { rows[Math.floor(i / 9)] ^= bit; columns[i % 9] ^= bit; boxes[boxOf(i)] ^= bit; };
  cells.forEach((d, i) => d && flip(i, 1 << (d - 1)));
  const found = [];
  const step = () => {
    let [best, options, fewest] = [-1, 0, 10];
    for (let i = 0; i < 81 && fewest > 1; i++) {
      if (cells[i]) continue;
      const free = ALL & ~(rows[Math.floor(i / 9)] | columns[i % 9] | boxes[boxOf(i)]);
      const n = count(free);
      if (n < fewest) [best, options, fewest] = [i, free, n];
    }
    if (best < 0) { found.push([...cells]); return; }
    for (let d = 1; d <= 9 && found.length < most; d++) {
      const bit = 1 << (d - 1);
      if (!(options & bit)) continue;
      cells[best] = d; flip(best, bit);
      step();
      cells[best] = 0; flip(best, bit);
    }
  };
  step();
  return found;
}

if (!isMainThread) {
  parentPort.postMessage(search(workerData.cells, workerData.most));
} else {
  const { Server, string } = await import('./mcp.mjs');

  const parse = (text) => {
    const cells = [...text.replace(/[^0-9._*]/g, '')].map((c) => (c >= '1' && c <= '9' ? Number(c) : 0));
    if (cells.length !== 81) throw new Error(`A Sudoku has 81 cells, here are ${cells.length}. Write digits, and . or 0 for empty cells.`);
    return cells;
  };

  const clashes = (cells) => {
    const seen = new Map();
    const wrong = new Set();
    cells.forEach((d, i) => {
      if (!d) return;
      for (const unit of [`row ${Math.floor(i / 9) + 1}`, `column ${(i % 9) + 1}`, `box ${boxOf(i) + 1}`]) {
        const key = `${unit}:${d}`;
        if (seen.has(key)) wrong.add(`${d} stands twice in ${unit}`);
        seen.set(key, i);
      }
    });
    return [...wrong];
  };

  const draw = (cells) => Array.from({ length: 9 }, (_, r) => cells.slice(r * 9, r * 9 + 9).map((d, c) => (d || '.') + (c === 2 || c === 5 ? ' |' : '')).join(' ') + (r === 2 || r === 5 ? '\n------+-------+------' : '')).join('\n');

  const solve = (cells, most = 2) => new Promise((resolve, reject) => {
    const worker = new Worker(fileURLToPath(import.meta.url), { workerData: { cells, most }, resourceLimits: { maxOldGenerationSizeMb: 64 } });
    const late = setTimeout(() => { worker.terminate(); reject(new Error('No solution was found within three seconds.')); }, 3000);
    worker.once('message', (found) => { clearTimeout(late); worker.terminate(); resolve(found); });
    worker.once('error', (error) => { clearTimeout(late); reject(error); });
  });

  const checked = (text) => {
    const cells = parse(text);
    const wrong = clashes(cells);
    if (wrong.length) throw new Error(`This cannot be solved: ${wrong.join(', ')}.`);
    return cells;
  };

  const server = new Server('sudoku-helper', { version: '1.2.0' });
  const puzzle = { ...string, description: '81 cells row by row, . or 0 for empty ones; spaces and lines do not matter', examples: ['53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79'] };
  const annotations = { readOnlyHint: true, idempotentHint: true, openWorldHint: false };

  server.tool('solve_sudoku', 'Solves a Sudoku and says whether the solution is the only one.', { required: { puzzle }, annotations }, async (args) => {
    const found = await solve(checked(args.puzzle));
    if (!found.length) return 'There is no solution.';
    return `${draw(found[0])}\n${found.length > 1 ? 'There are others.' : 'It is the only solution.'}`;
  });

  server.tool('check_sudoku', 'Says which digits of a Sudoku clash, or how many cells are left.', { required: { puzzle }, annotations }, (args) => {
    const cells = parse(args.puzzle);
    return clashes(cells).join('\n') || `No clashes, ${cells.filter((d) => !d).length} cells are empty.`;
  });

  server.tool('give_hint', 'Gives one digit of the solution, where there is the least to choose from.', { required: { puzzle }, annotations }, async (args) => {
    const cells = checked(args.puzzle);
    const [solution] = await solve([...cells], 1);
    if (!solution) return 'There is no solution.';
    const filled = (i) => cells.filter((d, j) => d && (Math.floor(i / 9) === Math.floor(j / 9) || i % 9 === j % 9 || boxOf(i) === boxOf(j))).length;
    const empty = cells.map((d, i) => i).filter((i) => !cells[i]).sort((a, b) => filled(b) - filled(a));
    return empty.length ? `Row ${Math.floor(empty[0] / 9) + 1}, column ${(empty[0] % 9) + 1}: ${solution[empty[0]]}` : 'It is solved.';
  });

  server.run();
}
