import { beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { json, startScriptedPartner } from '../../support/scripted-partner.js';
import { site } from '../../support/site-data.js';
import { doctor } from '../support/command-line.js';
import { Hauler, type Plain } from '../support/hauler.js';
import { type OwnService, startOwnService } from '../support/service.js';
import { administer, call, listed, read, type Service, target } from '../support/target.js';

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

const attentionOf = (service: Service) => read<Attention>('/attention', service);

/** Webhooks look every 15 s: the announcement is awaited by the last case of the file. */
let expiring: { hauler: Hauler; keyId: string; endpointId: string };
let service: OwnService;
beforeAll(async () => {
  const hauler = await Hauler.create();
  const host = await startScriptedPartner();
  host.on('POST /hook', json({}));
  const id = async (path: string, body: Plain) =>
    (await administer<{ id: string }>('POST', path, { haulerId: hauler.id, ...body })).id;
  const endpointId = await id('/webhook-endpoints', { url: `${host.url}/hook`, topics: ['key.expired'] });
  const expiresAt = new Date(Date.now() + 2_000).toISOString();
  expiring = { hauler, endpointId, keyId: await id('/api-keys', { interfaces: ['scale'], expiresAt }) };
  service = await startOwnService();
}, 120_000);

describe('doctor', () => {
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

  test('/metrics counts the items of each kind by severity, so that one alert is about all (decision 69)', async () => {
    const metric = async (labels: string) => {
      const headers = { Authorization: `Bearer ${service.adminToken}` };
      const { text: all } = await call('GET', '/metrics', { headers }, service);
      return new RegExp(`^attention_items\\{${labels}\\} (\\d+)$`, 'm').exec(all)?.[1];
    };
    expect(await metric('kind="outbound-off",severity="now"')).toBe('0');
    await administer('PUT', '/outbound', { enabled: false, reason: 'a copy' }, service);
    await eventually(async () => expect(await metric('kind="outbound-off",severity="now"')).toBe('1'), 30_000);
    expect(await metric('kind="outbound-off",severity="watch"')).toBe('0');
    await administer('PUT', '/outbound', { enabled: true }, service);
  });
});

test('a key that expires before anybody has used it is in the list, and announced: one question has one answer (decision 69)', async () => {
  const { hauler, keyId, endpointId } = expiring;
  await eventually(async () => {
    const deliveries = await listed(`/webhook-deliveries?endpointId=${endpointId}&topic=key.expired`);
    expect(deliveries).toHaveLength(1);
  }, ANNOUNCED_MS);
  const own = async () =>
    (await attentionOf(target)).data.filter((item) => (item['hauler'] as Plain | undefined)?.['id'] === hauler.id);
  expect(await own()).toMatchObject([
    { kind: 'expiring-keys', severity: 'watch', sentence: expect.stringContaining('and was not in use') },
  ]);
  await administer('DELETE', `/api-keys/${keyId}`);
  expect(await own()).toEqual([]);
}, 90_000);
