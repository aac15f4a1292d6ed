import type { TonnageRow } from '../../../contracts/admin/tickets.routes.js';
import { change, type PageProps } from '../../client/address.js';
import { linkTo } from '../../client/links.js';
import { useHaulerName, useHaulers } from '../../client/haulers.js';
import { useLoad, useNow } from '../../client/load.js';
import { type Column, CsvButton, Table } from '../../parts/listing.js';
import { Filters, SelectFilter, TextFilter, ZoneChoice, zoneOf } from '../../parts/filters.js';
import { Field } from '../../parts/forms.js';
import { Card, Empty, Loadable, Loading } from '../../parts/states.js';
import { formatCount } from '../../parts/values.js';
import { rangeText } from '../../parts/zone.rules.js';
import { dayText, RANGES, type Span, spanOf, sumOf, unitsOf } from './reports.rules.js';
import { DayBars, MaterialShares, tonsText } from './tonnage-pictures.js';

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
      <Report haulerId={haulerId} group={group} span={span} zone={zone} />
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
  readonly zone: string;
}

function Report({ haulerId, group, span, zone }: ReportProps) {
  const haulerName = useHaulerName();
  const isComplete = haulerId !== undefined && group !== undefined && span !== undefined;
  const [from, to] = (span ?? []).map((time) => new Date(time).toISOString());
  const filters = isComplete ? { haulerId, groupBy: group, from, to, timeZone: zone } : {};
  const by = (wanted: string) => (isComplete && wanted !== group ? '/reports/tonnage' : undefined);
  const report = useLoad(isComplete ? '/reports/tonnage' : undefined, filters);
  const byDay = useLoad(by('day'), { ...filters, groupBy: 'day' });
  const byMaterial = useLoad(by('material'), { ...filters, groupBy: 'material' });
  const days = (group === 'day' ? report : byDay).data?.data ?? [];
  if (span === undefined) return <Empty title="Choose a first and a last day." />;
  if (group === undefined) return <Empty title="Type the name of a custom field.">Its values become the rows.</Empty>;
  if (haulerId === undefined) return null;
  return (
    <Card title={`Tonnage of ${haulerName(haulerId)}`} label="Tonnage" kind="report">
      <p class="hint">
        {rangeText(span[0], span[1], zone)} ({zone}), by the time at which a ticket was first received. Short tons of
        2,000 pounds; reversals are subtracted.
      </p>
      <Loadable of={report}>
        {({ data }) =>
          data.length === 0 ? (
            <NoTonnage haulerId={haulerId} />
          ) : (
            <>
              <div class="head">
                <Total rows={days} />
                <button type="button" onClick={() => print()}>
                  Print
                </button>
              </div>
              <div class="pictures">
                {days.length > 0 && <DayBars days={days} span={span} zone={zone} />}
                <MaterialShares materials={(group === 'material' ? report : byMaterial).data?.data ?? []} />
              </div>
              <Sums rows={data} isStale={report.isStale} />
            </>
          )
        }
      </Loadable>
      <CsvButton path="/reports/tonnage" filters={filters} />
    </Card>
  );
}

/** Why a report is empty: another time may have tickets, or none has come yet. */
function NoTonnage({ haulerId }: { haulerId: string }) {
  const tickets = useLoad('/tickets', { haulerId, pageSize: 1 }).data;
  if (tickets === undefined) return <Loading />;
  if (tickets.data.length > 0) return <Empty title="No ticket in this time.">Choose another time or hauler.</Empty>;
  return (
    <Empty title="This hauler has no ticket yet.">
      A partner pushes tickets with <code>POST /platform-api/v1/tickets</code> and a key of this hauler: issue one under{' '}
      <a href={linkTo('keys', { haulerId })}>API keys</a>. The first push fills this report.
    </Empty>
  );
}

/** Of all rows: of the days, because each ticket has one. */
function Total({ rows }: { rows: readonly TonnageRow[] }) {
  const others = unitsOf(rows).map((unit) => `${formatCount(sumOf(rows, ({ other }) => other[unit]))} ${unit}`);
  return (
    <p class="total" role="status">
      {rows.length > 0 && (
        <>
          <strong>{tonsText(sumOf(rows, ({ tons }) => tons))} tons</strong> on{' '}
          {formatCount(sumOf(rows, ({ tickets }) => tickets))} tickets
          {others.length > 0 && <span class="hint"> and without a weight: {others.join(', ')}</span>}
        </>
      )}
    </p>
  );
}

function Sums({ rows, isStale }: { rows: readonly TonnageRow[]; isStale: boolean }) {
  const columns: readonly Column<TonnageRow>[] = [
    { title: 'Name', cell: ({ name, key }) => (key === '' ? <span class="muted">without the field</span> : name) },
    {
      title: 'Tons',
      isNumber: true,
      cell: ({ tons }) => tonsText(tons),
    },
    { title: 'Tickets', isNumber: true, cell: ({ tickets }) => formatCount(tickets) },
    ...unitsOf(rows).map((unit) => ({
      title: unit,
      isNumber: true,
      cell: ({ other }: TonnageRow) => (other[unit] === undefined ? <Nothing /> : formatCount(other[unit])),
    })),
  ];
  return (
    <>
      <Table
        label="Tonnage by row"
        rows={rows.slice(0, SHOWN_ROWS)}
        columns={columns}
        keyOf={({ key }) => key}
        isStale={isStale}
        isNarrow
      />
      {rows.length > SHOWN_ROWS && (
        <p class="hint">
          The first {SHOWN_ROWS} of {formatCount(rows.length)} rows. The CSV has all.
        </p>
      )}
    </>
  );
}

const Nothing = () => <span class="muted">–</span>;
