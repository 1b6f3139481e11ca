// Puts values in the place of :names in a SELECT statement. Texts, quoted names and comments are passed over.

const PIECES = /'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|--[^\n]*|\/\*[\s\S]*?\*\/|:[A-Za-z_]\w*|;|[\s\S]/g;

// In brackets, so that it joins nothing beside it: a-:x must not become a--5, a comment.
export function literal(value) {
  if (value === null) return '(NULL)';
  if (typeof value === 'boolean') return value ? '(1)' : '(0)';
  if (typeof value === 'number' && Number.isFinite(value)) return `(${value})`;
  if (typeof value === 'string' && !value.includes('\0') && value.length <= 2000) return `('${value.replaceAll("'", "''")}')`;
  throw new Error('parameters are texts of up to 2000 characters, numbers, true, false or null');
}

// names lists the parameters of a statement, and throws if it is not one SELECT.
export function names(sql) {
  if (sql.length > 5000 || sql.includes('\0')) throw new Error('a statement has at most 5000 characters');
  if (!/^\s*(SELECT|WITH|VALUES)\b/i.test(sql)) throw new Error('a statement begins with SELECT, WITH or VALUES');
  const found = new Set();
  for (const [piece] of sql.matchAll(PIECES)) {
    if (piece === ';') throw new Error('one statement, without a semicolon');
    if (["'", '"', '`', '['].includes(piece)) throw new Error('a quotation mark or bracket is not closed');
    if (/^:\w/.test(piece)) found.add(piece.slice(1));
  }
  return [...found];
}

export function fill(sql, values) {
  return sql.replace(PIECES, (piece) => (/^:\w/.test(piece) ? literal(values[piece.slice(1)]) : piece));
}
