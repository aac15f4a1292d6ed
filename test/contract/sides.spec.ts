import { expect, it } from '@jest/globals';
import type { Side } from '../../src/config/env.js';
import { startTestApp } from '../support/app.js';

it.each<[Side, string[], string[]]>([
  ['platform', ['scale', 'account', 'partner', 'admin'], ['site', 'vision']],
  ['partner', ['site', 'vision', 'partner', 'admin'], ['scale', 'account']],
])('the %s side alone lists its own documents, and has no other', async (side, own, others) => {
  const service = await startTestApp({ env: { SIDES: new Set([side]) } });
  const { text } = await service.call('GET', '/docs/swagger-ui-init.js');
  expect([...text.matchAll(/"url": "\/docs\/(\w+)\.json"/g)].map(([, name]) => name)).toEqual(own);
  for (const name of own) {
    const { body } = await service.call<{ paths: object }>('GET', `/docs/${name}.json`);
    expect(Object.keys(body.paths)).not.toEqual([]);
  }
  for (const name of others) expect((await service.call('GET', `/docs/${name}.json`)).status).toBe(404);
  await service.close();
});
