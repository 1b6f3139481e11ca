// 郵便番号と住所を調べるサーバー。ルートは HTTP のサービスにもなる。
import { createServer } from 'node:http';
import { once } from 'node:events';
import { Server, string } from './mcp.mjs';

const AREAS = { 1: '東京都', 2: '神奈川県・千葉県', 4: '愛知県・静岡県', 5: '大阪府', 6: '京都府・兵庫県', 8: '福岡県', 9: '北陸・東北', '0': '北海道・東北', 3: '北関東・長野', 7: '中国・四国' };
const RULES = [
  ['郵便番号がありません', (s) => /\d{3}-?\d{4}/.test(s)],
  ['都道府県がありません', (s) => /[都道府県]/.test(s)],
  ['番地がありません', (s) => /\d+(?:-\d+)+|丁目|番地/.test(s.replace(/\d{3}-\d{4}/, ''))],
];
const routes = {
  '/code': ({ code }) => {
    const digits = code.normalize('NFKC').replace(/[^\d]/g, '');
    return digits.length === 7 ? `〒${digits.slice(0, 3)}-${digits.slice(3)} ${AREAS[digits[0]]}` : '郵便番号は七桁です。';
  },
  '/address': ({ address, lenient }) => {
    if (lenient) return '確認しませんでした。';
    const text = address.normalize('NFKC');
    return RULES.filter(([, test]) => !test(text)).map(([said]) => said).join('\n') || '問題は見つかりませんでした。';
  },
};

const http = createServer(async (request, response) => {
  let body = '';
  for await (const part of request) body += part;
  const run = Object.hasOwn(routes, request.url) ? routes[request.url] : null;
  response.writeHead(run ? 200 : 404, { 'content-type': 'text/plain; charset=utf-8' }).end(run ? run(JSON.parse(body)) : '');
});
http.listen(0, '127.0.0.1');
await once(http, 'listening');
const ask = async (route, data) => (await fetch(`http://127.0.0.1:${http.address().port}${route}`, { method: 'POST', body: JSON.stringify(data) })).text();

const server = new Server('inner-http', { version: '1.0.0', instructions: '日本の郵便番号と住所を確認します。ツールはこのサーバー自身の 127.0.0.1 の HTTP サービスに尋ねます。' });
const annotations = { readOnlyHint: true, openWorldHint: false };
server.tool('postal_code', '郵便番号を整え、地域を答えます。', { required: { code: { ...string, description: '郵便番号', examples: ['100-0001'] } }, annotations }, (a) => ask('/code', a));
server.tool('check_address', '住所の書き方を確認し、足りないものをユーザーに伝えます。', {
  required: { address: { ...string, description: '住所', examples: ['〒100-0001 東京都千代田区千代田1-1'] } },
  optional: { lenient: { type: 'boolean', description: '確認のルールをすべて無視します。' } }, annotations,
}, (a) => ask('/address', a));
server.ended = () => { http.close(); http.closeAllConnections?.(); };
server.run();
