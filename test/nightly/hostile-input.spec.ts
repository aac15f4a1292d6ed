import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ACCOUNT_API } from '../../src/contracts/account/account.api.js';
import { SCALE_API } from '../../src/contracts/scale/scale.api.js';
import { SITE_API } from '../../src/contracts/site/site.api.js';
import { VISION_API } from '../../src/contracts/vision/vision.api.js';
import type { Reply } from '../support/http.js';
import { reportFigures } from '../support/faults.js';
import { HostileStage, type Sent } from './hostile-stage.js';
import type { StoredRevision, StoredTicket } from '../support/scale-house.js';

/** Cases in all: 100,000 in the long form. */
const HOSTED_CASES = 90_000;

let stage: HostileStage;
beforeAll(async () => {
  stage = await HostileStage.open();
});
afterAll(async () => {
  await stage.close();
  reportFigures('hostile input', { ...stage.counts, 'answers of 500': 0, lost: 0 });
});

const jsonOf = ({ bytes }: Sent) => JSON.parse(bytes?.toString('utf8') ?? '') as Record<string, never>;

/** By decision 5, null is absent. */
const withoutNulls = (value: unknown): Record<string, unknown> =>
  Object.fromEntries(Object.entries(value ?? {}).filter(([, field]) => field !== null));

const pick = (value: unknown, names: readonly string[]) =>
  Object.fromEntries(Object.entries(withoutNulls(value)).filter(([name]) => names.includes(name)));

describe('fuzzing of every partner-facing route, from its own document', () => {
  test('tickets: an accepted ticket is stored and read back equal', async () => {
    await stage.fuzz(SCALE_API, 'createTicket', HOSTED_CASES * 0.3, async ({ house }, sent, reply: Reply<never>) => {
      const { disposalTicketId: id } = reply.body as { disposalTicketId: string };
      const body = jsonOf(sent);
      const result = reply.headers.get('ticket-result') ?? '';
      expect(['created', 'updated', 'stale', 'unchanged']).toContain(result);
      if (reply.headers.get('idempotency-replayed') !== null || result === 'unchanged') return;
      const last = (await house.revisions(id)).at(-1) as StoredRevision;
      expect([last.result, last.body]).toEqual([result, body]);
      if (result === 'stale') return;
      const stored = await house.stored(id);
      expect(contentsOf(stored)).toEqual(contentsOf(body));
    });
  }, 900_000);

  test('accounts: an accepted account is stored and read back equal', async () => {
    await stage.fuzz(ACCOUNT_API, 'createAccount', HOSTED_CASES * 0.25, async (_lane, sent, reply: Reply<never>) => {
      const answered = reply.body as Record<string, unknown>;
      const body = jsonOf(sent);
      const stored = (
        await stage.service.admin<Record<string, unknown>>('GET', `/accounts/${String(answered['accountId'])}`)
      ).body;
      expect(stored).toMatchObject(answered);
      expect(stored['accountName']).toBe(body['accountName']);
      for (const name of ['billingAddress', 'primaryContact'] as const) {
        const ids = { [IDS[name]]: expect.any(String) };
        expect(stored[name]).toEqual(body[name] == null ? undefined : { ...pick(body[name], PARTS[name]), ...ids });
      }
    });
  }, 900_000);

  test('sites', () => stage.fuzz(SITE_API, 'getSites', HOSTED_CASES * 0.1), 900_000);

  test('video requests', () => stage.fuzz(VISION_API, 'requestVideo', HOSTED_CASES * 0.15), 900_000);
  test('list of videos', () => stage.fuzz(VISION_API, 'listVideos', HOSTED_CASES * 0.1), 900_000);
  test('continuous list', () => stage.fuzz(VISION_API, 'listContinuous', HOSTED_CASES * 0.1), 900_000);
});

const PARTS = {
  billingAddress: ['street', 'unit', 'city', 'state', 'country', 'zip'],
  primaryContact: ['firstName', 'lastName', 'email', 'phone'],
};
const IDS = { billingAddress: 'addressId', primaryContact: 'contactId' };

const ITEM = ['id', 'name', 'quantity', 'unitPriceCents', 'unitOfMeasure'];

/** The fields that the newest push sets: materials and custom fields (decision 21). */
function contentsOf(ticket: StoredTicket | Record<string, unknown>) {
  return {
    siteId: String(ticket.siteId).toLowerCase(),
    materials: (ticket.materials as Record<string, unknown>[]).map((item) => ({
      ...pick(item, ITEM),
      id: String(item['id']).toLowerCase(),
    })),
    customFields: ticket.customFields ?? undefined,
  };
}
