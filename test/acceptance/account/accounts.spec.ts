import { beforeAll, describe, expect, test } from '@jest/globals';
import { type ErrorBody, Hauler, type Plain } from '../support/hauler.js';
import { type Answer } from '../support/clients.js';
import { countOf, expectError, postAs, POSTS, unique } from '../support/posts.js';
import { administer, call, listed, target } from '../support/target.js';

const [, POST] = POSTS as [(typeof POSTS)[0], (typeof POSTS)[0]];
const UUID = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
const NUMBER = expect.stringMatching(/^A-[1-9][0-9]{5,}$/);

let hauler: Hauler;
beforeAll(async () => {
  hauler = await Hauler.create();
});

const create = async (account: Plain, of = hauler) => (await of.createAccount(account)).body;

function expectNameTaken(reply: Answer<ErrorBody & Plain>, { accountId, accountNumber }: Plain): void {
  expectError(reply, 409, 'CONFLICT');
  expect(reply.body.error.details).toEqual({ reason: 'NAME_TAKEN', accountId, accountNumber });
  expect(reply.body.error.message).toContain(accountNumber);
}

describe('the answer to an account', () => {
  const ADDRESS = {
    street: '120 Quarry Road',
    unit: 'Unit 4',
    city: 'Austin',
    state: 'TX',
    country: 'USA',
    zip: '78701-1234',
  };
  const CONTACT = { firstName: 'Dana', lastName: 'Reyes', email: 'Dana.Reyes@Example.com', phone: '+1 (512) 555-0142' };

  test('has ids, a number and all that was sent, and is what is stored (section 2.5 accountId, accountNumber, accountName, billingAddress, primaryContact; section 4.2 200; decisions 27, 29)', async () => {
    const sent = { accountName: '  Löne  Star™ ', billingAddress: ADDRESS, primaryContact: CONTACT };
    const { status, body } = await hauler.createAccount<Plain>(sent);
    expect([status, body]).toEqual([
      200,
      {
        ...{ accountId: UUID, accountNumber: NUMBER, accountName: sent.accountName },
        billingAddress: { ...ADDRESS, addressId: UUID },
        primaryContact: { ...CONTACT, contactId: UUID },
      },
    ]);
    expect(await administer('GET', `/accounts/${String(body['accountId'])}`)).toMatchObject(body);
  });

  const GENERATED = { accountId: UUID, accountNumber: NUMBER };
  test.each<[string, Plain, Plain]>([
    ['a name alone has no address and no contact', {}, {}],
    [
      'an empty address and contact have their ids',
      { billingAddress: {}, primaryContact: { email: null } },
      { billingAddress: { addressId: UUID }, primaryContact: { contactId: UUID } },
    ],
    [
      'an address alone has no contact',
      { billingAddress: { city: 'Waco' } },
      { billingAddress: { city: 'Waco', addressId: UUID } },
    ],
    [
      'ids of the caller and unknown fields are not echoed',
      { accountId: 'mine', accountNumber: 'A-1', extra: 1, billingAddress: { addressId: 'mine', x: 1 } },
      { billingAddress: { addressId: UUID } },
    ],
  ])('%s (section 2.5 billingAddress, primaryContact; decisions 4, 27)', async (_what, more, answered) => {
    const accountName = unique();
    expect(await create({ accountName, ...more })).toEqual({ ...GENERATED, accountName, ...answered });
  });

  test('numbers are unique on the platform, and increase (section 2.5 accountNumber; decision 29)', async () => {
    const haulers = [hauler, await Hauler.create()];
    const numbers: number[] = [];
    for (let i = 0; i < 6; i++) {
      const { accountNumber } = await create({ accountName: unique() }, haulers[i % 2]);
      numbers.push(Number(String(accountNumber).slice(2)));
    }
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
  });

  test('the last of two fields with one name counts (section 4.2 200; decision 10)', async () => {
    const { body } = await postAs(hauler, POST, `{"accountName":1,"accountName":"${unique('Twice')}"}`);
    expect(body['accountName']).toMatch(/^Twice/);
  });
});

describe('a name that is taken', () => {
  test.each([
    ['the same', 'Same', 'Same'],
    ['another case', 'Straße & Söhne', 'STRASSE & SÖHNE'],
    ['other spaces', 'Lone Star', '  Lone \u00a0\tStar\u3000'],
    ['another Unicode form', 'Café', 'cafe\u0301'],
    ['full width', 'LONE STAR 2', 'ｌｏｎｅ　ｓｔａｒ ２'],
    ['a name that NFKC makes too long for an index', '\ufdfa'.repeat(199), `${'\ufdfa'.repeat(199)} `],
  ])(
    'in %s is 409 with the account, so that a lost answer can be recovered (section 4.2 409; section 7 statuses of Account; decisions 12, 27, 28)',
    async (_what, name, again) => {
      const of = await Hauler.create();
      const first = await create({ accountName: name }, of);
      expectNameTaken(await of.createAccount({ accountName: again, billingAddress: { city: 'Waco' } }), first);
      expect(await countOf(of, POST)).toBe(1);
    },
  );

  const SEEN_ALIKE = [
    'Gre\u200ben \u200eWas\u00adte',
    '\ufeffGreen\u2060 Waste\u200d',
    'Green \u202eWaste\u202c',
    'Green\ufe0f Waste\u{e0101}',
    'Green\u2063 \u061cWaste\u180e',
    'Gre\u034fen Waste',
  ];
  test.each(SEEN_ALIKE)(
    'with characters that are not shown, %j, is 409 and is found (decision 27)',
    async (accountName) => {
      const of = await Hauler.create();
      const first = await create({ accountName: 'Green Waste' }, of);
      expectNameTaken(await of.createAccount({ accountName }), first);
      const other = await Hauler.create();
      const second = await create({ accountName }, other);
      expect(second['accountName']).toBe(accountName);
      for (const [search, { id }, { accountId }] of [
        ['een was', other, second],
        [accountName, of, first],
      ] as const) {
        const found = await listed<{ accountId: string }>(
          `/accounts?${new URLSearchParams({ haulerId: id, search }).toString()}`,
        );
        expect(found).toMatchObject([{ accountId }]);
      }
    },
  );

  test('of two accounts that an import brings is one (decision 27)', async () => {
    const of = await Hauler.create();
    const csv = `accountName\nBlue\u200b Waste\nBlue Wa\u00adste\n`;
    const headers = { Authorization: `Bearer ${target.adminToken}`, 'Content-Type': 'text/csv' };
    await call('POST', `/admin/v1/accounts/import?haulerId=${of.id}`, { headers, body: csv });
    expect(await listed(`/accounts?haulerId=${of.id}`)).toHaveLength(1);
  });

  test.each([
    ['a word more', 'Lone Star', 'Lone Star LLC'],
    ['without the space', 'Lone Star', 'LoneStar'],
    ['another accent', 'Café', 'Cafe'],
    ['another punctuation', 'A.B.', 'AB'],
  ])('is not that of %s (section 4.2 200; decision 27)', async (_what, name, other) => {
    const of = await Hauler.create();
    await create({ accountName: name }, of);
    expect((await of.createAccount({ accountName: other })).status).toBe(200);
  });

  test('by another hauler is free, and nothing of the other account is answered (decisions 1, 27)', async () => {
    const [accountName, other] = [unique(), await Hauler.create()];
    const mine = await create({ accountName });
    const theirs = await create({ accountName }, other);
    expect(theirs['accountId']).not.toBe(mine['accountId']);
    expectNameTaken(await other.createAccount({ accountName }), theirs);
  });

  test('is seen after the fields: 400 before 409 (decision 3)', async () => {
    const accountName = unique();
    await create({ accountName });
    expectError(await hauler.createAccount({ accountName, billingAddress: { zip: '1' } }), 400);
  });
});
