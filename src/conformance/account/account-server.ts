import { ACCOUNT_API } from '../../contracts/account/account.api.js';
import {
  FAIL_ON_DEMAND,
  hasStatus,
  internalErrorRule,
  isDeclaredJson,
  isJson,
  member,
  ownField,
  type Refusal,
  refusalRules,
  shown,
} from '../checks.js';
import type { Exchange } from '../exchange.js';
import { type Exchanges, failed, passed, type RequestPlan, type Rule, type ServerRole, type Verdict } from '../rule.js';

const OPERATION = 'createAccount';

const ADDRESS = {
  street: '120 Quarry Road',
  unit: 'Unit 4',
  city: 'Austin',
  state: 'TX',
  country: 'USA',
  zip: '78701-1234',
};
const CONTACT = { firstName: 'Dana', lastName: 'Reyes', email: 'dana.reyes@example.com', phone: '+1 (512) 555-0142' };

type Account = Record<string, unknown>;

/** An account that a server must accept; its name contains the id of the run. */
const create = (name: string, change: Account | ((base: string) => Account) = {}): RequestPlan => ({
  operation: OPERATION,
  writes: true,
  draft: ({ runId }: Exchanges) => {
    const accountName = `Conformance ${runId} ${name}`;
    return { body: { accountName, ...(typeof change === 'function' ? change(accountName) : change) } };
  },
});

const address = (change: object) => ({ billingAddress: { ...ADDRESS, ...change } });
const contact = (change: object) => ({ primaryContact: { ...CONTACT, ...change } });

type Invalid = readonly [on: string, of: string, change: Account | ((base: string) => Account)];

const INVALID: readonly Invalid[] = [
  ['emptyName', 'an empty accountName', { accountName: '' }],
  ['longName', 'an accountName of 201 characters', (base) => ({ accountName: base.padEnd(201, 'x') })],
  ['nameNumber', 'an accountName that is a number', { accountName: 7 }],
  ['addressNotObject', 'a billingAddress that is text', { billingAddress: 'Austin' }],
  ['longStreet', 'a street of 101 characters', address({ street: 'x'.repeat(101) })],
  ['longUnit', 'a unit of 21 characters', address({ unit: 'x'.repeat(21) })],
  ['longCity', 'a city of 51 characters', address({ city: 'x'.repeat(51) })],
  ['lowerState', 'a state in lower-case letters', address({ state: 'tx' })],
  ['longState', 'a state that is a name', address({ state: 'Texas' })],
  ['longCountry', 'a country of 51 characters', address({ country: 'x'.repeat(51) })],
  ['shortZip', 'a zip of four digits', address({ zip: '7870' })],
  ['brokenZip', 'a zip with three digits after the hyphen', address({ zip: '78701-123' })],
  ['contactNotObject', 'a primaryContact that is text', { primaryContact: 'Dana' }],
  ['longFirstName', 'a firstName of 51 characters', contact({ firstName: 'x'.repeat(51) })],
  ['longLastName', 'a lastName of 51 characters', contact({ lastName: 'x'.repeat(51) })],
  ['malformedEmail', 'an email without an @', contact({ email: 'dana.example.com' })],
  ['longEmail', 'an email of 101 characters', contact({ email: `${'x'.repeat(50)}@${'y'.repeat(46)}.com` })],
  ['lettersInPhone', 'a phone with letters', contact({ phone: '555-HAUL' })],
  // The numbers of the rules follow from the order: add at the end.
  ['innerPlus', 'a phone with a plus sign that does not lead it', contact({ phone: '512+5550142' })],
  ...Object.keys(ADDRESS).map((name): Invalid => [`${name}Number`, `${name} as a number`, address({ [name]: 7 })]),
  ...Object.keys(CONTACT).map((name): Invalid => [`${name}Number`, `${name} as a number`, contact({ [name]: 7 })]),
];
/** Two upper-case letters that are no code of a state. */
const UNKNOWN_STATE: Invalid = ['unknownState', 'a state in two letters that is no US state', address({ state: 'ZZ' })];

const LIMITS: readonly (readonly [on: string, title: string, change: Account | ((base: string) => Account)])[] = [
  ['limitName', 'an accountName of 200 characters', (base) => ({ accountName: base.padEnd(200, 'x') })],
  ['limitStreet', 'a street of 100 characters', address({ street: 'x'.repeat(100) })],
  ['limitUnit', 'a unit of 20 characters', address({ unit: 'x'.repeat(20) })],
  ['limitCity', 'a city of 50 characters', address({ city: 'x'.repeat(50) })],
  ['limitCountry', 'a country of 50 characters', address({ country: 'x'.repeat(50) })],
  ['fiveDigits', 'a zip of five digits', address({ zip: '78701' })],
  ['limitFirstName', 'a firstName of 50 characters', contact({ firstName: 'x'.repeat(50) })],
  ['limitLastName', 'a lastName of 50 characters', contact({ lastName: 'x'.repeat(50) })],
  ['plainPhone', 'a phone of digits alone', contact({ phone: '5125550142' })],
  ['limitEmail', 'an email of 100 characters', contact({ email: `${'x'.repeat(50)}@${'y'.repeat(45)}.com` })],
];

const EMPTY: RequestPlan = { operation: OPERATION, draft: () => ({ body: {} }) };

const PLANS: Readonly<Record<string, RequestPlan>> = {
  empty: EMPTY,
  malformedJson: { operation: OPERATION, draft: () => ({ body: '{"accountName":' }) },
  withoutKey: { ...EMPTY, credentials: 'none' },
  wrongKey: { ...EMPTY, credentials: 'wrong-key' },
  otherHeader: { ...EMPTY, credentials: 'other-header' },
  serverError: { operation: OPERATION, draft: () => ({ body: {}, headers: FAIL_ON_DEMAND }) },
  create: create('minimal'),
  again: create('minimal'),
  partial: create('partial', { billingAddress: { city: 'Austin' }, primaryContact: { firstName: 'Dana' } }),
  full: create('full', { ...address({}), ...contact({}) }),
  ...Object.fromEntries([...LIMITS, ...INVALID, UNKNOWN_STATE].map(([on, , change]) => [on, create(on, change)])),
};

const isText = (value: unknown) => typeof value === 'string' && value !== '';
const sentAt = (exchange: Exchange, path: string): unknown =>
  valueAt(JSON.parse(exchange.request.body ?? 'null'), path);
const valueAt = (body: unknown, path: string) => path.split('.').reduce<unknown>(ownField, body);

const echoes =
  (...paths: readonly string[]) =>
  (exchange: Exchange): Verdict => {
    const path = paths.find((each) => valueAt(exchange.json, each) !== sentAt(exchange, each));
    return path === undefined
      ? passed
      : failed(`${path} is ${shown(valueAt(exchange.json, path))}, sent was ${shown(sentAt(exchange, path))}`);
  };

type Row = readonly [
  id: string,
  section: string,
  on: string,
  title: string,
  remedy: string,
  check: Rule['check'],
  needs?: readonly string[],
];
const ACCEPT = 'Accept the account with 200: only accountName is required, and every field follows section 2.4.';
const JSON_BODY = ['ACCOUNT-022'];
const JSON_FULL = ['ACCOUNT-031'];

const ACCEPTED: readonly Row[] = [
  [
    'ACCOUNT-020',
    '4.2',
    'create',
    'POST /platform-api/v1/accounts with an accountName alone is answered with 200',
    ACCEPT,
    hasStatus(200),
  ],
  [
    'ACCOUNT-021',
    '4',
    'create',
    'the answer is application/json',
    'Send Content-Type: application/json.',
    isDeclaredJson,
  ],
  [
    'ACCOUNT-022',
    '4',
    'create',
    'the answer is JSON in UTF-8',
    'Write the body with a JSON serializer, in UTF-8.',
    isJson,
  ],
  [
    'ACCOUNT-023',
    '2.5',
    'create',
    'accountId is text',
    'Return the id of the account.',
    member('accountId', isText, 'text'),
    JSON_BODY,
  ],
  [
    'ACCOUNT-024',
    '2.5',
    'create',
    'accountNumber is text',
    'Return the number of the account as text.',
    member('accountNumber', isText, 'text'),
    JSON_BODY,
  ],
  [
    'ACCOUNT-025',
    '2.5',
    'create',
    'accountName is returned as it was sent',
    'Return the accountName of the request.',
    echoes('accountName'),
    JSON_BODY,
  ],
  ['ACCOUNT-030', '2.4', 'full', 'an account with address and contact is answered with 200', ACCEPT, hasStatus(200)],
  [
    'ACCOUNT-031',
    '4',
    'full',
    'the answer for an account with address and contact is JSON in UTF-8',
    'Write the body with a JSON serializer, in UTF-8.',
    isJson,
  ],
  ...Object.keys(ADDRESS).map((name, i): Row => [
    `ACCOUNT-04${i}`,
    '2.5',
    'full',
    `billingAddress.${name} is returned as it was sent`,
    `Return billingAddress.${name} of the request.`,
    echoes(`billingAddress.${name}`),
    JSON_FULL,
  ]),
  [
    'ACCOUNT-046',
    '2.5',
    'full',
    'billingAddress.addressId is text',
    'Add addressId to the address.',
    member('billingAddress.addressId', isText, 'text'),
    JSON_FULL,
  ],
  ...Object.keys(CONTACT).map((name, i): Row => [
    `ACCOUNT-05${i}`,
    '2.5',
    'full',
    `primaryContact.${name} is returned as it was sent`,
    `Return primaryContact.${name} of the request.`,
    echoes(`primaryContact.${name}`),
    JSON_FULL,
  ]),
  [
    'ACCOUNT-054',
    '2.5',
    'full',
    'primaryContact.contactId is text',
    'Add contactId to the contact.',
    member('primaryContact.contactId', isText, 'text'),
    JSON_FULL,
  ],
  [
    'ACCOUNT-080',
    '2.4',
    'partial',
    'an address of a city alone and a contact of a first name alone are accepted',
    ACCEPT,
    hasStatus(200),
  ],
  ...LIMITS.map(([on, title], i): Row => [`ACCOUNT-06${i}`, '2.4', on, `${title} is accepted`, ACCEPT, hasStatus(200)]),
];

const accountId = (number: number): string => `ACCOUNT-${String(number).padStart(3, '0')}`;

/** The shape of an error is not fixed (section 7): its body is a `should`. */
const refusal = (
  on: string,
  number: number,
  of: string,
  [status, code, section, remedy]: readonly [number, string, string, string],
): Refusal => ({
  on,
  ids: [accountId(number), accountId(number + 1)],
  section,
  operation: OPERATION,
  of,
  status,
  codes: [code],
  bodySeverity: 'should',
  remedy,
});

const INVALID_PAYLOAD = [400, 'INVALID_PAYLOAD', '7', 'Check the body against section 2.4, and answer 400.'] as const;
const UNAUTHORIZED = [
  401,
  'UNAUTHORIZED',
  '5',
  'Compare the header PLATFORM-API-KEY with the issued key before anything else.',
] as const;
const CONFLICT = [409, 'CONFLICT', '7', 'Answer 409 where an account of the same name exists.'] as const;

export const ACCOUNT_SERVER: ServerRole = {
  name: 'account-server',
  keyHeader: ACCOUNT_API.keyHeader,
  otherHeader: 'API-KEY',
  operations: {
    [OPERATION]: { method: 'POST', path: `${ACCOUNT_API.prefix}${ACCOUNT_API.routes.createAccount.path}` },
  },
  plans: PLANS,
  rules: [
    ...refusalRules([
      refusal('empty', 1, 'an empty object', INVALID_PAYLOAD),
      refusal('malformedJson', 3, 'a body that is not JSON', INVALID_PAYLOAD),
      refusal('withoutKey', 5, 'an account without the header PLATFORM-API-KEY', UNAUTHORIZED),
      refusal('wrongKey', 7, 'an account with a wrong key', UNAUTHORIZED),
      refusal('otherHeader', 9, 'an account with the key in API-KEY in place of PLATFORM-API-KEY', UNAUTHORIZED),
    ]),
    ...ACCEPTED.map(([id, section, on, title, remedy, check, needs = []]): Rule => ({
      id,
      section,
      severity: 'must',
      operation: OPERATION,
      on,
      title,
      remedy,
      needs,
      check,
    })),
    ...refusalRules([
      { ...refusal('again', 70, 'an account with a name that exists', CONFLICT), needs: ['ACCOUNT-020'] },
      ...INVALID.map(([on, of], i) => ({ ...refusal(on, 100 + 2 * i, of, INVALID_PAYLOAD), section: '2.4' })),
      { ...refusal(UNKNOWN_STATE[0], 162, UNKNOWN_STATE[1], INVALID_PAYLOAD), section: '2.4', severity: 'should' },
    ]),
    internalErrorRule('ACCOUNT-164', 'serverError', OPERATION, 'should'),
  ],
};
