import type { Account } from '../../contracts/admin/account.dto.js';
import { linkWith, type PageProps } from '../client/address.js';
import { useHaulerName } from '../client/haulers.js';
import { useLoad } from '../client/load.js';
import { CsvButton } from '../parts/csv-button.js';
import { Filters, HaulerFilter, pick, TextFilter } from '../parts/filters.js';
import { type Column, Listing } from '../parts/listing.js';
import { BackLink, Empty, Loadable } from '../parts/states.js';
import { Facts, Id, Time } from '../parts/values.js';
import { AccountImportPanel } from './account-import.js';

export function AccountsPage({ query }: PageProps) {
  const id = query.get('id');
  return id === null ? <AccountList query={query} /> : <AccountDetails id={id} query={query} />;
}

function AccountList({ query }: PageProps) {
  const filters = pick(query, 'search', 'haulerId', 'page', 'cursor');
  const list = useLoad('/accounts', filters);
  const haulerName = useHaulerName();
  const columns: readonly Column<Account>[] = [
    {
      title: 'Name',
      cell: ({ accountId, accountName }) => <a href={linkWith('accounts', query, { id: accountId })}>{accountName}</a>,
    },
    { title: 'Number', cell: ({ accountNumber }) => accountNumber },
    { title: 'Contact', cell: ({ primaryContact }) => contactName(primaryContact) },
    { title: 'City', cell: ({ billingAddress }) => billingAddress?.city },
    { title: 'Hauler', cell: ({ haulerId }) => haulerName(haulerId) },
    { title: 'Created', cell: ({ createdAt }) => <Time value={createdAt} /> },
  ];
  return (
    <>
      <Filters>
        <TextFilter name="search" label="Name, number or e-mail" query={query} hint="a part is enough" />
        <HaulerFilter query={query} />
      </Filters>
      <AccountImportPanel query={query} />
      <CsvButton path="/accounts" filters={filters} />
      <Listing
        label="Accounts"
        list={list}
        columns={columns}
        keyOf={({ accountId }) => accountId}
        filters={filters}
        empty={
          <Empty title="No account yet.">
            A partner creates accounts with <code>POST /platform-api/v1/accounts</code>, or import them from a CSV.
          </Empty>
        }
      />
    </>
  );
}

const contactName = (contact: Account['primaryContact']): string =>
  [contact?.firstName, contact?.lastName].filter((part) => part !== undefined).join(' ');

function AccountDetails({ id, query }: { id: string; query: URLSearchParams }) {
  const account = useLoad(`/accounts/${encodeURIComponent(id)}`);
  return (
    <>
      <BackLink href={linkWith('accounts', query, { id: undefined })}>All accounts</BackLink>
      <Loadable of={account}>{(data) => <AccountFacts account={data} />}</Loadable>
    </>
  );
}

function AccountFacts({ account }: { account: Account }) {
  const haulerName = useHaulerName();
  const { billingAddress: address, primaryContact: contact } = account;
  return (
    <section class="card" aria-label="Account">
      <h2>{account.accountName}</h2>
      <Facts
        of={{
          Number: account.accountNumber,
          Hauler: haulerName(account.haulerId),
          Contact: contactName(contact),
          'E-mail': contact?.email,
          Phone: contact?.phone,
          Address: [address?.street, address?.unit, address?.city, address?.state, address?.zip, address?.country]
            .filter((part) => part !== undefined)
            .join(', '),
          Created: <Time value={account.createdAt} />,
          'Last change': <Time value={account.updatedAt} />,
          Id: <Id value={account.accountId} />,
        }}
      />
    </section>
  );
}
