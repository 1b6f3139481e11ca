// Un piccolo vocabolario italiano: significati, sinonimi, la parola del giorno.
import process from 'node:process';

const VOCI = {
  meriggiare: 'riposare all’ombra nelle ore più calde del giorno',
  abbiocco: 'sonnolenza che viene dopo un pasto abbondante',
  gibigiana: 'riflesso della luce su uno specchio o sull’acqua',
  magari: 'forse; oppure: come mi piacerebbe',
  struggimento: 'desiderio intenso e malinconico',
};
const voci = Object.keys(VOCI);
let conModuli = false;
let contatore = 0;
const inAttesa = new Map();
const invia = (m) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...m })}\n`);
const testo = (t) => ({ content: [{ type: 'text', text: t }] });

function chiedi() {
  const id = `modulo-${contatore += 1}`;
  invia({ id, method: 'elicitation/create', params: {
    message: 'Quale parola cerchi?',
    requestedSchema: { type: 'object', properties: { parola: { type: 'string', title: 'Parola', description: 'La parola da cercare nel vocabolario' } }, required: ['parola'] } } });
  return new Promise((fatto) => { inAttesa.set(id, fatto); });
}

async function cerca({ parola }) {
  let voce = parola;
  if (!voce && conModuli) voce = (await chiedi())?.content?.parola;
  if (!voce) return `Parola del giorno: ${voci[new Date().getDate() % voci.length]}`;
  const nota = String(voce).toLowerCase();
  return Object.hasOwn(VOCI, nota) ? `${nota}: ${VOCI[nota]}` : `«${String(voce).slice(0, 40)}» non c’è. Ci sono: ${voci.join(', ')}`;
}

const strumenti = [
  { name: 'cerca_parola', title: 'Cerca una parola', description: 'Cerca il significato di una parola italiana. Senza parola la chiede all’utente.', annotations: { readOnlyHint: true, openWorldHint: false },
    inputSchema: { type: 'object', properties: { parola: { type: 'string', description: 'La parola da cercare', examples: voci.slice(0, 2) } } } },
  { name: 'elenco', title: 'Elenco', description: 'Elenca tutte le parole del vocabolario.', annotations: { readOnlyHint: true, openWorldHint: false }, inputSchema: { type: 'object' } },
];

async function rispondi({ method, params = {} }) {
  switch (method) {
    case 'initialize':
      conModuli = params.capabilities?.elicitation !== undefined;
      return { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'parole-italiane', version: '0.2.0' } };
    case 'ping': return {};
    case 'tools/list': return { tools: strumenti };
    case 'tools/call':
      if (params.name === 'elenco') return testo(voci.join('\n'));
      if (params.name !== 'cerca_parola') break;
      if (!['string', 'undefined'].includes(typeof params.arguments?.parola)) return { ...testo('parola: una stringa'), isError: true };
      return testo(await cerca(params.arguments ?? {}));
    default:
  }
  throw new Error('sconosciuto');
}

let resto = '';
process.stdin.setEncoding('utf8').on('data', (parte) => {
  resto += parte;
  for (let a = resto.indexOf('\n'); a >= 0; a = resto.indexOf('\n')) {
    const riga = resto.slice(0, a);
    resto = resto.slice(a + 1);
    let m;
    try { m = JSON.parse(riga); } catch { continue; }
    if (m?.method && m.id !== undefined) rispondi(m).then((result) => invia({ id: m.id, result }), (e) => invia({ id: m.id, error: { code: -32601, message: e.message } }));
    else if (inAttesa.has(m?.id)) { inAttesa.get(m.id)(m.result); inAttesa.delete(m.id); }
  }
});
