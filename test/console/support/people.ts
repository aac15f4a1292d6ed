import type { Page } from 'playwright-core';
import { identify, startIdentityProvider } from '../../support/identity-provider.js';
import { ask, type ConsoleScene, list, target } from './console.js';

/** The roles of the groups stand in `target.ts`. */
export const groups = new Map([
  ['ada', ['owners']],
  ['otto', ['dispatch']],
  ['vera', ['readers']],
  ['wim', ['watchers']],
  ['lea', ['demo']],
  ['max', ['depot']],
]);

/** The identity provider of the service, at which these people sign in. */
export const startProvider = () =>
  startIdentityProvider(target.url, groups, '127.0.0.1', Number(new URL(target.issuer).port));

/** A person who has signed in, on a page of the console. */
export async function signedIn(scene: ConsoleScene, login: string, path = ''): Promise<Page> {
  const page = await scene.visitor();
  // The page of the provider wants a font of another host.
  await page.context().route('https://fonts.googleapis.com/**', (route) => route.fulfill({ contentType: 'text/css' }));
  await page.goto(`/console/${path}`);
  await page.getByRole('link', { name: 'Sign in with your account' }).click();
  await identify(page, login);
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  return page;
}

export const pagesOf = (page: Page) =>
  page.getByRole('navigation', { name: 'Pages' }).getByRole('link').allInnerTexts();

export async function endSessions(): Promise<void> {
  const sessions = await list<{ id: string; kind: string }>('/sessions');
  for (const { id } of sessions.filter(({ kind }) => kind === 'person')) await ask('DELETE', `/sessions/${id}`);
}
