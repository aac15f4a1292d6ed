import { beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import type { Reply } from '../../support/http.js';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.js';
import { type ErrorBody, flow, Hauler, ONE_SITE, TICKET } from '../support/hauler.js';
import { ownDatabase, type OwnService, startOwnService } from '../support/service.js';
import { admin, call, listed } from '../support/target.js';

/** Decision 13. */
const ANSWERED_WITHIN_MS = 5_000;
const CUTS = 5;
const CALLERS = 8;
/** The service starts, waits twice for the database, and recovers. */
const HOOK_MS = 120_000;

interface Answered extends Reply<ErrorBody> {
  readonly what: string;
  readonly ms: number;
}

/** A service whose way to its database can be broken. */
interface Stage {
  readonly proxy: TcpProxy;
  readonly service: OwnService;
  readonly hauler: Hauler;
  readonly key: string;
}

async function openStage(): Promise<Stage> {
  const { url } = await ownDatabase();
  const path = new URL(url);
  const proxy = await startTcpProxy({ host: path.hostname, port: Number(path.port) });
  path.port = String(proxy.port);
  const service = await startOwnService({ databaseUrl: path.href });
  const hauler = await Hauler.create({ sites: ONE_SITE, service });
  return { proxy, service, hauler, key: await hauler.key('scale', 'account', 'site') };
}

let numbers = 0;
const newTicket = () => ({ ...TICKET, inboundFlow: flow(`N-${numbers++}`) });

/** One call of each kind. All of them need the database. */
async function everyCall({ service, hauler, key }: Stage): Promise<Answered[]> {
  const platform = { 'PLATFORM-API-KEY': key };
  const unused = { ...platform, 'Idempotency-Key': `K-${numbers++}` };
  const calls: [string, Promise<Reply<ErrorBody>>][] = [
    ['push', call('POST', '/platform-api/v1/tickets', { headers: platform, body: newTicket() }, service)],
    ['push with a key', call('POST', '/platform-api/v1/tickets', { headers: unused, body: newTicket() }, service)],
    [
      'account',
      call(
        'POST',
        '/platform-api/v1/accounts',
        { headers: platform, body: { accountName: `A ${numbers++}` } },
        service,
      ),
    ],
    ['sites', call('GET', `/scale-platform/v1/sites?haulerId=${hauler.id}`, { headers: { 'API-KEY': key } }, service)],
    ['admin list', admin('GET', '/tickets', undefined, service)],
    ['admin write', admin('POST', '/haulers', { name: `H ${numbers++}` }, service)],
    ['ready', call('GET', '/health/ready', {}, service)],
  ];
  return Promise.all(
    calls.map(async ([what, reply]) => {
      const started = performance.now();
      return { ...(await reply), what, ms: performance.now() - started };
    }),
  );
}

const CALLS = ['push', 'push with a key', 'account', 'sites', 'admin list', 'admin write', 'ready'];
/** No site data is hosted for this hauler, which only the database can say. */
const AVAILABLE = [200, 200, 200, 404, 200, 201, 200];

interface Fault {
  readonly what: string;
  readonly breakIt: (proxy: TcpProxy) => void;
}

const FAULTS: readonly Fault[] = [
  { what: 'refuses connections', breakIt: (proxy) => proxy.cut() },
  { what: 'does not answer', breakIt: (proxy) => proxy.freeze() },
  { what: 'takes 3 s for every message', breakIt: (proxy) => proxy.pass(3_000) },
];

interface Seen {
  readonly away: readonly Answered[];
  readonly live: number;
  readonly metrics: number;
  readonly afterwards: readonly number[];
}

/** Lets the fault happen, and waits for the end of it. */
async function during({ breakIt }: Fault, stage: Stage): Promise<Seen> {
  const { proxy, service } = stage;
  breakIt(proxy);
  const token = { headers: { Authorization: `Bearer ${service.adminToken}` } };
  const [away, live, metrics] = await Promise.all([
    everyCall(stage),
    call('GET', '/health/live', {}, service),
    call('GET', '/metrics', token, service),
  ]);
  proxy.pass();
  const afterwards = await eventually(async () => {
    const statuses = (await everyCall(stage)).map(({ status }) => status);
    expect(statuses).toEqual(AVAILABLE);
    return statuses;
  });
  return { away, live: live.status, metrics: metrics.status, afterwards };
}

let stage: Stage;
const seen = new Map<string, Seen>();

/** Two services, because most of the time is waiting; the second one starts while the first waits. */
beforeAll(async () => {
  const see = async (faults: readonly Fault[], on: Stage) => {
    for (const fault of faults) seen.set(fault.what, await during(fault, on));
  };
  stage = await openStage();
  await Promise.all([see(FAULTS.slice(0, 2), stage), openStage().then((other) => see(FAULTS.slice(2), other))]);
}, HOOK_MS);

describe('a database that is away', () => {
  test.each(FAULTS)('$what: every call is 503 with Retry-After within 5 s (decision 13)', ({ what }) => {
    const answers = (seen.get(what)?.away ?? []).map(({ status, headers, body: { error }, ms, ...of }) => ({
      ...{ what: of.what, status, code: error.code, isInTime: ms < ANSWERED_WITHIN_MS },
      hasRetryAfter: /^[1-9]\d*$/.test(headers.get('Retry-After') ?? ''),
    }));
    const refused = { status: 503, code: 'INTERNAL_ERROR', isInTime: true, hasRetryAfter: true };
    expect(answers).toEqual(CALLS.map((each) => ({ what: each, ...refused })));
  });

  test.each(FAULTS)('$what: the service is alive, and serves again without a restart (decision 13)', ({ what }) => {
    const { live, metrics, afterwards } = seen.get(what) ?? {};
    expect({ live, metrics, afterwards }).toEqual({ live: 200, metrics: 200, afterwards: AVAILABLE });
  });
});

describe('a database whose connections are cut in the middle of calls', () => {
  test(
    'an acknowledged push is stored, an unanswered one is sent again, and none is stored twice (decisions 13, 16, 22, 26)',
    async () => {
      const { proxy, service } = stage;
      // The pushes of the faults above may have been stored.
      const hauler = await Hauler.create({ sites: ONE_SITE, service });
      const key = await hauler.key();
      const sent: { number: string; status: number; ms: number; id: string | undefined; retryAfter: string | null }[] =
        [];
      let isCutting = true;
      const push = async (number: string) => {
        // Of a push without a flow, only its key prevents a second ticket.
        const hasFlow = Number(number.slice(2)) % 2 === 0;
        const body = { ...TICKET, ...(hasFlow ? { inboundFlow: flow(number) } : {}) };
        const headers = { 'PLATFORM-API-KEY': key, ...(hasFlow ? {} : { 'Idempotency-Key': number }) };
        const options = { headers, body };
        return call<{ disposalTicketId?: string }>('POST', '/platform-api/v1/tickets', options, service);
      };
      const caller = async () => {
        while (isCutting) {
          const number = `C-${numbers++}`;
          const started = performance.now();
          const { status, headers, body } = await push(number);
          const ms = performance.now() - started;
          sent.push({ number, status, ms, id: body.disposalTicketId, retryAfter: headers.get('Retry-After') });
        }
      };
      const acknowledged = () => sent.filter(({ status }) => status === 200).map(({ id }) => id);
      const cutting = async () => {
        for (let cut = 1; cut <= CUTS; cut++) {
          await eventually(() => expect(acknowledged().length).toBeGreaterThan(cut * CALLERS));
          proxy.reset();
        }
        isCutting = false;
      };
      await Promise.all([cutting(), ...Array.from({ length: CALLERS }, caller)]);
      const refused = sent.filter(({ status }) => status !== 200);
      expect(refused.filter(({ status, retryAfter }) => status !== 503 || retryAfter === null)).toEqual([]);
      expect(sent.filter(({ ms }) => ms >= ANSWERED_WITHIN_MS)).toEqual([]);
      const again = await eventually(async () => {
        const replies = await Promise.all(refused.map(({ number }) => push(number)));
        expect(replies.filter(({ status }) => status !== 200)).toEqual([]);
        return replies.map(({ body }) => body.disposalTicketId);
      });
      const stored = await listed<{ id: string }>(`/tickets?haulerId=${hauler.id}`, service);
      expect(stored.map(({ id }) => id).sort()).toEqual([...acknowledged(), ...again].sort());
    },
    HOOK_MS,
  );
});
