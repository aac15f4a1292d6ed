import type { CreateAccountRequest, CreateAccountResponse } from '../contracts/account/account.dto.js';
import { uuidv7 } from '../core/database/uuid.js';
import type { AccountEntity } from './account.entity.js';
import { nameDigest } from './account-name.js';
import { searchText } from './account-search.js';

/** A new account as it is stored. An address or contact that was sent gets an id, even if it is empty (section 2.5). */
export function newAccountRow(request: CreateAccountRequest, haulerId: string, accountNumber: string): AccountEntity {
  const { accountName, billingAddress, primaryContact } = request;
  const now = new Date();
  return {
    haulerId,
    id: uuidv7(),
    accountNumber,
    accountName,
    nameDigest: nameDigest(accountName),
    searchText: searchText([accountName, accountNumber, primaryContact?.email]),
    addressId: billingAddress === undefined ? null : uuidv7(),
    street: billingAddress?.street ?? null,
    unit: billingAddress?.unit ?? null,
    city: billingAddress?.city ?? null,
    state: billingAddress?.state ?? null,
    country: billingAddress?.country ?? null,
    zip: billingAddress?.zip ?? null,
    contactId: primaryContact === undefined ? null : uuidv7(),
    firstName: primaryContact?.firstName ?? null,
    lastName: primaryContact?.lastName ?? null,
    email: primaryContact?.email ?? null,
    phone: primaryContact?.phone ?? null,
    createdAt: now,
    updatedAt: now,
  };
}

/** The response of section 2.5. Fields that were not sent are absent (decision 27). */
export function toAccountDto(row: AccountEntity): CreateAccountResponse {
  const { id: accountId, accountNumber, accountName, addressId, contactId } = row;
  const { street, unit, city, state, country, zip } = row;
  const { firstName, lastName, email, phone } = row;
  return {
    accountId,
    accountNumber,
    accountName,
    ...(addressId === null
      ? {}
      : { billingAddress: { addressId, ...withoutNulls({ street, unit, city, state, country, zip }) } }),
    ...(contactId === null
      ? {}
      : { primaryContact: { contactId, ...withoutNulls({ firstName, lastName, email, phone }) } }),
  };
}

function withoutNulls(fields: Readonly<Record<string, string | null>>): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== null));
}
