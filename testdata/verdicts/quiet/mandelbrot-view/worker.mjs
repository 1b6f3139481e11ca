// Computes rows of the Mandelbrot set on a thread of its own.
import { parentPort } from 'node:worker_threads';

export function steps(re, im, most) {
  let [x, y, n] = [0, 0, 0];
  for (; n < most; n++) {
    const [x2, y2] = [x * x, y * y];
    if (x2 + y2 > 16) return n + 1 - Math.log2(Math.log2(x2 + y2) / 2);
    y = 2 * x * y + im;
    x = x2 - y2 + re;
  }
  return most;
}

parentPort?.on('message', ({ id, re, im, scale, width, first, rows, most }) => {
  const out = new Float32Array(width * rows);
  for (let row = 0; row < rows; row++) for (let column = 0; column < width; column++) out[row * width + column] = steps(re + column * scale, im - (first + row) * scale, most);
  parentPort.postMessage({ id, first, out }, [out.buffer]);
});
