import { Documented } from '../common/fields/documented.js';
import { isEmail } from 'class-validator';
import { ObjectField } from '../common/fields/nested-fields.js';
import { NameField, TextField } from '../common/fields/scalar-fields.js';

/** 50 states, the district, territories, freely associated states and military addresses, as the USPS codes them (decision 30). */
const STATE_CODES = (
  'AL AK AZ AR CA CO CT DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK OR PA ' +
  'RI SC SD TN TX UT VT VA WA WV WI WY DC PR GU VI AS MP FM MH PW AA AE AP'
).split(' ');

export class BillingAddress {
  @TextField({ description: 'Street and number', max: 100, optional: true, example: '120 Quarry Road' })
  street?: string;

  @TextField({ description: 'Suite, floor or unit', max: 20, optional: true, example: 'Unit 4' })
  unit?: string;

  @TextField({ description: 'City', max: 50, optional: true, example: 'Austin' })
  city?: string;

  @TextField({
    description: 'Two-letter upper-case USPS code',
    max: 2,
    pattern: /^[A-Z]{2}$/,
    values: STATE_CODES,
    form: 'a USPS state code in two upper-case letters',
    optional: true,
    example: 'TX',
  })
  state?: string;

  @TextField({ description: 'Country', max: 50, optional: true, example: 'USA' })
  country?: string;

  @TextField({
    description: 'US postal code: five digits, or five digits, a hyphen and four digits',
    max: 10,
    pattern: /^[0-9]{5}(-[0-9]{4})?$/,
    form: 'a US postal code such as 78701 or 78701-1234',
    optional: true,
    example: '78701-1234',
  })
  zip?: string;
}

export class PrimaryContact {
  @TextField({ description: 'First name', max: 50, optional: true, example: 'Dana' })
  firstName?: string;

  @TextField({ description: 'Last name', max: 50, optional: true, example: 'Reyes' })
  lastName?: string;

  @TextField({
    description: 'E-mail address',
    max: 100,
    format: 'email',
    rule: 'isEmail',
    // JSON Schema's format `email` is ASCII only.
    check: (value) => /^[\x21-\x7e]+$/.test(value) && isEmail(value),
    form: 'an ASCII e-mail address',
    optional: true,
    example: 'dana.reyes@example.com',
  })
  email?: string;

  @TextField({
    description: 'Digits, spaces, parentheses and dashes, optionally after a plus sign; at least one digit',
    pattern: /^\+?[ ()-]*[0-9][0-9 ()-]*$/,
    form: 'a phone number of digits, spaces, parentheses and dashes, optionally after +',
    optional: true,
    example: '+1 (512) 555-0142',
  })
  phone?: string;
}

/** Body of `POST /platform-api/v1/accounts` (section 2.4). */
export class CreateAccountRequest {
  @NameField({
    description: 'Name of the customer account, unique per hauler without regard to case and spacing',
    max: 200,
    example: 'Lone Star Demolition LLC',
  })
  accountName!: string;

  @ObjectField(() => BillingAddress, { description: 'Billing address, recommended', optional: true })
  billingAddress?: BillingAddress;

  @ObjectField(() => PrimaryContact, { description: 'Primary contact, recommended', optional: true })
  primaryContact?: PrimaryContact;
}

export class StoredBillingAddress extends BillingAddress {
  @TextField({ description: 'Identifier of the address', max: 36, example: '019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4e' })
  addressId!: string;
}

export class StoredPrimaryContact extends PrimaryContact {
  @TextField({ description: 'Identifier of the contact', max: 36, example: '019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4f' })
  contactId!: string;
}

/** Response of `POST /platform-api/v1/accounts` (section 2.5). */
export class CreateAccountResponse {
  @TextField({ description: 'Identifier of the account', max: 36, example: '019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4d' })
  accountId!: string;

  @TextField({ description: 'Short number for people, unique in the platform', max: 22, example: 'A-100042' })
  accountNumber!: string;

  @TextField({ description: 'The name as it was sent', max: 200, example: 'Lone Star Demolition LLC' })
  accountName!: string;

  @Documented({
    description: 'The address as it was sent, with its identifier',
    type: () => StoredBillingAddress,
    required: false,
  })
  billingAddress?: StoredBillingAddress;

  @Documented({
    description: 'The contact as it was sent, with its identifier',
    type: () => StoredPrimaryContact,
    required: false,
  })
  primaryContact?: StoredPrimaryContact;
}
