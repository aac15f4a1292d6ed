import { describe, expect, it } from '@jest/globals';
import { SERVICE_API } from '../../../src/contracts/admin/service.api.js';
import type { ApiContract } from '../../../src/contracts/common/api-contract.js';
import { failuresOf } from '../../../src/contracts/common/failures.js';
import { VIDEO_FILES_API } from '../../../src/contracts/vision/vision.api.js';
import { PUBLICATIONS } from '../../../src/admin/documents/publications.js';
import { AppError, invalid } from '../../../src/core/errors/app-error.js';
import { errorReply } from '../../../src/core/errors/error-body.js';

const APIS: readonly ApiContract[] = [...PUBLICATIONS.map(({ api }) => api), SERVICE_API, VIDEO_FILES_API];

describe('the body of an error, by the path of the request', () => {
  const messages = ['a', 'b', 'c', 'd', 'e'];
  const error = invalid(messages.map((message) => ({ path: message, rule: 'isText', message })));
  const CONTINUOUS = '/video-platform/v1/videos/continuous';

  it.each([CONTINUOUS, `${CONTINUOUS}//`, CONTINUOUS.toUpperCase()])(
    '%s: all violations in the message, no details',
    (path) => {
      expect(errorReply(error, path).body.error).toEqual({ code: 'INVALID_PAYLOAD', message: messages.join('; ') });
    },
  );

  it('another path: three violations in the message, all in the details', () => {
    const { message, details } = errorReply(error, '/video-platform/v1/videos').body.error;
    expect(message).toBe('a; b; c; and 2 more');
    expect(details?.['violations']).toHaveLength(5);
  });

  it.each(['/platform-api/v1/tickets', '/platform-api/v1/tickets/', '/Platform-API/v1/Tickets'])(
    '%s: a code of the Scale API',
    (path) => {
      const { status, body } = errorReply(new AppError('ruleViolated', 'no'), path);
      expect([status, body.error.code]).toEqual([422, 'VALIDATION_ERROR']);
    },
  );
});

it('every failure that a route lists has a code in the closed set of its API', () => {
  const without = APIS.flatMap(({ routes, errors, codes }) =>
    Object.values(routes).flatMap((route) =>
      failuresOf(route).flatMap(([kind]) => (codes.includes(errors[kind] ?? '') ? [] : [`${route.operation} ${kind}`])),
    ),
  );
  expect(without).toEqual([]);
});
