import type { ComponentType } from 'preact';
import { lazy, Suspense } from 'preact/compat';
import type { PageProps } from '../client/address.js';
import { Loading } from './states.js';

/** A page whose script is loaded when it is opened first. */
export function lazyPage(load: () => Promise<ComponentType<PageProps>>): ComponentType<PageProps> {
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
