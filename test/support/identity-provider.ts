import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Configuration } from 'oidc-provider';
import type { Page } from 'playwright-core';

export const CLIENT = { clientId: 'haulbridge', clientSecret: 'secret-of-the-client-at-the-provider' };

/** The settings of a service at an address whose people sign in at an issuer. */
export const oidcSettings = <const Roles>(issuer: string, publicUrl: string, roles: Roles) => ({
  ...CLIENT,
  ...{ issuer, roles, roleClaim: 'groups', isInsecure: true },
  redirectUri: `${publicUrl}/console/api/oidc/callback`,
  consoleUrl: `${publicUrl}/console/`,
});

/** Fills in the forms of the provider as a person who signs in, and returns to the service. */
export async function identify(page: Page, login: string): Promise<void> {
  await page.locator('input[name=login]').fill(login);
  await page.locator('input[name=password]').fill('any');
  await page.getByRole('button', { name: 'Sign-in' }).click();
  await page.getByRole('button', { name: 'Continue' }).click();
}

/** It warns of its storage in memory, and of each version of Node.js that it does not know. */
async function withoutWarnings<T>(work: () => Promise<T>): Promise<T> {
  const { warn, info } = console;
  console.warn = console.info = () => undefined;
  try {
    return await work();
  } finally {
    Object.assign(console, { warn, info });
  }
}

/**
 * `oidc-provider` on a free port, or on `port` where a service that runs already looks for it, for the services at these
 * addresses. The login is the subject; `groups` are those of each, and may be changed. `host`: a browser keeps the cookies of
 * 127.0.0.1 and localhost apart as those of two sites.
 */
export async function startIdentityProvider(
  publicUrls: string | readonly string[],
  groups: Map<string, string[]>,
  host = '127.0.0.1',
  port = 0,
) {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const issuer = `http://${host}:${(server.address() as AddressInfo).port}`;
  const services = [publicUrls].flat().map((publicUrl) => oidcSettings(issuer, publicUrl, []));
  const settings: Configuration = {
    clients: [
      {
        client_id: CLIENT.clientId,
        client_secret: CLIENT.clientSecret,
        redirect_uris: services.map(({ redirectUri }) => redirectUri),
        post_logout_redirect_uris: services.map(({ consoleUrl }) => consoleUrl),
      },
    ],
    cookies: { keys: ['key of the cookies'] },
    claims: { openid: ['sub', 'groups'], profile: ['name'], email: ['email'] },
    findAccount: (_context, sub) => ({
      accountId: sub,
      claims: () => ({ sub, name: `Name of ${sub}`, email: `${sub}@hauling.example`, groups: groups.get(sub) ?? [] }),
    }),
    features: { devInteractions: { enabled: true }, rpInitiatedLogout: { logoutSource: askToSignOut } },
    ttl: { Session: 3_600, Grant: 3_600, Interaction: 600, IdToken: 600, AccessToken: 600 },
  };
  const provider = await withoutWarnings(async () => {
    const { Provider } = await import('oidc-provider');
    return new Provider(issuer, settings);
  });
  const answer = provider.callback();
  server.on('request', (request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  return {
    issuer,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A browser without scripts: it keeps cookies, and follows redirects. */
export class FormBrowser {
  private readonly jars = new Map<string, Map<string, string>>();

  /** One navigation or submission; a redirect is not followed. */
  async request(address: string | URL, form?: Record<string, string>): Promise<Response> {
    const url = new URL(address);
    const jar = this.jarOf(url);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, {
      redirect: 'manual',
      headers: cookie === '' ? {} : { Cookie: cookie },
      ...(form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '' || /expires=Thu, 01 Jan 1970/i.test(line)) jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  }

  /** Follows redirects to a page outside `stopAt`, and fills in the forms of the provider as the person. */
  async walk(address: string | URL, login: string, isEnd: (url: URL) => boolean): Promise<URL> {
    let url = new URL(address);
    let form: Record<string, string> | undefined;
    for (let step = 0; step < 30; step++) {
      if (isEnd(url)) return url;
      const response = await this.request(url, form);
      form = undefined;
      const location = response.headers.get('location');
      if (location !== null) {
        url = new URL(location, url);
        continue;
      }
      const page = await response.text();
      const action = /<form[^>]* action="([^"]+)"/.exec(page)?.[1];
      if (action === undefined) throw new Error(`${url.href} answers ${response.status}: ${page.slice(0, 500)}`);
      url = new URL(action, url);
      form = page.includes('value="login"') ? { prompt: 'login', login, password: 'any' } : { prompt: 'consent' };
    }
    throw new Error(`too many redirects: ${url.href}`);
  }

  cookieOf(address: string, name: string): string | undefined {
    return this.jarOf(new URL(address)).get(name);
  }

  names(address: string): string[] {
    return [...this.jarOf(new URL(address)).keys()];
  }

  private jarOf({ host }: URL): Map<string, string> {
    const jar = this.jars.get(host) ?? new Map<string, string>();
    this.jars.set(host, jar);
    return jar;
  }
}

/** As the page that comes with the provider, which logs that it should be replaced. */
function askToSignOut(context: { body: unknown }, form: string): void {
  const button = '<button type="submit" form="op.logoutForm" name="logout" value="yes">Yes, sign me out</button>';
  context.body = `<!doctype html><title>Sign out</title>${form}${button}`;
}
