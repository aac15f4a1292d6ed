import { useState } from 'preact/hooks';
import type { Account, AccountImport, AccountImportRow } from '../../../contracts/admin/accounts.routes.js';
import { change, type PageProps } from '../../client/address.js';
import { upload } from '../../client/api.js';
import { useHaulerName, useHaulers } from '../../client/haulers.js';
import { ActionButton, Field, Form, NewLink, Select } from '../../parts/forms.js';
import { type Column, ListPage, Table } from '../../parts/listing.js';
import { Badge, Card, Detail, DetailHead, Empty } from '../../parts/states.js';
import { Facts, formatCount, Id, Time } from '../../parts/values.js';
import { linkWith } from '../../client/links.js';
import { BY_HAULER, byText, byTime } from '../../parts/filters.js';

/** Rows that a person looks through on a page. */
const SHOWN_ROWS = 100;

const close = () => change({ import: undefined });

/** What would become of a file, and how to do it. */
interface Checked {
  readonly report: AccountImport;
  readonly run: (dryRun: boolean) => Promise<AccountImport>;
}

/** The import of a file in two steps: what would happen, then the import. */
function AccountImportCard({ haulerId }: { haulerId: string | undefined }) {
  const { choices } = useHaulers();
  const [checked, setChecked] = useState<Checked>();
  const check = async (values: FormData) => {
    const [hauler, file] = [values.get('haulerId') as string, values.get('file') as File];
    const run = (dryRun: boolean) =>
      upload('/accounts/import', { haulerId: hauler, dryRun: String(dryRun) }, file, 'text/csv');
    setChecked(undefined);
    setChecked({ report: await run(true), run });
  };
  return (
    <>
      <Form title="Import accounts" submit="Check the file" work={check} onCancel={close}>
        <p class="hint">
          A CSV in UTF-8 with the columns of the export; <code>accountName</code> is required. An account that exists
          stays as it is. <a href="/docs/guides/spreadsheets#import-accounts">All rules</a>
        </p>
        <Select name="haulerId" label="Hauler" choices={choices} value={haulerId} isRequired />
        <Field label="CSV file">
          <input type="file" name="file" accept=".csv,text/csv" required />
        </Field>
      </Form>
      {checked !== undefined && (
        <Card title={checked.report.dryRun ? 'What the import would do' : 'Imported'} label="Import">
          <ImportReport report={checked.report} />
          {checked.report.dryRun && checked.report.created > 0 && (
            <ActionButton
              label={`Import ${formatCount(checked.report.created)} ${checked.report.created === 1 ? 'account' : 'accounts'}`}
              kind="primary"
              work={async () => setChecked({ ...checked, report: await checked.run(false) })}
            />
          )}
        </Card>
      )}
    </>
  );
}

const COLUMNS: readonly Column<AccountImportRow>[] = [
  { title: 'Line', isNumber: true, cell: ({ line }) => formatCount(line) },
  { title: 'Result', cell: ({ result }) => <Badge value={result} tone={result === 'invalid' ? 'bad' : 'warn'} /> },
  { title: 'Name', cell: ({ accountName }) => accountName },
  {
    title: 'Reason',
    cell: ({ violations = [] }) => (
      <ul>
        {violations.map(({ message }) => (
          <li key={message}>{message}</li>
        ))}
      </ul>
    ),
  },
];

function ImportReport({
  report: { dryRun, rows, created, exists, conflict, invalid, data },
}: {
  report: AccountImport;
}) {
  const bad = data.filter(({ violations }) => violations !== undefined);
  const shown = bad.slice(0, SHOWN_ROWS);
  const counts = [
    `${formatCount(created)} ${dryRun ? 'would be created' : 'created'}`,
    `${formatCount(exists)} exist`,
    `${formatCount(conflict)} in conflict`,
    `${formatCount(invalid)} invalid`,
  ];
  return (
    <>
      <p class={invalid + conflict > 0 ? 'notice warn' : 'notice'} role="status">
        {formatCount(rows)} {rows === 1 ? 'row' : 'rows'}: {counts.join(', ')}.
        {invalid + conflict > 0 &&
          ' Rows with an error are left out, the first 100 are listed; correct them and import the file again.'}
      </p>
      {shown.length > 0 && (
        <Table label="Rows to correct" rows={shown} columns={COLUMNS} keyOf={({ line }) => String(line)} />
      )}
    </>
  );
}

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
    <Detail path={`/accounts/${encodeURIComponent(id)}`} list="All accounts">
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
        <NewLink href={linkWith('accounts', query, { import: 1 })} label="Import from CSV" />
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
