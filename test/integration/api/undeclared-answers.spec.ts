import { expect, it } from '@jest/globals';
import { HaulersService } from '../../../src/auth/haulers.service.js';
import { SERVICE_API } from '../../../src/contracts/admin/service.api.js';
import type { ApiContract } from '../../../src/contracts/common/api-contract.js';
import { failuresOf } from '../../../src/contracts/common/failures.js';
import { VIDEO_FILES_API } from '../../../src/contracts/vision/vision.api.js';
import { PUBLICATIONS } from '../../../src/docs/documents.js';
import { AppError } from '../../../src/errors/app-error.js';
import { startTestApp } from '../../support/app.js';

const APIS: readonly ApiContract[] = [...PUBLICATIONS.map(({ api }) => api), SERVICE_API, VIDEO_FILES_API];

it('an answer that the contract does not list is counted, and fails the test that got it', async () => {
  const service = await startTestApp();
  service.app.get(HaulersService).list = () => {
    throw new AppError('gone', 'all haulers have left');
  };
  expect((await service.admin('GET', '/haulers')).status).toBe(410);
  expect((await service.admin('GET', '/haulers?page=x')).status).toBe(400);
  const headers = { Authorization: `Bearer ${service.env.ADMIN_TOKEN}` };
  const { text } = await service.call('GET', '/metrics', { headers });
  expect(text.match(/^undeclared_answers_total.*$/gm)).toEqual([
    'undeclared_answers_total{operation="listHaulers",status="410"} 1',
  ]);
  await expect(service.close()).rejects.toThrow('the contracts do not list: listHaulers answers 410');
});

it('every failure that a route lists has a code in the closed set of its API', () => {
  const without = APIS.flatMap(({ routes, errors, codes }) =>
    Object.values(routes).flatMap((route) =>
      failuresOf(route).flatMap(([kind]) => (codes.includes(errors[kind] ?? '') ? [] : [`${route.operation} ${kind}`])),
    ),
  );
  expect(without).toEqual([]);
});
