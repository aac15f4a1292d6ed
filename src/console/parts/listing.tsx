import type { ComponentChildren } from 'preact';
import type { List } from '../../contracts/admin/list.dto.js';
import { change } from '../client/address.js';
import type { Loaded } from '../client/load.js';
import { Empty, ErrorBox, Loading } from './states.js';
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
                <td key={title} data-title={title} class={isNumber ? 'number' : ''}>
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
  /** Shown where the list is empty. */
  readonly empty: ComponentChildren;
}

/** A page of a list with all its states. */
export function Listing<T>({ label, list, columns, keyOf, empty }: ListingProps<T>) {
  const { data, error, isLoading, reload } = list;
  return (
    <>
      {error !== undefined && <ErrorBox error={error} onRetry={reload} />}
      {data === undefined && error === undefined && <Loading />}
      {data?.data.length === 0 && empty}
      {data !== undefined && data.data.length > 0 && (
        <>
          <Table label={label} rows={data.data} columns={columns} keyOf={keyOf} isStale={isLoading} />
          <Pager {...data.pagination} />
        </>
      )}
    </>
  );
}

function Pager({ page, totalItems, totalPages }: Required<List<unknown>['pagination']>) {
  return (
    <div class="pager">
      <span role="status">
        {formatCount(totalItems)} {totalItems === 1 ? 'record' : 'records'}
        {totalPages > 1 && `, page ${formatCount(page)} of ${formatCount(totalPages)}`}
      </span>
      {totalPages > 1 && (
        <span>
          <button type="button" disabled={page <= 1} onClick={() => change({ page: page - 1 })}>
            Previous
          </button>{' '}
          <button type="button" disabled={page >= totalPages} onClick={() => change({ page: page + 1 })}>
            Next
          </button>
        </span>
      )}
    </div>
  );
}

/** The result of a filter that nothing matches. */
export function NoMatch({ children }: { children?: ComponentChildren }) {
  return <Empty title="Nothing matches these filters.">{children ?? 'Remove a filter or widen the time.'}</Empty>;
}
