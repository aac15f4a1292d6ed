import { useLayoutEffect, useState } from 'preact/hooks';
import type { PageProps } from '../client/address.js';
import { Loading } from '../parts/states.js';

type Contents = typeof import('./contents.js');
export type ContentName = keyof Contents;

let loaded: Contents | undefined;

/** Loads the script of the pages, so that each opens at once. */
export const loadPages = async (): Promise<Contents> => (loaded ??= await import('./contents.js'));

/** A page whose script is loaded after the first page is shown, or when it is opened. */
export function LazyPage({ name, query }: PageProps & { name: ContentName }) {
  const [contents, setContents] = useState<Contents | 'failed' | undefined>(loaded);
  // Not `useEffect`, which waits for the next frame before it sends the request.
  useLayoutEffect(() => void loadPages().then(setContents, () => setContents('failed')), []);
  if (contents === undefined) return <Loading />;
  if (contents === 'failed') return <NotLoaded />;
  const Content = contents[name];
  return <Content query={query} />;
}

/** A newer version of the service has other names for its scripts: only the document knows them. */
const NotLoaded = () => (
  <div class="notice bad" role="alert">
    <p>This page could not be loaded: the service is away, or has a newer version.</p>
    <button type="button" onClick={() => location.reload()}>
      Load the console again
    </button>
  </div>
);
