import { isEmail } from 'class-validator';
import { Name, Nested, Text } from '../common/fields/decorators.js';
import { example, max, optional } from '../common/fields/options.js';
import { COMMON_ERRORS, defineApi } from '../common/api-contract.js';
import {
  IDEMPOTENCY_REQUEST,
  IDEMPOTENCY_RESPONSE,
  KEY_REUSED,
  KEY_REUSED_REASON,
  violationExample,
} from '../common/idempotency.js';

/** 50 states, the district, territories, freely associated states and military addresses, as the USPS codes them (decision 30). */
const STATE_CODES = (
  'AL AK AZ AR CA CO CT DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK OR PA ' +
  'RI SC SD TN TX UT VT VA WA WV WI WY DC PR GU VI AS MP FM MH PW AA AE AP'
).split(' ');

const STATE = {
  max: 2,
  pattern: /^[A-Z]{2}$/,
  values: STATE_CODES,
  form: 'a USPS state code in two upper-case letters',
} as const;

const ZIP = {
  max: 10,
  pattern: /^[0-9]{5}(-[0-9]{4})?$/,
  form: 'a US postal code such as 78701 or 78701-1234',
} as const;

const EMAIL = {
  max: 100,
  format: 'email',
  rule: 'isEmail',
  // JSON Schema's format `email` is ASCII only.
  check: (value: string) => /^[\x21-\x7e]+$/.test(value) && isEmail(value),
  form: 'an ASCII e-mail address',
} as const;

const PHONE = {
  isUnbounded: true,
  pattern: /^\+?[ ()-]*[0-9][0-9 ()-]*$/,
  form: 'a phone number of digits, spaces, parentheses and dashes, optionally after +',
} as const;

class BillingAddress {
  @Text('Street and number', max(100), optional, example('120 Quarry Road')) street?: string;
  @Text('Suite, floor or unit', max(20), optional, example('Unit 4')) unit?: string;
  @Text('City', max(50), optional, example('Austin')) city?: string;
  @Text('Two-letter upper-case USPS code', STATE, optional, example('TX')) state?: string;
  @Text('Country', max(50), optional, example('USA')) country?: string;
  @Text('US postal code: five digits, or five digits, a hyphen and four digits', ZIP, optional, example('78701-1234'))
  zip?: string;
}

class PrimaryContact {
  @Text('First name', max(50), optional, example('Dana')) firstName?: string;
  @Text('Last name', max(50), optional, example('Reyes')) lastName?: string;
  @Text('E-mail address', EMAIL, optional, example('dana.reyes@example.com')) email?: string;
  @Text(
    'Digits, spaces, parentheses and dashes, optionally after a plus sign; at least one digit',
    PHONE,
    optional,
    example('+1 (512) 555-0142'),
  )
  phone?: string;
}

/** Body of `POST /platform-api/v1/accounts` (section 2.4). */
export class CreateAccountRequest {
  @Name(
    'Name of the customer account, unique per hauler without regard to case and spacing',
    max(200),
    example('Lone Star Demolition LLC'),
  )
  accountName!: string;
  @Nested('Billing address, recommended', BillingAddress, optional) billingAddress?: BillingAddress;
  @Nested('Primary contact, recommended', PrimaryContact, optional) primaryContact?: PrimaryContact;
}

class StoredBillingAddress extends BillingAddress {
  @Text('Identifier of the address', example('019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4e')) addressId!: string;
}

class StoredPrimaryContact extends PrimaryContact {
  @Text('Identifier of the contact', example('019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4f')) contactId!: string;
}

/** Response of `POST /platform-api/v1/accounts` (section 2.5). */
export class CreateAccountResponse {
  @Text('Identifier of the account', example('019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4d')) accountId!: string;
  @Text('Short number for people, unique in the platform', example('A-100042')) accountNumber!: string;
  @Text('The name as it was sent', example('Lone Star Demolition LLC')) accountName!: string;
  @Nested('The address as it was sent, with its identifier', StoredBillingAddress, optional)
  billingAddress?: StoredBillingAddress;
  @Nested('The contact as it was sent, with its identifier', StoredPrimaryContact, optional)
  primaryContact?: StoredPrimaryContact;
}

const CODE = 'CONFLICT';

/** The error of a name that another account has (decision 28). */
export const nameTaken = (id: string, accountNumber: string) => ({
  message: `the account ${accountNumber} has the same name`,
  details: { reason: 'NAME_TAKEN' as const, accountId: id, accountNumber },
});

/** Account API 1.0.0 (sections 2.4, 2.5, 4.2; error codes by decision 12): hosted by the platform, called by partners. */
export const ACCOUNT_API = defineApi({
  name: 'account',
  title: 'Account API',
  version: '1.0.0',
  prefix: '/platform-api/v1',
  keyHeader: 'PLATFORM-API-KEY',
  routes: {
    createAccount: {
      method: 'POST',
      path: '/accounts',
      summary: 'Create a customer account',
      description:
        'Only the name is required. Keep `accountId` and `accountNumber`: they are needed to refer to it later.',
      requestHeaders: IDEMPOTENCY_REQUEST,
      body: CreateAccountRequest,
      status: 200,
      response: CreateAccountResponse,
      returns: 'The account',
      responseHeaders: IDEMPOTENCY_RESPONSE,
      fails: {
        conflict: {
          description:
            '`details.reason` is `NAME_TAKEN` if there is an account of that name, which `details.accountId` and ' +
            '`details.accountNumber` name, and `IDEMPOTENCY_KEY_REUSED` if the key was used with another body',
          headers: IDEMPOTENCY_RESPONSE,
          examples: {
            'a name that is taken': {
              code: CODE,
              ...nameTaken('019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4d', 'A-100042'),
            },
            'a key that was used with another body': violationExample(CODE, [KEY_REUSED], KEY_REUSED_REASON),
          },
        },
      },
    },
  },
  codes: ['INVALID_PAYLOAD', 'UNAUTHORIZED', CODE, 'INTERNAL_ERROR'],
  errors: { ...COMMON_ERRORS, conflict: CODE },
});
