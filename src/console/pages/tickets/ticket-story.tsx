import { useState } from 'preact/hooks';
import type { FieldChange, HistoryEntry } from '../../../contracts/admin/history.dto.js';
import type { Ticket } from '../../../contracts/admin/tickets.routes.js';
import type { FlowData, MaterialItem } from '../../../contracts/scale/scale.api.js';
import type { PageProps } from '../../client/address.js';
import { linkTo } from '../../client/links.js';
import { useLoad } from '../../client/load.js';
import { After, Before, FieldPath, Json } from '../../parts/json.js';
import { ListPage } from '../../parts/listing.js';
import { Badge, Card, Empty, Loadable } from '../../parts/states.js';
import { formatCount, KeyPrefix, Time } from '../../parts/values.js';
import { type Amounts, type Step, stepsOf } from './ticket-line.rules.js';

const LIVE_MS = 10_000;

/** What happened to a ticket as a line of steps, newest first. */
export function Story({ ticket, query }: PageProps & { ticket: Ticket }) {
  const path = `/tickets/${encodeURIComponent(ticket.id)}` as const;
  return (
    <Card title="Story">
      <ListPage
        path={`${path}/history`}
        query={query}
        name="story"
        pageSize={50}
        everyMs={LIVE_MS}
        view={(entries) => (
          <ol class="line" aria-label="Steps">
            {stepsOf(entries, ticket).map((step) => (
              <StepItem key={`${step.entry.at} ${step.entry.exchangeId}`} step={step} path={path} />
            ))}
          </ol>
        )}
        empty={<Empty title="No push is stored." />}
      />
    </Card>
  );
}

/** More are shown on demand. */
const SHOWN_CHANGES = 8;

interface StepProps {
  readonly step: Step;
  /** Of the ticket. */
  readonly path: `/tickets/${string}`;
}

/** When, what, the weight with its difference, and who pushed it. */
function StepItem({ step: { entry, word, tone, amounts, difference }, path }: StepProps) {
  const { at, text, changes = [], moreChanges = 0, keyPrefix, exchangeId, revision } = entry;
  const rest = changes.slice(SHOWN_CHANGES);
  return (
    <li class={tone}>
      <p class="step-head">
        <Badge value={word} tone={tone} />
        {amounts !== undefined && <strong>{amountsText(amounts)}</strong>}
        {difference !== undefined && difference.size > 0 && (
          <span class="difference">{amountsText(difference, SIGNED)}</span>
        )}
        <Ending entry={entry} />
        <span class="hint">
          <Time value={at} />
          {revision !== undefined && ` push ${revision}`}
          {keyPrefix !== undefined && (
            <>
              {' '}
              by <KeyPrefix value={keyPrefix} />
            </>
          )}
        </span>
        {exchangeId !== undefined && <a href={linkTo('exchanges', { id: exchangeId })}>Exchange</a>}
      </p>
      {changes.length === 0 && <p>{text}</p>}
      <Changes of={changes.slice(0, SHOWN_CHANGES)} />
      {rest.length > 0 && (
        <details>
          <summary>{rest.length + moreChanges} more</summary>
          <Changes of={rest} />
          {moreChanges > 0 && <span class="hint">And {moreChanges} more. The pushes have all of them.</span>}
        </details>
      )}
      {revision !== undefined && <AsSent path={path} revision={revision} />}
    </li>
  );
}

/** A push, read when it is asked for: it has its whole body, also when its exchange is not kept any more. */
function AsSent({ path, revision }: Pick<StepProps, 'path'> & { revision: number }) {
  const [isOpen, setOpen] = useState(false);
  const push = useLoad(isOpen ? `${path}/revisions` : undefined, { page: revision, pageSize: 1 });
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>As it was sent</summary>
      {isOpen && (
        <Loadable of={push}>{({ data }) => <Json value={data[0]?.body} label={`Push ${revision}`} />}</Loadable>
      )}
    </details>
  );
}

const SIGNED = new Intl.NumberFormat(undefined, { maximumFractionDigits: 6, signDisplay: 'exceptZero' });

/** Such as `12.48 Ton, 2 Cubic Yard`. */
export const amountsText = (
  amounts: Amounts,
  { format }: { format: (value: number) => string } = { format: formatCount },
) => [...amounts].map(([unit, quantity]) => `${format(quantity)} ${unit}`).join(', ');

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
      <span class="values">
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
