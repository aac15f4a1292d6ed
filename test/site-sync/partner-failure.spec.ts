import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import type { Connection } from '../../src/contracts/admin/connection.dto.js';
import { PARTNER_LIMITS, partnerFailureBattery } from '../shared/partner-failure.battery.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import * as partnerDoes from '../support/scripted-partner.js';
import { type ScriptedPartner, startScriptedPartner } from '../support/scripted-partner.js';

const SITES = 'GET /scale-platform/v1/sites';
const SITE = { id: '0b8f6f0e-3c55-4b7e-8f0a-2f7f7a9f1c10', name: 'Onion Creek' };

interface SyncRun {
  readonly status: string;
  readonly error?: string;
}

let service: TestApp;
beforeAll(async () => {
  service = await startTestApp({ env: PARTNER_LIMITS });
});
afterAll(() => service.close());

/** A paused connection of a hauler of its own: what one partner does opens nobody else's circuit. */
async function connect(partner: ScriptedPartner): Promise<Connection> {
  const { body: hauler } = await service.admin<{ id: string }>('POST', '/haulers', { name: 'Green Valley' });
  const request = {
    haulerId: hauler.id,
    interface: 'site',
    baseUrl: partner.url,
    apiKey: 'partner-key',
    enabled: false,
  };
  return (await service.admin<Connection>('POST', '/connections', request)).body;
}

async function synchronise(connectionId: string): Promise<SyncRun> {
  const { body } = await service.admin<{ runId: string }>('POST', `/connections/${connectionId}/sync`);
  let run: SyncRun = { status: 'queued' };
  await eventually(async () => {
    run = (await service.admin<SyncRun>('GET', `/sync-runs/${body.runId}`)).body;
    expect(['queued', 'running']).not.toContain(run.status);
  }, 10_000);
  return run;
}

describe('a synchronisation with a partner that fails', () => {
  partnerFailureBattery(async (reply) => {
    const partner = await startScriptedPartner();
    const { id, haulerId } = await connect(partner);
    partner.on(SITES, partnerDoes.json({ success: true, data: { sites: [SITE] } }));
    expect(await synchronise(id)).toMatchObject({ status: 'succeeded' });
    const sites = `/sites?haulerId=${haulerId}`;
    const { body: before } = await service.admin('GET', sites);
    partner.on(SITES, reply);
    const run = await synchronise(id);
    expect(run.status).toBe('failed');
    expect((await service.admin('GET', sites)).body).toEqual(before);
    await partner.stop();
    return run.error ?? null;
  });
});
