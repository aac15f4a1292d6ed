import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { nameDigest, normaliseName } from '../../../src/accounts/account-name.js';
import { partPattern, searchText } from '../../../src/accounts/account-search.js';
import { ACCOUNT_API } from '../../../src/contracts/account/account.api.js';
import type { CreateAccountResponse } from '../../../src/contracts/account/account.dto.js';
import { type Caller, callerOf, type ErrorAnswer } from '../../shared/post-endpoint.js';
import { issueKey } from '../../support/api-keys.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import type { Reply } from '../../support/http.js';
import { anyCharacter } from '../../support/openapi-arbitrary.js';

const PATH = '/platform-api/v1/accounts';
const ENDPOINT = { api: ACCOUNT_API, path: PATH };
const UUID7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

let service: TestApp;
let partner: Caller;
beforeAll(async () => {
  service = await startTestApp();
  partner = await callerOf(ENDPOINT, service);
});
afterAll(() => service.close());

let names = 0;
const newName = () => `Create ${++names}`;
const create = async (body: object, of = partner) => (await of.post<CreateAccountResponse>(body)).body;

async function stored(haulerId: string): Promise<number> {
  const [row] = await service.dataSource.query<[{ n: number }]>(
    'SELECT count(*)::int AS n FROM accounts WHERE hauler_id = $1',
    [haulerId],
  );
  return row.n;
}

function expectNameTaken(reply: Reply<ErrorAnswer>, by: CreateAccountResponse): void {
  expect(reply.status).toBe(409);
  expect(reply.body).toEqual({
    success: false,
    error: {
      code: 'CONFLICT',
      message: expect.stringContaining(by.accountNumber),
      details: { reason: 'NAME_TAKEN', accountId: by.accountId, accountNumber: by.accountNumber },
    },
  });
}

describe('the response (section 2.5)', () => {
  test('contains everything that was sent', async () => {
    const request = {
      accountName: '  Löne  Star™ ',
      billingAddress: {
        street: '120 Quarry Road',
        unit: 'Unit 4',
        city: 'Austin',
        state: 'TX',
        country: 'USA',
        zip: '78701-1234',
      },
      primaryContact: {
        firstName: 'Dana',
        lastName: 'Reyes',
        email: 'Dana.Reyes@Example.com',
        phone: '+1 (512) 555-0142',
      },
    };
    const { status, body, headers } = await partner.post<CreateAccountResponse>(request);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(body).toEqual({
      accountId: expect.stringMatching(UUID7),
      accountNumber: expect.stringMatching(/^A-[1-9][0-9]{5,}$/),
      accountName: request.accountName,
      billingAddress: { ...request.billingAddress, addressId: expect.stringMatching(UUID7) },
      primaryContact: { ...request.primaryContact, contactId: expect.stringMatching(UUID7) },
    });
    const ids = [body.accountId, body.billingAddress?.addressId, body.primaryContact?.contactId];
    expect(new Set(ids).size).toBe(3);
  });

  test('contains neither address nor contact for a name alone', async () => {
    expect(Object.keys(await create({ accountName: newName() }))).toEqual([
      'accountId',
      'accountNumber',
      'accountName',
    ]);
  });

  test('contains the id of an empty object (decision 27)', async () => {
    const body = await create({ accountName: newName(), billingAddress: {}, primaryContact: { email: null } });
    expect(body.billingAddress).toEqual({ addressId: expect.stringMatching(UUID7) });
    expect(body.primaryContact).toEqual({ contactId: expect.stringMatching(UUID7) });
  });

  test('of an address without a contact, and of a contact without an address', async () => {
    const address = await create({ accountName: newName(), billingAddress: { city: 'Waco' } });
    expect(Object.keys(address)).toEqual(['accountId', 'accountNumber', 'accountName', 'billingAddress']);
    const contact = await create({ accountName: newName(), primaryContact: { lastName: 'Reyes' } });
    expect(Object.keys(contact)).toEqual(['accountId', 'accountNumber', 'accountName', 'primaryContact']);
  });

  test('is what was stored', async () => {
    const { accountId, accountNumber, accountName, ...rest } = await create({
      accountName: ` ${newName()} `,
      billingAddress: { street: '', zip: '78701' },
      primaryContact: {},
    });
    const admin = await service.admin<object>('GET', `/accounts/${accountId}`);
    expect(admin.body).toEqual({
      accountId,
      accountNumber,
      accountName,
      ...rest,
      haulerId: partner.haulerId,
      createdAt: expect.stringMatching(/^2\d{3}-.*Z$/),
      updatedAt: expect.stringMatching(/^2\d{3}-.*Z$/),
    });
  });
});

describe('accountNumber (decision 29)', () => {
  test('is unique on the platform, and increases', async () => {
    const other = await callerOf(ENDPOINT, service);
    const numbers: string[] = [];
    for (let i = 0; i < 10; i++)
      numbers.push((await create({ accountName: newName() }, i % 2 ? partner : other)).accountNumber);
    const values = numbers.map((number) => Number(number.slice(2)));
    expect(values).toEqual([...new Set(values)].sort((a, b) => a - b));
  });
});

describe('an existing name (decisions 27, 28)', () => {
  test('is 409 with the id and number of the existing account, whatever its case, form and spacing', async () => {
    const first = await create({ accountName: 'Straße & Söhne Ltd' });
    const before = await stored(partner.haulerId);
    for (const accountName of ['Straße & Söhne Ltd', '  STRASSE  &\u00a0SÖHNE\tLTD ', 'strasse & so\u0308hne ｌｔｄ']) {
      expectNameTaken(await partner.post({ accountName, billingAddress: { city: 'Waco' } }), first);
    }
    expect(await stored(partner.haulerId)).toBe(before);
  });

  test('of another hauler is created, and the response contains nothing of the other account', async () => {
    const accountName = newName();
    const mine = await create({ accountName });
    const other = await callerOf(ENDPOINT, service);
    const theirs = await create({ accountName }, other);
    expect(theirs.accountName).toBe(accountName);
    expect(theirs.accountId).not.toBe(mine.accountId);
    expectNameTaken(await other.post({ accountName }), theirs);
  });

  test('is 409 with each key of the hauler', async () => {
    const accountName = newName();
    const first = await create({ accountName });
    const { key } = await issueKey(service, ['account', 'scale'], { haulerId: partner.haulerId });
    expectNameTaken(await partner.post({ accountName }, { [ACCOUNT_API.keyHeader]: key }), first);
  });

  test('is 409 for names that NFKC expands beyond an index entry', async () => {
    const accountName = '\ufdfa'.repeat(199);
    const first = await create({ accountName });
    expectNameTaken(await partner.post({ accountName: `${accountName} ` }), first);
    expect((await create({ accountName: `${accountName}x` })).accountId).toMatch(UUID7);
  });

  test('is checked after the fields: 400, not 409', async () => {
    const accountName = newName();
    await create({ accountName });
    expect((await partner.post({ accountName, billingAddress: { zip: '1' } })).status).toBe(400);
  });
});

describe('concurrent requests', () => {
  test('100 with one name on two instances: one 200 and 99 times 409 with its id', async () => {
    const second = await startTestApp({ on: service });
    try {
      const of = await callerOf(ENDPOINT, service);
      const replies = await Promise.all(
        Array.from({ length: 100 }, (_, i) => {
          const accountName = i % 3 === 0 ? 'One Name' : i % 3 === 1 ? ' ONE  NAME' : 'one\tname ';
          return of.post<ErrorAnswer & CreateAccountResponse>({ accountName }, {}, i % 2 === 0 ? service : second);
        }),
      );
      const winners = replies.filter(({ status }) => status === 200);
      expect(winners).toHaveLength(1);
      for (const reply of replies)
        if (reply.status !== 200) expectNameTaken(reply, (winners[0] as (typeof replies)[0]).body);
      expect(await stored(of.haulerId)).toBe(1);
    } finally {
      await second.close();
    }
  });

  test('100 with one name, each with its own Idempotency-Key: the same, and every answer is kept', async () => {
    const of = await callerOf(ENDPOINT, service);
    const send = () =>
      Promise.all(
        Array.from({ length: 100 }, (_, i) =>
          of.post({ accountName: 'Keyed' }, { 'Idempotency-Key': `same-name-${i}` }),
        ),
      );
    const [first, again] = [await send(), await send()];
    expect(first.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(first.filter(({ status }) => status === 409)).toHaveLength(99);
    expect(again.map(({ text }) => text)).toEqual(first.map(({ text }) => text));
    expect(again.map(({ status }) => status)).toEqual(first.map(({ status }) => status));
    expect(await stored(of.haulerId)).toBe(1);
  });

  test('100 with 100 names over a pool of two connections: all are created', async () => {
    const small = await startTestApp({ env: { DATABASE_POOL: 2 } });
    try {
      const of = await callerOf(ENDPOINT, small);
      const replies = await Promise.all(
        Array.from({ length: 100 }, (_, i) =>
          of.post<CreateAccountResponse>({ accountName: `Many ${i}` }, { 'Idempotency-Key': `many-${i}` }),
        ),
      );
      expect(replies.filter(({ status }) => status === 200)).toHaveLength(100);
      expect(new Set(replies.map(({ body }) => body.accountNumber)).size).toBe(100);
    } finally {
      await small.close();
    }
  });
});

test('a database that does not answer: 503 with Retry-After within 5 s, and nothing is kept (decision 13)', async () => {
  const request = { accountName: newName() };
  const headers = { 'Idempotency-Key': 'unavailable' };
  const runner = service.dataSource.createQueryRunner();
  await runner.startTransaction();
  try {
    await runner.query('LOCK TABLE accounts IN ACCESS EXCLUSIVE MODE');
    const started = Date.now();
    const reply = await partner.post(request, headers);
    expect(Date.now() - started).toBeLessThan(5000);
    expect([reply.status, reply.body.error.code]).toEqual([503, 'INTERNAL_ERROR']);
    expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0);
  } finally {
    await runner.rollbackTransaction();
    await runner.release();
  }
  const reply = await partner.post(request, headers);
  expect([reply.status, reply.headers.get('idempotency-replayed')]).toEqual([200, null]);
});

const same = (a: string, b: string) => normaliseName(a) === normaliseName(b);

describe('the same name (decision 27)', () => {
  test.each([
    ['case', 'Lone Star LLC', 'LONE star llc'],
    ['blanks at the ends', '  Lone Star\t', 'Lone Star'],
    ['blanks inside', 'Lone \t\n  Star', 'Lone Star'],
    ['a no-break space', 'Lone\u00a0Star', 'Lone Star'],
    ['an ideographic space', 'Lone\u3000Star', 'Lone Star'],
    ['a thin space and a line separator', 'Lone\u2009\u2028Star', 'Lone Star'],
    ['a next line', 'Lone\u0085Star', 'Lone Star'],
    ['a byte order mark at the start', '\ufeffLone Star', 'Lone Star'],
    ['composed and decomposed', 'Caf\u00e9', 'cafe\u0301'],
    ['combining marks in another order', 'a\u0323\u0301', 'a\u0301\u0323'],
    ['full width', 'ＬＯＮＥ　ＳＴＡＲ', 'lone star'],
    ['a ligature', 'O\ufb03ce', 'OFFICE'],
    ['a superscript', 'Area⁵¹', 'area51'],
    ['case behind a dotless i', 'Sarıyer', 'SARıYER'],
    ['sharp s', 'Straßenbau', 'STRASSENBAU'],
    ['capital sharp s', 'STRAẞENBAU', 'straßenbau'],
    ['final sigma', 'ΟΔΟΣ', 'οδος'],
    ['medial sigma at the end', 'ΟΔΟΣ', 'οδοσ'],
    ['I with dot, composed or not', 'İzmir', 'I\u0307ZMIR'],
    ['the Kelvin sign', '\u212aelvin', 'kelvin'],
    ['long s', 'Wa\u017fte', 'waste'],
    ['micro sign and mu', '\u00b5', '\u03bc'],
    ['titlecase digraph', 'ǅ', 'ǆ'],
    ['Cherokee', 'Ꭰ', 'ꭰ'],
    ['beyond the basic plane', '𐐀', '𐐨'],
    ['ypogegrammeni', 'ᾳ', 'αι'],
  ])('ignores %s', (_what, a, b) => expect(normaliseName(a)).toBe(normaliseName(b)));

  test.each([
    ['a word more', 'Lone Star', 'Lone Star LLC'],
    ['no blank at all', 'Lone Star', 'LoneStar'],
    ['an accent', 'Café', 'Cafe'],
    ['I with dot and without', 'İzmir', 'Izmir'],
    ['dotless i', 'Işık', 'Isik'],
    ['dotless i alone', 'ı', 'I'],
    ['punctuation', 'A.B.', 'AB'],
    ['a zero-width joiner', 'क्\u200dष', 'क्ष'],
    ['Latin and Cyrillic A', 'A', 'А'],
    ['sharp s and one s', 'Maß', 'Mas'],
  ])('does not ignore %s', (_what, a, b) => expect(normaliseName(a)).not.toBe(normaliseName(b)));

  test('every character is the same as its other cases and forms', () => {
    const offenders: string[] = [];
    for (let point = 1; point <= 0x10ffff; point++) {
      if (point >= 0xd800 && point <= 0xdfff) continue;
      const text = String.fromCodePoint(point);
      const cases = text === 'ı' ? [] : [text.toLowerCase(), text.toUpperCase()];
      const others = [...cases, text.normalize('NFD'), text.normalize('NFKC'), text.normalize('NFKD')];
      const different = others.filter((other) => other !== text);
      if (!different.every((other) => same(`a${other}b`, `a${text}b`))) offenders.push(point.toString(16));
    }
    expect(offenders).toEqual([]);
  });

  test('a normalised name is not changed by another normalisation', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter(), maxLength: 30 }), (text) => {
        expect(normaliseName(normaliseName(text))).toBe(normaliseName(text));
        expect(same(`\u2003${text.normalize('NFD')}\n`, text)).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  test('a digest has 32 bytes, however long the name', () => {
    const longest = '\ufdfa'.repeat(200);
    expect(Buffer.byteLength(normaliseName(longest))).toBeGreaterThan(6000);
    expect(nameDigest(longest)).toHaveLength(32);
    expect(nameDigest('Straße')).toEqual(nameDigest(' STRASSE '));
    expect(nameDigest('Straße')).not.toEqual(nameDigest('Strase'));
  });

  test('a digest equals the stored ones: otherwise their names could be created again', () => {
    expect(nameDigest('Straße').toString('hex')).toBe(
      'b97805af0949694d12dec848dcd294fef9d063f7965c7bb955a8c5eb51a8088f',
    );
  });
});

const text = searchText(['Löne  Star Ltd', 'A-100042', 'Dana.Reyes@Example.com']);
/** As LIKE does it. */
const finds = (term: string, within = text) => {
  const [, part = ''] = /^%(.*)%$/su.exec(partPattern(term)) ?? [];
  return within.includes(part.replaceAll(/\\(.)/gu, '$1'));
};

describe('a search', () => {
  test.each([
    'Löne Star Ltd',
    'lÖNE',
    'o\u0308ne',
    'öne s',
    'star  ltd',
    'tar',
    'STAR',
    'A-100042',
    'a-100',
    '00042',
    '042',
    'dana.reyes@example.com',
    'reyes',
    '@example',
    'COM',
    'l',
    'L',
    's',
    'lö',
    'st',
    'a',
    'A-',
    'd',
    ' star ',
  ])('finds %j', (term) => expect(finds(term)).toBe(true));

  test.each(['lone', 'starltd', 'ltd a', 'A-100043', 'tx', 'ta', 'ö', 'x', '%', '_', 'st_r', '42a', 'comm', 'ltd\na'])(
    'does not find %j',
    (term) => expect(finds(term)).toBe(false),
  );

  test('finds every part of three or more characters of any name', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 3, maxLength: 40 }), fc.nat(), fc.nat(), (name, a, b) => {
        const within = searchText([name]);
        const points = [...within.trim().replaceAll('  ', ' ')];
        const start = a % points.length;
        const part = points.slice(start, start + 3 + (b % points.length)).join('');
        fc.pre([...part.trim()].length >= 3 && searchText([part.trim()]) === `  ${part.trim().replaceAll(' ', '  ')}`);
        expect(finds(part, within)).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });
});
