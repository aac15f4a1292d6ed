import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { CreateAccountRequest } from '../../../src/contracts/account/account.api.js';
import { AccountQuery } from '../../../src/contracts/admin/accounts.routes.js';
import { IssueApiKeyRequest } from '../../../src/contracts/admin/api-keys.routes.js';
import { CreateHaulerRequest } from '../../../src/contracts/admin/haulers.routes.js';
import { CreateConnectionRequest, UpdateConnectionRequest } from '../../../src/contracts/admin/connections.routes.js';
import { HostedCamera, HostedRecordingQuery } from '../../../src/contracts/admin/hosted.routes.js';
import { OrderVideoRequest } from '../../../src/contracts/admin/video-requests.routes.js';
import { CreateVideoSubscription } from '../../../src/contracts/admin/video-subscriptions.routes.js';
import { type DtoClass, readerOf } from '../../../src/contracts/common/fields/field.js';
import type { Violation } from '../../../src/contracts/common/violation.js';

const NAMES: [string, DtoClass<object>, string][] = [
  ['a hauler', CreateHaulerRequest, 'name'],
  ['a key', IssueApiKeyRequest, 'name'],
  ['the customer of a key', IssueApiKeyRequest, 'customerId'],
  ['an account', CreateAccountRequest, 'accountName'],
  ['a search for accounts', AccountQuery, 'search'],
  ['the customer of a connection', CreateConnectionRequest, 'customerId'],
  ['the new customer of a connection', UpdateConnectionRequest, 'customerId'],
  ['the truck of a video request', OrderVideoRequest, 'truckId'],
  ['the camera of a video request', OrderVideoRequest, 'cameraId'],
  ['the truck of a subscription', CreateVideoSubscription, 'truckId'],
  ['the camera of a subscription', CreateVideoSubscription, 'cameraId'],
  ['the customer of a recording', HostedRecordingQuery, 'customerId'],
  ['the truck of a recording', HostedRecordingQuery, 'truckId'],
  ['the camera of a recording', HostedRecordingQuery, 'cameraId'],
  ['a camera', HostedCamera, 'cameraId'],
];

/** The violations of one field and its elements; other required fields are absent. */
function violationsOf(type: DtoClass<object>, field: string, value: unknown): string[] {
  const violations: Violation[] = [];
  readerOf(type)({ [field]: value }, '', violations);
  return violations.filter(({ path }) => path.split('[')[0] === field).map(({ message }) => message);
}

describe.each(NAMES)('the name of %s', (_what, type, field) => {
  it.each(['', ' ', '\t\u{A0}\u3000', '\u200B', '\uFEFF', '\u00AD', '\u2060 \u200D', '\u3164', '\u{E0020}'])(
    'must contain a visible character: %j',
    (name) => {
      const [message, ...others] = violationsOf(type, field, name);
      expect([message, others]).toEqual([
        expect.stringMatching(new RegExp(`^${field} must be text that is not blank, of 1 to \\d+ characters$`)),
        [],
      ]);
    },
  );

  it.each(['x', ' x ', '\u200Bx', '👩\u200D🚒'])('may contain blanks: %j', (name) => {
    expect(violationsOf(type, field, name)).toEqual([]);
  });
});

const WORDS = 'must be text that is not blank, of 1 to 255 characters';
const UNICODE = 'must be valid Unicode without U+0000 and without lone surrogates';

it.each([
  ['1', undefined],
  [' ', WORDS],
  ['\u200B', WORDS],
  ['', WORDS],
  [1, WORDS],
  ['1\0', UNICODE],
  ['1\ud800', UNICODE],
  ['😀'.repeat(255), undefined],
  ['😀'.repeat(256), WORDS],
] as const)('the alias %j of a camera: %s', (name, must) => {
  expect(violationsOf(HostedCamera, 'aliases', ['front', name])).toEqual(
    must === undefined ? [] : [`aliases[1] ${must}`],
  );
});
