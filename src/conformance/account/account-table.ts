import { INVALID_PAYLOAD, keyRows, type RefusedGroup, type RequestRow, UNAUTHORIZED } from '../refusals.js';
import type { Exchanges } from '../rule.js';

export const OPERATION = 'createAccount';
/** The name of the account that the kit creates first. */
export const FIRST = 'minimal';
export const nameOf = (runId: string, name: string): string => `Conformance ${runId} ${name}`;

const filled = (length: number) => (name: unknown) => String(name).padEnd(length, 'x');

/** The form of an error body is not fixed (section 7), so its rule is a `should`. */
const COMMON = { operation: OPERATION, bodySeverity: 'should' } as const;
const INVALID = { ...COMMON, ...INVALID_PAYLOAD, remedy: 'Check the body against section 2.4, and answer 400.' };

/** Requests that a server refuses without a valid account. */
export const UNRELATED: readonly RefusedGroup[] = [
  {
    ...INVALID,
    section: '7',
    rows: [
      ['ACCOUNT-001', '', 'an empty object', {}],
      ['ACCOUNT-003', '', 'a body that is not JSON', '{"accountName":'],
    ],
  },
  {
    ...COMMON,
    ...UNAUTHORIZED,
    section: '5',
    remedy: 'Compare the header PLATFORM-API-KEY with the issued key before anything else.',
    rows: keyRows(['ACCOUNT-005', 'ACCOUNT-007', 'ACCOUNT-009'], 'an account', [
      'PLATFORM-API-KEY',
      'API-KEY in place of PLATFORM-API-KEY',
    ]),
  },
];

const repeated = (_: unknown, { runId }: Exchanges) => nameOf(runId, FIRST);

/** A repeat of the account that the kit created first. */
export const REPEATED: RefusedGroup = {
  ...COMMON,
  status: 409,
  code: 'CONFLICT',
  section: '7',
  remedy: 'Answer 409 where an account of the same name exists.',
  needs: ['ACCOUNT-020'],
  rows: [['ACCOUNT-070', 'accountName', 'an account with a name that exists', repeated]],
};

/** Accounts that a server refuses for one change of a valid account. */
export const CHANGED: readonly RefusedGroup[] = [
  {
    ...INVALID,
    section: '2.4',
    rows: [
      ['ACCOUNT-100', 'accountName', 'an empty accountName', ''],
      ['ACCOUNT-102', 'accountName', 'an accountName of 201 characters', filled(201)],
      ['ACCOUNT-104', 'accountName', 'an accountName that is a number', 7],
      ['ACCOUNT-106', 'billingAddress', 'a billingAddress that is text', 'Austin'],
      ['ACCOUNT-108', 'billingAddress.street', 'a street of 101 characters', 'x'.repeat(101)],
      ['ACCOUNT-110', 'billingAddress.unit', 'a unit of 21 characters', 'x'.repeat(21)],
      ['ACCOUNT-112', 'billingAddress.city', 'a city of 51 characters', 'x'.repeat(51)],
      ['ACCOUNT-114', 'billingAddress.state', 'a state in lower-case letters', 'tx'],
      ['ACCOUNT-116', 'billingAddress.state', 'a state that is a name', 'Texas'],
      ['ACCOUNT-118', 'billingAddress.country', 'a country of 51 characters', 'x'.repeat(51)],
      ['ACCOUNT-120', 'billingAddress.zip', 'a zip of four digits', '7870'],
      ['ACCOUNT-122', 'billingAddress.zip', 'a zip with three digits after the hyphen', '78701-123'],
      ['ACCOUNT-124', 'primaryContact', 'a primaryContact that is text', 'Dana'],
      ['ACCOUNT-126', 'primaryContact.firstName', 'a firstName of 51 characters', 'x'.repeat(51)],
      ['ACCOUNT-128', 'primaryContact.lastName', 'a lastName of 51 characters', 'x'.repeat(51)],
      ['ACCOUNT-130', 'primaryContact.email', 'an email without an @', 'dana.example.com'],
      ['ACCOUNT-132', 'primaryContact.email', 'an email of 101 characters', `${'x'.repeat(50)}@${'y'.repeat(46)}.com`],
      ['ACCOUNT-134', 'primaryContact.phone', 'a phone with letters', '555-HAUL'],
      ['ACCOUNT-136', 'primaryContact.phone', 'a phone with a plus sign that does not lead it', '512+5550142'],
      ['ACCOUNT-138', 'billingAddress.street', 'street as a number', 7],
      ['ACCOUNT-140', 'billingAddress.unit', 'unit as a number', 7],
      ['ACCOUNT-142', 'billingAddress.city', 'city as a number', 7],
      ['ACCOUNT-144', 'billingAddress.state', 'state as a number', 7],
      ['ACCOUNT-146', 'billingAddress.country', 'country as a number', 7],
      ['ACCOUNT-148', 'billingAddress.zip', 'zip as a number', 7],
      ['ACCOUNT-150', 'primaryContact.firstName', 'firstName as a number', 7],
      ['ACCOUNT-152', 'primaryContact.lastName', 'lastName as a number', 7],
      ['ACCOUNT-154', 'primaryContact.email', 'email as a number', 7],
      ['ACCOUNT-156', 'primaryContact.phone', 'phone as a number', 7],
    ],
  },
  {
    ...INVALID,
    section: '2.4',
    severity: 'should',
    rows: [
      // Two upper-case letters that are no code of a state.
      ['ACCOUNT-162', 'billingAddress.state', 'a state in two letters that is no US state', 'ZZ'],
    ],
  },
];

/** Accounts that a server accepts: the longest and shortest values. */
export const LIMITS: readonly RequestRow[] = [
  ['ACCOUNT-060', 'accountName', 'an accountName of 200 characters', filled(200)],
  ['ACCOUNT-061', 'billingAddress.street', 'a street of 100 characters', 'x'.repeat(100)],
  ['ACCOUNT-062', 'billingAddress.unit', 'a unit of 20 characters', 'x'.repeat(20)],
  ['ACCOUNT-063', 'billingAddress.city', 'a city of 50 characters', 'x'.repeat(50)],
  ['ACCOUNT-064', 'billingAddress.country', 'a country of 50 characters', 'x'.repeat(50)],
  ['ACCOUNT-065', 'billingAddress.zip', 'a zip of five digits', '78701'],
  ['ACCOUNT-066', 'primaryContact.firstName', 'a firstName of 50 characters', 'x'.repeat(50)],
  ['ACCOUNT-067', 'primaryContact.lastName', 'a lastName of 50 characters', 'x'.repeat(50)],
  ['ACCOUNT-068', 'primaryContact.phone', 'a phone of digits alone', '5125550142'],
  ['ACCOUNT-069', 'primaryContact.email', 'an email of 100 characters', `${'x'.repeat(50)}@${'y'.repeat(45)}.com`],
];
