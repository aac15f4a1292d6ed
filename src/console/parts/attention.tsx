import type { ComponentChildren } from 'preact';
import type { Loaded } from '../client/load.js';
import { Badge, ErrorBox, Loading } from './states.js';
import { formatCount } from './values.js';

const MAX_ITEMS = 5;

export interface Check {
  readonly title: string;
  /** Shown if there are no items. */
  readonly none: string;
  readonly of: Loaded<unknown>;
  readonly items: readonly ComponentChildren[] | undefined;
  /** How many there are, if more than the loaded items. */
  readonly count?: number | undefined;
  /** There are more than `count`. */
  readonly isMore?: boolean;
}

/** What needs attention, each as a card with its newest items; below them what is in order. */
export function Checks({ checks }: { checks: readonly Check[] }) {
  const isLoading = checks.some(({ of: { data, error } }) => data === undefined && error === undefined);
  const clear = checks.filter(({ of: { data }, items = [] }) => data !== undefined && items.length === 0);
  return (
    <>
      {isLoading && <Loading />}
      <div class="attention">
        {checks.map((each) => (
          <Attention key={each.title} {...each} />
        ))}
      </div>
      {clear.length > 0 && !isLoading && (
        <section class="card clear" aria-label="In order">
          <h2>{clear.length === checks.length ? 'Nothing needs attention' : 'In order'}</h2>
          <ul>
            {clear.map(({ title, none }) => (
              <li key={title}>{none}</li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

function Attention({ title, of: { error, reload }, items = [], count = items.length, isMore = false }: Check) {
  if (items.length === 0 && error === undefined) return null;
  return (
    <section class={`card ${items.length > 0 ? 'needed' : ''}`} aria-label={title}>
      <h2>
        {title} {items.length > 0 && <Badge value={`${formatCount(count)}${isMore ? '+' : ''}`} tone="bad" />}
      </h2>
      {error !== undefined && <ErrorBox error={error} onRetry={reload} />}
      <ul>{items.slice(0, MAX_ITEMS)}</ul>
      {count > MAX_ITEMS && <p class="hint">and {formatCount(count - MAX_ITEMS)} more</p>}
    </section>
  );
}
