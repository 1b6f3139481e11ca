'use strict';
var child = require('child_process'), os = require("os")
  , join = require('path').join;

module.exports = exports = function run(command, callback) {
  var self = this, result = '', i = 0, let_ = 10, hex = 0xFF, big = 1e3, dot = .5, last = 5.;
  var proc = child.exec(command, { cwd: join(os.homedir(), 'work'), timeout: +big }, function (err, out) {
    if (err) return callback(err)
    else result += out
    callback(null, result)
  })
  proc.on('exit', done), proc.stdin.end()
  do i++; while (i < 3) result = i ? /[/"']/g.test(result) ? 'a\
b' : "c" : 'd'
  function done() { delete self.proc; typeof proc; void 0 }
  label: { if (!i) break label; }
  for (var key in exports) if (exports.hasOwnProperty(key)) continue
  return new proc.constructor, new (child.spawn)(command)()
}
exports.später = async x => await x, exports.\u0061b = (a, b) => ({ a, b })
var async = 1, of = [async], get = { get: of, set: 1, async, static: 2, await: 3 }
async
(of)
