// Prints what TypeScript's own parser says of sources: one line of JSON for each path
// on the standard input, with the imports, calls, definitions and constants of the file.
//
//     node typescript.cjs DIRECTORY-OF-TYPESCRIPT <PATHS
'use strict';
const fs = require('fs');
const path = require('path');
const readline = require('readline');
const ts = require(path.resolve(process.argv[2], 'lib', 'typescript.js'));
const K = ts.SyntaxKind;

// places returns a function from an offset to "line:column", where columns count bytes.
function places(file) {
  const text = file.text;
  let bytes = null;
  if (Buffer.byteLength(text) !== text.length) {
    bytes = new Uint32Array(text.length + 1);
    for (let i = 0; i < text.length; i++) {
      const c = text.charCodeAt(i);
      const surrogate = c >= 0xd800 && c < 0xe000;
      bytes[i + 1] = bytes[i] + (c < 0x80 ? 1 : c < 0x800 || surrogate ? 2 : 3);
    }
  }
  const starts = file.getLineStarts();
  return (offset) => {
    const line = ts.getLineAndCharacterOfPosition(file, offset).line;
    const from = starts[line];
    return `${line + 1}:${(bytes ? bytes[offset] - bytes[from] : offset - from) + 1}`;
  };
}

// bare removes what leaves no trace around an expression.
function bare(e) {
  while (
    ts.isParenthesizedExpression(e) || ts.isAsExpression(e) || ts.isNonNullExpression(e) ||
    ts.isSatisfiesExpression(e) || ts.isTypeAssertionExpression(e) || e.kind === K.ExpressionWithTypeArguments
  ) e = e.expression;
  return e;
}

// dotted returns a.b.c for such an expression, "" for another one.
function dotted(node) {
  const names = [];
  let e = bare(node);
  while (ts.isPropertyAccessExpression(e)) {
    names.unshift(e.name.text);
    e = bare(e.expression);
  }
  if (ts.isIdentifier(e)) names.unshift(e.text);
  else if (e.kind === K.ThisKeyword) names.unshift('this');
  else if (e.kind === K.SuperKeyword) names.unshift('super');
  else if (e.kind === K.ImportKeyword) names.unshift('import');
  else if (ts.isMetaProperty(e)) names.unshift(ts.tokenToString(e.keywordToken), e.name.text);
  else return '';
  return names.join('.');
}

const outside = new Set([K.ExportKeyword, K.DefaultKeyword, K.DeclareKeyword, K.ConstKeyword, K.Decorator]);

// begin returns where a definition begins, without decorators and "export".
function begin(file, node) {
  const all = node.modifiers || [];
  const own = all.find((m) => !outside.has(m.kind));
  if (own) return own.getStart(file);
  const last = all[all.length - 1];
  return last ? ts.skipTrivia(file.text, last.end) : node.getStart(file);
}

const has = (node, kind) => (node.modifiers || []).some((m) => m.kind === kind);

function nameOf(node) {
  const name = node.name;
  if (node.kind === K.Constructor) return 'constructor';
  if (!name || ts.isComputedPropertyName(name)) return '';
  if (name.kind === K.NumericLiteral || name.kind === K.BigIntLiteral) return name.getText();
  return name.text;
}

function specifiers(elements) {
  return elements.filter((e) => !e.isTypeOnly).map((e) => `${(e.propertyName || e.name).text}:${e.name.text}`);
}

function importFact(node) {
  const clause = node.importClause;
  const names = [];
  if (clause && clause.name) names.push(`default:${clause.name.text}`);
  const bound = clause && clause.namedBindings;
  if (bound && ts.isNamespaceImport(bound)) names.push(`*:${bound.name.text}`);
  if (bound && ts.isNamedImports(bound)) names.push(...specifiers(bound.elements));
  return `${clause && clause.isTypeOnly ? 'types ' : ''}${node.moduleSpecifier.text} ${names.join()}`;
}

function exportFact(node) {
  const clause = node.exportClause;
  let names = ['*:*'];
  if (clause && ts.isNamespaceExport(clause)) names = [`*:${clause.name.text}`];
  else if (clause) names = specifiers(clause.elements);
  return `${node.isTypeOnly ? 'types ' : ''}${node.moduleSpecifier.text} ${names.join()}`;
}

function factsOf(file) {
  const place = places(file);
  const facts = [];
  const add = (what, offset, text) => { facts.push(`${place(offset)} ${what} ${text}`); };
  const start = (node) => node.getStart(file);
  const children = (node) => ts.forEachChild(node, (child) => { visit(child); });
  const key = (name) => { if (name && ts.isComputedPropertyName(name)) visit(name.expression); };
  const entity = (text) => (text.includes('&') ? '' : text);

  function define(node) {
    add('def', begin(file, node), nameOf(node));
    for (const m of node.modifiers || []) visit(m);
    if (node.name) ts.isClassLike(node.parent || node) || !ts.isObjectLiteralExpression(node.parent || node) ? key(node.name) : visit(node.name);
    for (const part of [node.parameters, node.heritageClauses, node.members]) (part || []).forEach(visit);
    if (node.body) visit(node.body);
  }

  function visit(node) {
    switch (node.kind) {
      case K.InterfaceDeclaration: case K.TypeAliasDeclaration: case K.TypeParameter: case K.IndexSignature:
      case K.NamespaceExportDeclaration: case K.ImportAttributes: case K.MissingDeclaration:
        return;
      case K.ExpressionWithTypeArguments:
        return visit(node.expression);
      case K.HeritageClause:
        if (node.token === K.ImplementsKeyword) return;
        return children(node);
      case K.ImportDeclaration:
        return add('import', start(node), importFact(node));
      case K.ImportEqualsDeclaration:
        if (node.moduleReference.kind === K.ExternalModuleReference) {
          const types = node.isTypeOnly ? 'types ' : '';
          add('import', begin(file, node), `${types}${node.moduleReference.expression.text} *:${node.name.text}`);
        }
        return;
      case K.ExportDeclaration:
        if (node.moduleSpecifier) add('import', start(node), exportFact(node));
        return;
      case K.ModuleDeclaration: case K.VariableStatement:
        if (has(node, K.DeclareKeyword)) return;
        if (node.kind === K.ModuleDeclaration) return node.body && visit(node.body);
        break;
      case K.EnumDeclaration:
        if (has(node, K.DeclareKeyword)) return;
        add('def', begin(file, node), node.name.text);
        for (const m of node.members) {
          key(m.name);
          if (m.initializer) visit(m.initializer);
        }
        return;
      case K.FunctionDeclaration: case K.MethodDeclaration: case K.Constructor: case K.GetAccessor: case K.SetAccessor:
        if (!node.body || has(node, K.DeclareKeyword)) return;
        return define(node);
      case K.FunctionExpression: case K.ArrowFunction: case K.ClassExpression:
        return define(node);
      case K.ClassDeclaration:
        return has(node, K.DeclareKeyword) ? undefined : define(node);
      case K.PropertyDeclaration:
        for (const m of node.modifiers || []) visit(m);
        if (has(node, K.DeclareKeyword) || has(node, K.AbstractKeyword)) return;
        key(node.name);
        if (node.initializer) visit(node.initializer);
        return;
      case K.CallExpression:
        add('call', start(node), dotted(node.expression));
        break;
      case K.NewExpression:
        add('new', start(node), dotted(node.expression));
        break;
      case K.TaggedTemplateExpression:
        add('call', start(node), dotted(node.tag));
        break;
      case K.JsxOpeningElement: case K.JsxSelfClosingElement: {
        const tag = node.tagName;
        add('call', start(node), ts.isIdentifier(tag) && /^[a-z]|-/.test(tag.text) || ts.isJsxNamespacedName(tag) ? '' : dotted(tag));
        break;
      }
      case K.JsxClosingElement:
        return;
      case K.JsxAttribute:
        if (node.initializer && ts.isStringLiteral(node.initializer)) add('string', start(node.initializer), entity(node.initializer.text));
        else if (node.initializer) visit(node.initializer);
        return;
      case K.JsxText:
        if (node.text.trim()) add('string', node.pos, entity(node.text));
        return;
      case K.StringLiteral: case K.NoSubstitutionTemplateLiteral:
        return add('string', start(node), node.text);
      case K.TemplateHead: case K.TemplateMiddle: case K.TemplateTail:
        if (node.text) add('string', start(node) + 1, node.text);
        return;
      case K.NumericLiteral: case K.BigIntLiteral:
        return add('number', start(node), node.getText(file));
      case K.RegularExpressionLiteral: {
        const text = node.getText(file);
        return add('regexp', start(node), text.slice(1, text.lastIndexOf('/')));
      }
    }
    if (ts.isTypeNode(node)) return;
    children(node);
  }
  children(file);
  return facts;
}

const kinds = { '.js': 1, '.cjs': 1, '.mjs': 1, '.jsx': 2, '.ts': 3, '.mts': 3, '.cts': 3, '.tsx': 4 };
readline.createInterface({ input: process.stdin }).on('line', (name) => {
  const source = fs.readFileSync(name, 'utf8');
  const file = ts.createSourceFile(name, source, {
    languageVersion: ts.ScriptTarget.ESNext,
    jsDocParsingMode: ts.JSDocParsingMode.ParseNone,
  }, true, kinds[path.extname(name)]);
  const errors = file.parseDiagnostics.length;
  process.stdout.write(JSON.stringify({ path: name, errors, facts: errors ? [] : factsOf(file) }) + '\n');
});
