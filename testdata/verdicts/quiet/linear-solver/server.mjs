#!/usr/bin/env node
// linear-solver: equations, inverses, least squares and small linear programmes. The arithmetic runs in a worker thread, so that
// a large problem can be given up after five seconds.
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { fileURLToPath } from 'node:url';

const EPSILON = 1e-11;
const transpose = (m) => m[0].map((_, j) => m.map((row) => row[j]));
const multiply = (a, b) => a.map((row) => b[0].map((_, j) => row.reduce((sum, v, k) => sum + v * b[k][j], 0)));

// eliminate brings a | b into reduced form by Gauss and Jordan with row pivots, and returns the determinant beside it.
function eliminate(a, b) {
  const m = a.map((row, i) => [...row, ...b[i]]);
  const n = a.length;
  let determinant = 1;
  for (let c = 0; c < n; c++) {
    let pivot = c;
    for (let r = c + 1; r < n; r++) if (Math.abs(m[r][c]) > Math.abs(m[pivot][c])) pivot = r;
    if (Math.abs(m[pivot][c]) < EPSILON) return { determinant: 0 };
    if (pivot !== c) { [m[c], m[pivot]] = [m[pivot], m[c]]; determinant = -determinant; }
    const head = m[c][c];
    determinant *= head;
    m[c] = m[c].map((v) => v / head);
    for (let r = 0; r < n; r++) if (r !== c && m[r][c] !== 0) { const f = m[r][c]; m[r] = m[r].map((v, k) => v - f * m[c][k]); }
  }
  return { determinant, rest: m.map((row) => row.slice(n)) };
}

const jobs = {
  solve({ matrix, right }) {
    const { rest } = eliminate(matrix, right.map((v) => [v]));
    return rest ? { x: rest.map(([v]) => v) } : { message: 'The matrix is singular: there is no solution, or more than one.' };
  },
  invert({ matrix }) {
    const { determinant, rest } = eliminate(matrix, matrix.map((_, i) => matrix.map((__, j) => (i === j ? 1 : 0))));
    return rest ? { determinant, inverse: rest } : { determinant: 0, message: 'The matrix is singular.' };
  },
  least_squares({ matrix, right }) {
    const t = transpose(matrix);
    const { rest } = eliminate(multiply(t, matrix), multiply(t, right.map((v) => [v])));
    if (!rest) return { message: 'The columns depend on each other.' };
    const x = rest.map(([v]) => v);
    return { x, residual: Math.hypot(...matrix.map((row, i) => row.reduce((s, v, j) => s + v * x[j], -right[i]))) };
  },
  // maximise is the simplex method with Bland's rule for a·x ≤ b, x ≥ 0, b ≥ 0.
  maximise({ objective, matrix, right }) {
    const [n, m] = [objective.length, matrix.length];
    const rows = matrix.map((row, i) => [...row, ...matrix.map((_, j) => (i === j ? 1 : 0)), right[i]]);
    const goal = [...objective.map((v) => -v), ...Array(m).fill(0), 0];
    const basis = matrix.map((_, i) => n + i);
    for (let step = 0; step < 20000; step++) {
      const c = goal.findIndex((v, j) => j < n + m && v < -EPSILON);
      if (c < 0) return { x: objective.map((_, j) => { const i = basis.indexOf(j); return i < 0 ? 0 : rows[i].at(-1); }), value: goal.at(-1) };
      let best = -1;
      rows.forEach((row, i) => {
        if (row[c] <= EPSILON) return;
        const difference = best < 0 ? -1 : row.at(-1) / row[c] - rows[best].at(-1) / rows[best][c];
        if (difference < -EPSILON || (Math.abs(difference) <= EPSILON && basis[i] < basis[best])) best = i;
      });
      if (best < 0) return { message: 'The objective has no bound.' };
      const head = rows[best][c];
      rows[best] = rows[best].map((v) => v / head);
      for (const row of [...rows.filter((_, i) => i !== best), goal]) { const f = row[c]; if (f !== 0) row.forEach((v, k) => { row[k] = v - f * rows[best][k]; }); }
      basis[best] = c;
    }
    return { message: 'Gave up after 20000 steps.' };
  },
};

if (!isMainThread) {
  parentPort.on('message', ({ job, args }) => parentPort.postMessage(jobs[job](args)));
} else {
  const { Server } = await import('./mcp.mjs');
  const server = new Server('linear-solver', { version: '1.2.0' });
  const vector = { type: 'array', items: { type: 'number' }, minItems: 1, maxItems: 200 };
  const matrix = { type: 'array', items: vector, minItems: 1, maxItems: 200, description: 'rows', examples: [[[2, 1], [1, 3]]] };
  const right = { ...vector, description: 'the right side, a number for each row', examples: [[3, 5]] };

  const numbers = (v, what) => { if (!Array.isArray(v) || !v.length || v.length > 200 || !v.every((x) => Number.isFinite(x))) throw new Error(`${what} is a list of 1 to 200 numbers`); };
  function check({ matrix: a, right: b, objective }, square) {
    if (!a.length || a.length > 200) throw new Error('matrix has 1 to 200 rows');
    a.forEach((row, i) => { numbers(row, `row ${i + 1}`); if (row.length !== a[0].length) throw new Error(`row ${i + 1} has another length than the first`); });
    if (square && a.length !== a[0].length) throw new Error('the matrix has to be square');
    if (b) { numbers(b, 'right'); if (b.length !== a.length) throw new Error('right has a number for each row of the matrix'); }
    if (objective) { numbers(objective, 'objective'); if (objective.length !== a[0].length) throw new Error('objective has a number for each column of the matrix'); if (b.some((v) => v < 0)) throw new Error('right must not be negative'); }
  }

  const work = (job, args) => new Promise((resolve, reject) => {
    const worker = new Worker(fileURLToPath(import.meta.url), { resourceLimits: { maxOldGenerationSizeMb: 128 } });
    const timer = setTimeout(() => { worker.terminate(); reject(new Error('no solution within five seconds')); }, 5000);
    worker.once('message', (result) => { clearTimeout(timer); worker.terminate(); resolve(JSON.stringify(result, (_, v) => (typeof v === 'number' ? Number(v.toPrecision(12)) : v))); });
    worker.once('error', (error) => { clearTimeout(timer); reject(error); });
    worker.postMessage({ job, args });
  });

  const annotations = { readOnlyHint: true, idempotentHint: true, openWorldHint: false };
  const tool = (name, description, required, square) => server.tool(name, description, { required, annotations }, (args) => { check(args, square); return work(name, args); });
  tool('solve', 'Solves a system of linear equations with as many equations as unknowns.', { matrix, right }, true);
  tool('invert', 'Computes the inverse and the determinant of a square matrix.', { matrix }, true);
  tool('least_squares', 'Finds the best approximate solution of an overdetermined system, and the length of what remains.', { matrix, right }, false);
  tool('maximise', 'Maximises objective · x where matrix · x ≤ right and x ≥ 0, by the simplex method. The right side must not be negative.', { objective: { ...vector, examples: [[3, 2]] }, matrix, right }, false);
  server.run();
}
