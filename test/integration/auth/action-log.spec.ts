import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Action } from '../../../src/contracts/admin/actions.routes.js';
import { createHauler } from '../../support/api-keys.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { addOldAction, refuseHauler } from '../../support/rows.js';

let service: TestApp;
let haulerId: string;
beforeAll(async () => {
  service = await startTestApp({ env: { SANDBOX: true, OUTBOUND_ALLOW_PRIVATE: true } });
  haulerId = await createHauler(service, 'Logged');
});
afterAll(() => service.close());

const actions = async (query = '') =>
  (await service.admin<{ data: Action[] }>('GET', `/actions?pageSize=100${query}`)).body.data;
const last = async () => (await actions())[0];

test('a call that failed is listed with its error, because it may have changed something', async () => {
  await refuseHauler(service, 'Broken');
  expect((await service.admin('POST', '/haulers', { name: 'Broken' })).status).toBe(500);
  await eventually(async () =>
    expect(await last()).toMatchObject({
      actor: 'admin',
      action: 'createHauler',
      resource: 'hauler',
      changes: { name: 'Broken' },
      error: 'unexpected error',
      sentence: 'An admin with the token sent a call that failed (unexpected error), and may have created a hauler.',
    }),
  );
});

test('says in a sentence who did what on which thing, by its name, also of what was deleted', async () => {
  const { body: connection } = await service.admin<{ id: string }>('POST', '/connections', {
    haulerId,
    interface: 'vision',
    customerId: 'green-valley',
    baseUrl: 'http://127.0.0.1:9',
    apiKey: 'the-secret-of-the-partner',
    enabled: false,
  });
  const { body: key } = await service.admin<{ id: string; prefix: string }>('POST', '/api-keys', {
    haulerId,
    interfaces: ['scale'],
    name: 'Scale house',
  });
  const { body: truck } = await service.admin<{ id: string }>('POST', '/video-subscriptions', {
    connectionId: connection.id,
    truckId: 'TRUCK-7',
    startTime: '2026-01-31T08:00:00Z',
  });
  await service.admin('PATCH', `/connections/${connection.id}`, { apiKey: 'another-secret-of-the-partner' });
  await service.admin('PATCH', `/connections/${connection.id}`, { enabled: true });
  await service.admin('PATCH', `/connections/${connection.id}`, { enabled: false });
  await service.admin('DELETE', `/video-subscriptions/${truck.id}`);
  await service.admin('DELETE', `/connections/${connection.id}`);
  await service.admin('DELETE', `/api-keys/${key.id}`);
  await service.admin('POST', '/retention', {});
  const name = `key ${key.prefix}… (Scale house) of Logged`;
  expect((await actions()).slice(0, 10).map(({ sentence }) => sentence)).toEqual([
    'An admin with the token deleted stored video by age now.',
    `An admin with the token revoked an API key: the ${name}.`,
    'An admin with the token deleted a connection: the vision connection of Logged.',
    'An admin with the token ended a video subscription: the subscription of TRUCK-7 of Logged.',
    'An admin with the token paused the vision connection of Logged.',
    'An admin with the token resumed the vision connection of Logged.',
    'An admin with the token replaced the key of the vision connection of Logged.',
    'An admin with the token subscribed to the continuous recordings of a truck: the subscription of TRUCK-7 of Logged.',
    `An admin with the token issued an API key: the ${name}.`,
    'An admin with the token created a connection of a hauler to a partner: the vision connection of Logged.',
  ]);
  await addOldAction(service);
  expect((await last())?.sentence).toBe('A partner with the key hb_gone… called callOfOld on the thing 7.');
});
