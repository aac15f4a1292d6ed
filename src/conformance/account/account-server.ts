import { ACCOUNT_API } from '../../contracts/account/account.api.js';
import {
  hasStatus,
  isJson,
  jsonRules,
  memberRow,
  type RuleRow,
  rulesOf,
  serverRules,
  shown,
  TEXT,
  valueAt,
} from '../checks.js';
import {
  changedPlan,
  failing,
  internalErrorRules,
  refusalPlans,
  refusalRules,
  refusedBodyPlans,
  refusedBodyRules,
  type RequestRow,
} from '../refusals.js';
import { passedIf, type RequestPlan, type Rule, type ServerRole } from '../rule.js';
import { CHANGED, FIRST, LIMITS, nameOf, OPERATION, REPEATED, UNRELATED } from './account-table.js';

const REFUSED = [...UNRELATED, REPEATED, ...CHANGED];

const ADDRESS = {
  street: '120 Quarry Road',
  unit: 'Unit 4',
  city: 'Austin',
  state: 'TX',
  country: 'USA',
  zip: '78701-1234',
};
const CONTACT = { firstName: 'Dana', lastName: 'Reyes', email: 'dana.reyes@example.com', phone: '+1 (512) 555-0142' };

const PARTS = { billingAddress: ADDRESS, primaryContact: CONTACT };

/** An account that a server must accept; its name contains the id of the run. */
const create = (name: string, others: object = {}): RequestPlan => ({
  operation: OPERATION,
  writes: true,
  draft: ({ runId }) => ({ body: { accountName: nameOf(runId, name), ...others } }),
});

/** A field of the address or of the contact is checked in a complete one. */
const valid = (_: string, [id, field]: RequestRow): RequestPlan =>
  create(id, Object.fromEntries(Object.entries(PARTS).filter(([name]) => field.startsWith(`${name}.`))));

const EMPTY: RequestPlan = { operation: OPERATION, draft: () => ({ body: {} }) };

const PLANS: Readonly<Record<string, RequestPlan>> = {
  create: create(FIRST),
  partial: create('partial', { billingAddress: { city: 'Austin' }, primaryContact: { firstName: 'Dana' } }),
  full: create('full', PARTS),
  'ACCOUNT-164': failing(EMPTY),
  ...Object.fromEntries(LIMITS.map((row) => [row[0], changedPlan(valid(OPERATION, row), row)])),
  ...refusalPlans(REFUSED, () => EMPTY, valid),
  ...refusedBodyPlans(OPERATION),
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

const of = serverRules(
  `
ACCOUNT-020 | must | 4.2 | createAccount | create | - | POST /platform-api/v1/accounts with an accountName alone is answered with 200 | ${ACCEPT}
ACCOUNT-030 | must | 2.4 | createAccount | full | - | an account with address and contact is answered with 200 | ${ACCEPT}
ACCOUNT-031 | must | 4 | createAccount | full | - | the answer for an account with address and contact is JSON in UTF-8 | Write the body with a JSON serializer, in UTF-8.
ACCOUNT-080 | must | 2.4 | createAccount | partial | - | an address of a city alone and a contact of a first name alone are accepted | ${ACCEPT}
`,
  {
    'ACCOUNT-020': hasStatus(200),
    'ACCOUNT-030': hasStatus(200),
    'ACCOUNT-031': isJson,
    'ACCOUNT-080': hasStatus(200),
  },
);

const ACCEPTED: readonly Rule[] = [
  ...of('ACCOUNT-020'),
  ...jsonRules(['ACCOUNT-021', 'ACCOUNT-022'], OPERATION, 'create', 'the answer'),
  ...rulesOf(
    { operation: OPERATION, section: '2.5', on: 'create', needs: ['ACCOUNT-022'] },
    memberRow('ACCOUNT-023', 'accountId', TEXT),
    memberRow('ACCOUNT-024', 'accountNumber', TEXT),
    returnedRow('ACCOUNT-025', 'accountName'),
  ),
  ...of('ACCOUNT-030', 'ACCOUNT-031'),
  ...rulesOf(
    { operation: OPERATION, section: '2.5', on: 'full', needs: ['ACCOUNT-031'] },
    returnedRow('ACCOUNT-040', 'billingAddress.street'),
    returnedRow('ACCOUNT-041', 'billingAddress.unit'),
    returnedRow('ACCOUNT-042', 'billingAddress.city'),
    returnedRow('ACCOUNT-043', 'billingAddress.state'),
    returnedRow('ACCOUNT-044', 'billingAddress.country'),
    returnedRow('ACCOUNT-045', 'billingAddress.zip'),
    memberRow('ACCOUNT-046', 'billingAddress.addressId', TEXT),
    returnedRow('ACCOUNT-050', 'primaryContact.firstName'),
    returnedRow('ACCOUNT-051', 'primaryContact.lastName'),
    returnedRow('ACCOUNT-052', 'primaryContact.email'),
    returnedRow('ACCOUNT-053', 'primaryContact.phone'),
    memberRow('ACCOUNT-054', 'primaryContact.contactId', TEXT),
  ),
  ...of('ACCOUNT-080'),
  ...LIMITS.flatMap(([id, , words]) =>
    rulesOf({ operation: OPERATION, section: '2.4', on: id }, [id, `${words} is accepted`, ACCEPT, hasStatus(200)]),
  ),
];

export const ACCOUNT_SERVER: ServerRole = {
  name: 'account-server',
  keyHeader: ACCOUNT_API.keyHeader,
  otherHeader: 'API-KEY',
  operations: {
    [OPERATION]: { method: 'POST', path: `${ACCOUNT_API.prefix}${ACCOUNT_API.routes.createAccount.path}` },
  },
  plans: PLANS,
  refused: REFUSED,
  rules: [
    ...refusalRules(...UNRELATED),
    ...refusedBodyRules('ACCOUNT-011', OPERATION, ['ACCOUNT-005']),
    ...ACCEPTED,
    ...refusalRules(REPEATED, ...CHANGED),
    ...internalErrorRules('ACCOUNT-164', OPERATION, 'should'),
  ],
};
