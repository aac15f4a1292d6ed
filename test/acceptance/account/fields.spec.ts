import { beforeAll, describe, expect, test } from '@jest/globals';
import { absentCases, acceptedCases, type Field, refusedCases, valueAt, withValue } from '../support/fields.js';
import { Hauler, paths, type Plain } from '../support/hauler.js';
import { expectError, unique } from '../support/posts.js';

/** Characters of one, two, three and four bytes; the last is two UTF-16 units and one code point. */
const fill = (length: number) => ['x', 'é', '中', '😀'].map((character) => character.repeat(length));
const email = (length: number) => `${'l'.repeat(20)}@${'d'.repeat(60)}.${'t'.repeat(length - 82)}`;
const words = (text: string) => text.split(' ');

const required = { type: 'text', may: 'not be absent' } as const;
const optional = { type: 'text', may: 'be absent or null' } as const;

const text = (path: string, max: number, ...good: string[]): Field => ({
  path,
  rows: `section 2.4 ${path}; section 8 Account field lengths`,
  ...optional,
  good: ['', ...good, ...fill(max)],
  bad: fill(max + 1),
});

const FIELDS: readonly Field[] = [
  {
    path: 'accountName',
    rows: 'section 2.4 accountName; section 8 accountName length; decision 27',
    ...required,
    good: ['x', ' Blanks at its ends ', 'Two\nlines', "Robert'); DROP TABLE accounts;--", '%_\\', '__proto__'],
    bad: ['', ' ', ' \t\n\u00a0\u2003\u3000\u0085\u2028', '\u200b\u2060\u00ad\ufeff', ...fill(201)],
  },
  {
    path: 'accountName',
    rows: 'section 8 accountName length',
    ...required,
    good: [...fill(200), '\ufdfa'.repeat(200)],
    bad: [],
  },
  ...(['billingAddress', 'primaryContact'] as const).map((path): Field => ({
    path,
    rows: `section 2.4 ${path}`,
    ...{ type: 'object', may: 'be absent or null', good: [], bad: [] },
  })),
  text('billingAddress.street', 100, ' ', '120 Quarry Road\n2nd line'),
  text('billingAddress.unit', 20, 'Unit 4'),
  text('billingAddress.city', 50, 'Austin'),
  text('billingAddress.country', 50, 'México'),
  {
    path: 'billingAddress.state',
    rows: 'section 2.4 billingAddress.state; section 7 statuses of Account; decision 30',
    ...optional,
    good: words(
      'AL AK AZ AR CA CO CT DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK OR PA RI SC SD TN TX UT VT VA WA WV WI WY DC PR GU VI AS MP FM MH PW AA AE AP',
    ),
    bad: ['', 'tx', 'Tx', 'Texas', 'T', 'TXX', 'XX', 'UM', 'ON', ' TX', 'TX ', 'TX\n', 'ＴＸ', '12'],
  },
  {
    path: 'billingAddress.zip',
    rows: 'section 2.4 billingAddress.zip; section 7 statuses of Account',
    ...optional,
    good: ['00000', '78701', '78701-1234'],
    bad: [
      ...['', '7870', '787011', '78701-', '78701-123', '78701-12345', '787011234', '78701 1234', ' 78701', '78701\n'],
      ...['7870a', 'K1A 0B1', '７８７０１', '78701–1234', '-1234', '٧٨٧٠١'],
    ],
  },
  text('primaryContact.firstName', 50, "O'Neil-Ñandú"),
  text('primaryContact.lastName', 50, 'Reyes'),
  {
    path: 'primaryContact.email',
    rows: 'section 2.4 primaryContact.email; section 8 Account field lengths',
    ...optional,
    good: ['Dana.Reyes@Example.com', 'a@b.co', 'first+tag@sub.example.org', "o'neil@example.com", email(100)],
    bad: [
      ...['', 'dana', 'dana@', '@example.com', 'a@b', 'a b@example.com', 'a@@example.com', 'a@example..com'],
      ...['a@-example.com', 'Dana <dana@example.com>', ' dana@example.com', 'dana@example.com\n', email(101)],
    ],
  },
  {
    path: 'primaryContact.phone',
    rows: 'section 2.4 primaryContact.phone; decision 30',
    ...optional,
    good: ['1', '+1', '+1 (512) 555-0142', '512-555-0142', ' 512', '+ (1)', '0'.repeat(40)],
    bad: [
      ...['', ' ', '+', '()', '-', '++1', '1+', '512.555.0142', '512 555 0142 x3', '５１２', '512\t555', '512\n'],
      ...['1\u00a02', '/512', '#5', '٥'],
    ],
  },
];

let hauler: Hauler;
beforeAll(async () => {
  hauler = await Hauler.create();
});

const account = (): Plain => ({
  accountName: unique(),
  billingAddress: { city: 'Waco' },
  primaryContact: { lastName: 'R' },
});

describe('a field of an account', () => {
  test.each(refusedCases(FIELDS))(
    '$path that is $what is 400 ($rows; section 4.2 400; section 7 statuses of Account)',
    async ({ path, value }) => {
      const reply = await hauler.createAccount(withValue(account(), path, value));
      expectError(reply, 400);
      expect(paths(reply)).toEqual([path]);
    },
  );

  test.each(acceptedCases(FIELDS))(
    '$path that is $what is answered as it was sent ($rows; section 4.2 200)',
    async ({ path, value }) => {
      const { status, body } = await hauler.createAccount(withValue(account(), path, value));
      expect([status, valueAt(body, path)]).toEqual([200, value]);
    },
  );

  test.each(absentCases(FIELDS))(
    '$path that is $what is not answered, and no reason to refuse ($rows; decision 5)',
    async ({ path, value }) => {
      const { status, body } = await hauler.createAccount(withValue(account(), path, value));
      expect([status, valueAt(body, path)]).toEqual([200, undefined]);
    },
  );
});

test('each violation of an account is named at once (section 2.1 error.details; decisions 11, 12)', async () => {
  const reply = await hauler.createAccount({
    accountName: 5,
    billingAddress: { street: 1, state: 'tx', zip: '1', country: 'x'.repeat(51), unit: 'fine' },
    primaryContact: { email: 'x', phone: 'y', firstName: [], lastName: 'fine' },
  });
  expectError(reply, 400);
  expect(paths(reply).sort()).toEqual([
    'accountName',
    ...['country', 'state', 'street', 'zip'].map((field) => `billingAddress.${field}`),
    ...['email', 'firstName', 'phone'].map((field) => `primaryContact.${field}`),
  ]);
});

test.each(['\u200b\u0001', '\u0001\u007f', '\u00ad\u200e', '\ufe0f\u2066 \u2069', '\u3164'])(
  'an account name of invisible and control characters alone, %j, is blank (decision 27)',
  async (accountName) => expectError(await hauler.createAccount({ accountName }), 400),
);
