import type { TonnageRow } from '../../../contracts/admin/report.dto.js';
import { change, type PageProps } from '../../client/address.js';
import { useHaulers } from '../../client/haulers.js';
import { useLoad, useNow } from '../../client/load.js';
import { CsvButton } from '../../parts/csv-button.js';
import { Filters, SelectFilter, TextFilter, ZoneChoice, zoneOf } from '../../parts/filters.js';
import { Field } from '../../parts/forms.js';
import { type Column, Table } from '../../parts/listing.js';
import { Card, Empty, Loadable } from '../../parts/states.js';
import { formatCount } from '../../parts/values.js';
import { rangeText } from '../../parts/zone.rules.js';
import { ListFindings } from '../connections/list-findings.js';
import { dayText, RANGES, type RangeName, type Span, spanOf, sumOf, unitsOf } from './reports.rules.js';

const GROUPS = [
  ['site', 'Site'],
  ['material', 'Material'],
  ['day', 'Day'],
  ['field', 'Custom field'],
] as const;

const RANGE_CHOICES = [
  ['month', 'This month'],
  ['last', 'Last month'],
  ['own', 'Own days'],
] as const;

/** More rows are for a spreadsheet. */
const SHOWN_ROWS = 200;

const MINUTE_MS = 60_000;

/** Tonnage of a hauler in a range, by site, material, day or custom field. */
export function ReportsPage({ query }: PageProps) {
  const { haulers, choices, isLoaded } = useHaulers();
  const now = useNow(MINUTE_MS);
  const zone = zoneOf(query);
  const haulerId = query.get('haulerId') ?? haulers[0]?.id;
  const range = RANGES.find((name) => name === query.get('range')) ?? 'month';
  const days = [query.get('from') ?? dayText(now, zone), query.get('to') ?? dayText(now, zone)] as const;
  const span = spanOf(range, days, now, zone);
  const group = groupOf(query);
  if (isLoaded && haulerId === undefined) {
    return <Empty title="No hauler yet.">A report sums the tickets of one hauler. Create the hauler first.</Empty>;
  }
  return (
    <>
      <Filters>
        <SelectFilter
          name="haulerId"
          label="Hauler"
          query={query}
          choices={choices}
          all={null}
          defaultValue={haulerId}
        />
        <SelectFilter name="by" label="By" query={query} choices={GROUPS} all={null} defaultValue="site" />
        {query.get('by') === 'field' && (
          <TextFilter name="field" label="Name of the custom field" query={query} hint="such as truck" />
        )}
        <SelectFilter name="range" label="Time" query={query} choices={RANGE_CHOICES} all={null} defaultValue="month" />
        {range === 'own' && <DayInputs days={days} />}
        <ZoneChoice query={query} />
      </Filters>
      <Report haulerId={haulerId} group={group} span={span} range={range} zone={zone} />
      {haulerId !== undefined && <ListFindings haulerId={haulerId} query={query} />}
    </>
  );
}

/** What the service groups by; undefined while a custom field has no name. */
function groupOf(query: URLSearchParams): string | undefined {
  const by = query.get('by') ?? 'site';
  if (by !== 'field') return by;
  const field = query.get('field') ?? '';
  return field === '' ? undefined : `customField:${field}`;
}

function DayInputs({ days }: { days: readonly [string, string] }) {
  return (
    <>
      {(['from', 'to'] as const).map((name, i) => (
        <Field key={name} label={name === 'from' ? 'First day' : 'Last day'}>
          <input
            type="date"
            value={days[i]}
            // The other day stays as it is shown.
            onChange={(event) => change({ from: days[0], to: days[1], [name]: event.currentTarget.value })}
          />
        </Field>
      ))}
    </>
  );
}

interface ReportProps {
  readonly haulerId: string | undefined;
  readonly group: string | undefined;
  readonly span: Span | undefined;
  readonly range: RangeName;
  readonly zone: string;
}

function Report({ haulerId, group, span, zone }: ReportProps) {
  const isComplete = haulerId !== undefined && group !== undefined && span !== undefined;
  const filters = isComplete
    ? {
        haulerId,
        groupBy: group,
        from: new Date(span[0]).toISOString(),
        to: new Date(span[1]).toISOString(),
        timeZone: zone,
      }
    : {};
  const report = useLoad(isComplete ? '/reports/tonnage' : undefined, filters);
  if (span === undefined) return <Empty title="Choose a first and a last day." />;
  if (group === undefined) return <Empty title="Type the name of a custom field.">Its values become the rows.</Empty>;
  if (haulerId === undefined) return null;
  return (
    <Card title="Tonnage" kind="report">
      <p class="hint">
        {rangeText(span[0], span[1], zone)} ({zone}), by the time at which a ticket was first received. Short tons of
        2,000 pounds; reversals are subtracted.
      </p>
      <Loadable of={report}>
        {({ data }) => <Sums rows={data} isByMaterial={group === 'material'} isStale={report.isStale} />}
      </Loadable>
      <CsvButton path="/reports/tonnage" filters={filters} />
    </Card>
  );
}

interface SumsProps {
  readonly rows: readonly TonnageRow[];
  /** A ticket counts once for each of its materials. */
  readonly isByMaterial: boolean;
  readonly isStale: boolean;
}

function Sums({ rows, isByMaterial, isStale }: SumsProps) {
  if (rows.length === 0) return <Empty title="No ticket in this time.">Choose another time or hauler.</Empty>;
  const units = unitsOf(rows);
  const most = Math.max(...rows.map(({ tons }) => tons));
  const columns: readonly Column<TonnageRow>[] = [
    { title: 'Name', cell: ({ name, key }) => (key === '' ? <span class="muted">without the field</span> : name) },
    { title: 'Tons', isNumber: true, cell: ({ tons }) => <TonsBar tons={tons} most={most} /> },
    { title: 'Tickets', isNumber: true, cell: ({ tickets }) => formatCount(tickets) },
    ...units.map((unit) => ({
      title: unit,
      isNumber: true,
      cell: ({ other }: TonnageRow) => (other[unit] === undefined ? <Nothing /> : formatCount(other[unit])),
    })),
  ];
  const others = units.map((unit) => `${formatCount(sumOf(rows, ({ other }) => other[unit]))} ${unit}`);
  return (
    <>
      <p class="total" role="status">
        <strong>{tonsText(sumOf(rows, ({ tons }) => tons))} tons</strong>
        {!isByMaterial && ` on ${formatCount(sumOf(rows, ({ tickets }) => tickets))} tickets`}
        {others.length > 0 && <span class="hint"> and without a weight: {others.join(', ')}</span>}
      </p>
      <Table
        label="Tonnage by row"
        rows={rows.slice(0, SHOWN_ROWS)}
        columns={columns}
        keyOf={({ key }) => key}
        isStale={isStale}
      />
      {rows.length > SHOWN_ROWS && (
        <p class="hint">
          The first {SHOWN_ROWS} of {formatCount(rows.length)} rows. The CSV has all.
        </p>
      )}
    </>
  );
}

/** To the pound, about; the CSV has all digits. */
const tonsText = (tons: number): string => formatCount(Number(tons.toFixed(3)));

const Nothing = () => <span class="muted">–</span>;

/** The number with a bar, whose length compares the rows. A negative sum has none. */
const TonsBar = ({ tons, most }: { tons: number; most: number }) => (
  <span class="tons">
    <span class="track" aria-hidden="true">
      <span class="length" style={{ width: `${most <= 0 ? 0 : Math.max(0, (tons / most) * 100)}%` }} />
    </span>
    <span class="value">{tonsText(tons)}</span>
  </span>
);
