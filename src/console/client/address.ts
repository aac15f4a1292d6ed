import { useEffect, useState } from 'preact/hooks';
import { type Change, isPlace, linkToFilter, linkWith, ROOT } from './links.js';

/** The state of a page stands in its address: a reload or a link sent to a colleague shows the same. */
export interface Address {
  readonly page: string;
  readonly query: URLSearchParams;
}

/** What every page receives. */
export interface PageProps {
  readonly query: URLSearchParams;
}

function currentAddress(): Address {
  const page = location.pathname.slice(ROOT.length).replace(/\/+$/, '');
  return { page, query: new URLSearchParams(location.search) };
}

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
