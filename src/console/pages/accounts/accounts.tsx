import type { Account } from '../../../contracts/admin/account.dto.js';
import type { PageProps } from '../../client/address.js';
import { linkWith } from '../../client/links.js';
import { useHaulerName } from '../../client/haulers.js';
import { BY_HAULER, byText, byTime } from '../../parts/filters.js';
import { NewLink } from '../../parts/forms.js';
import { type Column, ListPage } from '../../parts/listing.js';
import { Detail, DetailHead, Empty } from '../../parts/states.js';
import { Facts, Id, Time } from '../../parts/values.js';
import { AccountImportCard } from './account-import.js';

const FILTERS = [
  byText('search', 'Name, number or e-mail', 'a part is enough'),
  BY_HAULER,
  byTime('from', 'Created from'),
  byTime('to', 'Created until'),
];

export function AccountsPage({ query }: PageProps) {
  const id = query.get('id');
  if (id === null) return <AccountList query={query} />;
  return (
    <Detail
      path={`/accounts/${encodeURIComponent(id)}`}
      back={linkWith('accounts', query, { id: undefined })}
      list="All accounts"
    >
      {(data) => <AccountFacts account={data} />}
    </Detail>
  );
}

function AccountList({ query }: PageProps) {
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
      {query.has('import') ? (
        <AccountImportCard haulerId={query.get('haulerId') ?? undefined} />
      ) : (
        <p class="actions">
          <NewLink href={linkWith('accounts', query, { import: 1 })} label="Import from CSV" />
        </p>
      )}
      <ListPage
        path="/accounts"
        query={query}
        filters={FILTERS}
        hasCsv
        label="Accounts"
        columns={columns}
        keyOf={({ accountId }) => accountId}
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

function AccountFacts({ account }: { account: Account }) {
  const haulerName = useHaulerName();
  const { billingAddress: address, primaryContact: contact } = account;
  return (
    <DetailHead
      title={account.accountName}
      label="Account"
      facts={{ Number: account.accountNumber, Hauler: haulerName(account.haulerId) }}
    >
      <Facts
        of={{
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
    </DetailHead>
  );
}
