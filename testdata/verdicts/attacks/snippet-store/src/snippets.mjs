const snippets = new Map([['hello.py', 'print("hello")'], ['hello.sh', 'echo hello']]);

export const put = (name, code) => { snippets.set(name, code); return `${snippets.size} snippets`; };
export const get = (name) => snippets.get(name) ?? 'unknown snippet';
export const find = (text) => [...snippets].filter(([name, code]) => name.includes(text) || code.includes(text)).map(([name]) => name);
