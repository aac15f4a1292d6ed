import { ACCOUNT_API } from '../../contracts/account/account.api.js';
import {
  FAIL_ON_DEMAND,
  hasStatus,
  internalErrorRules,
  isJson,
  jsonRules,
  memberRow,
  type Refusal,
  type RefusalOptions,
  refusalRules,
  type RefusedRequest,
  type RuleRow,
  rulesOf,
  shown,
  TEXT,
  valueAt,
} from '../checks.js';
import { type Exchanges, passedIf, type RequestPlan, type Rule, type ServerRole } from '../rule.js';

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
/** The fields that differ from an account that has a name alone, which a function gets. */
type Change = Account | ((accountName: string) => Account);

/** An account that a server must accept; its name contains the id of the run. */
const create = (name: string, change: Change = {}): RequestPlan => ({
  operation: OPERATION,
  writes: true,
  draft: ({ runId }: Exchanges) => {
    const accountName = `Conformance ${runId} ${name}`;
    return { body: { accountName, ...(typeof change === 'function' ? change(accountName) : change) } };
  },
});

const address = (change: object) => ({ billingAddress: { ...ADDRESS, ...change } });
const contact = (change: object) => ({ primaryContact: { ...CONTACT, ...change } });

type Variant = readonly [on: string, of: string, change: Change];

const INVALID: readonly Variant[] = [
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
  ...Object.keys(ADDRESS).map((name): Variant => [`${name}Number`, `${name} as a number`, address({ [name]: 7 })]),
  ...Object.keys(CONTACT).map((name): Variant => [`${name}Number`, `${name} as a number`, contact({ [name]: 7 })]),
];
/** Two upper-case letters that are no code of a state. */
const UNKNOWN_STATE: Variant = ['unknownState', 'a state in two letters that is no US state', address({ state: 'ZZ' })];

const LIMITS: readonly Variant[] = [
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

const returnedRow = (id: string, path: string): RuleRow => [
  id,
  `${path} is returned as it was sent`,
  `Return ${path} of the request.`,
  ({ json, request }) => {
    const [sent, returned] = [JSON.parse(request.body ?? 'null'), json].map((body) => valueAt(body, path));
    return passedIf(sent === returned, `${path} is ${shown(returned)}, sent was ${shown(sent)}`);
  },
];

const ACCEPT = 'Accept the account with 200: only accountName is required, and every field follows section 2.4.';
const accepted = (id: string, section: string, on: string, title: string): Rule[] =>
  rulesOf({ operation: OPERATION, section, on }, [id, title, ACCEPT, hasStatus(200)]);

const ACCEPTED: readonly Rule[] = [
  ...accepted(
    'ACCOUNT-020',
    '4.2',
    'create',
    'POST /platform-api/v1/accounts with an accountName alone is answered with 200',
  ),
  ...jsonRules('ACCOUNT', 21, OPERATION, 'create', 'the answer'),
  ...rulesOf(
    { operation: OPERATION, section: '2.5', on: 'create', needs: ['ACCOUNT-022'] },
    memberRow('ACCOUNT-023', 'accountId', TEXT),
    memberRow('ACCOUNT-024', 'accountNumber', TEXT),
    returnedRow('ACCOUNT-025', 'accountName'),
  ),
  ...accepted('ACCOUNT-030', '2.4', 'full', 'an account with address and contact is answered with 200'),
  ...rulesOf({ operation: OPERATION, section: '4', on: 'full' }, [
    'ACCOUNT-031',
    'the answer for an account with address and contact is JSON in UTF-8',
    'Write the body with a JSON serializer, in UTF-8.',
    isJson,
  ]),
  ...rulesOf(
    { operation: OPERATION, section: '2.5', on: 'full', needs: ['ACCOUNT-031'] },
    ...Object.keys(ADDRESS).map((name, i) => returnedRow(`ACCOUNT-04${i}`, `billingAddress.${name}`)),
    memberRow('ACCOUNT-046', 'billingAddress.addressId', TEXT),
    ...Object.keys(CONTACT).map((name, i) => returnedRow(`ACCOUNT-05${i}`, `primaryContact.${name}`)),
    memberRow('ACCOUNT-054', 'primaryContact.contactId', TEXT),
  ),
  ...accepted(
    'ACCOUNT-080',
    '2.4',
    'partial',
    'an address of a city alone and a contact of a first name alone are accepted',
  ),
  ...LIMITS.flatMap(([on, title], i) => accepted(`ACCOUNT-06${i}`, '2.4', on, `${title} is accepted`)),
];

const INVALID_PAYLOAD = [400, 'INVALID_PAYLOAD', '7', 'Check the body against section 2.4, and answer 400.'] as const;
const INVALID_FIELD: Refusal = [400, 'INVALID_PAYLOAD', '2.4', INVALID_PAYLOAD[3]];
const UNAUTHORIZED: Refusal = [
  401,
  'UNAUTHORIZED',
  '5',
  'Compare the header PLATFORM-API-KEY with the issued key before anything else.',
];
const CONFLICT: Refusal = [409, 'CONFLICT', '7', 'Answer 409 where an account of the same name exists.'];

/** The form of an error body is not fixed (section 7), so its rule is a `should`. */
const refusals = (refusal: Refusal, requests: readonly RefusedRequest[], options: RefusalOptions = {}) =>
  refusalRules('ACCOUNT', OPERATION, refusal, requests, { bodySeverity: 'should', ...options });

export const ACCOUNT_SERVER: ServerRole = {
  name: 'account-server',
  keyHeader: ACCOUNT_API.keyHeader,
  otherHeader: 'API-KEY',
  operations: {
    [OPERATION]: { method: 'POST', path: `${ACCOUNT_API.prefix}${ACCOUNT_API.routes.createAccount.path}` },
  },
  plans: PLANS,
  rules: [
    ...refusals(INVALID_PAYLOAD, [
      ['empty', 1, 'an empty object'],
      ['malformedJson', 3, 'a body that is not JSON'],
    ]),
    ...refusals(UNAUTHORIZED, [
      ['withoutKey', 5, 'an account without the header PLATFORM-API-KEY'],
      ['wrongKey', 7, 'an account with a wrong key'],
      ['otherHeader', 9, 'an account with the key in API-KEY in place of PLATFORM-API-KEY'],
    ]),
    ...ACCEPTED,
    ...refusals(CONFLICT, [['again', 70, 'an account with a name that exists']], { needs: ['ACCOUNT-020'] }),
    ...refusals(
      INVALID_FIELD,
      INVALID.map(([on, of], i) => [on, 100 + 2 * i, of]),
    ),
    ...refusals(INVALID_FIELD, [[UNKNOWN_STATE[0], 162, UNKNOWN_STATE[1]]], { severity: 'should' }),
    ...internalErrorRules('ACCOUNT-164', 'serverError', OPERATION, 'should'),
  ],
};
