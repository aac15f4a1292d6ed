import { beforeAll, describe, expect, test } from '@jest/globals';
import { createKey } from '../../src/auth/api-key.js';
import {
  type ApiContract,
  type ApiRoute,
  INTERFACES,
  type InterfaceName,
} from '../../src/contracts/common/api-contract.js';
import { createHauler, issueKey, type TestKey } from '../support/api-keys.js';
import type { TestApp } from '../support/app.js';
import { type RawReply, rawRequest } from '../support/raw-request.js';

export interface ApiKeyEndpoint {
  readonly api: ApiContract & { readonly name: InterfaceName };
  readonly method: ApiRoute['method'];
  /** With its query. */
  readonly path: string;
  /** Sent as JSON with every call. */
  readonly body?: unknown;
  /** The status of this request with a right key: it need not succeed, only get past the key. */
  readonly accepted: number;
  /** Where another endpoint with the same header has the whole table. */
  readonly isBrief: boolean;
}

/**
 * How an endpoint treats API keys (section 5, decisions 2, 3, 10, 17). Call it within the endpoint's spec; `service` is
 * asked for once the tests run.
 */
export function describeApiKeys(endpoint: ApiKeyEndpoint, service: () => TestApp): void {
  const { api, method, path } = endpoint;
  const right = api.keyHeader;
  const wrong = right === 'API-KEY' ? 'PLATFORM-API-KEY' : 'API-KEY';
  const body = endpoint.body === undefined ? undefined : JSON.stringify(endpoint.body);
  const call = (headers: readonly string[], sent = body): Promise<RawReply> =>
    rawRequest(
      service().url + path,
      method,
      [...(sent === undefined ? [] : ['Content-Type', 'application/json']), ...headers],
      sent,
    );

  function expectRefused(reply: RawReply): void {
    expect(reply.status).toBe(401);
    const { success, error } = JSON.parse(reply.text) as { success: boolean; error: Record<string, unknown> };
    expect(success).toBe(false);
    expect(error['code']).toBe('UNAUTHORIZED');
    expect(error['message']).toContain(right);
    expect(reply.text).not.toContain('hb_');
  }

  describe(`API keys at ${method} ${path.replace(/\?.*/, '')}`, () => {
    let issued: TestKey;
    let haulerId: string;

    beforeAll(async () => {
      haulerId = await createHauler(service(), 'Key battery');
      issued = await issueKey(service(), [api.name], { haulerId });
    });

    test('accepts the key with any case of the header name', async () => {
      for (const name of [right, right.toLowerCase()]) {
        expect((await call([name, issued.key])).status).toBe(endpoint.accepted);
      }
    });

    const wrongHeaders: [string, (key: string) => string[]][] = [
      ['no key', () => []],
      ['a key that was never issued', () => [right, createKey().key]],
      ['the right key in the wrong header', (key) => [wrong, key]],
      ['an empty key', () => [right, '']],
      ['garbage', () => [right, 'garbage']],
      ['bytes beyond ASCII', () => [right, 'hb_\u00e9\u00ff']],
      ['a very long key', () => [right, 'hb_' + 'a'.repeat(4000)]],
      ['a truncated key', (key) => [right, key.slice(0, -1)]],
      ['a key with a wrong checksum', (key) => [right, key.slice(0, -1) + (key.endsWith('a') ? 'b' : 'a')]],
      ['the shown prefix', (key) => [right, key.slice(0, 11)]],
      ['the right key as a bearer token', (key) => ['Authorization', `Bearer ${key}`]],
      ['the right key twice', (key) => [right, key, right, key]],
      ['the right key beside another in its header', (key) => [right, 'other', right.toLowerCase(), key]],
      ['the right key and another, joined', (key) => [right, `${key}, ${key}`]],
      ['the admin token', () => [right, service().env.ADMIN_TOKEN]],
    ];
    test.each(wrongHeaders.slice(0, endpoint.isBrief ? 3 : wrongHeaders.length))('%s: 401', async (_what, headers) => {
      expectRefused(await call(headers(issued.key)));
    });

    test('a key of the other interfaces: 401', async () => {
      const others = INTERFACES.filter((name) => name !== api.name);
      const { key } = await issueKey(service(), others, { haulerId });
      expectRefused(await call([right, key]));
    });

    test('a revoked key: 401 at once on the instance that revoked it', async () => {
      const { id, key } = await issueKey(service(), [api.name], { haulerId });
      expect((await call([right, key])).status).toBe(endpoint.accepted);
      expect((await service().admin('DELETE', `/api-keys/${id}`)).status).toBe(204);
      expectRefused(await call([right, key]));
    });

    test('an expired key: 401', async () => {
      const { id, key } = await issueKey(service(), [api.name], { haulerId });
      await service().dataSource.query(`UPDATE api_keys SET expires_at = now() WHERE id = $1`, [id]);
      expectRefused(await call([right, key]));
    });

    test('reveals nothing about the request to a caller without a key', async () => {
      const known = await call([]);
      if (method === 'GET') expectRefused(await rawRequest(service().url + path.replace(/\?.*/, ''), method, []));
      else {
        for (const sent of ['{"truncated', '[]', '\u0000', 'x'.repeat(2_000_000)]) {
          const reply = await call([], sent);
          expectRefused(reply);
          expect(reply.text).toBe(known.text);
        }
        expectRefused(await rawRequest(service().url + path, method, ['Content-Type', 'text/plain'], 'text'));
      }
    });
  });
}
