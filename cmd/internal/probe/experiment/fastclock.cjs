'use strict';
// Makes time pass faster in Node.js: clocks and timers.
try {
  const rate = 600;
  const shortest = 5; // What polls often keeps a pace that a machine bears.
  const shorter = (ms) => (ms > shortest ? Math.max(ms / rate, shortest) : ms);
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

  const since = (clock) => { const start = clock(); return () => start + (clock() - start) * rate; };
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
