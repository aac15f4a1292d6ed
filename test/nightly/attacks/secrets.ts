import { randomUUID } from 'node:crypto';
import { admin, type Attack, call, Faults, honestPartner, json, type Partner, type Target } from './target.js';

interface Sent {
  readonly what: string;
  readonly status: number;
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const ACCOUNTS = '/platform-api/v1/accounts';
/** `EXCHANGE_BODY_LIMIT`. */
const LIMIT = 16_384;

const escaped = (text: string): string =>
  [...text].map((letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');

/** A field `secret` that stands across the end of what is stored of a body. */
function acrossLimit(field: string, secret: string): string {
  const start = `{"accountName":1,"note":"`;
  const after = `","${field}":"${secret}"}`;
  return start + 'x'.repeat(LIMIT - start.length - after.length + Math.floor(secret.length / 2)) + after;
}

/** Calls that carry a key of the service, or a secret of the caller under a name that says so. */
function calls(key: string, secret: string): readonly Sent[] {
  const refused = (what: string, body: string): Sent => ({ what, status: 400, body });
  const names = [
    'apikey',
    'ApiKey',
    'X-Auth-Token',
    'accessToken',
    'client_secret',
    'Authorization',
    'API_KEY',
    'passWord',
  ];
  return [
    refused('a key across the limit of stored bodies', acrossLimit('note2', key)),
    refused('a secret across the limit of stored bodies', acrossLimit('apiKey', secret)),
    ...names.map((name) => refused(`a member ${name}`, JSON.stringify({ accountName: 1, deep: [{ [name]: secret }] }))),
    refused('a key as the name of a member', JSON.stringify({ accountName: 1, [key]: 1 })),
    refused('a key with escapes', `{"accountName":1,"note":"${escaped(key)}"}`),
    refused('a key in broken JSON', `{"accountName":1,"note":"${key}"`),
    { what: 'a key in a path', status: 404, path: `/platform-api/v1/nothing/${key}` },
    { what: 'a key in a query', status: 404, path: `/platform-api/v1/nothing?a=${key}&api_key=${secret}` },
    {
      what: 'a key in another header',
      status: 400,
      headers: { 'X-Note': key, Referer: `https://a.example/?k=${key}` },
      body: '{}',
    },
    { what: 'a secret in a header for secrets', status: 400, headers: { 'X-Auth-Token': secret }, body: '{}' },
    { what: 'a key in an accepted body', status: 200, body: JSON.stringify({ accountName: randomUUID(), note: key }) },
    {
      what: 'a secret in an accepted body',
      status: 200,
      body: JSON.stringify({ accountName: randomUUID(), apiKey: secret }),
    },
  ];
}

/** Sends the call and returns its request id. */
async function send(target: Target, { key }: Partner, sent: Sent, faults: Faults): Promise<string> {
  const id = `attack-secret-${randomUUID()}`;
  const { method = 'POST', path = ACCOUNTS, headers = {}, body } = sent;
  const reply = await call(target, path, {
    method,
    headers: { 'PLATFORM-API-KEY': key, 'Content-Type': 'application/json', 'X-Request-Id': id, ...headers },
    ...(body === undefined ? {} : { body }),
  });
  faults.expect(reply.status === sent.status, `${sent.what}: answered with ${reply.status}`);
  return id;
}

/** What a reader of the log sees of a call. */
async function shown(target: Target, token: string, requestId: string): Promise<string> {
  const headers = { Authorization: `Bearer ${token}` };
  const list = await call(target, `/admin/v1/exchanges?requestId=${requestId}`, { headers });
  const { data } = json<{ data: { id: string }[] }>(list, 200);
  const full = await Promise.all(data.map(({ id }) => call(target, `/admin/v1/exchanges/${id}`, { headers })));
  return [list, ...full].map(({ text }) => text).join('\n');
}

/** The key of a member across the limit may be cut: half of it is a secret as well. */
const PART = 20;

const secretsInTheLog: Attack = {
  row: 'A9',
  title: 'keys and secrets in bodies, paths, queries and headers are looked for in the log',
  async run(target) {
    const faults = new Faults();
    const partner = await honestPartner(target);
    // One key to call with, and one that leaks.
    const { key } = await honestPartner(target);
    const secret = `s3cr3t${randomUUID().replaceAll('-', '')}`;
    const sent = calls(key, secret);
    const ids: string[] = [];
    for (const each of sent) ids.push(await send(target, partner, each, faults));
    const parts = [key.slice(-PART), key.slice(8, 8 + PART), secret.slice(0, PART), escaped(key).slice(0, 60)];
    const tokens = [target.adminToken, ...(target.readToken === undefined ? [] : [target.readToken])];
    let found = 0;
    for (const [i, id] of ids.entries()) {
      for (const token of tokens) {
        const text = await shown(target, token, id);
        faults.expect(text.includes(id), `${sent[i]?.what}: the exchange is missing`);
        const isLeaked = parts.some((part) => text.includes(part));
        if (isLeaked) found++;
        faults.expect(!isLeaked, `${sent[i]?.what}: it is shown`);
      }
    }
    const named = await call(target, '/platform-api/v1/nothing', { headers: { 'X-Request-Id': key } });
    const log = await admin(target, 'GET', '/exchanges?status=4xx&pageSize=20');
    faults.expect(named.status === 404 && !log.text.includes(key), 'a key in X-Request-Id: it is shown');
    return faults.outcome({ calls: sent.length + 1, shown: found });
  },
};

export const SECRET_ATTACKS: readonly Attack[] = [secretsInTheLog];
