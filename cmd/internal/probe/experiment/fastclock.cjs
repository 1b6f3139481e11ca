'use strict';
// Makes time pass faster in Node.js: clocks and timers.
try {
  // Of each stretch of time its first millisecond, its rate, and the faster clock's millisecond then:
  // ten minutes a second for five seconds, then eight days in a second and a half.
  const pace = [[0, 600, 0], [5000, 460800, 3000e3], [6500, 600, 694200e3]];
  const stretch = (column, value) => pace.filter((p) => p[column] <= value).pop();
  const shown = (elapsed) => {
    const [begin, rate, before] = stretch(0, elapsed);
    return before + (elapsed - begin) * rate;
  };
  const real = (moment) => {
    const [begin, rate, before] = stretch(2, moment);
    return begin + (moment - before) / rate;
  };
  const clock = performance.now.bind(performance);
  const born = clock();
  const shortest = 5; // What polls often keeps a pace that a machine bears.
  const shorter = (ms) => {
    if (!(ms > shortest)) return ms;
    const now = clock() - born;
    return Math.max(real(shown(now) + Number(ms)) - now, shortest);
  };
  const timers = require('node:timers');
  const promises = require('node:timers/promises');
  const { promisify } = require('node:util');

  for (const name of ['setTimeout', 'setInterval']) {
    const real = timers[name];
    const later = promises[name];
    promises[name] = (ms, ...more) => later(shorter(ms), ...more);
    const faster = function (callback, ms, ...more) { return real.call(this, callback, shorter(ms), ...more); };
    if (real[promisify.custom]) faster[promisify.custom] = promises[name];
    timers[name] = faster;
    globalThis[name] = faster;
  }
  const { scheduler } = promises;
  scheduler.wait = (ms, options) => promises.setTimeout(ms, undefined, options);

  const since = (of) => { const start = of(); return () => start + shown(Math.max(of() - start, 0)); };
  const RealDate = Date;
  const now = since(RealDate.now);
  RealDate.now = () => Math.floor(now());
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, given, made) => Reflect.construct(target, given.length ? given : [RealDate.now()], made),
    apply: () => new RealDate(RealDate.now()).toString(),
  });
  const elapsed = since(performance.now.bind(performance));
  performance.now = () => elapsed();
  require('node:module').syncBuiltinESMExports();
} catch {
  // The server runs all the same.
}
