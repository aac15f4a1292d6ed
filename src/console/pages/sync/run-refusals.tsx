import type { QuarantinedRecord, RefusedRecords } from '../../../contracts/admin/sync-refusal.dto.js';
import type { SyncRun } from '../../../contracts/admin/sync-run.dto.js';
import type { PageProps } from '../../client/address.js';
import { linkToFilter } from '../../client/links.js';
import { Json } from '../../parts/json.js';
import { type Column, ListPage } from '../../parts/listing.js';
import { Badge, Card, Empty } from '../../parts/states.js';
import { Prose } from '../../parts/values.js';
import type { RunPath } from './run-changes.js';

/** The group that the address names, as `quarantined:materials:measureUnit:isEnum`. */
const keyOf = ({ severity, kind, field, rule }: RefusedRecords): string => [severity, kind, field, rule].join(':');

function groupIn(query: URLSearchParams): Record<string, string> {
  const [severity, kind, field, rule] = query.get('refused')?.split(':') ?? [];
  if (severity === undefined || kind === undefined || field === undefined || rule === undefined) return {};
  return { severity, kind, field, rule };
}

/** What a run refused or flagged: how many by rule, and the records of all rules or of one. */
export function Refusals({ run, path, query }: PageProps & { run: SyncRun; path: RunPath }) {
  const { refusals = [] } = run;
  const chosen = query.get('refused');
  return (
    <Card title="Refused and flagged records" label="Quarantine">
      <ListPage
        path={`${path}/quarantine`}
        query={query}
        name="quarantine"
        fixed={groupIn(query)}
        // All rules together are a look at them: each group lists its own.
        pageSize={refusals.length > 0 && chosen === null ? 20 : 100}
        hasCsv={refusals.length > 0}
        label="Refused and flagged records"
        columns={COLUMNS}
        keyOf={(record) => record.path + record.reason}
        empty={<Empty title={chosen === null ? 'None: every record was valid.' : 'No record breaks this rule.'} />}
      >
        {refusals.length > 0 && (
          <ul class="groups" aria-label="By rule">
            {refusals.map((group) => (
              <Group key={keyOf(group)} group={group} query={query} isChosen={chosen === keyOf(group)} />
            ))}
          </ul>
        )}
      </ListPage>
    </Card>
  );
}

/** A press on the chosen one shows the records of all rules again. */
function Group({ group, query, isChosen }: PageProps & { group: RefusedRecords; isChosen: boolean }) {
  const { severity, kind, field, sentence, cause, remedy, ruleId, example } = group;
  return (
    <li class={isChosen ? 'chosen' : ''}>
      <a
        href={linkToFilter('sync', query, { refused: isChosen ? undefined : keyOf(group) })}
        aria-current={isChosen ? 'true' : undefined}
      >
        {sentence}
      </a>{' '}
      <Badge value={severity} />
      <p class="hint">
        {kind}, <code>{field}</code>
        {ruleId !== undefined && (
          <>
            , rule <code>{ruleId}</code>
          </>
        )}
        . <Prose text={`${cause} ${remedy}`} />
      </p>
      <p class="hint">For example: {example}</p>
    </li>
  );
}

const COLUMNS: readonly Column<QuarantinedRecord>[] = [
  { title: 'State', cell: ({ severity }) => <Badge value={severity} /> },
  { title: 'Record', cell: (record) => <code>{record.path}</code> },
  {
    title: 'Reason',
    cell: ({ reason, ruleId }) => (
      <>
        {reason} {ruleId !== undefined && <code class="muted">{ruleId}</code>}
      </>
    ),
  },
  {
    title: 'As received',
    cell: ({ raw, path }) => (
      <details>
        <summary>Show</summary>
        <Json value={raw} label={`Record ${path}`} />
      </details>
    ),
  },
];
