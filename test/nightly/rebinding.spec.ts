import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { reportFigures } from '../support/faults.js';
import { hasOwnNetwork, inOwnNetwork } from './own-network.js';
import { PRIVATE, PUBLIC, type Step } from './rebinding-scene.js';

/** A real name server, a real public host and a real private one, in a network of its own on this machine. */
(hasOwnNetwork() ? describe : describe.skip)(
  'a name server that rebinds (skipped if the system allows no network of our own)',
  () => {
    let steps: Map<string, Step>;
    beforeAll(async () => {
      const output = await inOwnNetwork('test/nightly/rebinding-main.mjs', [PUBLIC, PRIVATE], {
        NODE_EXTRA_CA_CERTS: join(import.meta.dirname, '../support/tls/certificate.pem'),
      });
      steps = new Map((JSON.parse(output) as Step[]).map((step) => [step.what, step]));
    });

    const step = (what: string): Step => {
      const found = steps.get(what);
      if (found === undefined) throw new Error(`no step ${what}`);
      return found;
    };
    const REFUSED = { reachable: false, authorized: false, conforms: false };

    test('a private name is refused when it is saved', () => expect(step('a private name is saved').result).toBe(400));

    test('a public name is saved and called', () => {
      expect(step('a public name is saved').result).toBe(201);
      expect(step('and called').result).toMatchObject({ reachable: true, authorized: true });
      expect(step('and called').publicRequests).toBeGreaterThan(0);
    });

    test.each(['the name has turned private', 'one of its two addresses is private', 'and stays so'])(
      'nothing is called: %s',
      (what) => expect(step(what).result).toMatchObject(REFUSED),
    );

    test('the checked address is the called address', () => {
      const [before, after] = [
        step('one of its two addresses is private'),
        step('it turns private once it was asked for'),
      ];
      expect(after.result).toMatchObject({ reachable: true });
      expect(after.publicRequests).toBe(before.publicRequests + 1);
      // The call itself, and the next call of the check, which is refused.
      expect(after.questions - before.questions).toBeLessThanOrEqual(2);
    });

    test('an API call follows no redirect', () =>
      expect(step('an API call is redirected to a private name').result).toMatchObject({ conforms: false }));

    test.each([
      ['a link redirects to a private name', 'inner.example'],
      ['a link redirects to a private address', PRIVATE],
      ["a link's host has turned private", 'files.example'],
    ])('%s: the download fails with its reason', (what, host) => {
      expect(step(what).result).toMatchObject({ status: 'failed', reason: expect.stringContaining(host) });
      expect(step(what).result).toMatchObject({ reason: expect.stringContaining('not a public one') });
    });

    test('the private host receives no connection', () => {
      const last = [...steps.values()].at(-1);
      expect(last?.privateConnections).toBe(0);
      reportFigures('rebinding', {
        steps: steps.size,
        'questions to the name server': last?.questions ?? 0,
        'requests to the public host': last?.publicRequests ?? 0,
        'connections to the private host': 0,
      });
    });
  },
);
