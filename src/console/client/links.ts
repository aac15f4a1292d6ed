export const ROOT = '/console/';

export type Change = Readonly<Record<string, string | number | undefined>>;

/** The link to a page; absent and empty values are left out. */
export function linkTo(page: string, query: Change = {}): string {
  const text = queryText(query);
  return `${ROOT}${page}${text === '' ? '' : `?${text}`}`;
}

export function queryText(query: Change): string {
  const entries = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  return new URLSearchParams(entries.map(([name, value]) => [name, String(value)])).toString();
}

/** The link to a record from its list, and back: the list stays at its page. */
export const linkWith = (page: string, query: URLSearchParams, patch: Change): string =>
  linkTo(page, { ...Object.fromEntries(query), ...patch });

/** Where a list stands: `page` and `cursor`, or with the name of the list, as `deliveries.page`. */
export const isPlace = (name: string): boolean => /(^|\.)(page|cursor)$/.test(name);

/** The link to a page with another filter, which starts all lists of the page again. */
export const linkToFilter = (page: string, query: URLSearchParams, patch: Change): string =>
  linkWith(page, new URLSearchParams([...query].filter(([name]) => !isPlace(name))), patch);
