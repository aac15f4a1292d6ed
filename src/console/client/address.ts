import { useEffect, useState } from 'preact/hooks';

/** The state of a page stands in its address: a reload or a link sent to a colleague shows the same. */
export interface Address {
  readonly page: string;
  readonly query: URLSearchParams;
}

/** What every page receives. */
export interface PageProps {
  readonly query: URLSearchParams;
}

export type Change = Readonly<Record<string, string | number | undefined>>;

const ROOT = '/console/';

function currentAddress(): Address {
  const page = location.pathname.slice(ROOT.length).replace(/\/+$/, '');
  return { page, query: new URLSearchParams(location.search) };
}

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
const isPlace = (name: string): boolean => /(^|\.)(page|cursor)$/.test(name);

/** The link to a page with another filter, which starts all lists of the page again. */
export const linkToFilter = (page: string, query: URLSearchParams, patch: Change): string =>
  linkWith(page, new URLSearchParams([...query].filter(([name]) => !isPlace(name))), patch);

const CHANGED = 'addresschange';

/** Opens an address of the console without loading the document again. */
export function open(address: string, { replace = false } = {}): void {
  if (replace) history.replaceState(null, '', address);
  else history.pushState(null, '', address);
  dispatchEvent(new Event(CHANGED));
}

/**
 * Changes parts of the query; an empty value removes its name. Another filter starts all lists of the page again; turning a page
 * touches one list.
 */
export function change(patch: Change, options: { readonly replace?: boolean } = {}): void {
  const { page, query } = currentAddress();
  const link = Object.keys(patch).every(isPlace) ? linkWith : linkToFilter;
  open(link(page, query, patch), options);
}

export function useAddress(): Address {
  const [address, setAddress] = useState(currentAddress);
  useEffect(() => {
    const update = () => setAddress(currentAddress());
    addEventListener('popstate', update);
    addEventListener(CHANGED, update);
    document.addEventListener('click', followLink);
    return () => {
      removeEventListener('popstate', update);
      removeEventListener(CHANGED, update);
      document.removeEventListener('click', followLink);
    };
  }, []);
  return address;
}

/** Links of the console are ordinary links: they open in a new tab where the user asks for one. */
function followLink(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
  const link = event.target instanceof Element ? event.target.closest('a') : null;
  if (link === null || link.target !== '' || link.hasAttribute('download')) return;
  if (link.origin !== location.origin || !`${link.pathname}/`.startsWith(ROOT)) return;
  if (link.hash !== '' && link.pathname === location.pathname) return;
  event.preventDefault();
  const samePage = link.pathname === location.pathname;
  open(link.pathname + link.search);
  if (!samePage) scrollTo(0, 0);
}
