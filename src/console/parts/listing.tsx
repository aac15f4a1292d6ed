import type { ComponentChildren } from 'preact';
import type { List } from '../../contracts/admin/list.dto.js';
import { type Change, change } from '../client/address.js';
import type { Loaded } from '../client/load.js';
import { Empty, Loadable } from './states.js';
import { formatCount } from './values.js';

export interface Column<T> {
  readonly title: string;
  readonly isNumber?: boolean;
  readonly cell: (row: T) => ComponentChildren;
}

interface TableProps<T> {
  readonly label: string;
  readonly rows: readonly T[];
  readonly columns: readonly Column<T>[];
  readonly keyOf: (row: T) => string;
  readonly isStale?: boolean;
  /** Few short columns: it stays a table on a phone. */
  readonly isNarrow?: boolean;
}

/** A browser does not translate it. */
const VALUE = { translate: false };

/** On a phone each row becomes a card whose cells have their titles. */
export function Table<T>({ label, rows, columns, keyOf, isStale = false, isNarrow = false }: TableProps<T>) {
  return (
    <div class="scroll" role="region" aria-label={label} tabIndex={0}>
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
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ title, cell, isNumber = false }) => (
                <td key={title} data-title={title} class={isNumber ? 'number' : ''} {...(isNumber ? VALUE : {})}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface ListingProps<T> {
  readonly label: string;
  readonly list: Loaded<List<T>>;
  readonly columns: readonly Column<T>[];
  readonly keyOf: (row: T) => string;
  readonly filters?: Change;
  /** Shown where the list is empty, and no filter is the reason. */
  readonly empty: ComponentChildren;
  /** Where the address has its place, if the page has another list. */
  readonly place?: Place;
}

/** The names of a list's page and cursor in the address. */
export interface Place {
  readonly page: string;
  readonly cursor: string;
}

const PLACE: Place = { page: 'page', cursor: 'cursor' };

/** One page of a list. */
export function Listing<T>({ label, list, columns, keyOf, filters = {}, empty, place }: ListingProps<T>) {
  return (
    <Loadable of={list}>
      {({ data, pagination }) =>
        data.length === 0 ? (
          <NoRows filters={filters} empty={empty} />
        ) : (
          <>
            <Table label={label} rows={data} columns={columns} keyOf={keyOf} isStale={list.isLoading} />
            <Pager {...pagination} place={place} />
          </>
        )
      }
    </Loadable>
  );
}

/** An empty list: without filters it shows `empty`. */
export function NoRows({ filters, empty }: { filters: Change; empty: ComponentChildren }) {
  if (Object.keys(filters).length === 0) return <>{empty}</>;
  return <Empty title="Nothing matches these filters.">Remove a filter or widen the time.</Empty>;
}

/** The position of a page of records. */
export function Pager({ page, totalItems, totalPages, more, next, place }: List<unknown>['pagination'] & Placed) {
  const position = page > totalPages ? formatCount(page) : `${formatCount(page)} of ${formatCount(totalPages)}`;
  return (
    <PageButtons page={page} last={totalPages} next={next} place={place}>
      {formatCount(totalItems)}
      {more && '+'} {totalItems === 1 ? 'record' : 'records'}
      {(totalPages > 1 || page > 1) && `, page ${position}`}
      {more && page <= totalPages && '+'}
    </PageButtons>
  );
}

interface Placed {
  readonly place?: Place | undefined;
}

interface PageButtonsProps extends Placed {
  readonly page: number;
  /** The last page that has a number. */
  readonly last: number;
  /** The cursor of the page after this one; null on the last one. */
  readonly next: string | null;
  readonly children: ComponentChildren;
}

/** The position in a list, with buttons where it has several pages. After the last numbered page a cursor goes on. */
export function PageButtons({ page, last, next, place = PLACE, children }: PageButtonsProps) {
  const go = (number: number | undefined, cursor?: string) => change({ [place.page]: number, [place.cursor]: cursor });
  const goBack = () => go(page - 1 > last ? undefined : page - 1);
  const goOn = () => (page < last ? go(page + 1) : go(undefined, next ?? undefined));
  return (
    <div class="pager">
      <span role="status">{children}</span>
      {(page > 1 || next !== null) && (
        <span>
          <button type="button" disabled={page <= 1} onClick={goBack}>
            {page - 1 > last ? 'First page' : 'Previous'}
          </button>{' '}
          <button type="button" disabled={next === null} onClick={goOn}>
            Next
          </button>
        </span>
      )}
    </div>
  );
}
