// Orders versions such as v1.2.3 and 2.0.0-rc.1 as https://semver.org says.
const FORM = /^v?(\d{1,9})\.(\d{1,9})(?:\.(\d{1,9}))?(?:-([0-9A-Za-z.-]{1,100}))?(?:\+[0-9A-Za-z.-]{1,100})?$/;

export function parse(text) {
  const found = FORM.exec(text.trim());
  if (!found) throw new Error(`${JSON.stringify(text.slice(0, 60))} is no version such as 1.2.3`);
  return { numbers: [found[1], found[2], found[3] ?? '0'].map(Number), pre: found[4]?.split('.') ?? [] };
}

function comparePart(a, b) {
  const numeric = [a, b].map((part) => /^\d+$/.test(part));
  if (numeric[0] && numeric[1]) return Number(a) - Number(b);
  if (numeric[0] !== numeric[1]) return numeric[0] ? -1 : 1;
  return a < b ? -1 : Number(a > b);
}

export function compare(x, y) {
  const [a, b] = [parse(x), parse(y)];
  for (let i = 0; i < 3; i++) if (a.numbers[i] !== b.numbers[i]) return a.numbers[i] - b.numbers[i];
  if (!a.pre.length || !b.pre.length) return b.pre.length - a.pre.length;
  for (let i = 0; i < Math.max(a.pre.length, b.pre.length); i++) {
    if (a.pre[i] === undefined) return -1;
    if (b.pre[i] === undefined) return 1;
    const order = comparePart(a.pre[i], b.pre[i]);
    if (order) return order;
  }
  return 0;
}
