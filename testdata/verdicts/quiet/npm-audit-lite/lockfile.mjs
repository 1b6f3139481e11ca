// Reads the text of a package-lock.json of version 2 or 3.
const NAME = /^(@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/i;
const VERSION = /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/;
export const LONGEST = 5_000_000;

export function packages(text) {
  if (text.length > LONGEST) throw new Error(`at most ${LONGEST} characters`);
  let lock;
  try { lock = JSON.parse(text); } catch (error) { throw new Error(`this is not JSON: ${error.message}`); }
  if (!lock || typeof lock.packages !== 'object' || lock.packages === null || Array.isArray(lock.packages)) throw new Error('this is no package-lock.json of version 2 or 3');
  const found = [];
  for (const [path, entry] of Object.entries(lock.packages)) {
    if (!path || !entry || typeof entry !== 'object' || entry.link) continue;
    const name = typeof entry.name === 'string' ? entry.name : path.slice(path.lastIndexOf('node_modules/') + 13);
    if (!path.includes('node_modules/') || !NAME.test(name) || name.length > 214 || !VERSION.test(entry.version)) continue;
    found.push({ name, version: entry.version, dev: entry.dev === true, optional: entry.optional === true, resolved: String(entry.resolved ?? ''), integrity: String(entry.integrity ?? ''), scripts: entry.hasInstallScript === true });
  }
  return found;
}

// One remark for each thing about the source of a package that deserves a look.
export function* remarks(found) {
  for (const { name, version, resolved, integrity, scripts } of found) {
    const say = (text) => ({ package: `${name}@${version}`, remark: text });
    if (resolved.startsWith('http:')) yield say('is downloaded without encryption');
    else if (/^git(\+|:)/.test(resolved)) yield say('comes from a Git repository');
    else if (resolved && !resolved.startsWith('https://registry.npmjs.org/')) yield say('does not come from registry.npmjs.org');
    if (resolved && !integrity && !/^(git|file)/.test(resolved)) yield say('has no integrity sum');
    if (/^sha1-/.test(integrity)) yield say('has only a SHA-1 sum');
    if (scripts) yield say('runs a script when it is installed');
  }
}
