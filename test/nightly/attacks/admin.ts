import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { admin, type Attack, call, Faults, honestPartner, json, type Reply, scaled, type Target } from './target.js';

interface Action {
  readonly action: string;
  readonly changes?: Readonly<Record<string, unknown>>;
}

const newestActions = async (target: Target): Promise<readonly Action[]> =>
  json<{ data: Action[] }>(await admin(target, 'GET', '/actions?pageSize=20'), 200).data;

const hiddenWrites: Attack = {
  row: 'A3',
  title: 'writes that call themselves dry runs, or hide among unknown fields',
  async run(target) {
    const faults = new Faults();
    const { haulerId } = await honestPartner(target);
    const noise = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`unknown${i}`, 'x'.repeat(50)]));
    const writes: readonly [action: string, method: string, path: string, body: object, shown: object][] = [
      ['createHauler', 'POST', '/haulers', { dryRun: true, ...noise, name: 'Hidden' }, { name: 'Hidden' }],
      [
        'issueApiKey',
        'POST',
        '/api-keys',
        { ...noise, dryRun: true, haulerId, interfaces: ['scale'], name: 'hidden' },
        { haulerId, interfaces: ['scale'], name: 'hidden' },
      ],
      [
        'createConnection',
        'POST',
        '/connections',
        {
          dryRun: true,
          haulerId,
          interface: 'site',
          baseUrl: 'https://203.0.113.1',
          apiKey: 'partner-key-attack-3',
          enabled: false,
        },
        { baseUrl: 'https://203.0.113.1' },
      ],
    ];
    for (const [name, method, path, body, shown] of writes) {
      const { status } = await admin(target, method, path, body);
      faults.expect(status === 201, `${name} was answered with ${status}`);
      const [newest] = await newestActions(target);
      faults.expect(
        newest?.action.toLowerCase() === name.toLowerCase(),
        `${name} is not in the action log, but ${newest?.action}`,
      );
      const changes = JSON.stringify(newest?.changes ?? {});
      for (const [field, value] of Object.entries(shown)) {
        faults.expect(
          changes.includes(`${JSON.stringify(field)}:${JSON.stringify(value)}`),
          `${name} does not show ${field}`,
        );
      }
      faults.expect(!changes.includes('unknown1'), `${name} shows fields that the route does not have`);
      faults.expect(!changes.includes('partner-key-attack-3'), `${name} shows the partner's key`);
    }
    return faults.outcome({ writes: writes.length });
  },
};

const STOLEN = 'partner-key-attack-4-0123456789';

const stolenKey: Attack = {
  row: 'A4',
  title: "a connection is pointed at the attacker's host, to receive the partner's key",
  async run(target) {
    const faults = new Faults();
    const received: string[] = [];
    const thief = createServer((request, response) => {
      received.push(JSON.stringify(request.headers));
      response.writeHead(500).end();
    }).listen(0, '127.0.0.1');
    await once(thief, 'listening');
    const { port } = thief.address() as AddressInfo;
    const { haulerId } = await honestPartner(target);
    const order = { haulerId, interface: 'site', baseUrl: 'http://127.0.0.1:1', apiKey: STOLEN, enabled: false };
    const { id } = json<{ id: string }>(await admin(target, 'POST', '/connections', order), 201);
    const statuses: number[] = [];
    for (const baseUrl of [`http://127.0.0.1:${port}`, `http://localhost:${port}/a`, `http://127.0.0.1:${port}/#`]) {
      const { status } = await admin(target, 'PATCH', `/connections/${id}`, { baseUrl });
      statuses.push(status);
      faults.expect(status === 400, `PATCH of baseUrl without apiKey was answered with ${status}`);
      for (const action of ['check', 'sync']) await admin(target, 'POST', `/connections/${id}/${action}`);
    }
    thief.close();
    thief.closeAllConnections();
    const stolen = received.filter((headers) => headers.includes(STOLEN)).length;
    faults.expect(stolen === 0, `the new host received the stored key ${stolen} times`);
    return faults.outcome({ statuses: statuses.join(' '), received: received.length, stolen });
  },
};

const SESSION = '/console/api/session';
const signIn = (target: Target, token: string): Promise<Reply> =>
  call(target, SESSION, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Console': '1' },
    body: JSON.stringify({ token }),
  });

const oldCookie: Attack = {
  row: 'A8',
  title: 'a copied cookie is used after the sign-out',
  async run(target) {
    const faults = new Faults();
    const reply = await signIn(target, target.adminToken);
    const Cookie = [reply.headers['set-cookie'] ?? []]
      .flat()
      .map((text) => text.split(';')[0])
      .join('; ');
    const with_ = (method: string, path: string, body?: object) =>
      call(target, path, {
        method,
        headers: { Cookie, 'X-Console': '1', 'Content-Type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    faults.expect((await with_('GET', '/admin/v1/haulers')).status === 200, 'the session does not work');
    const { status: signedOut } = await with_('DELETE', SESSION);
    faults.expect(signedOut < 300, `the sign-out was answered with ${signedOut}`);
    const read = await with_('GET', '/admin/v1/haulers');
    const write = await with_('POST', '/admin/v1/haulers', { name: 'Old cookie' });
    faults.expect(read.status === 401, `a read with the old cookie was answered with ${read.status}`);
    faults.expect(write.status === 401, `a write with the old cookie was answered with ${write.status}`);
    return faults.outcome({ read: read.status, write: write.status });
  },
};

const GUESSES = 300;

const guesses: Attack = {
  row: 'A13',
  title: '300 wrong tokens and 30 wrong sign-ins; the right token works all the time',
  async run(target) {
    const faults = new Faults();
    const statuses = new Map<number, number>();
    const count = ({ status }: Reply) => statuses.set(status, (statuses.get(status) ?? 0) + 1);
    let refusedRight = 0;
    for (let i = 0; i < Math.max(100, scaled(target, GUESSES)); i++) {
      const headers = { Authorization: `Bearer wrong-token-${i}-0123456789` };
      count(await call(target, '/admin/v1/haulers', { headers }));
      if (i % 25 === 24 && (await admin(target, 'GET', '/haulers')).status !== 200) refusedRight++;
    }
    faults.expect((statuses.get(429) ?? 0) > 0, 'wrong tokens were never limited');
    faults.expect(refusedRight === 0, `the right token was refused ${refusedRight} times`);
    const wrong: number[] = [];
    for (let i = 0; i < 30; i++) wrong.push((await signIn(target, `wrong-token-${i}-0123456789`)).status);
    faults.expect(wrong.includes(429), 'wrong sign-ins were never limited');
    const right = await signIn(target, target.adminToken);
    faults.expect(right.status < 300, `the right sign-in was answered with ${right.status}`);
    const figures = Object.fromEntries([...statuses].map(([status, times]) => [`status ${status}`, times]));
    return faults.outcome({ ...figures, rightSignIn: right.status });
  },
};

export const ADMIN_ATTACKS: readonly Attack[] = [hiddenWrites, stolenKey, oldCookie, guesses];
