'use strict';
// Has the server's code see another operating system.
try {
  const system = '@SYSTEM@';
  const os = require('node:os');
  Object.defineProperty(process, 'platform', { value: system, enumerable: true, configurable: true, writable: false });
  os.platform = () => system;
  os.type = () => (system === 'win32' ? 'Windows_NT' : 'Darwin');
  require('node:module').syncBuiltinESMExports();
} catch {
  // The server runs all the same.
}
