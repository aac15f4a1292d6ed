import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ACCOUNT_API } from '../../../src/contracts/account/account.api.js';
import { describeIdempotency } from '../../shared/idempotency.battery.js';
import { describeJsonBody } from '../../shared/json-body.battery.js';
import { type Caller, callerOf, pathsOf } from '../../shared/post-endpoint.js';
import { startTestApp, type TestApp } from '../../support/app.js';

interface Created {
  readonly accountName: string;
  readonly billingAddress?: Readonly<Record<string, string>>;
  readonly primaryContact?: Readonly<Record<string, string>>;
}

let service: TestApp;
let partner: Caller;
beforeAll(async () => {
  service = await startTestApp();
  partner = await callerOf({ api: ACCOUNT_API, path: '/platform-api/v1/accounts' }, service);
});
afterAll(() => service.close());

let names = 0;
const named = (more: object) => ({ accountName: `Fields ${++names}`, ...more });

/** Characters of one, two, three and four bytes; the last is two UTF-16 units and one code point. */
const WIDE = ['x', 'é', '中', '😀'];
const fill = (length: number) => WIDE.map((character) => character.repeat(length));
const email = (length: number) => `${'l'.repeat(20)}@${'d'.repeat(60)}.${'t'.repeat(length - 82)}`;

/** Section 2.4, field by field: accepted values at the limits and of each form, and refused values. */
const TEXT_FIELDS: [field: string, accepted: string[], refused: string[]][] = [
  ['billingAddress.street', ['', ' ', '120 Quarry Road\n2nd line', ...fill(100)], fill(101)],
  ['billingAddress.unit', ['', 'Unit 4', ...fill(20)], fill(21)],
  ['billingAddress.city', ['', 'Austin', ...fill(50)], fill(51)],
  ['billingAddress.country', ['', 'USA', 'México', ...fill(50)], fill(51)],
  [
    'billingAddress.state',
    [
      ...'AL AK AZ AR CA CO CT DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND'.split(
        ' ',
      ),
      ...'OH OK OR PA RI SC SD TN TX UT VT VA WA WV WI WY DC PR GU VI AS MP FM MH PW AA AE AP'.split(' '),
    ],
    ['', 'tx', 'Tx', 'Texas', 'T', 'TXX', 'XX', 'ZZ', 'UM', 'ON', ' TX', 'TX ', 'TX\n', 'ＴＸ', '12'],
  ],
  [
    'billingAddress.zip',
    ['00000', '78701', '99999', '78701-1234', '00000-0000'],
    [
      '',
      '7870',
      '787011',
      '78701-',
      '78701-123',
      '78701-12345',
      '787011234',
      '78701 1234',
      '78701-1234 ',
      ' 78701',
    ].concat(['78701\n', '7870a', 'K1A 0B1', '７８７０１', '78701–1234', '-1234', '٧٨٧٠١']),
  ],
  ['primaryContact.firstName', ['', 'Dana', "O'Neil-Ñandú", ...fill(50)], fill(51)],
  ['primaryContact.lastName', ['', 'Reyes', ...fill(50)], fill(51)],
  [
    'primaryContact.email',
    ['dana.reyes@example.com', 'a@b.co', 'first+tag@sub.example.org', "o'neil@example.com", email(100)],
    [
      '',
      'dana',
      'dana@',
      '@example.com',
      'a@b',
      'a b@example.com',
      'a@@example.com',
      'a@example..com',
      'a@-example.com',
    ].concat(['Dana <dana@example.com>', ' dana@example.com', 'dana@example.com\n', 'a,b@example.com', email(101)]),
  ],
  [
    'primaryContact.phone',
    ['1', '+1', '5125550142', '+1 (512) 555-0142', '(512) 555-0142', '512-555-0142', ' 512', '+ (1)', '0'.repeat(40)],
    [
      '',
      ' ',
      '+',
      '()',
      '-',
      '++1',
      '1+',
      '512.555.0142',
      '512 555 0142 x3',
      'ext 5',
      '５１２',
      '512\t555',
      '512\n',
    ].concat(['1\u00a02', '/512', '#5', '٥']),
  ],
];

const nest = (field: string, value: unknown) => {
  const [object, name] = field.split('.') as [string, string];
  return named({ [object]: { [name]: value } });
};

describe('accountName', () => {
  test.each([
    'x',
    '😀',
    ' A name with blanks at its ends ',
    'Two\nlines\tand a tab',
    '<script>alert(1)</script>',
    "Robert'); DROP TABLE accounts;--",
    '%_\\',
    '\u0001\u001f\u007f',
    'עברית العربية हिन्दी 中文',
    '__proto__',
    ...fill(200),
    '\ufdfa'.repeat(200),
  ])('%j is accepted and returned as sent', async (accountName) => {
    const { status, body } = await partner.post<Created>({ accountName });
    expect(status).toBe(200);
    expect(body.accountName).toBe(accountName);
  });

  test.each<[string, unknown]>([
    ['absent', undefined],
    ['null', null],
    ['empty', ''],
    ['a blank', ' '],
    ['white space of many kinds', ' \t\n\u00a0\u2003\u3000\u0085\u2028'],
    ['invisible characters', '\u200b\u2060\u00ad\ufeff'],
    ['a number', 1],
    ['a boolean', true],
    ['an array', ['x']],
    ['an object', { toString: 'x' }],
    ...fill(201).map((text): [string, unknown] => [`201 of ${[...text][0]}`, text]),
  ])('%s: 400', async (_what, accountName) => {
    const reply = await partner.post({ accountName });
    expect([reply.status, reply.body.error.code]).toEqual([400, 'INVALID_PAYLOAD']);
    expect(pathsOf(reply)).toEqual(['accountName']);
  });
});

describe.each(TEXT_FIELDS)('%s', (field, accepted, refused) => {
  const [object, name] = field.split('.') as ['billingAddress' | 'primaryContact', string];

  test('is accepted and returned as sent, at its limits too', async () => {
    for (const value of accepted) {
      const { status, body } = await partner.post<Created>(nest(field, value));
      expect([value, status, body[object]?.[name]]).toEqual([value, 200, value]);
    }
  });

  test('is refused beyond its limits and forms, by its path', async () => {
    for (const value of refused) {
      const reply = await partner.post(nest(field, value));
      expect([value, reply.status, reply.body.error.code]).toEqual([value, 400, 'INVALID_PAYLOAD']);
      expect(pathsOf(reply)).toEqual([field]);
    }
  });

  test('of another type is refused by its path', async () => {
    for (const value of [0, 78701, -1, 1.5, true, false, [], ['TX'], {}, { value: 'TX' }]) {
      const reply = await partner.post(nest(field, value));
      expect([value, reply.status]).toEqual([value, 400]);
      expect(pathsOf(reply)).toEqual([field]);
    }
  });

  test('null is the same as absent', async () => {
    const { status, body } = await partner.post<Created>(nest(field, null));
    expect(status).toBe(200);
    expect(body[object]).not.toHaveProperty(name);
  });

  test('with U+0000 or half a surrogate pair is refused by its path', async () => {
    for (const escape of ['\\u0000', '\\ud83d', '\\ude00', '\\ude00\\ud83d']) {
      const reply = await partner.post(JSON.stringify(nest(field, 'BAD')).replace('"BAD"', `"${escape}"`));
      expect(reply.status).toBe(400);
      expect(pathsOf(reply)).toEqual([field]);
    }
  });
});

describe.each(['billingAddress', 'primaryContact'] as const)('%s', (object) => {
  test.each([
    ['text', 'x'],
    ['number', 1],
    ['boolean', false],
    ['array', []],
    ['array of objects', [{}]],
  ])('as a %s is refused by its path', async (_what, value) => {
    const reply = await partner.post(named({ [object]: value }));
    expect(reply.status).toBe(400);
    expect(pathsOf(reply)).toEqual([object]);
  });

  test('null is the same as absent', async () => {
    const { status, body } = await partner.post<Created>(named({ [object]: null }));
    expect(status).toBe(200);
    expect(body).not.toHaveProperty(object);
  });
});

test('every violation is reported', async () => {
  const reply = await partner.post({
    accountName: 5,
    billingAddress: { street: 1, state: 'tx', zip: '1', country: 'x'.repeat(51), unit: 'fine' },
    primaryContact: { email: 'x', phone: 'y', firstName: [], lastName: 'fine' },
  });
  expect(reply.status).toBe(400);
  expect(pathsOf(reply).sort()).toEqual([
    'accountName',
    'billingAddress.country',
    'billingAddress.state',
    'billingAddress.street',
    'billingAddress.zip',
    'primaryContact.email',
    'primaryContact.firstName',
    'primaryContact.phone',
  ]);
  for (const { path, rule, message } of reply.body.error.details?.violations ?? []) {
    expect(message).toContain(path);
    expect(rule).toMatch(/^[a-z][A-Za-z]+$/);
  }
});

test('unknown fields are ignored at every depth, and not returned', async () => {
  const sent = named({
    accountId: 'mine',
    accountNumber: 'A-1',
    extra: { deep: [1] },
    billingAddress: { city: 'Austin', addressId: 'mine', extra: null },
    primaryContact: { lastName: 'Reyes', contactId: 'mine', extra: 1 },
  });
  const raw = JSON.stringify(sent).replace('"city"', '"__proto__":{"zip":"78701"},"city"');
  const { status, body, text } = await partner.post<Created & { accountId: string }>(raw);
  expect(status).toBe(200);
  expect(text).not.toMatch(/mine|extra|78701/);
  expect(Object.keys(body).sort()).toEqual(
    ['accountId', 'accountName', 'accountNumber', 'billingAddress', 'primaryContact'].sort(),
  );
  expect(Object.keys(body.billingAddress ?? {}).sort()).toEqual(['addressId', 'city']);
  expect(Object.keys(body.primaryContact ?? {}).sort()).toEqual(['contactId', 'lastName']);
});

test('the last of two fields with one name counts', async () => {
  const { status, body } = await partner.post<Created>('{"accountName":1,"accountName":"Sent twice"}');
  expect([status, body.accountName]).toEqual([200, 'Sent twice']);
});

const name = () => ({ accountName: `Account ${++names}` });
const body = () => ({ ...name(), primaryContact: { firstName: 'Zoë' } });
const endpoint = { api: ACCOUNT_API, path: '/platform-api/v1/accounts' };

// This battery counts the characters of a body as its bytes.
describeJsonBody({ ...endpoint, body: name }, () => service);

describeIdempotency(
  {
    ...endpoint,
    body,
    reused: { status: 409, code: 'CONFLICT' },
    refused: async (partner) => {
      const taken = body();
      await partner.post(taken);
      return taken;
    },
    table: 'accounts',
  },
  () => service,
);
