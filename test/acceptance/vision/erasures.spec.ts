import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { Footage, minute } from '../support/footage.js';
import { type ErrorBody, Hauler, ONE_SITE, paths, type Plain } from '../support/hauler.js';
import { admin, administer, listed } from '../support/target.js';

interface Erasure extends ErrorBody {
  readonly id: string;
  readonly status: string;
  readonly confirmationCode: string;
  readonly preview: Readonly<Record<string, number>>;
  readonly erased: Readonly<Record<string, number>>;
  readonly notReached: readonly string[];
}

const prepare = (body: Plain) => admin<Erasure>('POST', '/erasures', body);
const confirm = (id: string, confirmationCode: string) =>
  admin<Erasure>('POST', `/erasures/${id}/confirm`, { confirmationCode });

/** Prepares and confirms an erasure; returns its receipt. */
async function erase(body: Plain): Promise<Erasure> {
  const { id, confirmationCode } = (await prepare(body)).body;
  expect((await confirm(id, confirmationCode)).status).toBe(202);
  return eventually(async () => {
    const receipt = await administer<Erasure>('GET', `/erasures/${id}`);
    expect(receipt.status).toBe('done');
    return receipt;
  });
}

const RANGE = { from: minute(0), to: minute(30) };

describe('an erasure of footage', () => {
  test('deletes the recordings of its range alone, and they are not fetched again (decision 68)', async () => {
    const footage = await Footage.create();
    await footage.add({ from: 0, to: 10 }, { from: 25, to: 35 }, { from: 40, to: 50 });
    const ids = await Promise.all([0, 25, 40].map((from) => footage.idOf(from)));
    const range = { ...footage.truck, ...RANGE };
    const { status, body } = await prepare(range);
    expect([status, body]).toMatchObject([
      201,
      { status: 'previewed', kind: 'footage', preview: { recordings: 2, bytes: 2_000 } },
    ]);
    expect((await confirm(body.id, 'WRONG1')).status).toBe(409);
    expect((await admin('GET', `/recordings/${ids[0]}`)).status).toBe(200);

    const receipt = await erase(range);
    expect(receipt.erased).toMatchObject({ recordings: 2, bytes: 2_000 });
    expect(receipt.notReached.join()).toContain('Backups');
    expect((await confirm(receipt.id, body.confirmationCode)).status).toBe(409);
    const statuses = await Promise.all(ids.map(async (id) => (await admin('GET', `/recordings/${id}`)).status));
    expect(statuses).toEqual([404, 404, 200]);
    expect((await admin('GET', `/recordings/${ids[0]}/content`)).status).toBe(404);

    // The partner still lists them; a later recording shows that it was asked again.
    const query = new URLSearchParams({ ...range, cameraId: 'front' }).toString();
    const coverage = await administer<{ data: Plain[] }>('GET', `/coverage?${query}`);
    expect(coverage.data).toMatchObject([{ state: 'expired', cause: 'erased', startTime: minute(0) }]);
    const clip = { cameraId: 'front', startTime: minute(0), endTime: minute(10) };
    expect((await admin('POST', '/video-requests', { ...footage.truck, ...clip })).status).toBe(409);
    await footage.addAfterErasure(2, { from: 60, to: 70 });
    const left = (await footage.vision.recordings()) as unknown as { startTime: string }[];
    expect(left.map(({ startTime }) => startTime).sort()).toEqual([minute(40), minute(60)]);
  });

  test('is refused where a hold keeps any of it, before and after its preview (decision 68)', async () => {
    const footage = await Footage.create();
    await footage.add({ from: 20, to: 30 });
    const range = { ...footage.truck, ...RANGE };
    const { body } = await prepare(range);
    const held = await administer<{ id: string }>('POST', '/holds', {
      ...{ caseId: 'CLAIM-1', reason: 'collision', ...footage.truck },
      ...{ from: minute(29), to: minute(40) },
    });
    const refusals = [
      await confirm(body.id, body.confirmationCode),
      await prepare(range),
      // A recording is erased as a whole, with its held part.
      await prepare({ ...range, to: minute(25) }),
    ];
    for (const refused of refusals) {
      expect([refused.status, refused.body.error.details]).toEqual([409, { holdIds: [held.id] }]);
    }
    await administer('POST', `/holds/${held.id}/release`, { reason: 'settled' });
    expect((await confirm(body.id, body.confirmationCode)).status).toBe(202);
  });

  test('may name the hauler of the connection, and no other one (decisions 1, 68)', async () => {
    const footage = await Footage.create();
    const range = { ...footage.truck, ...RANGE };
    expect((await prepare({ ...range, haulerId: footage.vision.hauler.id })).status).toBe(201);
    const other = await Hauler.create();
    expect((await prepare({ ...range, haulerId: other.id })).status).toBe(400);
  });

  test.each<[string, Plain, string[]]>([
    ['nothing', {}, ['connectionId', 'truckId', 'from', 'to']],
    ['half of each form', { haulerId: randomUUID(), truckId: 'T' }, ['connectionId', 'from', 'to']],
    ['an account and a truck', { accountId: randomUUID(), truckId: 'T' }, ['haulerId', 'truckId']],
    ['an unknown account', { haulerId: randomUUID(), accountId: randomUUID() }, ['accountId']],
    ['an unknown connection', { connectionId: randomUUID(), truckId: 'T', ...RANGE }, ['connectionId']],
    ['an empty range', { connectionId: randomUUID(), truckId: 'T', ...RANGE, to: RANGE.from }, ['to']],
  ])('is refused for %s', async (_, body, expected) => {
    const reply = await prepare(body);
    expect([reply.status, paths(reply)]).toEqual([400, expected]);
  });
});

describe('an erasure of an account', () => {
  test('finds what the account left by its exact values, in its hauler alone, and its name may come again (decision 68)', async () => {
    const [hauler, neighbour] = [await Hauler.create({ sites: ONE_SITE }), await Hauler.create()];
    const named = (accountName: string, email: string) => ({
      accountName,
      primaryContact: { firstName: 'Dana', email },
    });
    const erasedAccount = named('Erased Recycling', 'dana@erased.example');
    const options = { idempotencyKey: randomUUID() };
    const { body: account } = await hauler.createAccount<{ accountId: string; accountNumber: string }>(
      erasedAccount,
      options,
    );
    const { body: other } = await hauler.createAccount<{ accountId: string }>(named('Other', 'kim@other.example'));
    const { body: same } = await neighbour.createAccount<{ accountId: string }>(erasedAccount);
    const { body: ticket } = await hauler.push({ customFields: { Customer: account.accountNumber, Gate: 'north' } });

    const subject = { haulerId: hauler.id, accountId: account.accountId };
    await eventually(async () =>
      expect((await prepare(subject)).body.preview).toMatchObject({ accounts: 1, tickets: 1, answers: 1 }),
    );
    const receipt = await erase(subject);
    expect(receipt.erased).toMatchObject({ accounts: 1, tickets: 1, answers: 1 });
    expect(JSON.stringify(receipt)).not.toMatch(/Erased Recycling|dana@/);
    const statuses = [account, other, same].map(
      async (each) => (await admin('GET', `/accounts/${each.accountId}`)).status,
    );
    expect(await Promise.all(statuses)).toEqual([404, 200, 200]);
    const { customFields } = await administer<{ customFields: Plain }>('GET', `/tickets/${ticket.disposalTicketId}`);
    expect([JSON.stringify(customFields).includes(account.accountNumber), customFields['Gate']]).toEqual([
      false,
      'north',
    ]);
    const exchanges = await administer<{ data: { id: string }[] }>(
      'GET',
      `/exchanges?haulerId=${hauler.id}&pageSize=100`,
    );
    for (const { id } of exchanges.data) {
      expect(JSON.stringify(await administer('GET', `/exchanges/${id}`))).not.toContain('dana@erased.example');
    }
    const again = await hauler.createAccount<{ accountId: string }>(erasedAccount);
    expect([again.status, again.body.accountId === account.accountId]).toEqual([200, false]);
    const accounts = await listed<{ accountName: string }>(`/accounts?haulerId=${hauler.id}`);
    expect(accounts.map(({ accountName }) => accountName).sort()).toEqual(['Erased Recycling', 'Other']);
  });
});
