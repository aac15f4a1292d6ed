import { useState } from 'preact/hooks';
import type { FieldChange, HistoryEntry } from '../../../contracts/admin/history.dto.js';
import type { FlowData, MaterialItem } from '../../../contracts/scale/scale.dto.js';
import { linkTo } from '../../client/address.js';
import { useKeyName } from '../../client/haulers.js';
import { After, Before, FieldPath } from '../../parts/json.js';
import { type Column, ListPage } from '../../parts/listing.js';
import { Badge, Card, Empty, type Tone } from '../../parts/states.js';
import { KeyPrefix, Time } from '../../parts/values.js';
import { NO_PUSHES, Revisions } from './ticket-revisions.js';

/** The parts of the address that only the page of one ticket has. */
export const NO_STORY = { ...NO_PUSHES, 'story.page': undefined, 'story.cursor': undefined };

const LIVE_MS = 10_000;

const columnsOf = (keyName: (prefix: string) => string | undefined): readonly Column<HistoryEntry>[] => [
  { title: 'Time', cell: ({ at }) => <Time value={at} /> },
  { title: 'Step', cell: (entry) => <Step entry={entry} /> },
  { title: 'Result', cell: (entry) => <ResultBadge entry={entry} /> },
  {
    title: 'Key',
    cell: ({ keyPrefix }) =>
      keyPrefix === undefined ? '–' : <KeyPrefix value={keyPrefix} name={keyName(keyPrefix)} />,
  },
  {
    title: 'Exchange',
    cell: ({ exchangeId }) =>
      exchangeId === undefined ? '–' : <a href={linkTo('exchanges', { id: exchangeId })}>open</a>,
  },
];

/** What happened to a ticket, newest first; below, two of its pushes can be compared as they were sent. */
export function Story({ id, haulerId, query }: { id: string; haulerId: string; query: URLSearchParams }) {
  const keyName = useKeyName(haulerId);
  return (
    <>
      <Card title="Story">
        <ListPage
          path={`/tickets/${encodeURIComponent(id)}/history`}
          query={query}
          name="story"
          everyMs={LIVE_MS}
          label="Steps"
          columns={columnsOf(keyName)}
          keyOf={({ at, revision, exchangeId }) => `${at} ${revision ?? exchangeId}`}
          empty={<Empty title="No push is stored." />}
        />
      </Card>
      <Comparison id={id} query={query} />
    </>
  );
}

/** The pushes are read when they are asked for: each has its whole body. An address that names some of them asks. */
function Comparison({ id, query }: { id: string; query: URLSearchParams }) {
  const isNamed = Object.keys(NO_PUSHES).some((name) => query.has(name));
  const [isOpen, setOpen] = useState(isNamed);
  return (
    <details class="fold" open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Compare two pushes as they were sent</summary>
      {isOpen && <Revisions id={id} query={query} />}
    </details>
  );
}

/** More are shown on demand. */
const SHOWN_CHANGES = 8;

function Step({ entry: { text, changes = [], moreChanges = 0 } }: { entry: HistoryEntry }) {
  const rest = changes.slice(SHOWN_CHANGES);
  return (
    <div class="step">
      <span>{text}</span>
      <Changes of={changes.slice(0, SHOWN_CHANGES)} />
      {rest.length > 0 && (
        <details>
          <summary>{rest.length + moreChanges} more</summary>
          <Changes of={rest} />
          {moreChanges > 0 && <span class="hint">And {moreChanges} more. Compare the two pushes to see all.</span>}
        </details>
      )}
    </div>
  );
}

const Changes = ({ of }: { of: readonly FieldChange[] }) => (
  <ul class="changes">
    {of.map((change, i) => (
      <li key={i}>
        <FieldPath of={change.field} /> <Values of={change} />
        {change.material !== undefined && <span class="hint"> {change.material}</span>}
      </li>
    ))}
  </ul>
);

function Values({ of: change }: { of: FieldChange }) {
  const { field, before, after, unitOfMeasure } = change;
  return (
    <>
      {before === undefined && 'added '}
      {after === undefined && 'removed '}
      <span class="values" translate={false}>
        {before !== undefined && <Before value={readable(change, before)} />}
        {before !== undefined && after !== undefined && <Arrow />}
        {after !== undefined && <After value={readable(change, after)} />}
        {unitOfMeasure !== undefined && field.endsWith('.quantity') && ` ${unitOfMeasure}`}
      </span>
    </>
  );
}

const Arrow = () => (
  <>
    {' '}
    <span class="arrow">→</span>{' '}
  </>
);

/** A line as `Debris 14.9 Ton`, and a flow as its number and time. The push has the ids. */
function readable({ field }: FieldChange, value: unknown): unknown {
  if (/^materials\[\d+\]$/.test(field)) {
    const { id, name, quantity, unitOfMeasure, ...more } = value as MaterialItem;
    const others = Object.entries(more).map(([member, each]) => `, ${member}: ${each}`);
    return `${name || id} ${quantity} ${unitOfMeasure}${others.join('')}`;
  }
  if (field !== 'inboundFlow' && field !== 'outboundFlow') return value;
  const { ticketNumber, updatedAt } = value as FlowData;
  return `${ticketNumber}, ${updatedAt}`;
}

function ResultBadge({ entry }: { entry: HistoryEntry }) {
  const [word, tone] = resultOf(entry);
  return (
    <span class="call">
      <Badge value={word} tone={tone} />
      {entry.revision !== undefined && <span class="hint"> push {entry.revision}</span>}
      <Ending entry={entry} />
    </span>
  );
}

/** What was decided about a refused push, and what the caller received where that is something else. */
function Ending({ entry: { event, revision, status = 0, result, failure } }: { entry: HistoryEntry }) {
  const parts = [
    ...(event === 'refused' && result !== undefined ? [result] : []),
    ...(failure !== undefined && revision !== undefined ? ['answer lost'] : []),
    ...(status >= 500 && result?.startsWith('5') === false ? [`caller received ${status}`] : []),
  ];
  return parts.map((part) => (
    <span key={part} class="hint ending">
      {part}
    </span>
  ));
}

function resultOf({ event, status, result }: HistoryEntry): [word: string, tone?: Tone] {
  if (event !== 'refused') return [result ?? event];
  if (status === undefined) return ['answer lost', 'warn'];
  return status < 500 ? ['refused'] : ['not stored', 'bad'];
}
