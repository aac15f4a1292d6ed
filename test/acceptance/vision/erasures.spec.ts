import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { Footage, minute } from '../support/footage.js';
import { type ErrorBody, flow, Hauler, ONE_SITE, paths, type Plain, TICKET } from '../support/hauler.js';
import { admin, administer, listed, target } from '../support/target.js';

interface Erasure extends ErrorBody {
  readonly id: string;
  readonly status: string;
  readonly preview?: Readonly<Record<string, number>>;
  readonly erased: Readonly<Record<string, number>>;
  readonly notReached: readonly string[];
  readonly endsByItself: readonly { readonly what: string; readonly until: string }[];
}

const request = (body: Plain) => admin<Erasure>('POST', '/erasures', body);
const preview = (body: Plain) => request({ ...body, dryRun: true });

/** Erases; returns the receipt. */
async function erase(body: Plain): Promise<Erasure> {
  const { id } = await administer<Erasure>('POST', '/erasures', body);
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
    const { status, body } = await preview(range);
    expect([status, body]).toMatchObject([
      200,
      { status: 'previewed', kind: 'footage', preview: { recordings: 2, bytes: 2_000 } },
    ]);
    expect((await admin('GET', `/recordings/${ids[0]}`)).status).toBe(200);

    const receipt = await erase(range);
    expect(receipt.erased).toMatchObject({ recordings: 2, bytes: 2_000 });
    expect(receipt.notReached.join()).toContain('Backups');
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

  test('is refused where a hold keeps any of it, as its dry run is (decision 68)', async () => {
    const footage = await Footage.create();
    await footage.add({ from: 20, to: 30 });
    const range = { ...footage.truck, ...RANGE };
    const held = await administer<{ id: string }>('POST', '/holds', {
      ...{ caseId: 'CLAIM-1', reason: 'collision', ...footage.truck },
      ...{ from: minute(29), to: minute(40) },
    });
    const refusals = [
      await request(range),
      await preview(range),
      // A recording is erased as a whole, with its held part.
      await request({ ...range, to: minute(25) }),
    ];
    for (const refused of refusals) {
      expect([refused.status, refused.body.error.details]).toEqual([409, { holdIds: [held.id] }]);
    }
    await administer('POST', `/holds/${held.id}/release`, { reason: 'settled' });
    expect((await erase(range)).erased).toMatchObject({ recordings: 1 });
  });

  test('may name the hauler of the connection; of another one it is 404, as its dry run is (decisions 1, 68)', async () => {
    const footage = await Footage.create();
    const range = { ...footage.truck, ...RANGE };
    expect((await preview({ ...range, haulerId: footage.vision.hauler.id })).status).toBe(200);
    const other = await Hauler.create();
    for (const dryRun of [false, true]) {
      expect((await request({ ...range, haulerId: other.id, dryRun })).status).toBe(404);
    }
  });

  test.each<[string, Plain, string[]]>([
    ['nothing', {}, ['connectionId', 'truckId', 'from', 'to']],
    ['half of each form', { haulerId: randomUUID(), truckId: 'T' }, ['connectionId', 'from', 'to']],
    ['an account and a truck', { accountId: randomUUID(), truckId: 'T' }, ['haulerId', 'truckId']],
    ['an unknown account', { haulerId: randomUUID(), accountId: randomUUID() }, ['accountId']],
    ['an unknown connection', { connectionId: randomUUID(), truckId: 'T', ...RANGE }, ['connectionId']],
    ['an empty range', { connectionId: randomUUID(), truckId: 'T', ...RANGE, to: RANGE.from }, ['to']],
  ])('is refused for %s', async (_, body, expected) => {
    const reply = await request(body);
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
    const { body: account } = await hauler.createAccount<{ accountId: string; accountNumber: string }>(erasedAccount);
    const { body: other } = await hauler.createAccount<{ accountId: string }>(named('Other', 'kim@other.example'));
    const { body: same } = await neighbour.createAccount<{ accountId: string }>(erasedAccount);
    const { body: ticket } = await hauler.push({ customFields: { Customer: account.accountNumber, Gate: 'north' } });

    const subject = { haulerId: hauler.id, accountId: account.accountId };
    const counts = { accounts: 1, tickets: 1, revisions: 1 };
    expect((await preview(subject)).body.preview).toMatchObject(counts);
    expect((await admin('GET', `/accounts/${account.accountId}`)).status).toBe(200);
    const receipt = await erase(subject);
    expect(receipt.erased).toMatchObject(counts);
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

  test('is complete where a later push replaced the value: the changes of that push have it no more (decisions 23, 68)', async () => {
    const hauler = await Hauler.create({ sites: ONE_SITE });
    const accountName = 'Vast "West" \\ É';
    const { body: account } = await hauler.createAccount<{ accountId: string }>({ accountName });
    const push = (customFields: Plain, minute: number) => hauler.push({ customFields, inboundFlow: flow('E', minute) });
    const { body } = await push({ Gate: '7' }, 1);
    await push({ Gate: '7', Customer: accountName.toUpperCase(), Other: `${accountName}.` }, 2);
    await push({ Gate: '7', Customer: 'Next', Other: `${accountName}.` }, 3);
    await hauler.push({ inboundFlow: flow('E', 4) });
    const receipt = await erase({ haulerId: hauler.id, accountId: account.accountId });
    expect(receipt.erased).toMatchObject({ revisions: 2 });
    const { data } = await administer<{ data: { changes: Plain[] }[] }>(
      'GET',
      `/tickets/${body.disposalTicketId}/revisions`,
    );
    const field = 'customFields.Customer';
    expect(data.map(({ changes }) => changes.find((each) => each['field'] === field))).toEqual([
      undefined,
      { field, after: '[erased]' },
      { field, before: '[erased]', after: 'Next' },
      undefined,
    ]);
    expect(JSON.stringify(data[3]?.changes)).toContain('Next');
    expect(JSON.stringify(data)).toContain(JSON.stringify(`${accountName}.`).slice(1, -1));
  });

  test('of another hauler is 404, as its dry run is, and nothing is erased (decisions 1, 68)', async () => {
    const [hauler, neighbour] = [await Hauler.create(), await Hauler.create()];
    const { body: account } = await neighbour.createAccount<{ accountId: string }>({ accountName: 'Of the other' });
    const subject = { haulerId: hauler.id, accountId: account.accountId };
    expect([(await preview(subject)).status, (await request(subject)).status]).toEqual([404, 404]);
    expect(await listed(`/erasures?haulerId=${hauler.id}`)).toEqual([]);
    expect((await admin('GET', `/accounts/${account.accountId}`)).status).toBe(200);
  });

  /** Names that are words of JSON, of our own fields and routes, or a part of another one's. */
  const NAMES = ['True', 'Name', 'Site', 'Mesa', '1', 'null', 'success', 'Mesa "West"', 'C:\\Mesa', 'É', 'enabled'];

  test.each(NAMES)(
    'named %j changes nothing of another hauler, and of its own only what has this exact value (decision 68)',
    async (accountName) => {
      const [hauler, neighbour] = [await Hauler.create({ sites: ONE_SITE }), await Hauler.create({ sites: ONE_SITE })];
      const { body: account } = await hauler.createAccount<{ accountId: string }>({ accountName });
      const owners = await Promise.all(
        [hauler, neighbour].map(async (owner) => {
          const { connectionId } = await owner.siteConnection();
          await administer('PATCH', `/connections/${connectionId}`, { enabled: false, intervalSeconds: 3_600 });
          const longer = { accountName: `${accountName} Red Hauling` };
          const key = randomUUID();
          const sent = {
            customFields: { Customer: `${accountName} Red`, Other: `x${accountName}`, [accountName]: 'x' },
          };
          const ticket = await owner.push(sent, { idempotencyKey: key });
          return {
            owner,
            connectionId,
            key,
            sent,
            ticket: ticket.body.disposalTicketId,
            longer: await owner.createAccount(longer),
          };
        }),
      );
      const { body: equal } = await neighbour.push({ customFields: { Customer: accountName } });
      const { body: named } = await hauler.push({ customFields: { Customer: accountName.toUpperCase(), Gate: '7' } });
      const before = await Promise.all(owners.map(({ connectionId }) => actionsOf(connectionId)));
      expect(before[1]?.length).toBeGreaterThan(0);

      const receipt = await erase({ haulerId: hauler.id, accountId: account.accountId });
      expect(receipt.erased).toMatchObject({ accounts: 1, tickets: 1, revisions: 1 });
      expect(await Promise.all(owners.map(({ connectionId }) => actionsOf(connectionId)))).toEqual(before);
      for (const { owner, key, sent, ticket, longer } of owners) {
        const again = await owner.push(sent, { idempotencyKey: key });
        expect([again.body.disposalTicketId, again.headers.get('idempotency-replayed')]).toEqual([ticket, 'true']);
        expect(await fieldsOf(ticket)).toEqual([sent.customFields, sent.customFields]);
        expect((await admin('GET', `/accounts/${String(longer.body['accountId'])}`)).status).toBe(200);
      }
      expect(await fieldsOf(equal.disposalTicketId)).toEqual(Array(2).fill({ Customer: accountName }));
      expect(await fieldsOf(named.disposalTicketId)).toEqual(Array(2).fill({ Customer: '[erased]', Gate: '7' }));
    },
  );

  test('ends whatever a push has, and leaves its other bytes as they were sent (decision 68)', async () => {
    const hauler = await Hauler.create({ sites: ONE_SITE });
    const { body: account } = await hauler.createAccount<{ accountId: string }>({ accountName: 'Vast' });
    const fields = String.raw`{"Customer":"V\u0061st" , "9":"x","Gate":"north"}`.replace('\\\\', '\\');
    const shadowed = `"note":${'['.repeat(20_000)}${']'.repeat(20_000)},"note":"\\u0000","note":null`;
    const rest = JSON.stringify(TICKET).slice(1);
    const text = `{ "weight" : 1e200000, "small":-0.0,${shadowed}, "customFields": ${fields},${rest}`;
    const headers = { 'PLATFORM-API-KEY': await hauler.key(), 'Content-Type': 'application/json' };
    const pushed = await fetch(`${target.url}/platform-api/v1/tickets`, { method: 'POST', headers, body: text });
    expect(pushed.status).toBe(200);
    const { disposalTicketId } = (await pushed.json()) as { disposalTicketId: string };

    const receipt = await erase({ haulerId: hauler.id, accountId: account.accountId });
    expect(receipt.erased).toMatchObject({ tickets: 1, revisions: 1 });
    const fieldsNow = { Customer: '[erased]', '9': 'x', Gate: 'north' };
    expect(await fieldsOf(disposalTicketId)).toEqual([fieldsNow, fieldsNow]);
  });

  test('names in its receipt what ends by itself, with the day, and keeps an answer for its retry (decisions 16, 68)', async () => {
    const hauler = await Hauler.create();
    const options = { idempotencyKey: randomUUID() };
    const sent = { accountName: 'Retried' };
    const { body: account } = await hauler.createAccount<{ accountId: string }>(sent, options);
    const subject = { haulerId: hauler.id, accountId: account.accountId };
    const { endsByItself } = await erase(subject);
    expect((await preview(subject)).status).toBe(400);
    const text = endsByItself.map(({ what }) => what).join();
    expect(text).toMatch(/exchange log.*Idempotency-Key.*[Dd]eliveries/);
    const days = endsByItself.map(({ until }) => (Date.parse(until) - Date.now()) / 86_400_000);
    for (const each of days) expect(Math.ceil(each)).toBeGreaterThanOrEqual(1);
    // A retry creates it not again.
    const again = await hauler.createAccount<{ accountId: string }>(sent, options);
    expect([again.body.accountId, again.headers.get('idempotency-replayed')]).toEqual([account.accountId, 'true']);
    expect(await listed(`/accounts?haulerId=${hauler.id}`)).toEqual([]);
  });
});

const actionsOf = (connectionId: string) =>
  listed<Plain>(`/actions?resource=${encodeURIComponent(`connection:${connectionId}`)}`);

/** The custom fields of a ticket, and of its first push. */
async function fieldsOf(ticketId: string): Promise<unknown[]> {
  const ticket = await administer<Plain>('GET', `/tickets/${ticketId}`);
  const { data } = await administer<{ data: { body: Plain }[] }>('GET', `/tickets/${ticketId}/revisions`);
  return [ticket['customFields'], data[0]?.body['customFields']];
}
