import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { Hauler, type Plain, SITES_ROUTE } from '../../acceptance/support/hauler.js';
import { startOwnService } from '../../acceptance/support/service.js';
import { admin, administer, listed, read } from '../../acceptance/support/target.js';
import { eventually } from '../../support/eventually.js';
import { hangs, json, startScriptedPartner } from '../../support/scripted-partner.js';
import { site } from '../../support/site-data.js';

/** Webhooks look every 15 s. */
const ANNOUNCED_MS = 60_000;

describe('a change of many states at once', () => {
  const [ENDPOINTS, CONNECTIONS, KEYS] = [60, 20, 25];
  const TOPICS = ['sync.held', 'sync.recovered', 'key.expiring'];

  /** Endpoints of a hauler, whose receiver takes everything. */
  async function endpoints(hauler: Hauler): Promise<void> {
    const host = await startScriptedPartner();
    host.on('POST /hook', json({}));
    const body = { url: `${host.url}/hook`, topics: TOPICS, haulerId: hauler.id };
    const created = Array.from({ length: ENDPOINTS }, () =>
      administer('POST', '/webhook-endpoints', body, hauler.service),
    );
    await Promise.all(created);
  }

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
    await endpoints(hauler);
    const counts = () =>
      Promise.all(
        TOPICS.map(async (topic) => {
          const path = `/webhook-deliveries?pageSize=1&topic=${topic}`;
          const { pagination } = await read<{ pagination: Plain }>(path, service);
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

test('a test of an endpoint leaves nothing that waits for ever when the service dies in it', async () => {
  const mortal = await startOwnService();
  const host = await startScriptedPartner();
  host.on('POST /hanging', hangs());
  const { id } = await administer<{ id: string }>(
    'POST',
    '/webhook-endpoints',
    { url: `${host.url}/hanging`, topics: ['sync.held'] },
    mortal,
  );
  const lost = admin('POST', `/webhook-endpoints/${id}/test`, undefined, mortal).catch(() => undefined);
  await eventually(() => expect(host.askedOf('POST /hanging')).toHaveLength(1));
  await mortal.end('SIGKILL');
  await lost;
  const next = await startOwnService({ beside: mortal });
  expect(await listed(`/webhook-deliveries?endpointId=${id}&status=pending`, next)).toEqual([]);
});
