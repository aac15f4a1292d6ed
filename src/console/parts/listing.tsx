import type { Change } from '../client/links.js';
import { getCsv } from '../client/api.js';
import { useSession } from '../client/session.js';
import { ActionButton, RowHead } from './forms.js';
import { type ComponentChildren, Fragment } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import type { List } from '../../contracts/admin/list.dto.js';
import { change, type PageProps } from '../client/address.js';
import type { PathOf, RowOf } from '../client/contract.js';
import { useList } from '../client/load.js';
import { ChosenFilters, chosenOf, type Filter, Filters } from './filters.js';
import { Reading } from './health.js';
import { Empty, Loadable } from './states.js';
import { formatCount } from './values.js';

interface CsvButtonProps {
  /** A list of the admin API. */
  readonly path: string;
  /** The filters of the page. */
  readonly filters: Change;
}

const WHOLE = { page: undefined, cursor: undefined, pageSize: undefined };

/** Saves every row of a list with its filters, for a spreadsheet. */
export function CsvButton({ path, filters }: CsvButtonProps) {
  const { isPartner } = useSession();
  if (isPartner) return null;
  const save = async () => {
    const { name, content } = await getCsv(path, { ...filters, ...WHOLE });
    const link = Object.assign(document.createElement('a'), { href: URL.createObjectURL(content), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1_000);
  };
  return (
    <p class="actions">
      <ActionButton label="Save as CSV" busy="Saving …" isRead work={save} />
    </p>
  );
}

export interface Column<T> {
  readonly title: string;
  readonly isNumber?: boolean;
  readonly cell: (row: T) => ComponentChildren;
}

interface TableProps<T> {
  readonly label: string;
  readonly rows: readonly T[];
  readonly columns: readonly Column<T>[];
  /** What no other row has; its id by default. */
  readonly keyOf?: (row: T) => string;
  readonly isStale?: boolean;
  /** Few short columns: it stays a table on a phone. */
  readonly isNarrow?: boolean;
}

const idOf = (row: unknown): string => (row as { readonly id: string }).id;

/** On a phone each row becomes a card whose cells have their titles. */
export function Table<T>({ label, rows, columns, keyOf = idOf, isStale = false, isNarrow = false }: TableProps<T>) {
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => watchWidth(box.current), []);
  return (
    <div class="scroll" role="region" aria-label={label} tabIndex={0} ref={box}>
      <table class={`${isStale ? 'stale' : ''} ${isNarrow ? 'narrow-table' : ''}`} aria-busy={isStale}>
        <thead>
          <tr>
            {columns.map(({ title, isNumber = false }) => (
              <th key={title} scope="col" class={isNumber ? 'number' : ''}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, place) => (
            <tr key={keyOf(row)}>
              <RowHead.Provider value={`${id}-${place}`}>
                {columns.map(({ title, cell, isNumber = false }, index) => {
                  const [Cell, head] =
                    index > 0 ? ['td' as const, {}] : ['th' as const, { scope: 'row', id: `${id}-${place}` }];
                  return (
                    <Cell key={title} data-title={title} class={isNumber ? 'number' : ''} {...head}>
                      {cell(row)}
                    </Cell>
                  );
                })}
              </RowHead.Provider>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Only a table that fits its box can keep its head in sight while the page scrolls: a box that scrolls holds it. */
function watchWidth(box: HTMLDivElement | null): (() => void) | undefined {
  const table = box?.firstElementChild;
  if (box === null || table == null) return undefined;
  const observer = new ResizeObserver(() => box.classList.toggle('fits', table.scrollWidth <= box.clientWidth));
  observer.observe(box);
  observer.observe(table);
  return () => observer.disconnect();
}

/** A table, or another picture of the rows. */
type ShownAs<Row> =
  | (Pick<TableProps<Row>, 'label' | 'columns' | 'keyOf'> & { readonly view?: undefined })
  | { readonly view: (rows: readonly Row[]) => ComponentChildren };

interface ListProps<Path extends string> extends PageProps {
  readonly path: Path;
  /** Shown where the list is empty, and no filter is the reason. */
  readonly empty: ComponentChildren;
  /** What a person may choose; the address has it. */
  readonly filters?: readonly Filter[];
  /** The name of the filters, where another part of the page has some too. */
  readonly filtersLabel?: string;
  /** What the list is of. */
  readonly fixed?: Change;
  /** What the call takes for the chosen filters, if not the same. */
  readonly asked?: (chosen: Readonly<Record<string, string>>) => Change;
  /** Where the page has several lists: `runs` stands at `runs.page` in the address. */
  readonly name?: string;
  readonly everyMs?: number | undefined;
  readonly pageSize?: number;
  readonly hasCsv?: boolean;
  /** Of the filters. */
  readonly folded?: boolean;
  /** Stands between the filters and the list; of its shown rows. */
  readonly children?: ComponentChildren | ((rows: readonly RowOf<Path>[]) => ComponentChildren);
}

/** A list with its filters, CSV, pages and live renewal. Its state stands in the address. */
export function ListPage<const Path extends PathOf<'GET'>>(props: ListProps<Path> & ShownAs<RowOf<Path>>) {
  const { path, query, filters = [], fixed = {}, asked = (each) => each, name, everyMs, pageSize, children } = props;
  const chosen = chosenOf(query, filters);
  const place = placeIn(query, name);
  const wanted = { ...fixed, ...asked(chosen) };
  const list = useList(path, { ...wanted, ...place, pageSize }, everyMs);
  const reading = everyMs !== undefined && <Reading of={list} />;
  return (
    <>
      {(filters.length > 0 || props.hasCsv === true) && (
        <div class="toolbar">
          {filters.length > 0 && (
            <Filters label={props.filtersLabel} folded={props.folded}>
              {filters.map((each) => (
                <Fragment key={each.name}>{each.field(query)}</Fragment>
              ))}
            </Filters>
          )}
          {props.hasCsv === true && <CsvButton path={path} filters={wanted} />}
        </div>
      )}
      <ChosenFilters filters={filters} query={query} />
      {typeof children === 'function' ? children(list.data?.data ?? []) : children}
      <Loadable of={list}>
        {(page) =>
          page.data.length === 0 ? (
            <NoRows filters={chosen} place={place} empty={props.empty} />
          ) : (
            <>
              {props.view === undefined ? (
                <Table {...props} rows={page.data} isStale={list.isStale} />
              ) : (
                props.view(page.data)
              )}
              {'pagination' in page ? (
                <Pager {...page.pagination} name={name} reading={reading} />
              ) : (
                <CursorButtons next={page.next} isNewest={!query.has('cursor')} reading={reading} />
              )}
            </>
          )
        }
      </Loadable>
    </>
  );
}

const placeNames = (name?: string) =>
  ['page', 'cursor'].map((each) => (name === undefined ? each : `${name}.${each}`)) as [string, string];

/** Where a list of the page stands, for its call. */
function placeIn(query: URLSearchParams, name?: string): Change {
  const [page, cursor] = placeNames(name).map((each) => query.get(each) ?? undefined);
  return { ...(page === undefined ? {} : { page }), ...(cursor === undefined ? {} : { cursor }) };
}

/** An empty list: without filters it shows `empty`. */
function NoRows({ filters, place, empty }: { filters: Change; place: Change; empty: ComponentChildren }) {
  if (Object.keys(filters).length > 0) {
    return <Empty title="Nothing matches these filters.">Remove a filter or widen the time.</Empty>;
  }
  return Object.keys(place).length === 0 ? <>{empty}</> : <Empty title="The list ends before this page." />;
}

interface Named {
  /** Of the list, if the page has several. */
  readonly name?: string | undefined;
  /** How old the rows are, if they are read again and again. */
  readonly reading?: ComponentChildren;
}

/** One that leads nowhere keeps the focus. */
const PageButton = ({ go, children }: { go: (() => void) | false; children: string }) => (
  <button type="button" aria-disabled={go === false} onClick={go || undefined}>
    {children}
  </button>
);

/** Of a list that goes on with its cursor alone. */
const CursorButtons = ({ next, isNewest, reading }: Named & { next: string | null; isNewest: boolean }) => (
  <div class="actions">
    {!isNewest && (
      <button type="button" onClick={() => change({ cursor: undefined })}>
        Newest
      </button>
    )}
    <PageButton go={next !== null && (() => change({ cursor: next }))}>Older</PageButton>
    {reading}
  </div>
);

/** The position in a list, with buttons where it has several pages. After the last numbered page a cursor goes on. */
function Pager({ page, totalItems, totalPages, more, next, name, reading }: List<unknown>['pagination'] & Named) {
  const [pageName, cursorName] = placeNames(name);
  const go = (number: number | undefined, cursor?: string) => change({ [pageName]: number, [cursorName]: cursor });
  const goBack = () => go(page - 1 > totalPages ? undefined : page - 1);
  const goOn = () => (page < totalPages ? go(page + 1) : go(undefined, next ?? undefined));
  const position = page > totalPages ? formatCount(page) : `${formatCount(page)} of ${formatCount(totalPages)}`;
  return (
    <div class="pager">
      <span>
        <span role="status">
          {formatCount(totalItems)}
          {more && '+'} {totalItems === 1 ? 'record' : 'records'}
          {(totalPages > 1 || page > 1) && `, page ${position}`}
          {more && page <= totalPages && '+'}
        </span>{' '}
        {reading}
      </span>
      {(page > 1 || next !== null) && (
        <span>
          <PageButton go={page > 1 && goBack}>{page - 1 > totalPages ? 'First page' : 'Previous'}</PageButton>{' '}
          <PageButton go={next !== null && goOn}>Next</PageButton>
        </span>
      )}
    </div>
  );
}
