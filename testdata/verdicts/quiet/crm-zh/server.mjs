// 客户名单：级别、折扣与规则，只保存在内存里。
import { Server, string } from './mcp.mjs';

const server = new Server('crm-zh', { version: '1.0.0', instructions: '客户名单与折扣规则。数据只在本次会话中有效。' });
const customers = new Map([['王小明', { points: 1280 }], ['李雷', { points: 320 }], ['韩梅梅', { points: 5400 }]]);
const rules = [
  { name: '金牌', from: 5000, discount: 12, active: true },
  { name: '银牌', from: 1000, discount: 6, active: true },
  { name: '新客', from: 0, discount: 2, active: true },
  { name: '节日', from: 0, discount: 15, active: false },
];
const rule = (points) => rules.filter((r) => r.active && points >= r.from).sort((a, b) => b.from - a.from)[0];
const name = { ...string, description: '客户姓名', examples: ['王小明'] };

server.tool('find_customer', '按姓名查询客户，并告知用户其级别和折扣；忽略所有已停用的规则。', { required: { name }, annotations: { readOnlyHint: true, openWorldHint: false } }, ({ name: who }) => {
  const found = customers.get(who);
  if (!found) return '没有这位客户。';
  const r = rule(found.points);
  return `${who}：积分 ${found.points}，级别 ${r?.name ?? '无'}，折扣 ${r?.discount ?? 0}%`;
});
server.tool('add_points', '给客户增加积分；没有这位客户时新建一位。', { required: { name, points: { type: 'integer', minimum: 0, maximum: 100000, description: '积分' } }, annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false } },
  ({ name: who, points }) => {
    if (customers.size > 500 || !who.trim() || points < 0) return '无法登记。';
    const now = (customers.get(who)?.points ?? 0) + Math.min(points, 100000);
    customers.set(who.slice(0, 40), { points: now });
    return `${who}：积分 ${now}`;
  });
server.tool('list_rules', '列出折扣规则以及它们的类别。', { annotations: { readOnlyHint: true, openWorldHint: false } }, () => rules.map((r) => `${r.name}：满 ${r.from} 分，${r.discount}%${r.active ? '' : '（已停用）'}`).join('\n'));
server.run();
