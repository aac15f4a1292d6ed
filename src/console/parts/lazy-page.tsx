import type { ComponentType } from 'preact';
import { lazy, Suspense } from 'preact/compat';
import type { PageProps } from '../client/address.js';
import { Loading } from './states.js';

const loaders: (() => Promise<unknown>)[] = [];

/** Loads the scripts of all pages, so that they open at once. A failure shows when the page is opened. */
export const preloadPages = (): Promise<unknown> => Promise.allSettled(loaders.map((load) => load()));

/** A page whose script is loaded after the first page is shown, or when it is opened. */
export function lazyPage(load: () => Promise<ComponentType<PageProps>>): ComponentType<PageProps> {
  loaders.push(load);
  const Content = lazy(async () => ({ default: await load().catch(() => NotLoaded) }));
  return (props: PageProps) => (
    <Suspense fallback={<Loading />}>
      <Content {...props} />
    </Suspense>
  );
}

/** A newer version of the service has other names for its scripts: only the document knows them. */
const NotLoaded: ComponentType<PageProps> = () => (
  <div class="notice bad" role="alert">
    <p>This page could not be loaded: the service is away, or has a newer version.</p>
    <button type="button" onClick={() => location.reload()}>
      Load the console again
    </button>
  </div>
);
