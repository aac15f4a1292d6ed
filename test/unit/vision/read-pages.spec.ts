import { describe, expect, test } from '@jest/globals';
import { Recording } from '../../../src/contracts/vision/vision.api.js';
import { PartnerFailure } from '../../../src/partner-client/partner-failure.js';
import type { ListedPage } from '../../../src/vision/client/read-list.rules.js';
import { readAllPages, UnstableListError } from '../../../src/vision/client/read-pages.js';
import { readList } from '../../support/listed-pages.js';
import { element } from '../../support/scripted-vision.js';

const link = { downloadUrl: 'https://files.example.com/a.mp4?sig=1' };
type Page = ListedPage & { readonly items?: readonly Recording[] };
const body = (data: unknown) => ({ success: true, data });

describe('all pages of a list are read', () => {
  const chunk = (n: number) =>
    element({
      ...link,
      id: `c${n}`,
      startTime: new Date(n * 1000).toISOString(),
      endTime: new Date(n * 1000 + 500).toISOString(),
    });
  const all = (count: number) => Array.from({ length: count }, (_, i) => chunk(i));

  /** Serves pages of `size` of the current list; `totals` may be wrong. */
  const pages = (
    list: (call: number) => object[],
    size: number,
    totals: (list: object[]) => object = (items) => ({
      totalItems: items.length,
      totalPages: Math.ceil(items.length / size),
      pageSize: size,
    }),
  ) => {
    let calls = 0;
    return {
      calls: () => calls,
      fetch: async (page: number): Promise<Page> => {
        const items = list(++calls);
        return readList(
          Recording,
          body({ recordings: items.slice((page - 1) * size, page * size), pagination: totals(items) }),
          'c',
        );
      },
    };
  };
  const collect = async (fetch: (page: number) => Promise<Page>): Promise<Set<string>> => {
    const ids = new Set<string>();
    await readAllPages(fetch, async ({ items }: Page) => items?.forEach(({ id }) => ids.add(id)));
    return ids;
  };

  test.each([0, 1, 20, 40, 45])('for %i recordings with correct totals, each page once', async (count) => {
    const { fetch, calls } = pages(() => all(count), 20);
    expect((await collect(fetch)).size).toBe(count);
    expect(calls()).toBe(Math.max(1, Math.ceil(count / 20)));
  });

  test.each<[string, number, number, (items: object[]) => object]>([
    ['a number of elements only', 45, 3, (items) => ({ totalItems: items.length, pageSize: 20 })],
    ['totals that are too low, to the first empty page', 40, 3, () => ({ totalItems: 5, totalPages: 1, pageSize: 20 })],
    ['a number of pages only', 40, 2, () => ({ totalPages: 2, pageSize: 20 })],
  ])('with %s', async (_, count, asked, totals) => {
    const { fetch, calls } = pages(() => all(count), 20, totals);
    expect((await collect(fetch)).size).toBe(count);
    expect(calls()).toBe(asked);
  });

  test.each([
    [45, 4],
    [5, 2],
    [0, 1],
  ])('for %i recordings without totals to the first empty page', async (count, asked) => {
    const { fetch, calls } = pages(
      () => all(count),
      20,
      () => ({}),
    );
    expect((await collect(fetch)).size).toBe(count);
    expect(calls()).toBe(asked);
  });

  const changing = (first: object[], then: object[], totals?: Parameters<typeof pages>[2]) =>
    pages((call) => (call === 1 ? first : then), 20, totals).fetch;

  test.each<[string, (page: number) => Promise<Page>, boolean]>([
    ['with totals that are right', changing(all(45), all(45)), true],
    ['with a total that is too high', changing(all(45), all(45), () => ({ totalItems: 90, pageSize: 20 })), false],
    ['that became shorter', changing(all(60), all(60).slice(20)), false],
    ['that became longer at its front', changing(all(60).slice(20), all(60)), false],
    ['that became longer, and says so later', changing(all(41).slice(1), all(41)), false],
    ['without totals, on one page', changing(all(5), all(5), () => ({})), true],
    ['without totals, on several pages', changing(all(45), all(45), () => ({})), false],
    ['without elements', changing([], []), true],
  ])('the pages of a list %s agree: %3$s', async (_, fetch, agree) => {
    expect(await readAllPages(fetch, async () => undefined)).toBe(agree);
  });

  test('but the same page for each page number is read twice', async () => {
    let asked = 0;
    const same = async () => {
      asked++;
      return readList(Recording, body({ recordings: all(20), pagination: { totalItems: 100, totalPages: 5 } }), 'c');
    };
    expect((await collect(same)).size).toBe(20);
    expect(asked).toBe(2);
  });

  test.each([{}, { totalItems: 100_000, totalPages: 5_000 }])(
    'but the same page with new ids in each list is read 11 times, with totals %j',
    async (pagination) => {
      let asked = 0;
      const renamed = async () => {
        asked++;
        const recordings = all(3).map((item, n) => ({ ...item, id: `listing-${asked}-${n}` }));
        return readList(Recording, body({ recordings, pagination }), 'c');
      };
      await collect(renamed);
      expect(asked).toBe(11);
    },
  );

  test.each<[string, Parameters<typeof pages>[2]]>([
    ['with totals', undefined],
    ['without totals', () => ({})],
  ])('%s, with two streams of one camera one after the other, and another camera after them', async (_, totals) => {
    const streams = ['in', 'out'].flatMap((stream) => all(300).map((item, n) => ({ ...item, id: `${stream}-${n}` })));
    const rear = all(45).map((item) => ({ ...item, cameraId: 'rear' }));
    const { fetch } = pages(() => [...streams, ...rear], 20, totals);
    expect((await collect(fetch)).size).toBe(645);
  });

  test('but not an endless list of elements, which fails', async () => {
    let asked = 0;
    const endless = async (): Promise<Page> => {
      const from = asked++ * 30_000;
      const fingerprints = Array.from({ length: 30_000 }, (_, i) => String(from + i));
      return { items: [], received: 30_000, fingerprints, ranges: [], pagination: { totalPages: 2_000 }, findings: [] };
    };
    await expect(collect(endless)).rejects.toThrow("The partner's list has more than 250000 elements.");
    expect(asked).toBe(9);
  });

  test('but not an endless list of pages, which fails', async () => {
    let asked = 0;
    const endless = async (): Promise<Page> => {
      const fingerprints = [String(asked++)];
      return { items: [], received: 1, fingerprints, ranges: [], pagination: {}, findings: [] };
    };
    await expect(collect(endless)).rejects.toThrow("The partner's list has more than 2000 pages.");
    expect(asked).toBe(2_000);
  });

  test.each([1, 45])('for %i recordings without totals, with new ids in each list', async (count) => {
    const renamed = (call: number) => all(count).map((item, n) => ({ ...item, id: `listing-${call}-${n}` }));
    const { fetch, calls } = pages(renamed, 20, () => ({}));
    await collect(fetch);
    expect(calls()).toBe(Math.ceil(count / 20) + 1);
  });

  const refuses = (from: number, status: number, totals = {}, count = 45) => {
    const { fetch } = pages(
      () => all(count),
      20,
      () => totals,
    );
    return async (page: number) => {
      if (page >= from) throw new PartnerFailure('rejected', `status ${status}`, { status });
      return fetch(page);
    };
  };

  test.each<[number, object, number]>([
    [400, {}, 45],
    [404, {}, 45],
    [410, {}, 45],
    [416, {}, 45],
    [422, {}, 45],
    [404, { totalItems: 5, totalPages: 1, pageSize: 20 }, 60],
  ])('to a page that is refused with %i, which is reported, with totals %j', async (status, totals, count) => {
    const reported = new Set<string>();
    const ids = new Set<string>();
    await readAllPages(refuses(4, status, totals, count), async ({ items = [], findings }: Page) => {
      for (const { id } of items) ids.add(id);
      for (const { path, reason } of findings) reported.add(`${path}: ${reason}`);
    });
    expect(ids.size).toBe(count);
    expect([...reported]).toEqual([
      `page: a page past the end must be an empty list, not a response with status ${status}`,
    ]);
  });

  test.each([
    ['the first page', refuses(1, 404), PartnerFailure],
    ['a later page for another reason', refuses(3, 403), PartnerFailure],
    ['a page within the number of pages', refuses(3, 404, { totalPages: 3 }), UnstableListError],
    ['a page within the number of elements', refuses(2, 400, { totalItems: 45, pageSize: 20 }), UnstableListError],
  ])('but not if %s is refused', async (_, fetch, failure) => {
    await expect(collect(fetch)).rejects.toThrow(failure);
  });

  test('to the page that is enough', async () => {
    const { fetch, calls } = pages(
      () => all(45),
      20,
      () => ({}),
    );
    const seen: Recording[] = [];
    const onPage = async ({ items = [] }: Page) => void seen.push(...items);
    await readAllPages(fetch, onPage, () => seen.length > 20);
    expect(seen).toHaveLength(40);
    expect(calls()).toBe(2);
  });

  test('although a page has the ranges of the page before under other ids', async () => {
    const streams = ['sub', 'main'].map((stream) => all(20).map((item, n) => ({ ...item, id: `${stream}-${n}` })));
    const { fetch } = pages(
      () => [...streams.flat(), chunk(20)],
      20,
      () => ({}),
    );
    expect((await collect(fetch)).size).toBe(41);
  });
});
