import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { heldChild } from '../../support/held.js';
import { json, startScriptedPartner } from '../../support/scripted-partner.js';
import { site } from '../../support/site-data.js';
import { Hauler, type Plain, SITES_ROUTE } from '../support/hauler.js';
import { type OwnService, startOwnService } from '../support/service.js';
import { administer, call, listed, type Service, target } from '../support/target.js';

const PROGRAM = join(import.meta.dirname, '../../../dist/src/cli/main.js');
/** Webhooks look every 15 s. */
const ANNOUNCED_MS = 60_000;

interface Item extends Plain {
  readonly kind: string;
  readonly severity: string;
  readonly sentence: string;
}
interface Attention {
  readonly data: readonly Item[];
  readonly checked: readonly (Plain & { readonly kind: string; readonly ok: boolean })[];
}

const attentionOf = (service: Service) => administer<Attention>('GET', '/attention', undefined, service);

async function doctor({ url, adminToken }: Service, ...words: string[]) {
  const env = { PATH: process.env['PATH'], HAULBRIDGE_URL: url, HAULBRIDGE_TOKEN: adminToken };
  const child = spawn(process.execPath, [PROGRAM, 'doctor', ...words], { env });
  heldChild(child);
  child.stdin.end();
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: child.exitCode, out, err };
}

describe('doctor', () => {
  let service: OwnService;
  beforeAll(async () => {
    service = await startOwnService();
  }, 120_000);

  test('ends with 0 where nothing is wrong, though no backup of this service is known to anybody (decision 69)', async () => {
    const { data, checked } = await attentionOf(service);
    expect([data, checked.filter(({ ok }) => !ok)]).toEqual([[], []]);
    expect(checked.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['replication', 'clock', 'late-work']));
    expect(await doctor(service)).toEqual({
      code: 0,
      out: expect.stringMatching(/^\d+ checks were made, and nothing needs attention\n$/),
      err: '',
    });
  });

  test('prints GET /attention, and ends with 1 and the kinds of what is wrong, until it is decided (decision 69)', async () => {
    const sites = Array.from({ length: 10 }, (_, n) => site(`doctor ${n}`));
    const hauler = await Hauler.create({
      sites: { sites, kiosks: [], materials: [] },
      service,
      name: 'Held\u001b[31m',
    });
    const run = await hauler.sync({ sites: sites.slice(0, 2), kiosks: [], materials: [] });
    const found = await doctor(service);
    expect([found.code, found.err]).toEqual([1, 'error: to be put right: held-runs\n']);
    const [item] = (await attentionOf(service)).data;
    expect(found.out).toContain(`now    held-runs  Held\\u001b[31m, synchronisation: ${item?.sentence}\n`);
    const asJson = await doctor(service, '--json');
    expect([asJson.code, (JSON.parse(asJson.out) as Attention).data]).toEqual([1, (await attentionOf(service)).data]);
    await administer('POST', `/sync-runs/${run.id}/reject`, {}, service);
    expect((await doctor(service)).code).toBe(0);
  }, 180_000);

  test('ends with 0 for what is far off, which it prints all the same', async () => {
    const hauler = await Hauler.create({ service });
    const expiresAt = new Date(Date.now() + 13 * 86_400_000).toISOString();
    const { id } = await administer<{ id: string }>(
      'POST',
      '/api-keys',
      { haulerId: hauler.id, interfaces: ['scale'], expiresAt },
      service,
    );
    const { code, out } = await doctor(service);
    expect([code, out]).toEqual([0, expect.stringMatching(/^watch {2}expiring-keys .* expires in 1[23] days/m)]);
    await administer('DELETE', `/api-keys/${id}`, undefined, service);
  });

  test('opens no database: without a running service it ends with 1 and says what to do', async () => {
    const { code, err } = await doctor({ url: 'http://127.0.0.1:9', adminToken: 'x'.repeat(20) });
    expect([code, err]).toEqual([1, expect.stringMatching(/start the service or pass --url/)]);
  });

  test('names a check that a setting rules out, and does not end with 1 for it for ever', async () => {
    const without = await startOwnService({ env: { EXCHANGE_LOG: 'off' } });
    const { checked } = await attentionOf(without);
    const unknown = checked.filter(({ ok }) => !ok);
    expect(unknown.map(({ kind, bySetting }) => [kind, bySetting]).toSorted()).toEqual([
      ['failing-calls', true],
      ['lost-exchanges', true],
      ['refused-keys', true],
      ['refused-pushes', true],
    ]);
    const { code, out } = await doctor(without);
    expect([code, out]).toEqual([0, expect.stringMatching(/^\? {6}refused-keys {2}not known: .*EXCHANGE_LOG/m)]);
  }, 120_000);
});

test('/metrics counts the items of each kind by severity, so that one alert is about all (decision 69)', async () => {
  const service = await startOwnService();
  const metric = async (labels: string) => {
    const headers = { Authorization: `Bearer ${service.adminToken}` };
    const { text: all } = await call('GET', '/metrics', { headers }, service);
    return new RegExp(`^attention_items\\{${labels}\\} (\\d+)$`, 'm').exec(all)?.[1];
  };
  expect(await metric('kind="outbound-off",severity="now"')).toBe('0');
  await administer('PUT', '/outbound', { enabled: false, reason: 'a copy' }, service);
  await eventually(async () => expect(await metric('kind="outbound-off",severity="now"')).toBe('1'), 30_000);
  expect(await metric('kind="outbound-off",severity="watch"')).toBe('0');
}, 120_000);

/** Endpoints of a hauler, whose receiver takes everything. */
async function endpoints(hauler: Hauler, count: number, topics: readonly string[]): Promise<string[]> {
  const host = await startScriptedPartner();
  host.on('POST /hook', json({}));
  const body = { url: `${host.url}/hook`, topics, haulerId: hauler.id };
  const created = Array.from({ length: count }, () =>
    administer<{ id: string }>('POST', '/webhook-endpoints', body, hauler.service),
  );
  return (await Promise.all(created)).map(({ id }) => id);
}

const topicsOf = async (endpointId: string, service: Service = target) => {
  const deliveries = await listed<{ topic: string }>(`/webhook-deliveries?endpointId=${endpointId}`, service);
  return deliveries.map(({ topic }) => topic).toReversed();
};

test('a key that expires before anybody has used it is in the list, and announced: one question has one answer (decision 69)', async () => {
  const hauler = await Hauler.create();
  const [endpoint = ''] = await endpoints(hauler, 1, ['key.expired']);
  const expiresAt = new Date(Date.now() + 2_000).toISOString();
  const fields = { haulerId: hauler.id, interfaces: ['scale'], expiresAt };
  const { id } = await administer<{ id: string }>('POST', '/api-keys', fields);
  await eventually(async () => expect(await topicsOf(endpoint)).toEqual(['key.expired']), ANNOUNCED_MS);
  const own = async () =>
    (await attentionOf(target)).data.filter((item) => (item['hauler'] as Plain | undefined)?.['id'] === hauler.id);
  expect(await own()).toMatchObject([
    { kind: 'expiring-keys', severity: 'watch', sentence: expect.stringContaining('and was not in use') },
  ]);
  await administer('DELETE', `/api-keys/${id}`);
  expect(await own()).toEqual([]);
}, 90_000);

describe('a change of many states at once', () => {
  const [ENDPOINTS, CONNECTIONS, KEYS] = [60, 20, 25];
  const TOPICS = ['sync.held', 'sync.recovered', 'key.expiring'];

  /** Holds removals of a connection of its own; returns the run. */
  async function heldRun(hauler: Hauler, name: string): Promise<string> {
    const partner = await startScriptedPartner();
    const id = await hauler.connect({ interface: 'site', baseUrl: partner.url, enabled: false });
    const sites = Array.from({ length: 10 }, (_, n) => site(`${name} ${n}`));
    const sync = async (count: number) => {
      const data = { sites: sites.slice(0, count), kiosks: [], materials: [] };
      partner.on(SITES_ROUTE, json({ success: true, data }));
      return hauler.ended(await hauler.requestSync(id));
    };
    await sync(10);
    return (await sync(2)).id;
  }

  test('is announced to each endpoint once (decision 69)', async () => {
    const service = await startOwnService();
    const hauler = await Hauler.create({ service });
    const runs: string[] = [];
    while (runs.length < CONNECTIONS) runs.push(await heldRun(hauler, `of ${runs.length}`));
    // Deliveries are written, and wait.
    await administer('PUT', '/outbound', { enabled: false }, service);
    await endpoints(hauler, ENDPOINTS, TOPICS);
    const counts = () =>
      Promise.all(
        TOPICS.map(async (topic) => {
          const path = `/webhook-deliveries?pageSize=1&topic=${topic}`;
          const { pagination } = await administer<{ pagination: Plain }>('GET', path, undefined, service);
          return pagination['totalItems'];
        }),
      );
    const become = (...expected: number[]) =>
      eventually(
        async () => expect(await counts()).toEqual(expected.map((each) => each * ENDPOINTS)),
        ANNOUNCED_MS,
        500,
      );
    const issue = () =>
      hauler.issueKey({ interfaces: ['scale'], expiresAt: new Date(Date.now() + 86_400_000).toISOString() });
    await become(CONNECTIONS, 0, 0);
    // The look that announces this key was just made: what follows is seen by one look.
    await issue();
    await become(CONNECTIONS, 0, 1);
    await Promise.all([
      ...runs.map((id) => administer('POST', `/sync-runs/${id}/reject`, {}, service)),
      ...Array.from({ length: KEYS }, issue),
    ]);
    await become(CONNECTIONS, CONNECTIONS, KEYS + 1);
    // The next look, and one more.
    await delay(32_000);
    await become(CONNECTIONS, CONNECTIONS, KEYS + 1);
  }, 300_000);
});
