import { useState } from 'preact/hooks';
import type { AccountImport, AccountImportRow } from '../../../contracts/admin/account-import.dto.js';
import { change } from '../../client/address.js';
import { upload } from '../../client/api.js';
import { useHaulers } from '../../client/haulers.js';
import { useAction } from '../../client/load.js';
import { Chooser, Field } from '../../parts/forms.js';
import { type Column, Table } from '../../parts/listing.js';
import { Badge, Card, ErrorBox } from '../../parts/states.js';
import { formatCount } from '../../parts/values.js';

/** Rows that a person looks through on a page. */
const SHOWN_ROWS = 100;

const close = () => change({ import: undefined });

/** The import of a file in two steps: what would happen, then the import. */
export function AccountImportCard({ haulerId: preset }: { haulerId: string | undefined }) {
  const { choices } = useHaulers();
  const [chosen, setChosen] = useState(preset);
  const [file, setFile] = useState<File>();
  const [report, setReport] = useState<AccountImport>();
  const haulerId = chosen ?? (choices.length === 1 ? choices[0]?.[0] : undefined);
  const action = useAction<boolean>(async (dryRun) => {
    if (file === undefined || haulerId === undefined) return;
    setReport(undefined);
    setReport(await upload('/accounts/import', { haulerId, dryRun: String(dryRun) }, file, 'text/csv'));
  });
  const isDone = report?.dryRun === false;
  const canImport = report?.dryRun === true && report.created > 0;
  return (
    <Card title="Import accounts">
      <p class="hint">
        A CSV in UTF-8 with the columns of the export; <code>accountName</code> is required. An account that exists
        stays as it is. <a href="/docs/guides/spreadsheets#import-accounts">All rules</a>
      </p>
      <div class="filters open">
        <Chooser
          label="Hauler"
          value={haulerId ?? ''}
          choices={[['', 'Choose …'], ...choices]}
          onChoose={(value) => {
            setReport(undefined);
            setChosen(value === '' ? undefined : value);
          }}
        />
        <Field label="CSV file">
          <input
            type="file"
            accept=".csv,text/csv"
            onChange={(event) => {
              setReport(undefined);
              setFile(event.currentTarget.files?.[0]);
            }}
          />
        </Field>
      </div>
      {report !== undefined && <ImportReport report={report} />}
      {action.error !== undefined && <ErrorBox error={action.error} />}
      <div class="actions">
        {!isDone && (
          <button
            type="button"
            class={canImport ? '' : 'primary'}
            disabled={action.isRunning || file === undefined || haulerId === undefined}
            onClick={() => void action.run(true).catch(reportError)}
          >
            {action.isRunning ? 'Reading …' : 'Check the file'}
          </button>
        )}
        {canImport && (
          <button
            type="button"
            class="primary"
            disabled={action.isRunning}
            onClick={() => void action.run(false).catch(reportError)}
          >
            Import {formatCount(report.created)} {report.created === 1 ? 'account' : 'accounts'}
          </button>
        )}
        <button type="button" onClick={close}>
          {isDone ? 'Close' : 'Cancel'}
        </button>
      </div>
    </Card>
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
        {invalid + conflict > 0 && ' Rows with an error are left out; correct them and import the file again.'}
      </p>
      {shown.length > 0 && (
        <Table label="Rows to correct" rows={shown} columns={COLUMNS} keyOf={({ line }) => String(line)} />
      )}
      {shown.length < invalid + conflict && (
        <p class="hint">
          The first {SHOWN_ROWS} of {formatCount(invalid + conflict)} rows with an error.
        </p>
      )}
    </>
  );
}
